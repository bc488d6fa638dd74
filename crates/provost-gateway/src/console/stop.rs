//! `/console/stop`: the switch for everything, agents or one session.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Redirect},
};
use http::Uri;
use provost_core::{
    call::is_name,
    control::{Scope, Stop},
    time::Time,
};

use super::{
    error::{PageError, PageResult},
    fields::Fields,
    moment::Moment,
    page::{Here, Shell, html},
    visitor::{Posted, Visitor},
};
use crate::{app::App, seen};

#[derive(Template)]
#[template(path = "console/stop.html")]
struct StopPage {
    shell: Shell,
    stops: Vec<StopRow>,
    said: Option<String>,
    /// Filled in by the page that led here.
    agent: String,
    session: String,
}

struct StopRow {
    scope: String,
    by: String,
    why: Option<String>,
    at: Moment,
}

impl StopRow {
    fn new(stop: &Stop, now: Time) -> Self {
        Self {
            scope: stop.scope.to_string(),
            by: stop.by.clone(),
            why: stop.reasoning.clone(),
            at: Moment::new(stop.at, now),
        }
    }
}

pub(super) async fn page(State(app): State<Arc<App>>, visitor: Visitor, uri: Uri) -> PageResult {
    visitor.person()?;
    let query = Fields::of_query(&uri);
    let now = app.gate.now();
    let stops = &app.gate.control().stops;
    let page = StopPage {
        stops: stops.iter().map(|stop| StopRow::new(stop, now)).collect(),
        said: said(&query),
        agent: query.shown("agent"),
        session: query.shown("session"),
        shell: Shell::new(&app, &visitor, Here::Stop).await?,
    };
    Ok(html(&page))
}

fn said(query: &Fields) -> Option<String> {
    match query.text("done")? {
        "stopped" => {
            let denied = query.number("denied").unwrap_or_default();
            let unseen = match query.text("unseen") {
                Some(_) => " No agent in it was seen so far: check the name.",
                None => "",
            };
            Some(format!("Stopped. {}.{unseen}", denied_in_words(denied)))
        }
        "resumed" => Some("Resumed.".to_owned()),
        _ => None,
    }
}

fn denied_in_words(denied: u64) -> String {
    match denied {
        1 => "1 pending approval was denied".to_owned(),
        _ => format!("{denied} pending approvals were denied"),
    }
}

pub(super) async fn stop(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    visitor.admin()?;
    let scope = scope(&fields)?;
    let reasoning = fields.text("reasoning").map(str::to_owned);
    let by = visitor.key.identity();
    let denied = app.gate.stop(scope.clone(), &by, reasoning).await?;
    let agents = seen::agents_in(&app.gate, &scope).await?;
    let unseen = agents.is_some_and(|agents| agents.is_empty());
    let unseen = if unseen { "&unseen=1" } else { "" };
    let to = format!("/console/stop?done=stopped&denied={denied}{unseen}");
    Ok(Redirect::to(&to).into_response())
}

pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    visitor.admin()?;
    let named = fields.text("scope").unwrap_or_default();
    let scope: Scope = named
        .parse()
        .map_err(|()| PageError::bad("What should be resumed is not said."))?;
    // Somebody else may have resumed it: then it is what was wanted.
    app.gate.resume(&scope, &visitor.key.identity()).await?;
    Ok(Redirect::to("/console/stop?done=resumed").into_response())
}

fn scope(fields: &Fields) -> Result<Scope, PageError> {
    let named = |field: &str, what: &str| {
        fields
            .text(field)
            .filter(|name| is_name(name))
            .map(Arc::<str>::from)
            .ok_or_else(|| PageError::bad(format!("Nothing was stopped: say which {what}.")))
    };
    match fields.text("scope") {
        Some("everything") => Ok(Scope::Everything),
        Some("agent") => named("agent", "agent").map(|name| Scope::Agent(name.into())),
        Some("session") => named("session", "session").map(Scope::Session),
        _ => Err(PageError::bad("Nothing was stopped: say what.")),
    }
}
