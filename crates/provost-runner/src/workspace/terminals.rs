//! The terminals of a workspace: how many there may be, what a command inherits, and how they end.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer};
use tokio::process::Command;

use super::terminal::{Exit, Terminal};
use crate::acp::RpcError;
use crate::sandbox;

/// What of the runner's own environment a command is given: never its secrets.
const INHERITED: [&str; 11] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "TZ",
    // By which the gateway finds what a run left behind.
    "PROVOST_RUN",
];

/// `terminal/create`, as it is asked.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Create {
    pub(super) command: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(super) args: Vec<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(super) env: Vec<EnvVariable>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) output_byte_limit: Option<u64>,
}

#[derive(Clone, Deserialize)]
pub(super) struct EnvVariable {
    pub(super) name: String,
    pub(super) value: String,
}

fn null_is_empty<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Create {
    /// What the operating system would refuse or read otherwise than it is written.
    pub(super) fn check(&self) -> Result<(), RpcError> {
        let zero = |text: &String| text.contains('\0');
        if self.command.trim().is_empty() {
            return Err(RpcError::invalid("`command` is empty"));
        }
        if zero(&self.command) || self.args.iter().any(zero) {
            return Err(RpcError::invalid("`command` or `args` hold a zero byte"));
        }
        let wrong =
            |v: &&EnvVariable| v.name.is_empty() || v.name.contains(['=', '\0']) || zero(&v.value);
        match self.env.iter().find(wrong) {
            Some(variable) => Err(RpcError::invalid(format!(
                "`{}` cannot be set in an environment",
                variable.name.escape_debug()
            ))),
            None => Ok(()),
        }
    }

    /// With no arguments, agents send a line for a shell.
    fn argv(&self) -> Vec<OsString> {
        if self.args.is_empty() {
            return vec!["/bin/sh".into(), "-c".into(), self.command.as_str().into()];
        }
        std::iter::once(&self.command)
            .chain(&self.args)
            .map(OsString::from)
            .collect()
    }
}

/// How commands are confined: through which launcher, and to what.
#[derive(Clone, Debug)]
pub struct Confinement {
    pub launcher: PathBuf,
    pub spec: sandbox::Spec,
}

/// All terminals that are not released.
pub(super) struct Terminals {
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) confinement: Option<Confinement>,
    most: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    terminals: HashMap<String, Terminal>,
    count: u64,
    over: bool,
}

impl Terminals {
    pub(super) fn new(most: usize) -> Self {
        let env = INHERITED
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)))
            .collect();
        Self {
            env,
            confinement: None,
            most,
            open: Mutex::default(),
        }
    }

    pub(super) fn create(
        &self,
        asked: &Create,
        cwd: &Path,
        limit: usize,
    ) -> Result<String, RpcError> {
        let command = self.command(asked, cwd)?;
        let mut open = self.open();
        room(&open, self.most)?;
        let terminal = Terminal::start(command, limit).map_err(|error| {
            RpcError::invalid(format!("cannot run `{}`: {error}", asked.command))
        })?;
        open.count += 1;
        let id = format!("term-{}", open.count);
        open.terminals.insert(id.clone(), terminal);
        Ok(id)
    }

    /// Asked before anybody is bothered with a decision.
    pub(super) fn room(&self) -> Result<(), RpcError> {
        room(&self.open(), self.most)
    }

    fn command(&self, asked: &Create, cwd: &Path) -> Result<Command, RpcError> {
        let argv = asked.argv();
        let mut command = match (&self.confinement, argv.split_first()) {
            (Some(confinement), _) => {
                sandbox::command(&confinement.launcher, &confinement.spec, &argv)
                    .map_err(|error| RpcError::internal(error.to_string()))?
            }
            (None, Some((program, args))) => {
                let mut command = Command::new(program);
                command.args(args);
                command
            }
            (None, None) => return Err(RpcError::invalid("`command` is empty")),
        };
        command
            .current_dir(cwd)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .envs(asked.env.iter().map(|v| (&v.name, &v.value)));
        Ok(command)
    }

    pub(super) fn with<T>(
        &self,
        id: &str,
        look: impl FnOnce(&Terminal) -> T,
    ) -> Result<T, RpcError> {
        self.open()
            .terminals
            .get(id)
            .map(look)
            .ok_or_else(|| RpcError::terminal_not_found(id))
    }

    pub(super) async fn wait(&self, id: &str) -> Result<Exit, RpcError> {
        let ended = self.with(id, Terminal::ended)?;
        ended
            .await
            .ok_or_else(|| RpcError::internal("the terminal was lost"))
    }

    /// Forgets a terminal once its command is gone, so that those that are counted are those that run.
    pub(super) async fn release(&self, id: &str) -> Result<(), RpcError> {
        let ended = self.with(id, |terminal| {
            terminal.kill();
            terminal.ended()
        })?;
        ended.await;
        self.open().terminals.remove(id);
        Ok(())
    }

    /// Kills all, waits until they are gone, and starts no more.
    pub(super) async fn end(&self) {
        let terminals = {
            let mut open = self.open();
            open.over = true;
            std::mem::take(&mut open.terminals)
        };
        for terminal in terminals.values() {
            terminal.kill();
        }
        for terminal in terminals.values() {
            terminal.ended().await;
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn room(open: &Open, most: usize) -> Result<(), RpcError> {
    if open.over {
        return Err(RpcError::refused("the run is over"));
    }
    if open.terminals.len() >= most {
        return Err(RpcError::refused(&format!(
            "there are {most} terminals already; release one first"
        )));
    }
    Ok(())
}
