//! An approval as it is shown. The question goes out as the text it is stored as, so that a page of a
//! thousand costs no parsing; only what is redacted or holds a secret is read.

use std::{borrow::Cow, time::Duration};

use provost_core::{
    approval::{Approval, HIDES_SECRET, Question, State, Vote},
    key::{Key, Role},
    ports::{ApprovalRow, WriteRow},
    review::mask_text,
    time::{Time, write_duration},
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

/// What a state may add to what every row says of it, in the order in which it is shown.
#[derive(Default, PartialEq, Serialize)]
struct More<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_until: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    escalated_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    escalation_reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_label: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_at: Option<Time>,
    /// Where it was asked more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    votes: Vec<Vote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
}

/// Says that long arguments are described in this row, and where they are read.
#[derive(PartialEq, Serialize)]
struct Cut {
    /// Of the whole question.
    bytes: usize,
    whole: String,
}

impl<'a> More<'a> {
    fn of(state: &'a State, now: Time) -> Self {
        let (claim, escalation, decision) = (
            state.claim_at(now),
            state.escalation.as_deref(),
            state.decision.as_deref(),
        );
        Self {
            claimed_by: claim.map(|claim| &*claim.by),
            claimed_until: claim.map(|claim| claim.until),
            escalated_by: escalation.map(|escalation| &*escalation.by),
            escalation_reasoning: escalation
                .and_then(|escalation| escalation.reasoning.as_deref())
                .map(mask_text),
            resolved_by: decision.map(|decision| &*decision.by),
            resolved_label: decision
                .and_then(|decision| decision.label.as_deref())
                .map(mask_text),
            resolved_at: decision.map(|decision| decision.at),
            reasoning: decision
                .and_then(|decision| decision.reasoning.as_deref())
                .map(mask_text),
            confidence: decision.and_then(|decision| decision.confidence),
            answered_at: state.answered_at,
            asked: Some(state.asked).filter(|asked| *asked > 1),
            votes: state.votes.iter().map(masked_vote).collect(),
            cut: None,
        }
    }
}

/// How a row is written for whoever may see that much.
pub(super) fn row_writer(exposure: Exposure) -> WriteRow {
    match exposure {
        Exposure::Everything => |row, now, longest, out| {
            if row.question.len() > longest {
                return write_cut(row, longest, Exposure::Everything, now, out);
            }
            if !row.question.ends_with(HIDES_SECRET) {
                return write_row(row.question, row.state, None, now, out);
            }
            let question = serde_json::from_slice(row.question).map(masked);
            write_row(&question.unwrap_or_default(), row.state, None, now, out);
        },
        Exposure::Structure => |row, now, longest, out| {
            if row.question.len() > longest {
                return write_cut(row, longest, Exposure::Structure, now, out);
            }
            let question = serde_json::from_slice(row.question).map(redacted);
            write_row(&question.unwrap_or_default(), row.state, None, now, out);
        },
    }
}

fn write_cut(
    row: ApprovalRow<'_>,
    longest: usize,
    exposure: Exposure,
    now: Time,
    out: &mut Vec<u8>,
) {
    let question = Question::cut(row.question, longest, exposure);
    let mark = question.as_ref().map(|question| Cut {
        bytes: row.question.len(),
        whole: format!("/approvals/{}", question.id),
    });
    let text = question.map(|question| {
        if exposure == Exposure::Everything && !question.hides_secret {
            serde_json::to_vec(&question).unwrap_or_default()
        } else {
            without_digest(&question)
        }
    });
    write_row(&text.unwrap_or_default(), row.state, mark, now, out);
}

/// Writes a view: the question, whose closing brace makes room for the state. What every row says is
/// written by hand, for none of it needs escaping.
fn write_row(question: &[u8], state: &State, cut: Option<Cut>, now: Time, out: &mut Vec<u8>) {
    out.extend_from_slice(open(question));
    out.extend_from_slice(b",\"status\":\"");
    out.extend_from_slice(state.status_at(now).as_str().as_bytes());
    out.extend_from_slice(b"\",\"level\":\"");
    out.extend_from_slice(state.level_at(now).as_str().as_bytes());
    out.extend_from_slice(b"\",\"expires_at\":\"");
    state.expires_at.write(out);
    out.extend_from_slice(b"\",\"remaining\":\"");
    write_duration(remaining(state, now), out);
    out.push(b'"');
    let more = More::of(state, now);
    write_more(&More { cut, ..more }, out);
}

fn remaining(state: &State, now: Time) -> Duration {
    if state.decision.is_some() {
        Duration::ZERO
    } else {
        state.remaining(now)
    }
}

/// Ends the object.
fn write_more(more: &More<'_>, out: &mut Vec<u8>) {
    if *more == More::default() {
        out.push(b'}');
        return;
    }
    let joint = out.len();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, more);
    if let Some(brace) = out.get_mut(joint) {
        *brace = b',';
    }
}

/// An object without its closing brace.
fn open(object: &[u8]) -> &[u8] {
    object.strip_suffix(b"}").unwrap_or(b"{\"id\":null")
}

fn masked_vote(vote: &Vote) -> Vote {
    let reasoning = vote.reasoning.as_deref();
    Vote {
        reasoning: reasoning.map(|text| mask_text(text).into_owned()),
        ..vote.clone()
    }
}

fn masked(question: Question) -> Vec<u8> {
    without_digest(&question.masked())
}

fn redacted(question: Question) -> Vec<u8> {
    without_digest(&question.structure())
}

/// By a digest of the arguments, what is short and not shown would be found.
fn without_digest(question: &Question) -> Vec<u8> {
    let mut question = serde_json::to_value(question).unwrap_or_default();
    if let Some(question) = question.as_object_mut() {
        question.remove("digest");
    }
    serde_json::to_vec(&question).unwrap_or_default()
}

pub(super) fn view(approval: &Approval, exposure: Exposure, now: Time) -> serde_json::Value {
    let mut text = Vec::new();
    let row = ApprovalRow {
        place: 0,
        question: &serde_json::to_vec(&approval.question).unwrap_or_default(),
        state: &approval.state,
    };
    row_writer(exposure)(row, now, usize::MAX, &mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use provost_core::approval::{Claim, Decision, Escalation, Level, Status};
    use serde_json::json;

    use super::*;

    const NOW: Time = Time::from_millis(60_000);
    const LATER: Time = Time::from_millis(90_500);

    fn pending() -> State {
        State::pending(Level::Human, Time::from_millis(360_007), None)
    }

    fn supervised() -> State {
        State::pending(Level::Supervisor, Time::from_millis(3_725_000), Some(LATER))
    }

    fn claimed(until: Time) -> State {
        State {
            claim: Some(Box::new(Claim {
                by: "supervisor:\"bot\"".to_owned(),
                until,
            })),
            ..supervised()
        }
    }

    fn escalated(reasoning: Option<&str>) -> State {
        State {
            escalation: Some(Box::new(Escalation {
                by: "supervisor:bot".to_owned(),
                reasoning: reasoning.map(str::to_owned),
                confidence: Some(0.5),
                at: NOW,
            })),
            ..pending()
        }
    }

    fn decided() -> State {
        State {
            status: Status::Denied,
            decision: Some(Box::new(Decision {
                label: Some("Zoë".to_owned()),
                confidence: Some(0.25),
                ..Decision::new(Status::Denied, "human:zoe", NOW).because("no\n")
            })),
            answered_at: Some(LATER),
            ..pending()
        }
    }

    fn counted() -> State {
        State {
            asked: 3,
            votes: Box::new([Vote {
                by: "human:bob".to_owned(),
                person: None,
                reasoning: None,
                at: NOW,
            }]),
            ..pending()
        }
    }

    #[test]
    fn a_row_is_its_question_and_what_became_of_it() {
        let human = |status, remaining| {
            format!(
                r#""status":"{status}","level":"human","expires_at":"1970-01-01T00:06:00.007Z","remaining":"{remaining}""#
            )
        };
        let waits = human("pending", "5m0s");
        let supervisors = r#""status":"pending","level":"supervisor","expires_at":"1970-01-01T01:02:05.000Z","remaining":"1h1m5s""#;
        for (state, now, added) in [
            (pending(), NOW, waits.clone()),
            (
                pending(),
                Time::from_millis(360_007),
                human("expired", "0s"),
            ),
            (supervised(), NOW, supervisors.to_owned()),
            (
                claimed(LATER),
                NOW,
                supervisors.to_owned()
                    + r#","claimed_by":"supervisor:\"bot\"","claimed_until":"1970-01-01T00:01:30.500Z""#,
            ),
            (claimed(NOW), NOW, supervisors.to_owned()),
            (
                escalated(Some("too risky")),
                NOW,
                waits.clone()
                    + r#","escalated_by":"supervisor:bot","escalation_reasoning":"too risky""#,
            ),
            (
                escalated(None),
                NOW,
                waits.clone() + r#","escalated_by":"supervisor:bot""#,
            ),
            (
                decided(),
                NOW,
                human("denied", "0s")
                    + r#","resolved_by":"human:zoe","resolved_label":"Zoë","resolved_at":"1970-01-01T00:01:00.000Z""#
                    + r#","reasoning":"no\n","confidence":0.25,"answered_at":"1970-01-01T00:01:30.500Z""#,
            ),
            (
                counted(),
                NOW,
                waits
                    + r#","asked":3,"votes":[{"by":"human:bob","at":"1970-01-01T00:01:00.000Z"}]"#,
            ),
        ] {
            let mut written = b"[".to_vec();
            write_row(br#"{"id":"a"}"#, &state, None, now, &mut written);
            let expected = format!(r#"[{{"id":"a",{added}}}"#);
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }

    #[test]
    fn p09_what_a_decision_is_called_is_masked() {
        let mut state = decided();
        let decision = state.decision.as_mut().unwrap();
        decision.label = Some("password: hunter2horse".to_owned());
        let mut written = Vec::new();
        write_row(br#"{"id":"a"}"#, &state, None, NOW, &mut written);
        let written = String::from_utf8(written).unwrap();
        assert!(!written.contains("hunter2horse"), "{written}");
    }

    #[test]
    fn names_are_those_of_the_values() {
        let statuses = [
            Status::Pending,
            Status::Approved,
            Status::Denied,
            Status::Expired,
        ];
        for status in statuses {
            assert_eq!(json!(status), status.as_str());
        }
        for level in [Level::Supervisor, Level::Human] {
            assert_eq!(json!(level), level.as_str());
        }
    }
}
