//! The story of a run for people: what its agent said, did and asked, from the lines of its journal.

use std::{borrow::Cow, collections::HashMap};

use provost_core::{review::mask_text, time::Time};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    console::moment::Moment,
    fleet::{Entry, Run},
};

/// Of a long journal the end is shown.
const MOST_BYTES: u64 = 512 * 1024;
const MOST_ITEMS: usize = 400;
const LONGEST: usize = 8000;

/// Some of what happened.
#[derive(Default)]
pub(super) struct Told {
    pub(super) items: Vec<Item>,
    /// There was more before.
    pub(super) cut: bool,
}

pub(super) struct Item {
    pub(super) at: Moment,
    /// What it is, in a word.
    pub(super) what: &'static str,
    pub(super) class: &'static str,
    pub(super) text: String,
    /// How it fares, of what takes its time.
    pub(super) status: String,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    at: i64,
    #[serde(default)]
    r#in: Value,
    #[serde(default)]
    event: Value,
    #[serde(default)]
    decision: Value,
    #[serde(default)]
    err: Value,
}

struct Teller {
    now: Time,
    items: Vec<Item>,
    /// Where each tool call stands.
    tools: HashMap<String, usize>,
}

pub(super) fn told(run: &Run, now: Time) -> Told {
    let length = std::fs::metadata(run.journal()).map_or(0, |file| file.len());
    let mut after = length.saturating_sub(MOST_BYTES);
    let mut teller = Teller {
        now,
        items: Vec::new(),
        tools: HashMap::new(),
    };
    let cut = after > 0;
    while let Ok((entries, end)) = run.read(after) {
        for entry in &entries {
            teller.hear(entry);
        }
        if end == after {
            break;
        }
        after = end;
    }
    let many = teller.items.len().saturating_sub(MOST_ITEMS);
    let mut items = teller.items.split_off(many);
    // Here, where the pieces of a text are together: a secret may come in two.
    for item in &mut items {
        for shown in [&mut item.text, &mut item.status] {
            if let Cow::Owned(masked) = mask_text(shown) {
                *shown = masked;
            }
        }
    }
    Told {
        items,
        cut: cut || many > 0,
    }
}

impl Teller {
    fn hear(&mut self, entry: &Entry) {
        let Ok(line) = serde_json::from_str::<Line>(&entry.line) else {
            return;
        };
        let at = line.at;
        match entry.kind.as_str() {
            "in" => self.message(at, &line.r#in),
            "event" => self.event(at, &line.event),
            "decision" => self.decision(at, &line.decision),
            "err" => self.add(at, "Error output", "", text(&line.err, "")),
            _ => {}
        }
    }

    fn message(&mut self, at: i64, message: &Value) {
        match message.get("method").and_then(Value::as_str) {
            Some("session/update") => {
                if let Some(update) = message.pointer("/params/update") {
                    self.update(at, update);
                }
            }
            Some("session/request_permission") => {
                let title = text(message, "/params/toolCall/title");
                self.add(at, "Asks", "wait", title);
            }
            _ => {}
        }
    }

    fn update(&mut self, at: i64, update: &Value) {
        match text(update, "/sessionUpdate").as_str() {
            "agent_message_chunk" => self.speak(at, "Agent", &text(update, "/content/text")),
            "agent_thought_chunk" => self.speak(at, "Thought", &text(update, "/content/text")),
            "tool_call" => {
                let id = text(update, "/toolCallId");
                let title = text(update, "/title");
                self.add(at, "Tool", "", title);
                self.tools.insert(id, self.items.len() - 1);
                self.fares(update);
            }
            "tool_call_update" => self.fares(update),
            _ => {}
        }
    }

    /// What an agent says comes in pieces.
    fn speak(&mut self, at: i64, what: &'static str, piece: &str) {
        match self.items.last_mut() {
            Some(last) if last.what == what && last.text.len() < LONGEST => {
                last.text.push_str(&cut(piece.to_owned()));
            }
            _ => self.add(at, what, "", piece.to_owned()),
        }
    }

    fn fares(&mut self, update: &Value) {
        let at = self.tools.get(&text(update, "/toolCallId"));
        let Some(item) = at.and_then(|at| self.items.get_mut(*at)) else {
            return;
        };
        if let Some(status) = update.get("status").and_then(Value::as_str) {
            item.status = cut(status.to_owned());
        }
        if let Some(title) = update.get("title").and_then(Value::as_str) {
            item.text = cut(title.to_owned());
        }
    }

    fn decision(&mut self, at: i64, decision: &Value) {
        let outcome = text(decision, "/outcome");
        let class = if outcome == "allowed" { "yes" } else { "no" };
        let told = format!("{outcome}: {}", text(decision, "/title"));
        self.add(at, "Decided", class, told);
        if let Some(item) = self.items.last_mut() {
            item.status = cut(text(decision, "/reason"));
        }
    }

    fn event(&mut self, at: i64, event: &Value) {
        let Some(event) = event.as_object() else {
            return;
        };
        for (name, value) in event {
            let told = match name.as_str() {
                "queued" => format!("taken in for {}", text(value, "/by")),
                "starting" => "its runner is started".to_owned(),
                "session" => format!("session {}", text(value, "")),
                "state" => text(value, "").replace('_', " "),
                "prompt" => match followed(value) {
                    Some(told) => told,
                    None => continue,
                },
                "cancelling" => format!("{} wants it to end", text(value, "")),
                "warning" => text(value, ""),
                "reported" => match text(value, "/warning") {
                    warning if warning.is_empty() => continue,
                    warning => warning,
                },
                "unsupervised" => {
                    let told = format!("{}: {}", text(value, "/kind"), text(value, "/title"));
                    self.add(at, "Nobody decided", "no", told);
                    continue;
                }
                "resumed" => format!("taken up again: {}", text(value, "/because")),
                "ended" => {
                    let parts = ["/state", "/stopReason", "/reason", "/message"];
                    let parts = parts.map(|part| text(value, part));
                    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                    parts.join(" · ")
                }
                _ => continue,
            };
            self.add(at, "Run", "", told);
        }
    }

    fn add(&mut self, at: i64, what: &'static str, class: &'static str, text: String) {
        self.items.push(Item {
            at: Moment::new(Time::from_millis(at), self.now),
            what,
            class,
            text: cut(text),
            status: String::new(),
        });
    }
}

/// Of the first prompt, the run's own steps tell.
fn followed(prompt: &Value) -> Option<String> {
    let number = prompt.get("number").and_then(Value::as_u64)?;
    let state = text(prompt, "/state");
    match state.as_str() {
        "cancelling" => Some(format!("the turn of prompt {number} is cancelled")),
        "queued" | "running" if number == 1 => None,
        "queued" => Some(format!("prompt {number} by {}", text(prompt, "/by"))),
        "running" => Some(format!("prompt {number} begins")),
        "done" | "failed" => {
            let parts = ["/stopReason", "/reason", "/message"].map(|part| text(prompt, part));
            let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            Some(format!("prompt {number} {state}: {}", parts.join(" · ")))
        }
        _ => None,
    }
}

fn text(value: &Value, at: &str) -> String {
    let found = value.pointer(at).and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}
