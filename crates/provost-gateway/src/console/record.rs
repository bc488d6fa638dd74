//! A trace as the templates show it: a row of a list.

use provost_core::{
    glob::Glob,
    heavy::{self, Lane},
    key::{Key, Role},
    ports::{TraceEntry, TracePage},
    time::Time,
    trace::view::{Exposure, trace_view},
};
use serde_json::{Map, Value};

use super::moment::Moment;

pub(super) struct Row {
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) session: Option<String>,
    pub(super) tool: String,
    pub(super) verdict: Word,
    /// Who or what decided.
    pub(super) by: String,
    pub(super) outcome: &'static str,
    /// A person changed the call: what ran is not what was asked.
    pub(super) edited: bool,
    pub(super) at: Moment,
    /// The arguments, in one line and cut.
    pub(super) brief: String,
}

/// A word, and the class that colours it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) kind: &'static str,
}

const BRIEF: usize = 160;

impl Row {
    pub(super) fn new(entry: &TraceEntry, exposure: Exposure, now: Time) -> Self {
        Self::of_view(&trace_view(entry, exposure), now)
    }

    /// One for each trace of a page.
    pub(super) async fn of_page(page: &TracePage, exposure: Exposure, now: Time) -> Vec<Self> {
        let row = |entry: &TraceEntry| Self::new(entry, exposure, now);
        heavy::each(Lane::Deciders, page.iter(), |entry| entry.bytes(), row).await
    }

    pub(super) fn of_view(view: &Map<String, Value>, now: Time) -> Self {
        let params = view.get("params").map(Value::to_string);
        let rule = text(view, "policy_rule");
        let by = some(view, "approved_by")
            .or_else(|| some(view, "grant_id").map(|id| format!("grant {id}")))
            .unwrap_or(rule);
        Self {
            id: text(view, "trace_id"),
            agent: text(view, "agent_id"),
            session: some(view, "session_id"),
            tool: text(view, "tool"),
            verdict: verdict(&text(view, "verdict")),
            by,
            outcome: outcome(view),
            edited: view.contains_key("edited"),
            at: Moment::new(time(view, "timestamp").unwrap_or(now), now),
            brief: cut(&params.unwrap_or_default()),
        }
    }
}

/// What a supervisor's key is limited to.
pub(super) fn scope(key: &Key) -> Vec<Glob> {
    if key.role == Role::Supervisor {
        key.tools.clone()
    } else {
        Vec::new()
    }
}

pub(super) fn verdict(word: &str) -> Word {
    let (text, kind) = match word {
        "allow" => ("allowed", "yes"),
        "deny" => ("denied", "no"),
        "expired" => ("expired", "late"),
        "rate_limited" => ("limited", "no"),
        "stopped" => ("stopped", "no"),
        "invalid" => ("invalid", "no"),
        "unsupervised" => ("nobody decided", "no"),
        other => (other, ""),
    };
    Word {
        text: text.to_owned(),
        kind,
    }
}

fn outcome(view: &Map<String, Value>) -> &'static str {
    match view.get("outcome").and_then(Value::as_str) {
        Some("done") => "done",
        Some("failed") => "failed",
        Some("unknown") => "outcome unknown",
        Some("pending") => "running",
        _ => "",
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= BRIEF {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(BRIEF).collect();
    short.push('…');
    short
}

pub(super) fn some(view: &Map<String, Value>, name: &str) -> Option<String> {
    view.get(name).and_then(Value::as_str).map(str::to_owned)
}

pub(super) fn text(view: &Map<String, Value>, name: &str) -> String {
    some(view, name).unwrap_or_default()
}

pub(super) fn time(view: &Map<String, Value>, name: &str) -> Option<Time> {
    view.get(name).and_then(Value::as_str).and_then(Time::parse)
}
