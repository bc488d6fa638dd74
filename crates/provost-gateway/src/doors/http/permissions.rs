//! `POST /v1/permissions`: a runner passes on what its agent asks over ACP. `POST /v1/unsupervised`: it tells what
//! its agent did without asking. `DELETE /v1/permissions`: it takes back what was asked in a turn that is over.
//! `GET /v1/standing`: whether the agent is to stop.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    call::Call,
    door::Door,
    gate::{Followed, UnsupervisedAct},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    caller::Agent,
    calls::{Asked, Manner, pass, session},
    error::{ApiError, ApiResult},
    input::{Body, Params},
};
use crate::{
    acp::{self, Undecidable},
    app::App,
};

/// What an agent says in `session/request_permission`, and what the runner knows besides.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asking {
    session_id: Option<String>,
    tool_call: Map<String, Value>,
    /// Where the agent works.
    folder: Option<Box<str>>,
    /// Of this question and no other, in the words of whoever passes it on.
    request_id: Option<String>,
}

pub(super) fn ask(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    mut manner: Manner,
    Body(asking): Body<Asking>,
) -> impl Future<Output = ApiResult> {
    let asked = asked(agent, manner.take_session(), asking);
    pass(app, asked, manner)
}

fn asked(agent: Arc<str>, in_header: Option<String>, asking: Asking) -> ApiResult<Asked> {
    let request = asking.request_id.as_deref();
    let (tool, params) = acp::asked(&asking.tool_call, request).map_err(undecidable)?;
    let call = Call {
        agent,
        session: session(asking.session_id.or(in_header))?,
        tool: tool.into(),
        params,
    };
    Ok(Asked::decided(call, Door::Acp, asking.folder))
}

fn undecidable(why: Undecidable) -> ApiError {
    let refused = |code, message| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message);
    match why {
        Undecidable::RequestMissing => refused(
            "request_id_missing",
            "the call does not tell its arguments, so it can be decided for one request only",
        )
        .help("send a `requestId` that no other request has, and the same one when you ask again"),
        Undecidable::Contradictory => refused(
            "call_contradictory",
            "the call names one file in its arguments and shows a change of another",
        )
        .help("ask about the file that is changed"),
    }
}

pub(super) async fn withdraw(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    params: Params,
) -> ApiResult {
    let params = params.known(&["session_id"])?;
    let Some(session) = session(params.text("session_id"))? else {
        return Err(ApiError::bad_request("`session_id` is missing"));
    };
    let withdrawn = app.gate.turn_ended(&agent, &session).await?;
    Ok(Json(json!({"withdrawn": withdrawn})).into_response())
}

/// What an agent did, as far as it told of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Did {
    session_id: Option<String>,
    tool_call: Map<String, Value>,
    folder: Option<Box<str>>,
    /// The run ends because of it.
    #[serde(default)]
    ends_run: bool,
}

pub(super) async fn unsupervised(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    Body(did): Body<Did>,
) -> ApiResult {
    // Nothing is decided, so no request needs a name of its own.
    let (tool, params) = acp::call(&did.tool_call, Some("")).unwrap_or_default();
    let act = UnsupervisedAct {
        agent,
        session: session(did.session_id)?,
        tool: tool.into(),
        params,
        folder: did.folder,
        followed: if did.ends_run {
            Followed::RunEnded
        } else {
            Followed::RunWentOn
        },
    };
    let told = app.gate.unsupervised(act).await?;
    let answer = json!({"trace_id": told.question.trace_id, "approval_id": told.question.id});
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

pub(super) async fn standing(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    params: Params,
) -> ApiResult {
    let params = params.known(&["session_id"])?;
    let call = Call {
        agent,
        session: session(params.text("session_id"))?,
        tool: "".into(),
        params: Map::new(),
    };
    let control = app.gate.control();
    let stop = control.stop_for(&call);
    Ok(Json(json!({
        "agent": call.agent,
        "stopped": stop.is_some(),
        "reason": stop.map(ToString::to_string),
    }))
    .into_response())
}
