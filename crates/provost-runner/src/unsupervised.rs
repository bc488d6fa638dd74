//! The last line: acts of the agent that nobody decided. This detects, and prevents nothing: the agent has
//! acted by then. Pure: what was seen, decided and when is told to it.

mod decided;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
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
}

/// A call, as far as the agent told of it.
#[derive(Default)]
struct Seen {
    /// Every kind that it was said to be of: one that acts counts, whatever else is said of it.
    kinds: Vec<String>,
    title: String,
    paths: Vec<PathBuf>,
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
    pub fn new(profile: Option<&'static Profile>) -> Self {
        Self {
            profile,
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
        let seen = self.calls.entry(id.clone()).or_default();
        // Models give the ids: one that is announced again is another call's.
        if tool.announces && seen.over {
            *seen = Seen::default();
        }
        seen.take(tool);
        if let Some(decided) = self.allowed.get_mut(id) {
            decided.then(Said::of(&tool.told));
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
        let acts = seen.kinds.iter().any(|kind| self.acts(kind));
        let acts = acts || (seen.kinds.is_empty() && self.acts(""));
        acts && !self.is_decided(id, seen)
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
            .is_some_and(|decided| decided.covers(&acts))
            || (!seen.paths.is_empty() && seen.paths.iter().all(written))
            || (!seen.terminals.is_empty() && seen.terminals.iter().all(ours))
    }
}

impl Seen {
    fn take(&mut self, tool: &ToolUpdate) {
        if let Some(kind) = &tool.kind
            && !self.kinds.contains(kind)
            && self.kinds.len() < MOST_KINDS
        {
            self.kinds.push(kind.clone());
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

    fn told(kind: &str, input: Value) -> Map<String, Value> {
        let call = json!({"kind": kind, "rawInput": input});
        call.as_object().unwrap().clone()
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
            match decided {
                Some(true) => watch.allowed("1", &told(kind, json!({}))),
                Some(false) => watch.rejected("1"),
                None => {}
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
        watch.allowed("1", &told("execute", json!({})));
        assert_eq!(seeing(&mut watch, call("1", "execute", "completed")), None);
        assert!(seeing(&mut watch, call("1", "execute", "completed")).is_some());
        // Some are decided before they are announced.
        watch.allowed("1", &told("execute", json!({})));
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

    #[test]
    fn a_call_that_is_begun_when_the_turn_ends_was_not_asked_about() {
        let mut watch = ActWatch::new(None);
        for (id, kind) in [
            ("begun", "execute"),
            ("read", "read"),
            ("yes", "edit"),
            ("no", "edit"),
            ("failed", "execute"),
        ] {
            seeing(&mut watch, call(id, kind, "in_progress"));
        }
        watch.allowed("yes", &told("edit", json!({})));
        watch.rejected("no");
        seeing(&mut watch, call("failed", "execute", "failed"));
        // The agent goes on after the no.
        seeing(&mut watch, call("later", "execute", "in_progress"));
        let ids = |unseen: Vec<Unseen>| {
            let ids = unseen.into_iter().map(|unseen| unseen.tool_call_id);
            ids.collect::<Vec<_>>()
        };
        // Beside a call that was rejected nobody knows whether it was begun.
        assert_eq!(ids(watch.turn_ended()), ["later"]);
        assert_eq!(ids(watch.turn_ended()), [] as [String; 0]);
        // That it was done counts.
        assert!(seeing(&mut watch, call("begun", "execute", "completed")).is_some());
    }

    #[test]
    fn whatever_else_it_is_called_an_act_is_an_act() {
        let mut watch = ActWatch::new(None);
        seeing(&mut watch, call("1", "execute", "in_progress"));
        let unseen = seeing(&mut watch, call("1", "read", "completed"));
        assert_eq!(unseen.unwrap().kind, "execute");
        // A yes to a read is none to a command.
        watch.allowed("2", &told("read", json!({})));
        assert!(seeing(&mut watch, call("2", "execute", "completed")).is_some());
        // Whoever allowed a call that may be anything allowed this.
        watch.allowed("3", &told("other", json!({})));
        assert_eq!(seeing(&mut watch, call("3", "execute", "completed")), None);
    }

    #[test]
    fn a_yes_is_not_for_something_else_under_the_same_id() {
        let ls = json!({"command": "ls"});
        let file = json!({"file_path": "/repo/a"});
        for (kind, asked, did, same) in [
            ("execute", &ls, json!({"rawInput": {"command": "ls"}}), true),
            (
                "execute",
                &ls,
                json!({"rawInput": {"command": ["bash", "-lc", "ls"]}}),
                true,
            ),
            (
                "execute",
                &ls,
                json!({"rawInput": {"command": ["./x", "-c", "ls"]}}),
                false,
            ),
            (
                "execute",
                &ls,
                json!({"rawInput": {"command": "rm -rf x"}}),
                false,
            ),
            ("execute", &ls, json!({"title": "List files"}), true),
            // Nobody was told what it would do.
            (
                "execute",
                &json!({}),
                json!({"rawInput": {"command": "ls"}}),
                true,
            ),
            (
                "edit",
                &file,
                json!({"content": [{"type": "diff", "path": "a", "newText": "x"}]}),
                true,
            ),
            (
                "edit",
                &file,
                json!({"content": [{"type": "diff", "path": "/repo/b", "newText": "x"}]}),
                false,
            ),
        ] {
            let mut watch = ActWatch::new(None);
            watch.allowed("1", &told(kind, asked.clone()));
            let mut update = call("1", kind, "completed");
            let said = did.as_object().unwrap().clone();
            update.as_object_mut().unwrap().extend(said);
            let unseen = seeing(&mut watch, update);
            assert_eq!(unseen.is_none(), same, "{asked} {did}");
        }
    }

    #[test]
    fn every_question_about_a_call_counts() {
        let mut watch = ActWatch::new(None);
        watch.allowed("1", &told("execute", json!({"command": "ls /"})));
        // Some ask about a folder as well.
        watch.allowed("1", &told("read", json!({"path": "/"})));
        let mut done = call("1", "execute", "completed");
        done["rawInput"] = json!({"command": "ls /"});
        assert_eq!(seeing(&mut watch, done), None);
    }
}
