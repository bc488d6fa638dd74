//! The last line: acts of the agent that nobody decided. This detects, and prevents nothing: the agent has
//! acted by then. Pure: what was seen, decided and when is told to it.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    acp::{Status, ToolUpdate},
    agents::Profile,
};

/// The kinds of tools that change something or reach outside.
const ACTS: [&str; 5] = ["execute", "edit", "delete", "move", "fetch"];
/// Agents say that a call is in progress before they ask about it.
const PATIENCE: Duration = Duration::from_secs(10);
/// More calls than these at a time are not told apart: the oldest are forgotten once they have ended.
const MOST_CALLS: usize = 100_000;

/// Watches what the agent says it does, against what was decided.
#[derive(Default)]
pub struct ActWatch {
    profile: Option<&'static Profile>,
    calls: HashMap<String, Seen>,
    /// Calls whose last decision was a yes.
    allowed: HashSet<String>,
    /// What we did for the agent, and somebody allowed: files, with how often, and terminals.
    written: HashMap<PathBuf, usize>,
    terminals: HashSet<String>,
}

/// A call, as far as the agent told of it.
#[derive(Default)]
struct Seen {
    kind: String,
    title: String,
    paths: Vec<PathBuf>,
    terminals: Vec<String>,
    /// Since when it has been in progress.
    since: Option<Instant>,
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
    pub fn new(profile: Option<&'static Profile>) -> Self {
        Self {
            profile,
            ..Self::default()
        }
    }

    /// Somebody decided about the call. The last decision counts.
    pub fn decided(&mut self, tool_call: &str, allowed: bool) {
        if allowed {
            self.allowed.insert(tool_call.to_owned());
            return;
        }
        self.allowed.remove(tool_call);
        // An agent need not say that it gave the call up; only that it did it all the same would count.
        if let Some(seen) = self.calls.get_mut(tool_call) {
            seen.since = None;
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

    pub fn update(&mut self, tool: &ToolUpdate, now: Instant) -> Option<Unseen> {
        let id = &tool.id;
        if self.calls.len() >= MOST_CALLS {
            self.calls.retain(|_, seen| !seen.over);
        }
        let seen = self.calls.entry(id.clone()).or_default();
        // Models give the ids: one that is announced again is another call's.
        if tool.announces && seen.over {
            *seen = Seen::default();
        }
        seen.take(tool);
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
        let late = late.filter(|(id, seen)| self.acts(seen) && !self.is_decided(id, seen));
        let id = late.map(|(id, _)| id.clone()).next()?;
        self.told(id, "in_progress")
    }

    fn completed(&mut self, id: &str) -> Option<Unseen> {
        let seen = self.calls.get(id)?;
        let unseen = self.acts(seen) && !self.is_decided(id, seen) && !seen.over;
        if unseen {
            return self.told(id.to_owned(), "completed");
        }
        // What was written once is written once.
        for path in seen.paths.clone() {
            if let Some(times) = self.written.get_mut(&path) {
                *times = times.saturating_sub(1);
            }
        }
        if let Some(seen) = self.calls.get_mut(id) {
            seen.over = true;
        }
        // The yes was for this one call.
        self.allowed.remove(id);
        None
    }

    fn told(&mut self, id: String, status: &'static str) -> Option<Unseen> {
        let seen = self.calls.get_mut(&id)?;
        seen.over = true;
        Some(Unseen {
            kind: seen.kind.clone(),
            title: seen.title.clone(),
            tool_call_id: id,
            status,
        })
    }

    /// Whether the call is of a kind that must be decided.
    fn acts(&self, seen: &Seen) -> bool {
        let by_design = |profile: &Profile| profile.unasked_kinds.contains(&&*seen.kind);
        if self.profile.is_some_and(by_design) {
            return false;
        }
        let other = matches!(&*seen.kind, "" | "other");
        ACTS.contains(&&*seen.kind)
            || (other && self.profile.is_some_and(|profile| profile.others_act))
    }

    /// By an answer to the agent's question, or because we did it for the agent once it was allowed.
    fn is_decided(&self, id: &str, seen: &Seen) -> bool {
        let written = |path: &PathBuf| self.written.get(path).is_some_and(|times| *times > 0);
        let ours = |id: &String| self.terminals.contains(id);
        self.allowed.contains(id)
            || (!seen.paths.is_empty() && seen.paths.iter().all(written))
            || (!seen.terminals.is_empty() && seen.terminals.iter().all(ours))
    }
}

impl Seen {
    fn take(&mut self, tool: &ToolUpdate) {
        if let Some(kind) = &tool.kind {
            self.kind.clone_from(kind);
        }
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
mod tests {
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::{
        acp::{SessionUpdate, Update},
        agents::named,
    };

    fn seeing(watch: &mut ActWatch, update: Value) -> Option<Unseen> {
        let params = json!({"sessionId": "s", "update": update});
        match SessionUpdate::read(&to_raw_value(&params).unwrap()).update {
            Update::Tool(tool) => watch.update(&tool, Instant::now()),
            other => panic!("{other:?}"),
        }
    }

    fn call(id: &str, kind: &str, status: &str) -> Value {
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": kind, "title": "t", "status": status})
    }

    #[test]
    fn what_nobody_decided_is_seen() {
        for (kind, agent, decided, seen) in [
            ("execute", None, None, true),
            ("edit", None, None, true),
            ("fetch", None, Some(false), true),
            ("execute", None, Some(true), false),
            ("read", None, None, false),
            ("other", None, None, false),
            // All that Goose does is of this kind.
            ("other", Some("goose"), None, true),
            // Codex runs commands in its own sandbox.
            ("execute", Some("codex"), None, false),
            ("edit", Some("codex"), None, true),
        ] {
            let mut watch = ActWatch::new(agent.and_then(named));
            assert_eq!(seeing(&mut watch, call("1", kind, "in_progress")), None);
            if let Some(allowed) = decided {
                watch.decided("1", allowed);
            }
            let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"});
            let unseen = seeing(&mut watch, update.clone());
            assert_eq!(unseen.is_some(), seen, "{kind} {agent:?} {decided:?}");
            // Once is enough.
            assert_eq!(seeing(&mut watch, update), None);
        }
    }

    #[test]
    fn a_yes_is_not_for_another_call_of_the_same_id() {
        let mut watch = ActWatch::new(None);
        watch.decided("1", true);
        assert_eq!(seeing(&mut watch, call("1", "execute", "completed")), None);
        assert!(seeing(&mut watch, call("1", "execute", "completed")).is_some());
        // Some are decided before they are announced.
        watch.decided("1", true);
        assert_eq!(seeing(&mut watch, call("1", "execute", "completed")), None);
    }

    #[test]
    fn a_call_that_failed_was_none() {
        let mut watch = ActWatch::new(None);
        assert_eq!(seeing(&mut watch, call("1", "execute", "failed")), None);
    }

    #[test]
    fn what_we_did_ourselves_was_decided() {
        let mut watch = ActWatch::new(None);
        let edit = |id: &str| {
            json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "edit", "status": "completed",
                "locations": [{"path": "/a"}]})
        };
        watch.wrote("/a".into());
        assert_eq!(seeing(&mut watch, edit("1")), None);
        assert!(seeing(&mut watch, edit("2")).is_some(), "written once");
        let run = |id: &str, terminal: &str| {
            json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute", "status": "completed",
                "content": [{"type": "terminal", "terminalId": terminal}]})
        };
        watch.opened("t1");
        assert_eq!(seeing(&mut watch, run("3", "t1")), None);
        assert!(seeing(&mut watch, run("4", "t2")).is_some());
    }

    #[test]
    fn a_call_may_be_in_progress_before_it_is_asked_about() {
        let mut watch = ActWatch::new(None);
        let start = Instant::now();
        seeing(&mut watch, call("1", "execute", "in_progress"));
        let later = start + PATIENCE + Duration::from_secs(1);
        assert_eq!(watch.overdue(start, false), None);
        // Another question is open: it may wait its turn.
        assert_eq!(watch.overdue(later, true), None);
        assert_eq!(watch.overdue(later, false), None);
        let unseen = watch.overdue(later + PATIENCE + Duration::from_secs(1), false);
        assert_eq!(unseen.unwrap().status, "in_progress");
    }
}
