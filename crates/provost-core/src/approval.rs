//! An approval: a pending question and its one decision.

mod cut;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    call::{Call, Digest, Executor},
    door::Door,
    grant::Grant,
    ids::{ApprovalId, GrantId, TraceId},
    json,
    menu::Code,
    review::{Risk, Summary, mask_map, mask_place, mask_text, mask_value, redact, redact_map},
    time::Time,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Supervisor,
    Human,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Approved,
    Denied,
    Expired,
}

impl Level {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Supervisor => "supervisor",
            Self::Human => "human",
        }
    }
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }
}

/// What is asked about. The gate asks about calls; other doors ask about more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Call,
    Permission,
    Message,
    Escalation,
    /// A question that decides nothing: it shows whether a person is reached.
    Test,
    /// Nothing is asked: an agent did something that nobody decided, and people are told.
    Notice,
}

/// The question: written once, when the approval is made, and never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub id: ApprovalId,
    pub kind: Kind,
    pub agent_id: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    pub tool: Arc<str>,
    pub params: Map<String, Value>,
    pub policy_rule: Arc<str>,
    /// The verdict that led here, `supervisor` or `human_approval`.
    pub policy: crate::policy::Verdict,
    pub created_at: Time,
    /// Of the call alone. The answer is bound to [`Question::bound`].
    pub digest: Digest,
    pub injection_risk: bool,
    /// Which patterns raised the risk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risk_reasons: Vec<String>,
    /// What a command or a change would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The trace of the call that asked: its decision is recorded under this id.
    pub trace_id: TraceId,
    pub door: Door,
    /// Who executes what is permitted.
    #[serde(default)]
    pub executor: Executor,
    /// Where the agent says that it works. A claim: it is shown, and narrows what is remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works_in: Option<Box<str>>,
    /// What the agent asks in its own words, where it asks a person and not for a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<Request>>,
    /// How many people must approve it. One no is enough.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub needed: u8,
    /// When the same was last denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied_before: Option<Time>,
    /// Some of it is a secret, and masked wherever it is shown. The last field: see [`HIDES_SECRET`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_secret: bool,
}

/// How the JSON of a question with a secret ends, so that a long list is told apart without reading it.
pub const HIDES_SECRET: &[u8] = br#","hides_secret":true}"#;

/// A question that an agent put to a person itself: all of it is the agent's claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Who asked: the beginning of the hash of its key.
    pub client_id: String,
    pub title: String,
    pub preview: String,
    pub channel: String,
    pub target: Value,
}

impl Request {
    pub(crate) fn masked(self) -> Self {
        Self {
            title: mask_text(&self.title).into_owned(),
            preview: mask_text(&self.preview).into_owned(),
            target: mask_value(&self.target),
            ..self
        }
    }

    pub(crate) fn structure(self) -> Self {
        let mut said = Map::new();
        said.insert("title".into(), self.title.into());
        said.insert("preview".into(), self.preview.into());
        let said = redact_map(&said);
        let text = |name: &str| match said.get(name) {
            Some(Value::String(text)) => text.clone(),
            other => other.map(ToString::to_string).unwrap_or_default(),
        };
        // It stands in the subject of a mail: no place for a description.
        let title = match said.get("title") {
            Some(Value::Object(_)) => "(its title is withheld)".to_owned(),
            _ => text("title"),
        };
        Self {
            title,
            preview: text("preview"),
            target: redact(&self.target),
            ..self
        }
    }
}

fn one() -> u8 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one(needed: &u8) -> bool {
    *needed == 1
}

impl Question {
    /// What its answer is bound to: this call, from this folder, executed by the same. One question of it is open
    /// at a time.
    pub fn bound(&self) -> Digest {
        self.digest
            .bound_to(self.executor, self.works_in.as_deref())
    }

    /// About how long it is.
    pub fn bytes(&self) -> usize {
        let said = self.request.as_ref().map_or(0, |said| said.preview.len());
        json::bytes(&self.params) + said
    }

    pub fn call(&self) -> Call {
        Call {
            agent: self.agent_id.clone(),
            session: self.session_id.clone(),
            tool: self.tool.clone(),
            params: self.params.clone(),
        }
    }

    /// The call with other arguments.
    pub fn changed(&self, arguments: Map<String, Value>) -> Call {
        Call {
            agent: self.agent_id.clone(),
            session: self.session_id.clone(),
            tool: self.tool.clone(),
            params: arguments,
        }
    }

    /// As it may be shown: secrets are masked.
    #[must_use]
    pub fn masked(self) -> Self {
        Self {
            summary: self.summary.map(|summary| summary.masked(&self.params)),
            params: mask_map(&self.params),
            works_in: self.works_in.map(masked_folder),
            request: self.request.map(|request| Box::new(request.masked())),
            ..self
        }
    }

    /// Finds out whether anything of it is masked where it is shown. That is a risk of its own: something may be
    /// hidden behind a mask.
    #[must_use]
    pub fn with_secrets_noted(mut self) -> Self {
        self.hides_secret = false;
        let hides_secret = self.clone().masked() != self;
        self.hides_secret = hides_secret;
        if let Some(summary) = self.summary.as_mut().filter(|_| hides_secret) {
            summary.risks.insert(Risk::HidesSecret);
        }
        self
    }

    /// As it may be shown where content may not.
    #[must_use]
    pub fn structure(self) -> Self {
        Self {
            params: redact_map(&self.params),
            summary: self.summary.map(Summary::structure),
            works_in: self.works_in.map(masked_folder),
            request: self.request.map(|request| Box::new(request.structure())),
            ..self
        }
    }
}

/// A door may take a URL for a folder.
fn masked_folder(folder: Box<str>) -> Box<str> {
    mask_place(&folder).into()
}

#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    pub question: Question,
    pub state: State,
}

/// What changes over an approval's life. [`crate::ports::Store`] keeps it. Most of what waits has none of
/// the large parts, which are boxed so that a long list stays small.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub status: Status,
    pub level: Level,
    /// When a pending question goes unanswered for good.
    pub expires_at: Time,
    /// Until when it is the supervisors' to judge. Past that it is a person's, whatever `level` says.
    pub supervisor_until: Option<Time>,
    pub decision: Option<Box<Decision>>,
    /// An approval permits one call until then.
    pub permit_until: Option<Time>,
    /// The decision was handed to a caller. It happens once.
    pub answered_at: Option<Time>,
    pub claim: Option<Box<Claim>>,
    pub escalation: Option<Box<Escalation>>,
    /// How often it was asked while it waited.
    pub asked: u32,
    /// Those who approved, where one is not enough.
    pub votes: Box<[Vote]>,
}

/// One person's yes, where more are needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    pub by: String,
    /// As [`Decision::person`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    pub at: Time,
}

impl State {
    /// A question that waits for somebody of that level.
    pub fn pending(level: Level, expires_at: Time, supervisor_until: Option<Time>) -> Self {
        Self {
            status: Status::Pending,
            level,
            expires_at,
            supervisor_until,
            decision: None,
            permit_until: None,
            answered_at: None,
            claim: None,
            escalation: None,
            asked: 1,
            votes: Box::default(),
        }
    }

    pub fn level_at(&self, now: Time) -> Level {
        match self.supervisor_until {
            Some(until) if self.level == Level::Supervisor && now < until => Level::Supervisor,
            _ => Level::Human,
        }
    }

    pub fn status_at(&self, now: Time) -> Status {
        if self.status == Status::Pending && now >= self.expires_at {
            return Status::Expired;
        }
        self.status
    }

    pub fn claim_at(&self, now: Time) -> Option<&Claim> {
        self.claim.as_deref().filter(|claim| now < claim.until)
    }

    pub fn remaining(&self, now: Time) -> Duration {
        self.expires_at.since(now)
    }

    /// Whether this person has approved already, where one yes is not enough. As [`Decision::person`] and
    /// [`Decision::by`].
    pub fn has_approved(&self, person: Option<&str>, by: &str) -> bool {
        let voter = voter(person, by);
        let mut votes = self.votes.iter();
        votes.any(|vote| self::voter(vote.person.as_deref(), &vote.by) == voter)
    }
}

/// Whose yes it is: whom a key is tied to, or else the name without the role. One person may hold several keys
/// and is counted once.
pub fn voter(person: Option<&str>, by: &str) -> String {
    let name = || by.split_once(':').map_or(by, |(_, name)| name);
    person.unwrap_or_else(name).to_lowercase()
}

/// The decision of an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// `Approved` or `Denied`.
    pub status: Status,
    /// Who decided, as authenticated: `human:alice`, `supervisor:fs-bot`, `grant:…`, `stop:…`.
    pub by: String,
    /// Whose key it was among `people`, where it is tied to somebody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Arc<str>>,
    /// What the decider called itself. Free text, never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The grant that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    /// What is permitted instead of what was asked: a person changed the call's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// What a person chose from the menu.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The grant that this choice made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_grant: Option<GrantId>,
    /// What that grant allows of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Box<InForce>>,
    /// What a person put in the place of a [`Request`], as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// On which channel it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Arc<str>>,
    pub at: Time,
}

/// What was remembered with a decision, as it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    pub words: String,
    pub until: Time,
}

impl InForce {
    fn of(grant: &Grant) -> Option<Self> {
        Some(Self {
            words: grant.remembered.as_ref()?.scope.words(),
            until: grant.expires_at?,
        })
    }
}

impl Decision {
    /// With the grant that the choice makes.
    #[must_use]
    pub fn making(mut self, grant: Option<&Grant>) -> Self {
        self.made_grant = grant.map(|grant| grant.id.clone());
        self.remembered = grant.and_then(InForce::of).map(Box::new);
        self
    }

    pub fn new(status: Status, by: impl Into<String>, at: Time) -> Self {
        Self {
            status,
            by: by.into(),
            person: None,
            label: None,
            reasoning: None,
            confidence: None,
            grant_id: None,
            arguments: None,
            code: None,
            made_grant: None,
            remembered: None,
            replacement: None,
            via: None,
            at,
        }
    }

    #[must_use]
    pub fn because(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = Some(reasoning.into());
        self
    }

    /// The grant that it made, or that made it.
    pub fn rule(&self) -> Option<&GrantId> {
        self.made_grant.as_ref().or(self.grant_id.as_ref())
    }
}

/// A lease: while it lasts, other supervisors leave the approval alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub by: String,
    pub until: Time,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escalation {
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    pub at: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p14_a_person_has_voted_with_whatever_key() {
        let vote = |by: &str, person: Option<&str>| Vote {
            by: by.to_owned(),
            person: person.map(Into::into),
            reasoning: None,
            at: Time::from_millis(0),
        };
        let mut state = State::pending(Level::Human, Time::from_millis(300), None);
        state.votes = Box::new([vote("human:Alice", None), vote("admin:root", Some("bob"))]);
        for (person, by, expected) in [
            (None, "admin:alice", true),
            (Some("alice"), "human:phone", true),
            (Some("bob"), "human:other", true),
            (None, "human:bob", true),
            (None, "admin:root", false),
            (Some("carol"), "human:alice", false),
        ] {
            assert_eq!(state.has_approved(person, by), expected, "{person:?} {by}");
        }
    }

    #[test]
    fn time_alone_moves_a_question_to_people_and_then_to_expired() {
        let at = Time::from_millis;
        let state = State::pending(Level::Supervisor, at(300), Some(at(60)));
        for (now, level, status) in [
            (0, Level::Supervisor, Status::Pending),
            (59, Level::Supervisor, Status::Pending),
            (60, Level::Human, Status::Pending),
            (299, Level::Human, Status::Pending),
            (300, Level::Human, Status::Expired),
        ] {
            assert_eq!(
                (state.level_at(at(now)), state.status_at(at(now))),
                (level, status),
                "{now}"
            );
        }
    }
}
