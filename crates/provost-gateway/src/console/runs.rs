//! `/console/sessions`, `/console/session/{id}` and `/console/agents`: who does what, and how much of it.

use std::{collections::BTreeMap, sync::Arc};

use askama::Template;
use axum::extract::{Path, State};
use http::Uri;
use provost_core::{
    control::Control,
    key::Role,
    ports::{Activity, TraceFilter},
    time::Time,
    trace::view::Exposure,
};

use super::{
    error::PageResult,
    fields::Fields,
    inbox,
    moment::Moment,
    page::{Here, Shell, html},
    record::{Row, scope},
    visitor::Visitor,
};
use crate::app::App;

const MOST: usize = 1000;
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "console/sessions.html")]
struct SessionsPage {
    shell: Shell,
    runs: Vec<Run>,
}

#[derive(Template)]
#[template(path = "console/session.html")]
struct SessionPage {
    shell: Shell,
    id: String,
    rows: Vec<Row>,
    older: Option<String>,
    full: Option<String>,
    stopped: bool,
}

#[derive(Template)]
#[template(path = "console/agents.html")]
struct AgentsPage {
    shell: Shell,
    agents: Vec<Agent>,
}

struct Run {
    agent: String,
    session: Option<String>,
    first: Moment,
    last: Moment,
    calls: u64,
    denied: u64,
    stopped: bool,
}

struct Agent {
    name: String,
    has_key: bool,
    calls: u64,
    denied: u64,
    sessions: usize,
    pending: usize,
    last: Option<Moment>,
    last_at: Time,
    stopped: bool,
}

pub(super) async fn sessions(State(app): State<Arc<App>>, visitor: Visitor) -> PageResult {
    let (now, control) = (app.gate.now(), app.gate.control());
    let activity = app.gate.store().activity(200).await?;
    let runs = activity
        .into_iter()
        .map(|run| Run::new(run, &control, now))
        .collect();
    let shell = Shell::new(&app, &visitor, Here::Sessions).await?;
    Ok(html(&SessionsPage { shell, runs }))
}

impl Run {
    fn new(run: Activity, control: &Control, now: Time) -> Self {
        let stop = control.stop_of(&run.agent_id, run.session_id.as_deref());
        let stopped = stop.is_some();
        Self {
            first: Moment::new(run.first_at, now),
            last: Moment::new(run.last_at, now),
            agent: run.agent_id,
            session: run.session_id,
            calls: run.calls,
            denied: run.denied,
            stopped,
        }
    }
}

pub(super) async fn session(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    uri: Uri,
) -> PageResult {
    let query = Fields::of_query(&uri);
    let exposure = visitor.exposure(&app, &query);
    let filter = TraceFilter {
        session: Some(id.clone()),
        tools: scope(&visitor.key),
        before: query.number("before"),
        limit: PAGE,
        ..TraceFilter::default()
    };
    let now = app.gate.now();
    let entries = app.gate.store().traces(&filter).await?;
    let older = entries
        .next_before
        .map(|place| query.address(uri.path(), &[("before", Some(&place.to_string()))]));
    let hides = exposure == Exposure::Structure && visitor.is_person();
    let rows = Row::of_page(&entries, exposure, now).await;
    let agent = rows.first().map_or("", |row| row.agent.as_str());
    let stopped = app.gate.control().stop_of(agent, Some(&id)).is_some();
    let page = SessionPage {
        rows,
        older,
        full: hides.then(|| query.address(uri.path(), &[("content", Some("full"))])),
        stopped,
        id,
        shell: Shell::new(&app, &visitor, Here::Sessions).await?,
    };
    Ok(html(&page))
}

pub(super) async fn agents(State(app): State<Arc<App>>, visitor: Visitor) -> PageResult {
    let activity = app.gate.store().activity(MOST).await?;
    let pending = inbox::pending_by_agent(&app, &visitor.key).await?;
    let (now, control) = (app.gate.now(), app.gate.control());
    let mut agents = BTreeMap::new();
    let keyed = control.keys().filter(|key| key.role == Role::Agent);
    for key in keyed {
        agents.insert(key.name.to_string(), Agent::new(&key.name, true, &control));
    }
    for run in activity {
        let agent = agents
            .entry(run.agent_id.clone())
            .or_insert_with(|| Agent::new(&run.agent_id, false, &control));
        agent.count(&run, now);
    }
    for (name, count) in pending {
        let agent = agents
            .entry(name.to_string())
            .or_insert_with(|| Agent::new(&name, false, &control));
        agent.pending = count;
    }
    let mut agents: Vec<_> = agents.into_values().collect();
    agents.sort_by_key(|agent| std::cmp::Reverse((agent.pending > 0, agent.last_at)));
    let shell = Shell::new(&app, &visitor, Here::Agents).await?;
    Ok(html(&AgentsPage { shell, agents }))
}

impl Agent {
    fn new(name: &str, has_key: bool, control: &Control) -> Self {
        Self {
            name: name.to_owned(),
            has_key,
            calls: 0,
            denied: 0,
            sessions: 0,
            pending: 0,
            last: None,
            last_at: Time::default(),
            stopped: control.stop_of(name, None).is_some(),
        }
    }

    fn count(&mut self, run: &Activity, now: Time) {
        self.calls += run.calls;
        self.denied += run.denied;
        self.sessions += usize::from(run.session_id.is_some());
        if run.last_at > self.last_at {
            self.last_at = run.last_at;
            self.last = Some(Moment::new(run.last_at, now));
        }
    }
}
