//! Processes on PostgreSQL that come, fall silent, lose their connection and go.

use std::time::Duration;

use provost_core::ports::{Recorded, StoreError};

use crate::{
    making::*,
    place::Place,
    replicas::{done, two},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_process_has_a_chain_that_names_the_others() {
    let place = Place::postgres().await;
    let first = place.open().await;
    write(&*first, row("claude", None, "fs.read", START)).await;
    let before = first.chains().await.unwrap();
    let [ends] = &*before else {
        panic!("{before:?}")
    };
    let second = place.open().await;
    let chains = second.chains().await.unwrap();
    let new = chains
        .iter()
        .find(|chain| chain.chain != ends.chain)
        .expect("its own");
    let records = second.chain_records(&new.chain, 0, 1).await.unwrap();
    let note: serde_json::Value = serde_json::from_str(&records[0].as_ref().unwrap().body).unwrap();
    assert_eq!(note["note"], "chain opened");
    let head = &note["detail"]["heads"][0];
    assert_eq!(
        (&head["chain"], &head["head_seq"]),
        (&(*ends.chain).into(), &ends.head_seq.into())
    );
    assert_eq!(
        head["head_hash"],
        provost_core::trace::chain::text(&ends.head_hash)
    );
    done(place, [first, second]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_process_is_ended_and_writes_no_more() {
    let (place, stores) = two().await;
    let lost = forwarded("claude", START);
    write(&*stores[0], lost.clone()).await;
    assert_eq!(stores[1].recover(after(9)).await.unwrap(), 0, "it is alive");
    // As if it had been frozen for two minutes.
    let owner = "(SELECT owner FROM in_flight)";
    place
        .intrude(&format!(
            "UPDATE chains SET seen_at = seen_at - 120000 WHERE chain = {owner}"
        ))
        .await;
    assert_eq!(stores[1].recover(after(9)).await.unwrap(), 1);
    let trace = stores[1]
        .trace(lost.trace_id.as_str())
        .await
        .unwrap()
        .unwrap();
    assert!(trace.outcome.unwrap().contains("unknown"));

    let seen = version(&*stores[0]).await;
    for _ in 0..2 {
        let refused = stores[0]
            .record(record(row("claude", None, "fs.read", START), seen))
            .await;
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    }
    assert!(stores[0].ready().await.is_err());
    stores[1].ready().await.unwrap();
    done(place, stores).await;
}

/// Ends every connection of the stores.
const CUT_OFF: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_fails_closed_and_is_made_anew() {
    let (place, stores) = two().await;
    write(&*stores[0], row("claude", None, "fs.0", START)).await;
    place.intrude(CUT_OFF).await;
    let seen = 1;
    let mut failed = 0;
    let recovered = async {
        loop {
            match stores[0]
                .record(record(row("claude", None, "fs.1", START), seen))
                .await
            {
                Ok(recorded) => break assert_eq!(recorded, Recorded::Done),
                Err(_) => failed += 1,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), recovered)
        .await
        .expect("it comes back");
    // The pool may still hold connections that are gone; each fails once.
    let total = async {
        loop {
            if let Ok(total) = stores[0].total_calls("claude").await {
                break total;
            }
        }
    };
    let total = tokio::time::timeout(Duration::from_secs(20), total)
        .await
        .expect("it comes back");
    assert_eq!(total, 2, "after {failed} failures");
    done(place, stores).await;
}

/// What it knows of its own chain, it does not learn from the database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_a_chain_that_somebody_else_moved_on_is_not_continued() {
    let place = Place::postgres().await;
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.0", START)).await;
    let written = store.written_head();
    let forge = "UPDATE chains SET head_seq = head_seq + 1, head_hash = sha256(head_hash)";
    place.intrude(&format!("{forge}; {CUT_OFF}")).await;
    let refused = async {
        loop {
            let next = record(row("claude", None, "fs.1", START), 1);
            match store.record(next).await {
                Ok(recorded) => panic!("{recorded:?}"),
                Err(StoreError::Lost(_)) => break,
                Err(_) => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), refused)
        .await
        .expect("it is noticed");
    assert_eq!(store.written_head(), written);
    store.close().await;
    drop(store);
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_reaches_every_chain_while_all_write() {
    let (place, stores) = two().await;
    let seen = version(&*stores[0]).await;
    for n in 0..20 {
        write(
            &*stores[n % 2],
            row("claude", None, "fs.old", after(n as u64)),
        )
        .await;
    }
    place
        .intrude("UPDATE traces SET at = 0 WHERE kind = 'note'")
        .await;
    let writes = (0..200).map(|n| {
        let (store, row) = (
            stores[n % 2].clone(),
            row("claude", None, "fs.new", after(9000)),
        );
        async move {
            let pruned = if n == 50 || n == 51 {
                store.prune(after(1000), after(9000)).await.unwrap()
            } else {
                0
            };
            assert_eq!(
                store.record(record(row, seen)).await.unwrap(),
                Recorded::Done
            );
            pruned
        }
    });
    let pruned: u64 = race(writes).await.into_iter().sum();
    assert_eq!(
        pruned, 22,
        "twenty old decisions, and the notes that opened the chains"
    );
    let anchored = stores[0].chains().await.unwrap();
    assert!(
        anchored.iter().all(|ends| ends.anchor_seq > 0),
        "{anchored:?}"
    );
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_too_long_for_the_index_fails_alone() {
    let (place, stores) = two().await;
    let seen = version(&*stores[0]).await;
    let writes = (0..100).map(|n| {
        let store = stores[0].clone();
        let mut record = record(row("claude", None, "fs.read", START), seen);
        if n == 50 {
            let noise: Vec<String> = (0..1000)
                .map(|n: u64| key("claude", &n.to_string()).digest.to_string())
                .collect();
            record.key = Some(key("claude", &noise.concat()));
        }
        async move { (n == 50, store.record(record).await) }
    });
    for (is_bad, recorded) in race(writes).await {
        assert_eq!(recorded.is_err(), is_bad, "{recorded:?}");
    }
    assert_eq!(stores[0].total_calls("claude").await.unwrap(), 99);
    done(place, stores).await;
}

/// A table that takes no writes is no secret until the next call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p12_a_database_that_refuses_what_decisions_write_is_not_ready() {
    let place = Place::postgres().await;
    let store = place.open().await;
    let session = place.session().await;
    store.ready().await.unwrap();
    for table in ["traces", "approvals", "totals", "stops", "events"] {
        for mode in ["SHARE", "ACCESS EXCLUSIVE"] {
            let lock = format!("BEGIN; LOCK TABLE {table} IN {mode} MODE");
            session.batch_execute(&lock).await.unwrap();
            // Sooner than a write would give up.
            let asked = tokio::time::timeout(Duration::from_secs(4), store.ready());
            let ready = asked.await.expect("in time");
            assert!(ready.is_err(), "{table} {mode}");
            session.batch_execute("ROLLBACK").await.unwrap();
            store.ready().await.unwrap();
        }
    }
    write(&*store, row("claude", None, "fs.read", START)).await;
    store.ready().await.unwrap();
    let traces = session.query("SELECT 1 FROM traces WHERE seq < 1", &[]);
    assert!(traces.await.unwrap().is_empty(), "nothing stays of it");
    done(place, [store]).await;
}

/// Decisions that are written along with a probe have the time that they always have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p12_a_probe_that_fails_takes_no_decision_with_it() {
    let place = Place::postgres().await;
    let store = place.open().await;
    let session = place.session().await;
    let seen = version(&*store).await;
    let lock = "BEGIN; LOCK TABLE stops IN ACCESS EXCLUSIVE MODE";
    session.batch_execute(lock).await.unwrap();
    let decided = record(row("claude", None, "fs.read", START), seen);
    let (ready, recorded) = tokio::join!(store.ready(), store.record(decided));
    assert!(ready.is_err());
    assert!(matches!(recorded, Ok(Recorded::Done)), "{recorded:?}");
    session.batch_execute("ROLLBACK").await.unwrap();
    store.ready().await.unwrap();
    done(place, [store]).await;
}

/// What the probe does not foresee is known from the writes themselves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p12_a_database_that_failed_a_decision_is_not_ready_until_one_succeeds() {
    let place = Place::postgres().await;
    let store = place.open().await;
    place
        .intrude(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'not now'; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON totals FOR EACH ROW EXECUTE FUNCTION refuse()",
        )
        .await;
    store.ready().await.unwrap();
    let seen = version(&*store).await;
    let decided = || record(row("claude", None, "fs.read", START), seen);
    assert!(store.record(decided()).await.is_err());
    assert!(store.ready().await.is_err());
    place.intrude("DROP TRIGGER refuse ON totals").await;
    assert!(store.ready().await.is_err(), "nothing was written since");
    assert!(store.record(decided()).await.is_ok());
    store.ready().await.unwrap();
    done(place, [store]).await;
}
