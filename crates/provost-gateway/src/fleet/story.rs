//! Where a run stands, told by its journal line by line. Pure: the same lines tell the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// More say the same.
const MOST_WARNINGS: usize = 50;
/// The runner's reason for the end of a session that had no prompt.
const IDLE: &str = "idle";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    #[default]
    Queued,
    Starting,
    Running,
    WaitingPermission,
    /// Its session stays, and waits for the next prompt.
    Idle,
    Done,
    Failed,
    Cancelled,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    pub turns: u64,
    pub tool_calls: u64,
    pub tokens: u64,
    pub cost: f64,
    pub files_changed: u64,
    pub output_bytes: u64,
}

/// Why a run did not do what it was for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub reason: String,
    pub message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Story {
    pub state: State,
    pub session_id: Option<String>,
    pub stop_reason: Option<String>,
    pub error: Option<Failure>,
    pub spent: Spent,
    /// In milliseconds, as the journal has them.
    pub started_at: Option<i64>,
    pub ended_at: Option<i64>,
    /// Who wants it to end, where somebody does.
    pub cancelled_by: Option<String>,
    /// How often it was taken up again after its runner was lost.
    pub resumed: u32,
    /// What its session was asked, in order.
    pub prompts: Vec<Prompt>,
    /// Whether its agent says that it can go on with a session.
    pub resumes: bool,
    /// What did not go as it was asked for, and ended nothing.
    pub warnings: Vec<String>,
    /// What was set in its session between prompts.
    pub(super) set: Set,
    /// Its reports are sent, as far as they could be.
    pub(super) reported: bool,
    /// Of the runner that was started last.
    pub(super) pid: Option<i32>,
    /// The runner that was started last has told that it began.
    pub(super) began: bool,
}

/// What was set in a session between its prompts: agents forget it with their process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Set {
    mode: Option<String>,
    model_id: Option<String>,
    options: BTreeMap<String, String>,
}

/// A prompt of the run's session: where it stands. What it says is kept elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Prompt {
    pub number: u64,
    pub prompt_id: String,
    /// Never `starting` or `idle`.
    pub state: State,
    pub stop_reason: Option<String>,
    pub error: Option<Failure>,
    pub started_at: Option<i64>,
    pub ended_at: Option<i64>,
    /// Who wants it not to be answered.
    pub cancelled_by: Option<String>,
    /// Where the journal tells its end, and with it the answer.
    pub(super) place: Option<u64>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    at: i64,
    #[serde(default)]
    event: Option<Event>,
}

/// As much of an event as tells where the run stands; anything else in it may be anything.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    starting: Option<Value>,
    started: Option<Value>,
    resumes: Option<bool>,
    session: Option<String>,
    state: Option<String>,
    spent: Option<Spent>,
    cancelling: Option<String>,
    resumed: Option<Value>,
    prompt: Option<PromptEvent>,
    set: Option<Set>,
    warning: Option<String>,
    reported: Option<Reported>,
    ended: Option<Ended>,
}

/// What became of the reports so far.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reported {
    warning: Option<String>,
    over: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PromptEvent {
    number: u64,
    prompt_id: String,
    state: String,
    stop_reason: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    cancelled_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    state: String,
    stop_reason: Option<String>,
    reason: Option<String>,
    message: Option<String>,
}

impl State {
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Starting,
        Self::Running,
        Self::WaitingPermission,
        Self::Idle,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::WaitingPermission => "waiting_permission",
            Self::Idle => "idle",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    pub fn is_end(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

impl Set {
    fn change(&mut self, new: Self) {
        self.mode = new.mode.or(self.mode.take());
        self.model_id = new.model_id.or(self.model_id.take());
        self.options.extend(new.options);
    }

    /// As the configuration of a run has it.
    pub(super) fn written(&self) -> Map<String, Value> {
        let mut set = Map::new();
        let texts = [("mode", &self.mode), ("modelId", &self.model_id)];
        for (name, text) in texts {
            set.extend(text.clone().map(|text| (name.to_owned(), text.into())));
        }
        if !self.options.is_empty() {
            set.insert("options".to_owned(), json!(self.options));
        }
        set
    }
}

impl Story {
    pub fn has_ended(&self) -> bool {
        self.state.is_end()
    }

    /// The prompt that is under way.
    pub fn running(&self) -> Option<&Prompt> {
        let mut prompts = self.prompts.iter();
        prompts.find(|prompt| prompt.state == State::Running)
    }

    /// The number of the last prompt that has ended.
    pub(super) fn last_ended(&self) -> Option<u64> {
        let ended = self.prompts.iter().filter(|prompt| prompt.state.is_end());
        ended.map(|prompt| prompt.number).max()
    }

    /// The last prompt, where all have ended.
    fn last_prompt(&self) -> Option<&Prompt> {
        let all = self.prompts.iter().all(|prompt| prompt.state.is_end());
        let last = self.prompts.iter().max_by_key(|prompt| prompt.number);
        last.filter(|_| all)
    }

    /// How many prompts wait for their turn.
    pub fn waiting(&self) -> usize {
        let prompts = self.prompts.iter();
        prompts
            .filter(|prompt| prompt.state == State::Queued)
            .count()
    }

    /// Takes in one line of the journal, which begins at a place in it. Most are the agent's words, and tell
    /// nothing of this.
    pub(super) fn hear(&mut self, line: &[u8], place: u64) {
        if !contains(line, b"\"event\"") {
            return;
        }
        let Ok(Line {
            at,
            event: Some(event),
        }) = serde_json::from_slice(line)
        else {
            return;
        };
        if let Some(reported) = event.reported {
            self.reported |= reported.over;
            self.warn(reported.warning);
        } else if !self.has_ended() {
            // The end is the end: only what became of its reports is told after it.
            self.take(at, event, place);
        }
    }

    fn warn(&mut self, warning: Option<String>) {
        let news = warning.filter(|warning| !self.warnings.contains(warning));
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.extend(news);
        }
    }

    fn take(&mut self, at: i64, event: Event, place: u64) {
        if event.starting.is_some() {
            self.state = State::Starting;
            (self.pid, self.began) = (None, false);
            self.started_at.get_or_insert(at);
        }
        if let Some(started) = event.started {
            let pid = started.get("pid").and_then(Value::as_i64);
            self.pid = pid.and_then(|pid| pid.try_into().ok());
            self.began = true;
        }
        self.resumes = event.resumes.unwrap_or(self.resumes);
        if event.session.is_some() {
            self.session_id = event.session;
        }
        if let Some(set) = event.set {
            self.set.change(set);
        }
        self.warn(event.warning);
        if let Some(by) = event.cancelling {
            self.cancelled_by.get_or_insert(by);
        }
        if event.resumed.is_some() {
            self.resumed += 1;
            self.state = State::Queued;
        }
        if let Some(spent) = event.spent {
            self.spent = spent;
        }
        // How it ended is told at its end, and not before.
        let state = event.state.as_deref().and_then(State::parse);
        if let Some(state) = state.filter(|state| !state.is_end()) {
            self.state = state;
        }
        if let Some(prompt) = event.prompt {
            self.prompt(at, prompt, place);
        }
        if let Some(ended) = event.ended {
            self.end(at, ended);
        }
    }

    fn end(&mut self, at: i64, ended: Ended) {
        self.ended_at = Some(at);
        // A session that was opened again and had no prompt ends as the one before did.
        if let (Some(IDLE), Some(last)) = (ended.stop_reason.as_deref(), self.last_prompt()) {
            let (state, reason, error) = (last.state, last.stop_reason.clone(), last.error.clone());
            (self.state, self.stop_reason, self.error) = (state, reason, error);
            return;
        }
        let stopped = ended.reason.as_deref() == Some("stopped");
        let cancelled = ended.stop_reason.as_deref() == Some("cancelled");
        self.state = match ended.state.as_str() {
            _ if stopped || cancelled => State::Cancelled,
            "done" => State::Done,
            "cancelled" => State::Cancelled,
            _ => State::Failed,
        };
        self.stop_reason = ended.stop_reason;
        self.error = ended.reason.map(|reason| Failure {
            message: ended.message.unwrap_or_default(),
            reason,
        });
        // A runner tells the end of every prompt; one that was lost, or never was, does not.
        for prompt in &mut self.prompts {
            if !prompt.state.is_end() {
                prompt.state = match self.state {
                    State::Cancelled => State::Cancelled,
                    _ => State::Failed,
                };
                prompt.error.clone_from(&self.error);
                prompt.ended_at = Some(at);
            }
        }
    }

    fn prompt(&mut self, at: i64, event: PromptEvent, place: u64) {
        let known = self
            .prompts
            .iter()
            .position(|one| one.number == event.number);
        let known = known.unwrap_or_else(|| {
            self.prompts.push(Prompt {
                number: event.number,
                prompt_id: event.prompt_id.clone(),
                ..Prompt::default()
            });
            self.prompts.len() - 1
        });
        let Some(prompt) = self.prompts.get_mut(known) else {
            return;
        };
        if event.cancelled_by.is_some() {
            prompt.cancelled_by = event.cancelled_by;
        }
        let cancelled = event.stop_reason.as_deref() == Some("cancelled");
        let stopped = event.reason.as_deref() == Some("stopped");
        match State::parse(&event.state) {
            Some(State::Running) => {
                prompt.state = State::Running;
                prompt.started_at.get_or_insert(at);
            }
            Some(state) if state.is_end() => {
                prompt.state = if cancelled || stopped {
                    State::Cancelled
                } else {
                    state
                };
                prompt.ended_at = Some(at);
                prompt.place = Some(place);
                prompt.stop_reason = event.stop_reason;
                prompt.error = event.reason.map(|reason| Failure {
                    message: event.message.unwrap_or_default(),
                    reason,
                });
            }
            _ => {}
        }
    }
}

fn contains(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests;
