//! Proves an export from its text alone: every chain from its anchor to its head, record by record.

use std::collections::BTreeMap;

use provost_core::trace::{
    RecordKind, chain,
    export::{EndsLine, RecordLine},
    verify::{Break, ChainReport},
};
use serde_json::Value;

/// Lines in, reports out. Holds one hash for each chain, however long the export.
#[derive(Debug, Default)]
pub(super) struct Prover {
    chains: BTreeMap<String, Walk>,
    lines: u64,
    /// What a head noted earlier must begin with.
    sought: Option<String>,
    found: bool,
}

#[derive(Debug)]
struct Walk {
    ends: EndsLine,
    seq: u64,
    /// Of the last record, as text.
    hash: String,
    records: u64,
    broken: Option<Break>,
}

/// A line that belongs to no export, or comes where it cannot.
#[derive(Debug, thiserror::Error)]
#[error("line {line} {problem}")]
pub(super) struct BadLine {
    line: u64,
    problem: &'static str,
}

impl Prover {
    /// `head`: the hash, or its beginning, of a record that must be there.
    pub(super) fn new(head: Option<&str>) -> Self {
        Self {
            sought: head.map(str::to_lowercase),
            ..Self::default()
        }
    }

    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), BadLine> {
        self.lines += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        if let Ok(record) = serde_json::from_slice::<RecordLine>(line) {
            return self.record(&record);
        }
        match serde_json::from_slice::<EndsLine>(line) {
            Ok(ends) => self.begin(ends),
            Err(_) => Err(self.bad("is not a line of an export")),
        }
    }

    fn begin(&mut self, ends: EndsLine) -> Result<(), BadLine> {
        if self.chains.contains_key(&ends.chain) {
            return Err(self.bad("begins a chain for the second time"));
        }
        self.seek(&ends.anchor_hash);
        self.chains.insert(ends.chain.clone(), Walk::new(ends));
        Ok(())
    }

    fn record(&mut self, record: &RecordLine) -> Result<(), BadLine> {
        let Some(walk) = self.chains.get_mut(&record.chain) else {
            return Err(self.bad("is a record of a chain whose ends are not told before it"));
        };
        if walk.broken.is_none() {
            walk.step(record);
        }
        // Only what is proved counts as found.
        let proved = walk.broken.is_none().then(|| walk.hash.clone());
        if let Some(hash) = proved {
            self.seek(&hash);
        }
        Ok(())
    }

    fn seek(&mut self, hash: &str) {
        if self
            .sought
            .as_ref()
            .is_some_and(|sought| hash.starts_with(sought.as_str()))
        {
            self.found = true;
        }
    }

    fn bad(&self, problem: &'static str) -> BadLine {
        BadLine {
            line: self.lines,
            problem,
        }
    }

    /// The chains, and whether the head that was sought is in one of them.
    pub(super) fn finish(self) -> (Vec<ChainReport>, Option<bool>) {
        let found = self.sought.is_some().then_some(self.found);
        (self.chains.into_values().map(Walk::finish).collect(), found)
    }
}

impl Walk {
    fn new(ends: EndsLine) -> Self {
        let at_genesis =
            ends.anchor_seq > 0 || ends.anchor_hash == chain::text(&chain::genesis(&ends.chain));
        let broken = (!at_genesis).then(|| Break {
            seq: 0,
            trace_id: None,
            problem: "the chain does not begin at its genesis".to_owned(),
        });
        Self {
            seq: ends.anchor_seq,
            hash: ends.anchor_hash.clone(),
            records: 0,
            broken,
            ends,
        }
    }

    fn step(&mut self, record: &RecordLine) {
        let problem = match self.proved(record) {
            Ok(hash) => {
                (self.seq, self.hash) = (record.seq, hash);
                self.records += 1;
                return;
            }
            Err(problem) => problem,
        };
        let body: Value = serde_json::from_str(record.record.get()).unwrap_or_default();
        let trace_id = body
            .get("trace_id")
            .and_then(Value::as_str)
            .map(str::to_owned);
        self.broken = Some(Break {
            seq: self.seq + 1,
            trace_id,
            problem,
        });
    }

    /// The record's hash, if it follows from the one before.
    fn proved(&self, record: &RecordLine) -> Result<String, String> {
        if Some(record.seq) != self.seq.checked_add(1) {
            return Err(format!("record {} is missing", self.seq.saturating_add(1)));
        }
        let previous = read_hash(&self.hash).ok_or("the hash before this record cannot be read")?;
        let body = record.record.get();
        let hash = chain::text(&chain::next(&previous, record.seq, body));
        if hash != record.hash {
            return Err("the record was changed: its hash does not fit".to_owned());
        }
        kind_agrees(record.kind, body)?;
        Ok(hash)
    }

    fn finish(mut self) -> ChainReport {
        let at_head = (self.seq, &self.hash) == (self.ends.head_seq, &self.ends.head_hash);
        if self.broken.is_none() && !at_head {
            let problem = format!(
                "the chain ends at record {} but its head is record {}",
                self.seq, self.ends.head_seq
            );
            self.broken = Some(Break {
                seq: self.seq.saturating_add(1),
                trace_id: None,
                problem,
            });
        }
        ChainReport {
            chain: self.ends.chain,
            records: self.records,
            pruned: self.ends.anchor_seq,
            head_seq: self.seq,
            head_hash: self.hash,
            broken: self.broken,
        }
    }
}

/// The kind stands beside the record, where no hash covers it: the record itself must say the same.
fn kind_agrees(kind: RecordKind, body: &str) -> Result<(), String> {
    let body: Value =
        serde_json::from_str(body).map_err(|_| "the record is not JSON".to_owned())?;
    let mark = match kind {
        RecordKind::Decision => "verdict",
        RecordKind::Outcome => "outcome",
        RecordKind::Note => "note",
    };
    if body.get(mark).is_some() {
        Ok(())
    } else {
        Err("the kind was changed: the record says otherwise".to_owned())
    }
}

fn read_hash(text: &str) -> Option<chain::Hash> {
    let mut hash = chain::Hash::default();
    if text.len() != hash.len() * 2 {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests;
