//! The heads of the chains, kept in a second place, and the record held against them.
//!
//! A chain of hashes proves itself, but not that it is the one that was here yesterday: whoever may write
//! the store can cut its end off or hash it anew. So the last head of every chain is kept elsewhere, and
//! its anchor with it: a record that has come further is fine, and one that begins later only where the
//! gateway pruned it. It keeps the new anchor before it does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    NoteRecord, TraceRow, chain,
    verify::{
        Testimony,
        testimony::{BY, GAP_ACCEPTED, PRUNED},
    },
};
use crate::{
    ids::TraceId,
    ports::{ChainEnds, Store, StoreError, WrittenHead},
    time::Time,
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHeads {
    /// The identity of the store.
    pub store: String,
    /// When keeping began: nothing is known of what stood there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// The store stood at another place as well when keeping began here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_copy: bool,
    pub chains: BTreeMap<String, KeptHead>,
}

/// How far a chain had come: the number of its last record, and that record's hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHead {
    pub seq: u64,
    pub hash: String,
    /// The record after which the chain began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// The record up to which this gateway is about to prune it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruning: Option<Anchor>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    pub seq: u64,
    pub hash: String,
}

/// Which chains are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chains {
    /// Those that are written now. That one of the others is gone is not noticed.
    Live,
    All,
}

/// Who may have pruned the record beside those who keep its heads here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruners {
    Nobody,
    /// Replicas that share the store. A note must tell of it.
    Replicas {
        /// All that was kept is older than the retention: they may have removed it.
        outlived: bool,
    },
}

/// How a record differs from what was kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// `None`: the whole record is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
    pub problem: String,
}

impl KeptHeads {
    /// Everything that stands in a store now.
    pub async fn of(store: &dyn Store) -> Result<Self, StoreError> {
        let mut kept = Self {
            store: store.identity().await?,
            since: None,
            is_copy: false,
            chains: BTreeMap::new(),
        };
        for ends in store.chains().await? {
            kept.chains.insert(ends.chain.clone(), KeptHead::of(&ends));
        }
        Ok(kept)
    }

    /// Where the record in the store is not a continuation of what was kept.
    pub async fn gaps(&self, store: &dyn Store, pruners: Pruners) -> Result<Vec<Gap>, StoreError> {
        if let Some(other) = self.other_store(store).await? {
            return Ok(vec![other]);
        }
        let chains = store.chains().await?;
        let mut gaps = Vec::new();
        for (name, kept) in &self.chains {
            let ends = chains.iter().find(|ends| ends.chain == *name);
            gaps.extend(gap(store, name, kept, ends, pruners).await?);
        }
        Ok(gaps)
    }

    async fn other_store(&self, store: &dyn Store) -> Result<Option<Gap>, StoreError> {
        let found = store.identity().await?;
        Ok((found != self.store).then(|| Gap {
            chain: None,
            problem: format!(
                "another record stands here: it is the store {}, and before it was {}",
                short(&found),
                short(&self.store)
            ),
        }))
    }

    /// Keeps what this gateway wrote itself, before the store is asked how far it came: whoever may write the
    /// store can hold its noted head back. Whether anything changed.
    pub fn advance(&mut self, written: Option<WrittenHead>) -> bool {
        let Some(WrittenHead { chain, seq, hash }) = written else {
            return false;
        };
        let hash = chain::text(&hash);
        match self.chains.get_mut(&chain) {
            // What was read may be further than what is known to be written.
            Some(kept) if kept.seq > seq || kept.hash == hash => return false,
            Some(kept) => (kept.seq, kept.hash) = (seq, hash),
            None => {
                let kept = KeptHead {
                    seq,
                    hash,
                    anchor: None,
                    pruning: None,
                };
                self.chains.insert(chain, kept);
            }
        }
        true
    }

    /// Follows the chains that moved. One that no longer holds its kept head is not followed, so that the
    /// evidence stays. Whether anything changed, and what does not fit.
    pub async fn follow(
        &mut self,
        store: &dyn Store,
        which: Chains,
        pruners: Pruners,
    ) -> Result<(bool, Vec<Gap>), StoreError> {
        if let Some(other) = self.other_store(store).await? {
            return Ok((false, vec![other]));
        }
        let chains = match which {
            Chains::Live => store.live_chains().await?,
            Chains::All => store.chains().await?,
        };
        let (mut moved, mut gaps) = (false, Vec::new());
        for (name, kept) in self.chains.iter().filter(|_| which == Chains::All) {
            if chains.iter().all(|ends| ends.chain != *name) {
                gaps.extend(gap(store, name, kept, None, pruners).await?);
            }
        }
        for ends in &chains {
            let mut now = KeptHead::of(ends);
            if let Some(before) = self.chains.get(&ends.chain) {
                if now.anchor == before.anchor {
                    now.pruning.clone_from(&before.pruning);
                }
                // Also where nothing seems to have moved: the end may be gone, and the noted head not.
                let found = gap(store, &ends.chain, before, Some(ends), pruners).await?;
                if found.is_some() || *before == now {
                    gaps.extend(found);
                    continue;
                }
            }
            self.chains.insert(ends.chain.clone(), now);
            moved = true;
        }
        Ok((moved, gaps))
    }

    /// This gateway is about to prune the chains up to there.
    pub fn expect_pruning(&mut self, cuts: &[ChainEnds]) {
        for cut in cuts {
            if let Some(kept) = self.chains.get_mut(&cut.chain) {
                kept.pruning = Some(Anchor::of(cut));
            }
        }
    }
}

impl KeptHead {
    fn of(ends: &ChainEnds) -> Self {
        Self {
            seq: ends.head_seq,
            hash: chain::text(&ends.head_hash),
            anchor: Some(Anchor::of(ends)),
            pruning: None,
        }
    }

    fn knows(&self, anchor: &Anchor) -> bool {
        [&self.anchor, &self.pruning].contains(&&Some(anchor.clone()))
    }
}

impl Anchor {
    fn of(ends: &ChainEnds) -> Self {
        Self {
            seq: ends.anchor_seq,
            hash: chain::text(&ends.anchor_hash),
        }
    }
}

async fn gap(
    store: &dyn Store,
    name: &str,
    kept: &KeptHead,
    ends: Option<&ChainEnds>,
    pruners: Pruners,
) -> Result<Option<Gap>, StoreError> {
    let problem = match ends {
        None => Some(format!(
            "the chain is gone; it had come to record {}",
            kept.seq
        )),
        Some(ends) => match problem(store, kept, ends, pruners).await? {
            None => None,
            // Pruning may have taken the record away meanwhile. Then the anchor has moved.
            Some(found) => {
                let chains = store.chains().await?;
                let fresh = chains.iter().find(|fresh| fresh.chain == *name);
                match fresh.filter(|fresh| fresh.anchor_seq != ends.anchor_seq) {
                    Some(fresh) => problem(store, kept, fresh, pruners).await?,
                    None => Some(found),
                }
            }
        },
    };
    Ok(problem.map(|problem| Gap {
        chain: Some(name.to_owned()),
        problem,
    }))
}

async fn problem(
    store: &dyn Store,
    kept: &KeptHead,
    ends: &ChainEnds,
    pruners: Pruners,
) -> Result<Option<String>, StoreError> {
    if let Some(problem) = moved_anchor(store, kept, ends, pruners).await? {
        return Ok(Some(problem));
    }
    if let Some(problem) = missing_head(store, kept, ends).await? {
        return Ok(Some(problem));
    }
    missing_beginning(store, ends).await
}

/// What stands between the first and the last record, only a verification tells.
async fn missing_beginning(
    store: &dyn Store,
    ends: &ChainEnds,
) -> Result<Option<String>, StoreError> {
    if ends.head_seq == ends.anchor_seq {
        return Ok(None);
    }
    let first = ends.anchor_seq + 1;
    let found = record(store, &ends.chain, first).await?;
    Ok(found
        .is_none()
        .then(|| format!("record {first}, its first, is missing")))
}

/// The hash of a record, if it is there; an empty one, where it cannot be read.
async fn record(store: &dyn Store, chain: &str, seq: u64) -> Result<Option<String>, StoreError> {
    let found = store.chain_records(chain, seq - 1, 1).await?;
    Ok(match found.first() {
        Some(Ok(record)) if record.seq == seq => Some(chain::text(&record.hash)),
        Some(Err(unreadable)) if unreadable.seq == seq => Some(String::new()),
        _ => None,
    })
}

/// Whoever may write the store can move its anchor, and write a note that it was pruned.
async fn moved_anchor(
    store: &dyn Store,
    kept: &KeptHead,
    ends: &ChainEnds,
    pruners: Pruners,
) -> Result<Option<String>, StoreError> {
    let found = Anchor::of(ends);
    if kept.knows(&found) {
        return Ok(None);
    }
    let outlived = match (pruners, &kept.anchor) {
        (Pruners::Replicas { outlived }, _) => outlived,
        // Kept by a version that did not keep anchors.
        (Pruners::Nobody, None) => false,
        (Pruners::Nobody, Some(_)) => {
            let words = "and this gateway did not prune it";
            return Ok(Some(format!(
                "it begins after record {}, {words}",
                found.seq
            )));
        }
    };
    if found.seq > kept.seq && !outlived {
        let words = "the records before it are younger than the retention";
        return Ok(Some(format!(
            "it begins after record {}: {words}",
            found.seq
        )));
    }
    if kept
        .anchor
        .as_ref()
        .is_some_and(|kept| found.seq < kept.seq)
    {
        let words = "it had been pruned further than that";
        return Ok(Some(format!(
            "it begins after record {}: {words}",
            found.seq
        )));
    }
    let mut testimony = Testimony::default();
    for note in store.notes(PRUNED).await? {
        testimony.hear(0, &note);
    }
    let told = outlived
        || found.seq == 0
        || testimony.tells_of(&ends.chain, ends.anchor_seq, &ends.anchor_hash);
    Ok((!told).then(|| {
        let words = "no note says that the records up to it were pruned";
        format!("it begins after record {}, and {words}", found.seq)
    }))
}

/// The noted end is not believed: the record itself must be there. Nor may it stand before that record, as where
/// somebody holds it back: whatever is written behind it could be cut off.
async fn missing_head(
    store: &dyn Store,
    kept: &KeptHead,
    ends: &ChainEnds,
) -> Result<Option<String>, StoreError> {
    if kept.seq < ends.anchor_seq || kept.seq == 0 {
        // Pruned, or nothing was there.
        return Ok(None);
    }
    let rewritten = || {
        let words = "is another one than before: the history up to it was rewritten";
        Some(format!("record {} {words}", kept.seq))
    };
    if kept.seq == ends.anchor_seq {
        let same = chain::text(&ends.anchor_hash) == kept.hash;
        return Ok(if same { None } else { rewritten() });
    }
    Ok(match record(store, &ends.chain, kept.seq).await? {
        Some(hash) if hash != kept.hash => rewritten(),
        _ if ends.head_seq < kept.seq => Some(format!(
            "it ends at record {}; it had come to record {}",
            ends.head_seq, kept.seq
        )),
        Some(_) => None,
        None => Some(format!("record {} is missing", kept.seq)),
    })
}

/// The note that somebody restored another history on purpose, and which one followed which.
pub fn acceptance(
    who: &str,
    reason: Option<&str>,
    (from, to): (&KeptHeads, &KeptHeads),
    now: Time,
) -> TraceRow {
    let note = NoteRecord {
        trace_id: TraceId::at(now),
        note: GAP_ACCEPTED.to_owned(),
        by: BY.to_owned(),
        agent_id: None,
        session_id: None,
        detail: json!({"by": who, "reason": reason, "from": from, "to": to}),
        timestamp: now,
    };
    note.row()
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
