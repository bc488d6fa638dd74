//! `GET /approvals`: the queue, oldest first, filtered, paged, and awaited.

use std::{sync::Arc, time::Duration};

use axum::{extract::State, response::IntoResponse as _};
use http::{HeaderValue, header};
use provost_core::{
    approval::{Level, Status},
    key::{Key, Role},
    ports::{ApprovalFilter, WriteRow, WrittenPage},
};
use tokio::sync::broadcast::error::RecvError;

use super::view::{exposure, row_writer};
use crate::{
    app::App,
    doors::http::{caller::Reviewer, error::ApiResult, input::Params},
};

const LONGEST_WAIT: Duration = Duration::from_mins(2);
const MOST: usize = 1000;

pub(super) const STATUSES: [(&str, Status); 4] = [
    ("pending", Status::Pending),
    ("approved", Status::Approved),
    ("denied", Status::Denied),
    ("expired", Status::Expired),
];
const LEVELS: [(&str, Level); 2] = [("supervisor", Level::Supervisor), ("human", Level::Human)];

pub(in crate::doors::http) async fn list(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    params: Params,
) -> ApiResult {
    let params = params.known(&[
        "status", "tool", "level", "agent", "session", "since", "after", "limit", "wait", "content",
    ])?;
    let patience = params
        .duration("wait")?
        .unwrap_or_default()
        .min(LONGEST_WAIT);
    let queue = queue(&app, &key, &params, patience).await?;
    let mut response = ([(header::CONTENT_TYPE, "application/json")], queue.body).into_response();
    if let Some(after) = queue.next_after {
        let headers = response.headers_mut();
        headers.insert("x-next-after", HeaderValue::from(after));
    }
    Ok(response)
}

/// A page of the queue as JSON, and where the next one begins.
pub(in crate::doors::http) struct Queue {
    pub(in crate::doors::http) body: Vec<u8>,
    pub(in crate::doors::http) next_after: Option<u64>,
}

pub(in crate::doors::http) async fn queue(
    app: &App,
    key: &Key,
    params: &Params,
    patience: Duration,
) -> ApiResult<Queue> {
    let exposure = exposure(app, key, params)?;
    let filter = filter(key, params)?;
    let page = await_rows(app, &filter, row_writer(exposure), patience).await?;
    Ok(Queue {
        next_after: page.next_after(),
        body: page.into_json(),
    })
}

fn filter(key: &Key, params: &Params) -> ApiResult<ApprovalFilter> {
    let supervisor = key.role == Role::Supervisor;
    Ok(ApprovalFilter {
        status: params.one_of("status", &STATUSES)?,
        tool: params.glob("tool")?,
        tools: if supervisor {
            key.tools.clone()
        } else {
            Vec::new()
        },
        // A supervisor's queue is what is for supervisors.
        level: if supervisor {
            Some(Level::Supervisor)
        } else {
            params.one_of("level", &LEVELS)?
        },
        agent: params.text("agent"),
        session: params.text("session"),
        since: params.time("since")?,
        after: params.number("after")?,
        limit: params.limit(MOST, MOST)?,
    })
}

/// The rows there are; when there are none, those that come while the caller waits.
async fn await_rows(
    app: &App,
    filter: &ApprovalFilter,
    write: WriteRow,
    patience: Duration,
) -> ApiResult<WrittenPage> {
    let mut feed = app.feed.subscribe();
    let deadline = tokio::time::Instant::now() + patience;
    let store = app.gate.store();
    loop {
        let page = store
            .written_approvals(filter, app.gate.now(), write)
            .await?;
        if !page.is_empty() || tokio::time::Instant::now() >= deadline {
            return Ok(page);
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline) => {}
            () = app.stopping() => return Ok(page),
            event = feed.recv() => if matches!(event, Err(RecvError::Closed)) { return Ok(page) },
        }
    }
}
