//! Where recorded decisions come from: the running gateway, or an export.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::Path,
};

use anyhow::Context as _;
use provost_core::{
    call::Call,
    policy::replay::Recorded,
    time::Time,
    trace::{DecisionRecord, RecordKind, export::RecordLine},
};
use serde_json::Value;

use crate::{
    client::{Client, Target},
    commands::{
        traces::Span,
        view::{pages, some_text, text},
    },
    exit::usage,
};

pub(super) async fn from_gateway(
    client: &Client,
    span: Span,
    limit: usize,
) -> anyhow::Result<Vec<Recorded>> {
    // Conditions look at arguments: their mere shape would be judged differently.
    let target = span.query(Target::new("/traces").query("content", "full"));
    let traces = pages(client, &target, ("x-next-before", "before"), limit).await?;
    traces
        .into_iter()
        .map(|trace| {
            from_view(trace).context("the gateway's answer has a trace that cannot be read")
        })
        .collect()
}

fn from_view(mut trace: Value) -> Option<Recorded> {
    let Some(Value::Object(params)) = trace.get_mut("params").map(Value::take) else {
        return None;
    };
    let call = Call {
        agent: some_text(&trace, "agent_id")?.into(),
        session: some_text(&trace, "session_id").map(Into::into),
        tool: some_text(&trace, "tool")?.into(),
        params,
    };
    Some(Recorded {
        trace_id: text(&trace, "trace_id").to_owned(),
        call,
        policy: text(&trace, "policy").to_owned(),
        at: Time::parse(text(&trace, "timestamp"))?,
    })
}

/// The newest that fit, newest first.
pub(super) fn from_export(file: &Path, span: Span, limit: usize) -> anyhow::Result<Vec<Recorded>> {
    let shown = file.display();
    let reader =
        File::open(file).map_err(|error| usage(format!("cannot read `{shown}`: {error}")))?;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(reader).lines()) {
        let line = line.with_context(|| format!("cannot read `{shown}`"))?;
        let bad = || {
            usage(format!(
                "line {number} of `{shown}` is not a line of an export"
            ))
        };
        // The lines between chains have no record.
        let Ok(line) = serde_json::from_str::<RecordLine>(&line) else {
            serde_json::from_str::<Value>(&line).map_err(|_| bad())?;
            continue;
        };
        if line.kind == RecordKind::Decision {
            found.push(from_record(line.record.get()).map_err(|_| bad())?);
        }
    }
    found.retain(|decision| {
        span.since.is_none_or(|since| decision.at >= since)
            && span.until.is_none_or(|until| decision.at <= until)
    });
    found.sort_by_key(|decision| std::cmp::Reverse(decision.at));
    found.truncate(limit);
    Ok(found)
}

fn from_record(json: &str) -> Result<Recorded, serde_json::Error> {
    let record: DecisionRecord = serde_json::from_str(json)?;
    let params = serde_json::from_str(record.params.get())?;
    Ok(Recorded {
        trace_id: record.trace_id.to_string(),
        call: Call {
            agent: record.agent_id,
            session: record.session_id,
            tool: record.tool,
            params,
        },
        policy: record.policy.to_string(),
        at: record.timestamp,
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    fn decision(id: u32, at: &str) -> Value {
        json!({"trace_id": format!("{id:032x}"), "agent_id": "a", "tool": "t", "params": {"n": id}, "policy": "allow",
               "policy_rule": "p:rule-0", "verdict": "allow", "timestamp": at, "digest": "0".repeat(64),
               "door": "http", "latency_ms": 1, "estimated_input_tokens": 1})
    }

    #[test]
    fn the_newest_decisions_of_an_export_are_taken() {
        let mut text = String::from("{\"chain\":\"main\",\"anchor_seq\":0}\n");
        let at = [
            "2026-04-10T14:00:00Z",
            "2026-04-10T15:00:00Z",
            "2026-04-10T16:00:00Z",
            "2026-04-10T17:00:00Z",
        ];
        for (seq, at) in (1..).zip(at) {
            let line = json!({"chain": "main", "seq": seq, "hash": "x", "kind": "decision", "record": decision(seq, at)});
            let _ = writeln!(text, "{line}");
        }
        let note = json!({"chain": "main", "seq": 5, "hash": "x", "kind": "note", "record": {"note": "stop"}});
        let _ = writeln!(text, "{note}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let span = Span {
            since: Time::parse(at[1]),
            until: Time::parse(at[2]),
        };
        let take = |span, limit| -> Vec<u64> {
            let found = from_export(file.path(), span, limit).unwrap();
            found
                .iter()
                .filter_map(|decision| decision.call.params["n"].as_u64())
                .collect()
        };
        assert_eq!(take(Span::default(), 2), [4, 3]);
        assert_eq!(take(span, 10), [3, 2]);
    }

    #[test]
    fn traces_of_the_gateway_are_read() {
        let found = from_view(decision(7, "2026-04-10T14:00:00Z")).unwrap();
        assert_eq!((&*found.policy, &*found.call.agent), ("allow", "a"));
        assert_eq!(found.call.params["n"], 7);
        assert_eq!(from_view(json!({"tool": "t"})), None);
    }
}
