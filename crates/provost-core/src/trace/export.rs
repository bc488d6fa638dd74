//! The record as JSON lines: every chain's ends, then its records with their hashes. The text of a record
//! is copied as it stands, so that its hash can be proved from the file alone.

use std::{fmt::Write as _, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{RecordKind, chain};
use crate::ports::{ChainEnds, ChainRecord, Store, StoreError, Unreadable};

const PAGE: usize = 500;

/// The first line of each chain.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndsLine {
    pub chain: String,
    pub anchor_seq: u64,
    pub anchor_hash: String,
    pub head_seq: u64,
    pub head_hash: String,
}

/// Nothing may stand beside what is proved: a reader could take it for part of the record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordLine {
    pub chain: String,
    pub seq: u64,
    pub hash: String,
    pub kind: RecordKind,
    pub record: Box<RawValue>,
}

pub struct Exporter {
    store: Arc<dyn Store>,
    /// Chains still to be written, the last one next.
    chains: Vec<ChainEnds>,
    after: Option<u64>,
}

impl Exporter {
    pub async fn new(store: Arc<dyn Store>) -> Result<Self, StoreError> {
        let mut chains = store.chains().await?;
        chains.reverse();
        Ok(Self {
            store,
            chains,
            after: None,
        })
    }

    /// Some more lines, or `None` at the end.
    pub async fn next_lines(&mut self) -> Result<Option<String>, StoreError> {
        loop {
            let Some(ends) = self.chains.last() else {
                return Ok(None);
            };
            let Some(after) = self.after else {
                self.after = Some(ends.anchor_seq);
                return Ok(Some(line(&ends_line(ends))));
            };
            // Records made since the export began are not part of it: the head was written already.
            let records = self.store.chain_records(&ends.chain, after, PAGE).await?;
            let mut last = after;
            let mut lines = String::new();
            for record in records {
                let record = record_line(&ends.chain, record);
                if record.seq > last && record.seq <= ends.head_seq {
                    last = record.seq;
                    let _ = write!(lines, "{}", line(&record));
                }
            }
            if lines.is_empty() {
                self.chains.pop();
                self.after = None;
                continue;
            }
            self.after = Some(last);
            return Ok(Some(lines));
        }
    }
}

fn ends_line(ends: &ChainEnds) -> EndsLine {
    EndsLine {
        chain: ends.chain.clone(),
        anchor_seq: ends.anchor_seq,
        anchor_hash: chain::text(&ends.anchor_hash),
        head_seq: ends.head_seq,
        head_hash: chain::text(&ends.head_hash),
    }
}

/// A record that was tampered with until it cannot be read, or is no JSON in one line, is written as
/// `null`: that fails its hash, as it should.
fn record_line(name: &str, record: Result<ChainRecord, Unreadable>) -> RecordLine {
    let chain = name.to_owned();
    match record {
        Ok(record) => RecordLine {
            chain,
            seq: record.seq,
            hash: chain::text(&record.hash),
            kind: record.kind,
            record: if record.body.contains('\n') {
                Box::default()
            } else {
                RawValue::from_string(record.body).unwrap_or_default()
            },
        },
        Err(unreadable) => RecordLine {
            chain,
            seq: unreadable.seq,
            hash: chain::text(&chain::Hash::default()),
            kind: RecordKind::Note,
            record: Box::default(),
        },
    }
}

fn line<T: Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}
