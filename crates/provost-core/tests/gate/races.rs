//! However many race, one wins.

use std::time::Duration;

use proptest::prelude::*;
use provost_core::{
    approval::Status,
    gate::{Decided, Resolution, Resolving},
    key::Role,
};
use serde_json::json;
use tokio::{sync::broadcast, time::timeout};

use crate::bench::{Bench, decider};

#[tokio::test]
async fn what_happens_before_the_pump_begins_is_told() {
    let bench = Bench::new().await;
    let asked = bench.ask_and_leave(bench.ask("l2.write", json!({}))).await;
    let (feed, mut heard) = broadcast::channel(64);
    let pump = tokio::spawn(bench.gate.clone().pump(feed));
    let told = timeout(Duration::from_secs(30), heard.recv()).await;
    let told = told.unwrap().unwrap();
    assert_eq!(told.event.about().unwrap().approval_id, asked.question.id);
    pump.abort();
}

async fn race(deciders: usize, callers: usize, approve_every: usize) {
    let bench = Bench::new().await;
    let waiting: Vec<_> = (0..callers)
        .map(|_| bench.start(bench.ask("l1.write", json!({}))))
        .collect();
    let id = bench.pending().await.question.id;
    let racing: Vec<_> = (0..deciders)
        .map(|n| {
            let (gate, id) = (bench.gate.clone(), id.clone());
            let role = if n % 2 == 0 {
                Role::Human
            } else {
                Role::Supervisor
            };
            let status = if n % approve_every == 0 {
                Status::Approved
            } else {
                Status::Denied
            };
            tokio::spawn(async move {
                let who = decider(&format!("d{n}"), role, &[]);
                gate.resolve(id.as_str(), &who, status, Resolution::default())
                    .await
                    .unwrap()
            })
        })
        .collect();
    let (mut winner, mut losers) = (None, Vec::new());
    for one in racing {
        match one.await.unwrap() {
            Resolving::Done(approval) => assert!(winner.replace(approval).is_none(), "two winners"),
            Resolving::Already(approval) => losers.push(approval),
            other => panic!("{other:?}"),
        }
    }
    let winner = winner.expect("one wins");
    assert_eq!(losers.len(), deciders - 1);
    assert!(
        losers
            .iter()
            .all(|seen| seen.state.decision == winner.state.decision),
        "losers see the winning decision"
    );

    // One permit: of the callers that shared the question at most one ran on it.
    let approved = winner.state.status == Status::Approved;
    if !approved || callers == 1 {
        for caller in waiting {
            let ran = matches!(caller.await.unwrap(), Decided::Ran(_));
            assert_eq!(ran, approved);
        }
        assert_eq!(bench.ran(), usize::from(approved));
    } else {
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        for caller in waiting {
            let _ = caller.await;
        }
        assert!(bench.ran() <= 1);
    }
    bench.verify().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn one_decider_wins_and_all_others_lose(deciders in 1..40_usize, callers in 1..4_usize, approve_every in 1..4_usize) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(race(deciders, callers, approve_every));
    }
}
