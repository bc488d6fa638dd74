//! `/`: what waits for a decision, oldest first.

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use axum::{extract::State, response::Response};
use http::Uri;
use provost_core::{
    approval::{Level, Question, Status},
    key::{Key, Role},
    ports::{ApprovalFilter, StoreError},
};

use super::{
    decide,
    error::{PageError, PageResult},
    fields::Fields,
    page::{Here, Shell, html},
    shown::{Exactly, Shown},
    visitor::Visitor,
};
use crate::app::App;

/// Shown at once; the rest follows when some are decided.
const MOST: usize = 100;
/// Counted; beyond that it is "many".
const COUNTED: usize = 1000;

#[derive(Template)]
#[template(path = "console/inbox.html")]
struct InboxPage {
    shell: Shell,
    list: List,
    /// What was just done, in words.
    said: Option<String>,
    agent: String,
    tool: String,
}

#[derive(Template)]
#[template(path = "console/inbox_list.html")]
struct ListPage {
    shell: Shell,
    list: List,
}

struct List {
    items: Vec<Shown>,
    /// For the script: the clock of a browser may be wrong.
    now: i64,
    more: bool,
    filtered: bool,
    /// Where the same list is shown with its content, where that is left out.
    full: Option<String>,
    /// Kept from page to page.
    content: String,
}

pub(super) async fn page(State(app): State<Arc<App>>, visitor: Visitor, uri: Uri) -> PageResult {
    let query = Fields::of_query(&uri);
    let page = InboxPage {
        list: list(&app, &visitor, &query).await?,
        said: decide::said(&query),
        agent: query.shown("agent"),
        tool: query.shown("tool"),
        shell: Shell::new(&app, &visitor, Here::Inbox).await?,
    };
    Ok(html(&page))
}

/// The list alone, for the script.
pub(super) async fn fragment(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    uri: Uri,
) -> Result<Response, PageError> {
    let query = Fields::of_query(&uri);
    let page = ListPage {
        list: list(&app, &visitor, &query).await?,
        shell: Shell::new(&app, &visitor, Here::Inbox).await?,
    };
    Ok(html(&page))
}

async fn list(app: &App, visitor: &Visitor, query: &Fields) -> Result<List, PageError> {
    let exposure = visitor.exposure(app, query);
    let filter = ApprovalFilter {
        agent: query.text("agent").map(str::to_owned),
        tool: query.glob("tool")?,
        limit: MOST,
        ..pending(&visitor.key)
    };
    let now = app.gate.now();
    let page = app.gate.store().approvals(&filter, now).await?;
    let items: Vec<_> = page
        .rows()
        .filter_map(|row| Shown::of_row(row, visitor, exposure, now))
        .collect();
    let hides = visitor.is_person() && items.iter().any(|item| item.hidden);
    Ok(List {
        now: now.millis(),
        more: page.len() == MOST,
        filtered: filter.agent.is_some() || filter.tool.is_some(),
        full: hides.then(|| query.address("/", &[("content", Some("full")), ("done", None)])),
        content: query.shown("content"),
        items,
    })
}

/// What waits for those who hold this key: a supervisor's queue is what is for supervisors.
fn pending(key: &Key) -> ApprovalFilter {
    let supervisor = key.role == Role::Supervisor;
    ApprovalFilter {
        status: Some(Status::Pending),
        tools: if supervisor {
            key.tools.clone()
        } else {
            Vec::new()
        },
        level: supervisor.then_some(Level::Supervisor),
        ..ApprovalFilter::default()
    }
}

/// How much of each agent waits.
pub(super) async fn pending_by_agent(
    app: &App,
    key: &Key,
) -> Result<HashMap<Arc<str>, usize>, StoreError> {
    let filter = ApprovalFilter {
        limit: COUNTED,
        ..pending(key)
    };
    let page = app.gate.store().approvals(&filter, app.gate.now()).await?;
    let mut counts = HashMap::new();
    for row in page.rows() {
        if let Ok(question) = serde_json::from_slice::<Question>(row.question) {
            *counts.entry(question.agent_id).or_default() += 1;
        }
    }
    Ok(counts)
}

pub(super) async fn count(app: &App, key: &Key) -> Result<usize, StoreError> {
    if key.role != Role::Supervisor {
        let depth = app.gate.store().queue_depth().await?;
        return Ok(usize::try_from(depth.pending).unwrap_or(usize::MAX));
    }
    let filter = ApprovalFilter {
        limit: COUNTED,
        ..pending(key)
    };
    let page = app.gate.store().approvals(&filter, app.gate.now()).await?;
    Ok(page.len())
}
