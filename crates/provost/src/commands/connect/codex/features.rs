//! Codex's own `config.toml`, where its hooks may be switched off. Everything else in it stays as it is.

use anyhow::Context as _;
use toml_edit::{DocumentMut, Item, TableLike, Value, table};

/// The feature that runs hooks, and its former name, which still counts.
const NAMES: [&str; 2] = ["hooks", "codex_hooks"];

/// The file with hooks switched on. `None`: they are.
pub(super) fn enable(text: &str) -> anyhow::Result<Option<String>> {
    let mut document: DocumentMut = text.parse().context("it is not TOML")?;
    let features = document.entry("features").or_insert_with(table);
    let features = features
        .as_table_like_mut()
        .context("`features` is not a table; correct it by hand and connect again")?;
    let mut changed = false;
    for name in NAMES {
        if let Some(item) = features.get_mut(name) {
            changed |= switch_on(item);
        }
    }
    if !is_named(features) {
        features.insert(NAMES[0], toml_edit::value(true));
        changed = true;
    }
    Ok(changed.then(|| document.to_string()))
}

fn is_named(features: &dyn TableLike) -> bool {
    NAMES.iter().any(|name| features.contains_key(name))
}

/// Whether it was off. What stands around the value, a comment perhaps, stays.
fn switch_on(item: &mut Item) -> bool {
    if item.as_bool() == Some(true) {
        return false;
    }
    let mut on = Value::from(true);
    if let Some(old) = item.as_value() {
        *on.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(on);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_switched_on_and_all_else_stays() {
        for (before, after) in [
            ("", Some("[features]\nhooks = true\n")),
            ("[features]\nhooks = true\n", None),
            ("[features]\ncodex_hooks = true # mine\n", None),
            ("features = { hooks = true }\n", None),
            (
                "[features]\ncodex_hooks = false # not yet\n",
                Some("[features]\ncodex_hooks = true # not yet\n"),
            ),
            (
                "features.hooks = false\nmodel = 'm'\n",
                Some("features.hooks = true\nmodel = 'm'\n"),
            ),
            (
                "# mine\nmodel  =  'm'\n\n[features] # here\nother=true\n\n[projects.'/p']\ntrust_level = 'trusted'\n",
                Some(
                    "# mine\nmodel  =  'm'\n\n[features] # here\nother=true\nhooks = true\n\n[projects.'/p']\ntrust_level = 'trusted'\n",
                ),
            ),
        ] {
            assert_eq!(enable(before).unwrap().as_deref(), after, "{before}");
        }
        for broken in ["[features", "features = 1\n"] {
            assert!(enable(broken).is_err(), "{broken}");
        }
    }
}
