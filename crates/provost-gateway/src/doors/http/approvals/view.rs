//! An approval as it is shown. The question goes out as the text it is stored as, so that a page of a
//! thousand costs no parsing; only what is redacted is read.

use provost_core::{
    approval::{Approval, Question, State, Vote},
    key::{Key, Role},
    ports::ApprovalRow,
    time::{Time, format_duration},
    trace::view::Exposure,
};
use serde::Serialize;

use crate::{
    app::App,
    doors::http::{error::ApiError, input::Params},
};

/// What the reader may see of arguments: what the config says, or all of it if a person asks for it.
pub(in crate::doors::http) fn exposure(
    app: &App,
    key: &Key,
    params: &Params,
) -> Result<Exposure, ApiError> {
    let full = params.one_of("content", &[("full", true), ("structure", false)])?;
    match full {
        Some(true)
            if key.role == Role::Supervisor && app.live.load().exposure == Exposure::Structure =>
        {
            Err(ApiError::forbidden(
                "content is not shown to supervisors here",
            ))
        }
        Some(true) => Ok(Exposure::Everything),
        Some(false) => Ok(Exposure::Structure),
        None => Ok(app.live.load().exposure),
    }
}

/// What is added to the question.
#[derive(Serialize)]
struct StateView<'a> {
    status: provost_core::approval::Status,
    level: provost_core::approval::Level,
    expires_at: Time,
    remaining: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_until: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    escalated_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    escalation_reasoning: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_at: Option<Time>,
    #[serde(skip_serializing_if = "is_once")]
    asked: u32,
    #[serde(skip_serializing_if = "<[Vote]>::is_empty")]
    votes: &'a [Vote],
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_once(asked: &u32) -> bool {
    *asked <= 1
}

impl<'a> StateView<'a> {
    fn new(state: &'a State, now: Time) -> Self {
        let (claim, escalation, decision) = (
            state.claim_at(now),
            state.escalation.as_deref(),
            state.decision.as_deref(),
        );
        Self {
            status: state.status_at(now),
            level: state.level_at(now),
            expires_at: state.expires_at,
            remaining: format_duration(if decision.is_some() {
                std::time::Duration::ZERO
            } else {
                state.remaining(now)
            }),
            claimed_by: claim.map(|claim| &*claim.by),
            claimed_until: claim.map(|claim| claim.until),
            escalated_by: escalation.map(|escalation| &*escalation.by),
            escalation_reasoning: escalation.and_then(|escalation| escalation.reasoning.as_deref()),
            resolved_by: decision.map(|decision| &*decision.by),
            resolved_label: decision.and_then(|decision| decision.label.as_deref()),
            resolved_at: decision.map(|decision| decision.at),
            reasoning: decision.and_then(|decision| decision.reasoning.as_deref()),
            confidence: decision.and_then(|decision| decision.confidence),
            answered_at: state.answered_at,
            asked: state.asked,
            votes: &state.votes,
        }
    }
}

/// Writes the view of one row. `question` is a JSON object: its closing brace makes room for the state.
pub(super) fn write_row(row: ApprovalRow<'_>, exposure: Exposure, now: Time, out: &mut Vec<u8>) {
    match exposure {
        Exposure::Everything => out.extend_from_slice(open(row.question).as_bytes()),
        Exposure::Structure => {
            let question = serde_json::from_str(row.question).map(redacted);
            out.extend_from_slice(open(&question.unwrap_or_default()).as_bytes());
        }
    }
    let joint = out.len();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, &StateView::new(row.state, now));
    if let Some(brace) = out.get_mut(joint) {
        *brace = b',';
    }
}

/// An object without its closing brace.
fn open(object: &str) -> &str {
    object.strip_suffix('}').unwrap_or("{\"id\":null")
}

fn redacted(question: Question) -> String {
    serde_json::to_string(&question.structure()).unwrap_or_default()
}

pub(super) fn view(approval: &Approval, exposure: Exposure, now: Time) -> serde_json::Value {
    let mut text = Vec::new();
    let row = ApprovalRow {
        place: 0,
        question: &serde_json::to_string(&approval.question).unwrap_or_default(),
        state: &approval.state,
    };
    write_row(row, exposure, now, &mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}
