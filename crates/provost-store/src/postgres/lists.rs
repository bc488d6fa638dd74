//! Reading approvals and events.

use std::collections::HashSet;

use deadpool_postgres::ClientWrapper;
use provost_core::{
    approval::Approval,
    call::Digest,
    event::Numbered,
    ids::ApprovalId,
    ports::{ApprovalFilter, ApprovalPage, PAGE_BYTES, QueueDepth},
    time::Time,
};

use super::{
    fault::Fault,
    rows::{self, parameters},
};
use crate::{
    codec::{self, APPROVAL_COLUMNS},
    filter::{self, Dialect, Value},
    transition,
};

const MIN_PREFIX: usize = 4;
/// Rows asked for at once when globs are matched here, beyond those the page still needs.
const CHUNK: usize = 200;

pub(super) async fn approval(sql: &ClientWrapper, id: &str) -> Result<Option<Approval>, Fault> {
    let exact = format!("SELECT {APPROVAL_COLUMNS} FROM approvals WHERE id = $1");
    let exact = sql.prepare_cached(&exact).await?;
    let exact = sql.query_opt(&exact, &[&id]).await?;
    if let Some(row) = exact {
        return Ok(Some(rows::approval(&row)?));
    }
    let Some(end) = filter::end_of_prefix(id).filter(|_| id.len() >= MIN_PREFIX) else {
        return Ok(None);
    };
    let find =
        format!("SELECT {APPROVAL_COLUMNS} FROM approvals WHERE id >= $1 AND id < $2 LIMIT 2");
    let find = sql.prepare_cached(&find).await?;
    match &*sql.query(&find, &[&id, &end]).await? {
        [only] => Ok(Some(rows::approval(only)?)),
        _ => Ok(None),
    }
}

pub(super) async fn untaken(
    sql: &ClientWrapper,
    digest: Digest,
    now: Time,
) -> Result<Option<Approval>, Fault> {
    let find = format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE digest = $1 AND answered_at IS NULL \
         AND status = 'approved' ORDER BY place"
    );
    let find = sql.prepare_cached(&find).await?;
    for row in sql.query(&find, &[&digest.to_string()]).await? {
        let approval = rows::approval(&row)?;
        if transition::is_open(&approval.state, now) {
            return Ok(Some(approval));
        }
    }
    Ok(None)
}

/// Those that are no longer there are settled too: a pending approval is never removed.
pub(super) async fn settled(
    sql: &ClientWrapper,
    ids: &[ApprovalId],
    now: Time,
) -> Result<Vec<ApprovalId>, Fault> {
    let find = sql
        .prepare_cached(
            "SELECT id FROM approvals WHERE id = ANY($1) AND status = 'pending' AND expires_at > $2",
        )
        .await?;
    let texts: Vec<&str> = ids.iter().map(ApprovalId::as_str).collect();
    let found = sql.query(&find, &[&texts, &now.millis()]).await?;
    let pending: HashSet<&str> = found
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    Ok(ids
        .iter()
        .filter(|id| !pending.contains(id.as_str()))
        .cloned()
        .collect())
}

pub(super) async fn approvals(
    sql: &ClientWrapper,
    filter: &ApprovalFilter,
    now: Time,
) -> Result<ApprovalPage, Fault> {
    let mut page = ApprovalPage::with_room(filter.limit);
    let mut after = i64::try_from(filter.after.unwrap_or(0)).unwrap_or(i64::MAX);
    while !page.is_full() {
        let (mut conditions, tools) = filter::approvals(Dialect::Postgres, filter, now);
        conditions.and("place > @", [Value::Int(after)]);
        let wanted = filter.limit - page.len() + CHUNK;
        let list = format!(
            "SELECT place, tool, {APPROVAL_COLUMNS} FROM approvals WHERE {} \
             ORDER BY place LIMIT {wanted}",
            conditions.sql()
        );
        let list = rows::of_one_page(&list, "question", "place", PAGE_BYTES);
        // Not cached: the number of different filters is not bounded.
        let found = sql.query(&list, &parameters(conditions.values())).await?;
        let mut bytes = 0;
        for row in &found {
            after = row.try_get(0)?;
            let question: &str = row.try_get(2)?;
            bytes += question.len();
            if !page.is_full() && tools.matches(row.try_get(1)?) {
                let place = rows::unsigned(row, 0)?;
                page.push(place, question.as_bytes(), rows::state(row, 3)?);
            }
        }
        if found.len() < wanted && bytes < PAGE_BYTES {
            break;
        }
    }
    Ok(page)
}

pub(super) async fn overdue(
    sql: &ClientWrapper,
    now: Time,
    limit: usize,
) -> Result<Vec<Approval>, Fault> {
    let list = format!(
        "SELECT {APPROVAL_COLUMNS}, due_at FROM approvals WHERE status = 'pending' \
         AND due_at <= $1 ORDER BY due_at LIMIT $2"
    );
    let list = rows::of_one_page(&list, "question", "due_at", PAGE_BYTES);
    let list = sql.prepare_cached(&list).await?;
    sql.query(&list, &[&now.millis(), &(limit as i64)])
        .await?
        .iter()
        .map(rows::approval)
        .collect()
}

/// Both come from the index by status, which holds its rows in the order they were made.
pub(super) async fn queue_depth(sql: &ClientWrapper) -> Result<QueueDepth, Fault> {
    let depth = sql
        .prepare_cached(
            "SELECT (SELECT count(*) FROM approvals WHERE status = 'pending'), \
             (SELECT created_at FROM approvals WHERE status = 'pending' ORDER BY place LIMIT 1)",
        )
        .await?;
    let row = sql.query_one(&depth, &[]).await?;
    let oldest: Option<i64> = row.try_get(1)?;
    Ok(QueueDepth {
        pending: rows::unsigned(&row, 0)?,
        oldest: oldest.map(Time::from_millis),
    })
}

pub(super) async fn events(
    sql: &ClientWrapper,
    after: u64,
    limit: usize,
) -> Result<Vec<Numbered>, Fault> {
    let list = "SELECT id, at, body FROM events WHERE id > $1 ORDER BY id LIMIT $2";
    let list = sql.prepare_cached(list).await?;
    let found = sql
        .query(&list, &[&(after as i64), &(limit as i64)])
        .await?;
    let event = |row: &tokio_postgres::Row| {
        Ok(Numbered {
            id: rows::unsigned(row, 0)?,
            at: rows::time(row, 1)?,
            event: codec::from_json("an event", row.try_get(2)?)?,
        })
    };
    found.iter().map(event).collect()
}

pub(super) async fn last_event(sql: &ClientWrapper) -> Result<u64, Fault> {
    let find = sql.prepare_cached("SELECT last FROM event_counter").await?;
    rows::unsigned(&sql.query_one(&find, &[]).await?, 0)
}
