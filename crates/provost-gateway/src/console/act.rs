//! What visitors of the console decide, by the desk.

use provost_core::{
    approval::Approval,
    gate::{Escalating, GateError, Resolution, Resolving},
};

use super::visitor::Visitor;
use crate::{
    app::App,
    desk::{self, Choice, Said},
};

/// What somebody chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Decide(Choice),
    /// A supervisor leaves it to people.
    HandUp,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Acted {
    Done(Box<Approval>),
    /// A yes, and more people are needed.
    Counted(Box<Approval>),
    /// The same, said before.
    CountedBefore(Box<Approval>),
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
    let Act::Decide(choice) = act else {
        return hand_up(app, visitor, id, note).await;
    };
    // The menu is people's.
    let said = if visitor.is_person() {
        Said::by_menu(choice, note)
    } else {
        Said::plainly(choice, note)
    };
    let decider = visitor.decider();
    let resolving = desk::decide(app, &decider, id, said.clone()).await?;
    Ok(match acted(resolving) {
        Acted::Already(approval) if desk::is_repeated(&approval, &decider, said) => {
            Acted::Done(approval)
        }
        other => other,
    })
}

fn acted(resolving: Resolving) -> Acted {
    if let Some(why) = resolving.why() {
        return Acted::Refused(format!("Not decided: {why}."));
    }
    match resolving {
        Resolving::Done(approval) => Acted::Done(approval),
        Resolving::Counted(approval) => Acted::Counted(approval),
        Resolving::CountedBefore(approval) => Acted::CountedBefore(approval),
        Resolving::Already(approval) => Acted::Already(approval),
        _ => Acted::NotFound,
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
