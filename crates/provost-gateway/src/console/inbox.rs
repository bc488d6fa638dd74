//! `/`: what waits for a decision, oldest first.

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use axum::{extract::State, response::Response};
use http::Uri;
use provost_core::{
    approval::{Approval, Level, Question, Status},
    heavy::{self, Lane},
    ids::ApprovalId,
    key::{Key, Role},
    ports::{ApprovalFilter, ApprovalRow, LONGEST_QUESTION, StoreError},
    trace::view::Exposure,
};

use super::{
    banner::{Banner, Next},
    error::{PageError, PageResult},
    fields::Fields,
    page::{Here, Shell, html},
    shown::{Exactly, Shown},
    visitor::Visitor,
};
use crate::{app::App, channels::Prospects, seen::waiting};

/// Shown at once; the rest follows when some are decided.
const MOST: usize = 100;
/// Counted; beyond that it is "many".
const COUNTED: usize = 1000;

#[derive(Template)]
#[template(path = "console/inbox.html")]
struct InboxPage {
    shell: Shell,
    list: List,
    banner: Option<Banner>,
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
        banner: Banner::of(&app, &visitor, &query, None).await?,
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
    let (mut items, mut next) = (Vec::new(), filter.clone());
    let mut more = true;
    while more && next.limit > 0 {
        let page = app.gate.store().approvals(&next, now).await?;
        let length = |row: &ApprovalRow<'_>| row.question.len();
        let shown = |row: ApprovalRow<'_>| shown(app, visitor, exposure, row);
        let shown = heavy::each(Lane::Deciders, page.rows(), length, shown).await;
        for (approval, mut item) in shown.into_iter().flatten() {
            // One read for each: there are few that need several people.
            if item.needed > 1 {
                let prospects = Prospects::of(&**app.gate.store(), &approval, now).await?;
                item.waits_for(&prospects.waiting, now);
            }
            items.push(item);
        }
        next.limit -= page.len().min(next.limit);
        next.after = page.next_after();
        more = next.after.is_some();
    }
    chain(&mut items);
    let hides = visitor.is_person() && items.iter().any(|item| item.hidden);
    Ok(List {
        now: now.millis(),
        more,
        filtered: filter.agent.is_some() || filter.tool.is_some(),
        full: hides.then(|| query.address("/", &[("content", Some("full")), ("done", None)])),
        content: query.shown("content"),
        items,
    })
}

/// A long one is shown in part.
fn shown(
    app: &App,
    visitor: &Visitor,
    exposure: Exposure,
    row: ApprovalRow<'_>,
) -> Option<(Approval, Shown)> {
    let is_part = row.question.len() > LONGEST_QUESTION;
    let question = if is_part {
        Question::cut(row.question, LONGEST_QUESTION, exposure)?
    } else {
        serde_json::from_slice(row.question).ok()?
    };
    let approval = Approval {
        question,
        state: row.state.clone(),
    };
    let item = if is_part {
        Shown::in_part(app, &approval, visitor)
    } else {
        Shown::in_list(app, &approval, visitor, exposure)
    };
    Some((approval, item))
}

/// Each leads to the one after it, and the last one to the one before.
fn chain(items: &mut [Shown]) {
    let ids: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
    for (at, item) in items.iter_mut().enumerate() {
        let before = || ids.get(at.checked_sub(1)?);
        item.next = ids.get(at + 1).or_else(before).cloned();
    }
}

/// The oldest that waits for those who hold this key, except that one.
pub(super) async fn first_besides(
    app: &App,
    key: &Key,
    besides: &ApprovalId,
) -> Result<Option<Next>, StoreError> {
    let filter = ApprovalFilter {
        limit: 2,
        ..pending(key)
    };
    let page = app.gate.store().approvals(&filter, app.gate.now()).await?;
    let questions = page
        .rows()
        .filter_map(|row| serde_json::from_slice::<Question>(row.question).ok());
    let mut others = questions.filter(|question| question.id != *besides);
    Ok(others.next().map(|question| Next {
        id: question.id.to_string(),
        tool: question.tool.to_string(),
        agent: question.agent_id.to_string(),
    }))
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
    let mut counts = HashMap::new();
    for asked in waiting(&app.gate, filter).await? {
        *counts.entry(asked.agent_id).or_default() += 1;
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
    Ok(waiting(&app.gate, filter).await?.len())
}
