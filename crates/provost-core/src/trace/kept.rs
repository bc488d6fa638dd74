//! The heads of the chains, kept in a second place, and the record held against them.
//!
//! A chain of hashes proves itself, but not that it is the one that was here yesterday: whoever may write
//! the store can cut its end off or hash it anew. So the last head of every chain is kept elsewhere. A
//! record that has come further is fine, and so is one whose old records were pruned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    NoteRecord, TraceRow, chain,
    verify::testimony::{BY, GAP_ACCEPTED},
};
use crate::{
    ids::TraceId,
    ports::{ChainEnds, Store, StoreError},
    time::Time,
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHeads {
    /// The identity of the store.
    pub store: String,
    pub chains: BTreeMap<String, KeptHead>,
}

/// How far a chain had come: the number of its last record, and that record's hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHead {
    pub seq: u64,
    pub hash: String,
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
            chains: BTreeMap::new(),
        };
        for ends in store.chains().await? {
            kept.chains.insert(ends.chain.clone(), KeptHead::of(&ends));
        }
        Ok(kept)
    }

    /// Where the record in the store is not a continuation of what was kept.
    pub async fn gaps(&self, store: &dyn Store) -> Result<Vec<Gap>, StoreError> {
        let found = store.identity().await?;
        if found != self.store {
            return Ok(vec![Gap {
                chain: None,
                problem: format!(
                    "another record stands here: it is the store {}, and before it was {}",
                    short(&found),
                    short(&self.store)
                ),
            }]);
        }
        let chains = store.chains().await?;
        let mut gaps = Vec::new();
        for (name, kept) in &self.chains {
            let ends = chains.iter().find(|ends| ends.chain == *name);
            gaps.extend(gap(store, name, kept, ends).await?);
        }
        Ok(gaps)
    }

    /// Follows the chains that moved. One that no longer holds its kept head is not followed, so that the
    /// evidence stays. Whether anything changed, and what does not fit.
    pub async fn follow(&mut self, store: &dyn Store) -> Result<(bool, Vec<Gap>), StoreError> {
        let (mut moved, mut gaps) = (false, Vec::new());
        for ends in store.live_chains().await? {
            let now = KeptHead::of(&ends);
            let before = self.chains.get(&ends.chain);
            if before == Some(&now) {
                continue;
            }
            if let Some(before) = before {
                let found = gap(store, &ends.chain, before, Some(&ends)).await?;
                if found.is_some() {
                    gaps.extend(found);
                    continue;
                }
            }
            self.chains.insert(ends.chain, now);
            moved = true;
        }
        Ok((moved, gaps))
    }
}

impl KeptHead {
    fn of(ends: &ChainEnds) -> Self {
        Self {
            seq: ends.head_seq,
            hash: chain::text(&ends.head_hash),
        }
    }
}

async fn gap(
    store: &dyn Store,
    name: &str,
    kept: &KeptHead,
    ends: Option<&ChainEnds>,
) -> Result<Option<Gap>, StoreError> {
    let problem = match ends {
        None => Some(format!(
            "the chain is gone; it had come to record {}",
            kept.seq
        )),
        Some(ends) => match problem(store, kept, ends).await? {
            None => None,
            // Pruning may have taken the record away meanwhile. Then the anchor has moved.
            Some(found) => {
                let chains = store.chains().await?;
                let fresh = chains.iter().find(|fresh| fresh.chain == *name);
                match fresh.filter(|fresh| fresh.anchor_seq != ends.anchor_seq) {
                    Some(fresh) => problem(store, kept, fresh).await?,
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

/// The noted ends are not believed: the record itself must be there.
async fn problem(
    store: &dyn Store,
    kept: &KeptHead,
    ends: &ChainEnds,
) -> Result<Option<String>, StoreError> {
    if kept.seq < ends.anchor_seq || kept.seq == 0 {
        // Pruned, which a note in the record must tell of; or nothing was there.
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
    let before = kept.seq - 1;
    let found = store.chain_records(&ends.chain, before, 1).await?;
    let hash = match found.first() {
        Some(Ok(record)) if record.seq == kept.seq => Some(chain::text(&record.hash)),
        Some(Err(unreadable)) if unreadable.seq == kept.seq => Some(String::new()),
        _ => None,
    };
    Ok(match hash {
        Some(hash) if hash == kept.hash => None,
        Some(_) => rewritten(),
        None if ends.head_seq < kept.seq => Some(format!(
            "it ends at record {}; it had come to record {}",
            ends.head_seq, kept.seq
        )),
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
