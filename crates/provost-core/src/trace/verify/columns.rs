//! The columns a record is found by must be those its writer would have put, for every kind.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    ports::ChainRecord,
    time::Time,
    trace::{Answer, RecordKind},
};

/// What the records of all kinds say of their columns.
#[derive(Deserialize)]
struct Said {
    trace_id: String,
    timestamp: Time,
    #[serde(default)]
    agent_id: String,
    session_id: Option<String>,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    verdict: String,
    status_code: Option<IgnoredAny>,
}

/// `before`: the place of the record before this one.
pub(super) fn agree(record: &ChainRecord, before: u64) -> Result<(), String> {
    let said: Said = serde_json::from_str(&record.body)
        .map_err(|error| format!("the record cannot be read: {error}"))?;
    let forwarded = record.kind == RecordKind::Decision
        && said.verdict == Answer::Allow.as_str()
        && said.status_code.is_none();
    let columns = [
        ("trace_id", record.trace_id.as_str() == said.trace_id),
        ("at", record.at == said.timestamp),
        ("agent", record.agent == said.agent_id),
        ("session", record.session == said.session_id),
        ("tool", record.tool == said.tool),
        ("verdict", record.verdict == said.verdict),
        ("forwarded", record.forwarded == forwarded),
        ("place", record.place > before),
    ];
    match columns.iter().find(|(_, agrees)| !agrees) {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "the column `{name}` was changed: the record says otherwise"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ids::TraceId,
        trace::{NoteRecord, OutcomeKind, OutcomeRecord, TraceRow, chain::Hash},
    };

    fn stored(row: TraceRow) -> ChainRecord {
        ChainRecord {
            place: 7,
            seq: 7,
            hash: Hash::default(),
            trace_id: row.trace_id,
            kind: row.kind,
            at: row.at,
            agent: row.agent.to_string(),
            session: row.session.map(|session| session.to_string()),
            tool: row.tool.to_string(),
            verdict: row.verdict.to_owned(),
            forwarded: row.forwarded,
            body: row.body,
        }
    }

    fn decision(verdict: &str, status: Option<u16>) -> ChainRecord {
        let status = status.map_or(String::new(), |status| {
            format!(r#","status_code":{status}"#)
        });
        ChainRecord {
            kind: RecordKind::Decision,
            agent: "claude".to_owned(),
            session: Some("s1".to_owned()),
            tool: "fs.read".to_owned(),
            verdict: verdict.to_owned(),
            forwarded: status.is_empty(),
            body: format!(
                r#"{{"trace_id":"t1","session_id":"s1","agent_id":"claude","tool":"fs.read",
                "verdict":"{verdict}","timestamp":"1970-01-01T00:00:00.000Z"{status}}}"#
            ),
            trace_id: TraceId::from("t1"),
            ..note()
        }
    }

    fn outcome() -> ChainRecord {
        let record = OutcomeRecord {
            trace_id: TraceId::from("t1"),
            session_id: Some("s1".into()),
            agent_id: "claude".into(),
            tool: "fs.read".into(),
            outcome: OutcomeKind::Done,
            status_code: Some(200),
            latency_ms: 1,
            error: None,
            size: 1,
            estimated_output_tokens: 1,
            timestamp: Time::default(),
        };
        stored(record.row())
    }

    fn note() -> ChainRecord {
        let record = NoteRecord {
            trace_id: TraceId::from("t2"),
            note: "stop".to_owned(),
            by: "human:alice".to_owned(),
            agent_id: None,
            session_id: None,
            detail: serde_json::json!({"verdict": "allow", "tool": "fs.read"}),
            timestamp: Time::default(),
        };
        stored(record.row())
    }

    type Change = fn(&mut ChainRecord);

    #[test]
    fn every_column_of_every_kind_counts() {
        let changes: [(&str, Change); 8] = [
            ("trace_id", |record| record.trace_id = TraceId::from("x")),
            ("at", |record| record.at = Time::from_millis(1)),
            ("agent", |record| record.agent.push('x')),
            ("session", |record| {
                record.session = match record.session {
                    Some(_) => None,
                    None => Some(String::new()),
                }
            }),
            ("tool", |record| record.tool.push('x')),
            ("verdict", |record| record.verdict.push('x')),
            ("forwarded", |record| record.forwarded = !record.forwarded),
            ("place", |record| record.place = 6),
        ];
        let records = [
            decision("allow", None),
            decision("allow", Some(200)),
            decision("deny", Some(403)),
            outcome(),
            note(),
        ];
        for record in records {
            assert_eq!(agree(&record, 6), Ok(()), "{record:?}");
            for (name, change) in changes {
                let mut changed = record.clone();
                change(&mut changed);
                let problem = agree(&changed, 6).unwrap_err();
                assert!(problem.contains(&format!("`{name}`")), "{name}: {problem}");
            }
        }
    }

    #[test]
    fn what_is_no_record_is_told() {
        for body in ["", "null", "{}", r#"{"trace_id":"t1","timestamp":"soon"}"#] {
            let record = ChainRecord {
                body: body.to_owned(),
                ..note()
            };
            assert!(agree(&record, 0).is_err(), "{body}");
        }
    }
}
