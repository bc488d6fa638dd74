//! What is shown where content is not. Secrets stay masked, structure stays, and any other text becomes its description:
//! length, hash and detected type. What a field is for is told by its name (`names`).

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{CONTENT, Secret, Walk, hides_secret};
use crate::{
    call::canonical_json,
    ids::hex,
    review::{
        names::{is_command, is_structure},
        secret::is_mask,
        withhold::withhold,
    },
};

/// What is longer is described.
const LONGEST_SHOWN: usize = 256;

impl Walk<'_> {
    /// The text under this name, whose secrets are these; `below`: it stands under the name of a secret.
    pub(super) fn withheld(
        &mut self,
        name: &str,
        text: &str,
        secrets: Vec<Secret>,
        below: bool,
    ) -> Value {
        let is_whole = matches!(&*secrets, [secret] if secret.place == (0..text.len()));
        if is_whole || (below && (text.is_empty() || is_mask(text))) {
            return self.rendered(text, &secrets).into();
        }
        let hides = below || !secrets.is_empty();
        let shown = match () {
            () if below => None,
            () if is_command(name) => withhold(text, secrets),
            () => is_structure(name, text).then_some(secrets),
        };
        self.bounded(text, shown, hides)
    }

    /// The text without these pieces, if that is short.
    pub(super) fn bounded(
        &mut self,
        text: &str,
        pieces: Option<Vec<Secret>>,
        hides: bool,
    ) -> Value {
        let shown = pieces.map(|pieces| self.rendered(text, &pieces));
        match shown.filter(|shown| shown.len() <= LONGEST_SHOWN) {
            Some(shown) => shown.into(),
            None => self.described(text, hides),
        }
    }

    /// By a hash, a short secret would be found.
    fn described(&mut self, text: &str, hides: bool) -> Value {
        if hides {
            self.instead(CONTENT, text).into()
        } else {
            described(text.as_bytes())
        }
    }

    /// An object that is content with its names; `below`: it stands under the name of a secret.
    pub(super) fn withheld_object(&mut self, map: &Map<String, Value>, below: bool) -> Value {
        let text = canonical_json(&Value::Object(map.clone()));
        self.described(&text, below || hides_secret(map))
    }

    pub(super) fn withheld_name(&mut self, name: &str, secrets: &[Secret]) -> String {
        if !secrets.is_empty() {
            return self.instead(CONTENT, name);
        }
        let hash = hex(&Sha256::digest(name.as_bytes()));
        format!("[{} bytes, sha256 {hash}]", name.len())
    }
}

/// A text that somebody else wrote, such as the error of a backend: all of it is content.
pub fn redact_all(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) => described(text.as_bytes()),
        other => described(canonical_json(other).as_bytes()),
    }
}

/// Whether an object stands in the place of content.
pub(in crate::review) fn is_description(map: &Map<String, Value>) -> bool {
    map.len() == 3 && map.contains_key("content_sha256") && map.contains_key("content_length")
}

/// Content by its length, hash and type.
pub fn described(content: &[u8]) -> Value {
    json!({
        "content_length": content.len(),
        "content_sha256": hex(&Sha256::digest(content)),
        "content_type_detected": detect_type(content),
    })
}

fn detect_type(content: &[u8]) -> &'static str {
    let Ok(text) = std::str::from_utf8(content) else {
        return "application/octet-stream";
    };
    if text.chars().any(|c| {
        c == '\0' || (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b'))
    }) {
        return "application/octet-stream";
    }
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let lower: String = start
        .chars()
        .take(64)
        .flat_map(char::to_lowercase)
        .collect();
    if start.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(start).is_ok()
    {
        "application/json"
    } else if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        "text/html"
    } else if lower.starts_with("<?xml") {
        "text/xml"
    } else {
        "text/plain"
    }
}

#[cfg(test)]
mod tests;
