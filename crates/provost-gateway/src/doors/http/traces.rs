//! `/traces` and `/sessions`: the record, for those who may look.

use std::sync::Arc;

use axum::{Json, body::Body as Bytes, extract::State, response::IntoResponse as _};
use futures_util::stream;
use http::{HeaderValue, header};
use provost_core::{
    heavy::{self, Lane},
    key::{Key, Role},
    ports::{PAGE_BYTES, TraceEntry, TraceFilter, TracePage},
    trace::{
        Answer,
        export::Exporter,
        verify::verify,
        view::{Exposure, trace_view},
    },
};
use serde_json::{Value, json};

use super::{
    approvals::exposure,
    caller::{Person, Reviewer},
    error::{ApiError, ApiResult},
    input::{Params, Segment},
};
use crate::app::App;

const USUAL: usize = 100;
const MOST: usize = 1000;

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    params: Params,
) -> ApiResult {
    let params = params.known(&[
        "agent", "tool", "session", "verdict", "since", "until", "before", "limit", "content",
    ])?;
    let exposure = exposure(&app, &key, &params)?;
    let filter = TraceFilter {
        agent: params.text("agent"),
        tool: params.glob("tool")?,
        tools: scope(&key),
        session: params.text("session"),
        verdict: params
            .one_of(
                "verdict",
                &Answer::ALL.map(|answer| (answer.as_str(), answer)),
            )?
            .map(|answer| answer.as_str().to_owned()),
        since: params.time("since")?,
        until: params.time("until")?,
        before: params.number("before")?,
        limit: params.limit(USUAL, MOST)?,
    };
    page(&app, &filter, exposure).await
}

async fn page(app: &App, filter: &TraceFilter, exposure: Exposure) -> ApiResult {
    let found = app.gate.store().traces(filter).await?;
    // Writing to memory cannot fail.
    let view =
        |entry: &TraceEntry| serde_json::to_vec(&trace_view(entry, exposure)).unwrap_or_default();
    let views = heavy::each(Lane::Deciders, found.iter(), |entry| entry.bytes(), view);
    let written = written(&found, &views.await);
    let json = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (json, written.text).into_response();
    if let Some(place) = written.next_before {
        let headers = response.headers_mut();
        headers.insert("x-next-before", HeaderValue::from(place));
    }
    Ok(response)
}

struct Written {
    text: Vec<u8>,
    next_before: Option<u64>,
}

/// The views may be longer than what is stored: they end the page as well.
fn written(found: &TracePage, views: &[Vec<u8>]) -> Written {
    let mut text = vec![b'['];
    let mut next_before = found.next_before;
    for (at, (entry, view)) in found.iter().zip(views).enumerate() {
        if at > 0 {
            text.push(b',');
        }
        text.extend_from_slice(view);
        if text.len() >= PAGE_BYTES && at + 1 < found.len() {
            next_before = Some(entry.place);
            break;
        }
    }
    text.push(b']');
    Written { text, next_before }
}

pub(super) async fn detail(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    Segment(id): Segment,
    params: Params,
) -> ApiResult {
    let params = params.known(&["content"])?;
    let exposure = exposure(&app, &key, &params)?;
    let Some(entry) = app.gate.store().trace(&id).await? else {
        return Err(ApiError::not_found("trace"));
    };
    let view = || trace_view(&entry, exposure);
    let view = heavy::run(Lane::Deciders, entry.bytes(), view).await;
    let tool = view.get("tool").and_then(Value::as_str).unwrap_or_default();
    if !key.may_see(tool) {
        return Err(ApiError::forbidden(
            "this key's tools do not include the tool of this trace",
        ));
    }
    Ok(Json(view).into_response())
}

/// Every record of every chain as JSON lines, with the hashes that prove them.
pub(super) async fn export(State(app): State<Arc<App>>, _: Person) -> ApiResult {
    let exporter = Exporter::new(app.gate.store().clone()).await?;
    let lines = stream::unfold(exporter, |mut exporter| async move {
        match exporter.next_lines().await {
            Ok(Some(lines)) => Some((Ok(lines), exporter)),
            Ok(None) => None,
            Err(error) => Some((Err(error), exporter)),
        }
    });
    Ok((
        [(header::CONTENT_TYPE, "application/x-ndjson")],
        Bytes::from_stream(lines),
    )
        .into_response())
}

pub(super) async fn verified(State(app): State<Arc<App>>, _: Person) -> ApiResult {
    let store = &**app.gate.store();
    let chains = verify(store, |_| {}).await?;
    let gaps = app.record.gaps(store).await?;
    let whole = chains.iter().all(|chain| chain.broken.is_none());
    let intact = whole && gaps.as_ref().is_none_or(Vec::is_empty);
    let since = app.record.kept_since();
    let verified = json!({"intact": intact, "chains": chains, "gaps": gaps, "kept_since": since});
    Ok(Json(verified).into_response())
}

pub(super) async fn sessions(
    State(app): State<Arc<App>>,
    _: Reviewer,
    params: Params,
) -> ApiResult {
    let params = params.known(&["limit"])?;
    Ok(Json(app.gate.store().activity(params.limit(50, MOST)?).await?).into_response())
}

pub(super) async fn session(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    Segment(id): Segment,
    params: Params,
) -> ApiResult {
    let params = params.known(&["before", "limit", "content"])?;
    let exposure = exposure(&app, &key, &params)?;
    let filter = TraceFilter {
        session: Some(id),
        tools: scope(&key),
        before: params.number("before")?,
        limit: params.limit(USUAL, MOST)?,
        ..Default::default()
    };
    page(&app, &filter, exposure).await
}

fn scope(key: &Key) -> Vec<provost_core::glob::Glob> {
    if key.role == Role::Supervisor {
        key.tools.clone()
    } else {
        Vec::new()
    }
}
