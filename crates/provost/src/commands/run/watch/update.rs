//! The updates of a session, by their kinds.

use serde_json::value::RawValue;

use super::{
    fields::{Fields, compact, words},
    flow::Voice,
    screen::Screen,
    style::Ink,
};
use crate::output;

const MOST_STEPS: usize = 30;
const STEP: usize = 200;

impl Screen {
    /// The parameters of a `session/update`.
    pub(super) fn update(&mut self, params: &RawValue) -> Vec<String> {
        self.meter(params);
        let update = Fields::read(params).inner("update");
        let Some(kind) = update.text("sessionUpdate") else {
            return self.note(Ink::Dim, "·", "an update without a kind");
        };
        match &*kind {
            "agent_message_chunk" => self.chunk(Voice::Agent, &update),
            "agent_thought_chunk" => self.chunk(Voice::Thought, &update),
            "user_message_chunk" => self.chunk(Voice::User, &update),
            "compaction_summary_chunk" => self.chunk(Voice::Summary, &update),
            "tool_call" | "tool_call_update" => self.tool(&update),
            "plan" => self.plan(&update),
            "current_mode_update" => self.named("mode", update.short("currentModeId", 60)),
            "session_info_update" => self.named("title", update.short("title", 200)),
            "config_option_update" => self.options(&update),
            "available_commands_update" => self.commands(&update),
            "usage_update" => self.usage(&update),
            "notice" => self.notice(&update),
            "compaction_update" => self.compaction(&update),
            _ => self.unknown(&kind, &update),
        }
    }

    fn chunk(&mut self, voice: Voice, update: &Fields<'_>) -> Vec<String> {
        let text = match update.text("content") {
            Some(text) => text,
            None => words(&update.inner("content")),
        };
        if text.is_empty() {
            return Vec::new();
        }
        self.speak(voice, update.short("messageId", 200), &text)
    }

    fn plan(&mut self, update: &Fields<'_>) -> Vec<String> {
        let entries = update.list("entries");
        let step = |raw: &&RawValue| {
            let entry = Fields::read(raw);
            let text = entry.short("content", STEP).unwrap_or_default();
            let (sign, ink) = match entry.text("status").as_deref() {
                Some("completed") => ("✓", Ink::Green),
                Some("in_progress") => ("▸", Ink::Cyan),
                _ => ("○", Ink::Dim),
            };
            let text = self.style.fit(&text, 4);
            format!("  {} {text}", self.style.paint(ink, sign))
        };
        let mut steps: Vec<_> = entries.iter().take(MOST_STEPS).map(step).collect();
        if entries.len() > MOST_STEPS {
            steps.push(format!("  … and {} more", entries.len() - MOST_STEPS));
        }
        if steps == self.plan {
            return Vec::new();
        }
        self.plan.clone_from(&steps);
        let mut lines = vec![self.style.paint(Ink::Bold, "plan")];
        lines.extend(steps);
        self.after_words(lines)
    }

    fn named(&mut self, what: &str, value: Option<String>) -> Vec<String> {
        let known = self.options.get(what);
        match value.filter(|value| known != Some(value)) {
            Some(value) => {
                let lines = self.note(Ink::Dim, "·", &format!("{what}: {value}"));
                self.options.insert(what.to_owned(), value);
                lines
            }
            None => Vec::new(),
        }
    }

    /// Those whose value is another than it was.
    fn options(&mut self, update: &Fields<'_>) -> Vec<String> {
        const MOST: usize = 20;
        let mut lines = Vec::new();
        for option in update.list("configOptions").into_iter().take(MOST) {
            let option = Fields::read(option);
            let name = option.short("name", 60).or_else(|| option.short("id", 60));
            let value = option.raw("currentValue").map(|raw| compact(raw, 80));
            let value = option.short("currentValue", 80).or(value);
            if let (Some(name), Some(value)) = (name, value) {
                // Apart from what we name ourselves.
                lines.extend(self.named(&format!("option {name}"), Some(value)));
            }
        }
        lines
    }

    fn commands(&mut self, update: &Fields<'_>) -> Vec<String> {
        const NAMED: usize = 6;
        if std::mem::replace(&mut self.commands, true) {
            return Vec::new();
        }
        let all = update.list("availableCommands");
        let name = |raw: &&RawValue| Fields::read(raw).short("name", 40);
        let named: Vec<_> = all.iter().take(NAMED).filter_map(name).collect();
        let more = if all.len() > NAMED { ", …" } else { "" };
        let text = format!("commands ({}): {}{more}", all.len(), named.join(", "));
        self.note(Ink::Dim, "·", text.trim_end_matches([' ', ':']))
    }

    /// Counted in the progress line.
    fn usage(&mut self, update: &Fields<'_>) -> Vec<String> {
        if let Some(currency) = update.inner("cost").short("currency", 8) {
            self.currency = currency;
        }
        Vec::new()
    }

    fn notice(&mut self, update: &Fields<'_>) -> Vec<String> {
        let text = ["message", "text", "title", "content"];
        let text = text.into_iter().find_map(|name| update.short(name, 500));
        let text = text.or_else(|| {
            let words = words(&update.inner("content"));
            (!words.is_empty()).then(|| output::shorten(&words, 500))
        });
        let level = update
            .short("severity", 20)
            .or_else(|| update.short("level", 20));
        let level = level.map_or_else(String::new, |level| format!("{level}: "));
        let text = format!("{level}{}", text.unwrap_or_default());
        self.note(Ink::Yellow, "!", &text)
    }

    fn compaction(&mut self, update: &Fields<'_>) -> Vec<String> {
        let status = update.short("status", 60).unwrap_or_default();
        let text = format!("it forgets what is long ago: {status}");
        self.note(Ink::Dim, "·", text.trim_end_matches([' ', ':']))
    }

    fn unknown(&mut self, kind: &str, update: &Fields<'_>) -> Vec<String> {
        let text = match update.raw("content") {
            Some(content) => compact(content, 160),
            None => String::new(),
        };
        let text = format!("{} {text}", output::shorten(kind, 60));
        self.note(Ink::Dim, "·", text.trim_end())
    }
}
