//! What passes between us and the agent besides updates, and the run's own steps.

use provost_runner::acp::Message;
use serde_json::value::RawValue;

use super::{
    super::progress::unasked,
    fields::{Fields, compact, words},
    flow::Voice,
    screen::{Screen, Show},
    status::Doing,
    style::Ink,
};
use crate::output;

impl Screen {
    pub(super) fn heard(&mut self, message: &RawValue) -> Vec<String> {
        let fields = Fields::read(message);
        let params = fields.raw("params");
        match (fields.text("method").as_deref(), fields.raw("id")) {
            (Some("session/update"), None) => match params {
                Some(params) => self.update(params),
                None => Vec::new(),
            },
            (Some("session/request_permission"), Some(id)) => {
                self.asks(id, &fields.inner("params"))
            }
            (Some(method), Some(_)) => self.wants(method, &fields.inner("params")),
            (Some("$/cancel_request"), None) => self.note(Ink::Dim, "·", "it takes a request back"),
            (Some(method), None) => {
                let params = params
                    .map(|params| compact(params, 160))
                    .unwrap_or_default();
                let text = format!("{} {params}", output::shorten(method, 60));
                self.note(Ink::Dim, "·", text.trim_end())
            }
            (None, Some(id)) => self.answers(id, message),
            (None, None) => Vec::new(),
        }
    }

    pub(super) fn said(&mut self, message: &RawValue) -> Vec<String> {
        let fields = Fields::read(message);
        let id = fields.raw("id").map(|id| id.get().to_owned());
        match (fields.text("method"), id) {
            (Some(method), Some(id)) => {
                let lines = self.tells(&method, &fields.inner("params"));
                self.requests.insert(id, method);
                lines
            }
            (Some(method), None) if method == "session/cancel" => {
                self.doing = Doing::Ending;
                self.note(Ink::Yellow, "■", "told to stop")
            }
            (None, Some(id)) => {
                self.asking.retain(|open| *open != id);
                self.rest();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn tells(&mut self, method: &str, params: &Fields<'_>) -> Vec<String> {
        match method {
            "session/load" => self.note(Ink::Dim, "┄", "earlier in this session"),
            "session/prompt" => {
                self.doing = Doing::Working;
                let mut lines = Vec::new();
                for block in params.list("prompt") {
                    lines.extend(self.speak(Voice::User, None, &words(&Fields::read(block))));
                }
                lines.extend(self.end());
                lines.push(String::new());
                lines
            }
            _ => Vec::new(),
        }
    }

    /// The agent's answer to a request of ours.
    fn answers(&mut self, id: &RawValue, message: &RawValue) -> Vec<String> {
        let Some(method) = self.requests.remove(id.get()) else {
            return Vec::new();
        };
        let Message::Response { result, .. } = Message::parse(message.get()) else {
            return Vec::new();
        };
        match (&*method, result) {
            (method, Err(error)) => {
                let text = format!("{method}: {error}");
                self.note(Ink::Red, "✗", &output::shorten(&text, 500))
            }
            ("session/load", Ok(_)) => self.note(Ink::Dim, "┄", "now"),
            ("session/prompt", Ok(Some(result))) => {
                self.doing = Doing::Ending;
                let reason = Fields::read(&result).short("stopReason", 60);
                self.note(Ink::Bold, "■", &reason.unwrap_or_default())
            }
            _ => Vec::new(),
        }
    }

    fn asks(&mut self, id: &RawValue, params: &Fields<'_>) -> Vec<String> {
        const MOST: usize = 1_024;
        if self.asking.len() < MOST {
            self.asking.push(id.get().to_owned());
        }
        self.rest();
        if self.show == Show::Asking {
            return Vec::new();
        }
        let call = params.inner("toolCall");
        let title = call.short("title", 300).unwrap_or_default();
        let kind = call.short("kind", 20).unwrap_or_default();
        self.note(
            Ink::Yellow,
            "?",
            format!("may it? {kind} {title}").trim_end(),
        )
    }

    /// A file or a terminal.
    fn wants(&mut self, method: &str, params: &Fields<'_>) -> Vec<String> {
        let what = params
            .short("path", 200)
            .or_else(|| params.short("command", 200));
        let text = format!(
            "{} {}",
            output::shorten(method, 60),
            what.unwrap_or_default()
        );
        self.note(Ink::Dim, "·", text.trim_end())
    }

    pub(super) fn decided(&mut self, decision: &Fields<'_>) -> Vec<String> {
        let said = |name: &str, most: usize| decision.short(name, most).unwrap_or_default();
        let (outcome, by) = (said("outcome", 20), said("by", 20));
        let (title, reason) = (said("title", 120), said("reason", 200));
        let text = match &*reason {
            "decided at the terminal" => format!("{outcome} here: {title}"),
            reason => format!("{outcome} by {by}: {title}  ({reason})"),
        };
        match &*outcome {
            // Whoever allows everything needs not be told each time.
            "allowed" if by == "auto" => self.note(Ink::Dim, "·", &text),
            "allowed" => self.note(Ink::Green, "✓", &text),
            _ => self.note(Ink::Red, "✗", &text),
        }
    }

    pub(super) fn event(&mut self, event: &Fields<'_>) -> Vec<String> {
        if event.raw("started").is_some() {
            let started = event.raw("started").map(RawValue::get).unwrap_or_default();
            let started = serde_json::from_str(started).ok();
            let unasked = started.and_then(|started| unasked(&started));
            return self.started(&event.inner("started"), unasked);
        }
        if event.raw("agent").is_some() {
            let agent = event.inner("agent");
            let name = agent.short("title", 80).or_else(|| agent.short("name", 80));
            let version = agent.short("version", 40).unwrap_or_default();
            let text = format!("agent: {} {version}", name.unwrap_or_default());
            return self.note(Ink::Dim, "·", text.trim_end());
        }
        if let Some(session) = event.short("session", 120) {
            return self.note(Ink::Dim, "·", &format!("session: {session}"));
        }
        if event.raw("unsupervised").is_some() {
            let act = event.inner("unsupervised");
            let (kind, title) = (act.short("kind", 20), act.short("title", 300));
            let (kind, title) = (kind.unwrap_or_default(), title.unwrap_or_default());
            return self.note(
                Ink::Red,
                "!",
                &format!("NOBODY DECIDED THIS: {kind} {title}"),
            );
        }
        if let Some(warning) = event.short("warning", 500) {
            return self.note(Ink::Yellow, "!", &warning);
        }
        if event.raw("stop").is_some() {
            self.doing = Doing::Ending;
        }
        if event.raw("ended").is_some() {
            return self.ended(&event.inner("ended"));
        }
        Vec::new()
    }

    fn started(&mut self, started: &Fields<'_>, unasked: Option<String>) -> Vec<String> {
        let run = started.short("runId", 120).unwrap_or_default();
        let place = started.short("repoDir", 300).unwrap_or_default();
        let mut lines = self.note(Ink::Bold, "▪", &format!("run {run} in {place}"));
        if let Some(unasked) = unasked {
            lines.extend(self.note(Ink::Dim, "·", &unasked));
        }
        lines
    }

    fn ended(&mut self, ended: &Fields<'_>) -> Vec<String> {
        self.doing = Doing::Ended;
        let failed = ended.text("state").as_deref() != Some("done");
        let mut lines = Vec::new();
        if failed {
            for error in std::mem::take(&mut self.errors) {
                lines.extend(self.note(Ink::Dim, "2>", &error));
            }
        }
        if self.show != Show::Replay {
            return lines;
        }
        let said = |name: &str| ended.short(name, 500);
        let how = said("stopReason").or_else(|| said("reason"));
        let (state, how) = (said("state").unwrap_or_default(), how.unwrap_or_default());
        let why = said("message").map_or_else(String::new, |why| format!(": {why}"));
        let (ink, sign) = if failed {
            (Ink::Red, "✗")
        } else {
            (Ink::Green, "✓")
        };
        lines.extend(self.note(ink, sign, &format!("{state}, {how}{why}")));
        lines
    }

    fn rest(&mut self) {
        self.doing = match (self.doing, self.asking.is_empty()) {
            (Doing::Working, false) => Doing::Waiting,
            (Doing::Waiting, true) => Doing::Working,
            (doing, _) => doing,
        };
    }
}
