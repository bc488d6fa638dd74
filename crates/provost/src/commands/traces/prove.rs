//! Proves an export from its text alone: every chain from its anchor to its head, record by record.

use std::collections::BTreeMap;

use provost_core::{
    ports::ChainEnds,
    trace::{
        chain,
        export::{EndsLine, RecordLine},
        verify::{ChainReport, Link, Testimony, Walk, conclude},
    },
};
use serde::Deserialize;

/// Lines in, reports out. Holds one hash for each chain, however long the export.
#[derive(Debug, Default)]
pub(super) struct Prover {
    chains: BTreeMap<String, Walk>,
    testimony: Testimony,
    lines: u64,
    /// What a head noted earlier must begin with.
    sought: Option<String>,
    found: bool,
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
        let ends = serde_json::from_slice::<EndsLine>(line);
        match ends.ok().and_then(read_ends) {
            Some(ends) => self.begin(ends),
            None => Err(self.bad("is not a line of an export")),
        }
    }

    fn begin(&mut self, ends: ChainEnds) -> Result<(), BadLine> {
        if self.chains.contains_key(&ends.chain) {
            return Err(self.bad("begins a chain for the second time"));
        }
        self.seek(&ends.anchor_hash);
        self.chains.insert(ends.chain.clone(), Walk::begin(ends));
        Ok(())
    }

    fn record(&mut self, record: &RecordLine) -> Result<(), BadLine> {
        let Some(walk) = self.chains.get_mut(&record.chain) else {
            return Err(self.bad("is a record of a chain whose ends are not told before it"));
        };
        let trace_id = trace_id(record);
        let link = Link {
            seq: record.seq,
            // No record has this hash, so what cannot be read does not fit.
            hash: &chain::parse(&record.hash).unwrap_or_default(),
            kind: record.kind,
            body: record.record.get(),
            trace_id: trace_id.as_deref(),
        };
        walk.step(&link, &mut self.testimony, || Ok(()));
        // Only what is proved counts as found.
        if !walk.is_broken() {
            let hash = *walk.hash();
            self.seek(&hash);
        }
        Ok(())
    }

    fn seek(&mut self, hash: &chain::Hash) {
        if let Some(sought) = &self.sought
            && chain::text(hash).starts_with(sought.as_str())
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
        let walks = self.chains.into_values().collect();
        (conclude(walks, &self.testimony), found)
    }
}

fn read_ends(line: EndsLine) -> Option<ChainEnds> {
    Some(ChainEnds {
        anchor_seq: line.anchor_seq,
        anchor_hash: chain::parse(&line.anchor_hash)?,
        head_seq: line.head_seq,
        head_hash: chain::parse(&line.head_hash)?,
        chain: line.chain,
    })
}

fn trace_id(record: &RecordLine) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        trace_id: String,
    }
    let named: Named = serde_json::from_str(record.record.get()).ok()?;
    Some(named.trace_id)
}

#[cfg(test)]
mod tests;
