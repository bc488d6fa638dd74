//! `/console/approval/{id}`: one approval with its context.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Redirect},
};
use http::Uri;
use provost_core::{
    approval::{Approval, Status},
    heavy::{self, Lane},
    people::Fallback,
    ports::{StoreError, TraceFilter},
    trace::view::Exposure,
};

use super::{
    banner::{Banner, Next},
    confirm,
    error::{PageError, PageResult},
    fields::Fields,
    grants::GrantRow,
    inbox,
    page::{Here, Shell, html},
    record::{Row, scope},
    shown::{Exactly, Shown},
    visitor::Visitor,
    whole::{Shape, WholeShown},
};
use crate::{app::App, channels::Prospects};

const RECENT: usize = 10;

#[derive(Template)]
#[template(path = "console/approval.html")]
struct ApprovalPage {
    shell: Shell,
    item: Shown,
    banner: Option<Banner>,
    content: String,
    /// All of the act, where it was asked for.
    whole: Option<WholeShown>,
    /// Says in the form that all of it was shown.
    seen: Option<String>,
    /// What was typed and could not be taken.
    draft: Draft,
    /// Where it is shown with its content, where that is left out.
    full: Option<String>,
    /// What the session, or else the agent, did lately.
    recent: Vec<Row>,
    grants: Vec<GrantRow>,
    door: String,
    /// What comes of it if nobody decides.
    silence: Option<&'static str>,
}

/// A form that comes back with what was typed, and with what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) arguments: Option<String>,
    pub(super) replacement: Option<String>,
    pub(super) note: String,
    pub(super) wrong: Option<String>,
}

/// `/a/{id}`: where the link of a mail leads. It shows the question to whoever is signed in, and decides nothing:
/// who forwards a mail forwards its link.
pub(super) async fn from_mail(
    State(app): State<Arc<App>>,
    _: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let delivery = app.gate.store().delivery(&id.into()).await?;
    let delivery = delivery.ok_or_else(PageError::not_found)?;
    let path = format!("/console/approval/{}", delivery.approval_id);
    Ok(Redirect::to(&path).into_response())
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    uri: Uri,
) -> PageResult {
    let query = Fields::of_query(&uri);
    show(&app, &visitor, &id, &query, Draft::default()).await
}

/// The approval, where there is one and the visitor may see it.
pub(super) async fn found(app: &App, visitor: &Visitor, id: &str) -> Result<Approval, PageError> {
    let found = app.gate.store().approval(id).await?;
    let approval = found.ok_or_else(PageError::not_found)?;
    if visitor.key.may_see(&approval.question.tool) {
        return Ok(approval);
    }
    Err(PageError::forbidden(
        "The tools of your key do not include the tool of this approval.",
    ))
}

pub(super) async fn show(
    app: &App,
    visitor: &Visitor,
    id: &str,
    query: &Fields,
    draft: Draft,
) -> PageResult {
    let approval = found(app, visitor, id).await?;
    let (exposure, now) = (visitor.exposure(app, query), app.gate.now());
    let question = &approval.question;
    let made = || {
        let whole = query.text("whole");
        let whole = whole.map(|_| WholeShown::new(question, exposure, query));
        (Shown::new(app, &approval, visitor, exposure), whole)
    };
    let (mut item, whole) = heavy::run(Lane::Deciders, question.bytes(), made).await;
    let prospects = match approval.state.status_at(now) {
        Status::Pending => Some(Prospects::of(&**app.gate.store(), &approval, now).await?),
        _ => None,
    };
    if let Some(prospects) = &prospects {
        item.waits_for(&prospects.waiting, now);
    }
    let read = whole
        .as_ref()
        .map_or(item.is_complete(), WholeShown::is_last);
    let seen = read && exposure == Exposure::Everything;
    let hides = item.hidden && visitor.is_person();
    let path = format!("/console/approval/{}", approval.question.id);
    let full = [("content", Some("full")), ("done", None), ("of", None)];
    let page = ApprovalPage {
        recent: recent(app, visitor, &approval, exposure).await?,
        grants: GrantRow::all(app, visitor, |grant| {
            grant.agent.matches(&approval.question.agent_id)
                && super::grants::seen_by(&visitor.key, grant)
        }),
        banner: Banner::of(app, visitor, query, next(app, visitor, &approval).await?).await?,
        content: query.shown("content"),
        full: hides.then(|| query.address(&path, &full)),
        whole,
        seen: seen.then(|| confirm::seen_mark(visitor, &approval)),
        door: word(&approval.question.door),
        silence: prospects
            .and_then(|prospects| prospects.fallback)
            .map(Fallback::words),
        shell: Shell::new(app, visitor, Here::Inbox).await?,
        item,
        draft,
    };
    Ok(html(&page))
}

/// What waits besides this one.
async fn next(
    app: &App,
    visitor: &Visitor,
    approval: &Approval,
) -> Result<Option<Next>, StoreError> {
    if approval.state.status == Status::Pending && !visitor.decider().has_approved(approval) {
        return Ok(None);
    }
    inbox::first_besides(app, &visitor.key, &approval.question.id).await
}

fn word(door: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(door).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

async fn recent(
    app: &App,
    visitor: &Visitor,
    approval: &Approval,
    exposure: Exposure,
) -> Result<Vec<Row>, StoreError> {
    let question = &approval.question;
    let filter = TraceFilter {
        agent: Some(question.agent_id.to_string()),
        session: question.session_id.as_deref().map(str::to_owned),
        tools: scope(&visitor.key),
        limit: RECENT,
        ..TraceFilter::default()
    };
    let now = app.gate.now();
    let entries = app.gate.store().traces(&filter).await?;
    Ok(Row::of_page(&entries, exposure, now).await)
}
