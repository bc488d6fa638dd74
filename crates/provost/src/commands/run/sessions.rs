//! Sessions that have names: `provost run --session NAME` goes on where the last run of that name ended, and
//! `provost run sessions` lists them. A name stands for an agent, its folder, and the agent's own session.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, BufReader, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::PathBuf,
};

use anyhow::Context as _;
use clap::Subcommand;
use provost_core::time::Time;
use provost_runner::{
    agents::{self, Profile},
    config::{Config, Prompt},
    journal::{Lines, Read, What},
    run::{Ended, Outcome},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Args, place};
use crate::{
    commands::view::{ago, moment_near},
    context::Context,
    exit::{Exit, usage},
    output::{self, counted},
    table::Table,
};

const LONGEST_NAME: usize = 64;
/// What is kept of a prompt, and how many of them.
const EXCERPT: usize = 300;
const MOST_PROMPTS: usize = 200;
/// Of a prompt whose run has not told its end.
const RUNNING: &str = "running";
/// And of one whose run is gone.
const LOST: &str = "lost";
const NOT_RESUMABLE: &str = "session_not_resumable";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost run sessions
  provost run sessions show docs
  provost run sessions remove docs")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what a session was asked
    #[command(after_help = "Examples:\n  provost run sessions show docs")]
    Show { name: String },
    /// Forget a session; the next run of that name begins a new one
    #[command(after_help = "Examples:\n  provost run sessions remove docs")]
    Remove { name: String },
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    name: String,
    /// A known agent, by its name.
    #[serde(default)]
    agent: Option<String>,
    /// Or the command that starts it.
    #[serde(default)]
    command: Option<String>,
    folder: PathBuf,
    /// The agent's own.
    #[serde(default)]
    session_id: Option<String>,
    prompts: Vec<Prompted>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompted {
    at: Time,
    prompt: String,
    run: String,
    state: String,
    journal: Option<PathBuf>,
}

/// A session that this run goes on with, or begins. Nobody else does meanwhile.
pub(super) struct Held {
    session: Session,
    path: PathBuf,
    _lock: File,
}

/// The session that is named, taken from where sessions are kept. What the command line does not say of the agent
/// and its folder, the session does.
pub(super) fn hold(
    context: &Context,
    args: &mut Args,
    named: &mut Option<&'static Profile>,
) -> anyhow::Result<Option<Held>> {
    let Some(name) = args.session.clone() else {
        return Ok(None);
    };
    if args.session_id.is_some() {
        return Err(usage(
            "a session is named by --session, or by the agent's own id with --session-id: give one of them",
        ));
    }
    check(&name)?;
    let folder = folder(context);
    let mut private = DirBuilder::new();
    let made = private.recursive(true).mode(0o700).create(&folder);
    made.with_context(|| format!("`{}` cannot be made", folder.display()))?;
    let lock = lock(&folder.join(format!("{name}.lock")), &name)?;
    let path = folder.join(format!("{name}.json"));
    let known = read(&path)?.map(Session::recovered);
    if let Some(known) = &known {
        // A name whose agent never opened a session stands for none yet.
        if known.session_id.is_some() {
            known.fits(args, *named)?;
        }
        if named.is_none() && args.agent.is_none() {
            *named = known.agent.as_deref().and_then(agents::named);
            args.agent.clone_from(&known.command);
        }
        args.repo.get_or_insert_with(|| known.folder.clone());
        args.session_id.clone_from(&known.session_id);
    }
    let session = Session {
        name,
        agent: named.map(|profile| profile.name.to_owned()),
        command: args.agent.clone(),
        ..known.unwrap_or_default()
    };
    Ok(Some(Held {
        session,
        path,
        _lock: lock,
    }))
}

impl Session {
    /// With what the journal tells of a last run that was killed: only a run that ends can write it here.
    fn recovered(mut self) -> Self {
        let Some(last) = self.prompts.last_mut() else {
            return self;
        };
        if last.state != RUNNING {
            return self;
        }
        LOST.clone_into(&mut last.state);
        let journal = last.journal.as_deref().map(File::open);
        let Some(Ok(journal)) = journal else {
            return self;
        };
        for line in Lines::new(BufReader::new(journal)).flatten() {
            let Read::Line(line) = line else { continue };
            let What::Event(event) = &line.what else {
                continue;
            };
            let event: Value = serde_json::from_str(event.get()).unwrap_or_default();
            if let Some(session) = event.get("session").and_then(Value::as_str) {
                self.session_id = Some(session.to_owned());
            }
        }
        self
    }

    /// Another agent, or another folder, is another session.
    fn fits(&self, args: &Args, named: Option<&'static Profile>) -> anyhow::Result<()> {
        let agent = self.agent.as_deref().or(self.command.as_deref());
        let given = named.map(|profile| profile.name).or(args.agent.as_deref());
        let other_agent = given.is_some_and(|given| Some(given) != agent);
        let folder = args.repo.as_ref().map(|repo| repo.canonicalize());
        let other_folder = folder.is_some_and(|repo| !repo.is_ok_and(|repo| repo == self.folder));
        if other_agent || other_folder {
            return Err(usage(format!(
                "the session `{}` is of {} in {}: choose another name for another one",
                self.name,
                agent.unwrap_or("the usual agent"),
                self.folder.display()
            )));
        }
        Ok(())
    }
}

impl Held {
    /// What is known of the run before it begins.
    pub(super) fn begin(&mut self, context: &Context, config: &Config) -> anyhow::Result<()> {
        let folder = config.repo.canonicalize();
        self.session.folder = folder.unwrap_or_else(|_| config.repo.clone());
        let prompt = match &config.prompt {
            Some(Prompt::Text(text)) => text.chars().take(EXCERPT).collect(),
            _ => String::new(),
        };
        self.session.prompts.push(Prompted {
            at: context.now(),
            prompt,
            run: config.identity.run_id.clone(),
            state: RUNNING.to_owned(),
            journal: config.journal.clone(),
        });
        let many = self.session.prompts.len().saturating_sub(MOST_PROMPTS);
        self.session.prompts.drain(..many);
        // Whoever is killed has a session that can be gone on with.
        self.keep()
    }

    /// The agent could not be started.
    pub(super) fn fail(mut self) -> anyhow::Result<()> {
        if let Some(last) = self.session.prompts.last_mut() {
            "failed".clone_into(&mut last.state);
        }
        self.keep()
    }

    /// Keeps where the session stands, and says what to do where it cannot be gone on with.
    pub(super) fn end(mut self, ended: &Ended) -> anyhow::Result<()> {
        let name = self.session.name.clone();
        if let Outcome::Failed { reason, .. } = &ended.outcome
            && reason == NOT_RESUMABLE
        {
            output::note(format_args!(
                "help: `provost run sessions remove {name}` forgets this session, and the next run of that name \
                 begins a new one"
            ));
        }
        if let Some(last) = self.session.prompts.last_mut() {
            let outcome = ended.outcome.describe();
            let state = outcome.get("state").and_then(Value::as_str);
            state.unwrap_or_default().clone_into(&mut last.state);
        }
        if ended.done.session.is_some() {
            self.session.session_id.clone_from(&ended.done.session);
        }
        self.keep()
    }

    fn keep(&self) -> anyhow::Result<()> {
        let name = &self.session.name;
        self.write()
            .with_context(|| format!("the session `{name}` cannot be kept"))
    }

    fn write(&self) -> io::Result<()> {
        let part = self.path.with_extension("part");
        let mut file = private().truncate(true).open(&part)?;
        file.write_all(&serde_json::to_vec_pretty(&self.session)?)?;
        file.sync_all()?;
        fs::rename(&part, &self.path)
    }
}

pub(super) fn run(context: &Context, args: SessionsArgs) -> anyhow::Result<Exit> {
    match args.action {
        None => list(context),
        Some(Action::Show { name }) => show(context, &name),
        Some(Action::Remove { name }) => remove(context, &name),
    }
}

fn list(context: &Context) -> anyhow::Result<Exit> {
    let folder = folder(context);
    let mut sessions = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "json")
            && let Some(session) = read(&path)?
        {
            sessions.push(session);
        }
    }
    sessions
        .sort_by_key(|session| std::cmp::Reverse(session.prompts.last().map(|prompt| prompt.at)));
    if context.json() {
        output::json(&sessions)?;
    } else if sessions.is_empty() {
        output::note("there are no sessions: `provost run --session NAME` begins one");
    } else {
        let mut table = Table::new(["session", "agent", "folder", "prompts", "last", "age"]);
        for session in &sessions {
            let last = session.prompts.last();
            let agent = session.agent.as_deref().or(session.command.as_deref());
            let age = last.map(|last| ago(&last.at.to_string(), context.now()));
            table.row([
                &session.name,
                agent.unwrap_or_default(),
                &session.folder.display().to_string(),
                &session.prompts.len().to_string(),
                last.map_or("", |last| &last.prompt),
                &age.unwrap_or_default(),
            ]);
        }
        output::line(table)?;
    }
    Ok(Exit::Ok)
}

fn show(context: &Context, name: &str) -> anyhow::Result<Exit> {
    check(name)?;
    let session = known(context, name)?;
    if context.json() {
        output::json(&session)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(["time", "state", "prompt"]).below("prompt");
    for prompt in &session.prompts {
        let time = moment_near(&prompt.at.to_string(), context.now());
        table.row([&time, &prompt.state, &prompt.prompt]);
    }
    output::line(table)?;
    Ok(Exit::Ok)
}

fn remove(context: &Context, name: &str) -> anyhow::Result<Exit> {
    check(name)?;
    let session = known(context, name)?;
    let folder = folder(context);
    let _lock = lock(&folder.join(format!("{name}.lock")), name)?;
    for end in ["json", "lock"] {
        fs::remove_file(folder.join(format!("{name}.{end}")))
            .with_context(|| format!("the session `{name}` cannot be removed"))?;
    }
    if context.json() {
        output::json(&session)?;
    } else {
        let many = counted(session.prompts.len(), "prompt");
        output::line(format_args!("removed session {name} ({many})"))?;
    }
    Ok(Exit::Ok)
}

fn known(context: &Context, name: &str) -> anyhow::Result<Session> {
    let session = read(&folder(context).join(format!("{name}.json")))?;
    session
        .with_context(|| format!("there is no session `{name}`: `provost run sessions` lists them"))
}

fn folder(context: &Context) -> PathBuf {
    place::base(context).join("sessions")
}

fn check(name: &str) -> anyhow::Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with(['.', '-']);
    if fits {
        return Ok(());
    }
    Err(usage(format!(
        "a session's name is 1 to {LONGEST_NAME} letters, digits, `-`, `_` and `.`"
    )))
}

fn read(path: &std::path::Path) -> anyhow::Result<Option<Session>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("`{}`", path.display())),
    };
    let session = serde_json::from_slice(&text).with_context(|| {
        format!(
            "`{}` cannot be read: remove it to begin anew",
            path.display()
        )
    })?;
    Ok(Some(session))
}

fn lock(path: &std::path::Path, name: &str) -> anyhow::Result<File> {
    let file = private().truncate(false).open(path);
    let file = file.with_context(|| format!("`{}` cannot be opened", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            anyhow::bail!("the session `{name}` is in use by another run: wait for its end")
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sessions_name_is_one_file() {
        for (name, good) in [
            ("docs", true),
            ("a.b-c_9", true),
            ("", false),
            ("..", false),
            ("-x", false),
            ("a/b", false),
            ("ü", false),
            (&"x".repeat(65), false),
        ] {
            assert_eq!(check(name).is_ok(), good, "{name}");
        }
    }
}
