//! Puts a run together from its configuration: whom to tell, whom to ask, and what to start.

mod confine;
mod reports;
mod start;
mod supervise;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::{net::TcpListener, process::Command, sync::mpsc};

use crate::{
    agents::{self, Environment, Overlay},
    brake::Brake,
    config::{By, Config, DEFAULT_COMMAND, anchored, split},
    inbox::Inbox,
    journal::{Journal, last_sequence},
    keeper, metering,
    permission::{
        ActGate, Callbacks, Gateway, GatewayJudge, Given, Judge, Person, Question, endpoint,
    },
    report::{Clock, Reporter},
    run::{Confined, Setup},
    sandbox,
    unsupervised::ActWatch,
    watch::Teller,
    workspace::{self, Confinement, Open, Workspace},
};

pub use reports::Reports;
pub(crate) use reports::{Untold, note};
pub use start::StartFolder;
pub use supervise::Supervised;

/// What of our own environment is not the agent's: it would let it speak for us.
const OURS: [&str; 4] = [
    "FACTORY_SUPERVISOR_CONFIG_PATH",
    "PROVOST_KEY",
    "PROVOST_CONFIG",
    "PROVOST_CALLBACK_TOKEN",
];

/// What the machine and the caller give a run besides its configuration.
#[derive(Default)]
pub struct Surroundings {
    /// This program, for confining what it starts.
    pub launcher: PathBuf,
    /// This program, for ending what it started where it cannot do so any more; see [`keeper`].
    pub keeper: Option<PathBuf>,
    /// `CODING_AGENT_ACP_COMMAND`, then `CLAUDE_ACP_COMMAND`.
    pub command: Option<String>,
    /// Below this confined agents have homes of their own, with sessions that can be resumed; see [`crate::home`].
    pub homes: Option<PathBuf>,
    /// Below this the agent's program is started, in a folder of its own; see [`StartFolder`].
    pub starts: Option<PathBuf>,
    pub brake: Brake,
    /// For whoever watches: the journal's lines, as they are written.
    pub seen: Option<Teller>,
    /// How often the receiver hears that we live.
    pub heartbeat: Option<Duration>,
}

#[derive(Debug, thiserror::Error)]
pub enum Unready {
    #[error("the journal cannot be written: {0}")]
    Journal(std::io::Error),
    #[error("the folder with the session's prompts cannot be used: {0}")]
    Prompts(std::io::Error),
    #[error(transparent)]
    Report(#[from] crate::report::Error),
    #[error("the gateway cannot be used: {0}")]
    Gateway(#[from] crate::permission::Unreachable),
    #[error("answers cannot be listened for at {0}: {1}")]
    Listen(std::net::SocketAddr, std::io::Error),
    #[error("the folder `{0}` cannot be worked in: {1}")]
    Folder(PathBuf, std::io::Error),
    #[error("the agent's command `{0}` cannot be split into words: look at its quotes")]
    Command(String),
    #[error("the agent cannot be given a folder to start in: {0}")]
    Start(std::io::Error),
    #[error("the agent cannot be given a folder for its temporary files: {0}")]
    Temporary(std::io::Error),
    #[error("the agent cannot be confined: {0}")]
    Sandbox(#[from] sandbox::Refused),
    #[error(transparent)]
    Home(#[from] crate::home::HomeError),
    #[error(
        "`{}` has your home in it, so a sandbox would open all of that: have the agent work in a folder below, \
         or say that it may (`sandbox: {{home: operator}}`)", .0.display()
    )]
    RepoIsHome(PathBuf),
    #[error(
        "`{0}` starts an agent that is not known here, so nothing makes it ask before it acts. \
         Confine the run (`sandbox: true`), name the agent if it is one of {known} (`agent`), \
         or set `unknownAgent: allow` if you know that it always asks",
        known = agents::KNOWN.map(|profile| profile.name).join(", ")
    )]
    UnknownAgent(String),
    #[error("{0}. Leave the limit out, or `limits.strict`")]
    Limits(String),
    #[error("{0}")]
    Mode(String),
    #[error(
        "{0} asks about no file that it writes itself: leave `writeTextFile` of `clientCapabilities` on, so that it \
         writes through Provost, which asks"
    )]
    WritesUnasked(&'static str),
    #[error(
        "`{flag}` in `command` lets {agent} act without asking: leave it out, or set `permissions: auto`"
    )]
    Loosened { agent: &'static str, flag: String },
    #[error(transparent)]
    Unsafe(#[from] agents::Unsafe),
}

/// A run that can be started, and the questions for the person at the terminal, where it is their run.
pub async fn prepare(
    mut config: Config,
    around: Surroundings,
) -> Result<(Setup, Option<mpsc::UnboundedReceiver<Question>>), Unready> {
    let folder = |error| Unready::Folder(config.repo.clone(), error);
    let repo = config.repo.canonicalize().map_err(folder)?;
    config.repo = repo;
    let (journal, last) = match &config.journal {
        Some(path) => {
            let last = last_sequence(path, &config.identity.prompt_id);
            let journal = Journal::open(path, Clock::system()).map_err(Unready::Journal)?;
            (journal, last)
        }
        None => (Journal::default(), 0),
    };
    let journal = Arc::new(match around.seen.clone() {
        Some(seen) => journal.watched(move |line| seen.tell(line)),
        None => journal,
    });
    let reports = Reports::new(&config, &journal, around.heartbeat);
    let prompt = &config.identity.prompt_id;
    let reporter = match &config.prompt {
        Some(_) => reports.of(prompt, last)?,
        None => reports.silent(prompt)?,
    };
    let gateway = match &config.gateway {
        Some(gateway) => Some(Arc::new(Gateway::new(gateway)?)),
        None => None,
    };
    let (judge, questions) = judge(&config, gateway.clone(), &reporter, &around.brake).await?;
    let words = command(&config, around.command.as_deref())?;
    let folder = StartFolder::new(around.starts.as_deref()).map_err(Unready::Start)?;
    let environment = Environment::of_process(&config.env);
    let agent = supervise::agent(&config, &words);
    let mut confined = confine::confined(&config, agent, &around, &environment).await?;
    let environment = confine::environment(confined.as_ref(), environment);
    let supervised = supervise::supervised(&config, &words, &folder, &environment)?;
    let unenforced = unenforced(&config, &supervised)?;
    let words = [&words[..], &supervised.overlay.arguments].concat();
    let launcher = &around.launcher;
    let confinement = confined.as_ref().map(|confined| {
        confine::confinement(&config, launcher, &words, &folder, confined, &environment)
    });
    let confinement = confinement.transpose()?;
    if let Some(home) = confined.as_mut().and_then(|one| one.home.as_mut()) {
        home.linked_from(folder.own());
        home.watch_logins();
    }
    let watch = Arc::new(Mutex::new(ActWatch::new(supervised.profile, &config.repo)));
    let acts = Arc::new(ActGate::new(
        Arc::clone(&judge),
        reporter.clone(),
        config.permissions.timeout,
        &config.identity.prompt_id,
        Arc::clone(&journal),
        &config.repo,
    ));
    let workspace = workspace(&config, &acts, confinement.as_ref(), confined.as_ref())?;
    let command = start(
        &config,
        &words,
        &around,
        &supervised.overlay,
        confinement.as_ref(),
        confined.as_ref(),
    )?;
    if let Some(keep) = &config.keep {
        Inbox::at(&keep.prompts)
            .reopen()
            .map_err(Unready::Prompts)?;
    }
    let identity = &config.identity;
    journal.event(&json!({
        "started": {"runId": identity.run_id, "taskId": identity.task_id, "sandboxId": identity.sandbox_id,
            "promptId": config.prompt.as_ref().map(|_| &identity.prompt_id), "repoDir": config.repo, "command": words,
            "permissions": config.permissions.by.name(), "agent": supervised.profile.map(|profile| profile.name),
            "unasked": supervised.mode.and(supervised.profile).map(|profile| profile.unasked),
            "pid": std::process::id()},
    }));
    for warning in unenforced {
        journal.warning(&warning);
    }
    let setup = Setup {
        config,
        command,
        folder,
        supervised,
        watch,
        reporter,
        journal,
        judge,
        workspace: Arc::new(workspace),
        acts,
        stop: around.brake,
        gateway,
        confined,
        reports,
    };
    Ok((setup, questions))
}

/// What its limits cannot do, in words.
fn unenforced(config: &Config, supervised: &Supervised) -> Result<Vec<String>, Unready> {
    let found = metering::before(&config.limits, supervised.metering(), supervised.title());
    let words: Vec<_> = found.iter().map(ToString::to_string).collect();
    if config.limits.strict && !words.is_empty() {
        return Err(Unready::Limits(words.join("; ")));
    }
    Ok(words)
}

async fn judge(
    config: &Config,
    gateway: Option<Arc<Gateway>>,
    reporter: &Reporter,
    brake: &Brake,
) -> Result<(Arc<Judge>, Option<mpsc::UnboundedReceiver<Question>>), Unready> {
    let mut questions = None;
    let judge = match (config.permissions.by, gateway) {
        (By::Auto, _) => Judge::Auto,
        (By::Gateway, Some(gateway)) => Judge::Gateway(GatewayJudge {
            gateway,
            folder: config.repo.display().to_string(),
            brake: brake.clone(),
        }),
        (By::Callback, _) => Judge::Callback(callbacks(config, reporter).await?),
        (By::Terminal, _) => {
            let (person, asked) = Person::new();
            questions = Some(asked);
            Judge::Person(person)
        }
        (By::Deny | By::Gateway, _) => Judge::Deny,
    };
    Ok((Arc::new(judge), questions))
}

/// Answers come with the answers to reports, and at an address of ours where one is wanted.
async fn callbacks(config: &Config, reporter: &Reporter) -> Result<Callbacks, Unready> {
    let mut callbacks = Callbacks::new("");
    if let (Some(listen), Some(callback)) = (config.permissions.listen, &config.callback) {
        let failed = |error| Unready::Listen(listen, error);
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let at = listener.local_addr().map_err(failed)?;
        callbacks = Callbacks::new(&endpoint::address(at));
        let token = callback.token.clone();
        let endpoint = endpoint::Endpoint::new(callbacks.clone(), token, Clock::system());
        tokio::spawn(Arc::new(endpoint).serve(listener));
    }
    hear_answers(&callbacks, reporter);
    Ok(callbacks)
}

/// The answers to reports may hold answers to questions.
pub(crate) fn hear_answers(callbacks: &Callbacks, reporter: &Reporter) {
    let (answers, to) = (reporter.answers(), callbacks.clone());
    tokio::spawn(async move {
        while let Some(answer) = answers.next().await {
            to.answer(Given {
                permission_id: answer.permission_id,
                option_id: answer.option_id,
                kind: answer.kind.map(|kind| kind.name().to_owned()),
            });
        }
    });
}

/// The environment's, the configuration's, or the usual one.
fn command(config: &Config, given: Option<&str>) -> Result<Vec<String>, Unready> {
    let words = |line: &str| split(line).ok_or_else(|| Unready::Command(line.to_owned()));
    let words = match (given, &config.command) {
        (Some(line), _) if !line.trim().is_empty() => words(line)?,
        (_, Some(words)) => words.clone(),
        _ => words(DEFAULT_COMMAND)?,
    };
    let here = std::env::current_dir().map_err(Unready::Start)?;
    Ok(anchored(words, &here))
}

fn workspace(
    config: &Config,
    acts: &Arc<ActGate>,
    confinement: Option<&Confinement>,
    confined: Option<&Confined>,
) -> Result<Workspace, Unready> {
    let failed = |error| Unready::Folder(config.repo.clone(), error);
    let workspace = Workspace::new(&config.repo, workspace::Limits::default()).map_err(failed)?;
    let workspace = if config.permissions.by == By::Auto {
        workspace.with_gate(Arc::new(Open))
    } else {
        workspace.with_gate(Arc::clone(acts) as Arc<dyn workspace::Gate>)
    };
    let workspace = match config.env.get("HOME") {
        Some(home) => workspace.with_variable("HOME", home),
        None => workspace,
    };
    Ok(match (confinement, confined) {
        (Some(confinement), Some(confined)) => confine::variables(confined)
            .into_iter()
            .fold(workspace, |workspace, (name, value)| {
                workspace.with_variable(name, value)
            })
            .with_confinement(confinement.clone()),
        _ => workspace,
    })
}

fn start(
    config: &Config,
    words: &[String],
    around: &Surroundings,
    overlay: &Overlay,
    confinement: Option<&Confinement>,
    confined: Option<&Confined>,
) -> Result<Command, Unready> {
    let command = if let Some(confinement) = confinement {
        sandbox::command(&confinement.launcher, &confinement.spec, words)?
    } else {
        let (program, arguments) = words.split_first().ok_or(sandbox::Refused::Nothing)?;
        let mut command = Command::new(program);
        command.args(arguments);
        command
    };
    // One that is not there is left for the start itself to tell.
    let keeper = around.keeper.as_deref();
    let keeper = keeper.filter(|_| sandbox::find_program(command.as_std().get_program()).is_some());
    let mut command = keeper::kept(keeper, command);
    for name in OURS {
        command.env_remove(name);
    }
    // Where we were started is not where the agent is.
    command.env_remove("PWD").env_remove("OLDPWD");
    if let Some(confined) = confined {
        for name in &confined.without {
            command.env_remove(name);
        }
        command.envs(confine::variables(confined));
    }
    command.envs(&config.env);
    for name in &overlay.without {
        command.env_remove(name);
    }
    let variables = overlay.variables.iter();
    command.envs(variables.map(|(name, value)| (name, value)));
    if let Some(confined) = confined {
        command.env("TMPDIR", confined.temp());
    }
    Ok(command)
}
