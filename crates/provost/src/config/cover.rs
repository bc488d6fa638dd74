//! Secrets stand in the configuration's lines, and problems show lines: what may be secret is covered first.

use std::ops::Range;

use super::node::{Kind, Node, Span};

/// Parts of keys whose values are covered wherever they stand, even in a file that is not YAML enough to have
/// a tree.
const SECRET_KEYS: [&str; 9] = [
    "key",
    "token",
    "secret",
    "password",
    "authorization",
    "database",
    "cookie",
    "credential",
    "notify_url",
];

pub(super) fn sounds_secret(key: &str) -> bool {
    let key = key.trim().to_ascii_lowercase();
    // The list of keys holds more than secrets; those have a `key` of their own.
    key != "keys" && SECRET_KEYS.iter().any(|part| key.contains(part))
}

/// Whether a value only says where the secret is.
pub(super) fn is_reference(text: &str) -> bool {
    text.starts_with("env:") || text.starts_with("file:")
}

/// The scalars below `node`, keys of maps excepted.
pub(super) fn values(node: &Node, covered: &mut Vec<Span>) {
    match &node.kind {
        Kind::Null => {}
        Kind::Scalar(scalar) if is_reference(&scalar.text) => {}
        Kind::Scalar(_) => covered.push(node.span),
        Kind::List(items) => items.iter().for_each(|item| values(item, covered)),
        Kind::Map(entries) => entries
            .iter()
            .for_each(|entry| values(&entry.value, covered)),
    }
}

/// Guesses from the text alone: the rest of each line after a key that sounds secret, and the deeper lines
/// that follow when nothing else stands on it.
pub(super) fn lexical(file: usize, text: &str) -> Vec<Span> {
    let mut covered = Vec::new();
    let mut at = 0;
    let mut deeper_than = None;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if deeper_than.is_some_and(|outer| indent <= outer && !line.trim().is_empty()) {
            deeper_than = None;
        }
        let from = if deeper_than.is_some() {
            Some(indent)
        } else {
            after_secret_key(line)
        };
        if let Some(from) = from {
            covered.push(Span {
                file,
                start: at + from,
                end: at + line.trim_end().len().max(from),
            });
            deeper_than = deeper_than.or(Some(indent));
        }
        at += line.len();
    }
    covered
}

/// Where the value of the first key of a line that sounds secret begins.
fn after_secret_key(line: &str) -> Option<usize> {
    let mut from = 0;
    for (colon, _) in line.match_indices(':') {
        let before = line.get(from..colon).unwrap_or_default();
        let key = before
            .rsplit(|c: char| !c.is_alphanumeric() && !"_-\"' ".contains(c))
            .next()
            .unwrap_or_default();
        if sounds_secret(key) {
            return Some(colon + 1);
        }
        from = colon + 1;
    }
    None
}

/// Covers bytes with as many stars.
pub(super) fn apply(text: &str, covered: impl Iterator<Item = Range<usize>>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in covered {
        for byte in bytes.get_mut(range).into_iter().flatten() {
            if !byte.is_ascii_whitespace() {
                *byte = b'*';
            }
        }
    }
    // Spans begin and end between characters; should one ever not, nothing is shown rather than a secret.
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_covered_even_in_a_broken_file() {
        let text = "auth:\n  admin_token: s3cret\n  keys: [{name: a, key: s3cret, role: x\nlisten: 1\nkey: |\n   s3cret\n   s3cret\nhosts: [seen]\nAPI-Key: 's3cret\n";
        let shown = apply(
            text,
            lexical(0, text)
                .into_iter()
                .map(|span| span.start..span.end),
        );
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(
            shown.contains("listen: 1") && shown.contains("seen") && shown.contains("name: a"),
            "{shown}"
        );
        assert_eq!(shown.len(), text.len());
    }
}
