//! However many race, one wins.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use provost_core::{
    approval::{Approval, Status},
    control::Scope,
    gate::{Decided, Gate, Resolution, Resolving, Wait},
    ids::GrantId,
    key::Role,
    menu::Code,
};
use serde_json::json;
use tokio::{sync::broadcast, time::timeout};

use crate::{
    bench::{Bench, decider},
    control::grant,
};

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

/// Approves it, and has the choice remembered; the grant that it made.
async fn remember(gate: &Gate, asked: &Approval) -> GrantId {
    let resolution = Resolution {
        code: Some(Code::Always),
        ..Resolution::default()
    };
    let (id, ada) = (asked.question.id.as_str(), decider("ada", Role::Human, &[]));
    match gate.resolve(id, &ada, Status::Approved, resolution).await {
        Ok(Resolving::Done(approval)) => {
            let decision = approval.state.decision.expect("it is decided");
            decision.made_grant.expect("it is remembered")
        }
        other => panic!("{other:?}"),
    }
}

/// Who ran on which approval.
fn ran_on(decided: Decided) -> Option<String> {
    match decided {
        Decided::Ran(executed) => executed.approval_id.map(|id| id.to_string()),
        other => panic!("{other:?}"),
    }
}

/// The caller waits at `waits_at`, the person decides at `decides_at`; control changes all the time.
async fn approve_and_revoke(bench: &Bench, waits_at: &Arc<Gate>, decides_at: &Arc<Gate>, n: usize) {
    let ask = || bench.ask("l2.write", json!({"n": n}));
    let (gate, backend, call) = (waits_at.clone(), bench.backend.clone(), ask());
    let caller = tokio::spawn(async move { gate.walk(call, Some(backend)).await.unwrap() });
    let asked = bench.pending().await;
    let (noise, scope) = (bench.gate.clone(), Scope::Agent((*format!("x{n}")).into()));
    let noise = tokio::spawn(async move { noise.stop(scope, "admin:root", None).await.unwrap() });
    let grant = remember(decides_at, &asked).await;
    let id = asked.question.id.to_string();
    assert_eq!(ran_on(caller.await.unwrap()), Some(id), "round {n}");
    noise.await.unwrap();
    let state = bench.approval(&asked.question.id).await.state;
    assert!(state.answered_at.is_some(), "round {n}: {state:?}");
    assert!(decides_at.revoke(&grant, "admin:root").await.unwrap());
    let again = bench.ask_and_leave(ask()).await;
    assert_ne!(again.question.id, asked.question.id);
    bench.deny(&again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p05_who_waited_takes_the_approval_and_not_the_grant_that_it_made() {
    let bench = Bench::new().await;
    let replica = bench.replica().await;
    for n in 0..60 {
        let (waits_at, decides_at) = match n % 3 {
            0 => (&bench.gate, &bench.gate),
            1 => (&bench.gate, &replica),
            _ => (&replica, &bench.gate),
        };
        approve_and_revoke(&bench, waits_at, decides_at, n).await;
    }
    assert_eq!(bench.ran(), 60);
    bench.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p05_who_comes_back_later_takes_the_approval_first_and_then_the_grant() {
    let bench = Bench::new().await;
    let replica = bench.replica().await;
    for (n, comes_to) in [&bench.gate, &replica].into_iter().enumerate() {
        let ask = || bench.ask("l2.write", json!({"n": n}));
        let asked = bench.ask_and_leave(ask()).await;
        let grant = remember(&bench.gate, &asked).await;
        for expected in [Some(asked.question.id.to_string()), None] {
            let walk = comes_to.walk(ask(), Some(bench.backend.clone()));
            assert_eq!(ran_on(walk.await.unwrap()), expected);
        }
        assert!(bench.gate.revoke(&grant, "admin:root").await.unwrap());
        bench.deny(&bench.ask_and_leave(ask()).await).await;
    }
    assert_eq!(bench.ran(), 4);
    bench.verify().await;
}

#[tokio::test]
async fn p05_a_yes_for_once_is_used_up_although_a_grant_came_after_it() {
    let bench = Bench::new().await;
    let ask = || bench.ask("l2.write", json!({}));
    let asked = bench.ask_and_leave(ask()).await;
    bench.approve(&asked).await;
    let granted = bench.gate.grant(grant("l2.*"), "admin:root").await.unwrap();
    let id = asked.question.id.to_string();
    assert_eq!(ran_on(bench.run(ask()).await), Some(id));
    let revoked = bench.gate.revoke(&granted.grant.id, "admin:root").await;
    assert!(revoked.unwrap());
    bench.ask_and_leave(ask()).await;
    assert_eq!(bench.ran(), 1);
}

#[tokio::test]
async fn p05_a_yes_for_once_is_used_up_although_an_old_grant_began_to_permit_the_call_after_it() {
    for clock in ["now", "NOW()"] {
        let bench = Bench::new().await;
        let ask = || bench.ask("l2.write", json!({}));
        let mut later = grant("l2.*");
        later.duration = Duration::from_hours(1);
        later.when = Some(format!("{clock} > '2026-04-10T14:59:30Z'"));
        let granted = bench.gate.grant(later, "admin:root").await.unwrap();
        bench.clock.advance(Duration::from_mins(29));
        let asked = bench.ask_and_leave(ask()).await;
        bench.approve(&asked).await;
        bench.clock.advance(Duration::from_mins(1));
        let id = asked.question.id.to_string();
        assert_eq!(ran_on(bench.run(ask()).await), Some(id), "{clock}");
        assert_eq!(ran_on(bench.run(ask()).await), None, "{clock}");
        let revoked = bench.gate.revoke(&granted.grant.id, "admin:root").await;
        assert!(revoked.unwrap());
        bench.ask_and_leave(ask()).await;
        assert_eq!(bench.ran(), 2);
    }
}

#[tokio::test]
async fn p05_revoking_the_grant_takes_back_the_yes_that_nobody_collected() {
    let bench = Bench::new().await;
    let ask = || bench.ask("l2.write", json!({}));
    let asked = bench.ask_and_leave(ask()).await;
    let grant = remember(&bench.gate, &asked).await;
    assert!(bench.gate.revoke(&grant, "admin:root").await.unwrap());
    let again = bench.ask_and_leave(ask()).await;
    assert_ne!(again.question.id, asked.question.id, "it is asked anew");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p05_a_stop_and_a_remembered_yes_race_and_the_stop_holds() {
    let bench = Bench::new().await;
    for n in 0..30 {
        let mut ask = bench.ask("l2.write", json!({"n": n}));
        let agent = format!("bot{n}");
        ask.call.agent = agent.as_str().into();
        let mut later = ask.clone();
        later.wait = Wait::AtMost(Duration::ZERO);
        let caller = bench.start(ask);
        let asked = bench.pending().await;
        let gate = bench.gate.clone();
        let stop = tokio::spawn(async move {
            let scope = Scope::Agent((*agent).into());
            gate.stop(scope, "admin:root", None).await.unwrap()
        });
        let resolution = Resolution {
            code: Some(Code::Always),
            ..Resolution::default()
        };
        let (id, ada) = (asked.question.id.as_str(), decider("ada", Role::Human, &[]));
        let resolving = bench
            .gate
            .resolve(id, &ada, Status::Approved, resolution)
            .await;
        assert!(
            matches!(resolving, Ok(Resolving::Done(_) | Resolving::Already(_))),
            "{resolving:?}"
        );
        stop.await.unwrap();
        caller.await.unwrap();
        let before = bench.ran();
        let refused = bench.run(later).await;
        assert!(matches!(refused, Decided::Refused(_)), "{refused:?}");
        assert_eq!(bench.ran(), before, "nothing runs after the stop");
    }
    bench.verify().await;
}
