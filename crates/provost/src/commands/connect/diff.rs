//! The change as people read it: a unified diff without the secrets of keys.

use std::path::Path;

use similar::TextDiff;

use crate::output::{self, Color};

/// What every key made by the gateway begins with, and how many hexadecimal digits follow.
const KEY_START: &str = "pvk_";
const KEY_DIGITS: usize = 64;

/// Stands for a key that is yet to be made.
pub(super) const NEW_KEY: &str = "pvk_(new)";

pub(super) fn unified(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let path = path.display().to_string();
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| &path).to_owned();
    let (old, new) = (name(before), name(after));
    let before = masked(before.unwrap_or_default());
    let after = masked(after.unwrap_or_default());
    TextDiff::from_lines(&before, &after)
        .unified_diff()
        .header(&old, &new)
        .to_string()
}

pub(in crate::commands) fn show(diff: &str) -> std::io::Result<()> {
    for line in diff.lines() {
        // Tabs indent; everything else that does not print is shown as what it is.
        let text: Vec<_> = line.split('\t').map(output::safe).collect();
        let text = text.join("\t");
        output::line(match line.as_bytes().first() {
            Some(b'+') => output::paint(&text, Color::Green),
            Some(b'-') => output::paint(&text, Color::Red),
            Some(b'@') => output::paint(&text, Color::Bold),
            _ => text,
        })?;
    }
    Ok(())
}

/// The secrets of keys in a text.
pub(super) fn secrets(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(KEY_START).filter_map(|(at, _)| {
        let secret = text.get(at..at + KEY_START.len() + KEY_DIGITS)?;
        let digits = secret.strip_prefix(KEY_START)?;
        digits
            .bytes()
            .all(|digit| digit.is_ascii_hexdigit())
            .then_some(secret)
    })
}

fn masked(text: &str) -> String {
    secrets(text).fold(text.to_owned(), |text, secret| {
        text.replace(secret, "pvk_…")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_the_change_and_no_secret() {
        let secret = format!("{KEY_START}{}", "0a".repeat(32));
        let before = format!("{{\n  \"key\": \"{secret}\"\n}}\n");
        let after = before.replace(&secret, NEW_KEY);
        let diff = unified(Path::new("s.json"), Some(&before), Some(&after));
        assert!(diff.starts_with("--- s.json\n+++ s.json\n@@"), "{diff}");
        assert!(
            diff.contains("-  \"key\": \"pvk_…\"\n+  \"key\": \"pvk_(new)\"\n"),
            "{diff}"
        );
        assert!(unified(Path::new("s"), None, Some("{}\n")).starts_with("--- /dev/null\n+++ s\n"));
    }
}
