//! What stands in the place of a secret. Different secrets of one kind and length are numbered, so that an edit
//! that keeps one of their masks says which it means.

use std::collections::BTreeMap;

use super::{Secret, is_mask};

/// The secrets of one view.
#[derive(Debug, Default)]
pub(in crate::review) struct Labels {
    seen: BTreeMap<(&'static str, usize), Vec<String>>,
}

impl Labels {
    pub(in crate::review) fn note(&mut self, kind: &'static str, secret: &str) {
        let alike = self.seen.entry((kind, length(secret))).or_default();
        if !alike.iter().any(|known| known == secret) {
            alike.push(secret.to_owned());
        }
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
            .and_then(|alike| alike.iter().position(|known| known == secret))
            .map(|at| format!(" #{}", at + 1))
            .unwrap_or_default();
        let characters = if length == 1 {
            "character"
        } else {
            "characters"
        };
        format!("[secret: {kind}{number}, {length} {characters}]")
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

fn length(secret: &str) -> usize {
    secret.chars().count()
}
