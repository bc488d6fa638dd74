//! Proves the chains of traces, or points at the first record that does not fit.
//!
//! A chain is proved from its anchor to the head it had when the proof began, so that a gateway may go on
//! writing. An export is proved by the same [`Walk`], without the columns that stand only in a store.

mod columns;
pub mod testimony;
mod walk;

use serde::Serialize;

pub use self::{
    testimony::{AcceptedGap, Testimony},
    walk::{Link, Walk, conclude},
};
use super::chain;
use crate::ports::{ChainEnds, Store, StoreError};

const PAGE: usize = 2000;
/// How often pruning may get in the way before what is seen is believed.
const ATTEMPTS: u32 = 3;

#[derive(Clone, Debug, Serialize)]
pub struct ChainReport {
    pub chain: String,
    pub records: u64,
    /// Records that retention removed; the chain goes on from the hash of the last of them.
    pub pruned: u64,
    pub head_seq: u64,
    pub head_hash: String,
    /// Notes by which somebody accepted this record in the place of another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedGap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Break>,
}

/// The first place where a chain does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct Break {
    pub seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    pub problem: String,
}

/// Verifies every chain. `progress` is told how many records were read.
pub async fn verify(
    store: &dyn Store,
    mut progress: impl FnMut(u64),
) -> Result<Vec<ChainReport>, StoreError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let chains = store.chains().await?;
        let reports = verify_once(store, &chains, &mut progress).await?;
        let whole = reports.iter().all(|report| report.broken.is_none());
        // Pruning takes away what is yet to be read: then the anchor has moved, and the chain is whole
        // from there on.
        if whole || attempts == ATTEMPTS || anchors(&store.chains().await?) == anchors(&chains) {
            return Ok(reports);
        }
    }
}

fn anchors(chains: &[ChainEnds]) -> Vec<(&str, u64)> {
    chains
        .iter()
        .map(|ends| (&*ends.chain, ends.anchor_seq))
        .collect()
}

async fn verify_once(
    store: &dyn Store,
    chains: &[ChainEnds],
    progress: &mut impl FnMut(u64),
) -> Result<Vec<ChainReport>, StoreError> {
    let mut testimony = Testimony::default();
    let mut walks = Vec::new();
    for ends in chains {
        let mut walk = Walk::begin(ends.clone());
        to_the_head(store, &mut walk, &mut testimony, progress).await?;
        look_beyond(store, &mut walk).await?;
        walks.push(walk);
    }
    Ok(conclude(walks, &testimony))
}

async fn to_the_head(
    store: &dyn Store,
    walk: &mut Walk,
    testimony: &mut Testimony,
    progress: &mut impl FnMut(u64),
) -> Result<(), StoreError> {
    let mut place = 0;
    while walk.goes_on() {
        let page = store.chain_records(walk.chain(), walk.seq(), PAGE).await?;
        if page.is_empty() {
            break;
        }
        for record in &page {
            if !walk.goes_on() {
                break;
            }
            match record {
                Ok(record) => {
                    let link = Link {
                        seq: record.seq,
                        hash: &record.hash,
                        kind: record.kind,
                        body: &record.body,
                        trace_id: Some(record.trace_id.as_str()),
                    };
                    walk.step(&link, testimony, || columns::agree(record, place));
                    place = record.place;
                }
                Err(unreadable) => walk.stumble(unreadable),
            }
        }
        progress(walk.records());
    }
    Ok(())
}

/// The numbers and traces of up to [`PAGE`] records after the last one of the walk.
async fn beyond(store: &dyn Store, walk: &Walk) -> Result<Vec<(u64, Option<String>)>, StoreError> {
    let (mut found, mut after) = (Vec::new(), walk.seq());
    loop {
        let wanted = PAGE.saturating_sub(found.len());
        let page = store.chain_records(walk.chain(), after, wanted).await?;
        found.extend(page.into_iter().map(|record| match record {
            Ok(record) => (record.seq, Some(record.trace_id.to_string())),
            Err(unreadable) => (unreadable.seq, unreadable.trace_id),
        }));
        match found.last() {
            Some((last, _)) if *last > after && found.len() < PAGE => after = *last,
            _ => return Ok(found),
        }
    }
}

/// What stands after the head is newer than the proof, or nobody of ours wrote it. A record and the head
/// that counts it are written as one, so a head read later counts every record read before.
async fn look_beyond(store: &dyn Store, walk: &mut Walk) -> Result<(), StoreError> {
    if walk.is_broken() || walk.goes_on() {
        return Ok(());
    }
    let beyond = beyond(store, walk).await?;
    if beyond.is_empty() {
        return Ok(());
    }
    let chains = store.chains().await?;
    let head = chains
        .iter()
        .find(|ends| ends.chain == walk.chain())
        .map_or(0, |ends| ends.head_seq);
    let is_uncounted = |(seq, _): &(u64, _)| *seq > head || *seq <= walk.seq();
    let uncounted = beyond.into_iter().find(is_uncounted);
    if let Some((seq, trace_id)) = uncounted {
        walk.break_at(Break {
            seq,
            trace_id,
            problem: format!("the head of the chain is record {head}, and does not count this one"),
        });
    }
    Ok(())
}
