//! `POST /approvals/{id}/approve|deny|escalate|claim`.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Claim, Decision, Status},
    call::{NOT_EXACT, is_exact},
    gate::{Claiming, Decider, Escalating, Resolution, Resolving},
    menu::Code,
    time::parse_duration,
    trace::view::Exposure,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::view::view;
use crate::{
    app::App,
    doors::http::{
        caller::Reviewer,
        error::{ApiError, ApiResult},
        input::{Body, Segment},
    },
};

const LONGEST_REASONING: usize = 16 * 1024;
const LONGEST_LABEL: usize = 256;
const NOT_REMEMBERED: &str = "only an approval is remembered";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::doors::http) struct ResolveBody {
    resolved_by: Option<String>,
    reasoning: Option<String>,
    confidence: Option<f64>,
    /// Only with an approval: what is permitted instead.
    arguments: Option<Map<String, Value>>,
    /// Only with an approval, and only by a person: the same is not asked again.
    remember: Option<Remember>,
}

/// For how long: codes 2 and 6 of the menu.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Remember {
    Session,
    Always,
}

impl Remember {
    fn code(self) -> Code {
        match self {
            Self::Session => Code::Session,
            Self::Always => Code::Always,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::doors::http) struct ClaimBody {
    duration: Option<String>,
}

impl ResolveBody {
    fn resolution(self) -> ApiResult<Resolution> {
        let too_long = |name, most| {
            Err(ApiError::bad_request(format!(
                "`{name}` is longer than {most} bytes"
            )))
        };
        if self
            .reasoning
            .as_ref()
            .is_some_and(|text| text.len() > LONGEST_REASONING)
        {
            return too_long("reasoning", LONGEST_REASONING);
        }
        if self
            .resolved_by
            .as_ref()
            .is_some_and(|text| text.len() > LONGEST_LABEL)
        {
            return too_long("resolved_by", LONGEST_LABEL);
        }
        if self
            .confidence
            .is_some_and(|confidence| !(0.0..=1.0).contains(&confidence))
        {
            return Err(ApiError::bad_request(
                "`confidence` is a number from 0.0 to 1.0",
            ));
        }
        let exact = |arguments: &Map<String, Value>| arguments.values().all(is_exact);
        if !self.arguments.as_ref().is_none_or(exact) {
            return Err(ApiError::bad_request(NOT_EXACT).help("send it as text"));
        }
        if self.remember.is_some() && self.arguments.is_some() {
            let why = "what was changed is never remembered";
            return Err(ApiError::bad_request(why).help("leave out `remember` or `arguments`"));
        }
        Ok(Resolution {
            label: self.resolved_by,
            reasoning: self.reasoning,
            confidence: self.confidence,
            arguments: self.arguments,
            code: self.remember.map(Remember::code),
            ..Resolution::default()
        })
    }
}

pub(in crate::doors::http) async fn approve(
    State(app): State<Arc<App>>,
    reviewer: Reviewer,
    Segment(id): Segment,
    Body(body): Body<ResolveBody>,
) -> ApiResult {
    let resolved = resolve(&app, &reviewer.decider(), &id, Status::Approved, body).await?;
    Ok(Json(resolved).into_response())
}

pub(in crate::doors::http) async fn deny(
    State(app): State<Arc<App>>,
    reviewer: Reviewer,
    Segment(id): Segment,
    Body(body): Body<ResolveBody>,
) -> ApiResult {
    let resolved = resolve(&app, &reviewer.decider(), &id, Status::Denied, body).await?;
    Ok(Json(resolved).into_response())
}

pub(in crate::doors::http) async fn resolve(
    app: &App,
    decider: &Decider,
    id: &str,
    status: Status,
    body: ResolveBody,
) -> ApiResult<Value> {
    if status == Status::Denied && body.arguments.is_some() {
        return Err(
            ApiError::bad_request("`arguments` changes a call that is approved")
                .help("approve it with them, or deny it without"),
        );
    }
    if status == Status::Denied && body.remember.is_some() {
        return Err(ApiError::bad_request(NOT_REMEMBERED));
    }
    if let Some(arguments) = &body.arguments {
        fits(app, id, arguments).await?;
    }
    match app
        .gate
        .resolve(id, decider, status, body.resolution()?)
        .await?
    {
        Resolving::Done(approval) => Ok(done(&approval, status)),
        Resolving::Counted(approval) => Ok(json!({
            "id": approval.question.id,
            "status": Status::Pending,
            "approvals_needed": approval.question.needed,
            "approved_by": approval.state.votes.iter().map(|vote| &vote.by).collect::<Vec<_>>(),
        })),
        Resolving::Unfit(why) => Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "unfit",
            why,
        )),
        Resolving::Already(approval) => Err(already(app, &approval)),
        Resolving::Held(claim) => Err(held(claim)),
        Resolving::Forbidden(why) => Err(ApiError::forbidden(why)),
        Resolving::Denied { rule, reason } => Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "changed_call_denied",
            format!("policy denies the changed call: {reason}"),
        )
        .help("change it otherwise, approve it as it was asked, or deny it")
        .with("rule", &*rule)),
        Resolving::NotFound => Err(ApiError::not_found("approval")),
    }
}

fn done(approval: &Approval, status: Status) -> Value {
    let decision = approval.state.decision.as_deref();
    let mut done = json!({
        "id": approval.question.id,
        "status": status,
        "resolved_by": decision.map(|decision| &decision.by),
    });
    let made = decision.and_then(|decision| decision.made_grant.as_ref());
    if let (Some(done), Some(made)) = (done.as_object_mut(), made) {
        done.insert("grant_id".into(), json!(made));
    }
    done
}

/// A changed call is a new one, and must fit its tool.
async fn fits(app: &App, id: &str, arguments: &Map<String, Value>) -> ApiResult<()> {
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Err(ApiError::not_found("approval"));
    };
    let fitted = app.backends.fits(&approval.question.tool, arguments);
    fitted.map_err(|why| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "unfit", why))
}

fn held(claim: Claim) -> ApiError {
    ApiError::conflict("claimed", format!("claimed by {}", claim.by))
        .with("claimed_until", claim.until.to_string())
        .with("claimed_by", claim.by)
}

/// Without the arguments, which the loser may not be allowed to see.
fn shown(decision: &Decision) -> Decision {
    Decision {
        arguments: None,
        ..decision.clone()
    }
}

/// The loser of a race learns what the winner decided.
fn already(app: &App, approval: &Approval) -> ApiError {
    let now = app.gate.now();
    let status = approval.state.status_at(now);
    let message = match &approval.state.decision {
        Some(decision) => format!(
            "already {} by {}",
            json!(status).as_str().unwrap_or_default(),
            decision.by
        ),
        None if status == Status::Pending => "already with people".to_owned(),
        None => "expired before it was decided".to_owned(),
    };
    ApiError::conflict("already_resolved", message)
        .with("id", approval.question.id.as_str())
        .with("status", json!(status))
        .with(
            "decision",
            json!(approval.state.decision.as_deref().map(shown)),
        )
        .with("approval", view(approval, Exposure::Structure, now))
}

pub(in crate::doors::http) async fn escalate(
    State(app): State<Arc<App>>,
    reviewer: Reviewer,
    Segment(id): Segment,
    Body(body): Body<ResolveBody>,
) -> ApiResult {
    let escalated = hand_up(&app, &reviewer.decider(), &id, body).await?;
    Ok(Json(escalated).into_response())
}

pub(in crate::doors::http) async fn hand_up(
    app: &App,
    decider: &Decider,
    id: &str,
    body: ResolveBody,
) -> ApiResult<Value> {
    if body.remember.is_some() {
        return Err(ApiError::bad_request(NOT_REMEMBERED));
    }
    match app.gate.escalate(id, decider, body.resolution()?).await? {
        Escalating::Done(approval) => Ok(json!({
            "id": approval.question.id,
            "status": approval.state.status,
            "level": approval.state.level,
        })),
        Escalating::Already(approval) => Err(already(app, &approval)),
        Escalating::Forbidden(why) => Err(ApiError::forbidden(why)),
        Escalating::NotFound => Err(ApiError::not_found("approval")),
    }
}

pub(in crate::doors::http) async fn claim(
    State(app): State<Arc<App>>,
    reviewer: Reviewer,
    Segment(id): Segment,
    Body(body): Body<ClaimBody>,
) -> ApiResult {
    let lease = match body.duration.as_deref() {
        None => None,
        Some(text) => Some(
            parse_duration(text)
                .ok_or_else(|| ApiError::bad_request("`duration` is a duration such as 30s"))?,
        ),
    };
    match app.gate.claim(&id, &reviewer.decider(), lease).await? {
        Claiming::Done(approval) => Ok(Json(json!({
            "id": approval.question.id,
            "claimed_by": approval.state.claim.as_ref().map(|claim| &claim.by),
            "claimed_until": approval.state.claim.as_ref().map(|claim| claim.until),
        }))
        .into_response()),
        Claiming::Held(claim) => Err(held(claim)),
        Claiming::Already(approval) => Err(already(&app, &approval)),
        Claiming::Forbidden(why) => Err(ApiError::forbidden(why)),
        Claiming::NotFound => Err(ApiError::not_found("approval")),
    }
}
