//! `/console/policy`: the rules as loaded, what they say of a call, and what a draft would change.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use provost_core::{
    call::Call,
    policy::{
        Explained, Policy, PolicySet, Rule, Verdict,
        replay::{Recorded, Replayed, replay},
    },
    ports::{PAGE_BYTES, StoreError, TraceEntry, TraceFilter},
    trace::DecisionRecord,
};
use provost_runner::json_error;
use serde_json::Map;

use super::{
    error::{PageError, PageResult},
    fields::Fields,
    moment::Moment,
    page::{Here, Shell, html},
    visitor::{Posted, Visitor},
};
use crate::app::App;

/// Decisions a draft is tried on, the newest.
const REPLAYED: usize = 10_000;
const STEP: usize = 1000;
/// Fewer, where they are long.
const MOST_BYTES: usize = 16 * PAGE_BYTES;
/// Changes that are listed.
const LISTED: usize = 200;

/// Reads the policies of a draft as the config file is read; else what is wrong with it.
pub type ReadDraft = fn(&str) -> Result<PolicySet, String>;

#[derive(Template)]
#[template(path = "console/policy.html")]
struct PolicyPage {
    shell: Shell,
    policies: Vec<PolicyRow>,
    source: String,
    loaded: Moment,
    refused: Option<String>,
    call: CallForm,
    explained: Option<Explained>,
    draft: String,
    tried: Option<Tried>,
    can_replay: bool,
}

#[derive(Default)]
struct CallForm {
    agent: String,
    tool: String,
    session: String,
    params: String,
    problem: Option<String>,
}

enum Tried {
    Broken(String),
    Replayed(Replayed, usize),
}

struct PolicyRow {
    name: Arc<str>,
    agent: String,
    limits: Option<String>,
    rules: Vec<RuleRow>,
}

struct RuleRow {
    tools: String,
    action: &'static str,
    kind: &'static str,
    when: Option<String>,
}

pub(super) async fn page(State(app): State<Arc<App>>, visitor: Visitor) -> PageResult {
    visitor.person()?;
    Ok(html(&PolicyPage::new(&app, &visitor).await?))
}

impl PolicyPage {
    async fn new(app: &App, visitor: &Visitor) -> Result<Self, StoreError> {
        let state = app.policy_state.load();
        let policies = app.gate.policy();
        Ok(Self {
            shell: Shell::new(app, visitor, Here::Policy).await?,
            policies: policies.source().iter().map(PolicyRow::new).collect(),
            source: state.source.clone(),
            loaded: Moment::new(state.loaded_at, app.gate.now()),
            refused: state.error.clone(),
            call: CallForm::default(),
            explained: None,
            draft: String::new(),
            tried: None,
            can_replay: app.console.read_draft.get().is_some(),
        })
    }
}

impl PolicyRow {
    fn new(policy: &Policy) -> Self {
        let limits = policy.rate_limit.map(|limit| {
            let minute = limit.max_per_minute.map(|most| format!("{most} a minute"));
            let total = limit.max_total.map(|most| format!("{most} in all"));
            let both: Vec<_> = minute.into_iter().chain(total).collect();
            both.join(", ")
        });
        Self {
            name: policy.name.clone(),
            agent: policy.agent.clone(),
            limits,
            rules: policy.rules.iter().map(RuleRow::new).collect(),
        }
    }
}

impl RuleRow {
    fn new(rule: &Rule) -> Self {
        let condition = rule.condition.as_ref().map(|condition| {
            let (field, operator) = (&condition.field, condition.operator.as_str());
            format!("{field} {operator} {}", condition.value)
        });
        let when: Vec<_> = rule.when.clone().into_iter().chain(condition).collect();
        Self {
            tools: rule.tools.join(", "),
            action: action_words(rule.action),
            kind: action_kind(rule.action),
            when: (!when.is_empty()).then(|| when.join(" and ")),
        }
    }
}

fn action_words(action: Verdict) -> &'static str {
    match action {
        Verdict::Allow => "allow",
        Verdict::Deny => "deny",
        Verdict::Supervisor => "ask a supervisor",
        Verdict::HumanApproval => "ask a person",
    }
}

fn action_kind(action: Verdict) -> &'static str {
    match action {
        Verdict::Allow => "yes",
        Verdict::Deny => "no",
        Verdict::Supervisor | Verdict::HumanApproval => "wait",
    }
}

/// Explains a call. A form that changes nothing: it is sent as one so that arguments stand in no address.
pub(super) async fn explain(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    visitor.person()?;
    let mut page = PolicyPage::new(&app, &visitor).await?;
    page.call = CallForm::new(&fields);
    match page.call.read() {
        Ok(call) => page.explained = Some(app.gate.policy().explain(&call, app.gate.now())),
        Err(problem) => page.call.problem = Some(problem),
    }
    Ok(html(&page))
}

impl CallForm {
    fn new(fields: &Fields) -> Self {
        Self {
            agent: fields.shown("agent"),
            tool: fields.shown("tool"),
            session: fields.shown("session"),
            params: fields.shown("params"),
            problem: None,
        }
    }

    fn read(&self) -> Result<Call, String> {
        if self.agent.is_empty() || self.tool.is_empty() {
            return Err("An agent and a tool are needed.".to_owned());
        }
        let params = if self.params.is_empty() {
            Map::new()
        } else {
            serde_json::from_str(&self.params).map_err(|error| {
                let why = json_error::told(&error);
                format!("The arguments are not a JSON object: {why}.")
            })?
        };
        let session = Some(self.session.as_str()).filter(|session| !session.is_empty());
        Ok(Call {
            agent: self.agent.as_str().into(),
            session: session.map(Into::into),
            tool: self.tool.as_str().into(),
            params,
        })
    }
}

pub(super) async fn try_draft(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    visitor.person()?;
    let read = app.console.read_draft.get().ok_or_else(|| {
        PageError::bad("This gateway cannot read drafts; use `provost policy replay`.")
    })?;
    let mut page = PolicyPage::new(&app, &visitor).await?;
    page.draft = fields.shown("draft");
    page.tried = Some(match read(&page.draft) {
        Err(problem) => Tried::Broken(problem),
        Ok(draft) => {
            let recorded = recorded(&app).await?;
            let mut replayed = replay(&recorded, &draft);
            let unlisted = replayed.changed.len().saturating_sub(LISTED);
            replayed.changed.truncate(LISTED);
            Tried::Replayed(replayed, unlisted)
        }
    });
    Ok(html(&page))
}

/// The newest decisions, with their arguments in full: conditions look at them.
async fn recorded(app: &App) -> Result<Vec<Recorded>, StoreError> {
    let mut filter = TraceFilter {
        limit: STEP,
        ..TraceFilter::default()
    };
    let (mut recorded, mut bytes) = (Vec::new(), 0);
    while recorded.len() < REPLAYED && bytes < MOST_BYTES {
        let entries = app.gate.store().traces(&filter).await?;
        bytes += entries.iter().map(TraceEntry::bytes).sum::<usize>();
        let read = entries.iter().filter_map(|entry| read(&entry.decision));
        recorded.extend(read);
        filter.before = entries.next_before;
        if filter.before.is_none() {
            break;
        }
    }
    Ok(recorded)
}

fn read(decision: &str) -> Option<Recorded> {
    let record: DecisionRecord = serde_json::from_str(decision).ok()?;
    let params = serde_json::from_str(record.params.get()).ok()?;
    Some(Recorded {
        trace_id: record.trace_id.to_string(),
        call: Call {
            agent: record.agent_id,
            session: record.session_id,
            tool: record.tool,
            params,
        },
        policy: record.policy.to_string(),
        at: record.timestamp,
    })
}
