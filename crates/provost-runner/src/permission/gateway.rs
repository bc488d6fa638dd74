//! The gate decides: policy, a grant, a supervisor, a person. A yes is for once: the agent asks again, and the
//! gate answers by what was granted.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use super::{Judgement, Permission, Wish};
use crate::{
    brake::Brake,
    config,
    web::{self, Answer, Limits, Web},
};

const BY: &str = "gateway";
/// How long one request waits for a decision; another one follows.
const WAIT: &str = "wait=25";
const DEADLINE: Duration = Duration::from_mins(1);
const LARGEST: usize = 4 * 1024 * 1024;
const AGAIN: Duration = Duration::from_secs(1);

pub struct Gateway {
    web: Web,
    permissions: Uri,
    unsupervised: Uri,
    standing: String,
    headers: HeaderMap,
}

/// What the gateway thinks of us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Good,
    /// And why.
    Stopped(String),
}

pub struct GatewayJudge {
    pub gateway: std::sync::Arc<Gateway>,
    /// Where the agent works.
    pub folder: String,
    /// Pulled when the gateway says no because it was stopped.
    pub brake: Brake,
}

#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    #[error("{0}")]
    Web(#[from] web::Error),
    #[error("the gateway answers {0}: {1}")]
    Refused(StatusCode, String),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asking<'a> {
    folder: &'a str,
    session_id: Option<&'a str>,
    /// With what the agent told of the call before.
    tool_call: &'a Map<String, Value>,
    /// This question and no other: what is not told in full is decided for it alone.
    request_id: &'a str,
}

impl Gateway {
    pub fn new(config: &config::Gateway) -> Result<Self, Unreachable> {
        let base = config.url.trim_end_matches('/');
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert("prefer", HeaderValue::from_static(WAIT));
        if let Some(key) = &config.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.reveal()))
                .map_err(|_| web::Error::BadUrl)?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let limits = Limits {
            deadline: DEADLINE,
            largest: LARGEST,
        };
        let web = match &config.connector {
            Some(connector) => Web::over(connector.clone(), limits),
            None => Web::new(limits),
        };
        Ok(Self {
            web,
            permissions: web::url(&format!("{base}/v1/permissions"))?,
            unsupervised: web::url(&format!("{base}/v1/unsupervised"))?,
            standing: format!("{base}/v1/standing"),
            headers,
        })
    }

    /// Tells of an act that nobody decided, until the gateway has taken it or the time is over.
    pub async fn tell_unsupervised(
        &self,
        act: &Value,
        within: Duration,
    ) -> Result<(), Unreachable> {
        let body = act.to_string();
        let until = Instant::now() + within;
        loop {
            let (headers, body) = (self.headers.clone(), body.clone().into());
            let told = self.web.post(&self.unsupervised, headers, body).await;
            let problem = match told {
                Ok(answer) if answer.status.is_success() => return Ok(()),
                Ok(answer) => Unreachable::Refused(answer.status, message(&json(&answer))),
                Err(error) => error.into(),
            };
            let passes = match &problem {
                Unreachable::Refused(status, _) => status.is_server_error(),
                Unreachable::Web(_) => true,
            };
            if !passes || Instant::now() + AGAIN >= until {
                return Err(problem);
            }
            sleep(AGAIN).await;
        }
    }

    /// Takes back what was asked in a session and is open: its turn is over.
    pub async fn withdraw(&self, session: &str) -> Result<(), Unreachable> {
        let url = web::url(&format!("{}{}", self.permissions, of_session(session)))?;
        let answer = self.web.delete(&url, self.headers.clone()).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(Unreachable::Refused(answer.status, message(&json(&answer))))
    }

    /// Whether the agent, or this session of it, is to stop.
    pub async fn standing(&self, session: Option<&str>) -> Result<Standing, Unreachable> {
        let query = session.map(of_session);
        let url = web::url(&format!("{}{}", self.standing, query.unwrap_or_default()))?;
        let answer = self.web.get(&url, self.headers.clone()).await?;
        let body = json(&answer);
        if answer.status != StatusCode::OK {
            return Err(Unreachable::Refused(answer.status, message(&body)));
        }
        // An answer that does not say that all is well says that it is not.
        if body.get("stopped") == Some(&Value::Bool(false)) {
            return Ok(Standing::Good);
        }
        let reason = body.get("reason").and_then(Value::as_str);
        Ok(Standing::Stopped(
            reason.unwrap_or("stopped by the gateway").to_owned(),
        ))
    }
}

impl GatewayJudge {
    pub(super) async fn ask(&self, permission: &Permission) -> Judgement {
        let asking = Asking {
            folder: &self.folder,
            session_id: permission.session.as_deref(),
            tool_call: &permission.told,
            request_id: &permission.once,
        };
        let body = serde_json::to_string(&asking).unwrap_or_default();
        loop {
            let gateway = &self.gateway;
            let (headers, body) = (gateway.headers.clone(), body.clone().into());
            let answered = gateway.web.post(&gateway.permissions, headers, body).await;
            match answered.as_ref().map(Reply::of) {
                Ok(Reply::Judged(judgement)) => {
                    self.heed(&judgement, permission).await;
                    return judgement;
                }
                // The same question finds its place again.
                Ok(Reply::Open) => {}
                // Whoever waits for us has a deadline; until then the gateway may come back.
                Ok(Reply::Trouble(status)) => {
                    tracing::warn!(%status, "the gateway cannot decide now");
                    sleep(AGAIN).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "the gateway cannot be asked");
                    sleep(AGAIN).await;
                }
            }
        }
    }
}

impl GatewayJudge {
    /// A no may come from the stop switch, and then it is more than a no: the agent would go on without.
    async fn heed(&self, judgement: &Judgement, permission: &Permission) {
        if judgement.wish == Wish::Allow {
            return;
        }
        let session = permission.session.as_deref();
        if let Ok(Standing::Stopped(reason)) = self.gateway.standing(session).await {
            self.brake.pull(format!("stopped: {reason}"));
        }
    }
}

/// What the gateway answered.
#[derive(Debug)]
enum Reply {
    Judged(Judgement),
    /// Nobody has decided yet.
    Open,
    /// It could not decide, and may be able to a little later.
    Trouble(StatusCode),
}

impl Reply {
    fn of(answer: &Answer) -> Self {
        let body = json(answer);
        let reject = |reason: String| Self::Judged(Judgement::new(Wish::Reject, BY, reason));
        match answer.status {
            StatusCode::OK if body.get("arguments").is_some() => reject(
                "a person would allow it with other arguments, which ACP cannot tell".to_owned(),
            ),
            StatusCode::OK if body.get("action").and_then(Value::as_str) == Some("allow") => {
                let reason = body.get("reason").and_then(Value::as_str);
                Self::Judged(Judgement::new(Wish::Allow, BY, reason.unwrap_or_default()))
            }
            StatusCode::ACCEPTED => Self::Open,
            status if status.is_server_error() => Self::Trouble(status),
            status => reject(format!("{status}: {}", message(&body))),
        }
    }
}

fn of_session(session: &str) -> String {
    format!("?session_id={}", quoted(session))
}

fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_default()
}

fn message(body: &Value) -> String {
    let message = body.pointer("/error/message").and_then(Value::as_str);
    message.unwrap_or("no reason is given").to_owned()
}

/// As it may stand in a query.
fn quoted(text: &str) -> String {
    web::quoted(text, |byte| {
        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_plain_yes_is_a_yes() {
        for (status, body, expected) in [
            (200, json!({"action": "allow"}), "allow"),
            (200, json!({"action": "allow", "arguments": {}}), "reject"),
            (200, json!({"action": "human_approval"}), "reject"),
            (200, json!([]), "reject"),
            (202, json!({"action": "human_approval"}), "ask again"),
            (403, json!({"error": {"message": "no"}}), "reject"),
            (408, json!({}), "reject"),
            (429, json!({}), "reject"),
            (302, json!({}), "reject"),
            (503, json!({}), "ask later"),
        ] {
            let answer = Answer {
                status: StatusCode::from_u16(status).unwrap(),
                headers: HeaderMap::new(),
                body: body.to_string().into(),
            };
            let reply = match Reply::of(&answer) {
                Reply::Judged(judgement) if judgement.wish == Wish::Allow => "allow",
                Reply::Judged(_) => "reject",
                Reply::Open => "ask again",
                Reply::Trouble(_) => "ask later",
            };
            assert_eq!(reply, expected, "{status} {body}");
        }
    }

    #[test]
    fn sessions_stand_in_queries() {
        assert_eq!(quoted("a-1 &x=é"), "a-1%20%26x%3D%C3%A9");
    }
}
