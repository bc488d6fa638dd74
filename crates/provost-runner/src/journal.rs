//! What is left of a run on disk: one JSON object a line, in the order in which things happened.
//!
//! What the agent wrote and was told stands there as it was (`in`, `out`); reports are named, and not
//! repeated, because what was in them is there already.

mod read;

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, BufRead as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _},
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

pub use read::{Line, Lines, Read, What};

use crate::report::Clock;

/// For whoever is told at the end.
const MOST_DECISIONS: usize = 1000;

pub struct Journal {
    /// `None`: nothing is kept, and nobody watches.
    sinks: Option<Mutex<Sinks>>,
    clock: Clock,
    decisions: Mutex<Vec<Value>>,
}

/// Behind one lock: whoever watches sees the order of the file.
#[derive(Default)]
struct Sinks {
    file: Option<File>,
    watch: Option<Watch>,
}

type Watch = Box<dyn Fn(&str) + Send>;

/// What happened.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry<'a, T: Serialize> {
    /// A message of the agent.
    In(&'a RawValue),
    /// A line of the agent that is no message.
    Noise(&'a str),
    /// What the agent said on its error output.
    Err(&'a str),
    /// What the agent was told.
    Out(&'a RawValue),
    /// What whoever started the run was told.
    Report(&'a T),
    /// How a report fared.
    Sent(&'a T),
    /// What was asked, and how it was decided.
    Decision(&'a T),
    /// The run's own steps: started, opened, a limit, the end.
    Event(&'a T),
}

#[derive(Serialize)]
struct Timed<'a, T: Serialize> {
    at: i64,
    #[serde(flatten)]
    entry: Entry<'a, T>,
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            sinks: None,
            clock: Clock::system(),
            decisions: Mutex::default(),
        }
    }
}

impl Journal {
    /// It is this run's alone: what was there before stays, and is added to.
    pub fn open(path: &Path, clock: Clock) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(path)?;
        end_line(&mut file)?;
        let sinks = Sinks {
            file: Some(file),
            watch: None,
        };
        Ok(Self {
            sinks: Some(Mutex::new(sinks)),
            clock,
            decisions: Mutex::default(),
        })
    }

    /// Tells each line, without its end, to somebody else as well. They must not write here.
    pub fn watched(self, watch: impl Fn(&str) + Send + 'static) -> Self {
        let mut this = self;
        let sinks = this.sinks.take().map(Mutex::into_inner);
        let mut sinks = sinks.map_or_else(Sinks::default, |sinks| {
            sinks.unwrap_or_else(PoisonError::into_inner)
        });
        sinks.watch = Some(Box::new(watch));
        Self {
            sinks: Some(Mutex::new(sinks)),
            ..this
        }
    }

    /// A line in one write: a run that is killed leaves whole lines.
    pub fn write<T: Serialize>(&self, entry: Entry<'_, T>) {
        let Some(sinks) = &self.sinks else { return };
        let at = self.clock.millis();
        let Ok(mut line) = serde_json::to_string(&Timed { at, entry }) else {
            return;
        };
        let mut sinks = sinks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watch) = &sinks.watch {
            watch(&line);
        }
        line.push('\n');
        if let Some(file) = &mut sinks.file
            && let Err(error) = file.write_all(line.as_bytes())
        {
            tracing::error!(%error, "the journal cannot be written");
        }
    }

    pub fn heard(&self, line: &str) {
        if self.sinks.is_none() || line.is_empty() {
            return;
        }
        match serde_json::from_str::<&RawValue>(line) {
            Ok(message) => self.write::<()>(Entry::In(message)),
            Err(_) => self.write::<()>(Entry::Noise(line)),
        }
    }

    pub fn said(&self, line: &str) {
        if let Ok(message) = serde_json::from_str::<&RawValue>(line) {
            self.write::<()>(Entry::Out(message));
        }
    }

    pub fn event(&self, event: &impl Serialize) {
        self.write(Entry::Event(event));
    }

    /// Something that whoever started the run should know, and that does not end it.
    pub fn warning(&self, warning: &str) {
        self.event(&json!({ "warning": warning }));
    }

    pub fn decision(&self, decision: &Value) {
        self.write(Entry::Decision(decision));
        let mut decisions = self
            .decisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if decisions.len() < MOST_DECISIONS {
            decisions.push(decision.clone());
        }
    }

    /// The first of them, as this process saw them; the file has all.
    pub fn decisions(&self) -> Vec<Value> {
        let decisions = self
            .decisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        decisions.clone()
    }
}

/// A crash may have torn the last line: what follows must not be lost with it.
fn end_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    if last == [b'\n'] {
        return Ok(());
    }
    file.write_all(b"\n")
}

/// The last number that a prompt's reports had in an earlier run of it: numbers go on from there.
pub(crate) fn last_sequence(path: &Path, prompt: &str) -> u64 {
    #[derive(Deserialize)]
    struct Line {
        report: Option<Report>,
        event: Option<Value>,
    }
    #[derive(Deserialize)]
    struct Report {
        sequence: u64,
    }
    let Ok(file) = File::open(path) else { return 0 };
    let mut last = 0;
    let mut ours = false;
    for line in io::BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let Ok(Line { report, event }) = serde_json::from_slice(&line) else {
            continue;
        };
        let started = event.as_ref().and_then(|event| {
            let first = event.pointer("/started/promptId");
            let follows = event.get("prompt").filter(|one| {
                let state = one.get("state").and_then(Value::as_str);
                matches!(state, Some("running" | "not_begun"))
            });
            first.or_else(|| follows?.get("promptId"))
        });
        if let Some(started) = started {
            ours = started == prompt;
        }
        let sequence = report.filter(|_| ours).map(|report| report.sequence);
        last = last.max(sequence.unwrap_or(0));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_prompt_of_a_session_has_its_own_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path, Clock::system()).unwrap();
        let report = |sequence: u64| journal.write(Entry::Report(&json!({"sequence": sequence})));
        journal.event(&json!({"started": {"promptId": "p"}}));
        report(1);
        journal.event(&json!({"prompt": {"promptId": "q", "state": "queued"}}));
        report(2);
        journal.event(&json!({"prompt": {"promptId": "q", "state": "running"}}));
        report(1);
        assert_eq!(
            (last_sequence(&path, "p"), last_sequence(&path, "q")),
            (2, 1)
        );
    }

    #[test]
    fn what_follows_a_torn_line_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let started = r#"{"at":1,"event":{"started":{"promptId":"p"}}}"#;
        // In the middle of a character.
        let torn = [started.as_bytes(), b"\n{\"at\":2,\"err\":\"\xc3"].concat();
        std::fs::write(&path, torn).unwrap();
        let journal = Journal::open(&path, Clock::system()).unwrap();
        journal.write(Entry::Report(&json!({"sequence": 7})));
        drop(journal);
        assert_eq!(last_sequence(&path, "p"), 7);
        Journal::open(&path, Clock::system()).unwrap();
        let lines = std::fs::read(&path).unwrap();
        assert_eq!(String::from_utf8_lossy(&lines).lines().count(), 3);
    }
}
