//! How the values of the core stand in columns, the same in both databases.

use std::{borrow::Cow, time::Duration};

use provost_core::{
    approval::{Approval, Claim, Decision, Escalation, Level, Question, State, Status},
    call::Digest,
    delivery::{Delivery, Plan, Purpose},
    ids::TraceId,
    ports::{ChainEnds, KeyedAnswer, StoreError},
    time::Time,
    trace::{
        RecordKind,
        chain::{self, Hash},
    },
};

/// A stored value that cannot be what we wrote.
#[derive(Debug, thiserror::Error)]
#[error("the store holds {what} that cannot be read: {why}")]
pub(crate) struct Garbled {
    what: &'static str,
    why: String,
}

impl Garbled {
    pub(crate) fn new(what: &'static str, why: impl ToString) -> Self {
        Self {
            what,
            why: why.to_string(),
        }
    }
}

impl From<Garbled> for StoreError {
    fn from(garbled: Garbled) -> Self {
        Self::Corrupt(garbled.to_string().into())
    }
}

/// The columns of a [`State`], in the order of [`APPROVAL_COLUMNS`], as they lie in a row or in a state.
pub(crate) struct StateColumns<'a> {
    pub(crate) status: &'a str,
    pub(crate) level: &'a str,
    pub(crate) expires_at: i64,
    pub(crate) supervisor_until: Option<i64>,
    pub(crate) permit_until: Option<i64>,
    pub(crate) answered_at: Option<i64>,
    pub(crate) claim_by: Option<&'a str>,
    pub(crate) claim_until: Option<i64>,
    pub(crate) decision: Option<Cow<'a, str>>,
    pub(crate) escalation: Option<Cow<'a, str>>,
    pub(crate) asked: i64,
    pub(crate) votes: Option<Cow<'a, str>>,
}

pub(crate) const APPROVAL_COLUMNS: &str = "question, status, level, expires_at, supervisor_until, \
     permit_until, answered_at, claim_by, claim_until, decision, escalation, asked, votes";

/// What there is to know of a row that is known to be pending: a decision has brought nothing yet.
pub(crate) const PENDING_COLUMNS: &str = "question, level, expires_at, supervisor_until, claim_by, \
     claim_until, escalation, asked, votes";

impl<'a> StateColumns<'a> {
    pub(crate) fn of(state: &'a State) -> Result<Self, Garbled> {
        Ok(Self {
            status: status_text(state.status),
            level: level_text(state.level),
            expires_at: state.expires_at.millis(),
            supervisor_until: state.supervisor_until.map(Time::millis),
            permit_until: state.permit_until.map(Time::millis),
            answered_at: state.answered_at.map(Time::millis),
            claim_by: state.claim.as_ref().map(|claim| &*claim.by),
            claim_until: state.claim.as_ref().map(|claim| claim.until.millis()),
            decision: state.decision.as_ref().map(text).transpose()?,
            escalation: state.escalation.as_ref().map(text).transpose()?,
            asked: i64::from(state.asked),
            votes: Some(&state.votes)
                .filter(|votes| !votes.is_empty())
                .map(text)
                .transpose()?,
        })
    }

    pub(crate) fn state(self) -> Result<State, Garbled> {
        Ok(State {
            status: status(self.status)?,
            level: level(self.level)?,
            expires_at: Time::from_millis(self.expires_at),
            supervisor_until: self.supervisor_until.map(Time::from_millis),
            decision: self
                .decision
                .map(|text| from_json::<Box<Decision>>("a decision", &text))
                .transpose()?,
            permit_until: self.permit_until.map(Time::from_millis),
            answered_at: self.answered_at.map(Time::from_millis),
            claim: self.claim_by.zip(self.claim_until).map(|(by, until)| {
                Box::new(Claim {
                    by: by.to_owned(),
                    until: Time::from_millis(until),
                })
            }),
            escalation: self
                .escalation
                .map(|text| from_json::<Box<Escalation>>("an escalation", &text))
                .transpose()?,
            asked: u32::try_from(self.asked).unwrap_or(u32::MAX),
            votes: self
                .votes
                .map(|text| from_json("the votes", &text))
                .transpose()?
                .unwrap_or_default(),
        })
    }
}

pub(crate) fn approval(question: &str, state: State) -> Result<Approval, Garbled> {
    Ok(Approval {
        question: from_json::<Question>("a question", question)?,
        state,
    })
}

pub(crate) fn decided_at(decision: Option<&str>) -> Result<Option<Time>, Garbled> {
    let decision = decision.map(|text| from_json::<Decision>("a decision", text));
    Ok(decision.transpose()?.map(|decision| decision.at))
}

/// When a delivery is first due; `None` while its question is not a person's, and where only the end is told.
pub(crate) fn first_due(plan: &Plan, approval: &Approval) -> Option<Time> {
    let for_people = approval.state.level == Level::Human;
    let asks = plan.purpose != Purpose::Callback;
    (for_people && asks).then(|| approval.question.created_at.plus(plan.after))
}

pub(crate) fn purpose_text(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Ask => "ask",
        Purpose::Remind => "remind",
        Purpose::Callback => "callback",
    }
}

/// The columns of a [`Delivery`].
pub(crate) const DELIVERY_COLUMNS: &str = "id, approval_id, plan, shown, attempts, closed, error";

pub(crate) fn delivery(
    id: &str,
    approval_id: &str,
    plan: &str,
    shown: Option<&str>,
    attempts: i64,
) -> Result<Delivery, Garbled> {
    Ok(Delivery {
        id: id.into(),
        approval_id: approval_id.into(),
        plan: from_json("a plan", plan)?,
        shown: shown
            .map(|text| from_json("where a delivery is shown", text))
            .transpose()?,
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
    })
}

/// Asking again and again changes messages no more often than this.
pub(crate) const BETWEEN_UPDATES: Duration = Duration::from_secs(5);

pub(crate) fn secret(bytes: &[u8]) -> Result<[u8; 32], Garbled> {
    bytes
        .try_into()
        .map_err(|why| Garbled::new("a secret", why))
}

/// When a pending approval next needs looking at.
pub(crate) fn due_at(state: &State) -> Time {
    match state.supervisor_until {
        Some(until) if state.level == Level::Supervisor => until.min(state.expires_at),
        _ => state.expires_at,
    }
}

pub(crate) fn keyed_answer(
    digest: &str,
    trace_id: String,
    at: i64,
    answer: Option<String>,
    version: u64,
) -> Result<KeyedAnswer, Garbled> {
    let digest = Digest::parse(digest).ok_or_else(|| Garbled::new("a digest", digest))?;
    Ok(KeyedAnswer {
        digest,
        trace_id: TraceId::from(trace_id),
        at: Time::from_millis(at),
        answer,
        version,
    })
}

pub(crate) fn status_text(status: Status) -> &'static str {
    status.as_str()
}

fn status(text: &str) -> Result<Status, Garbled> {
    [
        Status::Pending,
        Status::Approved,
        Status::Denied,
        Status::Expired,
    ]
    .into_iter()
    .find(|status| status_text(*status) == text)
    .ok_or_else(|| Garbled::new("a status", text))
}

pub(crate) fn level_text(level: Level) -> &'static str {
    level.as_str()
}

fn level(text: &str) -> Result<Level, Garbled> {
    [Level::Supervisor, Level::Human]
        .into_iter()
        .find(|level| level_text(*level) == text)
        .ok_or_else(|| Garbled::new("a level", text))
}

pub(crate) fn kind(text: &str) -> Result<RecordKind, Garbled> {
    RecordKind::parse(text).ok_or_else(|| Garbled::new("a kind of record", text))
}

/// Places and numbers begin with 1.
pub(crate) fn place(stored: i64) -> Result<u64, Garbled> {
    let place = u64::try_from(stored).ok().filter(|place| *place > 0);
    place.ok_or_else(|| Garbled::new("a record before the first", stored))
}

pub(crate) fn digest(text: &str) -> Result<Digest, Garbled> {
    Digest::parse(text).ok_or_else(|| Garbled::new("a digest", "it is no SHA-256"))
}

pub(crate) fn hash(bytes: &[u8]) -> Result<Hash, Garbled> {
    bytes.try_into().map_err(|why| Garbled::new("a hash", why))
}

/// How the body of a note with this name reads.
pub(crate) fn note_named(name: &str) -> String {
    format!("\"note\":{}", serde_json::Value::from(name))
}

/// The ends of a chain that nothing was written to yet.
pub(crate) fn new_chain(name: &str) -> ChainEnds {
    let genesis = chain::genesis(name);
    ChainEnds {
        chain: name.to_owned(),
        anchor_seq: 0,
        anchor_hash: genesis,
        head_seq: 0,
        head_hash: genesis,
    }
}

/// Sessions are never empty, so an empty text stands for none where a column may not be null.
pub(crate) fn session(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn text<T: serde::Serialize>(value: &T) -> Result<Cow<'static, str>, Garbled> {
    to_json(value).map(Cow::Owned)
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, Garbled> {
    serde_json::to_string(value).map_err(|why| Garbled::new("a value", why))
}

pub(crate) fn from_json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, Garbled> {
    serde_json::from_str(text).map_err(|why| Garbled::new(what, why))
}
