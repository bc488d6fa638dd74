//! The prompts of a session for people: what was asked and answered, the next one, and what the run changed.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Redirect},
};
use provost_core::{review::mask_text, time::Time};
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use super::{Row, class, fleet, words};
use crate::{
    app::App,
    console::{
        diff::{self, Line},
        error::{PageError, PageResult},
        moment::Moment,
        page::{Here, Shell, html},
        visitor::{Posted, Visitor},
    },
    fleet::{Change, Changes, Fleet, PromptView, Refused, Run},
};

/// Of a named session, so many runs are shown, the newest.
const MOST_RUNS: usize = 20;
const MOST_SESSIONS: usize = 50;
const LONGEST: usize = 16 * 1024;

/// A prompt and its answer.
pub(super) struct Asked {
    pub(super) run: String,
    pub(super) id: String,
    pub(super) text: String,
    pub(super) by: String,
    pub(super) state: &'static str,
    pub(super) class: &'static str,
    pub(super) at: Option<Moment>,
    pub(super) answer: Option<String>,
    pub(super) error: Option<String>,
    /// It can be cancelled, and its session stays.
    pub(super) open: bool,
}

/// Where the next prompt goes.
pub(super) struct Next {
    pub(super) run: String,
    /// Its session has ended: it goes on in a run of its own.
    pub(super) anew: bool,
}

/// A session that has a name.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) state: &'static str,
    pub(super) class: &'static str,
    pub(super) agent: String,
    pub(super) repo: String,
    pub(super) runs: usize,
    pub(super) last: Moment,
}

#[derive(Template)]
#[template(path = "console/run_session.html")]
struct SessionPage {
    shell: Shell,
    name: String,
    row: Row,
    csrf: Arc<str>,
    prompts: Vec<Asked>,
    next: Option<Next>,
}

#[derive(Template)]
#[template(path = "console/changes.html")]
struct ChangesPage {
    shell: Shell,
    id: String,
    over: bool,
    files: Vec<File>,
    left_out: Vec<String>,
    known: bool,
}

struct File {
    path: String,
    change: &'static str,
    class: &'static str,
    added: usize,
    removed: usize,
    lines: Vec<Line>,
    why: Option<String>,
    /// It runs by itself, where somebody works in the folder.
    runs: bool,
}

impl Asked {
    fn new(run: &Run, view: PromptView, now: Time) -> Self {
        let prompt = view.prompt;
        let at = prompt.ended_at.or(prompt.started_at);
        let error = prompt.error.as_ref();
        let error = error.map(|error| format!("{}: {}", error.reason, error.message));
        Self {
            run: run.record.id.clone(),
            id: prompt.prompt_id,
            text: masked(view.text),
            by: view.by,
            state: words(prompt.state),
            class: class(prompt.state),
            at: at.map(|at| Moment::new(Time::from_millis(at), now)),
            answer: view.answer.map(masked),
            error: error.map(masked),
            open: run.record.keep.is_some() && !prompt.state.is_end(),
        }
    }
}

/// Secrets are masked where they are shown; of a long text, the beginning is.
fn masked(text: String) -> String {
    let mut text = match mask_text(&text) {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => text,
    };
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

/// What a run's session was asked, in order. Reads files.
pub(super) fn asked(run: &Run, now: Time) -> Vec<Asked> {
    let prompts = run.prompts().into_iter();
    prompts.map(|view| Asked::new(run, view, now)).collect()
}

/// `None`: nothing can follow.
pub(super) fn next(run: &Run) -> Option<Next> {
    let story = run.story();
    let anew = story.has_ended();
    let goes_on = if anew {
        story.resumes && story.session_id.is_some()
    } else {
        run.record.keep.is_some()
    };
    goes_on.then(|| Next {
        run: run.record.id.clone(),
        anew,
    })
}

/// The sessions that have names, those that were used last first.
pub(super) fn named(fleet: &Fleet, now: Time) -> Vec<Named> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: Vec<Named> = Vec::new();
    for run in fleet.runs() {
        let Some(name) = run.record.session.clone() else {
            continue;
        };
        if let Some(at) = known.get(&name) {
            if let Some(session) = found.get_mut(*at) {
                session.runs += 1;
            }
            continue;
        }
        if found.len() == MOST_SESSIONS {
            continue;
        }
        known.insert(name.clone(), found.len());
        let state = run.story().state;
        found.push(Named {
            name,
            state: words(state),
            class: class(state),
            agent: run.record.agent.clone(),
            repo: run.record.repo_dir.display().to_string(),
            runs: 1,
            last: Moment::new(run.record.created_at, now),
        });
    }
    found
}

pub(in crate::console) async fn session(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    let now = app.gate.now();
    let newest = fleet.session(&name).ok_or_else(PageError::not_found)?;
    let of_name = |run: &Arc<Run>| run.record.session.as_deref() == Some(&*name);
    let mut runs: Vec<_> = fleet.runs().into_iter().filter(of_name).collect();
    runs.truncate(MOST_RUNS);
    let prompts = spawn_blocking(move || {
        let runs = runs.iter().rev();
        runs.flat_map(|run| asked(run, now)).collect()
    });
    let page = SessionPage {
        row: Row::new(fleet, &newest, now),
        csrf: visitor.session.csrf.clone(),
        prompts: prompts.await.unwrap_or_default(),
        next: next(&newest),
        shell: Shell::new(&app, &visitor, Here::Runs).await?,
        name,
    };
    Ok(html(&page))
}

/// The next prompt: into the session that is open, or into a run that goes on with it.
pub(in crate::console) async fn prompt(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    let run = fleet.run(&id).ok_or_else(PageError::not_found)?;
    let mut body = Map::new();
    for name in ["prompt", "mode", "modelId"] {
        if let Some(text) = fields.text(name) {
            body.insert(name.to_owned(), Value::from(text));
        }
    }
    let by = visitor.key.identity();
    let refused = |refused: Refused| PageError::bad(format!("Not sent: {refused}."));
    let mut to = run.record.id.clone();
    let ended = if run.story().has_ended() {
        true
    } else {
        match fleet.prompt(&run, body.clone(), by.clone(), None).await {
            Ok(_) => false,
            // It ended meanwhile.
            Err(Refused::Ended) => true,
            Err(error) => return Err(refused(error)),
        }
    };
    if ended {
        body.extend(continued(&run));
        let (next, _) = fleet.submit(body, by, None).await.map_err(refused)?;
        to.clone_from(&next.record.id);
    }
    Ok(Redirect::to(&format!("/console/runs/{to}")).into_response())
}

/// What another run needs to go on with the session of this one.
fn continued(run: &Run) -> Map<String, Value> {
    let record = &run.record;
    let mut body = Map::new();
    body.insert("agent".to_owned(), record.agent.clone().into());
    body.insert("repoDir".to_owned(), json!(record.repo_dir));
    body.insert("limits".to_owned(), record.limits.clone());
    if let Some(seconds) = record.keep {
        body.insert("keep".to_owned(), json!({"idleSeconds": seconds}));
    }
    match (&record.session, run.story().session_id) {
        (Some(name), _) => body.insert("session".to_owned(), name.clone().into()),
        (None, Some(id)) => body.insert("sessionId".to_owned(), id.into()),
        (None, None) => None,
    };
    body
}

pub(in crate::console) async fn cancel_prompt(
    State(app): State<Arc<App>>,
    Path((id, prompt)): Path<(String, String)>,
    Posted { visitor, .. }: Posted,
) -> PageResult {
    let fleet = fleet(&app, &visitor)?;
    let run = fleet.run(&id).ok_or_else(PageError::not_found)?;
    let by = visitor.key.identity();
    match fleet.cancel_prompt(&run, &prompt, &by).await {
        Ok(None) => return Err(PageError::not_found()),
        // One that has ended by itself has ended, which is what was wanted.
        Ok(Some(_)) | Err(Refused::PromptEnded(_)) => {}
        Err(error) => return Err(PageError::bad(format!("Not cancelled: {error}."))),
    }
    Ok(Redirect::to(&format!("/console/runs/{id}")).into_response())
}

pub(in crate::console) async fn changes(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let run = fleet(&app, &visitor)?
        .run(&id)
        .ok_or_else(PageError::not_found)?;
    let over = run.story().has_ended();
    let read = spawn_blocking(move || run.changes().map(files)).await;
    let changes = read.ok().flatten();
    let known = changes.is_some();
    let (files, left_out) = changes.unwrap_or_default();
    let page = ChangesPage {
        shell: Shell::new(&app, &visitor, Here::Runs).await?,
        id,
        over,
        files,
        left_out,
        known,
    };
    Ok(html(&page))
}

fn files(changes: Changes) -> (Vec<File>, Vec<String>) {
    let files = changes.files.into_iter().map(|file| {
        let shown = file.diff.map(|diff| match mask_text(&diff) {
            Cow::Owned(masked) => masked,
            Cow::Borrowed(_) => diff,
        });
        File {
            runs: file.path.starts_with(".git/") || file.path.contains("/.git/"),
            path: file.path,
            change: file.change.name(),
            class: match file.change {
                Change::Added => "yes",
                Change::Changed => "",
                Change::Removed => "no",
            },
            added: file.added,
            removed: file.removed,
            lines: shown.as_deref().map(diff::lines).unwrap_or_default(),
            why: file.why,
        }
    });
    (files.collect(), changes.left_out.into_iter().collect())
}
