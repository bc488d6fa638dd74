//! What stands in the place of a secret or of content. Different ones of one kind and length are numbered over the
//! whole call, so that an edit that keeps one of their masks says which it means.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::{Secret, is_mask};

/// The kind of a piece that is no secret, and withheld.
pub(in crate::review) const CONTENT: &str = "content";

/// The secrets of one view.
#[derive(Debug, Default)]
pub(in crate::review) struct Labels {
    /// Of each kind and length, with the number of each.
    seen: BTreeMap<(&'static str, usize), BTreeMap<String, usize>>,
}

impl Labels {
    pub(in crate::review) fn note(&mut self, kind: &'static str, secret: &str) {
        let alike = self.seen.entry((kind, length(secret))).or_default();
        let next = alike.len() + 1;
        if !alike.contains_key(secret) {
            alike.insert(secret.to_owned(), next);
        }
    }

    /// All secrets, each with its kind.
    pub(in crate::review) fn noted(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let secrets = self.seen.iter().filter(|((kind, _), _)| *kind != CONTENT);
        secrets.flat_map(|((kind, _), alike)| alike.keys().map(|it| (*kind, it.as_str())))
    }

    pub(in crate::review) fn note_all(&mut self, text: &str, secrets: &[Secret]) {
        for secret in secrets {
            self.note(
                secret.kind,
                text.get(secret.place.clone()).unwrap_or_default(),
            );
        }
    }

    pub(in crate::review) fn mask(&self, kind: &'static str, secret: &str) -> String {
        let length = length(secret);
        let alike = self.seen.get(&(kind, length)).filter(|it| it.len() > 1);
        let number = alike
            .and_then(|alike| alike.get(secret))
            .map(|number| format!(" #{number}"))
            .unwrap_or_default();
        let characters = if length == 1 {
            "character"
        } else {
            "characters"
        };
        let kind = match kind {
            CONTENT => CONTENT.to_owned(),
            _ => format!("secret: {kind}"),
        };
        format!("[{kind}{number}, {length} {characters}]")
    }

    /// A text with its secrets masked.
    pub(in crate::review) fn masked(&self, text: &str, secrets: &[Secret]) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        for Secret { place, kind } in secrets {
            shown.push_str(text.get(at..place.start).unwrap_or_default());
            let secret = text.get(place.clone()).unwrap_or_default();
            // What was masked before stays as it is.
            if is_mask(secret) {
                shown.push_str(secret);
            } else {
                shown.push_str(&self.mask(kind, secret));
            }
            at = place.end;
        }
        shown.push_str(text.get(at..).unwrap_or_default());
        shown
    }
}

/// Whether a text holds what stands in the place of content or of a name.
pub(in crate::review) fn holds_withheld(text: &str) -> bool {
    static WITHHELD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let content = r"content(?: #\d{1,6})?, \d{1,9} characters?";
        let name = r"\d{1,9} bytes, sha256 [0-9a-f]{64}";
        Regex::new(&format!(r"\[(?:{content}|{name})\]")).ok()
    });
    WITHHELD.as_ref().is_none_or(|it| it.is_match(text))
}

fn length(secret: &str) -> usize {
    secret.chars().count()
}
