//! What a run has spent, and which limit that breaks. Pure: what was seen, and when, is told to it.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    acp::{Status, Tokens, ToolUpdate, Update, Usage},
    config::{Limits, SpentBefore},
};

/// Enough to count by: limits above these are none.
const MOST_CALLS: usize = 1_000_000;
const MOST_FILES: usize = 100_000;
/// The limits of what is counted, in the order in which they are looked at.
const COUNTED: [&str; 6] = [
    "turns",
    "toolCalls",
    "tokens",
    "cost",
    "outputBytes",
    "filesChanged",
];

#[derive(Debug, Default)]
pub struct Meter {
    limits: Limits,
    /// What runners before this one spent, where it is not counted on below.
    before: SpentBefore,
    output_bytes: u64,
    turns: u64,
    tool_calls: u64,
    /// Of the prompts before, as far as they were told.
    tokens_before: Option<u64>,
    /// Of this prompt; see [`Meter::used`].
    tokens: Option<u64>,
    /// Those of its steps, together.
    steps: u64,
    cost: Option<f64>,
    /// Each with the call that alone has told of it: should that fail, the file was not changed.
    files: HashMap<String, Option<String>>,
    /// Tools answered since the model spoke last: what it says next is another turn.
    answered: bool,
    /// Tool calls that were seen.
    seen: HashSet<String>,
}

/// A limit that is exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// As the configuration calls it.
    pub limit: &'static str,
    pub allowed: f64,
    pub used: f64,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, allowed, used) = (self.limit, self.allowed, self.used);
        write!(f, "the limit `{limit}` of {allowed} is exceeded: {used}")
    }
}

/// What was spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub turns: u64,
    pub tool_calls: u64,
    pub tokens: u64,
    pub cost: f64,
    pub output_bytes: u64,
    pub files_changed: u64,
}

impl Spent {
    pub fn describe(&self) -> Value {
        json!({
            "turns": self.turns, "toolCalls": self.tool_calls, "tokens": self.tokens, "cost": self.cost,
            "filesChanged": self.files_changed, "outputBytes": self.output_bytes,
        })
    }
}

impl Meter {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Goes on from what was spent before.
    #[must_use]
    pub fn after(self, before: &SpentBefore) -> Self {
        Self {
            output_bytes: before.output_bytes,
            turns: before.turns,
            tool_calls: before.tool_calls,
            tokens_before: (before.tokens > 0).then_some(before.tokens),
            before: before.clone(),
            ..self
        }
    }

    pub fn output(&mut self, bytes: u64) {
        self.output_bytes += bytes;
    }

    /// What is told from now on is of another prompt: agents tell the tokens of one, and the model answers anew.
    pub fn prompt_begins(&mut self) {
        if let Some(tokens) = self.tokens.take() {
            self.tokens_before = Some(self.tokens_before.unwrap_or(0).saturating_add(tokens));
        }
        self.steps = 0;
        self.answered = true;
    }

    /// What the agent, or whoever else counts, says that it used. A context falls when the agent forgets; what was
    /// spent was spent.
    pub fn used(&mut self, usage: &Usage) {
        let tokens = usage.tokens.map(|tokens| match tokens {
            Tokens::Context(tokens) | Tokens::Total(tokens) => tokens,
            Tokens::Step(tokens) => {
                self.steps = self.steps.saturating_add(tokens);
                self.steps
            }
        });
        self.tokens = self.tokens.max(tokens);
        if let Some(cost) = usage.cost {
            // Agents tell that of their session. One that tells less than was spent before has begun to count anew.
            if self.cost.is_none() && cost >= self.before.cost {
                self.before.cost = 0.0;
            }
            self.cost = Some(self.cost.map_or(cost, |most| most.max(cost)));
        }
    }

    pub fn changed(&mut self, path: &str) {
        self.changes(path, None);
    }

    fn changes(&mut self, path: &str, call: Option<&str>) {
        if let Some(by) = self.files.get_mut(path) {
            if by.as_deref() != call {
                *by = None;
            }
        } else if self.files.len() < MOST_FILES {
            self.files.insert(path.to_owned(), call.map(str::to_owned));
        }
    }

    pub fn update(&mut self, update: &Update) {
        match update {
            Update::Message(chunk) => {
                self.spoke();
                if let Some(usage) = &chunk.usage {
                    self.used(usage);
                }
            }
            Update::Thought => self.spoke(),
            Update::Tool(tool) => self.tool(tool),
            Update::Usage(usage) => self.used(usage),
            Update::Mode(_) | Update::Other => {}
        }
    }

    /// The first limit that is exceeded. `idle` is how long the agent has been silent on its own account.
    pub fn breach(&self, wall: Duration, idle: Duration) -> Option<Breach> {
        let time = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
        let wall = (wall + self.before.wall).as_secs_f64();
        over("wallSeconds", time(self.limits.wall), wall)
            .or_else(|| over("idleSeconds", time(self.limits.idle), idle.as_secs_f64()))
            .or_else(|| COUNTED.into_iter().find_map(|limit| self.exceeded(limit)))
    }

    /// Whether this limit is exceeded, of those that are counted.
    pub fn exceeded(&self, limit: &'static str) -> Option<Breach> {
        let limits = &self.limits;
        let count = |limit: Option<u64>| limit.map(|limit| limit as f64);
        let spent = self.spent();
        let (allowed, used) = match limit {
            "turns" => (count(limits.turns), spent.turns as f64),
            "toolCalls" => (count(limits.tool_calls), spent.tool_calls as f64),
            "tokens" => (count(limits.tokens), spent.tokens as f64),
            "cost" => (limits.cost, spent.cost),
            "outputBytes" => (count(limits.output_bytes), spent.output_bytes as f64),
            "filesChanged" => (count(limits.files_changed), spent.files_changed as f64),
            _ => return None,
        };
        over(limit, allowed, used)
    }

    /// Whether anything was told that this limit rests on.
    pub fn was_told(&self, limit: &str) -> bool {
        match limit {
            "tokens" => self.tokens.or(self.tokens_before).is_some(),
            "cost" => self.cost.is_some(),
            _ => true,
        }
    }

    /// The files that were changed, in order.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<_> = self.files.keys().cloned().collect();
        files.sort_unstable();
        files
    }

    pub fn spent(&self) -> Spent {
        Spent {
            turns: self.turns,
            tool_calls: self.tool_calls,
            tokens: self
                .tokens_before
                .unwrap_or(0)
                .saturating_add(self.tokens.unwrap_or(0)),
            cost: self.before.cost + self.cost.unwrap_or(0.0),
            output_bytes: self.output_bytes,
            files_changed: self.files.len() as u64 + self.before.files_changed,
        }
    }

    fn spoke(&mut self) {
        if self.turns == 0 || self.answered {
            self.turns += 1;
            self.answered = false;
        }
    }

    fn tool(&mut self, tool: &ToolUpdate) {
        if tool.announces {
            self.spoke();
        }
        // Some agents tell of a call only when it is over.
        if self.seen.len() < MOST_CALLS && self.seen.insert(tool.id.clone()) {
            self.tool_calls += 1;
            self.spoke();
        }
        if matches!(tool.status, Some(Status::Completed | Status::Failed)) {
            self.answered = true;
        }
        if tool.status == Some(Status::Failed) {
            self.files
                .retain(|_, by| by.as_deref() != Some(tool.id.as_str()));
            return;
        }
        for path in &tool.diffs {
            self.changes(path, Some(&tool.id));
        }
        if matches!(tool.kind.as_deref(), Some("edit" | "delete" | "move")) {
            for path in &tool.locations {
                self.changes(path, Some(&tool.id));
            }
        }
    }
}

fn over(limit: &'static str, allowed: Option<f64>, used: f64) -> Option<Breach> {
    let allowed = allowed?;
    (used > allowed).then_some(Breach {
        limit,
        allowed,
        used,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::acp::SessionUpdate;

    const NONE: Duration = Duration::ZERO;

    fn seeing(limits: Limits, updates: &[Value]) -> Meter {
        let mut meter = Meter::new(limits);
        for update in updates {
            let params = json!({"sessionId": "s", "update": update});
            let params = serde_json::value::to_raw_value(&params).unwrap();
            meter.update(&SessionUpdate::read(&params).update);
        }
        meter
    }

    #[test]
    fn what_is_counted() {
        let tool = |id: &str, status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
        let says = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
        let meter = seeing(
            Limits::default(),
            &[
                says.clone(),
                says.clone(),
                json!({"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "edit", "locations": [{"path": "/a"}],
                    "content": [{"type": "diff", "path": "/b", "newText": "x"}, {"type": "odd"}, 7]}),
                json!({"sessionUpdate": "tool_call", "toolCallId": "2", "kind": "read", "locations": [{"path": "/c"}]}),
                tool("1", "completed"),
                tool("2", "completed"),
                says.clone(),
                tool("3", "failed"),
                says,
                json!({"sessionUpdate": "usage_update", "used": 900, "size": 1000, "cost": {"amount": 0.5, "currency": "USD"}}),
                json!({"sessionUpdate": "usage_update", "used": 100, "size": 1000, "cost": null}),
                json!({"sessionUpdate": "usage_update", "used": "many"}),
                json!({"sessionUpdate": 7}),
                json!([1]),
            ],
        );
        assert_eq!(
            meter.spent(),
            Spent {
                turns: 3,
                tool_calls: 3,
                tokens: 900,
                cost: 0.5,
                output_bytes: 0,
                files_changed: 2
            }
        );
    }

    #[test]
    fn a_change_that_was_denied_is_none() {
        let edit = |id: &str, path: &str| {
            json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "edit",
                "content": [{"type": "diff", "path": path, "newText": "x"}]})
        };
        let failed = |id: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed"});
        let updates = [edit("1", "/a"), edit("2", "/b"), failed("1"), failed("3")];
        assert_eq!(seeing(Limits::default(), &updates).files(), ["/b"]);
        // Another call told of it as well.
        let updates = [edit("1", "/a"), edit("2", "/a"), failed("1")];
        assert_eq!(seeing(Limits::default(), &updates).files(), ["/a"]);
    }

    /// Gemini CLI asks about a call before it tells of it.
    #[test]
    fn a_call_that_was_not_announced_is_another_turn() {
        let over = |id: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"});
        let meter = seeing(Limits::default(), &[over("1"), over("2"), over("2")]);
        assert_eq!((meter.spent().turns, meter.spent().tool_calls), (2, 2));
    }

    #[test]
    fn steps_add_up() {
        let step = |tokens: u64| json!({"sessionUpdate": "agent_message_chunk", "_meta": {"usage": {"totalTokens": tokens}}});
        let context = json!({"sessionUpdate": "usage_update", "used": 50});
        let mut meter = seeing(Limits::default(), &[]);
        assert!(!meter.was_told("tokens"));
        for (update, tokens) in [(step(30), 30), (context, 50), (step(40), 70)] {
            let params = json!({"sessionId": "s", "update": update});
            let params = serde_json::value::to_raw_value(&params).unwrap();
            meter.update(&SessionUpdate::read(&params).update);
            assert_eq!(meter.spent().tokens, tokens);
        }
        assert!(meter.was_told("tokens") && !meter.was_told("cost"));
    }

    #[test]
    fn the_prompts_of_a_session_add_up() {
        let update = |update: Value| {
            let params = json!({"sessionId": "s", "update": update});
            SessionUpdate::read(&serde_json::value::to_raw_value(&params).unwrap()).update
        };
        let says = update(json!({"sessionUpdate": "agent_message_chunk"}));
        let context =
            update(json!({"sessionUpdate": "usage_update", "used": 8, "cost": {"amount": 0.5}}));
        let answer = |tokens: u64| Usage::of_answer(&json!({"usage": {"totalTokens": tokens}}));
        let mut meter = Meter::default();
        for (number, tokens) in [(1, 12), (2, 24), (3, 36)] {
            meter.prompt_begins();
            meter.update(&says);
            meter.update(&context);
            meter.used(&answer(12));
            let spent = meter.spent();
            assert_eq!((spent.turns, spent.tokens), (number, tokens));
        }
        // Agents tell the cost of their whole session.
        assert!((meter.spent().cost - 0.5).abs() < f64::EPSILON);
        meter.prompt_begins();
        assert!(meter.was_told("tokens"));
    }

    #[test]
    fn what_was_spent_before_counts_and_the_limit_is_the_configured_one() {
        let limits = Limits {
            tool_calls: Some(3),
            wall: Some(Duration::from_secs(10)),
            ..Limits::default()
        };
        let before = SpentBefore {
            wall: Duration::from_secs(8),
            tool_calls: 3,
            turns: 2,
            tokens: 100,
            cost: 0.5,
            ..SpentBefore::default()
        };
        let cost = |cost: f64| Usage {
            tokens: None,
            cost: Some(cost),
        };
        for (told, spent) in [(0.6, 0.6), (0.1, 0.6)] {
            let mut meter = Meter::new(limits.clone()).after(&before);
            assert!((meter.spent().cost - 0.5).abs() < 1e-9);
            meter.used(&cost(told));
            assert!((meter.spent().cost - spent).abs() < 1e-9);
        }
        let mut meter = Meter::new(limits).after(&before);
        meter.prompt_begins();
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "1"});
        let params = json!({"sessionId": "s", "update": call});
        let params = serde_json::value::to_raw_value(&params).unwrap();
        meter.update(&SessionUpdate::read(&params).update);
        let spent = meter.spent();
        assert_eq!((spent.tool_calls, spent.turns, spent.tokens), (4, 3, 100));
        let breach = meter.breach(Duration::from_secs(1), NONE).unwrap();
        assert_eq!(
            breach.to_string(),
            "the limit `toolCalls` of 3 is exceeded: 4"
        );
        let breach = meter.breach(Duration::from_secs(3), NONE).unwrap();
        assert_eq!((breach.limit, breach.used), ("wallSeconds", 11.0));
    }

    #[test]
    fn a_limit_that_is_reached_is_not_exceeded() {
        let limits = Limits {
            turns: Some(1),
            wall: Some(Duration::from_secs(2)),
            idle: Some(Duration::from_secs(1)),
            ..Limits::default()
        };
        let says = json!({"sessionUpdate": "agent_message_chunk"});
        let meter = seeing(limits, &[says]);
        assert_eq!(meter.breach(Duration::from_secs(2), NONE), None);
        let breach = meter.breach(Duration::from_secs(3), NONE).unwrap();
        assert_eq!(
            breach.to_string(),
            "the limit `wallSeconds` of 2 is exceeded: 3"
        );
        let breach = meter.breach(NONE, Duration::from_secs(3)).unwrap();
        assert_eq!(breach.limit, "idleSeconds");
    }
}
