//! `/v1/people`: who may be asked, where, and whether that works.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Kind, Status},
    card::who,
    gate::{Decider, TestQuestion},
    people::{Address, Person as Asked},
    ports::Delivered,
    time::Time,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    caller::Person,
    error::{ApiError, ApiResult},
    input::{Body, Segment},
};
use crate::{
    app::App,
    channels::{Problem, Standing},
};

const USUAL_EXPIRY: u64 = 300;
const LONGEST_EXPIRY: u64 = 3600;

pub(super) async fn list(State(app): State<Arc<App>>, _: Person) -> ApiResult {
    let (people, now) = (app.gate.people(), app.gate.now());
    let channels = app.channels.load_full();
    channels.refresh(now).await;
    let standings = channels.standings();
    let all: Vec<_> = people
        .people
        .iter()
        .map(|person| {
            let quiet_until = people.quiet_until(&person.name, now);
            let channels: Vec<_> = person
                .addresses
                .iter()
                .map(|at| {
                    let standing = standings.get(&*at.channel);
                    channel(person, at, standing)
                })
                .collect();
            json!({
                "name": person.name,
                "role": person.role,
                "channels": channels,
                "open": quiet_until.is_none(),
                "quiet_until": quiet_until,
            })
        })
        .collect();
    Ok(Json(all).into_response())
}

fn channel(person: &Asked, at: &Address, standing: Option<&Standing>) -> Value {
    let problems = standing.map(|standing| &*standing.problems);
    let problems = problems.unwrap_or_default();
    let checked_at = standing.and_then(|standing| standing.checked_at);
    let theirs = |problem: &&Problem| {
        let about = problem.person.as_ref();
        about.is_none_or(|about| *about == person.name)
    };
    let problems: Vec<_> = problems
        .iter()
        .filter(theirs)
        .map(|problem| {
            let personal = problem.person.is_some();
            json!({"problem": problem.problem, "help": problem.help, "personal": personal})
        })
        .collect();
    json!({"channel": at.channel, "address": at.address, "problems": problems, "checked_at": checked_at})
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TestBody {
    expires_in_sec: Option<u64>,
}

/// Sends a test question on each channel of a person: one for each, so that each can be answered.
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Person(by): Person,
    Segment(name): Segment,
    Body(body): Body<TestBody>,
) -> ApiResult {
    let seconds = body.expires_in_sec.unwrap_or(USUAL_EXPIRY);
    if !(1..=LONGEST_EXPIRY).contains(&seconds) {
        let message = format!("`expires_in_sec` is a whole number from 1 to {LONGEST_EXPIRY}");
        return Err(ApiError::bad_request(message));
    }
    let people = app.gate.people();
    let Some(person) = people.named(&name) else {
        return Err(ApiError::not_found("person")
            .help("`GET /v1/people` and `provost people list` show who there is"));
    };
    if person.addresses.is_empty() {
        let message = format!("{name} has no channels: they decide in the console");
        return Err(ApiError::conflict("no_channels", message)
            .help("give them `channels` under `people` in the config"));
    }
    let mut tests = Vec::new();
    for at in &person.addresses {
        let test = TestQuestion {
            person: person.name.clone(),
            at: at.clone(),
            by: Decider::of(&by).identity(),
            expires_in: Duration::from_secs(seconds),
        };
        let approval = app.gate.ask_test(&test).await?;
        tests.push(json!({"id": approval.question.id, "channel": at.channel, "state": "sending"}));
    }
    let made = json!({"person": person.name, "expires_in_sec": seconds, "tests": tests});
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// What became of a test question.
pub(super) async fn tested(
    State(app): State<Arc<App>>,
    _: Person,
    Segment(id): Segment,
) -> ApiResult {
    let store = app.gate.store();
    let found = store.approval(&id).await?.filter(|approval| {
        let question = &approval.question;
        question.kind == Kind::Test && question.id.as_str() == id
    });
    let Some(approval) = found else {
        return Err(ApiError::not_found("test question"));
    };
    let deliveries = store.deliveries(&approval.question.id).await?;
    let view = view(&approval, deliveries.first(), app.gate.now());
    Ok(Json(view).into_response())
}

fn view(approval: &Approval, delivered: Option<&Delivered>, now: Time) -> Value {
    let question = &approval.question;
    let mut view = Map::new();
    view.insert("id".into(), json!(question.id));
    let channel = question.params.get("channel").cloned();
    view.insert("channel".into(), channel.unwrap_or_default());
    let state = match (approval.state.status_at(now), &approval.state.decision) {
        (Status::Pending, _) => sent(delivered, &mut view),
        (_, Some(decision)) => {
            view.insert("by".into(), who(&decision.by).into());
            view.insert("via".into(), json!(decision.via));
            view.insert("code".into(), json!(decision.code));
            view.insert("at".into(), json!(decision.at));
            "answered"
        }
        (_, None) => match sent(delivered, &mut view) {
            "failed" => "failed",
            _ => "expired",
        },
    };
    view.insert("state".into(), state.into());
    Value::Object(view)
}

/// How far it came before anybody answered.
fn sent(delivered: Option<&Delivered>, view: &mut Map<String, Value>) -> &'static str {
    let Some(delivered) = delivered else {
        return "sending";
    };
    match &delivered.error {
        _ if delivered.delivery.shown.is_some() => "sent",
        Some(why) => {
            view.insert("why".into(), why.as_str().into());
            "failed"
        }
        None => "sending",
    }
}
