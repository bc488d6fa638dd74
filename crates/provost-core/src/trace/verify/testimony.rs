//! What the store's own notes say of the chains: where they were pruned, how far they had come, and that
//! one was found changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain;
use crate::{time::Time, trace::NoteRecord};

/// Who writes these notes.
pub const BY: &str = "store";
pub const PRUNED: &str = "pruned";
pub const CHAIN_OPENED: &str = "chain opened";
pub const HEAD_DIFFERS: &str = "chain head differs from its last record";
pub const GAP_ACCEPTED: &str = "gap accepted";

#[derive(Debug, Default)]
pub struct Testimony {
    /// The latest anchor of each chain.
    anchors: BTreeMap<String, (u64, String)>,
    /// How far each chain had come when another began.
    heads: BTreeMap<String, u64>,
}

/// What a note says of its own chain.
#[derive(Debug, PartialEq)]
pub(in crate::trace) enum Heard {
    Nothing,
    /// It was found changed.
    Changed,
    /// Another history was here before, and somebody accepted this one.
    Accepted(AcceptedGap),
}

/// Somebody put this record in the place of another on purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AcceptedGap {
    pub seq: u64,
    pub at: Time,
    /// Who, when, why, and from which heads to which.
    pub detail: Value,
}

#[derive(Deserialize)]
struct Pruned {
    chain: String,
    upto_seq: u64,
    anchor_hash: String,
}

#[derive(Deserialize)]
struct Opened {
    heads: Vec<Head>,
}

#[derive(Deserialize)]
struct Head {
    chain: String,
    head_seq: u64,
}

impl Testimony {
    /// Takes in the proved note at `seq`.
    pub(in crate::trace) fn hear(&mut self, seq: u64, body: &str) -> Heard {
        let Ok(note) = serde_json::from_str::<NoteRecord>(body) else {
            return Heard::Nothing;
        };
        if note.by != BY {
            return Heard::Nothing;
        }
        match &*note.note {
            PRUNED => self.hear_pruned(note.detail),
            CHAIN_OPENED => self.hear_opened(note.detail),
            HEAD_DIFFERS => return Heard::Changed,
            GAP_ACCEPTED => {
                let (at, detail) = (note.timestamp, note.detail);
                return Heard::Accepted(AcceptedGap { seq, at, detail });
            }
            _ => {}
        }
        Heard::Nothing
    }

    fn hear_pruned(&mut self, detail: Value) {
        let Ok(pruned) = serde_json::from_value::<Pruned>(detail) else {
            return;
        };
        let anchor = self.anchors.entry(pruned.chain).or_default();
        if pruned.upto_seq > anchor.0 {
            *anchor = (pruned.upto_seq, pruned.anchor_hash);
        }
    }

    fn hear_opened(&mut self, detail: Value) {
        let Ok(opened) = serde_json::from_value::<Opened>(detail) else {
            return;
        };
        for head in opened.heads {
            let seen = self.heads.entry(head.chain).or_default();
            *seen = head.head_seq.max(*seen);
        }
    }

    pub(in crate::trace) fn tells_of(&self, chain: &str, seq: u64, hash: &chain::Hash) -> bool {
        self.anchors
            .get(chain)
            .is_some_and(|(upto, text)| *upto == seq && *text == chain::text(hash))
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = (&str, u64)> {
        self.heads.iter().map(|(chain, seq)| (&**chain, *seq))
    }
}
