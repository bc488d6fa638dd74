//! Calls whose gateway did not live to see their end.

use std::time::Duration;

use provost_core::{approval::Status, ports::Store, trace::TraceRow};

use crate::{making::*, place::Place};

crate::contract!(
    a_call_without_an_outcome_gets_an_unknown_one,
    calls_of_this_process_are_left_alone,
    an_approved_call_counts_once_it_was_taken,
);

async fn outcome_of(store: &dyn Store, row: &TraceRow) -> Option<String> {
    let entry = store
        .trace(row.trace_id.as_str())
        .await
        .unwrap()
        .expect("it is there");
    entry.outcome.map(|text| {
        let body: serde_json::Value = serde_json::from_str(&text).unwrap();
        body["outcome"].as_str().unwrap().to_owned()
    })
}

async fn a_call_without_an_outcome_gets_an_unknown_one(place: &Place) {
    let store = place.open().await;
    let (lost, done) = (forwarded("claude", START), forwarded("claude", START));
    let refused = row("claude", None, "fs.write", START);
    for row in [&lost, &done, &refused] {
        write(&*store, row.clone()).await;
    }
    store
        .record_outcome(outcome(&done, "done"), None)
        .await
        .unwrap();
    store.close().await;

    let store = place.open().await;
    assert_eq!(store.recover(after(9)).await.unwrap(), 1);
    assert_eq!(outcome_of(&*store, &lost).await.as_deref(), Some("unknown"));
    assert_eq!(outcome_of(&*store, &done).await.as_deref(), Some("done"));
    assert_eq!(outcome_of(&*store, &refused).await, None);
    assert_eq!(store.recover(after(9)).await.unwrap(), 0);
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn calls_of_this_process_are_left_alone(place: &Place) {
    let store = place.open().await;
    let running = forwarded("claude", START);
    write(&*store, running.clone()).await;
    assert_eq!(store.recover(after(9)).await.unwrap(), 0);
    assert_eq!(outcome_of(&*store, &running).await, None);
    store.close().await;
}

async fn an_approved_call_counts_once_it_was_taken(place: &Place) {
    let store = place.open().await;
    let (taken, untaken) = (
        ask(&*store, "fs.write", "a").await,
        ask(&*store, "fs.write", "b").await,
    );
    let denied = ask(&*store, "fs.write", "c").await;
    approve(&*store, &taken).await;
    approve(&*store, &untaken).await;
    store
        .resolve(answer(&denied, Status::Denied, "human:alice", after(1)))
        .await
        .unwrap();
    let seen = version(&*store).await;
    for approval in [&taken, &denied] {
        store
            .take(&approval.question.id, after(2), seen, None)
            .await
            .unwrap();
    }
    store.close().await;

    let store = place.open().await;
    assert_eq!(store.recover(after(9)).await.unwrap(), 1);
    let trace = store
        .trace(taken.question.trace_id.as_str())
        .await
        .unwrap()
        .unwrap();
    assert!(trace.outcome.unwrap().contains("unknown"));
    let trace = store
        .trace(untaken.question.trace_id.as_str())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(trace.outcome, None);
    store.close().await;
}

/// What is written behind the records is found in them after a crash, from whichever moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_counts_and_open_calls_are_found_in_the_records() {
    let (place, crashed) = (Place::sqlite(), Place::sqlite());
    let store = place.open().await;
    let (lost, done) = (forwarded("claude", START), forwarded("claude", START));
    for row in [&lost, &done] {
        write(&*store, row.clone()).await;
    }
    let ended = store.record_outcome(outcome(&done, "done"), None).await;
    ended.unwrap();
    let untaken = ask(&*store, "fs.write", "b").await;
    approve(&*store, &untaken).await;
    for end in ["", "-wal"] {
        let file = |place: &Place| format!("{}{end}", place.file().display());
        std::fs::copy(file(&place), file(&crashed)).unwrap();
    }
    store.close().await;

    let store = crashed.open().await;
    assert_eq!(store.total_calls("claude").await.unwrap(), 3);
    assert_eq!(store.recover(after(9)).await.unwrap(), 1);
    assert_eq!(outcome_of(&*store, &lost).await.as_deref(), Some("unknown"));
    assert_eq!(outcome_of(&*store, &done).await.as_deref(), Some("done"));
    store.close().await;
    let store = crashed.open().await;
    assert_eq!(store.total_calls("claude").await.unwrap(), 3, "not twice");
    assert_eq!(store.recover(after(9)).await.unwrap(), 0);
    store.close().await;
}

/// The log is written back beside the writer, and begins anew: it does not grow with what was written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_does_not_grow_for_ever() {
    let place = Place::sqlite();
    let store = place.open().await;
    let (seen, long) = (version(&*store).await, "x".repeat(40_000));
    for n in 0..40 {
        let writes = (0..50).map(|_| {
            let mut row = row("claude", Some("s1"), "fs.read", after(n));
            row.body = format!("{{\"long\":\"{long}\"}}");
            let store = store.clone();
            async move { store.record(record(row, seen)).await.unwrap() }
        });
        race(writes).await;
    }
    let length = |name: &str| std::fs::metadata(name).unwrap().len();
    let file = place.file().display().to_string();
    assert!(length(&file) > 40_000_000, "it was written back");
    assert!(length(&format!("{file}-wal")) < 70_000_000);
    store.close().await;
}

/// The first waits for the lock alone; the others gather meanwhile, and wait for it together, once: with five
/// seconds for each of them it would be a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_somebody_locks_fails_everybody_at_once() {
    let place = Place::sqlite();
    let store = place.open().await;
    let version = version(&*store).await;
    let lock = rusqlite::Connection::open(place.file()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writes = (0..12).map(|at| {
        let (store, row) = (store.clone(), row("claude", None, "fs.read", after(at)));
        async move { store.record(record(row, version)).await }
    });
    let ended = tokio::time::timeout(Duration::from_secs(30), race(writes)).await;
    assert!(ended.unwrap().iter().all(Result::is_err));
    lock.execute_batch("ROLLBACK").unwrap();
    write(&*store, row("claude", None, "fs.read", START)).await;
    store.close().await;
}
