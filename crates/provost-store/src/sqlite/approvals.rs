//! Approvals as they change. The writer is alone in its transaction, so what is read here holds until
//! the commit; the writes name the state they expect all the same.

use std::borrow::Cow;

use provost_core::{
    approval::{Approval, Claim, Escalation, State, Status},
    event::{About, Event},
    ids::ApprovalId,
    ports::{
        Claimed, Escalated, IdempotencyKey, NewApproval, Opened, Resolve, Resolved, Taken,
        approval_event,
    },
    time::Time,
    trace::TraceRow,
};
use rusqlite::{OptionalExtension as _, params};

use super::{batch::Batch, control, deliveries, fault::Fault, records, rows};
use crate::{
    codec::{self, APPROVAL_COLUMNS, BETWEEN_UPDATES, Garbled, StateColumns},
    transition::{self, Claiming, Resolution, Taking},
};

pub(super) fn open(batch: &mut Batch<'_>, new: &NewApproval, now: Time) -> Result<Opened, Fault> {
    if new.version != batch.version() {
        return Ok(Opened::Stale);
    }
    if let Some(key) = &new.key
        && records::key_is_taken(batch, key)?
    {
        return Ok(Opened::KeyTaken);
    }
    if let Some(mut open) = find_open(batch, new, now)? {
        keep_key(batch, new, &open)?;
        if let Some(after) = transition::ask_again(&open, &new.question) {
            change(batch, &mut open, after)?;
            deliveries::update(batch, &open, now.plus(BETWEEN_UPDATES))?;
        }
        return Ok(Opened::Approval(Box::new(open)));
    }
    if let Some(most) = new.most_pending
        && pending_of_kind(batch, new, most, now)? >= most
    {
        return Ok(Opened::Crowded);
    }
    if is_spent(batch, new)? {
        return Ok(Opened::TotalSpent);
    }
    let granted = new.grant_record();
    if let Some(record) = &granted
        && let Some(refused) = records::record(batch, record)?.into()
    {
        return Ok(refused);
    }
    let mut approval = Approval {
        question: new.question.clone(),
        state: new.state.clone(),
    };
    approval.question.denied_before = denied_before(batch, new)?;
    insert(batch, &approval)?;
    deliveries::plan(batch, &approval, &new.plans)?;
    if granted.is_none() {
        keep_key(batch, new, &approval)?;
    }
    tell(
        batch,
        approval.question.created_at,
        &approval,
        Event::ApprovalCreated,
        None,
    )?;
    Ok(Opened::Approval(Box::new(approval)))
}

pub(super) fn resolve(batch: &mut Batch<'_>, resolve: &Resolve) -> Result<Resolved, Fault> {
    let Some(mut approval) = find(batch, &resolve.id)? else {
        return Ok(Resolved::NotFound);
    };
    Ok(match transition::resolve(&approval, resolve) {
        Resolution::Lost => Resolved::Lost(Box::new(approval)),
        Resolution::NotYours => Resolved::NotYours(Box::new(approval)),
        Resolution::Held(claim) => Resolved::Held(claim),
        Resolution::Counted(after) => {
            let by = Some(resolve.decision.by.clone());
            change(batch, &mut approval, *after)?;
            deliveries::update(batch, &approval, resolve.decision.at)?;
            if let Some(vote) = &resolve.vote {
                batch.append(vote)?;
            }
            tell(
                batch,
                resolve.decision.at,
                &approval,
                Event::ApprovalCounted,
                by,
            )?;
            Resolved::Counted(Box::new(approval))
        }
        Resolution::Won(after) => {
            if let Some(grant) = &resolve.grant
                && !records::use_grant(batch, grant, resolve.decision.at)?
            {
                return Ok(Resolved::GrantSpent);
            }
            change(batch, &mut approval, *after)?;
            batch.append(&resolve.row)?;
            if let Some(new) = &resolve.new_grant {
                control::add_grant(batch, &new.0, &new.1)?;
            }
            deliveries::end(batch, &approval, resolve.decision.at)?;
            let decision = &resolve.decision;
            let by = Some(decision.by.clone());
            tell(batch, decision.at, &approval, Event::ApprovalResolved, by)?;
            Resolved::Won(Box::new(approval))
        }
    })
}

pub(super) fn expire(
    batch: &mut Batch<'_>,
    id: &ApprovalId,
    now: Time,
    row: &TraceRow,
) -> Result<bool, Fault> {
    let Some(mut approval) = find(batch, id)? else {
        return Ok(false);
    };
    let Some(after) = transition::expire(&approval.state, now) else {
        return Ok(false);
    };
    change(batch, &mut approval, after)?;
    batch.append(row)?;
    deliveries::end(batch, &approval, now)?;
    tell(batch, now, &approval, Event::ApprovalResolved, None)?;
    Ok(true)
}

pub(super) fn take(
    batch: &mut Batch<'_>,
    id: &ApprovalId,
    now: Time,
    version: u64,
    key: Option<&IdempotencyKey>,
) -> Result<Taken, Fault> {
    let Some(mut approval) = find(batch, id)? else {
        return Ok(Taken::No);
    };
    let after = match transition::take(&approval.state, now, version == batch.version()) {
        Taking::No => return Ok(Taken::No),
        Taking::Stale => return Ok(Taken::Stale),
        Taking::Yes(after) => *after,
    };
    if after.status == Status::Approved {
        if let Some(key) = key {
            if records::key_is_taken(batch, key)? {
                return Ok(Taken::KeyTaken);
            }
            records::keep_key(batch, key, &approval.question.trace_id)?;
        }
        if approval.question.door.forwards() {
            // Written at once: a start after a crash does not see from the records who was taken.
            batch.begin_call(Cow::Owned(approval.question.trace_id.clone()));
            batch.write_behind();
        }
    }
    change(batch, &mut approval, after)?;
    Ok(Taken::Yes)
}

pub(super) fn claim(
    batch: &mut Batch<'_>,
    id: &ApprovalId,
    claim: &Claim,
    now: Time,
) -> Result<Claimed, Fault> {
    let Some(mut approval) = find(batch, id)? else {
        return Ok(Claimed::NotFound);
    };
    Ok(match transition::claim(&approval.state, claim, now) {
        Claiming::Lost => Claimed::Lost(Box::new(approval)),
        Claiming::Held(by) => Claimed::Held(by),
        Claiming::Yes(after) => {
            change(batch, &mut approval, *after)?;
            tell(
                batch,
                now,
                &approval,
                Event::ApprovalClaimed,
                Some(claim.by.clone()),
            )?;
            Claimed::Yes(Box::new(approval))
        }
    })
}

pub(super) fn escalate(
    batch: &mut Batch<'_>,
    id: &ApprovalId,
    escalation: &Escalation,
) -> Result<Escalated, Fault> {
    let Some(mut approval) = find(batch, id)? else {
        return Ok(Escalated::NotFound);
    };
    let Some(after) = transition::escalate(&approval.state, escalation) else {
        return Ok(Escalated::Lost(Box::new(approval)));
    };
    change(batch, &mut approval, after)?;
    deliveries::begin(batch, &approval, escalation.at)?;
    let by = Some(escalation.by.clone());
    tell(
        batch,
        escalation.at,
        &approval,
        Event::ApprovalEscalated,
        by,
    )?;
    Ok(Escalated::Yes(Box::new(approval)))
}

pub(super) fn promote(batch: &mut Batch<'_>, id: &ApprovalId, now: Time) -> Result<bool, Fault> {
    let Some(mut approval) = find(batch, id)? else {
        return Ok(false);
    };
    let Some(after) = transition::promote(&approval.state, now) else {
        return Ok(false);
    };
    change(batch, &mut approval, after)?;
    deliveries::begin(batch, &approval, now)?;
    tell(batch, now, &approval, Event::ApprovalEscalated, None)?;
    Ok(true)
}

fn find(batch: &Batch<'_>, id: &ApprovalId) -> Result<Option<Approval>, Fault> {
    batch
        .sql()
        .prepare_cached(&format!(
            "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE id = ?1"
        ))?
        .query_row([id.as_str()], |row| Ok(rows::approval(row)))
        .optional()?
        .transpose()
}

fn find_open(batch: &Batch<'_>, new: &NewApproval, now: Time) -> Result<Option<Approval>, Fault> {
    let mut find = batch.sql().prepare_cached(&format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE digest = ?1 AND answered_at IS NULL \
         ORDER BY place DESC"
    ))?;
    let mut found = find.query([new.question.bound().to_string()])?;
    while let Some(row) = found.next()? {
        let approval = rows::approval(row)?;
        if transition::is_open(&approval.state, now) {
            return Ok(Some(approval));
        }
    }
    Ok(None)
}

/// The request's key stands for this approval.
fn keep_key(batch: &Batch<'_>, new: &NewApproval, approval: &Approval) -> Result<(), Fault> {
    let question = &approval.question;
    match new.key_for(&question.id) {
        Some(key) => records::keep_key(batch, &key, &question.trace_id),
        None => Ok(()),
    }
}

/// How many questions of the same agent and kind wait, up to `most`.
fn pending_of_kind(
    batch: &Batch<'_>,
    new: &NewApproval,
    most: u32,
    now: Time,
) -> Result<u32, Fault> {
    let count = "SELECT count(*) FROM (SELECT 1 FROM approvals WHERE status = 'pending' \
         AND agent = ?1 AND expires_at > ?2 AND (id LIKE 'appr\\_%' ESCAPE '\\') = ?3 LIMIT ?4)";
    let mut count = batch.sql().prepare_cached(count)?;
    let is_request = new.question.id.is_requested();
    let of_agent = params![&*new.question.agent_id, now.millis(), is_request, most];
    Ok(count.query_row(of_agent, |row| row.get(0))?)
}

/// Whether the agent has asked all it may. What waits is recorded, and counted, when it ends.
fn is_spent(batch: &Batch<'_>, new: &NewApproval) -> Result<bool, Fault> {
    let Some(max) = new.max_total else {
        return Ok(false);
    };
    let agent = &*new.question.agent_id;
    let ended = records::total_calls(batch.sql(), agent)? + batch.entered(agent);
    let count = "SELECT count(*) FROM approvals WHERE status = 'pending' AND agent = ?1";
    let mut count = batch.sql().prepare_cached(count)?;
    let waiting: u64 = count.query_row([agent], |row| row.get(0))?;
    Ok(ended + waiting >= max)
}

/// When the same was last denied.
fn denied_before(batch: &Batch<'_>, new: &NewApproval) -> Result<Option<Time>, Fault> {
    let decision = batch
        .sql()
        .prepare_cached(
            "SELECT decision FROM approvals WHERE digest = ?1 AND status = 'denied' \
             ORDER BY place DESC LIMIT 1",
        )?
        .query_row([new.question.bound().to_string()], |row| {
            row.get::<_, Option<String>>(0)
        })
        .optional()?
        .flatten();
    Ok(codec::decided_at(decision.as_deref())?)
}

fn insert(batch: &Batch<'_>, approval: &Approval) -> Result<(), Fault> {
    let (question, state) = (&approval.question, StateColumns::of(&approval.state)?);
    batch.execute(
        "INSERT INTO approvals (id, trace_id, digest, agent, session, tool, created_at, question, \
         status, level, expires_at, supervisor_until, permit_until, answered_at, claim_by, \
         claim_until, decision, escalation, due_at, asked, votes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
         ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
        params![
            question.id.as_str(),
            question.trace_id.as_str(),
            question.bound().to_string(),
            &*question.agent_id,
            question.session_id.as_deref(),
            &*question.tool,
            question.created_at.millis(),
            codec::to_json(question)?,
            state.status,
            state.level,
            state.expires_at,
            state.supervisor_until,
            state.permit_until,
            state.answered_at,
            state.claim_by,
            state.claim_until,
            state.decision,
            state.escalation,
            codec::due_at(&approval.state).millis(),
            state.asked,
            state.votes,
        ],
    )?;
    Ok(())
}

/// Writes `after` over the state the approval was found in.
fn change(batch: &Batch<'_>, approval: &mut Approval, after: State) -> Result<(), Fault> {
    let columns = StateColumns::of(&after)?;
    let changed = batch.execute(
        "UPDATE approvals SET status = ?2, level = ?3, permit_until = ?4, answered_at = ?5, \
         claim_by = ?6, claim_until = ?7, decision = ?8, escalation = ?9, due_at = ?10, \
         asked = ?11, votes = ?12 \
         WHERE id = ?1 AND status = ?13 AND answered_at IS NULL",
        params![
            approval.question.id.as_str(),
            columns.status,
            columns.level,
            columns.permit_until,
            columns.answered_at,
            columns.claim_by,
            columns.claim_until,
            columns.decision,
            columns.escalation,
            codec::due_at(&after).millis(),
            columns.asked,
            columns.votes,
            codec::status_text(approval.state.status),
        ],
    )?;
    if changed != 1 {
        return Err(Garbled::new("an approval", "it changed while it was written").into());
    }
    approval.state = after;
    Ok(())
}

fn tell(
    batch: &mut Batch<'_>,
    at: Time,
    approval: &Approval,
    make: fn(About) -> Event,
    by: Option<String>,
) -> Result<(), Fault> {
    batch.event(at, &approval_event(approval, make, by))
}
