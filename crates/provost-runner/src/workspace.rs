//! What the client does for the agent on its request: files and commands, inside the repository only, and
//! only what the gate permits. How messages travel is not here.

mod gate;
mod place;
mod rpc;
mod tail;
mod terminal;
mod terminals;
mod text;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::FileType;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::acp::RpcError;
pub use gate::{Act, Gate, Old, Open, ReadOnly};
use place::{Astray, Place, Root};
use rpc::parse;
use terminal::Terminal;
pub use terminals::Confinement;
use terminals::{Create, Terminals};
use text::Lines;

/// How far an agent may go through the client.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes in one answer to a read.
    pub read: usize,
    /// Bytes in one write.
    pub write: usize,
    /// Terminals that are not released.
    pub terminals: usize,
    /// Bytes of output that a terminal keeps when the agent names no limit, and the most it can name.
    pub output: usize,
    pub most_output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MEGABYTE: usize = 1024 * 1024;
        Self {
            read: 16 * MEGABYTE,
            write: 16 * MEGABYTE,
            terminals: 32,
            output: MEGABYTE,
            most_output: 16 * MEGABYTE,
        }
    }
}

/// The repository that the agent works in, as the client serves it. Dropping it kills every terminal.
pub struct Workspace {
    root: Arc<Root>,
    limits: Limits,
    gate: Arc<dyn Gate>,
    terminals: Terminals,
    changed: Mutex<HashSet<PathBuf>>,
}

#[derive(Deserialize)]
struct ReadText {
    path: PathBuf,
    line: Option<u32>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
struct WriteText {
    path: PathBuf,
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfTerminal {
    terminal_id: String,
}

impl Workspace {
    /// A workspace that can be read; writes and commands need a gate.
    pub fn new(repo_dir: &Path, limits: Limits) -> std::io::Result<Self> {
        Ok(Self {
            root: Arc::new(Root::open(repo_dir)?),
            limits,
            gate: Arc::new(ReadOnly),
            terminals: Terminals::new(limits.terminals),
            changed: Mutex::default(),
        })
    }

    pub fn with_gate(self, gate: Arc<dyn Gate>) -> Self {
        Self { gate, ..self }
    }

    /// Commands get this variable besides the harmless part of the runner's own environment, or instead.
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.terminals.env.retain(|(own, _)| own != name);
        self.terminals.env.push((name.into(), value.into()));
        self
    }

    /// Commands run confined, as the agent does: without this they would be its way out. Their `HOME` and
    /// `TMPDIR` should be those of the spec, see [`Workspace::with_variable`]. They report nothing, since the
    /// report is the agent's.
    pub fn with_confinement(mut self, mut confinement: Confinement) -> Self {
        confinement.spec.report = None;
        self.terminals.confinement = Some(confinement);
        self
    }

    /// Answers one request of the agent. A call may take as long as a decision or a command takes, so
    /// each belongs in a task of its own.
    pub async fn serve(&self, method: &str, params: &RawValue) -> Result<Value, RpcError> {
        match method {
            "fs/read_text_file" => self.read(parse(params)?).await,
            "fs/write_text_file" => self.write(parse(params)?).await,
            "terminal/create" => self.create(parse(params)?).await,
            "terminal/output" => self.output(&parse(params)?),
            "terminal/wait_for_exit" => self.wait(&parse(params)?).await,
            "terminal/kill" => self.kill(&parse(params)?),
            "terminal/release" => self.release(&parse(params)?).await,
            other => Err(RpcError::method_not_found(other)),
        }
    }

    /// The files that were written since this was asked last.
    pub fn take_changed(&self) -> HashSet<PathBuf> {
        std::mem::take(&mut *self.written())
    }

    /// Kills what still runs and waits until it is gone. No command starts afterwards.
    pub async fn end(&self) {
        self.terminals.end().await;
    }

    async fn read(&self, asked: ReadText) -> Result<Value, RpcError> {
        let lines = Lines {
            first: asked.line,
            count: asked.limit,
        };
        let path = asked.path;
        let found = self.at(path.clone(), |place| match place.stat {
            Some(_) => Ok(place.path),
            None => Err(RpcError::file_not_found(&place.path)),
        });
        let found = found.await?;
        self.ask(Act::Read {
            path: found.clone(),
        })
        .await?;
        let most = self.limits.read;
        let content = self.at(path, move |place| {
            same(&place, &found)?;
            text::read(&place, lines, most)
        });
        Ok(json!({ "content": content.await? }))
    }

    async fn write(&self, asked: WriteText) -> Result<Value, RpcError> {
        let WriteText { path, content } = asked;
        if content.len() > self.limits.write {
            return Err(RpcError::invalid(format!(
                "`content` is more than {} bytes",
                self.limits.write
            )));
        }
        let most = self.limits.read;
        let (found, old, seen) = self
            .at(path.clone(), move |place| {
                let (old, seen) = text::old(&place, most)?;
                Ok((place.path, old, seen))
            })
            .await?;
        self.ask(Act::Write {
            path: found.clone(),
            old,
            new: content.clone(),
        })
        .await?;
        let target = found.clone();
        self.at(path, move |place| {
            same(&place, &target)?;
            if text::seen(&place) != seen {
                return Err(moved(&target));
            }
            text::write(place, &content)
        })
        .await?;
        self.written().insert(found);
        Ok(json!({}))
    }

    async fn create(&self, asked: Create) -> Result<Value, RpcError> {
        asked.check()?;
        self.terminals.room()?;
        let asked_cwd = asked.cwd.clone();
        let cwd = asked_cwd.unwrap_or_else(|| self.root.path().to_owned());
        let found = self.at(cwd.clone(), folder).await?;
        self.ask(Act::Run {
            command: asked.command.clone(),
            args: asked.args.clone(),
            cwd: found.clone(),
            env: asked
                .env
                .iter()
                .map(|v| (v.name.clone(), v.value.clone()))
                .collect(),
        })
        .await?;
        if self.at(cwd, folder).await? != found {
            return Err(moved(&found));
        }
        let limit = asked.output_byte_limit.map_or(self.limits.output, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        let limit = limit.min(self.limits.most_output);
        let id = self.terminals.create(&asked, &found, limit)?;
        Ok(json!({ "terminalId": id }))
    }

    fn output(&self, of: &OfTerminal) -> Result<Value, RpcError> {
        self.terminals.with(&of.terminal_id, |terminal| {
            // Asked first: when it has ended, the output is complete.
            let exit = terminal.exit();
            let (output, truncated) = terminal.output();
            let mut answer = json!({ "output": output, "truncated": truncated });
            if let (Some(exit), Some(fields)) = (exit, answer.as_object_mut()) {
                fields.insert("exitStatus".to_owned(), json!(exit));
            }
            answer
        })
    }

    async fn wait(&self, of: &OfTerminal) -> Result<Value, RpcError> {
        Ok(json!(self.terminals.wait(&of.terminal_id).await?))
    }

    fn kill(&self, of: &OfTerminal) -> Result<Value, RpcError> {
        self.terminals.with(&of.terminal_id, Terminal::kill)?;
        Ok(json!({}))
    }

    async fn release(&self, of: &OfTerminal) -> Result<Value, RpcError> {
        self.terminals.release(&of.terminal_id).await?;
        Ok(json!({}))
    }

    async fn ask(&self, act: Act) -> Result<(), RpcError> {
        let answer = self.gate.may(act).await;
        answer.map_err(|reason| RpcError::refused(&reason))
    }

    /// Does something with the place that a path leads to, where blocking is allowed.
    async fn at<T: Send + 'static>(
        &self,
        path: PathBuf,
        act: impl FnOnce(Place) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let root = Arc::clone(&self.root);
        let work = move || {
            let place = root.resolve(&path).map_err(|astray| astray.rpc(&path))?;
            act(place)
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| RpcError::internal("the file could not be worked on"))?
    }

    fn written(&self) -> std::sync::MutexGuard<'_, HashSet<PathBuf>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A decision holds for the place that was shown, not for wherever its path leads later.
fn same(place: &Place, decided: &Path) -> Result<(), RpcError> {
    if place.path == decided {
        Ok(())
    } else {
        Err(moved(decided))
    }
}

fn moved(path: &Path) -> RpcError {
    RpcError::refused(&format!(
        "`{}` was changed while the decision was made; read it again",
        path.display()
    ))
}

fn folder(place: Place) -> Result<PathBuf, RpcError> {
    if place.is(FileType::Directory) {
        return Ok(place.path);
    }
    let astray = match place.stat {
        Some(_) => Astray::NotFolder,
        None => Astray::Missing,
    };
    Err(astray.rpc(&place.path))
}

#[cfg(test)]
mod tests;
