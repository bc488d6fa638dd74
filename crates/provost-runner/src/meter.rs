//! What a run has spent, and which limit that breaks. Pure: what was seen, and when, is told to it.

use std::{collections::HashSet, fmt, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::config::Limits;

/// Enough to count by: limits above these are none.
const MOST_CALLS: usize = 1_000_000;
const MOST_FILES: usize = 100_000;

#[derive(Debug, Default)]
pub struct Meter {
    limits: Limits,
    output_bytes: u64,
    turns: u64,
    tool_calls: u64,
    tokens: u64,
    cost: f64,
    files: HashSet<String>,
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
    pub files_changed: usize,
}

impl Spent {
    pub fn describe(&self) -> Value {
        json!({
            "turns": self.turns, "toolCalls": self.tool_calls, "tokens": self.tokens, "cost": self.cost,
            "filesChanged": self.files_changed, "outputBytes": self.output_bytes,
        })
    }
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Update<'a>,
}

/// As much of an update as is counted; anything else in it may be anything.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(default, borrow)]
    session_update: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    kind: Option<&'a RawValue>,
    #[serde(default, borrow)]
    status: Option<&'a RawValue>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    locations: Option<&'a RawValue>,
    #[serde(default, borrow)]
    used: Option<&'a RawValue>,
    #[serde(default, borrow)]
    cost: Option<&'a RawValue>,
}

impl Meter {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    pub fn output(&mut self, bytes: u64) {
        self.output_bytes += bytes;
    }

    /// What the agent says it used in all.
    pub fn total(&mut self, tokens: u64) {
        self.tokens = self.tokens.max(tokens);
    }

    pub fn changed(&mut self, path: &str) {
        if self.files.len() < MOST_FILES {
            self.files.insert(path.to_owned());
        }
    }

    /// The parameters of a `session/update`.
    pub fn update(&mut self, params: &RawValue) {
        if let Ok(Params { update }) = serde_json::from_str(params.get()) {
            return self.count(&update);
        }
        // Of a field that stands there twice the last counts, as for whoever else reads it.
        let once = value(params).map(|value| value.to_string());
        if let Some(Ok(Params { update })) = once.as_deref().map(serde_json::from_str) {
            self.count(&update);
        }
    }

    fn count(&mut self, update: &Update<'_>) {
        match update.session_update.as_deref() {
            Some("agent_message_chunk" | "agent_thought_chunk") => self.spoke(),
            Some("tool_call") => {
                self.spoke();
                self.tool(update);
            }
            Some("tool_call_update") => self.tool(update),
            Some("usage_update") => self.usage(update),
            _ => {}
        }
    }

    /// The first limit that is exceeded. `idle` is how long the agent has been silent on its own account.
    pub fn breach(&self, wall: Duration, idle: Duration) -> Option<Breach> {
        let limits = &self.limits;
        let over = |limit, allowed: Option<f64>, used: f64| {
            let allowed = allowed?;
            (used > allowed).then_some(Breach {
                limit,
                allowed,
                used,
            })
        };
        let count = |limit: Option<u64>| limit.map(|limit| limit as f64);
        let time = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
        over("wallSeconds", time(limits.wall), wall.as_secs_f64())
            .or_else(|| over("idleSeconds", time(limits.idle), idle.as_secs_f64()))
            .or_else(|| over("turns", count(limits.turns), self.turns as f64))
            .or_else(|| {
                over(
                    "toolCalls",
                    count(limits.tool_calls),
                    self.tool_calls as f64,
                )
            })
            .or_else(|| over("tokens", count(limits.tokens), self.tokens as f64))
            .or_else(|| over("cost", limits.cost, self.cost))
            .or_else(|| {
                over(
                    "outputBytes",
                    count(limits.output_bytes),
                    self.output_bytes as f64,
                )
            })
            .or_else(|| {
                over(
                    "filesChanged",
                    count(limits.files_changed),
                    self.files.len() as f64,
                )
            })
    }

    /// The files that were changed, in order.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<_> = self.files.iter().cloned().collect();
        files.sort_unstable();
        files
    }

    pub fn spent(&self) -> Spent {
        Spent {
            turns: self.turns,
            tool_calls: self.tool_calls,
            tokens: self.tokens,
            cost: self.cost,
            output_bytes: self.output_bytes,
            files_changed: self.files.len(),
        }
    }

    fn spoke(&mut self) {
        if self.turns == 0 || self.answered {
            self.turns += 1;
            self.answered = false;
        }
    }

    fn tool(&mut self, update: &Update<'_>) {
        let Some(id) = update.tool_call_id else {
            return;
        };
        if self.seen.len() < MOST_CALLS && self.seen.insert(id.get().to_owned()) {
            self.tool_calls += 1;
        }
        let status = update.status.and_then(text);
        if matches!(status.as_deref(), Some("completed" | "failed")) {
            self.answered = true;
        }
        self.diffs(update.content);
        let kind = update.kind.and_then(text);
        if matches!(kind.as_deref(), Some("edit" | "delete" | "move")) {
            self.paths(update.locations);
        }
    }

    fn diffs(&mut self, content: Option<&RawValue>) {
        let Some(Value::Array(content)) = content.and_then(value) else {
            return;
        };
        for block in content {
            if block.get("type").and_then(Value::as_str) == Some("diff")
                && let Some(path) = block.get("path").and_then(Value::as_str)
            {
                self.changed(path);
            }
        }
    }

    fn paths(&mut self, locations: Option<&RawValue>) {
        let Some(Value::Array(locations)) = locations.and_then(value) else {
            return;
        };
        for location in locations {
            if let Some(path) = location.get("path").and_then(Value::as_str) {
                self.changed(path);
            }
        }
    }

    fn usage(&mut self, update: &Update<'_>) {
        let number = |raw: &RawValue| raw.get().parse::<f64>().ok();
        if let Some(used) = update.used.and_then(number) {
            // It falls when the agent forgets, and what was spent was spent.
            self.tokens = self.tokens.max(used as u64);
        }
        let cost = update.cost.and_then(value);
        let amount = cost.and_then(|cost| cost.get("amount").and_then(Value::as_f64));
        if let Some(amount) = amount {
            self.cost = self.cost.max(amount);
        }
    }
}

fn value(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok()
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NONE: Duration = Duration::ZERO;

    fn seeing(limits: Limits, updates: &[Value]) -> Meter {
        let mut meter = Meter::new(limits);
        for update in updates {
            let params = json!({"sessionId": "s", "update": update});
            meter.update(&serde_json::value::to_raw_value(&params).unwrap());
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
