//! `POST /hooks/{agent}`: a coding agent asks before it acts, and tells what it did.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::{
    call::{Call, NOT_EXACT, is_exact, is_name},
    door::Door,
    gate::{Ask, Decided, Told, Wait},
    ids::TraceId,
};
use serde_json::{Map, Value, json};

use super::{
    caller::Agent,
    error::{ApiError, ApiResult},
    input::{Body, Segment},
};
use crate::{
    app::App,
    hooks::{Act, Dialect, Reply, What},
};

/// The events under which a call may have been asked about. What was done belongs to the first of them.
const ASKED: [&str; 3] = ["PreToolUse", "PermissionRequest", "preToolUse"];

const HELP: &str = "send what the agent gives its hook, as it is: one JSON object that names its event in \
                    `hook_event_name`, such as `PreToolUse`";

pub(super) async fn hook(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    Segment(name): Segment,
    said: ApiResult<Body<Map<String, Value>>>,
) -> ApiResult {
    let Some(dialect) = Dialect::parse(&name) else {
        let known = Dialect::ALL.map(Dialect::name).join(", ");
        return Err(ApiError::not_found("this agent").help(format!("known are {known}")));
    };
    let heard = said
        .and_then(|Body(said)| dialect.hear(&said).map_err(ApiError::bad_request))
        .map_err(|error| error.help_with_request(HELP))?;
    let speaker = Speaker {
        app: &app,
        dialect,
        agent,
        session: heard.session.map(Into::into),
        folder: heard.folder.map(Into::into),
        event: &heard.event,
    };
    let told = match heard.what {
        What::Ask(act) => Some(speaker.ask(act).await?),
        What::Unreadable(problem) => {
            let detail = json!({ "unreadable": &problem });
            speaker.note(detail).await?;
            Some(Err(format!("the hook cannot be read: {problem}")))
        }
        What::Done { act, error, size } => {
            let told = Told {
                error,
                size,
                latency_ms: 0,
            };
            speaker.done(act, told).await?;
            None
        }
        What::Note(detail) => {
            speaker.note(detail).await?;
            None
        }
        What::Unknown => {
            speaker.note(Value::Null).await?;
            None
        }
    };
    let reply = match &told {
        Some(Ok(Permitted { reason, arguments })) => match arguments {
            Some(arguments) => Reply::AllowInstead(reason, arguments),
            None => Reply::Allow(reason),
        },
        Some(Err(reason)) => Reply::Deny(reason),
        None => Reply::Neutral,
    };
    Ok(Json(dialect.reply(&heard.event, reply)).into_response())
}

/// A yes: why, and to what, where a person changed the call.
struct Permitted {
    reason: String,
    arguments: Option<Map<String, Value>>,
}

/// Who says it, and where.
struct Speaker<'a> {
    app: &'a App,
    dialect: Dialect,
    agent: Arc<str>,
    session: Option<Arc<str>>,
    folder: Option<Box<str>>,
    event: &'a str,
}

impl Speaker<'_> {
    /// Yes, or no with its reason.
    async fn ask(&self, act: Act) -> ApiResult<Result<Permitted, String>> {
        if !self.session.as_deref().is_none_or(is_name) {
            return Ok(Err(
                "a session id is 1 to 256 printable characters".to_owned()
            ));
        }
        if !act.params.values().all(is_exact) {
            return Ok(Err(NOT_EXACT.to_owned()));
        }
        let trace_id = self.trace_id(act.id.as_deref()).await?;
        let mut call = self.call(act);
        let misfit = self.app.backends.misfit(&call.tool, &mut call.params);
        let ask = Ask {
            call,
            trace_id,
            door: Door::Hook,
            wait: Wait::UntilDecided,
            idempotency_key: None,
            folder: self.folder.clone(),
            misfit,
        };
        Ok(match self.app.gate.decide(ask).await? {
            Decided::Permitted(permit) => Ok(Permitted {
                reason: permit.reason().to_owned(),
                arguments: permit.changed().cloned(),
            }),
            Decided::Refused(refusal) => {
                let (reason, rule, id) = (&refusal.reason, &refusal.rule, &refusal.trace_id);
                Err(format!("not permitted: {reason} ({rule}, trace {id})"))
            }
            // Without a key and with endless patience there is no third answer.
            _ => Err("not decided".to_owned()),
        })
    }

    /// How a call went that was asked about before. What was never asked about is noted.
    async fn done(&self, act: Act, told: Told) -> ApiResult<()> {
        let id = act.id.clone();
        let call = self.call(act);
        for event in ASKED {
            let Some(id) = id.as_deref() else { break };
            let trace_id = self.derived(event, id);
            let told = told.clone();
            let telling = self.app.gate.told(&self.agent, &trace_id, Door::Hook, told);
            if telling.await? {
                return Ok(());
            }
        }
        self.note(json!({ "tool": call.tool, "error": told.error, "size": told.size }))
            .await
    }

    async fn note(&self, detail: Value) -> ApiResult<()> {
        let session = self.session.clone().filter(|session| is_name(session));
        let note = format!("{} {}", self.dialect.name(), self.event);
        let noted = self
            .app
            .gate
            .note(self.agent.clone(), session, &note, detail);
        Ok(noted.await?)
    }

    fn call(&self, act: Act) -> Call {
        Call {
            agent: self.agent.clone(),
            session: self.session.clone(),
            tool: act.tool.into(),
            params: act.params,
        }
    }

    /// By the agent's own id, so that what it tells afterwards finds its way. If it used that id before,
    /// a new one: a record must never be taken for another's.
    async fn trace_id(&self, id: Option<&str>) -> ApiResult<TraceId> {
        let now = self.app.gate.now();
        let derived = id.map(|id| self.derived(self.event, id));
        Ok(match derived {
            Some(id) if self.app.gate.store().reserve_trace_id(&id, now).await? => id,
            _ => TraceId::at(now),
        })
    }

    fn derived(&self, event: &str, id: &str) -> TraceId {
        let session = self.session.as_deref().unwrap_or_default();
        TraceId::derived(&[self.dialect.name(), &self.agent, session, event, id])
    }
}
