//! Why the gateway did not do what was asked, and what to do next.

use std::{error::Error as _, path::PathBuf, time::Duration};

use http::StatusCode;
use hyper_util::client::legacy::Error as PoolError;
use provost_core::time::format_duration;
use serde_json::Value;

use super::proof::{NoProof, NotProven};
use crate::exit::Exit;

/// Of bytes: what fits between two programs without either waiting. A gateway that refuses more for its size
/// hangs up while it is still being sent, and its answer may be lost.
const ALWAYS_TAKEN: usize = 64 * 1024;

/// What helps who did not know which key they asked with.
const OF_VARIABLE: &str = "you asked with the key in PROVOST_KEY; `unset PROVOST_KEY` to ask with the gateway's admin \
    key, if its data folder is on this machine";

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("no gateway of yours is running")]
    NotRunning,
    /// The same for a command that can also read the record of a gateway that does not run.
    #[error("no gateway of yours is running, and no data folder was named")]
    NoRecord,
    #[error("what answers at {url} is not the gateway of `{}`; it was sent no key", data.display())]
    NotTheOne { url: String, data: PathBuf },
    #[error("cannot reach the gateway at {url}: {why}")]
    Unreachable { url: String, why: String },
    #[error("the gateway at {url} did not answer within {}", format_duration(*patience))]
    Slow { url: String, patience: Duration },
    /// Nothing was asked of it but to prove itself.
    #[error("the gateway at {url} took the connection, but did not answer within {}", format_duration(*patience))]
    Silent { url: String, patience: Duration },
    #[error("the gateway at {url} took no request of {size} bytes: {why}")]
    CutOff {
        url: String,
        size: usize,
        why: String,
    },
    #[error("the gateway's answer broke off")]
    BrokeOff,
    #[error("what answers at {url} is not a provost gateway")]
    NotOurs { url: String, status: StatusCode },
    #[error("the URL of the gateway cannot be used")]
    BadUrl,
    #[error("cannot load this machine's root certificates: {0}")]
    NoCertificates(String),
    #[error("{0}")]
    Refused(Box<Refusal>),
}

/// The gateway said no.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// All it said.
    pub(crate) body: Value,
    key: AskedWith,
}

/// The key that a request was sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedWith {
    NoKey,
    Key,
    /// The one of PROVOST_KEY.
    Variable,
}

impl Refusal {
    fn is_about_key(&self) -> bool {
        matches!(
            self.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        )
    }

    pub(crate) fn code(&self) -> &str {
        let code = self.body.pointer("/error/code");
        code.and_then(Value::as_str).unwrap_or_default()
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl ClientError {
    /// No answer came to a request of that size.
    pub(super) fn unanswered(url: &str, error: &PoolError, size: usize) -> Self {
        let mut why = error.to_string();
        let mut source = error.source();
        while let Some(deeper) = source {
            if let Some(NotProven { data }) = deeper.downcast_ref() {
                return Self::NotTheOne {
                    url: url.to_owned(),
                    data: data.clone(),
                };
            }
            if let Some(NoProof { patience }) = deeper.downcast_ref() {
                return Self::Silent {
                    url: url.to_owned(),
                    patience: *patience,
                };
            }
            why = deeper.to_string();
            source = deeper.source();
        }
        let (url, why) = (url.to_owned(), why.to_lowercase());
        if size > ALWAYS_TAKEN && !error.is_connect() {
            return Self::CutOff { url, size, why };
        }
        Self::Unreachable { url, why }
    }

    pub(super) fn refused(url: &str, status: StatusCode, body: &[u8], key: AskedWith) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| {
            body.pointer(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let Some(message) = text("/error/message") else {
            return Self::NotOurs {
                url: url.to_owned(),
                status,
            };
        };
        let help = text("/error/help");
        Self::Refused(Box::new(Refusal {
            status,
            message,
            help,
            body,
            key,
        }))
    }

    /// The gateway's own refusal, where there was one.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        if let Self::Refused(refusal) = self {
            Some(refusal)
        } else {
            None
        }
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::NotRunning
                | Self::NoRecord
                | Self::NotTheOne { .. }
                | Self::Unreachable { .. }
                | Self::Slow { .. }
                | Self::Silent { .. }
        )
    }

    /// Whether a gateway that works might have answered otherwise: it is away, or in trouble itself.
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            Self::NotRunning
            | Self::NoRecord
            | Self::Unreachable { .. }
            | Self::Slow { .. }
            | Self::Silent { .. }
            | Self::BrokeOff => true,
            Self::NotOurs { status, .. } => status.is_server_error(),
            Self::Refused(refusal) => refusal.status.is_server_error(),
            Self::NotTheOne { .. }
            | Self::CutOff { .. }
            | Self::BadUrl
            | Self::NoCertificates(_) => false,
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NotRunning
            | Self::NoRecord
            | Self::NotTheOne { .. }
            | Self::Unreachable { .. }
            | Self::Slow { .. }
            | Self::Silent { .. }
            | Self::BrokeOff
            | Self::NotOurs { .. } => Exit::Unreachable,
            Self::BadUrl => Exit::Usage,
            Self::Refused(refusal) if refusal.status == StatusCode::BAD_REQUEST => Exit::Usage,
            Self::Refused(refusal) if refusal.status == StatusCode::SERVICE_UNAVAILABLE => {
                Exit::Unreachable
            }
            Self::CutOff { .. } | Self::NoCertificates(_) | Self::Refused(_) => Exit::No,
        }
    }

    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::NotRunning => Some(
                "start one with `provost serve`; one that another user started is named with --url or PROVOST_URL"
                    .to_owned(),
            ),
            Self::NoRecord => Some(
                "start one with `provost serve`, or name the data folder of one that does not run, with --data"
                    .to_owned(),
            ),
            Self::NotTheOne { .. } => {
                Some("start its gateway with `provost serve`; one behind a forwarded port is named with --url and --data, both on the command line".to_owned())
            }
            Self::Unreachable { .. } | Self::NotOurs { .. } => {
                Some("start it with `provost serve`, or say where it is with --url or PROVOST_URL".to_owned())
            }
            Self::CutOff { .. } => {
                Some("send less, or raise `limits.body_bytes` in the gateway's config".to_owned())
            }
            Self::BadUrl => Some("write it as http://host:port, without user, password, query or fragment".to_owned()),
            Self::Refused(refusal) if refusal.status == StatusCode::UNAUTHORIZED && refusal.key == AskedWith::NoKey => Some(
                "give a key with --key or PROVOST_KEY, or name the gateway's data folder with --data"
                    .to_owned(),
            ),
            Self::Refused(refusal) if refusal.is_about_key() && refusal.key == AskedWith::Variable => {
                let or = refusal.help.as_ref().map(|help| format!("; or {help}"));
                Some(format!("{OF_VARIABLE}{}", or.unwrap_or_default()))
            }
            Self::Refused(refusal) => refusal
                .help
                .clone()
                .or_else(|| where_to_look(&refusal.message).map(str::to_owned)),
            Self::Silent { .. } => Some(
                "it may be overloaded: try again, and look at its log; it was sent no key".to_owned(),
            ),
            Self::Slow { .. } | Self::BrokeOff | Self::NoCertificates(_) => None,
        }
    }
}

/// The command that lists what was not found.
fn where_to_look(message: &str) -> Option<&'static str> {
    match message {
        "approval not found" => Some(
            "`provost approvals list` shows those that wait, with --all those that ended as well; \
             the first characters of an id will do if no other begins with them",
        ),
        "grant not found" => Some("`provost grants list` shows those in force; give the whole id"),
        "trace not found" => Some(
            "`provost traces list` shows the latest; the first eight characters of an id will do \
             if no other begins with them",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p17_what_is_not_found_says_where_to_look() {
        for (what, command) in [
            ("approval", "provost approvals list"),
            ("grant", "provost grants list"),
            ("trace", "provost traces list"),
        ] {
            let body = format!(r#"{{"error": {{"message": "{what} not found"}}}}"#);
            let error =
                ClientError::refused("x", StatusCode::NOT_FOUND, body.as_bytes(), AskedWith::Key);
            assert!(
                error.help().is_some_and(|help| help.contains(command)),
                "{what}"
            );
        }
    }

    fn refused(status: u16, body: &str, had_key: bool) -> ClientError {
        let key = if had_key {
            AskedWith::Key
        } else {
            AskedWith::NoKey
        };
        ClientError::refused(
            "http://gate",
            StatusCode::from_u16(status).unwrap(),
            body.as_bytes(),
            key,
        )
    }

    #[test]
    fn p17_a_refused_key_of_the_environment_is_named() {
        let body = br#"{"error": {"message": "an agent asks", "help": "use another key"}}"#;
        for (status, key, named) in [
            (StatusCode::FORBIDDEN, AskedWith::Variable, true),
            (StatusCode::UNAUTHORIZED, AskedWith::Variable, true),
            (StatusCode::FORBIDDEN, AskedWith::Key, false),
            (StatusCode::NOT_FOUND, AskedWith::Variable, false),
        ] {
            let help = ClientError::refused("x", status, body, key).help().unwrap();
            assert_eq!(help.contains("unset PROVOST_KEY"), named, "{help}");
            assert!(help.contains("use another key"), "{help}");
        }
    }

    #[test]
    fn refusals_keep_the_gateways_words() {
        let error = refused(
            409,
            r#"{"error": {"code": "x", "message": "already denied", "help": "look"}}"#,
            true,
        );
        assert_eq!(error.to_string(), "already denied");
        assert_eq!(error.help().as_deref(), Some("look"));
    }

    #[test]
    fn each_refusal_has_its_exit_code() {
        let body = r#"{"error": {"code": "x", "message": "m"}}"#;
        for (error, exit) in [
            (refused(400, body, true), Exit::Usage),
            (refused(401, body, false), Exit::No),
            (refused(404, body, true), Exit::No),
            (refused(503, body, true), Exit::Unreachable),
            (refused(502, "<html>", true), Exit::Unreachable),
        ] {
            assert_eq!(error.exit(), exit, "{error}");
        }
        assert!(refused(401, body, false).help().unwrap().contains("--key"));
    }

    #[test]
    fn a_refusal_is_no_outage() {
        let body = r#"{"error": {"code": "x", "message": "m"}}"#;
        for (status, body, outage) in [
            (400, body, false),
            (401, body, false),
            (413, body, false),
            (404, "<html>", false),
            (500, body, true),
            (503, body, true),
            (502, "<html>", true),
        ] {
            assert_eq!(refused(status, body, true).is_outage(), outage, "{status}");
        }
    }
}
