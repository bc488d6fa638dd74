//! Decisions that a receiver puts into its answers: whoever reads the reports can allow what they ask for
//! without a connection of its own.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{Mutex, mpsc};

/// The kinds of options ACP knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

impl OptionKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowAlways => "allow_always",
            Self::RejectOnce => "reject_once",
            Self::RejectAlways => "reject_always",
        }
    }

    pub fn read(text: &str) -> Option<Self> {
        match text {
            "allow_once" => Some(Self::AllowOnce),
            "allow_always" => Some(Self::AllowAlways),
            "reject_once" => Some(Self::RejectOnce),
            "reject_always" => Some(Self::RejectAlways),
            _ => None,
        }
    }
}

/// One decision: by the id of an option, by its kind, or both, and then both must fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub permission_id: String,
    pub option_id: Option<String>,
    pub kind: Option<OptionKind>,
}

/// Where decisions arrive. Each is given once, whoever of the clones takes it.
#[derive(Clone, Debug)]
pub struct Answers(Arc<Mutex<mpsc::UnboundedReceiver<Answer>>>);

impl Answers {
    pub(super) fn new(from: mpsc::UnboundedReceiver<Answer>) -> Self {
        Self(Arc::new(Mutex::new(from)))
    }

    /// `None`: the reporter is gone.
    pub async fn next(&self) -> Option<Answer> {
        self.0.lock().await.recv().await
    }
}

/// `{"permissions":[{…}]}` or `{"permission":{…}}`; anything else answers nothing.
pub(super) fn found(body: &[u8]) -> Vec<Answer> {
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else {
        return Vec::new();
    };
    let many = body.get("permissions").and_then(Value::as_array);
    let many = many.into_iter().flatten();
    many.chain(body.get("permission"))
        .filter_map(decision)
        .collect()
}

/// What is half understood is no decision: a kind we do not know could mean the opposite.
fn decision(value: &Value) -> Option<Answer> {
    let permission_id = value.get("permissionId")?.as_str()?.to_owned();
    let option_id = match value.get("optionId") {
        None | Some(Value::Null) => None,
        Some(id) => Some(id.as_str()?.to_owned()),
    };
    let kind = match value.get("kind") {
        None | Some(Value::Null) => None,
        Some(kind) => Some(OptionKind::read(kind.as_str()?)?),
    };
    (option_id.is_some() || kind.is_some()).then_some(Answer {
        permission_id,
        option_id,
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_found_in_bodies() {
        let p = |id: &str, option: Option<&str>, kind| Answer {
            permission_id: id.to_owned(),
            option_id: option.map(str::to_owned),
            kind,
        };
        let once = Some(OptionKind::AllowOnce);
        for (body, expected) in [
            (
                r#"{"permission":{"permissionId":"1","optionId":"a"}}"#,
                vec![p("1", Some("a"), None)],
            ),
            (
                r#"{"permission":{"permissionId":"1","kind":"allow_once"}}"#,
                vec![p("1", None, once)],
            ),
            (
                r#"{"ok":true,"permissions":[{"permissionId":"1","kind":"reject_always"},7,{"permissionId":"2","optionId":"b","kind":"allow_once"}]}"#,
                vec![
                    p("1", None, Some(OptionKind::RejectAlways)),
                    p("2", Some("b"), once),
                ],
            ),
            (
                r#"{"permission":{"permissionId":"1","optionId":"a","kind":"maybe"}}"#,
                vec![],
            ),
            (r#"{"permission":{"permissionId":"1"}}"#, vec![]),
            (
                r#"{"permission":{"permissionId":1,"optionId":"a"}}"#,
                vec![],
            ),
            (r#"{"permissions":"all"}"#, vec![]),
            (r#"[{"permissionId":"1","optionId":"a"}]"#, vec![]),
            ("ok", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(found(body.as_bytes()), expected, "{body}");
        }
    }
}
