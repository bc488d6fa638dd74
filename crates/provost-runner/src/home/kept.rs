//! What is left of a home when no run has it: the agent's sessions.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{lock, logins, private};
use crate::agents::{HomeFile, Profile, UseOf};

const SESSION: &str = "session.json";
/// A session that nobody went on with for so long is over.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);
/// A home without a session may be one that is about to have one.
const YOUNG: Duration = Duration::from_hours(1);

/// Whose session a home is kept for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Named {
    agent: String,
    session: String,
}

pub(super) fn home(folder: &Path) -> PathBuf {
    folder.join("home")
}

pub(super) fn name(folder: &Path, agent: &str, session: &str) -> io::Result<()> {
    let named = Named {
        agent: agent.to_owned(),
        session: session.to_owned(),
    };
    fs::write(folder.join(SESSION), serde_json::to_vec(&named)?)
}

fn named_for(folder: &Path) -> Option<Named> {
    serde_json::from_slice(&fs::read(folder.join(SESSION)).ok()?).ok()
}

pub(super) fn find(parent: &Path, agent: &str, session: &str) -> Option<PathBuf> {
    folders(parent).into_iter().find(|folder| {
        named_for(folder).is_some_and(|named| named.agent == agent && named.session == session)
    })
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    folders.filter(|path| path.is_dir()).collect()
}

/// Whether anybody can come back to it.
pub(super) fn has_session(folder: &Path) -> bool {
    named_for(folder).is_some()
}

/// Brings the homes in order that no run has: one that was killed left its logins behind, and some are too old.
pub(super) fn tidy(parent: &Path) {
    for folder in folders(parent) {
        let named = named_for(&folder);
        let (file, bound) = match &named {
            Some(_) => (folder.join(SESSION), KEPT_FOR),
            None => (folder.clone(), YOUNG),
        };
        let changed = file.metadata().and_then(|metadata| metadata.modified());
        let age = changed.ok().and_then(|changed| changed.elapsed().ok());
        let old = age.is_some_and(|age| age > bound);
        // One that is in order is left alone: somebody may be about to resume it.
        if !old && (named.is_none() || !logins::are_noted(&folder)) {
            continue;
        }
        let Ok(Some(_held)) = lock(&folder) else {
            continue;
        };
        if old {
            let _ = fs::remove_dir_all(&folder);
        } else if let Some(named) = named {
            close(&folder, crate::agents::named(&named.agent));
        }
    }
}

/// Takes everything out of a home that no agent runs in, but for its sessions. Of an agent that is not known, all of
/// it is kept.
pub(super) fn close(folder: &Path, agent: Option<&Profile>) {
    logins::settle(folder);
    let closed = match (agent, named_for(folder)) {
        (_, None) => emptied(folder, &[]),
        (None, Some(_)) => Ok(()),
        (Some(agent), Some(_)) => {
            let files = agent.home.iter();
            let sessions = files.filter(|file| matches!(file.use_of, UseOf::Sessions));
            let sessions: Vec<PathBuf> = sessions.map(HomeFile::place).collect();
            emptied(folder, &sessions)
        }
    };
    match closed {
        // Last: a home that has this noted is one to be closed.
        Ok(()) => logins::forget(folder),
        Err(error) => {
            let folder = folder.display();
            tracing::warn!(%error, "the agent's home in `{folder}` cannot be emptied");
        }
    }
}

/// The agent may have put links in the place of folders: nothing is followed.
fn emptied(folder: &Path, sessions: &[PathBuf]) -> io::Result<()> {
    let (old, home) = (folder.join("old"), home(folder));
    // Left by a runner that was killed in the middle of this.
    if old.exists() {
        bring(&old, &home, sessions)?;
    }
    if !home.exists() {
        return Ok(());
    }
    fs::rename(&home, &old)?;
    bring(&old, &home, sessions)
}

fn bring(old: &Path, home: &Path, sessions: &[PathBuf]) -> io::Result<()> {
    private(home)?;
    for place in sessions {
        let to = home.join(place);
        if !is_plain(old, place) || to.exists() {
            continue;
        }
        if let Some(parent) = to.parent() {
            private(parent)?;
        }
        fs::rename(old.join(place), to)?;
    }
    fs::remove_dir_all(old)
}

/// Whether it is there, and no part of its path is a link.
fn is_plain(root: &Path, place: &Path) -> bool {
    let mut at = root.to_owned();
    place.components().all(|part| {
        at.push(part);
        let plain = at.symlink_metadata();
        matches!(part, Component::Normal(_)) && plain.is_ok_and(|kind| !kind.is_symlink())
    })
}
