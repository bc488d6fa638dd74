//! The last line: acts of the agent that nobody decided. This detects, and prevents nothing: the agent has
//! acted by then. Pure: what was seen, decided and when is told to it.

mod decided;

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::time::Instant;

use self::decided::{Decided, Said};
use crate::{
    acp::{Status, ToolUpdate, is_act},
    agents::Profile,
};

/// Agents say that a call is in progress before they ask about it.
const PATIENCE: Duration = Duration::from_secs(10);
/// More calls than these at a time are not told apart: the oldest are forgotten once they have ended.
const MOST_CALLS: usize = 100_000;
/// The protocol knows ten.
const MOST_KINDS: usize = 20;

/// Watches what the agent says it does, against what was decided.
#[derive(Default)]
pub struct ActWatch {
    profile: Option<&'static Profile>,
    calls: HashMap<String, Seen>,
    /// Calls whose last decision was a yes, and what it was about.
    allowed: HashMap<String, Decided>,
    /// What we did for the agent, and somebody allowed: files, with how often, and terminals.
    written: HashMap<PathBuf, usize>,
    terminals: HashSet<String>,
    /// Paths that do not begin at the root are of this folder.
    folder: PathBuf,
}

/// A call, as far as the agent told of it.
#[derive(Default)]
struct Seen {
    /// Every kind that it was said to be of: one that acts counts, whatever else is said of it.
    kinds: Vec<String>,
    title: String,
    /// The last that it was said to run.
    command: Option<String>,
    paths: Vec<PathBuf>,
    /// It showed a change of a file.
    changes: bool,
    terminals: Vec<String>,
    /// Since when it has been in progress.
    since: Option<Instant>,
    /// Another call was rejected since it is in progress. That ends the turn of some agents, which then never ask
    /// about this one and need not say that they gave it up.
    beside_no: bool,
    /// It was told of already, or has ended well.
    over: bool,
}

/// An act that nobody decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    pub tool_call_id: String,
    pub kind: String,
    pub title: String,
    pub status: &'static str,
}

impl ActWatch {
    /// `folder`: in which the agent works.
    pub fn new(profile: Option<&'static Profile>, folder: &Path) -> Self {
        Self {
            profile,
            folder: folder.to_owned(),
            ..Self::default()
        }
    }

    /// Somebody said yes to the call, as it is told here. An agent may ask about one call more than once.
    pub fn allowed(&mut self, tool_call: &str, told: &Map<String, Value>) {
        let decided = self.allowed.entry(tool_call.to_owned()).or_default();
        decided.add(told);
    }

    /// Somebody said no to the call, or it was asked about and nobody decided any more. The last decision counts.
    pub fn rejected(&mut self, tool_call: &str) {
        self.allowed.remove(tool_call);
        for (id, seen) in &mut self.calls {
            if id == tool_call {
                // An agent need not say that it gave the call up; only that it did it all the same would count.
                seen.since = None;
            } else {
                seen.beside_no |= seen.since.is_some();
            }
        }
    }

    /// The turn was cancelled: what was about to be asked is not, and the agent need not say that it gave it up.
    /// That it did it all the same still counts.
    pub fn turn_cancelled(&mut self) {
        for seen in self.calls.values_mut() {
            seen.since = None;
        }
    }

    pub fn wrote(&mut self, path: PathBuf) {
        *self.written.entry(path).or_default() += 1;
    }

    pub fn opened(&mut self, terminal: &str) {
        self.terminals.insert(terminal.to_owned());
    }

    /// The agent says that its turn is over. What it has in progress it has begun, and will not ask about.
    pub fn turn_ended(&mut self) -> Vec<Unseen> {
        let begun = |seen: &Seen| !seen.over && seen.since.is_some() && !seen.beside_no;
        let begun = self.calls.iter().filter(|(_, seen)| begun(seen));
        let begun = begun.filter(|(id, seen)| self.is_unseen(id, seen));
        let mut begun: Vec<String> = begun.map(|(id, _)| id.clone()).collect();
        begun.sort();
        let told = begun
            .into_iter()
            .filter_map(|id| self.told(id, "in_progress"));
        told.collect()
    }

    pub fn update(&mut self, tool: &ToolUpdate, now: Instant) -> Option<Unseen> {
        let id = &tool.id;
        if self.calls.len() >= MOST_CALLS {
            self.calls.retain(|_, seen| !seen.over);
        }
        let said = Said::of(&tool.told);
        let seen = self.calls.entry(id.clone()).or_default();
        // Models give the ids: one that is announced again is another call's, and so is one with another command.
        if seen.over && (tool.announces || seen.runs_another(&said)) {
            *seen = Seen::default();
        }
        seen.take(tool, &said);
        if let Some(decided) = self.allowed.get_mut(id) {
            decided.then(said);
        }
        match tool.status {
            Some(Status::Completed) => self.completed(id),
            Some(Status::Failed) => {
                self.calls.remove(id);
                self.allowed.remove(id);
                None
            }
            Some(Status::InProgress) => {
                let seen = self.calls.get_mut(id)?;
                seen.since = seen.since.or(Some(now));
                None
            }
            Some(Status::Pending) | None => None,
        }
    }

    /// Calls that have been in progress for too long without a question. `asking`: some question is open, and
    /// the agent may wait with the next one until it is answered.
    pub fn overdue(&mut self, now: Instant, asking: bool) -> Option<Unseen> {
        if asking {
            for seen in self.calls.values_mut() {
                seen.since = seen.since.map(|_| now);
            }
            return None;
        }
        let late = |seen: &Seen| {
            !seen.over
                && seen
                    .since
                    .is_some_and(|since| now.duration_since(since) > PATIENCE)
        };
        let late = self.calls.iter().filter(|(_, seen)| late(seen));
        let late = late.filter(|(id, seen)| self.is_unseen(id, seen));
        let id = late.map(|(id, _)| id.clone()).next()?;
        self.told(id, "in_progress")
    }

    fn completed(&mut self, id: &str) -> Option<Unseen> {
        let seen = self.calls.get(id)?;
        if self.is_unseen(id, seen) && !seen.over {
            return self.told(id.to_owned(), "completed");
        }
        // What was written once is written once, and a terminal is one command's.
        for path in &seen.paths {
            if let Some(times) = self.written.get_mut(path) {
                *times = times.saturating_sub(1);
            }
        }
        for terminal in &seen.terminals {
            self.terminals.remove(terminal);
        }
        if let Some(seen) = self.calls.get_mut(id) {
            seen.over = true;
        }
        // The yes was for this one call.
        self.allowed.remove(id);
        None
    }

    fn told(&mut self, id: String, status: &'static str) -> Option<Unseen> {
        let kind = self.kind(self.calls.get(&id)?);
        let seen = self.calls.get_mut(&id)?;
        seen.over = true;
        Some(Unseen {
            kind,
            title: seen.title.clone(),
            tool_call_id: id,
            status,
        })
    }

    fn is_unseen(&self, id: &str, seen: &Seen) -> bool {
        let asked = self.allowed.get(id).into_iter().flat_map(Decided::kinds);
        let acts = seen.kinds.iter().chain(asked).any(|kind| self.acts(kind));
        let acts = acts || (seen.kinds.is_empty() && self.acts(""));
        (acts || self.hides_act(seen)) && !self.is_decided(id, seen)
    }

    /// Whether it does something that its kind does not say.
    fn hides_act(&self, seen: &Seen) -> bool {
        // What agents look at files with may be a command.
        let looks = |kind: &String| matches!(&**kind, "read" | "search");
        let runs = seen.command.is_some() && !seen.kinds.iter().any(looks);
        (runs && self.acts("execute")) || (seen.changes && self.acts("edit"))
    }

    /// Whether a call of this kind must be decided.
    fn acts(&self, kind: &str) -> bool {
        let by_design = |profile: &Profile| profile.unasked_kinds.contains(&kind);
        if self.profile.is_some_and(by_design) {
            return false;
        }
        let other = matches!(kind, "" | "other");
        is_act(kind) || (other && self.profile.is_some_and(|profile| profile.others_act))
    }

    /// As people are told: what it did, where it was said to be several things.
    fn kind(&self, seen: &Seen) -> String {
        let acts = seen.kinds.iter().find(|kind| self.acts(kind));
        acts.or(seen.kinds.last()).cloned().unwrap_or_default()
    }

    /// By an answer to the agent's question, or because we did it for the agent once it was allowed.
    fn is_decided(&self, id: &str, seen: &Seen) -> bool {
        let written = |path: &PathBuf| self.written.get(path).is_some_and(|times| *times > 0);
        let ours = |id: &String| self.terminals.contains(id);
        let acts: Vec<_> = seen.kinds.iter().filter(|kind| self.acts(kind)).collect();
        self.allowed
            .get(id)
            .is_some_and(|decided| decided.covers(&acts, &self.folder))
            || (!seen.paths.is_empty() && seen.paths.iter().all(written))
            || (!seen.terminals.is_empty() && seen.terminals.iter().all(ours))
    }
}

impl Seen {
    /// It is told of again with another command than the one that it was.
    fn runs_another(&self, said: &Said) -> bool {
        let known = self.command.as_ref().zip(said.command());
        known.is_some_and(|(one, other)| one != other)
    }

    fn take(&mut self, tool: &ToolUpdate, said: &Said) {
        let kind = tool.kind.as_ref().map(|kind| kind.to_ascii_lowercase());
        if let Some(kind) = kind
            && !self.kinds.contains(&kind)
            && self.kinds.len() < MOST_KINDS
        {
            self.kinds.push(kind);
        }
        if let Some(command) = said.command() {
            self.command = Some(command.clone());
        }
        self.changes |= !tool.diffs.is_empty();
        if let Some(title) = &tool.title {
            self.title.clone_from(title);
        }
        self.terminals.extend(tool.terminals.iter().cloned());
        for path in tool.diffs.iter().chain(&tool.locations) {
            let path = PathBuf::from(path);
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }
}

#[cfg(test)]
mod tests;
