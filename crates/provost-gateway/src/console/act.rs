//! The console's only calls to the gate that decide approvals.

use std::time::Duration;

use provost_core::{
    approval::{Approval, Question, Status},
    gate::{Escalating, GateError, NewGrant, Resolution, Resolving},
    glob::Glob,
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
    Deny,
    /// A supervisor leaves it to people.
    HandUp,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Acted {
    Done(Box<Approval>),
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
    let keeps = matches!(act, Act::Session | Act::Always);
    if keeps && !visitor.is_person() {
        let why = "A supervisor decides one call at a time.";
        return Ok(Acted::Refused(why.to_owned()));
    }
    let status = if act == Act::Deny {
        Status::Denied
    } else {
        Status::Approved
    };
    let arguments = match &act {
        Act::Change(arguments) => Some(arguments.clone()),
        _ => None,
    };
    let resolution = Resolution {
        reasoning: note.clone(),
        arguments,
        ..Resolution::default()
    };
    let resolving = app
        .gate
        .resolve(id, &visitor.decider(), status, resolution)
        .await?;
    let acted = acted(resolving);
    if let Acted::Done(approval) = &acted
        && keeps
        && let Some(grant) = grant(app, &approval.question, act == Act::Session, note)
    {
        app.gate.grant(grant, &visitor.key.identity()).await?;
    }
    Ok(acted)
}

fn acted(resolving: Resolving) -> Acted {
    match resolving {
        Resolving::Done(approval) => Acted::Done(approval),
        Resolving::Already(approval) => Acted::Already(approval),
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

/// The same agent and tool, and the same session where only that was meant.
fn grant(
    app: &App,
    question: &Question,
    in_session: bool,
    reasoning: Option<String>,
) -> Option<NewGrant> {
    let session_id = question.session_id.clone().filter(|_| in_session);
    if in_session && session_id.is_none() {
        return None;
    }
    let longest: Duration = app.gate.settings().max_grant;
    Some(NewGrant {
        agent: literal(&question.agent_id)?,
        tools: literal(&question.tool)?,
        session_id,
        when: None,
        duration: longest,
        max_uses: None,
        reasoning,
    })
}

/// Matches this name and no other, whatever characters it holds.
fn literal(name: &str) -> Option<Glob> {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    Glob::new(&pattern).ok().filter(|glob| glob.matches(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_granted_as_it_is() {
        for name in ["claude", "*", "a?[b]", "\\", "fs.write_*"] {
            let glob = literal(name).unwrap();
            assert!(glob.matches(name), "{name}");
            for other in ["claude2", "anything", "ab", "fs.write_file"] {
                assert!(!glob.matches(other), "{name} {other}");
            }
        }
    }
}
