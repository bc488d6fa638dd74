//! `/console/traces`: the record, filtered and searched, newest first.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
};
use http::Uri;
use provost_core::{
    heavy::{self, Lane},
    ids::TraceId,
    ports::{PAGE_BYTES, TraceEntry, TraceFilter},
    trace::{
        Answer,
        view::{Exposure, trace_view},
    },
};

use super::{
    error::{PageError, PageResult},
    fields::Fields,
    page::{Here, Shell, html},
    record::{Row, scope, verdict},
    visitor::Visitor,
};
use crate::app::App;

const PAGE: usize = 50;
/// Read at a time while searching, and in all.
const SEARCH_STEP: usize = 500;
const SEARCHED: usize = 5000;
const SEARCHED_BYTES: usize = 4 * PAGE_BYTES;

#[derive(Template)]
#[template(path = "console/traces.html")]
struct TracesPage {
    shell: Shell,
    rows: Vec<Row>,
    form: Form,
    older: Option<String>,
    newest: Option<String>,
    full: Option<String>,
    /// A search that did not read everything.
    partly: bool,
}

/// The filter as it was filled in.
struct Form {
    q: String,
    agent: String,
    tool: String,
    session: String,
    verdicts: Vec<(&'static str, String, bool)>,
    since: String,
    until: String,
    content: String,
    filtered: bool,
}

struct Found {
    rows: Vec<Row>,
    next: Option<u64>,
    partly: bool,
}

pub(super) async fn page(State(app): State<Arc<App>>, visitor: Visitor, uri: Uri) -> PageResult {
    let query = Fields::of_query(&uri);
    if let Some(elsewhere) = by_id(&app, &query).await? {
        return Ok(elsewhere);
    }
    let exposure = visitor.exposure(&app, &query);
    let filter = filter(&visitor, &query)?;
    let found = match query.text("q") {
        Some(words) => search(&app, filter, &words.to_lowercase(), exposure).await?,
        None => list(&app, filter, exposure).await?,
    };
    let path = uri.path();
    let next = found.next.map(|place| place.to_string());
    let hides = exposure == Exposure::Structure && visitor.is_person();
    let page = TracesPage {
        older: next.map(|place| query.address(path, &[("before", Some(&place))])),
        newest: query
            .text("before")
            .map(|_| query.address(path, &[("before", None)])),
        full: hides.then(|| query.address(path, &[("content", Some("full"))])),
        rows: found.rows,
        partly: found.partly,
        form: Form::new(&query),
        shell: Shell::new(&app, &visitor, Here::Traces).await?,
    };
    Ok(html(&page))
}

/// The page of whatever has that id.
async fn by_id(app: &App, query: &Fields) -> Result<Option<Response>, PageError> {
    let Some(id) = query.text("q") else {
        return Ok(None);
    };
    let store = app.gate.store();
    if TraceId::parse(id).is_some() && store.trace(&id.to_lowercase()).await?.is_some() {
        let to = format!("/console/trace/{}", id.to_lowercase());
        return Ok(Some(Redirect::to(&to).into_response()));
    }
    let is_approval =
        id.starts_with("appr_") || (id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    if is_approval && let Some(approval) = store.approval(id).await? {
        let to = format!("/console/approval/{}", approval.question.id);
        return Ok(Some(Redirect::to(&to).into_response()));
    }
    Ok(None)
}

fn filter(visitor: &Visitor, query: &Fields) -> Result<TraceFilter, PageError> {
    let verdict = query.text("verdict").and_then(Answer::parse);
    Ok(TraceFilter {
        agent: query.text("agent").map(str::to_owned),
        tool: query.glob("tool")?,
        tools: scope(&visitor.key),
        session: query.text("session").map(str::to_owned),
        verdict: verdict.map(|answer| answer.as_str().to_owned()),
        since: query.time("since")?,
        until: query.time("until")?,
        before: query.number("before"),
        limit: PAGE,
    })
}

async fn list(app: &App, filter: TraceFilter, exposure: Exposure) -> Result<Found, PageError> {
    let now = app.gate.now();
    let entries = app.gate.store().traces(&filter).await?;
    Ok(Found {
        rows: Row::of_page(&entries, exposure, now).await,
        next: entries.next_before,
        partly: false,
    })
}

/// Looks through what the reader would see, newest first.
async fn search(
    app: &App,
    filter: TraceFilter,
    words: &str,
    exposure: Exposure,
) -> Result<Found, PageError> {
    let now = app.gate.now();
    let mut filter = TraceFilter {
        limit: SEARCH_STEP,
        ..filter
    };
    let (mut rows, mut read, mut bytes) = (Vec::new(), 0, 0);
    loop {
        let entries = app.gate.store().traces(&filter).await?;
        for entry in entries.iter() {
            filter.before = Some(entry.place);
            let view = || {
                let view = trace_view(entry, exposure);
                let text = serde_json::to_string(&view).unwrap_or_default();
                (view, text)
            };
            let (view, text) = heavy::run(Lane::Deciders, entry.bytes(), view).await;
            if text.to_lowercase().contains(words) {
                rows.push(Row::of_view(&view, now));
            }
            if rows.len() == PAGE {
                let next = filter.before;
                return Ok(Found {
                    rows,
                    next,
                    partly: false,
                });
            }
        }
        read += entries.len();
        bytes += entries.iter().map(TraceEntry::bytes).sum::<usize>();
        if entries.next_before.is_none() {
            return Ok(Found {
                rows,
                next: None,
                partly: false,
            });
        }
        if read >= SEARCHED || bytes >= SEARCHED_BYTES {
            let next = filter.before;
            return Ok(Found {
                rows,
                next,
                partly: true,
            });
        }
    }
}

impl Form {
    fn new(query: &Fields) -> Self {
        let chosen = query.text("verdict");
        let verdicts = Answer::ALL.map(|answer| {
            let value = answer.as_str();
            (value, verdict(value).text, chosen == Some(value))
        });
        let names = ["agent", "tool", "session", "verdict", "since", "until"];
        Self {
            q: query.shown("q"),
            agent: query.shown("agent"),
            tool: query.shown("tool"),
            session: query.shown("session"),
            verdicts: verdicts.to_vec(),
            since: query.shown("since"),
            until: query.shown("until"),
            content: query.shown("content"),
            filtered: names.iter().any(|name| query.text(name).is_some()),
        }
    }
}
