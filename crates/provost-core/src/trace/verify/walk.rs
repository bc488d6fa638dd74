//! One chain, proved record by record.

use super::{
    Break, ChainReport, Testimony, chain,
    testimony::{AcceptedGap, Heard},
};
use crate::{
    ports::{ChainEnds, Unreadable},
    trace::RecordKind,
};

/// What the chain says of one record.
#[derive(Debug)]
pub struct Link<'r> {
    pub seq: u64,
    pub hash: &'r chain::Hash,
    pub kind: RecordKind,
    pub body: &'r str,
    pub trace_id: Option<&'r str>,
}

#[derive(Debug)]
pub struct Walk {
    ends: ChainEnds,
    seq: u64,
    hash: chain::Hash,
    records: u64,
    broken: Option<Break>,
    /// The chain holds, but says itself that it was tampered with.
    confessed: Option<Break>,
    accepted: Vec<AcceptedGap>,
}

impl Walk {
    pub fn begin(ends: ChainEnds) -> Self {
        let at_genesis = ends.anchor_seq > 0 || ends.anchor_hash == chain::genesis(&ends.chain);
        let broken = (!at_genesis).then(|| Break {
            seq: 0,
            trace_id: None,
            problem: "the chain does not begin at its genesis".to_owned(),
        });
        Self {
            seq: ends.anchor_seq,
            hash: ends.anchor_hash,
            records: 0,
            broken,
            confessed: None,
            accepted: Vec::new(),
            ends,
        }
    }

    pub fn chain(&self) -> &str {
        &self.ends.chain
    }

    /// The last record that is proved.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn hash(&self) -> &chain::Hash {
        &self.hash
    }

    pub fn records(&self) -> u64 {
        self.records
    }

    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether the head is still ahead.
    pub fn goes_on(&self) -> bool {
        self.broken.is_none() && self.seq < self.ends.head_seq
    }

    /// Proves the next record, and what `check` knows of it beside its hash.
    pub fn step(
        &mut self,
        link: &Link<'_>,
        testimony: &mut Testimony,
        check: impl FnOnce() -> Result<(), String>,
    ) {
        if self.broken.is_some() {
            return;
        }
        let proved = self.proved(link).and_then(|hash| check().map(|()| hash));
        match proved {
            Ok(hash) => {
                (self.seq, self.hash) = (link.seq, hash);
                self.records += 1;
                if link.kind == RecordKind::Note {
                    match testimony.hear(link.seq, link.body) {
                        Heard::Nothing => {}
                        Heard::Changed => self.confess(link),
                        Heard::Accepted(gap) => self.accepted.push(gap),
                    }
                }
            }
            Err(problem) => self.break_here(link.trace_id, problem),
        }
    }

    pub fn stumble(&mut self, record: &Unreadable) {
        let trace_id = record.trace_id.as_deref();
        if record.seq > self.seq.saturating_add(1) {
            self.break_here(trace_id, self.missing());
        } else {
            self.break_here(trace_id, record.why.clone());
        }
    }

    pub fn break_at(&mut self, found: Break) {
        self.broken.get_or_insert(found);
    }

    fn break_here(&mut self, trace_id: Option<&str>, problem: String) {
        self.break_at(Break {
            seq: self.seq.saturating_add(1),
            trace_id: trace_id.map(str::to_owned),
            problem,
        });
    }

    fn confess(&mut self, link: &Link<'_>) {
        self.confessed.get_or_insert(Break {
            seq: link.seq,
            trace_id: link.trace_id.map(str::to_owned),
            problem: "this note says that the head of the chain was changed while it was closed"
                .to_owned(),
        });
    }

    fn missing(&self) -> String {
        format!("record {} is missing", self.seq.saturating_add(1))
    }

    /// The record's hash, if it follows from the one before.
    fn proved(&self, link: &Link<'_>) -> Result<chain::Hash, String> {
        if Some(link.seq) != self.seq.checked_add(1) {
            return Err(self.missing());
        }
        let hash = chain::next(&self.hash, link.seq, link.kind, link.body);
        if hash == *link.hash {
            Ok(hash)
        } else {
            Err("the record was changed: its hash does not fit".to_owned())
        }
    }

    /// Nothing follows: this must be the head.
    fn end(&mut self) {
        if self.seq != self.ends.head_seq {
            let problem = format!(
                "the chain ends at record {} but its head is record {}",
                self.seq, self.ends.head_seq
            );
            self.break_here(None, problem);
        } else if self.hash != self.ends.head_hash {
            self.break_at(Break {
                seq: self.seq,
                trace_id: None,
                problem: "the head of the chain is not the hash of this record".to_owned(),
            });
        }
        if let Some(confessed) = self.confessed.take() {
            self.break_at(confessed);
        }
    }

    fn report(self) -> ChainReport {
        ChainReport {
            chain: self.ends.chain,
            records: self.records,
            pruned: self.ends.anchor_seq,
            head_seq: self.seq,
            head_hash: chain::text(&self.hash),
            accepted: self.accepted,
            broken: self.broken,
        }
    }
}

/// Ends every walk, and asks of each chain what the notes in all of them testify.
pub fn conclude(mut walks: Vec<Walk>, testimony: &Testimony) -> Vec<ChainReport> {
    walks.iter_mut().for_each(Walk::end);
    let mut lost = Vec::new();
    for (chain, seq) in testimony.heads() {
        let problem = format!("a note in another chain saw this one at record {seq}");
        let walk = walks.iter_mut().find(|walk| walk.chain() == chain);
        match walk {
            Some(walk) if walk.ends.head_seq < seq => walk.break_here(None, problem),
            Some(_) => {}
            None => lost.push(vanished(chain, problem)),
        }
    }
    // A note that is missing proves nothing where some could not be read.
    if walks.iter().all(|walk| walk.broken.is_none()) {
        ask_for_prunings(&mut walks, testimony);
    }
    walks.into_iter().map(Walk::report).chain(lost).collect()
}

/// An anchor moves in one transaction with a note that says so. The note itself goes only when a later
/// pruning takes it; then the anchor of the chain it stood in has moved.
fn ask_for_prunings(walks: &mut [Walk], testimony: &Testimony) {
    let pruned = walks.iter().filter(|walk| walk.ends.anchor_seq > 0).count();
    for walk in walks {
        let ends = &walk.ends;
        let alone = pruned == 1 && ends.anchor_seq > 0;
        if alone && !testimony.tells_of(&ends.chain, ends.anchor_seq, &ends.anchor_hash) {
            walk.break_at(Break {
                seq: walk.ends.anchor_seq,
                trace_id: None,
                problem: "the chain begins after this record, and no note says that the records \
                          up to it were pruned"
                    .to_owned(),
            });
        }
    }
}

fn vanished(chain: &str, problem: String) -> ChainReport {
    ChainReport {
        chain: chain.to_owned(),
        records: 0,
        pruned: 0,
        head_seq: 0,
        head_hash: String::new(),
        accepted: Vec::new(),
        broken: Some(Break {
            seq: 0,
            trace_id: None,
            problem: format!("the chain is gone: {problem}"),
        }),
    }
}
