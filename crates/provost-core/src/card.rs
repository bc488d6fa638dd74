//! A card: what a person is shown of an approval, on whatever channel. What was computed from the call and
//! what the agent merely claims stand apart.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    approval::{Approval, Kind, Status},
    ids::{ApprovalId, GrantId},
    key::Role,
    menu::Code,
    people::Fallback,
    review::{Act, Risk, Summary, mask_map, mask_text, redact_map},
    time::Time,
    trace::view::Exposure,
};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    pub id: ApprovalId,
    pub kind: Kind,
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    pub tool: Arc<str>,
    /// What the call would do, from its arguments.
    pub exact: Exact,
    /// The content is left out here: only its structure is shown.
    pub withheld: bool,
    /// What the agent says of it. Free text, never trusted.
    pub claim: Option<Claim>,
    pub risks: Vec<String>,
    /// How often it was asked while it waited.
    pub asked: u32,
    /// The same was denied before.
    pub denied_before: bool,
    /// How many people must approve.
    pub needed: u8,
    /// Who approved so far, where more than one must.
    pub approved_by: Vec<String>,
    pub choices: Vec<Code>,
    pub created_at: Time,
    pub expires_at: Time,
    /// What is decided when nobody does in time, where that is more than its expiry.
    pub fallback: Option<Fallback>,
    pub end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Exact {
    Command {
        parts: Vec<CommandPart>,
        cut: bool,
    },
    Change {
        path: Option<String>,
        files: usize,
        diff: Option<String>,
        added: usize,
        removed: usize,
        cut: bool,
    },
    /// As indented JSON.
    Arguments {
        json: String,
    },
    /// There is nothing but what the agent claims.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandPart {
    pub text: Option<String>,
    pub risks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    pub title: Option<String>,
    pub preview: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct End {
    pub status: Status,
    /// `None` when nobody decided in time.
    pub by: Option<String>,
    /// On which channel.
    pub via: Option<Arc<str>>,
    pub code: Option<Code>,
    pub note: Option<String>,
    /// What was put in the place of a request.
    pub replacement: Option<String>,
    /// The grant that it made, or that answered.
    pub rule_id: Option<GrantId>,
    /// A grant answered, and nobody was asked.
    pub auto: bool,
    pub at: Time,
}

/// A person's name without the role before it.
pub fn who(by: &str) -> &str {
    let roles = [Role::Human, Role::Admin, Role::Supervisor];
    roles
        .into_iter()
        .find_map(|role| by.strip_prefix(role.as_str())?.strip_prefix(':'))
        .unwrap_or(by)
}

impl End {
    pub fn code_or_plain(&self) -> Code {
        let plain = Code::plain(self.status == Status::Approved);
        self.code.unwrap_or(plain)
    }
}

impl Card {
    pub fn of(approval: &Approval, exposure: Exposure, now: Time) -> Self {
        let (question, state) = (&approval.question, &approval.state);
        let hidden = exposure == Exposure::Structure;
        let summary = question.summary.clone();
        let summary = if hidden {
            summary.map(Summary::structure)
        } else {
            summary.map(Summary::masked)
        };
        let claim = claim(approval, summary.as_ref(), hidden);
        Self {
            id: question.id.clone(),
            kind: question.kind,
            agent: question.agent_id.clone(),
            session: question.session_id.clone(),
            tool: question.tool.clone(),
            risks: risks(approval, summary.as_ref()),
            exact: exact(approval, summary, hidden),
            withheld: hidden,
            claim,
            asked: state.asked,
            denied_before: question.denied_before.is_some(),
            needed: question.needed,
            approved_by: state.votes.iter().map(|vote| vote.by.clone()).collect(),
            choices: choices(approval),
            created_at: question.created_at,
            expires_at: state.expires_at,
            fallback: None,
            end: end(approval, now),
        }
    }

    /// In one line.
    pub fn heading(&self) -> String {
        format!("{} asks for {}", self.agent, self.tool)
    }
}

/// The codes that mean something for this approval: more than one person decides only this one call.
pub fn choices(approval: &Approval) -> Vec<Code> {
    let question = &approval.question;
    let alone = question.needed <= 1;
    Code::ALL
        .into_iter()
        .filter(|code| match code {
            Code::Once | Code::Deny | Code::Note => true,
            Code::Session => alone && question.session_id.is_some(),
            Code::Change | Code::Always => alone,
        })
        .collect()
}

fn claim(approval: &Approval, summary: Option<&Summary>, hidden: bool) -> Option<Claim> {
    if let Some(request) = &approval.question.request {
        let request = if hidden {
            request.clone().structure()
        } else {
            request.clone().masked()
        };
        return Some(Claim {
            title: Some(request.title),
            preview: Some(request.preview),
        });
    }
    let title = summary?.claim.clone()?;
    Some(Claim {
        title: Some(title),
        preview: None,
    })
}

fn risks(approval: &Approval, summary: Option<&Summary>) -> Vec<String> {
    let of_act = summary.into_iter().flat_map(|summary| &summary.risks);
    let injection = &approval.question.risk_reasons;
    let masked = summary.is_none() && approval.question.hides_secret;
    of_act
        .map(ToString::to_string)
        .chain(masked.then(|| Risk::HidesSecret.to_string()))
        .chain(
            injection
                .iter()
                .map(|why| format!("looks like injection: {why}")),
        )
        .collect()
}

fn exact(approval: &Approval, summary: Option<Summary>, hidden: bool) -> Exact {
    let question = &approval.question;
    if question.request.is_some() {
        return Exact::Nothing;
    }
    let Some(Summary { act, cut, .. }) = summary else {
        let params = &question.params;
        let json = if hidden {
            serde_json::to_string_pretty(&redact_map(params))
        } else {
            serde_json::to_string_pretty(&mask_map(params))
        };
        return Exact::Arguments {
            json: json.unwrap_or_default(),
        };
    };
    match act {
        Act::Command { parts } => Exact::Command {
            parts: parts
                .into_iter()
                .map(|part| CommandPart {
                    text: part.text,
                    risks: part.risks.iter().map(ToString::to_string).collect(),
                })
                .collect(),
            cut,
        },
        Act::Change {
            path,
            files,
            diff,
            added,
            removed,
        } => Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            cut,
        },
    }
}

fn shown(text: Option<&str>) -> Option<String> {
    text.map(|text| mask_text(text).into_owned())
}

fn end(approval: &Approval, now: Time) -> Option<End> {
    let state = &approval.state;
    let status = state.status_at(now);
    if status == Status::Pending {
        return None;
    }
    let decision = state.decision.as_deref();
    Some(End {
        status,
        by: decision.map(|decision| decision.by.clone()),
        via: decision.and_then(|decision| decision.via.clone()),
        code: decision.and_then(|decision| decision.code),
        note: shown(decision.and_then(|decision| decision.reasoning.as_deref())),
        replacement: shown(decision.and_then(|decision| decision.replacement.as_deref())),
        rule_id: decision.and_then(|decision| decision.rule().cloned()),
        auto: decision.is_some_and(|decision| decision.grant_id.is_some()),
        at: decision.map_or(state.expires_at, |decision| decision.at),
    })
}
