//! `provost run`: one prompt of a coding agent, unattended, reported and supervised.

mod asked;
mod install;
mod place;
mod progress;
mod replay;
mod sessions;
mod told;
mod watch;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Subcommand;
use provost_runner::{
    agents,
    brake::Brake,
    config::{self, By, Config, Confine, Missing},
    keeper, leftovers, orphans,
    permission::{Gateway, Standing},
    run::{Ended, Outcome, run as drive},
    sandbox,
    setup::{Surroundings, prepare},
    unbegun::Unbegun,
};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::Global,
    commands::terminal::interrupted,
    context::Context,
    exit::{Exit, usage},
    output,
    user_folder::user_folder,
};

pub(crate) use replay::Player;

/// As of shells.
const NOT_STARTED: u8 = 127;
const CONFIG_VARIABLE: &str = "FACTORY_SUPERVISOR_CONFIG_PATH";
/// The agent of a run for which none is named.
const USUAL: &str = "claude";
/// What helps who did not ask for one.
const WITHOUT_GATEWAY: &str = "a gateway is asked for permissions; without one, `--watch` asks you in this terminal, \
    and `--permissions deny` or `--permissions auto` answers all of them";
const COMMAND_VARIABLES: [&str; 2] = ["CODING_AGENT_ACP_COMMAND", "CLAUDE_ACP_COMMAND"];

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  FACTORY_SUPERVISOR_CONFIG_PATH=run.json provost run
  provost run --config run.json --sandbox
  provost run claude 'make the tests pass' --repo . --watch
  provost run claude 'write the docs' --session docs, then
  provost run --session docs 'shorter, please'
  git diff | provost run claude 'review this' --prompt-file - --quiet > review.md
  provost run --prompt 'update the docs' --agent 'opencode acp' --permissions gateway
  provost run replay ~/.local/state/provost/runs/run-1/journal.jsonl

Exit codes: 0 the prompt was answered, 1 it failed or its end could not be reported, 2 wrong use,
3 the gateway cannot be reached, 4 the callback does not know the token, or refuses every report.")]
#[command(args_conflicts_with_subcommands = true)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// A known agent by its name (claude, codex, gemini, opencode, qwen, goose, kimi, kilo), and the prompt for it.
    /// Without a prompt and a file that has one, it is read from the input
    #[arg(value_name = "[AGENT] PROMPT", num_args = 0..=2)]
    words: Vec<String>,
    /// The prompt for the agent, instead of a configuration file
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// A file with the prompt, or with what follows it; `-` is the input
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Agree to install the agent that is named
    #[arg(long)]
    yes: bool,
    /// Print the answer alone, and errors
    #[arg(long, short, conflicts_with = "watch")]
    quiet: bool,
    /// The folder that the agent works in [default: this one]
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// The agent's command [default: env CODING_AGENT_ACP_COMMAND, CLAUDE_ACP_COMMAND, else the agent claude]
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// Who answers its permission requests: auto, deny, gateway, callback, terminal [default: what the file of
    /// --config says; of --prompt gateway, or terminal with --watch]
    #[arg(long, value_name = "WHO", value_parser = who)]
    permissions: Option<By>,
    /// What to do with an agent that is not known, so that nothing makes it ask: refuse, allow
    #[arg(long, value_name = "WHAT", value_parser = ["refuse", "allow"])]
    unknown_agent: Option<String>,
    /// Refuse a run whose limits cannot all be enforced with its agent
    #[arg(long)]
    strict_limits: bool,
    /// The agent's name at the gateway, if it has no key
    #[arg(long = "as", value_name = "NAME", default_value = "runner")]
    name: String,
    /// A file with the agent's key for the gateway
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// A name for the session: the first run begins it, the next ones continue it
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The agent's own id of the session to continue
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// The model, as the agent calls it
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// The agent's mode, such as plan or read-only
    #[arg(long, value_name = "ID")]
    mode: Option<String>,
    /// Let the kernel limit the agent to its folders; `best-effort`: as far as the kernel can
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "required", value_parser = ["required", "best-effort"])]
    sandbox: Option<String>,
    /// Show what the agent does, and answer its permission requests here
    #[arg(long)]
    watch: bool,
    /// Report to nobody, whatever the file says; the journal is written all the same
    #[arg(long)]
    no_callback: bool,
    /// Where the journal goes [default: ~/.local/state/provost/runs/RUN/journal.jsonl, or below --data]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Run nothing: report that the run is over, for this reason. The gateway's own
    #[arg(long, value_names = ["REASON", "MESSAGE"], num_args = 2, hide = true)]
    over: Option<Vec<String>>,
    /// Run nothing: send the reports that a runner of this run left. The gateway's own
    #[arg(long, hide = true)]
    send_left: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the journal of a run as it happened, or send its reports again
    Replay(replay::Args),
    /// List the sessions that have names, and forget them
    Sessions(sessions::SessionsArgs),
}

/// `provost run-confined SPEC -- COMMAND`, by which the runner starts a confined agent: this process becomes it.
/// `None`: this is another command.
pub(crate) fn confined() -> Option<Exit> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != sandbox::SUBCOMMAND {
        return None;
    }
    let spec = words.next().and_then(|spec| spec.into_string().ok());
    let spec = spec.and_then(|spec| serde_json::from_str(&spec).ok());
    let command: Vec<_> = words.skip(1).collect();
    let Some(spec) = spec else {
        output::note("error: this command is the runner's own");
        return Some(Exit::Usage);
    };
    match sandbox::launch(&spec, &command) {
        Ok(()) => Some(Exit::Ok),
        Err(refused) => {
            output::note(format_args!("error: {refused}"));
            Some(Exit::No)
        }
    }
}

/// `provost run-kept RUNNER -- COMMAND`, by which the runner starts what must not outlive it. `None`: this is
/// another command.
pub(crate) fn kept() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != keeper::SUBCOMMAND {
        return None;
    }
    let runner = words.next().and_then(|id| id.to_str()?.parse().ok());
    let command: Vec<_> = words.skip(1).collect();
    let kept = runner.ok_or_else(|| io::Error::other("this command is the runner's own"));
    let kept = kept.and_then(|runner| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime
            .enable_all()
            .build()?
            .block_on(keeper::keep(runner, &command))
    });
    Some(match kept {
        Ok(status) => keeper::follow(status).into(),
        Err(error) => {
            let program = command.first().map(|word| word.display().to_string());
            output::note(format_args!(
                "error: `{}`: {error}",
                program.unwrap_or_default()
            ));
            ExitCode::from(NOT_STARTED)
        }
    })
}

fn who(name: &str) -> Result<By, String> {
    By::parse(name).ok_or_else(|| format!("it is one of {}", By::ALL.map(By::name).join(", ")))
}

pub(super) async fn run(context: &Context, mut args: Args) -> anyhow::Result<Exit> {
    match args.action.take() {
        Some(Action::Replay(args)) => return replay::run(context, args).await,
        Some(Action::Sessions(args)) => return sessions::run(context, args),
        None => {}
    }
    let has_file = config_file(context).is_ok();
    let mut named = asked::take(&mut args, has_file)?;
    let mut session = sessions::hold(context, &mut args, &mut named)?;
    // Also where no gateway is asked: the file says what is run.
    context.refuse_relative_variables()?;
    let watch = args.watch;
    let given = args.agent.clone();
    let mut config = read(context, &args)?;
    settle(context, &args, &mut config)?;
    if args.send_left {
        leftovers::send(&config, &Brake::default()).await;
        return Ok(Exit::Ok);
    }
    let unbegun = Unbegun::of(&config);
    if let Some([reason, message]) = args.over.as_deref() {
        unbegun.tell(reason, message).await;
        return Ok(Exit::Ok);
    }
    if let Some((exit, reason, message)) = reach(&config).await? {
        note_unreached(exit, &message, &args);
        unbegun.tell(reason, &message).await;
        return Ok(exit);
    }
    if args.prompt.is_some() && given.is_none() && from_environment().is_none() {
        // Whoever only has a prompt means the usual agent, and agrees to what is installed.
        named = named.or_else(|| agents::named(USUAL));
    }
    if let Some(profile) = named {
        config.command = Some(install::command(profile, args.yes)?);
        config.agent = Some(profile);
    }
    if let Some(session) = &mut session {
        session.begin(context, &config)?;
    }
    let brake = Brake::default();
    let (seen, events) = provost_runner::watch::watch();
    let journal = config.journal.clone();
    let progress = !watch && !args.quiet && !context.json();
    let this = std::env::current_exe().context("this program cannot be found")?;
    let around = Surroundings {
        keeper: Some(this.clone()),
        launcher: this,
        command: given.or_else(|| from_environment().filter(|_| named.is_none())),
        homes: place::homes(context),
        starts: user_folder().map(|folder| folder.join("starts")),
        brake: brake.clone(),
        seen: (watch || progress).then_some(seen),
        heartbeat: None,
    };
    let (setup, questions) = match prepare(config, around).await {
        Ok(ready) => ready,
        Err(unready) => {
            unbegun.tell("cannot_start", &unready.to_string()).await;
            session.map_or(Ok(()), sessions::Held::fail)?;
            return Err(unready.into());
        }
    };
    let stopping = tokio::spawn({
        let brake = brake.clone();
        async move {
            interrupted().await;
            brake.pull("this runner was asked to end");
        }
    });
    let over = CancellationToken::new();
    let view = match (watch, progress) {
        (true, _) => {
            let shown = watch::show(events, questions, context.json(), over.clone());
            Some(tokio::spawn(shown))
        }
        (false, true) => Some(tokio::spawn(progress::show(events, over.clone()))),
        (false, false) => None,
    };
    orphans::adopt();
    let ended = drive(setup).await;
    orphans::end().await;
    stopping.abort();
    over.cancel();
    if let Some(view) = view {
        // Its last words.
        let _ = view.await;
    }
    told::all(context, &ended, journal.as_deref(), &args)?;
    if let Some(session) = session {
        session.end(&ended)?;
    }
    Ok(exit(&ended))
}

/// The agent's command, as the ancestor was told it.
fn from_environment() -> Option<String> {
    let variables = COMMAND_VARIABLES.into_iter();
    variables
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty())
}

fn exit(ended: &Ended) -> Exit {
    match &ended.outcome {
        _ if ended.reported.refused_everything() => Exit::Unauthorized,
        Outcome::Complete { .. } if ended.drained.left == 0 && !ended.reported.end_refused => {
            Exit::Ok
        }
        Outcome::Complete { .. } | Outcome::Failed { .. } => Exit::No,
        Outcome::Unauthorized => Exit::Unauthorized,
    }
}

fn read(context: &Context, args: &Args) -> anyhow::Result<Config> {
    let here = std::env::current_dir().context("this folder cannot be found")?;
    let (text, missing, from) = if let Some(prompt) = &args.prompt {
        let text = place::of_prompt(prompt)?;
        (text, Missing::Callback, "--prompt".to_owned())
    } else {
        let file = config_file(context)?;
        let text = fs::read_to_string(&file)
            .with_context(|| format!("`{}` cannot be read", file.display()))?;
        let missing = if args.no_callback {
            Missing::AnyCallback
        } else {
            Missing::Nothing
        };
        (text, missing, file.display().to_string())
    };
    config::read(&text, &here, missing).map_err(|problems| {
        let problems = problems.0.join("\n  ");
        usage(format!("`{from}` cannot be run:\n  {problems}"))
    })
}

/// `--config` is also how a run's own file is named, which says nothing of where the gateway is.
fn about_gateway(context: &Context) -> Context {
    let config = context.global.config.clone();
    Context::new(Global {
        config: config.filter(|path| is_gateways(path)),
        ..context.global.clone()
    })
}

fn is_gateways(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yaml" | "yml"))
}

/// The one that was named here, or in the environment as the ancestor's was.
fn config_file(context: &Context) -> anyhow::Result<PathBuf> {
    let named = context.global.config.clone();
    let named = named.filter(|path| !is_gateways(path));
    let variable = || std::env::var_os(CONFIG_VARIABLE).map(PathBuf::from);
    named
        .or_else(|| variable().filter(|path| !path.as_os_str().is_empty()))
        .ok_or_else(|| {
            usage(format!(
                "what is to be run? Name a file with --config or {CONFIG_VARIABLE}, or say it with --prompt"
            ))
        })
}

/// What was said here goes before what the file says; what neither says has a sensible default.
fn settle(context: &Context, args: &Args, config: &mut Config) -> anyhow::Result<()> {
    if let Some(repo) = &args.repo {
        config.repo.clone_from(repo);
    }
    let given = |ours: &mut Option<String>, theirs: &Option<String>| {
        if theirs.is_some() {
            ours.clone_from(theirs);
        }
    };
    if let Some(what) = &args.unknown_agent {
        config.unknown_agent = what == "allow";
    }
    config.limits.strict |= args.strict_limits;
    given(&mut config.session, &args.session_id);
    given(&mut config.model, &args.model);
    given(&mut config.mode, &args.mode);
    match args.sandbox.as_deref() {
        Some("best-effort") => config.sandbox.confine = Confine::BestEffort,
        Some(_) => config.sandbox.confine = Confine::Required,
        None => {}
    }
    let by = args.permissions.or_else(|| {
        let own = args.prompt.is_some();
        own.then_some(if args.watch {
            By::Terminal
        } else {
            By::Gateway
        })
    });
    config.permissions.by = by.unwrap_or(config.permissions.by);
    if config.permissions.by == By::Gateway && config.gateway.is_none() {
        let context = about_gateway(context);
        let gateway = place::gateway(&context, args.key_file.as_deref(), &args.name);
        config.gateway = Some(match args.permissions {
            None => gateway.context(WITHOUT_GATEWAY)?,
            Some(_) => gateway?,
        });
    }
    if config.permissions.by == By::Callback && config.callback.is_none() {
        return Err(usage("there is no callback that could answer"));
    }
    if config.permissions.by == By::Terminal && !args.watch {
        return Err(usage(
            "permissions are answered at the terminal with --watch",
        ));
    }
    let folder = place::folder(context, &config.identity.run_id);
    let journal = args.journal.clone().or(config.journal.take());
    config.journal = journal.or_else(|| Some(folder.join("journal.jsonl")));
    config.spool = config.spool.take().or_else(|| Some(folder.join("spool")));
    Ok(())
}

fn note_unreached(exit: Exit, message: &str, args: &Args) {
    output::note(format_args!("error: {}", output::safe_lines(message)));
    if exit == Exit::Unreachable {
        output::note("help: `provost serve` starts one");
        if args.permissions.is_none() {
            output::note(format_args!("help: {WITHOUT_GATEWAY}"));
        }
    }
}

/// Whether the gateway is there, and lets us begin; otherwise what is told of it.
async fn reach(config: &Config) -> anyhow::Result<Option<(Exit, &'static str, String)>> {
    let Some(gateway) = &config.gateway else {
        return Ok(None);
    };
    let asked = Gateway::new(gateway)?;
    match asked.standing(config.session.as_deref()).await {
        Ok(Standing::Good) => Ok(None),
        Ok(Standing::Stopped(reason)) => Ok(Some((
            Exit::No,
            "stopped",
            format!("not started: {reason}"),
        ))),
        Err(error) => {
            let message = format!("the gateway at {} cannot be asked: {error}", gateway.url);
            Ok(Some((Exit::Unreachable, "gateway_unreachable", message)))
        }
    }
}
