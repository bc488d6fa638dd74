//! `/console/runs`: the agents that are run here. Who they are, how they fare, what they did; started and
//! cancelled by people.

mod live;
mod prompts;
mod told;

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Redirect},
};
use http::Uri;
use provost_core::{approval::Question, ports::ApprovalFilter, time::Time};
use serde_json::{Map, Value};

use super::{
    error::{PageError, PageResult},
    fields::Fields,
    moment::Moment,
    page::{Here, Shell, html},
    visitor::{Posted, Visitor},
};
use crate::{
    app::App,
    fleet::{Fleet, Run, State as Stage},
};

pub(super) use live::{of_all, of_one};
use prompts::{Asked as Prompted, Named, Next};
pub(super) use prompts::{cancel_prompt, changes, prompt, session};
use told::{Told, told};

/// Shown at once, the newest.
const MOST: usize = 100;
const MOST_ASKED: usize = 50;

#[derive(Template)]
#[template(path = "console/fleet.html")]
struct FleetPage {
    shell: Shell,
    list: List,
    agents: Vec<String>,
    roots: Vec<String>,
    sessions: Vec<Named>,
    said: Option<&'static str>,
}

/// The part that changes by itself.
#[derive(Template)]
#[template(path = "console/fleet_list.html")]
struct List {
    csrf: Arc<str>,
    runs: Vec<Row>,
    running: usize,
    queued: usize,
    filtered: bool,
}

#[derive(Template)]
#[template(path = "console/run.html")]
struct RunPage {
    shell: Shell,
    id: String,
    story: Story,
    next: Option<Next>,
}

#[derive(Template)]
#[template(path = "console/run_story.html")]
struct Story {
    csrf: Arc<str>,
    row: Row,
    prompt: String,
    /// With what it answered.
    prompts: Vec<Prompted>,
    told: Told,
    asked: Vec<Asked>,
    limits: Vec<String>,
}

struct Row {
    id: String,
    state: &'static str,
    class: &'static str,
    agent: String,
    repo: String,
    prompt: String,
    made: Moment,
    by: String,
    session: Option<String>,
    /// What people call the session.
    name: Option<String>,
    position: Option<usize>,
    open: bool,
    /// It waits for a prompt.
    idle: bool,
    /// In words.
    spent: String,
    /// Why it ended as it did.
    end: Option<String>,
    resumed: bool,
    warnings: Vec<String>,
}

/// A question of the run.
struct Asked {
    id: String,
    tool: String,
    at: Moment,
}

impl Row {
    fn new(fleet: &Fleet, run: &Arc<Run>, now: Time) -> Self {
        let (record, story) = (&run.record, run.story());
        let spent = &story.spent;
        let end = match (&story.error, &story.stop_reason) {
            (Some(error), _) => Some(format!("{}: {}", error.reason, error.message)),
            (None, Some(reason)) => Some(reason.clone()),
            (None, None) => None,
        };
        Self {
            id: record.id.clone(),
            state: words(story.state),
            class: class(story.state),
            agent: record.agent.clone(),
            repo: record.repo_dir.display().to_string(),
            prompt: record.prompt.clone(),
            made: Moment::new(record.created_at, now),
            by: record.created_by.clone(),
            session: story.session_id.clone(),
            name: record.session.clone(),
            position: fleet.position(&record.id),
            open: !story.has_ended(),
            idle: story.state == Stage::Idle,
            spent: [
                many(spent.turns, "turn"),
                many(spent.tool_calls, "tool call"),
                many(spent.tokens, "token"),
            ]
            .join(", "),
            end,
            resumed: story.resumed > 0,
            warnings: story.warnings,
        }
    }
}

fn many(count: u64, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}

/// Seconds may be given in parts, and mostly are not.
fn whole(number: &serde_json::Value) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn words(stage: Stage) -> &'static str {
    match stage {
        Stage::WaitingPermission => "waits for permission",
        Stage::Idle => "waits for a prompt",
        other => other.name(),
    }
}

fn class(stage: Stage) -> &'static str {
    match stage {
        Stage::Done => "yes",
        Stage::Failed | Stage::Cancelled => "no",
        Stage::WaitingPermission => "wait",
        Stage::Queued | Stage::Starting | Stage::Running | Stage::Idle => "",
    }
}

pub(super) async fn page(State(app): State<Arc<App>>, visitor: Visitor, uri: Uri) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    let query = Fields::of_query(&uri);
    let settings = fleet.settings();
    let roots = settings.roots.iter();
    let page = FleetPage {
        list: list(&app, fleet, &visitor, &query),
        sessions: prompts::named(fleet, app.gate.now()),
        agents: settings.agents.keys().cloned().collect(),
        roots: roots.map(|root| root.display().to_string()).collect(),
        said: query.text("done").and_then(|done| match done {
            "started" => Some("Taken in."),
            "cancelled" => Some("It is being ended."),
            _ => None,
        }),
        shell: Shell::new(&app, &visitor, Here::Runs).await?,
    };
    Ok(html(&page))
}

/// The list alone, for the script.
pub(super) async fn fragment(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    uri: Uri,
) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    Ok(html(&list(&app, fleet, &visitor, &Fields::of_query(&uri))))
}

fn list(app: &App, fleet: &Fleet, visitor: &Visitor, query: &Fields) -> List {
    let (running, queued) = fleet.counts();
    let session = query.text("session");
    let fits = |run: &Arc<Run>| session.is_none() || run.story().session_id.as_deref() == session;
    let runs = fleet.runs().into_iter().filter(fits).take(MOST);
    let now = app.gate.now();
    List {
        csrf: visitor.session.csrf.clone(),
        runs: runs.map(|run| Row::new(fleet, &run, now)).collect(),
        running,
        queued,
        filtered: session.is_some(),
    }
}

pub(super) async fn run(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let story = story(&app, &visitor, &id).await?;
    let shell = Shell::new(&app, &visitor, Here::Runs).await?;
    let run = fleet(&app, &visitor)?.run(&id);
    let next = run.and_then(|run| prompts::next(&run));
    Ok(html(&RunPage {
        shell,
        id,
        story,
        next,
    }))
}

/// Its story alone, for the script.
pub(super) async fn run_fragment(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    Ok(html(&story(&app, &visitor, &id).await?))
}

async fn story(app: &Arc<App>, visitor: &Visitor, id: &str) -> Result<Story, PageError> {
    let fleet = fleet(app, visitor)?;
    let run = fleet.run(id).ok_or_else(PageError::not_found)?;
    let now = app.gate.now();
    let reading = Arc::clone(&run);
    let told = tokio::task::spawn_blocking(move || {
        let prompts = prompts::asked(&reading, now);
        (told(&reading, now), reading.prompt(), prompts)
    });
    let (told, prompt, prompts) = told.await.unwrap_or_default();
    let limits = run.record.limits.as_object();
    let limits = limits.into_iter().flatten();
    Ok(Story {
        csrf: visitor.session.csrf.clone(),
        row: Row::new(fleet, &run, now),
        prompt,
        prompts,
        told,
        asked: asked(app, &run, now).await?,
        limits: limits
            .map(|(name, most)| format!("{name} {}", whole(most)))
            .collect(),
    })
}

/// What it asked the gate, the newest last.
async fn asked(app: &App, run: &Run, now: Time) -> Result<Vec<Asked>, PageError> {
    let Some(session) = run.story().session_id else {
        return Ok(Vec::new());
    };
    let filter = ApprovalFilter {
        agent: Some(run.agent_name()),
        session: Some(session),
        limit: MOST_ASKED,
        ..ApprovalFilter::default()
    };
    let page = app.gate.store().approvals(&filter, now).await?;
    let questions = page.rows();
    let questions =
        questions.filter_map(|row| serde_json::from_slice::<Question>(row.question).ok());
    let asked = questions.map(|question| Asked {
        id: question.id.to_string(),
        tool: question.tool.to_string(),
        at: Moment::new(question.created_at, now),
    });
    Ok(asked.collect())
}

pub(super) async fn start(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    let mut body = Map::new();
    for name in ["agent", "repoDir", "prompt", "taskId", "session"] {
        if let Some(text) = fields.text(name) {
            body.insert(name.to_owned(), Value::from(text));
        }
    }
    if fields.text("keep").is_some() {
        body.insert("keep".to_owned(), Value::Bool(true));
    }
    let taken = fleet.submit(body, visitor.key.identity(), None).await;
    let (run, _) = taken.map_err(|refused| PageError::bad(format!("Not started: {refused}.")))?;
    let to = format!("/console/runs/{}", run.record.id);
    Ok(Redirect::to(&to).into_response())
}

pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Posted { visitor, .. }: Posted,
) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    let run = fleet.run(&id).ok_or_else(PageError::not_found)?;
    // One that has ended by itself has ended, which is what was wanted.
    fleet.cancel(&run, &visitor.key.identity()).await;
    Ok(Redirect::to("/console/runs?done=cancelled").into_response())
}

fn fleet<'a>(app: &'a App, visitor: &Visitor) -> Result<&'a Arc<Fleet>, PageError> {
    visitor.person()?;
    app.fleet.get().ok_or_else(|| {
        PageError::new(
            http::StatusCode::NOT_FOUND,
            "No agents are run here",
            "Name the agents and the folders in the section `runs` of the config: docs/runs.md.",
        )
    })
}
