//! The console's only calls to the gate that decide approvals.

use provost_core::{
    approval::{Approval, Status},
    gate::{Decider, Escalating, GateError, Resolution, Resolving},
    menu::Code,
};
use serde_json::{Map, Value};

use super::visitor::Visitor;
use crate::app::App;

/// What somebody chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Once,
    Session,
    Always,
    /// With other arguments.
    Change(Map<String, Value>),
    /// What is to be done instead of what an agent asked in its own words.
    Replace(String),
    Deny,
    /// A supervisor leaves it to people.
    HandUp,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Acted {
    Done(Box<Approval>),
    /// A yes, and more people are needed.
    Counted(Box<Approval>),
    /// Somebody was first, or its time is over.
    Already(Box<Approval>),
    /// Why not, in words for the one who chose.
    Refused(String),
    NotFound,
}

pub(super) async fn act(
    app: &App,
    visitor: &Visitor,
    id: &str,
    act: Act,
    note: Option<String>,
) -> Result<Acted, GateError> {
    if act == Act::HandUp {
        return hand_up(app, visitor, id, note).await;
    }
    if !visitor.is_person() && !matches!(act, Act::Once | Act::Deny) {
        let why = "A supervisor decides one call at a time, as it was asked.";
        return Ok(Acted::Refused(why.to_owned()));
    }
    if let Act::Change(arguments) = &act
        && let Some(why) = misfit(app, id, arguments).await?
    {
        return Ok(Acted::Refused(why));
    }
    let status = if act == Act::Deny {
        Status::Denied
    } else {
        Status::Approved
    };
    let resolution = resolution(visitor, act, note);
    let decider = visitor.decider();
    let resolving = app
        .gate
        .resolve(id, &decider, status, resolution.clone())
        .await?;
    Ok(match acted(resolving) {
        Acted::Already(approval) if is_repeated(&approval, &decider, status, &resolution) => {
            Acted::Done(approval)
        }
        other => other,
    })
}

/// Whether the same person has just said the same: a button was pressed twice.
fn is_repeated(
    approval: &Approval,
    decider: &Decider,
    status: Status,
    resolution: &Resolution,
) -> bool {
    approval.state.decision.as_deref().is_some_and(|decision| {
        decision.by == decider.identity()
            && decision.status == status
            && decision.code == resolution.code
            && decision.reasoning == resolution.reasoning
            && decision.arguments == resolution.arguments
            && decision.replacement == resolution.replacement
    })
}

fn resolution(visitor: &Visitor, act: Act, note: Option<String>) -> Resolution {
    let code = match act {
        Act::Session => Code::Session,
        Act::Always => Code::Always,
        Act::Deny => Code::Deny,
        Act::Change(_) | Act::Replace(_) => Code::Change,
        Act::Once | Act::HandUp if note.is_some() => Code::Note,
        Act::Once | Act::HandUp => Code::Once,
    };
    let (arguments, replacement) = match act {
        Act::Change(arguments) => (Some(arguments), None),
        Act::Replace(text) => (None, Some(text)),
        _ => (None, None),
    };
    Resolution {
        reasoning: note,
        arguments,
        replacement,
        // The menu is people's.
        code: visitor.is_person().then_some(code),
        ..Resolution::default()
    }
}

/// Why the tool would not take these arguments.
async fn misfit(
    app: &App,
    id: &str,
    arguments: &Map<String, Value>,
) -> Result<Option<String>, GateError> {
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Ok(None);
    };
    let fits = app.backends.fits(&approval.question.tool, arguments);
    Ok(fits
        .err()
        .map(|why| format!("Not decided: the edited call does not fit the tool: {why}.")))
}

fn acted(resolving: Resolving) -> Acted {
    match resolving {
        Resolving::Done(approval) => Acted::Done(approval),
        Resolving::Counted(approval) => Acted::Counted(approval),
        Resolving::Already(approval) => Acted::Already(approval),
        Resolving::Unfit(why) => Acted::Refused(format!("Not decided: {why}.")),
        Resolving::Held(claim) => Acted::Refused(format!("{} has claimed it.", claim.by)),
        Resolving::Forbidden(why) => Acted::Refused(format!("Not decided: {why}.")),
        Resolving::Denied { rule, reason } => Acted::Refused(format!(
            "Not decided: policy denies the changed call ({rule}: {reason}). Change it otherwise, approve it as it was asked, or deny it."
        )),
        Resolving::NotFound => Acted::NotFound,
    }
}

async fn hand_up(
    app: &App,
    visitor: &Visitor,
    id: &str,
    note: Option<String>,
) -> Result<Acted, GateError> {
    let resolution = Resolution {
        reasoning: note,
        ..Resolution::default()
    };
    let escalating = app
        .gate
        .escalate(id, &visitor.decider(), resolution)
        .await?;
    Ok(match escalating {
        Escalating::Done(approval) => Acted::Done(approval),
        Escalating::Already(approval) => Acted::Already(approval),
        Escalating::Forbidden(why) => Acted::Refused(format!("Not handed up: {why}.")),
        Escalating::NotFound => Acted::NotFound,
    })
}
