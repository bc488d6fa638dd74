//! What was just decided, named: whose call it was, of which tool, what it would do, and the way back.

use askama::Template;
use provost_core::{
    approval::{Approval, Decision},
    card::{Card, Exact},
    review::{Act, mask_map, mask_text, summarize_whole},
    trace::view::Exposure,
};

use super::{decide, error::PageError, fields::Fields, moment::Moment, visitor::Visitor};
use crate::app::App;

const LONGEST_ACT: usize = 120;

#[derive(Template)]
#[template(path = "console/banner.html")]
pub(super) struct Banner {
    csrf: String,
    /// What was done, in our words.
    words: String,
    about: Option<About>,
    next: Option<Next>,
}

/// What it was done to.
struct About {
    id: String,
    tool: String,
    agent: String,
    act: String,
    /// What was remembered, and until when.
    remembered: Option<(String, Moment)>,
    /// The grant that it made, as long as it is in force and the visitor may revoke it.
    grant: Option<String>,
}

/// What waits next.
pub(super) struct Next {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) agent: String,
}

impl Banner {
    /// The address says what was done and to which approval. What it was about is read from the store, and only
    /// where the visitor has a part in it, so that a link somebody sends cannot put words into our mouth.
    pub(super) async fn of(
        app: &App,
        visitor: &Visitor,
        query: &Fields,
        next: Option<Next>,
    ) -> Result<Option<Self>, PageError> {
        let approval = match query.text("of") {
            Some(id) => app.gate.store().approval(id).await?,
            None => None,
        };
        let exposure = visitor.exposure(app, query);
        let own = approval.filter(|approval| decided_by(visitor, approval));
        let Some(words) = decide::said(query, own.as_ref()) else {
            return Ok(None);
        };
        Ok(Some(Self {
            csrf: visitor.session.csrf.to_string(),
            words,
            about: own.map(|approval| About::of(app, visitor, &approval, exposure)),
            next,
        }))
    }
}

fn decided_by(visitor: &Visitor, approval: &Approval) -> bool {
    let decider = visitor.decider();
    let identity = decider.identity();
    let decision = approval.state.decision.as_deref();
    let handed_up = approval.state.escalation.as_deref();
    visitor.key.may_see(&approval.question.tool)
        && (decision.is_some_and(|decision| decision.by == identity)
            || handed_up.is_some_and(|escalation| escalation.by == identity)
            || decider.has_approved(approval))
}

impl About {
    fn of(app: &App, visitor: &Visitor, approval: &Approval, exposure: Exposure) -> Self {
        let question = &approval.question;
        let decision = approval.state.decision.as_deref();
        let made = decision.and_then(|decision| decision.made_grant.as_ref());
        let (now, control) = (app.gate.now(), app.gate.control());
        let mut grants = control.grants.iter().map(|active| &active.grant);
        let grant = grants.find(|grant| Some(&grant.id) == made && grant.active_at(now));
        Self {
            id: question.id.to_string(),
            tool: question.tool.to_string(),
            agent: question.agent_id.to_string(),
            act: decision
                .and_then(|decision| instead(decision, &question.tool, exposure))
                .unwrap_or_else(|| act(approval, exposure, app)),
            remembered: decision
                .and_then(|decision| decision.remembered.as_deref())
                .map(|it| (it.words.clone(), Moment::new(it.until, now))),
            grant: grant
                .filter(|grant| visitor.may_revoke(grant))
                .map(|grant| grant.id.to_string()),
        }
    }
}

/// What was approved in the place of what was asked.
fn instead(decision: &Decision, tool: &str, exposure: Exposure) -> Option<String> {
    if let Some(text) = &decision.replacement {
        return Some(shortened(&mask_text(text), false));
    }
    let changed = decision.arguments.as_ref()?;
    if exposure == Exposure::Structure {
        return Some(String::new());
    }
    let act = summarize_whole(tool, changed).map(|it| it.masked(changed));
    let (words, more) = match act.map(|summary| summary.act) {
        Some(Act::Command { parts }) => {
            let more = parts.len() > 1;
            (parts.into_iter().next().and_then(|part| part.text), more)
        }
        Some(Act::Change { path, .. }) => (path, false),
        None => (None, false),
    };
    let words = words.or_else(|| serde_json::to_string(&mask_map(changed)).ok())?;
    Some(shortened(&words, more))
}

/// What was asked.
fn act(approval: &Approval, exposure: Exposure, app: &App) -> String {
    let longest = app.gate.settings().max_grant;
    let card = Card::of(approval, exposure, longest, app.gate.now());
    let first_step = |card: &Card| match &card.exact {
        Exact::Command { parts, .. } => parts.first().and_then(|part| part.text.clone()),
        Exact::Change { path, .. } => path.clone(),
        Exact::Arguments { .. } => None,
        Exact::Nothing => card.claim.as_ref().and_then(|claim| claim.title.clone()),
    };
    let words = first_step(&card).unwrap_or_else(|| match exposure {
        Exposure::Structure => String::new(),
        Exposure::Everything => {
            serde_json::to_string(&mask_map(&approval.question.params)).unwrap_or_default()
        }
    });
    let more = matches!(&card.exact, Exact::Command { parts, .. } if parts.len() > 1);
    shortened(&words, more)
}

/// In a few words; `more` follows them.
fn shortened(words: &str, more: bool) -> String {
    let words: Vec<_> = words.split_whitespace().collect();
    let words = words.join(" ");
    let mut short: String = words.chars().take(LONGEST_ACT).collect();
    if more || short.len() < words.len() {
        short.push('…');
    }
    short
}
