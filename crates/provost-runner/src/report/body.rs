//! What is written into a report. What came from the agent stands in it as the agent wrote it: it is copied,
//! never read and written again.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{End, Phase, State, fold::Snapshot, permissions::Pending};
use crate::config::Identity;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    SessionUpdate,
    AgentNotification,
    PermissionRequest,
    PromptComplete,
    PromptFailed,
    Heartbeat,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::SessionUpdate,
        Self::AgentNotification,
        Self::PermissionRequest,
        Self::PromptComplete,
        Self::PromptFailed,
        Self::Heartbeat,
    ];

    /// As the wire writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionUpdate => "session_update",
            Self::AgentNotification => "agent_notification",
            Self::PermissionRequest => "permission_request",
            Self::PromptComplete => "prompt_complete",
            Self::PromptFailed => "prompt_failed",
            Self::Heartbeat => "heartbeat",
        }
    }

    pub fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// A snapshot makes up for a lost update, and for nothing else.
    pub fn may_be_dropped(self) -> bool {
        self == Self::SessionUpdate
    }

    pub fn is_end(self) -> bool {
        matches!(self, Self::PromptComplete | Self::PromptFailed)
    }
}

/// One report of the chain, before it has its number.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    Update {
        notifications: &'a [Box<RawValue>],
        phase: Phase,
    },
    Agent {
        method: &'a str,
        params: Option<&'a RawValue>,
    },
    Permission {
        id: &'a str,
        request: &'a RawValue,
        answer_url: Option<&'a str>,
    },
    End {
        end: &'a End,
        warnings: &'a [String],
    },
}

impl Content<'_> {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Update { .. } => Kind::SessionUpdate,
            Self::Agent { .. } => Kind::AgentNotification,
            Self::Permission { .. } => Kind::PermissionRequest,
            Self::End { end, .. } => match end {
                End::Complete { .. } => Kind::PromptComplete,
                End::Failed(_) => Kind::PromptFailed,
            },
        }
    }

    pub(super) fn notifications(&self) -> usize {
        match self {
            Self::Update { notifications, .. } => notifications.len(),
            _ => 0,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    kind: Kind,
    run_id: &'a str,
    task_id: &'a str,
    sandbox_id: &'a str,
    prompt_id: &'a str,
    sequence: u64,
    /// `null` until the agent has named the session.
    session_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Rest<'a> {
    #[serde(rename_all = "camelCase")]
    Update {
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'static str>,
        notifications: &'a [Box<RawValue>],
        snapshot: &'a Snapshot<'a>,
    },
    Agent {
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a RawValue>,
    },
    #[serde(rename_all = "camelCase")]
    Permission {
        permission_id: &'a str,
        request: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        answer_url: Option<&'a str>,
    },
    End {
        #[serde(flatten)]
        end: &'a End,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        warnings: &'a [String],
        snapshot: &'a Snapshot<'a>,
    },
    #[serde(rename_all = "camelCase")]
    Heartbeat {
        last_sequence: u64,
        state: State,
        pending_permissions: &'a Pending,
        now: i64,
    },
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(flatten)]
    rest: Rest<'a>,
}

/// Whose report it is.
#[derive(Clone, Copy)]
pub(super) struct Whose<'a> {
    pub(super) identity: &'a Identity,
    pub(super) session: Option<&'a str>,
}

impl<'a> Whose<'a> {
    fn head(self, kind: Kind, sequence: u64) -> Head<'a> {
        Head {
            kind,
            run_id: &self.identity.run_id,
            task_id: &self.identity.task_id,
            sandbox_id: &self.identity.sandbox_id,
            prompt_id: &self.identity.prompt_id,
            sequence,
            session_id: self.session,
        }
    }

    pub(super) fn report(
        self,
        sequence: u64,
        content: Content<'a>,
        snapshot: &'a Snapshot<'a>,
    ) -> serde_json::Result<Bytes> {
        let rest = match content {
            Content::Update {
                notifications,
                phase,
            } => Rest::Update {
                phase: (phase == Phase::Replay).then_some("replay"),
                notifications,
                snapshot,
            },
            Content::Agent { method, params } => Rest::Agent { method, params },
            Content::Permission {
                id,
                request,
                answer_url,
            } => Rest::Permission {
                permission_id: id,
                request,
                answer_url,
            },
            Content::End { end, warnings } => Rest::End {
                end,
                warnings,
                snapshot,
            },
        };
        let head = self.head(content.kind(), sequence);
        serde_json::to_vec(&Body { head, rest }).map(Bytes::from)
    }

    /// Always number 0: a heartbeat takes no place in the chain.
    pub(super) fn heartbeat(
        self,
        last_sequence: u64,
        state: State,
        pending_permissions: &'a Pending,
        now: i64,
    ) -> serde_json::Result<Bytes> {
        let rest = Rest::Heartbeat {
            last_sequence,
            state,
            pending_permissions,
            now,
        };
        let head = self.head(Kind::Heartbeat, 0);
        serde_json::to_vec(&Body { head, rest }).map(Bytes::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Failure, fold::Fold, permissions::Permissions};

    fn identity() -> Identity {
        Identity {
            run_id: "r".to_owned(),
            task_id: "t".to_owned(),
            sandbox_id: "s".to_owned(),
            prompt_id: "p".to_owned(),
        }
    }

    fn written(content: Content<'_>) -> String {
        let (fold, permissions) = (Fold::default(), Permissions::default());
        let snapshot = fold.snapshot(State::Running, 4, 0, &permissions, None);
        let identity = identity();
        let whose = Whose {
            identity: &identity,
            session: Some("sess"),
        };
        let body = whose.report(4, content, &snapshot).unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[test]
    fn raw_means_raw() {
        let texts = [
            "{ \"a\" : 0.0024000000000000002,\t\"a\":123456789012345678901234567890 }",
            r#"{"\u00e9":"\/","b":1e400,"c":-0.0,"d":1.10}"#,
        ];
        let items = texts.map(|text| RawValue::from_string(text.to_owned()).unwrap());
        let update = Content::Update {
            notifications: &items,
            phase: Phase::Replay,
        };
        let start = format!(
            r#"{{"kind":"session_update","runId":"r","taskId":"t","sandboxId":"s","promptId":"p","sequence":4,"sessionId":"sess","phase":"replay","notifications":[{},{}],"snapshot":{{"schemaVersion":1,"#,
            texts[0], texts[1]
        );
        let body = written(update);
        assert!(body.starts_with(&start), "{body}");
        let agent = Content::Agent {
            method: "_auth/status",
            params: Some(&items[0]),
        };
        let end = format!(r#""method":"_auth/status","params":{}}}"#, texts[0]);
        assert!(written(agent).ends_with(&end));
        let asked = Content::Permission {
            id: "p1",
            request: &items[1],
            answer_url: None,
        };
        let end = format!(r#""permissionId":"p1","request":{}}}"#, texts[1]);
        assert!(written(asked).ends_with(&end));
    }

    #[test]
    fn ends_carry_what_the_agent_said() {
        let usage = RawValue::from_string(r#"{ "total": 0.30000000000000004 }"#.to_owned());
        let end = End::Complete {
            stop_reason: "end_turn".to_owned(),
            usage: usage.ok(),
        };
        let body = written(Content::End {
            end: &end,
            warnings: &[],
        });
        let part = r#""sessionId":"sess","stopReason":"end_turn","usage":{ "total": 0.30000000000000004 },"snapshot":"#;
        assert!(body.contains(part), "{body}");
        let failed = End::Failed(Failure {
            code: -32603,
            message: "it broke".to_owned(),
            signal: Some(9),
            ..Failure::default()
        });
        let body = written(Content::End {
            end: &failed,
            warnings: &["w".to_owned()],
        });
        let part = r#""error":{"code":-32603,"message":"it broke"},"signal":9,"warnings":["w"],"snapshot":"#;
        assert!(body.contains(part), "{body}");
    }

    #[test]
    fn kinds_are_read_as_written() {
        for kind in Kind::ALL {
            assert_eq!(Kind::read(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!(Kind::read("other"), None);
    }
}
