//! The last line: acts of the agent that nobody decided. This detects, and prevents nothing: the agent has
//! acted by then. Pure: what was seen, decided and when is told to it.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio::time::Instant;

use crate::agents::Profile;

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

#[derive(Deserialize)]
struct Params {
    update: Update,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    #[serde(default)]
    session_update: Value,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    kind: Option<Value>,
    #[serde(default)]
    title: Option<Value>,
    #[serde(default)]
    status: Option<Value>,
    #[serde(default)]
    content: Option<Value>,
    #[serde(default)]
    locations: Option<Value>,
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

    pub fn wrote(&mut self, path: PathBuf) {
        *self.written.entry(path).or_default() += 1;
    }

    pub fn opened(&mut self, terminal: &str) {
        self.terminals.insert(terminal.to_owned());
    }

    /// The parameters of a `session/update`.
    pub fn update(&mut self, params: &RawValue, now: Instant) -> Option<Unseen> {
        // Few updates are about tools: the others are not read.
        if !params.get().contains("tool_call") {
            return None;
        }
        let Params { update } = serde_json::from_str(params.get()).ok()?;
        if !matches!(
            update.session_update.as_str(),
            Some("tool_call" | "tool_call_update")
        ) {
            return None;
        }
        let id = update.tool_call_id.clone()?;
        if self.calls.len() >= MOST_CALLS {
            self.calls.retain(|_, seen| !seen.over);
        }
        self.calls.entry(id.clone()).or_default().take(&update);
        match update.status.as_ref().and_then(Value::as_str) {
            Some("completed") => self.completed(&id),
            Some("failed") => {
                self.calls.remove(&id);
                None
            }
            Some("in_progress") => {
                let seen = self.calls.get_mut(&id)?;
                seen.since = seen.since.or(Some(now));
                None
            }
            _ => None,
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
    fn take(&mut self, update: &Update) {
        let text = |value: &Option<Value>| value.as_ref()?.as_str().map(str::to_owned);
        if let Some(kind) = text(&update.kind) {
            self.kind = kind;
        }
        if let Some(title) = text(&update.title) {
            self.title = title;
        }
        let list = |value: &Option<Value>| value.as_ref().and_then(Value::as_array).cloned();
        for block in list(&update.content).unwrap_or_default() {
            let text = |name: &str| block.get(name).and_then(Value::as_str);
            match text("type") {
                Some("diff") => self.path(text("path")),
                Some("terminal") => self.terminals.extend(text("terminalId").map(str::to_owned)),
                _ => {}
            }
        }
        for location in list(&update.locations).unwrap_or_default() {
            self.path(location.get("path").and_then(Value::as_str));
        }
    }

    fn path(&mut self, path: Option<&str>) {
        let path = path.map(PathBuf::from);
        let new = path.filter(|path| !self.paths.contains(path));
        self.paths.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::agents::named;

    fn seeing(watch: &mut ActWatch, update: Value) -> Option<Unseen> {
        let params = json!({"sessionId": "s", "update": update});
        watch.update(&to_raw_value(&params).unwrap(), Instant::now())
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
