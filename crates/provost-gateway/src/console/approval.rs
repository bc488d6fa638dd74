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
    people::Fallback,
    ports::{StoreError, TraceFilter},
    trace::view::Exposure,
};

use super::{
    decide,
    error::{PageError, PageResult},
    fields::Fields,
    grants::GrantRow,
    page::{Here, Shell, html},
    record::{Row, scope},
    shown::{Exactly, Shown},
    visitor::Visitor,
};
use crate::{app::App, channels::fallback};

const RECENT: usize = 10;

#[derive(Template)]
#[template(path = "console/approval.html")]
struct ApprovalPage {
    shell: Shell,
    item: Shown,
    said: Option<String>,
    content: String,
    /// Where it is shown with its content, where that is left out.
    full: Option<String>,
    /// What the session, or else the agent, did lately.
    recent: Vec<Row>,
    grants: Vec<GrantRow>,
    door: String,
    /// What comes of it if nobody decides.
    silence: Option<&'static str>,
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
    let exposure = visitor.exposure(&app, &query);
    let found = app.gate.store().approval(&id).await?;
    let approval = found.ok_or_else(PageError::not_found)?;
    if !visitor.key.may_see(&approval.question.tool) {
        return Err(PageError::forbidden(
            "The tools of your key do not include the tool of this approval.",
        ));
    }
    let item = Shown::new(&approval, &visitor, exposure, app.gate.now());
    let hides = item.hidden && visitor.is_person();
    let page = ApprovalPage {
        recent: recent(&app, &visitor, &approval, exposure).await?,
        grants: GrantRow::all(&app, |grant| {
            grant.agent.matches(&approval.question.agent_id)
                && super::grants::seen_by(&visitor.key, grant)
        }),
        said: decide::said(&query),
        content: query.shown("content"),
        full: hides.then(|| query.address(uri.path(), &[("content", Some("full"))])),
        door: word(&approval.question.door),
        silence: silence(&app, &approval).await?,
        shell: Shell::new(&app, &visitor, Here::Inbox).await?,
        item,
    };
    Ok(html(&page))
}

fn word(door: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(door).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

async fn silence(app: &App, approval: &Approval) -> Result<Option<&'static str>, StoreError> {
    if approval.state.status != Status::Pending {
        return Ok(None);
    }
    let fallback = fallback(&**app.gate.store(), approval).await?;
    Ok(fallback.map(Fallback::words))
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
    let rows = entries.iter().map(|entry| Row::new(entry, exposure, now));
    Ok(rows.collect())
}
