//! The fleet: agents that are run on this machine, one runner for each, so many at once.
//!
//! A run is a folder and a process, and neither needs the gateway to go on. What is known of it is read from
//! its journal, so that whoever comes after a restart knows the same.

mod admit;
mod changes;
mod end;
mod feed;
mod folder;
mod key;
mod limits;
mod process;
mod prompts;
mod request;
mod run;
mod settings;
mod story;
mod tend;
mod tree;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use provost_core::gate::Gate;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use changes::{Change, Changed, Changes};
pub use feed::Entry;
pub use folder::Record;
pub use key::PREFIX;
pub use prompts::{PROMPT_FIELDS, PromptView};
pub use request::FIELDS;
pub use run::Run;
pub use settings::{Agent, Sandbox, Settings, USUAL_OUTPUT, USUAL_WALL, usual_limits};
pub use story::{Failure, Prompt, Spent, State, Story};

use end::End;
use folder::Folder;
use key::Keys;

/// The name of the secret that the keys of runs are made from.
const SECRET: &str = "runs";

pub struct Fleet {
    settings: Settings,
    gate: Arc<Gate>,
    /// The gateway's own folder.
    data: PathBuf,
    /// This program, which runs agents as well.
    launcher: PathBuf,
    /// Where runs reach the gateway.
    url: String,
    keys: Keys,
    /// One is taken in at a time, so that no more are than may be.
    door: Mutex<()>,
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
    stopping: CancellationToken,
}

#[derive(Default)]
struct Inner {
    /// By their ids, which begin with the time.
    runs: BTreeMap<String, Arc<Run>>,
    queue: VecDeque<Arc<Run>>,
    running: usize,
}

/// What a fleet is made of.
pub struct Parts {
    pub settings: Settings,
    pub gate: Arc<Gate>,
    pub data: PathBuf,
    pub launcher: PathBuf,
    pub url: String,
}

/// Why a run is not taken in, or not started.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{}", .0.join("; "))]
    Bad(Vec<String>),
    #[error("`repoDir` is no folder within what is allowed here: {0}")]
    Outside(String),
    #[error("{0} runs wait already, and no more may")]
    Full(usize),
    #[error("{0}")]
    Stopped(String),
    #[error("this Idempotency-Key stands for another {0}")]
    KeyReused(&'static str),
    #[error("the session `{name}` is open in run {run}")]
    SessionOpen { name: String, run: String },
    #[error("this run ends with its prompt, so no other can follow")]
    NotKept,
    #[error("this run has ended, so no prompt can follow")]
    Ended,
    #[error("{0} prompts of this run wait already, or it has had as many as a run may")]
    PromptsFull(usize),
    #[error("this prompt has ended before: {}", .0.name())]
    PromptEnded(State),
    #[error("it cannot be kept: {0}")]
    Broken(#[from] io::Error),
}

/// What became of somebody's wish to end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It has ended by this.
    Now,
    /// Its runner is told.
    Soon,
    /// It had ended before.
    Already,
}

impl Refused {
    fn bad(problem: impl Into<String>) -> Self {
        Self::Bad(vec![problem.into()])
    }

    fn nothing() -> Self {
        Self::bad("no agent is configured")
    }
}

impl Fleet {
    /// Finds what is there. Nothing is started yet, and runs that live are known by their keys.
    pub async fn open(parts: Parts) -> Result<Arc<Self>, Refused> {
        let secret = parts.gate.store().secret(SECRET).await;
        let secret = secret.map_err(|error| io::Error::other(error.to_string()))?;
        let fleet = Arc::new(Self {
            keys: Keys::new(secret),
            settings: parts.settings,
            gate: parts.gate,
            data: parts.data,
            launcher: parts.launcher,
            url: parts.url,
            door: Mutex::default(),
            inner: Mutex::default(),
            changes: watch::channel(0).0,
            stopping: CancellationToken::new(),
        });
        let finding = Arc::clone(&fleet);
        let found = tokio::task::spawn_blocking(move || finding.find()).await;
        found.map_err(io::Error::other)??;
        Ok(fleet)
    }

    /// Goes on with what was there, and starts what waits.
    pub fn start(self: &Arc<Self>) {
        let open: Vec<_> = {
            let inner = self.inner();
            let open = inner.runs.values().filter(|run| run.is_open());
            open.cloned().collect()
        };
        for run in open {
            // Where it cannot be told, it is looked at again while it is tended.
            let lives = process::lives(&run.folder).unwrap_or(true);
            let story = run.story();
            if !lives && !story.has_ended() && (story.state == State::Queued || !story.began) {
                self.inner().queue.push_back(run);
            } else {
                self.inner().running += 1;
                // A runner that is gone is found to be: then it is judged as any other.
                tokio::spawn(Arc::clone(self).drive(run, true));
            }
        }
        self.next();
    }

    /// The gateway goes: what runs goes on without it.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many run, and how many wait for their turn.
    pub fn counts(&self) -> (usize, usize) {
        let inner = self.inner();
        (inner.running, inner.queue.len())
    }

    pub fn run(&self, id: &str) -> Option<Arc<Run>> {
        self.inner().runs.get(id).cloned()
    }

    /// The newest first.
    pub fn runs(&self) -> Vec<Arc<Run>> {
        self.inner().runs.values().rev().cloned().collect()
    }

    /// Its place among those that wait, from 1 on.
    pub fn position(&self, id: &str) -> Option<usize> {
        let inner = self.inner();
        let at = inner.queue.iter().position(|run| run.record.id == id);
        at.map(|at| at + 1)
    }

    /// The name at the gate of the run whose key this is, while it runs.
    pub fn agent_of(&self, key: &str) -> Option<Arc<str>> {
        let run = self.run(self.keys.run(key)?)?;
        let ended = run.story().has_ended();
        (!ended).then(|| run.agent_name().into())
    }

    /// Tells whenever a run stands elsewhere.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Ends a run, for whoever is named.
    pub async fn cancel(self: &Arc<Self>, run: &Arc<Run>, by: &str) -> Cancelled {
        if run.story().has_ended() {
            return Cancelled::Already;
        }
        let queued = {
            let mut inner = self.inner();
            let at = inner
                .queue
                .iter()
                .position(|queued| Arc::ptr_eq(queued, run));
            at.and_then(|at| inner.queue.remove(at)).is_some()
        };
        let (noting, by) = (Arc::clone(run), by.to_owned());
        let now = self.gate.now();
        let noted = tokio::task::spawn_blocking(move || {
            noting.note(now, &json!({"cancelling": by}));
            let over = queued && noting.receiver().is_none();
            if over {
                noting.note(now, &End::cancelled(&by).event());
                noting.close();
            }
            over
        });
        let over = noted.await.unwrap_or_else(|error| {
            tracing::error!(%error, "cancelling a run failed");
            queued
        });
        run.wanted.notify_one();
        self.changed();
        if over {
            return Cancelled::Now;
        }
        if queued {
            // It begins by telling its receiver, and ends with that.
            self.inner().running += 1;
            tokio::spawn(Arc::clone(self).drive(Arc::clone(run), false));
        }
        Cancelled::Soon
    }

    /// Starts what waits, as far as there is room.
    fn next(self: &Arc<Self>) {
        loop {
            let mut inner = self.inner();
            if inner.running >= self.settings.concurrency || self.stopping.is_cancelled() {
                return;
            }
            let Some(run) = inner.queue.pop_front() else {
                return;
            };
            inner.running += 1;
            drop(inner);
            tokio::spawn(Arc::clone(self).drive(run, false));
        }
    }

    async fn finished(self: &Arc<Self>, run: &Arc<Run>) {
        let (closing, fleet) = (Arc::clone(run), Arc::clone(self));
        let closed = tokio::task::spawn_blocking(move || {
            closing.close();
            fleet.prune();
        });
        if let Err(error) = closed.await {
            tracing::error!(%error, "the end of a run could not be kept");
        }
        self.withdraw(run).await;
        self.inner().running -= 1;
        self.changed();
        self.next();
    }

    /// A run that has ended waits for nobody: what it asked is no longer anybody's to answer.
    async fn withdraw(&self, run: &Run) {
        let Some(session) = run.story().session_id else {
            return;
        };
        let (agent, by) = (run.agent_name(), format!("run:{}", run.record.id));
        let withdrawn = self.gate.session_ended(&agent, &session, &by).await;
        if let Err(error) = withdrawn {
            tracing::error!(%error, run.id = %run.record.id, "what a run asked stays in the inbox");
        }
    }

    /// The oldest of those that have ended make room.
    fn prune(&self) {
        let mut old = Vec::new();
        {
            let mut inner = self.inner();
            let ended = inner
                .runs
                .values()
                .rev()
                .filter(|run| run.story().has_ended());
            old.extend(ended.skip(self.settings.keep).cloned());
            for run in &old {
                inner.runs.remove(&run.record.id);
            }
        }
        for run in old {
            run.folder.remove();
        }
    }

    /// Takes in what earlier gateways left.
    fn find(&self) -> Result<(), Refused> {
        let place = self.place();
        std::fs::create_dir_all(&place)?;
        private(&place)?;
        for entry in std::fs::read_dir(&place)?.flatten() {
            let folder = Folder::at(entry.path());
            let Some(record) = folder.read::<Record>("record.json") else {
                continue;
            };
            if entry.file_name().to_str() != Some(&record.id) {
                continue;
            }
            let id = record.id.clone();
            let run = match folder.read::<Story>("end.json") {
                Some(story) if story.has_ended() => Run::ended(record, folder, story),
                _ => {
                    let run = Run::new(record, folder);
                    run.catch_up()?;
                    if run.record.keep.is_some() && !run.story().has_ended() {
                        run.find_prompts(self.gate.now());
                    }
                    // What is not told yet still needs the request.
                    let told = process::lives(&run.folder).is_ok_and(|lives| !lives)
                        && (run.receiver().is_none() || !run.has_left_reports());
                    if run.story().has_ended() && told {
                        run.close();
                    }
                    run
                }
            };
            self.inner().runs.insert(id, Arc::new(run));
        }
        self.prune();
        Ok(())
    }

    fn place(&self) -> PathBuf {
        self.data.join("runs")
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn private(place: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o700))
}
