//! A run from its turn to its end: its runner is started, read, told to end, and taken up again where it was
//! lost.

use std::{io, process::ExitStatus, sync::Arc, time::Duration};

use provost_core::{call::Call, time::Time};
use provost_runner::config::{self, Missing};
use serde_json::{Map, Value, json};
use tokio::{
    process::Child,
    task::spawn_blocking,
    time::{Instant, sleep},
};

use super::{
    Fleet, Refused, changes,
    end::End,
    limits,
    process::{self, Task},
    request::{Given, compose, resolve},
    run::Run,
};

/// How late what a runner writes is read.
const LOOK: Duration = Duration::from_millis(150);
/// An end takes the agent's time, and that of delivering what is to be reported.
const PATIENCE: Duration = Duration::from_mins(15);
const GO_ON: &str = "You were interrupted before you were done: your supervisor went down, and you with it. \
    Go on where you left off. See what is already there before you do anything again.";

/// What is to be done about a run whose runner has ended.
enum Next {
    Over,
    /// It did not tell its end.
    End(End),
    Again,
}

impl Fleet {
    /// `lives`: its runner was started by a gateway before this one.
    pub(super) async fn drive(self: Arc<Self>, run: Arc<Run>, mut lives: bool) {
        loop {
            let mut child = None;
            if !lives {
                let (fleet, starting) = (Arc::clone(&self), Arc::clone(&run));
                let begun = spawn_blocking(move || fleet.begin(&starting)).await;
                let failed = |_| Err(End::failed("cannot_start", "its start broke off"));
                match begun.unwrap_or_else(failed) {
                    Ok(started) => child = Some(started),
                    Err(end) => {
                        if !self.end(&run, end).await {
                            return;
                        }
                        break;
                    }
                }
            }
            lives = false;
            let Some(exit) = self.tend(&run, child).await else {
                // The gateway goes; the run does not.
                return;
            };
            match self.judge(&run, exit) {
                Next::Over => break,
                Next::End(end) => {
                    if !self.end(&run, end).await {
                        return;
                    }
                    break;
                }
                Next::Again => self.changed(),
            }
        }
        if self.send_left(&run).await {
            self.finished(&run).await;
        }
    }

    /// Starts its runner. An error is how it ended instead.
    fn begin(&self, run: &Arc<Run>) -> Result<Child, End> {
        let story = run.story();
        if let Some(by) = &story.cancelled_by {
            return Err(End::cancelled(by));
        }
        let call = Call {
            agent: run.agent_name().into(),
            session: story.session_id.as_deref().map(Into::into),
            tool: "".into(),
            params: Map::new(),
        };
        if let Some(stop) = self.gate.control().stop_for(&call) {
            return Err(End::failed("stopped", format!("not started: {stop}")));
        }
        let attempt = story.resumed + 1;
        run.note(self.gate.now(), &json!({"starting": {"attempt": attempt}}));
        self.changed();
        let calls_back = self
            .prepare(run, attempt)
            .map_err(|refused| End::failed("cannot_start", refused.to_string()))?;
        let launched = self.launch(run, calls_back, &Task::Run);
        launched.map_err(|error| {
            End::failed(
                "cannot_start",
                format!("the runner cannot be started: {error}"),
            )
        })
    }

    /// Writes its configuration, and tells whether it reports to somebody.
    fn prepare(&self, run: &Run, attempt: u32) -> Result<bool, Refused> {
        let record = &run.record;
        let request: Option<Map<String, Value>> = run.folder.read("request.json");
        let mut request = request.ok_or_else(|| Refused::bad("its request is gone"))?;
        let agent = self.settings.agents.get(&record.agent);
        let agent = agent.ok_or_else(|| {
            Refused::bad(format!(
                "this gateway no longer has an agent `{}`",
                record.agent
            ))
        })?;
        // The folder may have become another one since.
        let repo = resolve(&self.settings, &self.data, Some(&json!(record.repo_dir)))?;
        if repo != record.repo_dir {
            return Err(Refused::bad("its folder leads elsewhere now"));
        }
        let mut spent = None;
        let story = run.story();
        let mut prompt_id = record.id.clone();
        let mut taken = 1;
        if let (true, Some(session)) = (attempt > 1, &story.session_id) {
            request.insert("sessionId".to_owned(), session.as_str().into());
            spent = self.spent(run)?;
            request.extend(story.set.written());
            if let Some(prompt) = story.running() {
                request.insert("prompt".to_owned(), GO_ON.into());
                (prompt_id, taken) = (prompt.prompt_id.clone(), prompt.number);
            } else if let Some(last) = story.last_ended() {
                // It waited for a prompt, and does so again. What it does meanwhile is of no prompt, and not reported.
                request.remove("prompt");
                prompt_id = format!("{prompt_id}-{attempt}");
                taken = last;
            }
        }
        let keep = record.keep.map(|seconds| {
            let inbox = run.folder.inbox();
            json!({"promptsDir": inbox.folder(), "taken": taken, "idleSeconds": seconds})
        });
        let calls_back = request.contains_key("callbackUrl");
        let given = Given {
            id: &record.id,
            prompt_id,
            task_id: record.task_id.as_deref(),
            repo: &repo,
            agent,
            limits: record.limits.clone(),
            spent,
            url: &self.url,
            key: self.keys.of(&record.id).unwrap_or_default(),
            spool: run.folder.spool(),
            keep,
        };
        run.folder.write("run.json", &compose(request, given))?;
        // A run is not less a run because nobody can see what it changed.
        if let Err(error) = changes::take(&run.folder, &repo) {
            tracing::warn!(%error, run.id = %record.id, "what the folder of a run holds cannot be kept");
        }
        Ok(calls_back)
    }

    /// What it has spent, if that leaves something to go on with.
    fn spent(&self, run: &Run) -> Result<Option<Value>, Refused> {
        let text = json!({
            "runId": "r", "taskId": "t", "sandboxId": "s", "promptId": "p", "prompt": "p",
            "limits": run.record.limits,
        });
        let read = config::read(&text.to_string(), &self.data, Missing::Callback);
        let allowed = read.map_err(|problems| Refused::Bad(problems.0))?.limits;
        let story = run.story();
        let began = Time::from_millis(story.started_at.unwrap_or_default());
        let ran = self.gate.now().since(began);
        if limits::used_up(&allowed, &story.spent, ran) {
            return Err(Refused::bad("nothing is left of its limits"));
        }
        Ok(Some(limits::spent_before(&story.spent, ran)))
    }

    /// Reads what its runner writes until that ends, and tells how. `None`: the gateway goes.
    async fn tend(&self, run: &Arc<Run>, mut child: Option<Child>) -> Option<Option<ExitStatus>> {
        let own = child.as_ref().and_then(Child::id);
        let own = own.and_then(|pid| i32::try_from(pid).ok());
        let mut asked: Option<Instant> = None;
        loop {
            let exit = tokio::select! {
                exit = gone(&mut child) => Some(exit),
                () = sleep(LOOK) => None,
                () = run.wanted.notified() => None,
                () = self.stopping.cancelled() => return None,
            };
            self.look(run).await;
            if let Some(exit) = exit {
                return Some(exit);
            }
            let story = run.story();
            if child.is_none() && !lives(run).await {
                self.look(run).await;
                return Some(None);
            }
            // Whoever lives after its end only sends its reports, and is another process.
            if !story.has_ended()
                && let (Some(_), Some(pid)) = (&story.cancelled_by, own.or(story.pid))
            {
                match asked {
                    None => process::ask_to_end(pid),
                    // What it leaves is ended when it is judged.
                    Some(at) if at.elapsed() > PATIENCE => process::force_to_end(pid),
                    Some(_) => {}
                }
                asked.get_or_insert_with(Instant::now);
            }
        }
    }

    pub(super) async fn look(&self, run: &Arc<Run>) {
        let reading = Arc::clone(run);
        let read = spawn_blocking(move || reading.catch_up()).await;
        match read {
            Ok(Ok(true)) => self.changed(),
            Ok(Ok(false)) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, run.id = %run.record.id, "the journal of a run cannot be read");
            }
            Err(error) => tracing::error!(%error, "reading a journal failed"),
        }
    }

    /// Its runner is gone. One that told its end has ended; another is taken up once, where that is possible.
    fn judge(&self, run: &Run, exit: Option<ExitStatus>) -> Next {
        let story = run.story();
        if story.has_ended() {
            return Next::Over;
        }
        process::end_what_is_left(&run.record.id);
        let how = process::describe(exit);
        let now = self.gate.now();
        if let Some(by) = &story.cancelled_by {
            return Next::End(End::cancelled(by));
        }
        if !story.began {
            let message = format!(
                "the runner did not begin: {how}. {}",
                run.folder.last_words()
            );
            return Next::End(End::failed("cannot_start", message.trim_end()));
        }
        let why = match &story.session_id {
            _ if story.resumed > 0 => "it was taken up again once already",
            None => "its agent had opened no session yet",
            Some(_) if !story.resumes => "its agent cannot go on with a session",
            Some(session) => {
                tracing::warn!(run.id = %run.record.id, %how, "a run lost its runner and is taken up again");
                run.note(
                    now,
                    &json!({"resumed": {"session": session, "because": how}}),
                );
                return Next::Again;
            }
        };
        let message = format!(
            "the runner was lost: {how}; it cannot be taken up again, because {why}. What the agent did until then is in its folder and in the journal"
        );
        Next::End(End::failed("lost", message))
    }
}

/// Completes when a runner that is our child has ended.
async fn gone(child: &mut Option<Child>) -> Option<ExitStatus> {
    match child {
        Some(child) => child.wait().await.ok(),
        None => std::future::pending().await,
    }
}

/// Where that cannot be told, it is looked at again.
async fn lives(run: &Arc<Run>) -> bool {
    let looking = Arc::clone(run);
    let lives = spawn_blocking(move || process::lives(&looking.folder)).await;
    lives
        .unwrap_or_else(|error| Err(io::Error::other(error)))
        .unwrap_or(true)
}
