//! Reports that are not delivered yet, in order and bounded: some in memory, the rest on disk. Over the bound
//! the oldest updates go; ends, questions and the agent's other words never do.

use std::{collections::VecDeque, fs, io, path::PathBuf};

use bytes::Bytes;

use super::{
    body::Kind,
    spool::{Leftover, Spool},
};

#[derive(Clone, Debug)]
pub(super) enum Stored {
    Memory(Bytes),
    Disk(PathBuf),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) kind: Kind,
    pub(super) notifications: usize,
    pub(super) len: usize,
    pub(super) stored: Stored,
}

impl Entry {
    /// Reads what is on disk; of what is in memory this is another handle.
    pub(super) async fn body(&self) -> io::Result<Bytes> {
        match &self.stored {
            Stored::Memory(body) => Ok(body.clone()),
            Stored::Disk(path) => tokio::fs::read(path).await.map(Bytes::from),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) memory: usize,
    pub(super) disk: u64,
}

#[derive(Debug)]
pub(super) struct Queue {
    waiting: VecDeque<Entry>,
    /// Out of the line, and still owed until it is settled.
    flight: Option<Entry>,
    spool: Option<Spool>,
    bounds: Bounds,
    memory: usize,
    disk: u64,
}

impl Queue {
    pub(super) fn new(bounds: Bounds, spool: Option<Spool>, left: Vec<Leftover>) -> Self {
        let mut queue = Self {
            waiting: VecDeque::new(),
            flight: None,
            spool,
            bounds,
            memory: 0,
            disk: 0,
        };
        for one in left {
            queue.disk += one.len as u64;
            queue.waiting.push_back(Entry {
                sequence: one.sequence,
                kind: one.kind,
                notifications: one.notifications,
                len: one.len,
                stored: Stored::Disk(one.path),
            });
        }
        queue
    }

    /// What had to go for it, or it itself.
    pub(super) fn push(
        &mut self,
        sequence: u64,
        kind: Kind,
        notifications: usize,
        body: Bytes,
    ) -> Vec<Entry> {
        let mut dropped = Vec::new();
        while !self.fits(body.len()) {
            let Some(entry) = self.drop_oldest() else {
                break;
            };
            dropped.push(entry);
        }
        let entry = Entry {
            sequence,
            kind,
            notifications,
            len: body.len(),
            stored: Stored::Memory(body),
        };
        if kind.is_end() {
            self.spill_all();
        }
        match self.store(entry) {
            Ok(entry) => self.waiting.push_back(entry),
            Err(entry) => dropped.push(entry),
        }
        dropped
    }

    fn fits(&self, len: usize) -> bool {
        self.fits_memory(len) || self.fits_disk(len)
    }

    fn fits_memory(&self, len: usize) -> bool {
        self.memory + len <= self.bounds.memory
    }

    fn fits_disk(&self, len: usize) -> bool {
        self.spool.is_some() && self.disk + len as u64 <= self.bounds.disk
    }

    fn store(&mut self, mut entry: Entry) -> Result<Entry, Entry> {
        let must = !entry.kind.may_be_dropped();
        let full = !self.fits_memory(entry.len);
        // Whoever kills us has not killed how it ended.
        if entry.kind.is_end() || full && (self.fits_disk(entry.len) || must) {
            self.spill(&mut entry);
        }
        if let Stored::Memory(_) = entry.stored {
            // One report larger than every bound is still sent, when it is alone.
            if !self.fits_memory(entry.len) && !must && !self.waiting.is_empty() {
                return Err(entry);
            }
            self.memory += entry.len;
        }
        Ok(entry)
    }

    /// A disk that fails leaves the entry where it is.
    fn spill(&mut self, entry: &mut Entry) -> bool {
        let (Stored::Memory(body), Some(spool)) = (&entry.stored, &self.spool) else {
            return false;
        };
        match spool.write(entry.sequence, entry.kind, body) {
            Ok(path) => {
                self.disk += entry.len as u64;
                entry.stored = Stored::Disk(path);
                true
            }
            Err(error) => {
                tracing::warn!(report.sequence = entry.sequence, %error, "a report was not spooled");
                false
            }
        }
    }

    /// What goes before an end is as safe as the end is.
    fn spill_all(&mut self) {
        let mut flight = self.flight.take();
        let mut waiting = std::mem::take(&mut self.waiting);
        for entry in flight.iter_mut().chain(&mut waiting) {
            if self.spill(entry) {
                self.memory -= entry.len;
            }
        }
        (self.flight, self.waiting) = (flight, waiting);
    }

    fn drop_oldest(&mut self) -> Option<Entry> {
        let mut waiting = self.waiting.iter();
        let place = waiting.position(|entry| entry.kind.may_be_dropped())?;
        let entry = self.waiting.remove(place)?;
        self.forget(&entry);
        Some(entry)
    }

    fn forget(&mut self, entry: &Entry) {
        match &entry.stored {
            Stored::Memory(_) => self.memory -= entry.len,
            Stored::Disk(path) => {
                self.disk -= entry.len as u64;
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The next one to send: the same until it is settled.
    pub(super) fn next(&mut self) -> Option<Entry> {
        if self.flight.is_none() {
            self.flight = self.waiting.pop_front();
        }
        self.flight.clone()
    }

    /// The one in flight is delivered, refused or lost.
    pub(super) fn settle(&mut self) {
        if let Some(entry) = self.flight.take() {
            self.forget(&entry);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.flight.is_some())
    }

    /// Writes down all that is owed; how many are on disk.
    pub(super) fn keep(&mut self) -> usize {
        self.spill_all();
        let mut all: VecDeque<Entry> = self.flight.take().into_iter().collect();
        all.append(&mut self.waiting);
        let kept = all
            .iter()
            .filter(|one| matches!(one.stored, Stored::Disk(_)));
        let kept = kept.count();
        self.waiting = all;
        if let Some(spool) = &self.spool {
            spool.close();
        }
        kept
    }
}

#[cfg(test)]
mod tests;
