//! Proves the chains of traces, or points at the first record that does not fit.

use serde::Serialize;
use serde_json::Value;

use super::{RecordKind, chain};
use crate::ports::{ChainEnds, ChainRecord, Store, StoreError};

const PAGE: usize = 2000;

#[derive(Clone, Debug, Serialize)]
pub struct ChainReport {
    pub chain: String,
    pub records: u64,
    /// Records that retention removed; the chain goes on from the hash of the last of them.
    pub pruned: u64,
    pub head_seq: u64,
    pub head_hash: String,
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
    let mut reports = Vec::new();
    for ends in store.chains().await? {
        reports.push(verify_chain(store, ends, &mut progress).await?);
    }
    Ok(reports)
}

async fn verify_chain(
    store: &dyn Store,
    ends: ChainEnds,
    progress: &mut impl FnMut(u64),
) -> Result<ChainReport, StoreError> {
    let mut walk = Walk {
        seq: ends.anchor_seq,
        hash: ends.anchor_hash,
        records: 0,
    };
    let mut broken = None;
    if ends.anchor_seq == 0 && ends.anchor_hash != chain::genesis(&ends.chain) {
        broken = Some(Break {
            seq: 0,
            trace_id: None,
            problem: "the chain does not begin at its genesis".into(),
        });
    }
    'pages: while broken.is_none() {
        let page = store.chain_records(&ends.chain, walk.seq, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for record in &page {
            if let Err(problem) = walk.step(record) {
                let trace_id = Some(record.trace_id.to_string());
                broken = Some(Break {
                    seq: walk.seq + 1,
                    trace_id,
                    problem,
                });
                break 'pages;
            }
        }
        progress(walk.records);
    }
    if broken.is_none() && (walk.seq, walk.hash) != (ends.head_seq, ends.head_hash) {
        broken = Some(Break {
            seq: walk.seq + 1,
            trace_id: None,
            problem: format!(
                "the chain ends at record {} but its head is record {}",
                walk.seq, ends.head_seq
            ),
        });
    }
    Ok(ChainReport {
        chain: ends.chain,
        records: walk.records,
        pruned: ends.anchor_seq,
        head_seq: walk.seq,
        head_hash: chain::text(&walk.hash),
        broken,
    })
}

struct Walk {
    seq: u64,
    hash: chain::Hash,
    records: u64,
}

impl Walk {
    fn step(&mut self, record: &ChainRecord) -> Result<(), String> {
        if record.seq != self.seq + 1 {
            return Err(format!("record {} is missing", self.seq + 1));
        }
        let hash = chain::next(&self.hash, record.seq, &record.body);
        if hash != record.hash {
            return Err("the record was changed: its hash does not fit".into());
        }
        columns_agree(record)?;
        (self.seq, self.hash) = (record.seq, hash);
        self.records += 1;
        Ok(())
    }
}

/// The columns a record is found by must say what its body says.
fn columns_agree(record: &ChainRecord) -> Result<(), String> {
    let body: Value =
        serde_json::from_str(&record.body).map_err(|_| "the record is not JSON".to_owned())?;
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let said = |name: &str, column: &str| match text(name) {
        Some(said) if said == column => Ok(()),
        _ => Err(format!(
            "the column `{name}` was changed: the record says otherwise"
        )),
    };
    said("trace_id", record.trace_id.as_str())?;
    said("timestamp", &record.at.to_string())?;
    if record.kind == RecordKind::Note {
        return Ok(());
    }
    said("agent_id", &record.agent)?;
    said("tool", &record.tool)?;
    if record.kind == RecordKind::Decision {
        said("verdict", &record.verdict)?;
        if text("session_id") != record.session.as_deref() {
            return Err("the column `session_id` was changed: the record says otherwise".into());
        }
    }
    Ok(())
}
