//! `/v1/runs`: agents that are run on this machine, for the people whose machine it is.

mod events;
mod prompts;
mod view;

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, response::IntoResponse as _};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::{
    caller::Person,
    calls::idempotency_key,
    error::{ApiError, ApiResult},
    input::{Body, Params, Segment},
};
use crate::{
    app::App,
    fleet::{Cancelled, FIELDS, Fleet, Refused, Run, State as Stage},
};

pub(super) use events::events;
pub(super) use prompts::{add_prompt, cancel_prompt, prompts};

const USUAL_LIMIT: u64 = 50;
const MOST: u64 = 200;
/// A place in the queue is free when a run ends: nobody knows when that is.
const TRY_AGAIN: Duration = Duration::from_secs(30);

pub(super) async fn create(
    State(app): State<Arc<App>>,
    Person(key): Person,
    headers: HeaderMap,
    Body(body): Body<Map<String, Value>>,
) -> ApiResult {
    let fleet = fleet(&app)?;
    let known = idempotency_key(&headers)?;
    let submitted = fleet.submit(body, key.identity(), known).await;
    let (run, before) = submitted.map_err(refused)?;
    let story = run.story();
    let made = json!({
        "id": run.record.id, "state": story.state, "position": fleet.position(&run.record.id),
    });
    let mut response = (StatusCode::ACCEPTED, Json(made)).into_response();
    let headers = response.headers_mut();
    if let Ok(place) = HeaderValue::from_str(&format!("/v1/runs/{}", run.record.id)) {
        headers.insert(http::header::LOCATION, place);
    }
    if before {
        headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Person(_): Person,
    params: Params,
) -> ApiResult {
    let fleet = fleet(&app)?;
    let params = params.known(&["state", "agent", "task_id", "session", "before", "limit"])?;
    let stage = match params.text("state") {
        Some(name) => Some(stage(&name)?),
        None => None,
    };
    let (agent, task) = (params.text("agent"), params.text("task_id"));
    let (before, session) = (params.text("before"), params.text("session"));
    let limit = params
        .number("limit")?
        .unwrap_or(USUAL_LIMIT)
        .clamp(1, MOST);
    let fits = |run: &Arc<Run>| {
        stage.is_none_or(|stage| run.story().state == stage)
            && agent
                .as_ref()
                .is_none_or(|agent| run.record.agent == *agent)
            && (task.is_none() || run.record.task_id == task)
            && (session.is_none() || run.record.session == session)
            && before.as_ref().is_none_or(|before| run.record.id < *before)
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found = fleet.runs().into_iter().filter(fits);
    let runs: Vec<_> = found.by_ref().take(limit).collect();
    let more = found.next().is_some();
    let next = runs
        .last()
        .filter(|_| more)
        .map(|run| run.record.id.clone());
    let (running, queued) = fleet.counts();
    let runs: Vec<_> = runs.iter().map(|run| view::view(fleet, run)).collect();
    Ok(
        Json(json!({"runs": runs, "next": next, "running": running, "queued": queued}))
            .into_response(),
    )
}

pub(super) async fn detail(
    State(app): State<Arc<App>>,
    Person(_): Person,
    Segment(id): Segment,
) -> ApiResult {
    let fleet = fleet(&app)?;
    let run = find(fleet, &id)?;
    Ok(Json(view::whole(fleet, &run).await).into_response())
}

pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Person(key): Person,
    Segment(id): Segment,
    Body(body): Body<Map<String, Value>>,
) -> ApiResult {
    let fleet = fleet(&app)?;
    if let Some(unknown) = body.keys().next() {
        let error = ApiError::bad_request(format!("unknown field `{unknown}`"));
        return Err(error.help("the body is empty, or `{}`"));
    }
    let run = find(fleet, &id)?;
    let status = match fleet.cancel(&run, &key.identity()).await {
        Cancelled::Now => StatusCode::OK,
        Cancelled::Soon => StatusCode::ACCEPTED,
        Cancelled::Already => {
            let state = run.story().state;
            return Err(ApiError::conflict(
                "already_ended",
                format!("this run has ended before: {}", state.name()),
            )
            .with("state", state.name()));
        }
    };
    Ok((status, Json(view::view(fleet, &run))).into_response())
}

pub(super) async fn changes(
    State(app): State<Arc<App>>,
    Person(_): Person,
    Segment(id): Segment,
) -> ApiResult {
    let run = find(fleet(&app)?, &id)?;
    let changes = tokio::task::spawn_blocking(move || run.changes()).await;
    match changes.ok().flatten() {
        Some(changes) => Ok(Json(changes).into_response()),
        None => Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "no_snapshot",
            "what the folder of this run held before it began is not known",
        )
        .help("it is kept when a run starts, and compared until its end")),
    }
}

fn fleet(app: &App) -> Result<&Arc<Fleet>, ApiError> {
    app.fleet.get().ok_or_else(|| {
        ApiError::new(
            StatusCode::NOT_FOUND,
            "not_configured",
            "this gateway runs no agents",
        )
        .help("name the agents and the folders in the section `runs` of its config: docs/runs.md")
    })
}

fn find(fleet: &Fleet, id: &str) -> Result<Arc<Run>, ApiError> {
    fleet.run(id).ok_or_else(|| ApiError::not_found("run"))
}

fn stage(name: &str) -> Result<Stage, ApiError> {
    Stage::parse(name).ok_or_else(|| {
        let names = Stage::ALL.map(Stage::name).join(", ");
        ApiError::bad_request(format!("unknown state `{name}`"))
            .help(format!("it is one of {names}"))
    })
}

fn refused(refused: Refused) -> ApiError {
    let message = refused.to_string();
    match refused {
        Refused::Bad(problems) => ApiError::bad_request(message)
            .with("problems", problems)
            .help(format!("a run takes {}", FIELDS.join(", "))),
        Refused::Outside(_) => ApiError::new(StatusCode::FORBIDDEN, "outside_roots", message)
            .help("name a folder below one of `runs.roots`, or add its root to the config"),
        Refused::Full(_) => ApiError::new(StatusCode::TOO_MANY_REQUESTS, "queue_full", message)
            .help("come back later, cancel one that waits, or raise `runs.queue`")
            .retry_after(TRY_AGAIN),
        Refused::Stopped(_) => ApiError::forbidden(message).help("`provost resume` lifts a stop"),
        Refused::KeyReused(_) => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            message,
        ),
        Refused::SessionOpen { run, .. } => ApiError::conflict("session_open", message)
            .with("run", run.clone())
            .help(format!(
                "POST /v1/runs/{run}/prompts sends it the next prompt"
            )),
        Refused::NotKept => ApiError::conflict("not_kept", message).help(
            "start a run with `keep: true`, or with `session` and a name, to send it more prompts",
        ),
        Refused::Ended => ApiError::conflict("already_ended", message)
            .help("start a run with the same `session`, or with its `sessionId`, to go on"),
        Refused::PromptsFull(_) => {
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "queue_full", message)
                .help("come back when some are answered, or start another run")
                .retry_after(TRY_AGAIN)
        }
        Refused::PromptEnded(state) => {
            ApiError::conflict("already_ended", message).with("state", state.name())
        }
        Refused::Broken(error) => {
            tracing::error!(%error, "a run could not be taken in");
            ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "cannot_keep",
                "the run cannot be kept, so it is not started",
            )
            .help("look at the gateway's log and its disk")
            .retry_after(TRY_AGAIN)
        }
    }
}
