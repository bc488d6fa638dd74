//! Calls, questions, grants and records to test with.

use std::{sync::Arc, time::Duration};

use provost_core::{
    approval::{Approval, Decision, Escalation, Kind, Level, Question, State, Status},
    call::{Call, Executor},
    door::Door,
    glob::Glob,
    grant::Grant,
    ids::{ApprovalId, GrantId, TraceId},
    policy::Verdict,
    ports::{IdempotencyKey, NewApproval, Opened, Record, Recorded, Resolve, Resolved, Store},
    time::Time,
    trace::{RecordKind, TraceRow, chain},
};
use serde_json::{Map, json};

/// When the tests take place.
pub(crate) const START: Time = Time::from_millis(1_800_000_000_000);

pub(crate) fn after(seconds: u64) -> Time {
    START.plus(Duration::from_secs(seconds))
}

pub(crate) fn glob(text: &str) -> Glob {
    Glob::new(text).unwrap()
}

pub(crate) fn row(agent: &str, session: Option<&str>, tool: &str, at: Time) -> TraceRow {
    let trace_id = TraceId::at(at);
    let body = json!({ "trace_id": trace_id, "agent_id": agent, "tool": tool }).to_string();
    TraceRow {
        trace_id,
        kind: RecordKind::Decision,
        at,
        agent: agent.into(),
        session: session.map(Arc::from),
        tool: tool.into(),
        verdict: "allow",
        forwarded: false,
        body,
    }
}

pub(crate) fn forwarded(agent: &str, at: Time) -> TraceRow {
    TraceRow {
        forwarded: true,
        ..row(agent, None, "fs.read", at)
    }
}

pub(crate) fn outcome(decision: &TraceRow, text: &str) -> TraceRow {
    TraceRow {
        kind: RecordKind::Outcome,
        verdict: "",
        forwarded: false,
        body: json!({ "outcome": text }).to_string(),
        ..decision.clone()
    }
}

pub(crate) fn note(text: &str) -> TraceRow {
    TraceRow {
        kind: RecordKind::Note,
        verdict: "",
        body: json!({ "note": text }).to_string(),
        ..row("", None, "", START)
    }
}

pub(crate) fn record(row: TraceRow, version: u64) -> Record {
    Record {
        row,
        version: Some(version),
        grant: None,
        key: None,
        max_total: None,
    }
}

pub(crate) async fn version(store: &dyn Store) -> u64 {
    store.control().await.unwrap().version
}

/// Records a decision that must be taken.
pub(crate) async fn write(store: &dyn Store, row: TraceRow) {
    let record = record(row, version(store).await);
    assert_eq!(store.record(record).await.unwrap(), Recorded::Done);
}

pub(crate) fn key(agent: &str, text: &str) -> IdempotencyKey {
    let digest = call(agent, "fs.write", text).digest();
    IdempotencyKey {
        agent: agent.into(),
        key: text.to_owned(),
        digest,
        at: START,
        answer: None,
        replaces: None,
    }
}

pub(crate) fn call(agent: &str, tool: &str, argument: &str) -> Call {
    let params = Map::from_iter([("argument".to_owned(), argument.into())]);
    Call {
        agent: agent.into(),
        session: None,
        tool: tool.into(),
        params,
    }
}

/// A question at level supervisor for 60 s, open for 300 s.
pub(crate) fn question(tool: &str, argument: &str, version: u64) -> NewApproval {
    let call = call("claude", tool, argument);
    let question = Question {
        id: ApprovalId::random(),
        kind: Kind::Call,
        agent_id: call.agent.clone(),
        session_id: Some("s1".into()),
        tool: call.tool.clone(),
        digest: call.digest(),
        params: call.params,
        policy_rule: "rule".into(),
        policy: Verdict::Supervisor,
        created_at: START,
        injection_risk: false,
        risk_reasons: Vec::new(),
        summary: None,
        trace_id: TraceId::at(START),
        door: Door::Http,
        executor: Executor::Gateway,
        works_in: None,
        request: None,
        needed: 1,
        denied_before: None,
        hides_secret: false,
    };
    let state = State::pending(Level::Supervisor, after(300), Some(after(60)));
    NewApproval {
        question,
        state,
        version,
        plans: Vec::new(),
        key: None,
        granted: None,
        most_pending: None,
        max_total: None,
    }
}

pub(crate) async fn ask(store: &dyn Store, tool: &str, argument: &str) -> Approval {
    let new = question(tool, argument, version(store).await);
    opened(store.open_approval(new, START).await.unwrap())
}

pub(crate) fn opened(opened: Opened) -> Approval {
    match opened {
        Opened::Approval(approval) => *approval,
        refused => panic!("{refused:?}"),
    }
}

pub(crate) fn answer(approval: &Approval, status: Status, by: &str, at: Time) -> Resolve {
    let verdict = if status == Status::Approved {
        "allow"
    } else {
        "deny"
    };
    let decided = TraceRow {
        trace_id: approval.question.trace_id.clone(),
        verdict,
        forwarded: status == Status::Approved,
        ..row(
            &approval.question.agent_id,
            Some("s1"),
            &approval.question.tool,
            at,
        )
    };
    Resolve {
        id: approval.question.id.clone(),
        decision: Decision {
            confidence: Some(0.5),
            ..Decision::new(status, by, at).because("because")
        },
        only_supervisor_level: false,
        permit_until: Some(after(600)),
        grant: None,
        needed: 1,
        vote: None,
        new_grant: None,
        row: decided,
    }
}

pub(crate) fn escalation(at: Time) -> Escalation {
    Escalation {
        by: "supervisor:bot".to_owned(),
        reasoning: Some("too risky".to_owned()),
        confidence: Some(0.2),
        at,
    }
}

pub(crate) async fn approve(store: &dyn Store, approval: &Approval) {
    let resolve = answer(approval, Status::Approved, "human:alice", after(1));
    let resolved = store.resolve(resolve).await.unwrap();
    assert!(matches!(resolved, Resolved::Won(_)), "{resolved:?}");
}

pub(crate) fn grant(max_uses: Option<u64>) -> Grant {
    Grant {
        id: GrantId::random(),
        agent: glob("claude*"),
        tools: glob("fs.*"),
        session_id: None,
        kind: None,
        remembered: None,
        when: None,
        max_uses,
        uses: 0,
        granted_by: "human:alice".to_owned(),
        created_at: START,
        expires_at: Some(after(1000)),
        reasoning: None,
        revoked_at: None,
    }
}

/// Walks every chain from its anchor to its head; how many records there are, or where one breaks.
pub(crate) async fn verify(store: &dyn Store) -> Result<u64, String> {
    let mut records = 0;
    for ends in store.chains().await.unwrap() {
        if ends.anchor_seq == 0 && ends.anchor_hash != chain::genesis(&ends.chain) {
            return Err(format!("{} does not begin with its genesis", ends.chain));
        }
        let (mut seq, mut hash) = (ends.anchor_seq, ends.anchor_hash);
        loop {
            let some = store.chain_records(&ends.chain, seq, 7).await.unwrap();
            for record in &some {
                let record = record.as_ref().map_err(|found| found.why.clone())?;
                hash = chain::next(&hash, seq + 1, record.kind, &record.body);
                if (record.seq, record.hash) != (seq + 1, hash) {
                    return Err(format!("broken at {}", seq + 1));
                }
                seq += 1;
                records += 1;
            }
            if some.is_empty() {
                break;
            }
        }
        if (seq, hash) != (ends.head_seq, ends.head_hash) {
            return Err(format!("ends at {seq}, not at {}", ends.head_seq));
        }
    }
    Ok(records)
}

/// Runs all at once, each in a task of its own.
pub(crate) async fn race<T: Send + 'static>(
    runners: impl IntoIterator<Item: Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = runners
        .into_iter()
        .map(|runner| tokio::spawn(runner))
        .collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.unwrap());
    }
    done
}
