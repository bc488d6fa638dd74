//! One run, from the agent's start to its end: a prompt, and those that follow where its session stays.
//!
//! Everything that happens passes one loop (`pump`), in the order in which the agent wrote it. Nothing in
//! the loop waits for anybody: what takes time is a task, whose end is one more thing that happens.

mod ask;
mod calls;
mod delivery;
mod ending;
mod login;
mod open;
mod pump;
mod session;
mod stop;
mod unseen;
mod wanted;

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::{
    process::Command,
    sync::watch,
    task::{Id, JoinSet},
    time::Instant,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    acp::{self, Usage},
    answer::Answer,
    config::{Config, Prompt},
    home::AgentHome,
    journal::Journal,
    meter::Meter,
    permission::{ActGate, Gateway, Judge},
    process::{Heard, Mouth, Process},
    report::{Phase, Reporter, State},
    sandbox::Possible,
    setup::{Reports, StartFolder, Supervised, Untold},
    unsupervised::ActWatch,
    workspace::Workspace,
};

pub use crate::brake::Brake;
pub(crate) use delivery::{Delivery, deliver};
pub use ending::{Done, Ended, Outcome};
pub(crate) use session::refuse_waiting;
pub use stop::Stop;

use ask::{Answered, Open};
use calls::ToolCalls;
use login::AuthMethod;
use wanted::Wanted;

/// For updates that come after the answer to the prompt: a title, the last usage. Half a second is what they take,
/// and whoever waits for the end is told it within one.
const LINGER: Duration = Duration::from_millis(750);
/// As the protocol calls the end of a turn that was cancelled.
pub(crate) const CANCELLED: &str = "cancelled";
const GRACE: Duration = Duration::from_secs(5);
/// Why nothing is reported any more.
pub const UNAUTHORIZED: &str =
    "the callback does not know the token (it answered 401), so nothing more was sent";

/// Everything a run needs.
pub struct Setup {
    pub config: Config,
    /// The agent, ready to be started.
    pub command: Command,
    pub reporter: Reporter,
    pub journal: Arc<Journal>,
    pub judge: Arc<Judge>,
    pub workspace: Arc<Workspace>,
    /// Asks about what the workspace does.
    pub acts: Arc<ActGate>,
    pub stop: Brake,
    /// Where the agent's program is started.
    pub folder: StartFolder,
    /// What is known of the agent, and makes it ask.
    pub supervised: Supervised,
    /// What it does against what was decided.
    pub watch: Arc<Mutex<ActWatch>>,
    /// Who can stop it, besides whoever holds the brake.
    pub gateway: Option<Arc<Gateway>>,
    /// What the agent was confined to is found here, once it is.
    pub confined: Option<Confined>,
    /// For the prompts that follow.
    pub reports: Reports,
}

/// The folders of a confined agent's own, and what its environment differs in. The first goes with the run: it has
/// the agent's temporary files, and beside them the launcher's report.
pub struct Confined {
    pub folder: tempfile::TempDir,
    pub report: PathBuf,
    pub possible: Possible,
    /// `None` where it has one that somebody named.
    pub home: Option<AgentHome>,
    pub variables: Vec<(&'static str, OsString)>,
    /// Variables of this process that it does not have.
    pub without: Vec<&'static str>,
    /// The toolchains in the home of whoever started the run.
    pub readable: Vec<PathBuf>,
}

impl Confined {
    pub fn temp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }
}

pub(crate) struct Run {
    config: Config,
    /// `None` once they have ended.
    process: Option<Process>,
    mouth: Option<Mouth>,
    heard: Heard,
    /// Of the prompt.
    reporter: Reporter,
    reports: Reports,
    /// How the prompts before were reported.
    delivery: Delivery,
    /// What runners before this one left to be sent.
    leftovers: Vec<Untold>,
    journal: Arc<Journal>,
    judge: Arc<Judge>,
    workspace: Arc<Workspace>,
    acts: Arc<ActGate>,
    /// How many questions about what the workspace does are open.
    acts_open: watch::Receiver<usize>,
    stop: Brake,
    gateway: Option<Arc<Gateway>>,
    confined: Option<Confined>,
    /// Kept for as long as the agent lives.
    _folder: StartFolder,
    supervised: Supervised,
    act_watch: Arc<Mutex<ActWatch>>,
    /// What the agent told of its calls.
    calls: ToolCalls,
    answer: Answer,
    usage: Option<Box<RawValue>>,
    warnings: Vec<String>,
    /// The gateway is being told of acts that nobody decided.
    telling: JoinSet<()>,
    unseen: usize,
    /// Looks whether the gateway wants it to stop.
    watching: Option<AbortOnDropHandle<()>>,
    meter: Meter,
    /// Answers that are being found.
    tasks: JoinSet<Answered>,
    open: HashMap<Id, Open>,
    asked: u64,
    requests: u64,
    session: Option<String>,
    /// How one can log in, as the agent says.
    auth_methods: Vec<AuthMethod>,
    phase: Phase,
    /// The mode that the agent says it is in.
    mode: Option<String>,
    /// And the one that it was set to, which it is to stay in.
    kept: Option<String>,
    state: State,
    began: Instant,
    heard_at: Instant,
    prompting: bool,
    /// The number of the prompt in its session, from 1 on.
    number: u64,
    /// The prompt has not ended, for whoever waits for its end.
    prompt_open: bool,
    /// What is set before the prompt.
    wanted: Wanted,
    /// What the agent said when the session was opened: its modes and options.
    opened: Value,
    /// Since when its turn is being cancelled.
    cancelling: Option<Instant>,
    /// When it was last looked whether it is to be.
    looked: Instant,
    /// When its process was seen to have ended; a child of it may still hold its output.
    exited: Option<Instant>,
    /// No turn is under way, or it is being ended: nothing the agent asks for is done.
    turn_over: bool,
}

/// Runs the prompt. Comes back when the agent has ended and everything is reported, or cannot be.
pub async fn run(setup: Setup) -> Ended {
    let reporter = setup.reporter.clone();
    let journal = Arc::clone(&setup.journal);
    let brake = setup.stop.clone();
    reporter.state(State::Starting);
    let keep = setup.config.keep.clone();
    let reports = setup.reports.clone();
    let mut delivery = Delivery::default();
    let mut untold = Vec::new();
    let (outcome, done, taken, reporter) = match Run::start(setup) {
        Ok(mut run) => {
            let outcome = run.live().await;
            delivery = run.delivery;
            untold.append(&mut run.leftovers);
            let (number, reporter) = (run.number, run.reporter.clone());
            (outcome, run.done(), number, reporter)
        }
        Err(error) => {
            let stop = Stop::Failed {
                code: "spawn_failed",
                message: format!("the agent cannot be started: {error}"),
                data: Value::Null,
            };
            let outcome = ending::failed_to_start(&reporter, &stop);
            let taken = keep.as_ref().map_or(1, |keep| keep.taken);
            (outcome, Done::default(), taken, reporter)
        }
    };
    untold.push(reporter.into());
    if let Some(keep) = &keep {
        untold.extend(refuse_waiting(keep, &reports, &journal, taken, &outcome));
    }
    // Told before everything is delivered: whoever finds the journal of a runner that was killed meanwhile
    // knows that the prompt was answered.
    journal.event(&json!({
        "ended": outcome.describe(), "spent": done.spent.describe(), "answer": done.answer, "files": done.files,
        "warnings": done.warnings,
    }));
    let mut outcome = outcome;
    delivery += deliver(&untold, &brake).await;
    if reports.has_receiver() {
        journal.event(&delivery.event(true));
    }
    // A short run has ended before its first report is answered.
    if delivery.drained.unauthorized && matches!(outcome, Outcome::Complete { .. }) {
        outcome = Outcome::Unauthorized;
    }
    Ended {
        outcome,
        done,
        decisions: journal.decisions(),
        drained: delivery.drained,
        reported: delivery.counts,
    }
}

/// Reports of the prompts before, in a session that stays.
fn left_before(config: &Config, reports: &Reports) -> Vec<Untold> {
    if config.keep.is_none() {
        return Vec::new();
    }
    let goes_on = config.prompt.as_ref();
    reports.leftovers(goes_on.map(|_| config.identity.prompt_id.as_str()))
}

impl Run {
    fn start(setup: Setup) -> io::Result<Self> {
        let Setup {
            config,
            command,
            reporter,
            journal,
            judge,
            workspace,
            acts,
            stop,
            gateway,
            confined,
            folder,
            supervised,
            watch,
            reports,
        } = setup;
        let (process, mouth, heard) = Process::start(command, folder.path(), &journal)?;
        let now = Instant::now();
        let last = reporter.counts().last_sequence;
        let number = config.keep.as_ref().map_or(1, |keep| keep.taken);
        Ok(Self {
            number,
            prompt_open: config.prompt.is_some(),
            wanted: Wanted::default(),
            opened: Value::Null,
            cancelling: None,
            looked: now,
            leftovers: left_before(&config, &reports),
            reports,
            delivery: Delivery::default(),
            meter: Meter::new(config.limits.clone()).after(&config.spent),
            config,
            process: Some(process),
            mouth: Some(mouth),
            heard,
            reporter,
            journal,
            judge,
            workspace,
            acts_open: acts.open(),
            acts,
            stop,
            gateway,
            confined,
            _folder: folder,
            calls: ToolCalls::new(
                supervised
                    .profile
                    .is_some_and(|profile| profile.arguments_as_text),
            ),
            supervised,
            act_watch: watch,
            answer: Answer::default(),
            usage: None,
            warnings: Vec::new(),
            telling: JoinSet::new(),
            unseen: 0,
            watching: None,
            tasks: JoinSet::new(),
            open: HashMap::new(),
            // Another process of this prompt may have asked: an answer to it is none to us.
            asked: last,
            requests: 0,
            session: None,
            auth_methods: Vec::new(),
            phase: Phase::Live,
            mode: None,
            kept: None,
            state: State::Starting,
            began: now,
            heard_at: now,
            prompting: false,
            exited: None,
            turn_over: false,
        })
    }

    /// From the first word to the end of the run.
    async fn live(&mut self) -> Outcome {
        if let Err(stop) = self.open().await {
            return self.finish(stop).await;
        }
        let mut last = None;
        loop {
            if self.prompt_open {
                let (Ok(stop) | Err(stop)) = self.prompt().await;
                let stop = self.hear_out(stop).await;
                if self.config.keep.is_none() || !stop.leaves_session() {
                    return self.finish(stop).await;
                }
                last = Some(self.end_prompt(stop).await);
            }
            match self.next_prompt().await {
                Ok(true) => {}
                Ok(false) => return self.leave(None, last).await,
                Err(stop) => return self.leave(Some(stop), last).await,
            }
        }
    }

    async fn prompt(&mut self) -> Result<Stop, Stop> {
        #[derive(Serialize)]
        struct Prompted<'a> {
            #[serde(rename = "sessionId")]
            session: &'a str,
            prompt: Box<RawValue>,
        }
        self.prompt_begins();
        self.set_wanted().await?;
        self.prompting = true;
        self.enter(State::Running);
        let blocks = match &self.config.prompt {
            Some(Prompt::Text(text)) => to_raw_value(&json!([{"type": "text", "text": text}])),
            Some(Prompt::Blocks(blocks)) => Ok(blocks.clone()),
            None => return Err(Stop::protocol("prompt", "there is none")),
        };
        let params = blocks.and_then(|prompt| {
            let session = self.session.as_deref().unwrap_or_default();
            to_raw_value(&Prompted { session, prompt })
        });
        let params = params.map_err(|error| Stop::protocol("prompt", error.to_string()))?;
        self.answered_prompt(&params).await
    }

    async fn answered_prompt(&mut self, params: &impl serde::Serialize) -> Result<Stop, Stop> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Ended {
            stop_reason: String,
            #[serde(default)]
            usage: Option<Box<RawValue>>,
        }
        let result = self.call("session/prompt", params).await;
        // Whatever else stopped it leaves a prompt to be cancelled.
        self.prompting = !matches!(result, Ok(_) | Err(Stop::Refused { .. }));
        let result = match result {
            // Some agents answer a turn that was cancelled with an error.
            Err(Stop::Refused { .. }) if self.cancelling.is_some() => {
                return Ok(Stop::Complete {
                    reason: CANCELLED.to_owned(),
                    usage: None,
                });
            }
            Err(stop) => return Err(self.refused_prompt(stop)),
            Ok(result) => result,
        };
        let answer = result.as_deref().map(RawValue::get).unwrap_or_default();
        let Ok(Ended { stop_reason, usage }) = serde_json::from_str(answer) else {
            let message = "its answer to the prompt has no `stopReason`";
            return Err(Stop::protocol("session/prompt", message));
        };
        let usage = usage.filter(|usage| usage.get() != "null");
        let told = serde_json::from_str(answer).unwrap_or_default();
        self.meter.used(&Usage::of_answer(&told));
        self.usage.clone_from(&usage);
        Ok(Stop::Complete {
            reason: stop_reason,
            usage,
        })
    }

    /// What is left of it to tell.
    fn done(self) -> Done {
        Done {
            spent: self.meter.spent(),
            files: self.meter.files(),
            answer: self.answer.into_text(),
            session: self.session,
            usage: self.usage,
            warnings: self.warnings,
        }
    }

    /// Asks the agent, and handles everything else until it answers.
    async fn call(
        &mut self,
        method: &'static str,
        params: &impl serde::Serialize,
    ) -> Result<Option<Box<RawValue>>, Stop> {
        self.requests += 1;
        let id = self.requests;
        self.say(acp::request(id, method, params));
        loop {
            if let Some((answered, result)) = self.step().await?
                && answered == id
            {
                return result.map_err(|error| Stop::Refused { method, error });
            }
        }
    }

    fn say(&self, line: String) {
        if let Some(mouth) = &self.mouth {
            self.journal.said(&line);
            mouth.say(line);
        }
    }

    fn enter(&mut self, state: State) {
        if self.state == state {
            return;
        }
        self.state = state;
        let spent = self.meter.spent().describe();
        self.journal.event(&json!({"state": state, "spent": spent}));
        self.reporter.state(state);
    }

    fn grace(&self) -> Duration {
        self.config.limits.grace.unwrap_or(GRACE)
    }
}
