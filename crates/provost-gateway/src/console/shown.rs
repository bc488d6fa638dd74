//! An approval as the templates show it.

use std::{sync::Arc, time::Duration};

use provost_core::{
    approval::{Approval, Kind, Level, Status},
    card::{Card, Claim, End, Exact},
    menu::Code,
    ports::ApprovalRow,
    review::{mask_map, mask_text},
    time::Time,
    trace::view::Exposure,
};

use super::{
    diff::{Line, changes, lines},
    moment::{Moment, roughly},
    visible::json,
    visitor::Visitor,
};

pub(super) struct Shown {
    pub(super) id: String,
    pub(super) agent: Arc<str>,
    pub(super) session: Option<Arc<str>>,
    pub(super) tool: Arc<str>,
    pub(super) rule: Arc<str>,
    pub(super) trace_id: String,
    pub(super) exact: Exactly,
    pub(super) claim: Option<Claim>,
    pub(super) risks: Vec<String>,
    /// What else deserves a look, in a few words each.
    pub(super) remarks: Vec<String>,
    pub(super) made: Moment,
    pub(super) expires: Moment,
    pub(super) left: String,
    pub(super) soon: bool,
    /// The arguments as they may be changed, where they may be.
    pub(super) editable: Option<String>,
    pub(super) can: Can,
    pub(super) end: Option<Ended>,
    /// What a person changed when approving it.
    pub(super) changed: Vec<Line>,
    /// Something is described instead of shown.
    pub(super) hidden: bool,
}

/// What the visitor may do with it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a button, shown or not"
)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Can {
    pub(super) decide: bool,
    pub(super) session: bool,
    pub(super) always: bool,
    pub(super) change: bool,
    pub(super) replace: bool,
    pub(super) hand_up: bool,
}

pub(super) enum Exactly {
    Command {
        steps: Vec<Step>,
        cut: bool,
    },
    Change {
        what: String,
        lines: Vec<Line>,
        cut: bool,
    },
    Arguments(String),
    Nothing,
}

pub(super) struct Step {
    pub(super) text: Option<String>,
    pub(super) risks: Vec<String>,
}

pub(super) struct Ended {
    pub(super) word: &'static str,
    pub(super) kind: &'static str,
    pub(super) by: Option<String>,
    pub(super) via: Option<Arc<str>>,
    pub(super) choice: Option<&'static str>,
    pub(super) note: Option<String>,
    /// What is to be done instead.
    pub(super) instead: Option<String>,
    pub(super) at: Moment,
}

impl Shown {
    pub(super) fn of_row(
        row: ApprovalRow<'_>,
        visitor: &Visitor,
        exposure: Exposure,
        now: Time,
    ) -> Option<Self> {
        let approval = Approval {
            question: serde_json::from_slice(row.question).ok()?,
            state: row.state.clone(),
        };
        Some(Self::new(&approval, visitor, exposure, now))
    }

    pub(super) fn new(
        approval: &Approval,
        visitor: &Visitor,
        exposure: Exposure,
        now: Time,
    ) -> Self {
        let card = Card::of(approval, exposure, now);
        let (question, state) = (&approval.question, &approval.state);
        let can = can(approval, &card, visitor, now);
        let editable = (can.change && exposure == Exposure::Everything)
            .then(|| json(&mask_map(&question.params)));
        let left = state.remaining(now);
        let remarks = remarks(approval, &card, now);
        let exact = exactly(card.exact);
        let decision = state.decision.as_deref();
        let instead = decision.and_then(|decision| decision.replacement.as_deref());
        let instead = instead.map(|text| mask_text(text).into_owned());
        Self {
            remarks,
            id: card.id.to_string(),
            agent: card.agent,
            session: card.session,
            tool: card.tool,
            rule: question.policy_rule.clone(),
            trace_id: question.trace_id.to_string(),
            risks: apart(card.risks, &exact),
            exact,
            claim: card.claim,
            made: Moment::new(card.created_at, now),
            expires: Moment::new(card.expires_at, now),
            left: roughly(left),
            soon: left < Duration::from_mins(1),
            editable,
            can,
            end: card.end.map(|end| ended(end, instead, now)),
            changed: changed_arguments(approval, exposure),
            hidden: exposure == Exposure::Structure,
        }
    }
}

/// Those that no step of a command is marked with.
fn apart(mut risks: Vec<String>, exact: &Exactly) -> Vec<String> {
    if let Exactly::Command { steps, .. } = exact {
        risks.retain(|risk| !steps.iter().any(|step| step.risks.contains(risk)));
    }
    risks
}

fn can(approval: &Approval, card: &Card, visitor: &Visitor, now: Time) -> Can {
    let state = &approval.state;
    if state.status_at(now) != Status::Pending {
        return Can::default();
    }
    let person = visitor.is_person();
    let has = |code| person && card.choices.contains(&code);
    let with_supervisors = state.level_at(now) == Level::Supervisor;
    Can {
        decide: person || with_supervisors,
        session: has(Code::Session),
        always: has(Code::Always),
        change: has(Code::Change) && card.kind == Kind::Call,
        replace: has(Code::Change) && card.kind != Kind::Call,
        hand_up: !person && with_supervisors,
    }
}

fn remarks(approval: &Approval, card: &Card, now: Time) -> Vec<String> {
    let state = &approval.state;
    let mut remarks = Vec::new();
    if card.end.is_none() && state.level_at(now) == Level::Supervisor {
        remarks.push("with supervisors now".to_owned());
    }
    if let Some(claim) = state.claim_at(now) {
        remarks.push(format!("claimed by {}", claim.by));
    }
    if let Some(escalation) = state.escalation.as_deref() {
        remarks.push(match &escalation.reasoning {
            Some(why) => format!("handed up by {}: {}", escalation.by, mask_text(why)),
            None => format!("handed up by {}", escalation.by),
        });
    }
    if card.asked > 1 {
        remarks.push(format!("asked {} times", card.asked));
    }
    if card.denied_before {
        remarks.push("the same was denied before".to_owned());
    }
    if card.needed > 1 {
        let so_far = card.approved_by.len();
        remarks.push(format!("{so_far} of {} approvals", card.needed));
        remarks.extend(
            card.approved_by
                .iter()
                .map(|by| format!("approved by {by}")),
        );
    }
    remarks
}

fn exactly(exact: Exact) -> Exactly {
    match exact {
        Exact::Command { parts, cut } => Exactly::Command {
            steps: parts
                .into_iter()
                .map(|part| Step {
                    text: part.text,
                    risks: part.risks,
                })
                .collect(),
            cut,
        },
        Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            cut,
        } => {
            let mut lines = diff.as_deref().map(lines).unwrap_or_default();
            // The name of the one file stands above it.
            if path.is_some() && lines.first().is_some_and(|line| line.kind == "file") {
                lines.drain(..lines.len().min(2));
            }
            Exactly::Change {
                what: counted(path, files, added, removed),
                lines,
                cut,
            }
        }
        // Read again only to write what is hidden as escapes.
        Exact::Arguments { json: text } => Exactly::Arguments(
            serde_json::from_str::<serde_json::Value>(&text).map_or(text, |value| json(&value)),
        ),
        Exact::Nothing => Exactly::Nothing,
    }
}

fn counted(path: Option<String>, files: usize, added: usize, removed: usize) -> String {
    let what = path.unwrap_or_else(|| match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    });
    format!("{what}, {added} added, {removed} removed")
}

fn changed_arguments(approval: &Approval, exposure: Exposure) -> Vec<Line> {
    let decision = approval.state.decision.as_deref();
    match decision.and_then(|decision| decision.arguments.as_ref()) {
        Some(changed) if exposure == Exposure::Everything => {
            changes(&mask_map(&approval.question.params), &mask_map(changed))
        }
        _ => Vec::new(),
    }
}

fn ended(end: End, instead: Option<String>, now: Time) -> Ended {
    let (word, kind) = status_words(end.status);
    Ended {
        word,
        kind,
        by: end.by,
        via: end.via,
        choice: end.code.map(Code::label),
        note: end.note,
        instead,
        at: Moment::new(end.at, now),
    }
}

pub(super) fn status_words(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Pending => ("Pending", "wait"),
        Status::Approved => ("Approved", "yes"),
        Status::Denied => ("Denied", "no"),
        Status::Expired => ("Expired", "late"),
    }
}
