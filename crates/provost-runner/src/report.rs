//! What whoever started the run is told of it: signed, in order, at least once. A [`Reporter`] is a handle that
//! never waits for the network: what it is told is folded, numbered and queued at once, and sent by its tasks.

mod answers;
mod batch;
mod body;
mod clock;
mod core;
mod end;
mod event;
mod fold;
mod outcome;
mod permissions;
mod queue;
mod rebuild;
mod send;
mod settings;
mod sign;
mod spool;

use std::{fmt, io, path::Path, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use answers::{Answer, Answers, OptionKind};
pub use body::Kind;
pub use clock::Clock;
pub use end::{End, Failure};
pub use event::Event;
pub use outcome::Backoff;
pub use rebuild::{Rebuilder, Rebuilt};
pub use settings::{Observe, Settings};

pub use crate::config::Callback;

use self::{
    body::Content,
    core::{Core, Shared},
    queue::{Bounds, Queue},
    send::{Post, Sender},
    sign::{Signer, hook_id},
    spool::Spool,
};
use crate::web::{self, Limits, Web};

/// Whether a notification is news or was said in an earlier run and is told again by `session/load`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Live,
    Replay,
}

/// Where the prompt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Starting,
    Running,
    WaitingPermission,
    Idle,
    Done,
    Failed,
    Cancelled,
}

/// How the reporting goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub notifications: u64,
    pub last_sequence: u64,
    pub delivered: u64,
    /// Because too much waited.
    pub dropped: u64,
    /// By the receiver, each with its own status.
    pub refused: u64,
    /// The last of these.
    pub refusal: Option<u16>,
    /// Whether the terminal report is among them.
    pub end_refused: bool,
    /// Attempts after the first.
    pub retries: u64,
    /// Queued, and none of the above yet.
    pub waiting: u64,
}

impl Counts {
    /// Whether nobody was told anything, because the receiver wanted none of it.
    pub fn refused_everything(&self) -> bool {
        self.refused > 0 && self.delivered == 0
    }

    /// What the receiver did not take, in words.
    pub fn refusals(&self) -> Option<String> {
        let status = self.refusal?;
        let refused = match self.refused {
            1 => "1 report".to_owned(),
            many => format!("{many} reports"),
        };
        Some(if self.refused_everything() {
            format!(
                "the callback refused every report ({refused}, the last with {status}): nobody was told of this run"
            )
        } else if self.end_refused {
            format!(
                "the callback refused {refused}, the last with {status}: it does not know how this run ended"
            )
        } else {
            format!("the callback refused {refused}, the last with {status}")
        })
    }
}

/// Of several prompts together.
impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.notifications += other.notifications;
        self.last_sequence += other.last_sequence;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.refused += other.refused;
        self.refusal = other.refusal.or(self.refusal);
        self.end_refused |= other.end_refused;
        self.retries += other.retries;
        self.waiting += other.waiting;
    }
}

/// What was left when the reporting ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Reports that were not delivered.
    pub left: usize,
    /// Of these, how many are in the spool folder. The next run of the same prompt sends them first.
    pub kept: usize,
    pub unauthorized: bool,
}

impl std::ops::AddAssign for Drained {
    fn add_assign(&mut self, other: Self) {
        self.left += other.left;
        self.kept += other.kept;
        self.unauthorized |= other.unauthorized;
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the callback url is not one: {0}")]
    Url(web::Error),
    #[error("the token cannot be sent: it holds characters that no header may")]
    Token,
    #[error("the spool folder cannot be used: {0}")]
    Spool(io::Error),
}

/// A handle on the reporting of one prompt. When the last one is dropped, the reporting stops.
#[derive(Clone)]
pub struct Reporter {
    shared: Arc<Shared>,
    answers: Answers,
    _running: Arc<DropGuard>,
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reporter").field(&self.counts()).finish()
    }
}

impl Reporter {
    /// Starts the tasks that send. Without a callback there are none, and only the snapshot is kept. Reports
    /// that an earlier process of the same prompt left in the spool folder go first, and numbers go on from
    /// theirs.
    ///
    /// Must be called inside a tokio runtime.
    pub fn start(settings: Settings) -> Result<Self, Error> {
        let Some(callback) = &settings.callback else {
            return Self::with(settings, None);
        };
        let url = web::url(&callback.url).map_err(Error::Url)?;
        let deadline = settings.deadline;
        // A connection of its own for the heartbeat: it must not wait behind a report.
        let [chain, pulse] = [deadline, deadline.min(settings.heartbeat)].map(|deadline| {
            let limits = Limits {
                deadline,
                ..Limits::default()
            };
            let (web, url) = (Arc::new(Web::new(limits)), url.clone());
            let post: Post = Arc::new(move |headers, body| {
                let (web, url) = (Arc::clone(&web), url.clone());
                Box::pin(async move { web.post(&url, headers, body).await })
            });
            post
        });
        Self::with(settings, Some([chain, pulse]))
    }

    fn with(settings: Settings, posts: Option<[Post; 2]>) -> Result<Self, Error> {
        let signer = match &settings.callback {
            Some(callback) => Some(Arc::new(Signer::new(callback).ok_or(Error::Token)?)),
            None => None,
        };
        let (queue, last) = match &signer {
            Some(_) => queue(&settings)?,
            None => (None, 0),
        };
        let prompt = hook_id(&settings.identity.prompt_id);
        let core = Core::new(settings.identity, settings.observe, queue, last);
        let (answer, answers) = mpsc::unbounded_channel();
        let unauthorized = settings.unauthorized;
        let shared = Arc::new(Shared::new(core, settings.clock, unauthorized, answer));
        if let (Some(signer), Some([chain, pulse])) = (signer, posts) {
            let sender = |post| Sender {
                shared: Arc::clone(&shared),
                signer: Arc::clone(&signer),
                prompt: prompt.clone(),
                post,
            };
            let chain = send::chain(sender(chain), settings.backoff);
            spawn(&shared, send::in_turn(settings.turn, chain));
            let heartbeat = send::heartbeat(sender(pulse), settings.heartbeat);
            spawn(&shared, send::until_ended(Arc::clone(&shared), heartbeat));
            spawn(&shared, send::window(Arc::clone(&shared)));
        }
        Ok(Self {
            answers: Answers::new(answers),
            _running: Arc::new(shared.halt.clone().drop_guard()),
            shared,
        })
    }

    /// The session that reports from now on are of.
    pub fn session(&self, id: &str) {
        self.shared.lock().session(id);
        self.shared.queued.notify_one();
    }

    /// The raw params of a `session/update`: they go out as they are, in the order of these calls.
    pub fn notification(&self, params: Box<RawValue>, phase: Phase) {
        self.shared
            .lock()
            .notification(params, phase, Instant::now());
        self.shared.opened.notify_one();
        self.shared.queued.notify_one();
    }

    /// Any other notification of the agent: a report of its own, after all that came before it.
    pub fn agent_notification(&self, method: &str, params: Option<Box<RawValue>>) {
        let params = params.as_deref();
        self.report(Content::Agent { method, params });
    }

    /// Shown in snapshots and heartbeats.
    pub fn state(&self, state: State) {
        self.shared.lock().state(state);
    }

    /// The agent waits for a permission. With `announce` it is also asked for in a report of its own, with
    /// the URL where an answer may be sent if that is not empty.
    pub fn permission_pending(&self, id: &str, params: &RawValue, announce: Option<&str>) {
        self.shared.lock().permissions.ask(id, params);
        if let Some(url) = announce {
            self.report(Content::Permission {
                id,
                request: params,
                answer_url: (!url.is_empty()).then_some(url),
            });
        }
    }

    /// The permission is no longer waited for.
    pub fn permission_settled(&self, id: &str, outcome: &str) {
        self.shared.lock().permissions.settle(id, outcome);
    }

    /// Stands in the terminal report.
    pub fn warn(&self, warning: &str) {
        self.shared.lock().warnings.push(warning.to_owned());
    }

    /// Queues what is pending as an update of its own, then the terminal report, which is the last: what is told
    /// afterwards is not reported, and the heart stops.
    pub fn end(&self, end: End) {
        self.shared.ended.cancel();
        self.shared.lock().end(end);
        self.shared.queued.notify_one();
    }

    /// What an earlier process left is sent, and nothing is added to it: no heartbeat either.
    pub(crate) fn has_ended(&self) {
        self.shared.ended.cancel();
    }

    /// Sends a report that was made before, under its own number.
    pub fn again(&self, report: Rebuilt) {
        self.shared.lock().again(report);
        self.shared.queued.notify_one();
    }

    /// Ends the reporting: waits until all is delivered or dropped, the token was refused, or the patience is
    /// over. What is left then is written to the spool folder, and nothing is sent any more.
    pub async fn drained(&self, patience: Duration) -> Drained {
        self.shared.lock().flush();
        self.shared.queued.notify_one();
        tokio::select! {
            () = self.delivered() => {}
            () = self.shared.unauthorized.cancelled() => {}
            () = tokio::time::sleep(patience) => {}
        }
        self.shared.halt.cancel();
        let mut core = self.shared.lock();
        let (left, kept) = match &mut core.queue {
            Some(queue) => (queue.len(), queue.keep()),
            None => (0, 0),
        };
        Drained {
            left,
            kept,
            unauthorized: self.shared.unauthorized.is_cancelled(),
        }
    }

    async fn delivered(&self) {
        loop {
            let mut settled = std::pin::pin!(self.shared.settled.notified());
            settled.as_mut().enable();
            if self
                .shared
                .lock()
                .queue
                .as_ref()
                .is_none_or(|queue| queue.len() == 0)
            {
                return;
            }
            settled.await;
        }
    }

    /// Cancelled when the receiver answers 401: from then on nothing is posted.
    pub fn unauthorized(&self) -> CancellationToken {
        self.shared.unauthorized.clone()
    }

    /// Decisions on permissions that wait, found in the receiver's answers.
    pub fn answers(&self) -> Answers {
        self.answers.clone()
    }

    /// The session as it stands, as reports carry it; `None` only if it cannot be written.
    pub fn snapshot(&self) -> Option<Box<RawValue>> {
        self.shared.lock().snapshot().ok()
    }

    pub fn counts(&self) -> Counts {
        self.shared.lock().counts()
    }

    fn report(&self, content: Content<'_>) {
        self.shared.lock().report(content);
        self.shared.queued.notify_one();
    }
}

/// The prompts of a run of which reports are left in a spool folder, the oldest first.
pub(crate) fn left_prompts(spool: &Path, run: &str) -> Result<Vec<String>, Error> {
    spool::prompts(spool, run).map_err(Error::Spool)
}

/// And the last number that was used for this prompt.
fn queue(settings: &Settings) -> Result<(Option<Queue>, u64), Error> {
    let bounds = Bounds {
        memory: settings.memory_bytes,
        disk: settings.spool_bytes,
    };
    let Some(folder) = &settings.spool else {
        return Ok((
            Some(Queue::new(bounds, None, Vec::new())),
            settings.last_sequence,
        ));
    };
    let (spool, left) = Spool::open(folder, &settings.identity.prompt_id).map_err(Error::Spool)?;
    let last = left.last().map_or(0, |one| one.sequence);
    let last = last.max(settings.last_sequence);
    Ok((Some(Queue::new(bounds, Some(spool), left)), last))
}

fn spawn(shared: &Arc<Shared>, task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(send::until_stopped(Arc::clone(shared), task));
}

#[cfg(test)]
mod tests;
