//! A card: what a person is shown of an approval, on whatever channel. What was computed from the call and
//! what the agent merely claims stand apart.

mod offer;
mod whole;

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value};

pub use offer::{Offer, offers};

use crate::{
    approval::{Approval, InForce, Kind, Question, Status},
    grant::Breadth,
    ids::{ApprovalId, GrantId},
    key::Role,
    menu::Code,
    people::{Fallback, Waiting},
    review::{
        Act, Excerpt, Part, Risk, Summary, arguments_not_told, mask_map, mask_some, mask_text,
        not_shown, redact_map, redact_some,
    },
    time::Time,
    trace::view::Exposure,
};

pub use whole::{Body, Row, Section, Whole, WholePage};

/// Of the arguments of a call, where there is no summary of them.
const MOST_ARGUMENT_LINES: usize = 200;
const LONGEST_ARGUMENTS: usize = 16 * 1024;
/// Of the arguments that a summary says nothing about.
const MOST_OTHER_LINES: usize = 40;
const LONGEST_OTHERS: usize = 4 * 1024;
const MOST_TITLE_LINES: usize = 4;
const LONGEST_TITLE: usize = 1024;
const MOST_PREVIEW_LINES: usize = 60;
const LONGEST_PREVIEW: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    pub id: ApprovalId,
    pub kind: Kind,
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    pub tool: Arc<str>,
    /// What the call would do, from its arguments.
    pub exact: Exact,
    /// The arguments that `exact` says nothing about, as indented JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_arguments: Option<Excerpt>,
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
    /// The person whom this card is for has approved it, and more people are needed: there is nothing to choose.
    pub voted: bool,
    /// Who is asked now and next, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    pub choices: Vec<Code>,
    /// What codes 2 and 6 would allow of a call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remember: Vec<Offer>,
    pub created_at: Time,
    pub expires_at: Time,
    /// What is decided when nobody does in time, where that is more than its expiry.
    pub fallback: Option<Fallback>,
    pub end: Option<End>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Exact {
    /// `more` are the lines that are left out.
    Command {
        parts: Vec<CommandPart>,
        more: usize,
    },
    Change {
        path: Option<String>,
        files: usize,
        diff: Option<String>,
        added: usize,
        removed: usize,
        more: usize,
    },
    /// As indented JSON.
    Arguments { json: String, more: usize },
    /// There is nothing but what the agent claims.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandPart {
    pub text: Option<String>,
    pub risks: Vec<String>,
    /// How many steps before this one are left out.
    pub skipped: usize,
}

impl CommandPart {
    fn of(part: Part) -> Self {
        Self {
            text: part.text,
            risks: part.risks.iter().map(ToString::to_string).collect(),
            skipped: part.skipped,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    pub title: Option<String>,
    pub preview: Option<String>,
    /// Lines of both that are left out.
    pub more: usize,
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
    /// What was remembered of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<InForce>,
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

    /// What was remembered, until when, and how to take it back. The end is as `moment` writes it.
    pub fn remembered_words(&self, moment: impl Fn(Time) -> String) -> Option<String> {
        let (remembered, id) = (self.remembered.as_ref()?, self.rule_id.as_ref()?);
        let until = moment(remembered.until);
        Some(format!(
            "Remembered until {until}: {}. Revoke it in the console under Grants, or with: provost grants revoke {id}",
            remembered.words
        ))
    }
}

impl Card {
    /// `longest` bounds what is remembered.
    pub fn of(approval: &Approval, exposure: Exposure, longest: Duration, now: Time) -> Self {
        let (question, state) = (&approval.question, &approval.state);
        let hidden = exposure == Exposure::Structure;
        let summary = question.summary.clone();
        let summary = if hidden {
            summary.map(Summary::structure)
        } else {
            summary.map(|summary| summary.masked(&question.params))
        };
        let claim = claim(approval, summary.as_ref(), hidden);
        Self {
            id: question.id.clone(),
            kind: question.kind,
            agent: question.agent_id.clone(),
            session: question.session_id.clone(),
            tool: question.tool.clone(),
            risks: risks(approval, summary.as_ref()),
            other_arguments: other_arguments(question, hidden),
            exact: exact(approval, summary, hidden),
            withheld: hidden,
            claim,
            asked: state.asked,
            denied_before: question.denied_before.is_some(),
            needed: question.needed,
            approved_by: state.votes.iter().map(|vote| vote.by.clone()).collect(),
            voted: false,
            waiting: None,
            choices: choices(approval),
            remember: offers(question, exposure, longest, Role::Human),
            created_at: question.created_at,
            expires_at: state.expires_at,
            fallback: None,
            end: end(approval, now),
        }
    }

    /// What stands in the menu beside a code.
    pub fn label(&self, code: Code) -> Cow<'static, str> {
        match self.offer(code) {
            Some(offer) => offer.label().into(),
            None => code.label().into(),
        }
    }

    /// What a code of the menu would have remembered.
    pub fn offer(&self, code: Code) -> Option<&Offer> {
        let is_menu = |offer: &&Offer| offer.code == code && offer.breadth == Breadth::Narrow;
        self.remember.iter().find(is_menu)
    }

    /// In one line.
    pub fn heading(&self) -> String {
        if self.kind == Kind::Test {
            return "a test question, which decides nothing".to_owned();
        }
        if self.kind == Kind::Notice {
            return format!("{} used {} and asked nobody", self.agent, self.tool);
        }
        format!("{} asks for {}", self.agent, self.tool)
    }

    /// For somebody whose yes is counted already: they are not asked again.
    #[must_use]
    pub fn for_voter(mut self) -> Self {
        self.voted = true;
        self.choices.clear();
        self
    }

    /// Lines of the act, its arguments and its claim that are left out here.
    pub fn more(&self) -> usize {
        let of_act = match &self.exact {
            Exact::Command { more, .. }
            | Exact::Change { more, .. }
            | Exact::Arguments { more, .. } => *more,
            Exact::Nothing => 0,
        };
        let of_others = self.other_arguments.as_ref().map_or(0, |it| it.more);
        of_act + of_others + self.claim.as_ref().map_or(0, |claim| claim.more)
    }

    /// Whether it deserves a closer look than a card gives: something is risky, or not all of it is shown.
    pub fn is_risky(&self) -> bool {
        !self.risks.is_empty() || self.more() > 0 || self.withheld
    }
}

/// The codes that mean something for this approval: more than one person decides only this one call, and so does
/// somebody whom the agent does not tell the arguments.
pub fn choices(approval: &Approval) -> Vec<Code> {
    let question = &approval.question;
    let alone = question.needed <= 1;
    let untold = arguments_not_told(&question.params);
    Code::ALL
        .into_iter()
        .filter(|code| match code {
            _ if question.kind == Kind::Notice => false,
            _ if question.kind == Kind::Test => matches!(code, Code::Once | Code::Deny),
            Code::Session | Code::Change | Code::Always if untold => false,
            Code::Once | Code::Deny | Code::Note => true,
            Code::Session => alone && question.session_id.is_some(),
            Code::Change | Code::Always => alone,
        })
        .collect()
}

fn claim(approval: &Approval, summary: Option<&Summary>, hidden: bool) -> Option<Claim> {
    let (title, preview) = match claimed_words(&approval.question, hidden) {
        Some((title, preview)) => (title, Some(preview)),
        None => (summary?.claim.clone()?, None),
    };
    let title = Excerpt::of(&title, MOST_TITLE_LINES, LONGEST_TITLE);
    let preview = preview.map(|text| Excerpt::of(&text, MOST_PREVIEW_LINES, LONGEST_PREVIEW));
    Some(Claim {
        more: title.more + preview.as_ref().map_or(0, |preview| preview.more),
        title: Some(title.text),
        preview: preview.map(|preview| preview.text),
    })
}

/// Title and preview of what an agent asks in its own words.
fn claimed_words(question: &Question, hidden: bool) -> Option<(String, String)> {
    let request = question.request.as_deref()?.clone();
    let request = if hidden {
        request.structure()
    } else {
        request.masked()
    };
    Some((request.title, request.preview))
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn visible_params(params: &Map<String, Value>, hidden: bool) -> String {
    if hidden {
        pretty(&redact_map(params))
    } else {
        pretty(&mask_map(params))
    }
}

fn other_arguments(question: &Question, hidden: bool) -> Option<Excerpt> {
    let others = not_shown(&question.params, question.summary.as_ref()?);
    let json = if hidden {
        pretty(&redact_some(&others, &question.params))
    } else {
        pretty(&mask_some(&others, &question.params))
    };
    (!others.is_empty()).then(|| Excerpt::of(&json, MOST_OTHER_LINES, LONGEST_OTHERS))
}

fn risks(approval: &Approval, summary: Option<&Summary>) -> Vec<String> {
    let of_act = summary.into_iter().flat_map(|summary| &summary.risks);
    let injection = &approval.question.risk_reasons;
    let masked = summary.is_none() && approval.question.hides_secret;
    let untold = arguments_not_told(&approval.question.params);
    of_act
        .map(ToString::to_string)
        .chain(masked.then(|| Risk::HidesSecret.to_string()))
        .chain(untold.then(|| Risk::ArgumentsNotTold.to_string()))
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
    let Some(summary) = summary else {
        let json = visible_params(&question.params, hidden);
        let excerpt = Excerpt::of(&json, MOST_ARGUMENT_LINES, LONGEST_ARGUMENTS);
        return Exact::Arguments {
            json: excerpt.text,
            more: excerpt.more,
        };
    };
    let more = summary.more.max(usize::from(summary.cut));
    match summary.act {
        Act::Command { parts } => Exact::Command {
            parts: parts.into_iter().map(CommandPart::of).collect(),
            more,
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
            more,
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
        remembered: decision.and_then(|decision| decision.remembered.as_deref().cloned()),
        auto: decision.is_some_and(|decision| decision.grant_id.is_some()),
        at: decision.map_or(state.expires_at, |decision| decision.at),
    })
}

#[cfg(test)]
mod tests;
