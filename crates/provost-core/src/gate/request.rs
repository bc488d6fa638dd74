//! An agent asks a person itself, in its own words, and does what is permitted itself. Grants answer at once;
//! everything else is put to whom the agent names.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json};

use crate::{
    approval::{Approval, Decision, Kind, Level, Question, Request, State, Status},
    call::{Call, Digest, Executor},
    control::Control,
    delivery::{Plan, Purpose},
    door::Door,
    grant::{Asked, Grant},
    ids::{ApprovalId, TraceId},
    json,
    limits::Limited,
    menu::Code,
    policy::{Ruling, Verdict},
    ports::{IdempotencyKey, NewApproval, Opened, Record},
    review,
    time::Time,
    trace::Answer,
};

use super::{Gate, GateError, record::Subject};

/// How often it is tried again because stops, grants or keys changed under it.
const ATTEMPTS: usize = 16;

/// What an agent asks.
#[derive(Clone, Debug)]
pub struct NewRequest {
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    /// The coarse type of the action: what grants are for.
    pub action_type: Arc<str>,
    pub request: Request,
    /// Who is told the end. It may hold a secret, and stands nowhere but in the delivery.
    pub callback_url: Option<String>,
    /// Whom of `people` the target is.
    pub person: Option<Arc<str>>,
    pub expires_in: Duration,
    pub idempotency_key: Option<String>,
}

#[derive(Debug)]
pub enum Requested {
    /// Asked, or answered by a grant.
    Made(Box<Approval>),
    /// A rule or a stop says no: nobody is asked.
    Refused {
        answer: Answer,
        reason: Arc<str>,
    },
    Limited(Limited),
    /// So many of this agent's requests wait, and no more may.
    Crowded(u32),
    /// The idempotency key stands for another request.
    KeyMismatch,
}

/// What came of one attempt.
enum Tried {
    Done(Requested),
    /// Stops, grants or keys changed under it.
    Again,
    /// As [`super::decide::Step::Spent`].
    Spent,
}

impl NewRequest {
    fn call(&self) -> Call {
        let mut params = Map::new();
        params.insert("title".into(), self.request.title.clone().into());
        params.insert("preview".into(), self.request.preview.clone().into());
        Call {
            agent: self.agent.clone(),
            session: self.session.clone(),
            tool: self.action_type.clone(),
            params,
        }
    }

    /// What makes two requests the same: all that was said, and to whom.
    fn digest(&self, call: &Call) -> Digest {
        Digest::of(&json!({
            "call": call.digest(),
            "channel": self.request.channel,
            "target": self.request.target,
            "callback_url": self.callback_url,
        }))
    }

    fn key(&self, digest: Digest, now: Time) -> Option<IdempotencyKey> {
        let lasts = u64::try_from(self.expires_in.as_millis()).unwrap_or(u64::MAX);
        let key = self.idempotency_key.as_ref()?;
        Some(IdempotencyKey {
            agent: self.agent.clone(),
            key: format!("request:{key}"),
            digest: Digest::of(&json!({"request": digest, "lasts": lasts})),
            at: now,
            answer: None,
            replaces: None,
        })
    }

    fn plans(&self) -> Vec<Plan> {
        let plan = |channel: &str, address: Value, purpose| Plan {
            channel: channel.into(),
            address,
            person: self.person.clone(),
            purpose,
            after: Duration::ZERO,
        };
        let request = &self.request;
        let ask = plan(&request.channel, request.target.clone(), Purpose::Ask);
        let callback = self.callback_url.as_ref().map(|url| {
            let address = json!({"url": url, "client_id": request.client_id});
            plan("callback", address, Purpose::Callback)
        });
        [ask].into_iter().chain(callback).collect()
    }

    fn question(&self, subject: &Subject, ruling: &Ruling, now: Time) -> Question {
        let risk = review::assess(&subject.call.params);
        let question = Question {
            id: ApprovalId::requested(),
            kind: Kind::Permission,
            agent_id: self.agent.clone(),
            session_id: self.session.clone(),
            tool: self.action_type.clone(),
            params: subject.call.params.clone(),
            policy_rule: ruling.rule.clone(),
            policy: Verdict::HumanApproval,
            created_at: now,
            digest: subject.digest,
            injection_risk: risk.risky(),
            risk_reasons: risk.reasons,
            summary: None,
            trace_id: subject.trace_id.clone(),
            door: Door::Request,
            executor: Executor::Caller,
            works_in: None,
            request: Some(Box::new(self.request.clone())),
            needed: 1,
            denied_before: None,
            hides_secret: false,
        };
        question.with_secrets_noted()
    }
}

impl Gate {
    pub async fn request(&self, new: NewRequest) -> Result<Requested, GateError> {
        let (call, now) = (Arc::new(new.call()), self.now());
        let digest = new.digest(&call);
        let key = new.key(digest, now);
        let subject = Subject {
            length: json::bytes(&call.params),
            call,
            digest,
            trace_id: TraceId::at(now),
            door: Door::Request,
            arrived_at: now,
        };
        let mut counted = false;
        for _ in 0..ATTEMPTS {
            if let Some(known) = self.known_request(key.as_ref()).await? {
                return Ok(known);
            }
            if !std::mem::replace(&mut counted, true)
                && let Some(limited) = self.enter_request(&subject).await?
            {
                return Ok(Requested::Limited(limited));
            }
            match self.try_request(&new, &subject, key.clone()).await? {
                Tried::Done(requested) => return Ok(requested),
                Tried::Spent => {
                    self.limits.set_total(&new.agent, u64::MAX);
                    counted = false;
                }
                Tried::Again => self.refresh_control().await?,
            }
        }
        Err(GateError::Busy)
    }

    /// What the idempotency key already stands for.
    async fn known_request(
        &self,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<Requested>, GateError> {
        let Some(key) = key else { return Ok(None) };
        let Some(found) = self.store.keyed_answer(&key.agent, &key.key).await? else {
            return Ok(None);
        };
        if found.digest != key.digest {
            return Ok(Some(Requested::KeyMismatch));
        }
        let id = found.answer.unwrap_or_default();
        let approval = self.store.approval(&id).await?;
        Ok(approval.map(|approval| Requested::Made(Box::new(approval))))
    }

    /// Counts it against its limits, or says which one it is over: that is traced as with a call.
    async fn enter_request(&self, subject: &Subject) -> Result<Option<Limited>, GateError> {
        let now = self.now();
        let ruling = subject.work(|| self.policy.load().evaluate(&subject.call, now));
        let ruling = ruling.await;
        let entered = self
            .count(&subject.call.agent, ruling.rate_limit, None, now)
            .await?;
        let Err(limited) = entered else {
            return Ok(None);
        };
        let reason = limited.reason.as_str().into();
        let after = limited.retry_after;
        self.refuse(subject, Answer::RateLimited, &ruling, reason, after)
            .await?;
        Ok(Some(limited))
    }

    async fn try_request(
        &self,
        new: &NewRequest,
        subject: &Subject,
        key: Option<IdempotencyKey>,
    ) -> Result<Tried, GateError> {
        let (now, control) = (self.now(), self.control());
        let ruling = subject.work(|| self.policy.load().evaluate(&subject.call, now));
        let ruling = ruling.await;
        let refused = match control.stop_for(&subject.call) {
            Some(stop) => Some((Answer::Stopped, stop.to_string().into())),
            None if ruling.verdict == Verdict::Deny && !ruling.is_default() => {
                Some((Answer::Deny, ruling.reason.clone()))
            }
            None => None,
        };
        if let Some((answer, reason)) = refused {
            self.refuse(subject, answer, &ruling, Arc::clone(&reason), None)
                .await?;
            return Ok(Tried::Done(Requested::Refused { answer, reason }));
        }
        let question = || new.question(subject, &ruling, now);
        let question = subject.work(question).await;
        let mut state = self.pending_request(new, &ruling, now);
        let mut plans = new.plans();
        plans.extend(self.people.load().watching());
        let asked = Asked {
            kind: Kind::Permission,
            call: &subject.call,
            executor: Executor::Caller,
            works_in: None,
        };
        let grant = control.grant_for(&asked, now);
        let grant = grant.map(|active| &active.grant);
        if let Some(grant) = grant {
            state = granted(state, grant, now);
            plans.clear();
        }
        let most = self.settings.load().max_pending_per_agent;
        let new = NewApproval {
            question,
            state,
            version: control.version,
            plans,
            key,
            granted: grant.map(|grant| grant_record(subject, &ruling, &control, grant, now)),
            most_pending: grant.is_none().then_some(most),
            max_total: ruling.rate_limit.and_then(|limit| limit.max_total),
        };
        Ok(match self.store.open_approval(new, now).await? {
            Opened::Approval(approval) => Tried::Done(Requested::Made(approval)),
            Opened::Crowded => {
                let reason = format!("{most} requests of this agent wait already").into();
                self.refuse(subject, Answer::RateLimited, &ruling, reason, None)
                    .await?;
                Tried::Done(Requested::Crowded(most))
            }
            Opened::TotalSpent => Tried::Spent,
            Opened::Stale | Opened::KeyTaken | Opened::GrantSpent => Tried::Again,
        })
    }

    /// For a person, unless a rule says that a supervisor looks first.
    fn pending_request(&self, new: &NewRequest, ruling: &Ruling, now: Time) -> State {
        let expires_at = now.plus(new.expires_in);
        if ruling.verdict != Verdict::Supervisor {
            return State::pending(Level::Human, expires_at, None);
        }
        let supervisors = self.settings.load().supervisor_time.min(new.expires_in);
        State::pending(Level::Supervisor, expires_at, Some(now.plus(supervisors)))
    }
}

/// The trace of a request that a grant answers, and the use it takes.
fn grant_record(
    subject: &Subject,
    ruling: &Ruling,
    control: &Control,
    grant: &Grant,
    now: Time,
) -> Box<Record> {
    let reason: Arc<str> = format!("grant {} answers", grant.id).into();
    let id = Some(grant.id.clone());
    Box::new(Record {
        row: subject.decision(Answer::Allow, ruling, reason, id.clone(), now),
        version: Some(control.version),
        grant: id,
        key: None,
        max_total: ruling.rate_limit.and_then(|limit| limit.max_total),
    })
}

fn granted(pending: State, grant: &Grant, now: Time) -> State {
    let code = match grant.session_id {
        Some(_) => Code::Session,
        None => Code::Always,
    };
    let decision = Decision {
        grant_id: Some(grant.id.clone()),
        code: Some(code),
        ..Decision::new(Status::Approved, format!("grant:{}", grant.id), now)
            .because(format!("granted by {}", grant.granted_by))
    };
    State {
        status: Status::Approved,
        decision: Some(Box::new(decision)),
        answered_at: Some(now),
        ..pending
    }
}
