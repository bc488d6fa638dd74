//! What admins set while the gate runs: grants and stops. Both act on what is already pending.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    approval::{Approval, Decision, Kind, Question, Status},
    control::{Scope, Stop},
    door::Door,
    glob::Glob,
    grant::{ActiveGrant, Asked, Grant},
    heavy::{self, Lane},
    ids::{GrantId, TraceId},
    key::{Key, Role},
    policy::Verdict,
    ports::{ApprovalFilter, ApprovalRow, Resolved},
    time::Time,
    trace::{NoteRecord, TraceRow},
};

use super::{Gate, GateError};

/// A grant as asked for.
#[derive(Clone, Debug)]
pub struct NewGrant {
    pub agent: Glob,
    pub tools: Glob,
    pub session_id: Option<Arc<str>>,
    /// Checked by [`crate::policy::compile_when`] before it gets here.
    pub when: Option<String>,
    pub duration: Duration,
    pub max_uses: Option<u64>,
    pub reasoning: Option<String>,
}

/// A grant that was made, and what it released.
#[derive(Debug)]
pub struct Granted {
    pub grant: Grant,
    pub released: u64,
}

const PAGE: usize = 500;

impl Gate {
    pub async fn grant(&self, new: NewGrant, by: &str) -> Result<Granted, GateError> {
        let now = self.now();
        let grant = Grant {
            id: GrantId::random(),
            agent: new.agent,
            tools: new.tools,
            session_id: new.session_id,
            kind: None,
            remembered: None,
            when: new.when,
            max_uses: new.max_uses,
            uses: 0,
            granted_by: by.to_owned(),
            created_at: now,
            expires_at: Some(now.plus(new.duration)),
            reasoning: new.reasoning,
            revoked_at: None,
        };
        let note = note("grant created", by, json!(grant), now);
        self.store.add_grant(grant.clone(), note).await?;
        self.refresh_control().await?;
        let released = self.release(&grant).await?;
        Ok(Granted { grant, released })
    }

    pub async fn revoke(&self, id: &GrantId, by: &str) -> Result<bool, GateError> {
        let now = self.now();
        let note = note("grant revoked", by, json!({"grant_id": id}), now);
        let revoked = self.store.revoke_grant(id, by, now, note).await?;
        self.refresh_control().await?;
        Ok(revoked)
    }

    /// Stops a scope: nothing in it is allowed from now on, and what waits is denied.
    pub async fn stop(
        &self,
        scope: Scope,
        by: &str,
        reasoning: Option<String>,
    ) -> Result<u64, GateError> {
        let now = self.now();
        let stop = Stop {
            scope: scope.clone(),
            by: by.to_owned(),
            reasoning: reasoning.clone(),
            at: now,
        };
        let note = note("stopped", by, json!(stop), now);
        self.store.add_stop(stop, note).await?;
        self.refresh_control().await?;
        let reasoning = reasoning.unwrap_or_else(|| format!("{scope} is stopped"));
        self.each_pending(
            Matcher::ByAsker(&|question| {
                scope.holds(&question.agent_id, question.session_id.as_deref())
            }),
            |now| Decision::new(Status::Denied, format!("stop:{by}"), now).because(&*reasoning),
        )
        .await
    }

    /// `false` when that scope was not stopped.
    pub async fn resume(&self, scope: &Scope, by: &str) -> Result<bool, GateError> {
        let note = note("resumed", by, json!({"scope": scope}), self.now());
        let resumed = self.store.remove_stop(scope, by, note).await?;
        self.refresh_control().await?;
        Ok(resumed)
    }

    /// `false` when the name is taken.
    pub async fn add_key(&self, key: Key, by: &str) -> Result<bool, GateError> {
        if self.control().is_keyed(&key.name) {
            return Ok(false);
        }
        if key.role == Role::Agent {
            self.note_agent_keys().await?;
        }
        let note = note("key created", by, json!(key), self.now());
        let added = self.store.add_key(key, note).await?;
        self.refresh_control().await?;
        Ok(added)
    }

    /// What an agent asked with its key, and still waits for, goes with the key.
    pub async fn remove_key(&self, name: &str, by: &str) -> Result<bool, GateError> {
        let note = note("key removed", by, json!({"name": name}), self.now());
        let removed = self.store.remove_key(name, note).await?;
        self.refresh_control().await?;
        if removed {
            self.deny_of(name, by).await?;
        }
        Ok(removed)
    }

    async fn deny_of(&self, agent: &str, by: &str) -> Result<u64, GateError> {
        let asked = |question: &Question| question.agent_id.eq_ignore_ascii_case(agent);
        self.each_pending(Matcher::ByAsker(&asked), |now| {
            Decision::new(Status::Denied, format!("key:{by}"), now)
                .because(format!("the key of {agent} was removed"))
        })
        .await
    }

    /// Nobody waits any more for what was asked in this session.
    pub async fn session_ended(
        &self,
        agent: &str,
        session: &str,
        by: &str,
    ) -> Result<u64, GateError> {
        let asked = |question: &Question| {
            question.agent_id.eq_ignore_ascii_case(agent)
                && question.session_id.as_deref() == Some(session)
        };
        self.each_pending(Matcher::ByAsker(&asked), |now| {
            Decision::new(Status::Denied, by.to_owned(), now)
                .because("the session has ended".to_owned())
        })
        .await
    }

    /// Takes back what a runner passed on from a session, because its turn is over: an answer would be one to a later
    /// turn.
    pub async fn turn_ended(&self, agent: &str, session: &str) -> Result<u64, GateError> {
        let asked = |question: &Question| {
            question.door == Door::Acp
                && question.agent_id.eq_ignore_ascii_case(agent)
                && question.session_id.as_deref() == Some(session)
        };
        self.each_pending(Matcher::ByAsker(&asked), |now| {
            Decision::new(Status::Denied, agent.to_owned(), now)
                .because("the turn in which it was asked is over".to_owned())
        })
        .await
    }

    /// Denies what waits and what a new policy no longer allows anybody to approve.
    pub async fn deny_forbidden(&self) -> Result<u64, GateError> {
        let forbidden = |question: &Question| self.forbids(question);
        self.each_pending(Matcher::ByArguments(&forbidden), |now| {
            Decision::new(Status::Denied, "policy".to_owned(), now)
                .because("the policy in force denies this call".to_owned())
        })
        .await
    }

    /// Answers what grants answer and a crash left open.
    pub(super) async fn release_all(&self) -> Result<(), GateError> {
        for active in &self.control().grants {
            if active.grant.active_at(self.now()) {
                self.release(&active.grant).await?;
            }
        }
        Ok(())
    }

    /// A new grant answers matching questions that are already open, unless policy has since said no.
    pub(super) async fn release(&self, grant: &Grant) -> Result<u64, GateError> {
        let active = ActiveGrant::new(grant.clone());
        let matches = |question: &Question| {
            let call = question.call();
            let asked = Asked {
                kind: question.kind,
                call: &call,
                executor: question.executor,
                works_in: question.works_in.as_deref(),
            };
            question.needed <= 1 && active.permits(&asked, self.now()) && !self.forbids(question)
        };
        self.each_pending(Matcher::ByArguments(&matches), |now| Decision {
            grant_id: Some(grant.id.clone()),
            ..Decision::new(Status::Approved, format!("grant:{}", grant.id), now)
                .because(format!("granted by {}", grant.granted_by))
        })
        .await
    }

    /// Whether policy denies it. What an agent asks a person itself, no rule need mention.
    fn forbids(&self, question: &Question) -> bool {
        let ruling = self.policy.load().evaluate(&question.call(), self.now());
        ruling.verdict == Verdict::Deny && (question.request.is_none() || !ruling.is_default())
    }

    async fn each_pending(
        &self,
        matcher: Matcher<'_>,
        decide: impl Fn(Time) -> Decision,
    ) -> Result<u64, GateError> {
        let mut filter = ApprovalFilter {
            status: Some(Status::Pending),
            limit: PAGE,
            ..Default::default()
        };
        let mut decided = 0;
        loop {
            let page = self.store.approvals(&filter, self.now()).await?;
            let Some(last) = page.last_place() else {
                return Ok(decided);
            };
            filter.after = Some(last);
            for approval in page.rows().filter_map(parsed) {
                // A test question is nobody's but the person's who is asked.
                let question = &approval.question;
                let is_meant = match matcher {
                    _ if question.kind == Kind::Test => false,
                    Matcher::ByAsker(is_meant) => is_meant(question),
                    Matcher::ByArguments(is_meant) => {
                        heavy::run(Lane::Deciders, question.bytes(), || is_meant(question)).await
                    }
                };
                if !is_meant {
                    continue;
                }
                match self.decide_approval(&approval, decide(self.now())).await? {
                    Resolved::Won(_) => decided += 1,
                    Resolved::GrantSpent => return Ok(decided),
                    _ => {}
                }
            }
        }
    }
}

/// Which questions are meant.
#[derive(Clone, Copy)]
enum Matcher<'a> {
    /// At once: a stop does not wait for those who look at long calls.
    ByAsker(&'a (dyn Fn(&Question) -> bool + Sync)),
    /// In turns: it may take long.
    ByArguments(&'a (dyn Fn(&Question) -> bool + Sync)),
}

fn parsed(row: ApprovalRow<'_>) -> Option<Approval> {
    let question = serde_json::from_slice(row.question).ok()?;
    Some(Approval {
        question,
        state: row.state.clone(),
    })
}

pub(super) fn note(what: &str, by: &str, detail: Value, now: Time) -> TraceRow {
    NoteRecord {
        trace_id: TraceId::at(now),
        note: what.to_owned(),
        by: by.to_owned(),
        agent_id: None,
        session_id: None,
        detail,
        timestamp: now,
    }
    .row()
}
