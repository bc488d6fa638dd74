//! Several processes on one PostgreSQL, racing.

use std::{sync::Arc, time::Duration};

use provost_core::{
    approval::{Claim, Status},
    ports::{Claimed, Record, Recorded, Resolved, Store, Taken},
};

use crate::{making::*, place::Place};

pub(crate) async fn two() -> (Place, [Arc<dyn Store>; 2]) {
    let place = Place::postgres().await;
    // Together, so that they also race for the schema.
    let stores = tokio::join!(place.open(), place.open());
    (place, stores.into())
}

pub(crate) async fn done<const N: usize>(place: Place, stores: [Arc<dyn Store>; N]) {
    verify(&*stores[0]).await.unwrap();
    for store in stores {
        store.close().await;
    }
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_all_deciders_one_wins() {
    let (place, stores) = two().await;
    for round in 0..10 {
        let asked = ask(&*stores[round % 2], "fs.write", &round.to_string()).await;
        let deciders = (0..20).map(|n| {
            let resolve = answer(&asked, Status::Approved, &format!("human:{n}"), after(1));
            let store = stores[n % 2].clone();
            async move { store.resolve(resolve).await.unwrap() }
        });
        let resolved = race(deciders).await;
        let won = resolved.iter().find_map(|resolved| match resolved {
            Resolved::Won(approval) => Some(approval),
            _ => None,
        });
        let won = won.expect("one wins");
        let lost = |resolved: &&_| matches!(resolved, Resolved::Lost(approval) if approval == won);
        assert_eq!(resolved.iter().filter(lost).count(), 19, "{resolved:?}");
    }
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_opens_one_approval() {
    let (place, stores) = two().await;
    let seen = version(&*stores[0]).await;
    for round in 0..10 {
        let opens = (0..20).map(|n| {
            let new = question("fs.write", &round.to_string(), seen);
            let store = stores[n % 2].clone();
            async move { opened(store.open_approval(new, START).await.unwrap()) }
        });
        let approvals = race(opens).await;
        let first = &approvals[0].question;
        assert!(approvals.iter().all(|approval| approval.question == *first));
    }
    assert_eq!(stores[0].queue_depth().await.unwrap().pending, 10);
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_is_taken_and_claimed_once() {
    let (place, stores) = two().await;
    let asked = ask(&*stores[0], "fs.write", "a").await;
    let id = asked.question.id.clone();
    let claims = (0..20).map(|n| {
        let (store, id) = (stores[n % 2].clone(), id.clone());
        let claim = Claim {
            by: format!("bot-{n}"),
            until: after(30),
        };
        async move { store.claim(&id, claim, START).await.unwrap() }
    });
    let claimed = race(claims).await;
    assert_eq!(
        claimed
            .iter()
            .filter(|claimed| matches!(claimed, Claimed::Yes(_)))
            .count(),
        1
    );
    approve(&*stores[1], &asked).await;
    let seen = version(&*stores[0]).await;
    let takers = (0..20).map(|n| {
        let (store, id) = (stores[n % 2].clone(), id.clone());
        async move { store.take(&id, after(2), seen, None).await.unwrap() }
    });
    let taken = race(takers).await;
    assert_eq!(
        taken
            .iter()
            .filter(|taken| matches!(taken, Taken::Yes))
            .count(),
        1
    );
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grants_and_keys_are_shared() {
    let (place, stores) = two().await;
    let grants = [grant(Some(5)), grant(Some(5))];
    for grant in &grants {
        stores[0]
            .add_grant(grant.clone(), note("granted"))
            .await
            .unwrap();
    }
    let seen = version(&*stores[1]).await;
    let uses = (0..80).map(|n| {
        let store = stores[n % 2].clone();
        let record = Record {
            row: row("claude", Some("s1"), "fs.read", START),
            version: Some(seen),
            grant: Some(grants[n / 2 % 2].id.clone()),
            key: Some(key("claude", &(n / 4).to_string())),
            max_total: None,
        };
        async move { store.record(record).await.unwrap() }
    });
    let recorded = race(uses).await;
    let count = |what| {
        recorded
            .iter()
            .filter(|recorded| **recorded == what)
            .count()
    };
    assert_eq!(count(Recorded::Done), 10, "{recorded:?}");
    assert_eq!(count(Recorded::Stale), 0);
    let control = stores[0].control().await.unwrap();
    assert!(
        control.grants.iter().all(|grant| grant.uses == 5),
        "{control:?}"
    );
    assert_eq!(stores[1].total_calls("claude").await.unwrap(), 10);
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_control_holds_everywhere_at_once() {
    let (place, stores) = two().await;
    let seen = version(&*stores[1]).await;
    stores[0]
        .add_grant(grant(None), note("granted"))
        .await
        .unwrap();
    let late = record(row("claude", None, "fs.read", START), seen);
    assert_eq!(stores[1].record(late).await.unwrap(), Recorded::Stale);
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_control_waits_for_decisions_under_way() {
    let (place, stores) = two().await;
    write(&*stores[0], row("claude", None, "fs.read", START)).await;
    let seen = version(&*stores[0]).await;
    // A row that every decision of this agent writes at its end holds one up half-way.
    let session = place.session().await;
    let hold = "BEGIN; SELECT 1 FROM totals WHERE agent = 'claude' FOR UPDATE";
    session.batch_execute(hold).await.unwrap();
    let deciding = tokio::spawn({
        let store = stores[0].clone();
        async move {
            store
                .record(record(row("claude", None, "fs.read", START), seen))
                .await
        }
    });
    waiting(&session, 1).await;
    let granting = tokio::spawn({
        let store = stores[1].clone();
        async move { store.add_grant(grant(None), note("granted")).await }
    });
    waiting(&session, 2).await;
    assert!(!granting.is_finished() && !deciding.is_finished());
    session.batch_execute("COMMIT").await.unwrap();
    assert_eq!(deciding.await.unwrap().unwrap(), Recorded::Done);
    granting.await.unwrap().unwrap();
    done(place, stores).await;
}

/// Returns once so many sessions wait for a lock.
async fn waiting(session: &tokio_postgres::Client, sessions: i64) {
    let count = "SELECT count(*) FROM pg_stat_activity \
         WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let looking = async {
        while session
            .query_one(count, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            < sessions
        {}
    };
    tokio::time::timeout(Duration::from_secs(5), looking)
        .await
        .expect("they wait");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_wake_one_another() {
    let (place, stores) = two().await;
    let mut wake = stores[1].wake();
    let waiter = tokio::spawn({
        let store = stores[1].clone();
        async move {
            while store.last_event().await.unwrap() == 0 {
                wake.recv().await.unwrap();
            }
        }
    });
    ask(&*stores[0], "fs.write", "a").await;
    tokio::time::timeout(Duration::from_secs(10), waiter)
        .await
        .expect("it wakes")
        .unwrap();
    done(place, stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_all_replicas_have_no_gaps() {
    let (place, stores) = two().await;
    let seen = version(&*stores[0]).await;
    let asks = (0..60).map(|n| {
        let store = stores[n % 2].clone();
        async move {
            let new = question("fs.write", &n.to_string(), seen);
            let asked = opened(store.open_approval(new, START).await.unwrap());
            approve(&*store, &asked).await;
        }
    });
    // A reader that follows the feed never meets a gap, not even for a moment.
    let reader = tokio::spawn({
        let store = stores[1].clone();
        async move {
            let mut last = 0;
            while last < 120 {
                for event in store.events(last, 50).await.unwrap() {
                    assert_eq!(event.id, last + 1);
                    last = event.id;
                }
            }
        }
    });
    race(asks).await;
    tokio::time::timeout(Duration::from_secs(30), reader)
        .await
        .expect("it ends")
        .unwrap();
    done(place, stores).await;
}
