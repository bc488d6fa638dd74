//! `POST /approvals/{id}/approve|deny|escalate|claim`.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Claim, Decision, Status},
    gate::{Claiming, Decider, Escalating, Resolution, Resolving},
    grant::Breadth,
    review::mask_text,
    time::parse_duration,
    trace::view::Exposure,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::view::view;
use crate::{
    app::App,
    desk::{self, Choice, Remember, Said},
    doors::http::{
        caller::Reviewer,
        error::{ApiError, ApiResult},
        input::{Body, Segment},
    },
};

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
    remember: Option<HowLong>,
    /// More than the narrow scope that is computed: `words` or `any`.
    scope: Option<Breadth>,
    /// The words of that scope, as the approval shows them under `remember`.
    confirm: Option<String>,
}

/// For how long: codes 2 and 6 of the menu.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HowLong {
    Session,
    Always,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::doors::http) struct ClaimBody {
    duration: Option<String>,
}

impl ResolveBody {
    /// What an approval with this body says.
    fn yes(self) -> ApiResult<Said> {
        if self.remember.is_some() && self.arguments.is_some() {
            let why = "what was changed is never remembered";
            return Err(ApiError::bad_request(why).help("leave out `remember` or `arguments`"));
        }
        if self.remember.is_none() && (self.scope.is_some() || self.confirm.is_some()) {
            let why = "`scope` and `confirm` say what is remembered";
            return Err(ApiError::bad_request(why).help("add `remember`: `session` or `always`"));
        }
        let choice = match (self.arguments, self.remember) {
            (Some(arguments), _) => Choice::Arguments(arguments),
            (None, Some(how_long)) => Choice::Remember(Remember {
                for_session: matches!(how_long, HowLong::Session),
                breadth: self.scope.unwrap_or_default(),
                confirmed: self.confirm,
            }),
            (None, None) => Choice::Once,
        };
        checked(Said {
            label: self.resolved_by,
            confidence: self.confidence,
            ..Said::plainly(choice, self.reasoning)
        })
    }

    /// What a denial says, or leaving it to people.
    fn no(self) -> ApiResult<Said> {
        if self.arguments.is_some() {
            return Err(
                ApiError::bad_request("`arguments` changes a call that is approved")
                    .help("approve it with them, or leave them out"),
            );
        }
        if self.remember.is_some() || self.scope.is_some() || self.confirm.is_some() {
            return Err(ApiError::bad_request(NOT_REMEMBERED));
        }
        checked(Said {
            label: self.resolved_by,
            confidence: self.confidence,
            ..Said::plainly(Choice::Deny, self.reasoning)
        })
    }
}

fn checked(said: Said) -> ApiResult<Said> {
    match said.problem() {
        Some(problem) => Err(ApiError::bad_request(problem)),
        None => Ok(said),
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
    let said = match status {
        Status::Denied => body.no()?,
        _ => body.yes()?,
    };
    let resolving = desk::decide(app, decider, id, said).await?;
    let why = resolving.why().unwrap_or_default();
    match resolving {
        Resolving::Done(approval) => Ok(done(&approval, status)),
        Resolving::Counted(approval) | Resolving::CountedBefore(approval) => Ok(json!({
            "id": approval.question.id,
            "status": Status::Pending,
            "approvals_needed": approval.question.needed,
            "approved_by": approval.state.votes.iter().map(|vote| &vote.by).collect::<Vec<_>>(),
        })),
        Resolving::Already(approval) => Err(already(app, &approval)),
        Resolving::Held(claim) => Err(held(claim)),
        Resolving::Forbidden(why) => Err(ApiError::forbidden(why)),
        Resolving::Unfit(_) => Err(unprocessable("unfit", why)),
        Resolving::Denied { rule, .. } => {
            Err(unprocessable("changed_call_denied", why).with("rule", &*rule))
        }
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
    let Some(decision) = decision else {
        return done;
    };
    let more = [
        ("grant_id", json!(decision.made_grant)),
        ("remembered", json!(decision.remembered)),
    ];
    if let Some(done) = done.as_object_mut() {
        let said = more.into_iter().filter(|(_, value)| !value.is_null());
        done.extend(said.map(|(name, value)| (name.to_owned(), value)));
    }
    done
}

fn unprocessable(code: &'static str, why: String) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, why)
}

fn held(claim: Claim) -> ApiError {
    ApiError::conflict("claimed", format!("claimed by {}", claim.by))
        .with("claimed_until", claim.until.to_string())
        .with("claimed_by", claim.by)
}

/// Without the arguments, which the loser may not be allowed to see.
fn shown(decision: &Decision) -> Decision {
    let masked = |text: &Option<String>| text.as_deref().map(|text| mask_text(text).into_owned());
    Decision {
        arguments: None,
        reasoning: masked(&decision.reasoning),
        replacement: masked(&decision.replacement),
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
    let said = body.no()?;
    let resolution = Resolution {
        label: said.label,
        reasoning: said.note,
        confidence: said.confidence,
        ..Resolution::default()
    };
    match app.gate.escalate(id, decider, resolution).await? {
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
