//! Where a run stands, told by its journal line by line. Pure: the same lines tell the same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Of the runner that was started last.
    pub(super) pid: Option<i32>,
    /// The runner that was started last has told that it began.
    pub(super) began: bool,
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
    ended: Option<Ended>,
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
        // The end is the end: whatever is written after it changes nothing.
        if self.has_ended() || !contains(line, b"\"event\"") {
            return;
        }
        let Ok(Line {
            at,
            event: Some(event),
        }) = serde_json::from_slice(line)
        else {
            return;
        };
        self.take(at, event, place);
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
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Story {
        let mut story = Story::default();
        for line in lines {
            story.hear(line.as_bytes(), 0);
        }
        story
    }

    #[test]
    fn a_journal_tells_where_a_run_stands() {
        const STARTED: [&str; 4] = [
            r#"{"at":1,"event":{"queued":{}}}"#,
            r#"{"at":2,"event":{"starting":{"attempt":1}}}"#,
            r#"{"at":3,"event":{"started":{"pid":7,"command":["a"]}}}"#,
            r#"{"at":4,"event":{"agent":{"name":"x"},"resumes":true}}"#,
        ];
        for (more, state) in [
            (&[][..], State::Starting),
            (
                &[r#"{"at":5,"event":{"state":"running","spent":{"turns":1}}}"#],
                State::Running,
            ),
            (
                &[r#"{"at":5,"event":{"state":"waiting_permission"}}"#],
                State::WaitingPermission,
            ),
            // The end is told once, whole.
            (&[r#"{"at":5,"event":{"state":"done"}}"#], State::Starting),
            (
                &[r#"{"at":5,"event":{"ended":{"state":"done","stopReason":"end_turn"}}}"#],
                State::Done,
            ),
            (
                &[r#"{"at":5,"event":{"ended":{"state":"done","stopReason":"cancelled"}}}"#],
                State::Cancelled,
            ),
            (
                &[
                    r#"{"at":5,"event":{"ended":{"state":"failed","reason":"stopped","message":"m"}}}"#,
                ],
                State::Cancelled,
            ),
            (
                &[
                    r#"{"at":5,"event":{"ended":{"state":"failed","reason":"lost","message":"m"}}}"#,
                    r#"{"at":6,"event":{"starting":{}}}"#,
                ],
                State::Failed,
            ),
            // An agent's words about events are its words.
            (
                &[r#"{"at":5,"in":{"event":{"ended":{"state":"done"}}}}"#],
                State::Starting,
            ),
            (&["", "{", "[]", r#"{"event":7}"#], State::Starting),
        ] {
            let story = told(&[&STARTED[..], more].concat());
            assert_eq!(story.state, state, "{more:?}");
            assert_eq!((story.pid, story.resumes), (Some(7), true));
        }
    }

    #[test]
    fn the_prompts_of_a_session_are_followed() {
        let lines = [
            r#"{"at":1,"event":{"starting":{}}}"#,
            r#"{"at":2,"event":{"prompt":{"number":1,"promptId":"r","state":"running"}}}"#,
            r#"{"at":3,"event":{"prompt":{"number":2,"promptId":"r-p2","state":"queued"}}}"#,
            r#"{"at":4,"event":{"prompt":{"number":1,"promptId":"r","state":"done","stopReason":"end_turn"}}}"#,
            r#"{"at":4,"event":{"prompt":{"number":3,"promptId":"r-p3","state":"queued"}}}"#,
            r#"{"at":5,"event":{"state":"idle"}}"#,
        ];
        let story = told(&lines);
        assert_eq!((story.state, story.waiting()), (State::Idle, 2));
        let more = [
            r#"{"at":6,"event":{"prompt":{"number":2,"promptId":"r-p2","state":"running"},"state":"running"}}"#,
            r#"{"at":6,"event":{"prompt":{"number":2,"cancelledBy":"human:a"}}}"#,
        ];
        let story = told(&[&lines[..], &more].concat());
        assert_eq!(story.running().map(|prompt| prompt.number), Some(2));
        let end = [
            r#"{"at":7,"event":{"prompt":{"number":2,"promptId":"r-p2","state":"done","stopReason":"cancelled"}}}"#,
            r#"{"at":8,"event":{"ended":{"state":"failed","reason":"lost","message":"m"}}}"#,
        ];
        let story = told(&[&lines[..], &more, &end].concat());
        let states: Vec<_> = story.prompts.iter().map(|prompt| prompt.state).collect();
        assert_eq!(states, [State::Done, State::Cancelled, State::Failed]);
        let last = story.prompts.last().unwrap();
        assert_eq!(last.error.as_ref().unwrap().reason, "lost");
    }

    #[test]
    fn another_runner_is_another_process() {
        let story = told(&[
            r#"{"at":1,"event":{"starting":{}}}"#,
            r#"{"at":2,"event":{"started":{"pid":7}}}"#,
            r#"{"at":3,"event":{"session":"s"}}"#,
            r#"{"at":4,"event":{"resumed":{}}}"#,
            r#"{"at":5,"event":{"starting":{}}}"#,
        ]);
        assert_eq!((story.pid, story.began, story.resumed), (None, false, 1));
        assert_eq!(story.session_id.as_deref(), Some("s"));
        assert_eq!(story.started_at, Some(1));
    }
}
