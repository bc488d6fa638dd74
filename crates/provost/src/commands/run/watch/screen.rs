//! What a run looks like: takes the lines of its journal and yields those of the screen. It writes nowhere,
//! so that a run that goes on, one that is over, and one in a test look the same.

use std::{collections::HashMap, time::Duration};

use provost_runner::{
    acp::SessionUpdate,
    journal::{Line, What},
    meter::Meter,
};
use serde_json::value::RawValue;

use super::{
    fields::Fields,
    flow::{Flow, Voice},
    status::{self, Doing},
    style::{Ink, Style, columns},
    tool::Tool,
};
use crate::output;

/// Calls that are remembered. One that is forgotten and goes on looks like a new one.
const MOST_TOOLS: usize = 2_000;

/// What the screen is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Show {
    /// Its end is told beside it.
    Live,
    /// And its questions are asked in it.
    Asking,
    Replay,
}

pub(in super::super) struct Screen {
    pub(super) style: Style,
    pub(super) show: Show,
    pub(super) flow: Option<Flow>,
    pub(super) tools: HashMap<String, Tool>,
    /// As it was shown last.
    pub(super) plan: Vec<String>,
    pub(super) options: HashMap<String, String>,
    /// Whether the agent's own commands were named: some agents repeat them.
    pub(super) commands: bool,
    pub(super) meter: Meter,
    pub(super) currency: String,
    pub(super) doing: Doing,
    /// Ids of the agent's questions that are open.
    pub(super) asking: Vec<String>,
    /// The ids of our requests, by what they ask.
    pub(super) requests: HashMap<String, String>,
    /// The last that it said on its error output.
    pub(super) errors: Vec<String>,
    first: Option<i64>,
    last: i64,
    /// Whether the last line was empty, or there was none.
    gap: bool,
}

impl Screen {
    pub(in super::super) fn new(style: Style, show: Show) -> Self {
        Self {
            style,
            show,
            flow: None,
            tools: HashMap::new(),
            plan: Vec::new(),
            options: HashMap::new(),
            commands: false,
            meter: Meter::default(),
            currency: String::new(),
            doing: Doing::Starting,
            asking: Vec::new(),
            requests: HashMap::new(),
            errors: Vec::new(),
            first: None,
            last: 0,
            gap: true,
        }
    }

    /// The terminal may be made wider or narrower.
    pub(in super::super) fn resize(&mut self, width: Option<usize>) {
        self.style.width = width;
        if let Some(flow) = &mut self.flow {
            flow.resize(width);
        }
    }

    /// What is to be printed, now that this has happened.
    pub(in super::super) fn line(&mut self, line: &Line) -> Vec<String> {
        self.first.get_or_insert(line.at);
        self.last = line.at;
        let lines = self.happened(&line.what);
        if let Some(last) = lines.last() {
            self.gap = last.is_empty();
        }
        lines
    }

    fn happened(&mut self, what: &What) -> Vec<String> {
        match what {
            What::In(message) => self.heard(message),
            What::Out(message) => self.said(message),
            What::Decision(decision) => self.decided(&Fields::read(decision)),
            What::Event(event) => self.event(&Fields::read(event)),
            What::Sent(sent) => self.sent(&Fields::read(sent)),
            What::Err(text) => self.complained(text),
            What::Noise(_) | What::Report(_) | What::Other => Vec::new(),
        }
    }

    /// What is rewritten in place: the line that is being written, and the progress so long after the last
    /// thing that happened.
    pub(in super::super) fn bottom(&self, since: Duration) -> Vec<String> {
        let passed = self.last.saturating_sub(self.first.unwrap_or(self.last));
        let passed = Duration::from_millis(u64::try_from(passed).unwrap_or(0)) + since;
        let status = status::line(passed, self.doing, self.meter.spent(), &self.currency);
        let status = self.style.paint(Ink::Dim, &self.style.fit(&status, 0));
        let open = self.flow.as_ref().and_then(Flow::open);
        open.into_iter().chain([status]).collect()
    }

    /// What is left when nothing more comes.
    pub(in super::super) fn end(&mut self) -> Vec<String> {
        self.flow.take().map(Flow::end).unwrap_or_default()
    }

    pub(super) fn speak(&mut self, voice: Voice, id: Option<String>, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let is_new = |flow: &Flow| flow.voice != voice || (flow.id != id && id.is_some());
        if self.flow.as_ref().is_none_or(is_new) {
            let said = self.flow.is_some();
            lines.extend(self.end());
            // Words stand apart from what is done, and from each other.
            if said || !self.gap {
                lines.push(String::new());
            }
        }
        let style = self.style;
        let flow = self.flow.get_or_insert_with(|| Flow::new(voice, id, style));
        lines.extend(flow.push(text));
        lines
    }

    /// Lines of their own: whatever was being said is over.
    pub(super) fn after_words(&mut self, lines: Vec<String>) -> Vec<String> {
        if lines.is_empty() {
            return lines;
        }
        let said = self.flow.is_some();
        let mut all = self.end();
        if said {
            all.push(String::new());
        }
        all.extend(lines);
        all
    }

    /// A sign, a word and some text, all of it safe already.
    pub(super) fn note(&mut self, ink: Ink, sign: &str, text: &str) -> Vec<String> {
        let text = self.style.fit(text, columns(sign) + 1);
        let line = match ink {
            Ink::Dim => self.style.paint(ink, &format!("{sign} {text}")),
            ink => format!("{} {text}", self.style.paint(ink, sign)),
        };
        self.after_words(vec![line])
    }

    pub(super) fn tool(&mut self, update: &Fields<'_>) -> Vec<String> {
        if self.tools.len() >= MOST_TOOLS {
            self.tools.retain(|_, tool| !tool.is_over());
        }
        if self.tools.len() >= MOST_TOOLS {
            self.tools.clear();
        }
        let id = update.short("toolCallId", 200).unwrap_or_default();
        let tool = self.tools.entry(id).or_default();
        let lines = tool.update(self.last, update, self.style);
        self.after_words(lines)
    }

    fn complained(&mut self, text: &str) -> Vec<String> {
        const MOST: usize = 5;
        if self.errors.len() >= MOST {
            self.errors.remove(0);
        }
        self.errors.push(output::shorten(text, 300));
        Vec::new()
    }

    fn sent(&mut self, sent: &Fields<'_>) -> Vec<String> {
        let how = sent.short("how", 60).unwrap_or_default();
        if matches!(&*how, "delivered" | "again") {
            return Vec::new();
        }
        let number = sent.value("sequence").and_then(|number| number.as_u64());
        let text = format!("report {} was {how}", number.unwrap_or(0));
        self.note(Ink::Yellow, "!", &text)
    }

    pub(super) fn meter(&mut self, params: &RawValue) {
        // What a loaded session tells again was spent before.
        if !self.requests.values().any(|asked| asked == "session/load") {
            self.meter.update(&SessionUpdate::read(params).update);
        }
    }
}
