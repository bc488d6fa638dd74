//! A call: who wants to do what. An approval is bound to its digest, to where it is made, and to who executes it.

mod canonical;
mod exact;

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

pub use canonical::canonical_json;
pub use exact::{exact_numbers, is_exact_text};

use crate::{ids::hex, json::write_string};

/// Names longer than this are refused at the door.
pub const MAX_NAME: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    pub tool: Arc<str>,
    pub params: Map<String, Value>,
}

/// Who executes a call once it is permitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// Whoever asked: an agent by itself, or the wrapper of its MCP server.
    #[default]
    Caller,
    /// A backend of ours.
    Gateway,
}

/// SHA-256 over canonical JSON (RFC 8785): of a call, that of agent, session, tool and arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Call {
    pub fn digest(&self) -> Digest {
        self.digest_and_length().0
    }

    /// And how long what it is made of was: nothing else of a call need be measured.
    pub(crate) fn digest_and_length(&self) -> (Digest, usize) {
        let mut text = String::with_capacity(256);
        text.push_str("{\"agent\":");
        write_string(&self.agent, &mut text);
        text.push_str(",\"arguments\":");
        canonical::write_object(&self.params, &mut text);
        text.push_str(",\"session\":");
        match &self.session {
            Some(session) => write_string(session, &mut text),
            None => text.push_str("null"),
        }
        text.push_str(",\"tool\":");
        write_string(&self.tool, &mut text);
        text.push('}');
        (Digest(Sha256::digest(text.as_bytes()).into()), text.len())
    }

    /// Tells apart what [`Call::digest`] takes for the same: `1` and `1.0`, `0` and `-0.0`.
    pub fn exact_digest(&self) -> Digest {
        Digest(
            Sha256::new()
                .chain_update(self.digest().0)
                .chain_update(self.written())
                .finalize()
                .into(),
        )
    }

    /// Whether the arguments are the same to the letter.
    pub fn is_written_as(&self, other: &Self) -> bool {
        self.written() == other.written()
    }

    /// The arguments as JSON, every number as it was given.
    fn written(&self) -> String {
        serde_json::to_string(&self.params).unwrap_or_default()
    }
}

impl Digest {
    pub fn of(value: &Value) -> Self {
        Self(Sha256::digest(canonical_json(value).as_bytes()).into())
    }

    /// Of arguments as they are written, every number as it was given: `1` is not `1.0`.
    pub fn of_written(params: &Map<String, Value>) -> Self {
        let written = serde_json::to_string(params).unwrap_or_default();
        Self(Sha256::digest(written.as_bytes()).into())
    }

    /// What an approval, or an idempotency key, of this call is bound to: the same call from another folder, or
    /// for somebody else to execute, is another one.
    pub fn bound_to(self, executor: Executor, works_in: Option<&str>) -> Self {
        let name: &[u8] = match executor {
            Executor::Gateway => b"run",
            Executor::Caller => b"decide",
        };
        let mut hash = Sha256::new().chain_update(name).chain_update(self.0);
        if let Some(folder) = works_in {
            hash.update(b"in");
            hash.update(folder);
        }
        Self(hash.finalize().into())
    }

    /// Eight bytes of the digest, for tables in memory that need no more.
    pub fn short(self) -> u64 {
        self.0
            .iter()
            .take(8)
            .fold(0, |short, byte| short << 8 | u64::from(*byte))
    }

    /// In hex.
    pub fn text(&self) -> String {
        hex(&self.0)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0_u8; 32];
        if text.len() != 64 {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 in hex"))
    }
}

/// Whether a name may be an agent's, a session's or a tool's: short, printable in one line, and not another
/// name with space around it.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.trim() == text
        && !text.chars().any(char::is_control)
}

/// What those are told whose numbers are not [`is_exact`].
pub const NOT_EXACT: &str = "a number with more digits than 64 bits hold cannot be carried exactly";

/// Whether every number can be carried exactly. One beyond 64 bits would be rounded, and what was approved
/// would not be what the agent meant. For other numbers, see [`exact_numbers`].
pub fn is_exact(value: &Value) -> bool {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().is_some_and(|n| n.abs() < LIMIT)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(map) => map.values().all(is_exact),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(params: &str) -> Call {
        Call {
            agent: "claude".into(),
            session: None,
            tool: "echo".into(),
            params: serde_json::from_str(params).unwrap(),
        }
    }

    #[test]
    fn the_digest_is_over_canonical_json_of_the_call() {
        let expected = Sha256::digest(br#"{"agent":"claude","arguments":{"a":1,"b":[true,null]},"session":null,"tool":"echo"}"#);
        assert_eq!(
            call(r#"{"b": [true, null], "a": 1.0}"#)
                .digest()
                .to_string(),
            hex(&expected)
        );
    }

    #[test]
    fn every_part_of_the_call_counts() {
        let base = call(r#"{"a":1}"#);
        let others = [
            Call {
                agent: "other".into(),
                ..base.clone()
            },
            Call {
                session: Some("s".into()),
                ..base.clone()
            },
            Call {
                tool: "other".into(),
                ..base.clone()
            },
            call(r#"{"a":2}"#),
            call(r#"{"a":"1"}"#),
            call(r"{}"),
        ];
        for other in others {
            assert_ne!(other.digest(), base.digest(), "{other:?}");
        }
    }

    #[test]
    fn p02_the_exact_digest_tells_spellings_of_a_number_apart() {
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            (r#"{"a":0}"#, r#"{"a":-0.0}"#),
            (r#"{"a":0.0}"#, r#"{"a":-0.0}"#),
            (r#"{"a":[{"b":1e3}]}"#, r#"{"a":[{"b":1000}]}"#),
        ] {
            let (one, other) = (call(one), call(other));
            assert_eq!(one.digest(), other.digest());
            assert_ne!(one.exact_digest(), other.exact_digest(), "{other:?}");
            assert!(!one.is_written_as(&other) && one.is_written_as(&one.clone()));
        }
    }

    #[test]
    fn p03_an_approval_is_bound_to_the_folder_and_to_who_executes() {
        let digest = call("{}").digest();
        let bound = |executor, folder| digest.bound_to(executor, folder);
        let all = [
            bound(Executor::Caller, None),
            bound(Executor::Caller, Some("")),
            bound(Executor::Caller, Some("/srv/a")),
            bound(Executor::Caller, Some("/srv/a/")),
            bound(Executor::Gateway, None),
            bound(Executor::Gateway, Some("/srv/a")),
            call(r#"{"a":1}"#)
                .digest()
                .bound_to(Executor::Caller, Some("/srv/a")),
            digest,
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(
            bound(Executor::Caller, Some("/srv/a")),
            bound(Executor::Caller, Some("/srv/a"))
        );
    }

    #[test]
    fn digests_are_read_back() {
        let digest = call("{}").digest();
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("xyz"), None);
    }
}
