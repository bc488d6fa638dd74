//! One run: what it is, where it stands, and what its journal has told so far.

use std::{
    io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use provost_core::time::Time;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::{
    changes::{self, Changes},
    feed,
    folder::{Folder, Record},
    story::Story,
};

/// What is read of a journal before whoever looks at the run has a turn.
const CHUNK: u64 = 4 * 1024 * 1024;
/// What is kept in memory of a prompt.
const EXCERPT: usize = 300;

pub struct Run {
    /// With the beginning of its prompt.
    pub record: Record,
    pub(super) folder: Folder,
    heard: Mutex<Heard>,
    /// How far the journal was read.
    seen: watch::Sender<u64>,
    /// Somebody wants it to end.
    pub(super) wanted: Notify,
    /// One prompt is taken in at a time.
    pub(super) door: Mutex<()>,
}

#[derive(Default)]
struct Heard {
    story: Story,
    place: u64,
}

impl Run {
    pub(super) fn new(mut record: Record, folder: Folder) -> Self {
        if let Some((end, _)) = record.prompt.char_indices().nth(EXCERPT) {
            record.prompt.truncate(end);
            record.prompt.push('…');
        }
        Self {
            record,
            folder,
            heard: Mutex::default(),
            seen: watch::channel(0).0,
            wanted: Notify::new(),
            door: Mutex::default(),
        }
    }

    /// One that has ended, as it was told at its end.
    pub(super) fn ended(record: Record, folder: Folder, story: Story) -> Self {
        let run = Self::new(record, folder);
        run.heard().story = story;
        run
    }

    /// Whether there is still something to do about it. Looks into its folder.
    pub(super) fn is_open(&self) -> bool {
        !self.story().has_ended() || !self.folder.path().join("end.json").exists()
    }

    pub fn story(&self) -> Story {
        self.heard().story.clone()
    }

    /// The name that it has at the gate.
    pub fn agent_name(&self) -> String {
        format!("{}{}", super::PREFIX, self.record.agent)
    }

    /// Its prompt from beginning to end.
    pub fn prompt(&self) -> String {
        let whole: Option<Record> = self.folder.read("record.json");
        whole.map_or_else(|| self.record.prompt.clone(), |record| record.prompt)
    }

    /// What changed in its folder since it began. Reads the folder. `None`: what was there before is not known.
    pub fn changes(&self) -> Option<Changes> {
        changes::read(&self.folder, &self.record.repo_dir)
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.journal()
    }

    /// Tells whenever there is more to read.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    /// What happened after a place, some of it, and where that ends.
    pub fn read(&self, after: u64) -> io::Result<(Vec<feed::Entry>, u64)> {
        feed::read(&self.folder.journal(), after)
    }

    /// The answer that an event at this place of the journal tells.
    pub(super) fn answer_at(&self, place: u64) -> Option<String> {
        #[derive(Deserialize)]
        struct Line {
            event: Event,
        }
        #[derive(Deserialize)]
        struct Event {
            prompt: Answered,
        }
        #[derive(Deserialize)]
        struct Answered {
            answer: Option<String>,
        }
        let mut answer = None;
        let read = feed::lines(&self.folder.journal(), place, 1, |line, _| {
            let line = serde_json::from_slice::<Line>(line).ok();
            answer = line.and_then(|line| line.event.prompt.answer);
        });
        read.ok().and(answer).filter(|answer| !answer.is_empty())
    }

    /// Reads what was written since, and tells whether it stands elsewhere now.
    pub(super) fn catch_up(&self) -> io::Result<bool> {
        let mut moved = false;
        loop {
            let mut heard = self.heard();
            let Heard { story, place } = &mut *heard;
            let before = story.clone();
            let journal = self.folder.journal();
            let end = feed::lines(&journal, *place, CHUNK, |line, end| {
                let place = end.saturating_sub(line.len() as u64 + 1);
                story.hear(line, place);
            })?;
            moved |= before != *story;
            let more = std::mem::replace(place, end) != end;
            drop(heard);
            if !more {
                return Ok(moved);
            }
            self.seen.send_replace(end);
        }
    }

    /// Writes an event of the gateway's own.
    pub(super) fn note(&self, at: Time, event: &Value) {
        let line = json!({"at": at.millis(), "event": event});
        let noted = self.folder.append(&line).and_then(|()| self.catch_up());
        if let Err(error) = noted {
            tracing::error!(%error, run.id = %self.record.id, "the journal of a run cannot be written");
            // Where the disk fails, what was to be told holds here at least.
            self.heard().story.hear(line.to_string().as_bytes(), 0);
        }
    }

    /// Keeps how it ended, and nothing that only a run in progress needs.
    pub(super) fn close(&self) {
        if let Err(error) = self.folder.write("end.json", &self.story()) {
            tracing::error!(%error, run.id = %self.record.id, "the end of a run cannot be written");
        }
        self.folder.forget_secrets();
        changes::close(&self.folder, &self.record.repo_dir);
        self.seen.send_modify(|_| {});
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
