//! What somebody who watches a run is told. A run waits for nobody: who looks away for long misses some lines, and
//! finds them in the journal.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::mpsc;

/// Lines that wait to be looked at have so many bytes at most, or are one.
const MOST: usize = 16 * 1024 * 1024;

#[derive(Clone)]
pub struct Teller {
    lines: mpsc::UnboundedSender<String>,
    room: Arc<Room>,
}

pub struct Watcher {
    lines: mpsc::UnboundedReceiver<String>,
    room: Arc<Room>,
}

#[derive(Default)]
struct Room {
    /// Bytes.
    waiting: AtomicUsize,
    /// Lines.
    missed: AtomicUsize,
}

pub fn watch() -> (Teller, Watcher) {
    let (send, lines) = mpsc::unbounded_channel();
    let room = Arc::new(Room::default());
    let teller = Teller {
        lines: send,
        room: Arc::clone(&room),
    };
    (teller, Watcher { lines, room })
}

impl Teller {
    /// By one thread at a time.
    pub fn tell(&self, line: &str) {
        let waiting = self.room.waiting.load(Ordering::Relaxed);
        if waiting > 0 && waiting + line.len() > MOST {
            self.room.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.room.waiting.fetch_add(line.len(), Ordering::Relaxed);
        // Who has gone has seen enough.
        let _ = self.lines.send(line.to_owned());
    }
}

impl Watcher {
    /// Nothing is lost if this is dropped. `None`: the run is over.
    pub async fn next(&mut self) -> Option<String> {
        let line = self.lines.recv().await?;
        self.room.waiting.fetch_sub(line.len(), Ordering::Relaxed);
        Some(line)
    }

    /// How many lines were left out since this was last asked.
    pub fn missed(&self) -> usize {
        self.room.missed.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_looks_away_misses_what_there_is_no_room_for() {
        let (teller, mut watcher) = watch();
        let long = "x".repeat(MOST);
        teller.tell(&long);
        teller.tell("second");
        teller.tell("third");
        assert_eq!(watcher.next().await.as_deref(), Some(&*long));
        assert_eq!(watcher.missed(), 2);
        teller.tell("fourth");
        assert_eq!(watcher.next().await.as_deref(), Some("fourth"));
        assert_eq!(watcher.missed(), 0);
        drop(teller);
        assert_eq!(watcher.next().await, None);
    }
}
