//! The proof of the record: it finds every change made behind the store's back, and nothing else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use provost_core::{
    call::Call,
    door::Door,
    ids::TraceId,
    ports::Store,
    time::Time,
    trace::{
        Answer, DecisionRecord, NoteRecord, OutcomeKind, OutcomeRecord, TraceRow,
        export::Exporter,
        raw_params,
        verify::{self, ChainReport},
    },
};
use serde_json::{Map, Value};

use crate::{making::*, place::Place};

crate::contract!(
    a_record_that_nobody_touched_is_whole,
    changed_records_are_pointed_at,
    changed_columns_are_pointed_at,
    lost_and_added_records_are_pointed_at,
    changed_ends_are_found,
    proving_corrects_nothing,
    a_writer_does_not_disturb_the_proof,
    pruning_does_not_disturb_the_proof,
);

fn decision(answer: Answer, door: Door, session: Option<&str>, at: Time) -> DecisionRecord {
    let call = Call {
        agent: "claude".into(),
        session: session.map(Arc::from),
        tool: "fs.read".into(),
        params: Map::new(),
    };
    let forwarded = answer == Answer::Allow && door.forwards();
    DecisionRecord {
        trace_id: TraceId::at(at),
        session_id: call.session.clone(),
        agent_id: call.agent.clone(),
        tool: call.tool.clone(),
        params: raw_params(&call.params),
        policy: "allow".into(),
        policy_rule: "rule".into(),
        verdict: answer,
        reason: None,
        status_code: (!forwarded).then(|| answer.status_code()),
        timestamp: at,
        changed_params: None,
        digest: call.digest(),
        door,
        latency_ms: 1,
        estimated_input_tokens: 1,
        grant_id: None,
        approval_id: None,
        approval_status: None,
        approved_by: None,
        approver_label: None,
        approval_ms: None,
        supervisor_reasoning: None,
        supervisor_confidence: None,
        escalated_by: None,
        escalation_reasoning: None,
    }
}

fn ended(decision: &DecisionRecord) -> TraceRow {
    OutcomeRecord {
        trace_id: decision.trace_id.clone(),
        session_id: decision.session_id.clone(),
        agent_id: decision.agent_id.clone(),
        tool: decision.tool.clone(),
        outcome: OutcomeKind::Done,
        status_code: Some(200),
        latency_ms: 1,
        error: None,
        size: 2,
        estimated_output_tokens: 1,
        timestamp: decision.timestamp,
    }
    .row()
}

fn noted() -> TraceRow {
    NoteRecord {
        trace_id: TraceId::at(START),
        note: "stop".to_owned(),
        by: "human:alice".to_owned(),
        agent_id: None,
        session_id: None,
        detail: Value::Null,
        timestamp: START,
    }
    .row()
}

/// The records of [`written`], by what they are, as numbers in the chain. PostgreSQL's begins with a note,
/// so here SQLite's does too, and their places are their numbers.
const ALLOWED: u64 = 2;
const OUTCOME: u64 = 3;
const DENIED: u64 = 4;
const DECIDED: u64 = 5;
const NOTE: u64 = 6;
const LAST: u64 = 8;

async fn written(place: &Place) {
    let store = place.open().await;
    if store.kind() == "sqlite" {
        store.record_note(noted()).await.unwrap();
    }
    let allowed = decision(Answer::Allow, Door::Http, Some("s1"), after(1));
    let last = decision(Answer::Allow, Door::Http, None, after(4));
    let denied = decision(Answer::Deny, Door::Http, Some("s1"), after(2));
    let decided = decision(Answer::Allow, Door::Decide, None, after(3));
    write(&*store, allowed.row()).await;
    store.record_outcome(ended(&allowed), None).await.unwrap();
    write(&*store, denied.row()).await;
    write(&*store, decided.row()).await;
    store.record_note(noted()).await.unwrap();
    write(&*store, last.row()).await;
    store.record_outcome(ended(&last), None).await.unwrap();
    store.close().await;
    place
        .intrude(
            "CREATE TABLE traces_copy AS SELECT * FROM traces; \
             CREATE TABLE chains_copy AS SELECT * FROM chains;",
        )
        .await;
}

async fn restore(place: &Place) {
    place
        .intrude(
            "DELETE FROM traces; INSERT INTO traces SELECT * FROM traces_copy; \
             DELETE FROM chains; INSERT INTO chains SELECT * FROM chains_copy;",
        )
        .await;
}

async fn prove(store: &dyn Store) -> Vec<ChainReport> {
    verify::verify(store, |_| {}).await.unwrap()
}

async fn prove_closed(place: &Place) -> Vec<ChainReport> {
    let store = place.open_for_reading().await;
    let reports = prove(&*store).await;
    // An export can be made of whatever the record has become.
    let mut exporter = Exporter::new(store.clone()).await.unwrap();
    while exporter.next_lines().await.unwrap().is_some() {}
    store.close().await;
    reports
}

#[track_caller]
fn assert_whole(reports: &[ChainReport]) {
    assert!(
        reports.iter().all(|report| report.broken.is_none()),
        "{reports:?}"
    );
}

/// Tampers, proves and makes it good again. `seq`: where the chain must break.
async fn found(place: &Place, change: &str, seq: u64, problem: &str) {
    place.intrude(change).await;
    let reports = prove_closed(place).await;
    let [report] = &*reports else {
        panic!("{change}: {reports:?}")
    };
    let Some(broken) = &report.broken else {
        panic!("{change} was not found")
    };
    assert_eq!(broken.seq, seq, "{change}: {broken:?}");
    assert!(broken.problem.contains(problem), "{change}: {broken:?}");
    restore(place).await;
    assert_whole(&prove_closed(place).await);
}

async fn a_record_that_nobody_touched_is_whole(place: &Place) {
    written(place).await;
    let reports = prove_closed(place).await;
    assert_whole(&reports);
    assert_eq!((reports[0].records, reports[0].head_seq), (LAST, LAST));
}

async fn changed_records_are_pointed_at(place: &Place) {
    written(place).await;
    let edit = |from: &str, to: &str, seq: u64| {
        format!("UPDATE traces SET body = replace(body, '{from}', '{to}') WHERE place = {seq}")
    };
    let changed = "its hash does not fit";
    for (change, seq) in [
        (edit("deny", "allow", DENIED), DENIED),
        (edit("done", "failed", OUTCOME), OUTCOME),
        (edit("alice", "bob", NOTE), NOTE),
        (edit("{", "{ ", ALLOWED), ALLOWED),
        (edit("{", "", ALLOWED), ALLOWED),
        (edit("{", " {", DENIED), DENIED),
    ] {
        found(place, &change, seq, changed).await;
    }
    let swap = format!(
        "UPDATE traces SET body = (SELECT body FROM traces_copy c \
         WHERE c.place = {ALLOWED} + {DECIDED} - traces.place) WHERE place IN ({ALLOWED}, {DECIDED})"
    );
    found(place, &swap, ALLOWED, changed).await;
    for (value, problem) in [
        (
            "(SELECT hash FROM traces_copy c WHERE c.place = 1)",
            changed,
        ),
        ("substr(hash, 1, 4)", "cannot be read"),
    ] {
        let hash = format!("UPDATE traces SET hash = {value} WHERE place = {DENIED}");
        found(place, &hash, DENIED, problem).await;
    }
}

async fn changed_columns_are_pointed_at(place: &Place) {
    written(place).await;
    for seq in [ALLOWED, OUTCOME, DENIED, DECIDED, NOTE] {
        for (column, value) in [
            ("trace_id", "trace_id || 'x'"),
            ("at", "at + 1"),
            ("agent", "agent || 'x'"),
            ("session", "coalesce(session, '') || 'x'"),
            ("tool", "tool || 'x'"),
            ("verdict", "verdict || 'x'"),
            ("forwarded", "NOT forwarded"),
        ] {
            let change = format!("UPDATE traces SET {column} = {value} WHERE place = {seq}");
            found(place, &change, seq, &format!("the column `{column}`")).await;
        }
    }
    let without = format!("UPDATE traces SET session = NULL WHERE place = {OUTCOME}");
    found(place, &without, OUTCOME, "the column `session`").await;
    for (kind, seq, problem) in [
        ("note", DENIED, "its hash does not fit"),
        ("outcome", DENIED, "its hash does not fit"),
        ("decision", OUTCOME, "its hash does not fit"),
        ("decision", NOTE, "its hash does not fit"),
        ("nonsense", DENIED, "cannot be read: nonsense"),
        ("", NOTE, "cannot be read"),
    ] {
        let change = format!("UPDATE traces SET kind = '{kind}' WHERE place = {seq}");
        found(place, &change, seq, problem).await;
    }
}

async fn lost_and_added_records_are_pointed_at(place: &Place) {
    written(place).await;
    let lost = |which: String| format!("DELETE FROM traces WHERE {which}");
    let last = LAST - 1;
    for (change, seq, problem) in [
        (
            lost(format!("place = {DENIED}")),
            DENIED,
            "record 4 is missing".to_owned(),
        ),
        (
            lost("place = 1".to_owned()),
            1,
            "record 1 is missing".to_owned(),
        ),
        (
            lost(format!("place = {LAST}")),
            LAST,
            format!("ends at record {last} but its head is record {LAST}"),
        ),
        (
            lost(format!("place > {DENIED}")),
            DECIDED,
            format!("ends at record {DENIED} but its head is record {LAST}"),
        ),
    ] {
        found(place, &change, seq, &problem).await;
    }
    let sqlite = matches!(place, Place::Sqlite(_));
    for (number, seq, problem) in [
        (9, 9, "does not count this one"),
        (20, 20, "does not count this one"),
        (0, 1, "a record before the first"),
        (-3, 1, "a record before the first"),
    ] {
        // A copy of the last record, at another place.
        let (columns, numbers) = if sqlite {
            ("place", format!("{number}"))
        } else {
            (
                "place, chain, seq",
                format!("100 + {number}, chain, {number}"),
            )
        };
        let rest = "trace_id, kind, at, agent, session, tool, verdict, forwarded, hash, body";
        let change = format!(
            "INSERT INTO traces ({columns}, {rest}) SELECT {numbers}, {rest} FROM traces_copy \
             WHERE place = {LAST}"
        );
        found(place, &change, seq, problem).await;
    }
}

async fn changed_ends_are_found(place: &Place) {
    written(place).await;
    let hash_of = |seq: u64| format!("(SELECT hash FROM traces_copy WHERE place = {seq})");
    let no_hash = "is not the hash of this record";
    for (change, seq, problem) in [
        (
            "head_seq = head_seq - 5".to_owned(),
            4,
            "does not count this one",
        ),
        ("head_seq = head_seq + 1".to_owned(), 9, "ends at record 8"),
        (format!("head_hash = {}", hash_of(3)), 8, no_hash),
        (
            format!("head_seq = 3, head_hash = {}", hash_of(3)),
            4,
            "does not count this one",
        ),
        (
            "head_seq = anchor_seq, head_hash = anchor_hash".to_owned(),
            1,
            "does not count this one",
        ),
        ("anchor_seq = 2".to_owned(), 3, "its hash does not fit"),
        (
            format!("anchor_hash = {}", hash_of(2)),
            0,
            "does not begin at its genesis",
        ),
        (
            format!("anchor_seq = 2, anchor_hash = {}", hash_of(2)),
            2,
            "no note says",
        ),
        (
            "anchor_seq = head_seq, anchor_hash = head_hash".to_owned(),
            8,
            "no note says",
        ),
    ] {
        found(place, &format!("UPDATE chains SET {change}"), seq, problem).await;
    }
    found(place, "DELETE FROM chains", 1, "does not count this one").await;
    let beheaded = format!(
        "DELETE FROM traces WHERE place <= 4; \
         UPDATE chains SET anchor_seq = 4, anchor_hash = {}",
        hash_of(4)
    );
    found(place, &beheaded, 4, "no note says").await;
}

async fn proving_corrects_nothing(place: &Place) {
    written(place).await;
    place
        .intrude("UPDATE chains SET head_seq = head_seq - 5")
        .await;
    for _ in 0..2 {
        let store = place.open_for_reading().await;
        let chains = store.chains().await.unwrap();
        assert_eq!((chains.len(), chains[0].head_seq), (1, LAST - 5));
        assert!(prove(&*store).await[0].broken.is_some());
        assert!(store.record_note(noted()).await.is_err());
        store.close().await;
    }
    restore(place).await;
    // A gateway that goes on from a head moved back says so in the chain, or leaves the chain alone.
    place
        .intrude(
            "UPDATE chains SET head_seq = 3, \
             head_hash = (SELECT hash FROM traces WHERE place = 3)",
        )
        .await;
    let store = place.open().await;
    write(
        &*store,
        decision(Answer::Deny, Door::Http, None, after(9)).row(),
    )
    .await;
    let reports = prove(&*store).await;
    store.close().await;
    let broken: Vec<_> = reports.iter().filter_map(|r| r.broken.as_ref()).collect();
    let [broken] = &*broken else {
        panic!("{reports:?}")
    };
    if store.kind() == "sqlite" {
        assert_eq!(broken.seq, LAST + 1, "the note: {broken:?}");
        assert!(broken.problem.contains("was changed while it was closed"));
    } else {
        assert_eq!(broken.seq, 4, "{broken:?}");
    }
}

/// Writes decisions and their outcomes until told to stop; how many decisions.
fn keep_writing(store: Arc<dyn Store>, stop: Arc<AtomicBool>) -> tokio::task::JoinHandle<u64> {
    tokio::spawn(async move {
        let mut made = 0;
        while !stop.load(Ordering::Relaxed) {
            let made_now = decision(Answer::Allow, Door::Http, Some("s1"), after(made));
            write(&*store, made_now.row()).await;
            store.record_outcome(ended(&made_now), None).await.unwrap();
            made += 1;
        }
        made
    })
}

async fn a_writer_does_not_disturb_the_proof(place: &Place) {
    let store = place.open().await;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|_| keep_writing(store.clone(), stop.clone()))
        .collect();
    let beside = place.open_for_reading().await;
    let mut sizes = Vec::new();
    // Until the record has grown under enough proofs.
    while sizes.len() < 30 || sizes.first() == sizes.last() {
        for reader in [&store, &beside] {
            let reports = prove(&**reader).await;
            assert_whole(&reports);
            sizes.push(reports[0].records);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let mut made = 0;
    for writer in writers {
        made += writer.await.unwrap();
    }
    let reports = prove(&*beside).await;
    assert_whole(&reports);
    let begin = u64::from(store.kind() == "postgres");
    assert_eq!(reports[0].records, made * 2 + begin);
    beside.close().await;
    store.close().await;
}

async fn pruning_does_not_disturb_the_proof(place: &Place) {
    let store = place.open().await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = keep_writing(store.clone(), stop.clone());
    let mut pruned = 0;
    for round in 0..10 {
        let everything_so_far = after(1_000_000);
        let (gone, reports) = tokio::join!(
            store.prune(everything_so_far, after(round)),
            verify::verify(&*store, |_| {})
        );
        pruned += gone.unwrap();
        assert_whole(&reports.unwrap());
    }
    assert!(pruned > 0);
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    store.close().await;
    let reports = prove_closed(place).await;
    assert_whole(&reports);
    assert!(reports[0].pruned > 0);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_pointed_at() {
    let place = Place::sqlite();
    written(&place).await;
    for (column, seq) in [
        ("body", DENIED),
        ("agent", OUTCOME),
        ("session", ALLOWED),
        ("trace_id", NOTE),
        ("kind", NOTE),
    ] {
        let change =
            format!("UPDATE traces SET {column} = CAST(x'7bff7d' AS TEXT) WHERE place = {seq}");
        found(&place, &change, seq, "").await;
    }
    let change = format!("UPDATE traces SET forwarded = 2 WHERE place = {ALLOWED}");
    found(&place, &change, ALLOWED, "truth value").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_and_chains_of_postgres_are_proved() {
    let place = Place::postgres().await;
    written(&place).await;
    for (new, seq) in [("100", DECIDED), ("-4", DENIED)] {
        let change = format!("UPDATE traces SET place = {new} WHERE place = {DENIED}");
        found(&place, &change, seq, "").await;
    }
    // Records of a chain that never was are listed, so they must not pass.
    let change = format!(
        "INSERT INTO traces SELECT 100, 'ghost', 1, trace_id, kind, at, agent, session, tool, verdict, \
         forwarded, hash, body FROM traces WHERE place = {LAST}"
    );
    place.intrude(&change).await;
    let reports = prove_closed(&place).await;
    let ghost = reports.iter().find(|report| report.chain == "ghost");
    assert_eq!(ghost.unwrap().broken.as_ref().unwrap().seq, 1);
    restore(&place).await;
    // A whole chain goes, and the next one remembers it.
    place.open().await.close().await;
    assert_whole(&prove_closed(&place).await);
    place
        .intrude(
            "DELETE FROM traces WHERE chain IN (SELECT chain FROM chains_copy); \
             DELETE FROM chains WHERE chain IN (SELECT chain FROM chains_copy)",
        )
        .await;
    let reports = prove_closed(&place).await;
    let gone = reports[1].broken.as_ref().unwrap();
    assert!(gone.problem.contains("the chain is gone"), "{gone:?}");
    place.remove().await;
}
