//! Secrets inside arguments: by the name they stand under, and by how they look. Every view of a call passes
//! here; what is stored and what runs does not.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    names::{is_secret, is_secret_number},
    secret::{self, holds_mask, mask, mask_text, secrets},
};

/// Arguments with their secrets masked.
pub fn mask_map(params: &Map<String, Value>) -> Map<String, Value> {
    masked_members(params, false)
}

/// Whether a view of these arguments masks anything.
pub fn hides_secret(params: &Map<String, Value>) -> bool {
    params
        .iter()
        .any(|(name, value)| !secrets(name).is_empty() || hides(name, value, false))
}

/// A value that stands under no name.
pub fn mask_value(value: &Value) -> Value {
    masked("", value, false)
}

/// An object's members; `below`: the object itself stands under the name of a secret.
fn masked_members(map: &Map<String, Value>, below: bool) -> Map<String, Value> {
    let mut shown = Map::new();
    for (name, value) in map {
        let value = masked(name, value, below);
        let mut key = mask_text(name).into_owned();
        // Two names may look the same once they are masked: neither is lost.
        while shown.contains_key(&key) {
            key.push('\'');
        }
        shown.insert(key, value);
    }
    shown
}

fn masked(name: &str, value: &Value, below: bool) -> Value {
    let below = below || is_secret(name);
    match value {
        Value::String(text) if below => mask_literals(name, text).into_owned().into(),
        Value::String(text) => mask_text(text).into_owned().into(),
        Value::Number(number) if is_secret_number(name) => {
            mask(kind(name), &number.to_string()).into()
        }
        Value::Array(items) => items.iter().map(|item| masked(name, item, below)).collect(),
        Value::Object(map) => Value::Object(masked_members(map, below)),
        other => other.clone(),
    }
}

fn hides(name: &str, value: &Value, below: bool) -> bool {
    let below = below || is_secret(name);
    match value {
        Value::String(text) if below => matches!(mask_literals(name, text), Cow::Owned(_)),
        Value::String(text) => !secrets(text).is_empty(),
        Value::Number(_) => is_secret_number(name),
        Value::Array(items) => items.iter().any(|item| hides(name, item, below)),
        Value::Object(map) => map
            .iter()
            .any(|(name, value)| !secrets(name).is_empty() || hides(name, value, below)),
        _ => false,
    }
}

/// The whole text is a secret. A substitution in it is shown: it would run, should a shell read it.
fn mask_literals<'t>(name: &str, text: &'t str) -> Cow<'t, str> {
    if text.is_empty() || holds_mask(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut at = 0;
    for runs in secret::running(text) {
        push_masked(
            &mut shown,
            name,
            text.get(at..runs.start).unwrap_or_default(),
        );
        shown.push_str(text.get(runs.clone()).unwrap_or_default());
        at = runs.end;
    }
    push_masked(&mut shown, name, text.get(at..).unwrap_or_default());
    Cow::Owned(shown)
}

fn push_masked(shown: &mut String, name: &str, literal: &str) {
    if !literal.is_empty() {
        shown.push_str(&mask(kind(name), literal));
    }
}

fn kind(name: &str) -> &'static str {
    secret::kind_of(name)
}

/// Arguments that a person edited in a view, with what the view masked put back. `None`: a mask is left whose
/// secret is not known, and such arguments must not run.
pub fn unmask(
    edited: &Map<String, Value>,
    original: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut whole = Map::new();
    for (name, value) in edited {
        if holds_mask(name) {
            return None;
        }
        let shown = original
            .get(name)
            .map(|original| (original, masked(name, original, is_secret(name))));
        whole.insert(name.clone(), restored(value, shown.as_ref())?);
    }
    Some(whole)
}

/// A value, and what stood in its place: as it is, and as it was shown.
fn restored(edited: &Value, before: Option<&(&Value, Value)>) -> Option<Value> {
    if let Some((original, shown)) = before
        && edited == shown
    {
        return Some((*original).clone());
    }
    match edited {
        Value::String(text) => {
            let texts =
                before.and_then(|(original, shown)| Some((original.as_str()?, shown.as_str()?)));
            let text = texts.map_or_else(
                || Cow::Borrowed(text.as_str()),
                |(original, shown)| put_back(text, original, shown),
            );
            (!holds_mask(&text)).then(|| Value::String(text.into_owned()))
        }
        Value::Array(items) => {
            let items = items.iter().enumerate().map(|(at, item)| {
                let before = before.and_then(|(original, shown)| {
                    Some((original.get(at)?, shown.get(at)?.clone()))
                });
                restored(item, before.as_ref())
            });
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Value::Object(map) => {
            let members = map.iter().map(|(name, value)| {
                let before = before.and_then(|(original, shown)| {
                    Some((original.get(name)?, shown.get(name)?.clone()))
                });
                (!holds_mask(name)).then_some(())?;
                Some((name.clone(), restored(value, before.as_ref())?))
            });
            members.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        other => Some(other.clone()),
    }
}

/// The masks of a text, in their order, with the secrets that they stand for.
fn put_back<'t>(edited: &'t str, original: &str, shown: &str) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(edited);
    let mut from = 0;
    for (mask, secret) in secret::masks(original, shown) {
        let Some(at) = text.get(from..).and_then(|rest| rest.find(mask)) else {
            continue;
        };
        let at = from + at;
        text.to_mut().replace_range(at..at + mask.len(), secret);
        from = at + secret.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!() };
        map
    }

    #[test]
    fn p09_secrets_are_masked_by_their_names_and_looks() {
        let token = format!("ghp_{}", "a1".repeat(18));
        let params = map(json!({
            "path": "/a", "password": "hunter2", "pin": 1234, "max_tokens": 4096, "enabled": true,
            "env": {"API_TOKEN": "x", "HOME": "/h"}, "args": ["--token=abc", token.clone()],
            "credentials": {"user": "ann", "list": ["b"]}, "token": "$(rm -rf /)", "secret": null,
            token.clone(): 1, "empty": "", "password2": "",
        }));
        let shown = json!(mask_map(&params));
        for (name, expected) in [
            ("path", json!("/a")),
            ("password", json!("[secret: password, 7 characters]")),
            ("pin", json!("[secret: secret, 4 characters]")),
            ("max_tokens", json!(4096)),
            ("enabled", json!(true)),
            ("token", json!("$(rm -rf /)")),
            ("secret", json!(null)),
            ("password2", json!("")),
        ] {
            assert_eq!(shown[name], expected, "{name}");
        }
        assert_eq!(shown["env"]["API_TOKEN"], "[secret: token, 1 character]");
        assert_eq!(shown["env"]["HOME"], "/h");
        assert_eq!(shown["args"][0], "--token=[secret: token, 3 characters]");
        assert_eq!(
            shown["credentials"]["user"],
            "[secret: secret, 3 characters]"
        );
        assert!(!shown.to_string().contains(&token), "{shown}");
        assert_eq!(shown.as_object().unwrap().len(), params.len());
        assert!(hides_secret(&params));
        assert!(!hides_secret(&map(
            json!({"path": "/a", "n": 1, "token": "", "t": [{"a": "b"}]})
        )));
    }

    #[test]
    fn p09_what_a_view_masked_is_put_back_into_an_edit() {
        let original = map(json!({
            "command": "curl -u ann:hunter2 https://x && PASSWORD=other ls",
            "password": "hunter2", "pin": 1234, "list": [{"token": "t"}],
        }));
        let shown = mask_map(&original);
        assert_eq!(unmask(&shown, &original), Some(original.clone()));
        let mut edited = shown.clone();
        let command = edited["command"]
            .as_str()
            .unwrap()
            .replace("https://x", "https://y");
        edited.insert("command".into(), command.into());
        edited.insert("new".into(), json!(7));
        let whole = unmask(&edited, &original).unwrap();
        assert_eq!(
            whole["command"],
            "curl -u ann:hunter2 https://y && PASSWORD=other ls"
        );
        assert_eq!(
            (&whole["password"], &whole["new"]),
            (&json!("hunter2"), &json!(7))
        );
        // Only the second of two is kept.
        edited.insert(
            "command".into(),
            "PASSWORD=[secret: password, 5 characters] ls".into(),
        );
        let whole = unmask(&edited, &original).unwrap();
        assert_eq!(whole["command"], "PASSWORD=other ls");
        // A mask that stands for nothing known must not run.
        for wrong in [
            json!({"command": "x [secret: token, 9 characters]"}),
            json!({"other": "[secret: password, 7 characters]"}),
            json!({"list": [{"a": "[secret: token, 1 character]"}]}),
            json!({"[secret: token, 1 character]": 1}),
        ] {
            assert_eq!(unmask(&map(wrong.clone()), &original), None, "{wrong}");
        }
    }

    fn arguments() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!("PASSWORD=s3cr3tv4lue run")),
            Just(json!({"password": "s3cr3tv4lue"})),
            Just(json!({"apiKey": ["s3cr3tv4lue"]})),
            Just(json!({"auth": {"client_secret": {"x": "s3cr3tv4lue"}}})),
            Just(json!(
                "curl -H 'Authorization: Bearer s3cr3tv4lue' https://x"
            )),
            Just(json!("https://u:s3cr3tv4lue@host/")),
            Just(json!("harmless")),
            Just(json!(7)),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec(("[a-z]{1,8}", inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn p09_a_buried_secret_never_survives(value in arguments()) {
            let params = map(json!({"x": value}));
            let shown = json!(mask_map(&params)).to_string();
            prop_assert!(!shown.contains("s3cr3tv4lue"), "{}", shown);
            let whole = json!(params).to_string();
            prop_assert_eq!(hides_secret(&params), shown != whole);
        }

        #[test]
        fn p09_what_is_shown_and_given_back_is_what_runs(value in arguments()) {
            let params = map(json!({"x": value}));
            prop_assert_eq!(unmask(&mask_map(&params), &params), Some(params));
        }
    }
}
