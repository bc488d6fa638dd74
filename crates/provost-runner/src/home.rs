//! A home of a confined agent's own: empty but for the agent's login and settings, which are copied by name. The
//! agent's sessions are kept in it for whoever resumes one; all else goes with the run.
//!
//! ```text
//! homes/NAME/lock           held while a run has it
//! homes/NAME/session.json   the agent, and the session that is kept
//! homes/NAME/logins.json    which copies are of which files, and what they were
//! homes/NAME/home/          all that the agent reaches
//! ```

mod copy;
mod kept;
mod logins;

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::fs::{FlockOperation, flock};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    agents::{Environment, HomeFile, Profile, Unsafe, UseOf},
    sandbox::Terminals,
};

use logins::Logins;

/// How soon a login that was renewed, inside or outside, is the same on both sides.
const RENEWED_WITHIN: Duration = Duration::from_secs(2);

/// Where agents, and the programs that they run, look before they look into their home.
const MOVED: [&str; 5] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];

/// One run's hold on a home.
pub struct AgentHome {
    folder: PathBuf,
    agent: Option<&'static Profile>,
    /// Held for as long as the run has it.
    lock: Option<File>,
    /// Where nothing can be kept.
    _passing: Option<tempfile::TempDir>,
    watching: Option<AbortOnDropHandle<()>>,
}

#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("a home for the agent cannot be made in `{}`: {error}", .folder.display())]
    Make { folder: PathBuf, error: io::Error },
    #[error("`{}` cannot be copied into the agent's home: {error}", .file.display())]
    Copy { file: PathBuf, error: io::Error },
    #[error("{0}")]
    Settings(#[from] Unsafe),
    #[error("the session `{0}` is in use by another run: wait for its end, or cancel it")]
    InUse(String),
}

impl AgentHome {
    /// The home of the session that is to be resumed, or a new one, below `parent`; without a place to keep it, among
    /// the temporary files. `theirs` is what the agent would have without it.
    pub fn open(
        parent: Option<&Path>,
        agent: Option<&'static Profile>,
        session: Option<&str>,
        theirs: &Environment,
        terminals: Terminals,
    ) -> Result<Self, HomeError> {
        let home = Self::claim(parent, agent, session)?;
        home.fill(theirs)?;
        if terminals == Terminals::None {
            home.do_without_terminals()?;
        }
        Ok(home)
    }

    fn claim(
        parent: Option<&Path>,
        agent: Option<&'static Profile>,
        session: Option<&str>,
    ) -> Result<Self, HomeError> {
        let name = agent.map_or("", |agent| agent.name);
        if let Some(parent) = parent {
            kept::tidy(parent);
            let found = session.and_then(|session| kept::find(parent, name, session));
            if let (Some(folder), Some(session)) = (found, session) {
                let failed = |error| failed_in(&folder, error);
                let lock = lock(&folder).map_err(failed)?;
                let lock = lock.ok_or_else(|| HomeError::InUse(session.to_owned()))?;
                return Ok(Self::held(folder, agent, lock, None));
            }
        }
        let mut passing = None;
        let folder = if let Some(Ok(folder)) = parent.map(new_below) {
            folder
        } else {
            let made = named().tempdir();
            let made = made.map_err(|error| failed_in(&std::env::temp_dir(), error))?;
            passing.insert(made).path().to_owned()
        };
        let lock = lock(&folder).map_err(|error| failed_in(&folder, error))?;
        let lock = lock.ok_or_else(|| failed_in(&folder, io::ErrorKind::ResourceBusy.into()))?;
        Ok(Self::held(folder, agent, lock, passing))
    }

    fn held(
        folder: PathBuf,
        agent: Option<&'static Profile>,
        lock: File,
        passing: Option<tempfile::TempDir>,
    ) -> Self {
        Self {
            folder,
            agent,
            lock: Some(lock),
            _passing: passing,
            watching: None,
        }
    }

    /// Whatever an earlier run left, sessions apart, is not there any more.
    fn fill(&self, theirs: &Environment) -> Result<(), HomeError> {
        kept::close(&self.folder, self.agent);
        let home = self.path();
        private(&home).map_err(|error| failed_in(&self.folder, error))?;
        let mut logins = Logins::default();
        for file in self.agent.into_iter().flat_map(|agent| agent.home) {
            let from = file.theirs(theirs);
            let copied = copy::into(&home, &file.place(), &from, file.use_of);
            let copied = copied.map_err(|error| HomeError::Copy { file: from, error })?;
            if matches!(file.use_of, UseOf::Login) {
                logins.extend(copied);
            }
        }
        let written = logins.write(&self.folder);
        written.map_err(|error| failed_in(&self.folder, error))
    }

    fn do_without_terminals(&self) -> Result<(), HomeError> {
        let home = self.path();
        let needed = self.agent.map(|agent| agent.without_terminals(&home));
        let Some((file, text)) = needed.transpose()?.flatten() else {
            return Ok(());
        };
        copy::write(&home.join(file), text.as_bytes())
            .map_err(|error| failed_in(&self.folder, error))
    }

    /// `HOME`.
    pub fn path(&self) -> PathBuf {
        kept::home(&self.folder)
    }

    /// What the agent must not have of the variables of this process: they lead to the user's home.
    pub fn without(&self) -> Vec<&'static str> {
        let files = self.agent.into_iter().flat_map(|agent| agent.home);
        let named = files.map(HomeFile::variable);
        MOVED.into_iter().chain(named).collect()
    }

    /// What the agent is about to have.
    pub fn environment(&self, theirs: &Environment) -> Environment {
        let mut environment = theirs.clone();
        for name in self.without() {
            environment.inherited.remove(&OsString::from(name));
        }
        let home = self.path().into_os_string();
        environment.inherited.insert("HOME".into(), home);
        environment
    }

    /// Whoever goes on with this session finds it here.
    pub fn remember(&self, session: &str) {
        let name = self.agent.map_or("", |agent| agent.name);
        if let Err(error) = kept::name(&self.folder, name, session) {
            tracing::warn!(%error, "the agent's session cannot be kept");
        }
    }

    /// The agent is started with `folder`, which has links to its logins: one that is renewed there counts.
    pub fn linked_from(&self, folder: &Path) {
        let logins = Logins::read(&self.folder);
        let followed = logins.map(|mut logins| {
            logins.follow_links(folder, folder)?;
            logins.write(&self.folder)
        });
        if let Some(Err(error)) = followed {
            tracing::warn!(%error, "a login that the agent renews may stay in the sandbox");
        }
    }

    /// From now on a login that is renewed on one side is renewed on the other.
    pub fn watch_logins(&mut self) {
        let folder = self.folder.clone();
        let watching = async move {
            loop {
                tokio::time::sleep(RENEWED_WITHIN).await;
                let folder = folder.clone();
                // Files are slow on some machines.
                let settled = tokio::task::spawn_blocking(move || logins::settle(&folder));
                if settled.await.is_err() {
                    return;
                }
            }
        };
        self.watching = Some(AbortOnDropHandle::new(tokio::spawn(watching)));
    }
}

impl Drop for AgentHome {
    fn drop(&mut self) {
        self.watching = None;
        kept::close(&self.folder, self.agent);
        if !kept::has_session(&self.folder) {
            let _ = fs::remove_dir_all(&self.folder);
        }
        drop(self.lock.take());
    }
}

fn failed_in(folder: &Path, error: io::Error) -> HomeError {
    HomeError::Make {
        folder: folder.to_owned(),
        error,
    }
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn new_below(parent: &Path) -> io::Result<PathBuf> {
    private(parent)?;
    Ok(named().tempdir_in(parent)?.keep())
}

fn named() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("home-");
    builder
}

/// `None` where another process has it.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let mut options = fs::OpenOptions::new();
    let file = options
        .create(true)
        .append(true)
        .open(folder.join("lock"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
