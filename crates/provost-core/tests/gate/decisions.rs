//! Allowed, denied, limited, repeated.

use provost_core::{
    approval::Status,
    door::Door,
    gate::{Decided, Settings, Wait},
    limits::LoopLimit,
    ports::ApprovalFilter,
    trace::Answer,
};
use serde_json::json;
use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use crate::bench::Bench;

#[tokio::test]
async fn an_allowed_call_runs_and_leaves_a_decision_and_an_outcome() {
    let bench = Bench::new().await;
    let decided = bench.run(bench.ask("allow.echo", json!({"a": 1}))).await;
    assert!(matches!(decided, Decided::Ran(_)), "{decided:?}");
    assert_eq!(bench.ran(), 1);
    bench.verify().await;
    let trace = &bench.traces().await[0];
    assert_eq!(trace["policy"], "allow");
    assert_eq!(trace["policy_rule"], "p:rule-1");
    assert_eq!(trace["outcome"], "done");
    assert_eq!(trace["status_code"], 200);
    assert_eq!(trace["params"], json!({"a": 1}));
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_says_why() {
    let bench = Bench::new().await;
    for (tool, rule) in [("deny.rm", "p:rule-2"), ("unknown", "default")] {
        let Decided::Refused(refusal) = bench.run(bench.ask(tool, json!({}))).await else {
            panic!("{tool}")
        };
        assert_eq!((refusal.answer, &*refusal.rule), (Answer::Deny, rule));
    }
    assert_eq!(bench.ran(), 0);
    assert_eq!(bench.traces().await.len(), 2);
}

#[tokio::test]
async fn the_same_call_again_and_again_is_a_loop() {
    let repeat = Some(LoopLimit {
        max: 2,
        window: Duration::from_secs(10),
    });
    let bench = Bench::with(Settings {
        repeat,
        ..Settings::default()
    })
    .await;
    for expected in [true, true, false] {
        let decided = bench.run(bench.ask("allow.echo", json!({}))).await;
        assert_eq!(matches!(decided, Decided::Ran(_)), expected, "{decided:?}");
    }
    let other = bench
        .run(bench.ask("allow.echo", json!({"other": true})))
        .await;
    assert!(matches!(other, Decided::Ran(_)));
}

#[tokio::test]
async fn p10_a_new_session_does_not_begin_a_loop_anew() {
    let repeat = Some(LoopLimit {
        max: 2,
        window: Duration::from_secs(10),
    });
    let bench = Bench::with(Settings {
        repeat,
        ..Settings::default()
    })
    .await;
    for (session, tool, expected) in [
        (Some("s1"), "allow.echo", true),
        (None, "allow.echo", true),
        (Some("s2"), "allow.echo", false),
        (None, "allow.echo", false),
        (Some("s3"), "allow.other", true),
    ] {
        let mut ask = bench.ask(tool, json!({"a": 1}));
        ask.call.session = session.map(Into::into);
        let decided = bench.run(ask).await;
        assert_eq!(matches!(decided, Decided::Ran(_)), expected, "{decided:?}");
    }
}

#[tokio::test]
async fn p10_a_new_description_does_not_begin_a_loop_anew() {
    let repeat = Some(LoopLimit {
        max: 2,
        window: Duration::from_secs(10),
    });
    let bench = Bench::with(Settings {
        repeat,
        ..Settings::default()
    })
    .await;
    for (tool, params, expected) in [
        ("claude.Bash", json!({"command": "ls"}), true),
        (
            "claude.Bash",
            json!({"command": "ls", "description": "a"}),
            true,
        ),
        (
            "claude.Bash",
            json!({"command": "ls", "description": "b"}),
            false,
        ),
        (
            "claude.Bash",
            json!({"command": "ls -l", "description": "b"}),
            true,
        ),
        // Nobody knows what another tool does with it.
        ("claude.Other", json!({"description": "a"}), true),
        ("claude.Other", json!({"description": "b"}), true),
        ("claude.Other", json!({"description": "c"}), true),
    ] {
        let ask = bench.ask(tool, params);
        let told = format!("{:?}", ask.call);
        let decided = bench.gate.walk(ask, None).await.unwrap();
        let permitted = matches!(decided, Decided::Permitted(_));
        assert_eq!(permitted, expected, "{told} {decided:?}");
    }
}

#[tokio::test]
async fn p10_only_so_many_callers_of_one_agent_wait() {
    let bench = Bench::with(Settings {
        max_waiting_per_agent: 3,
        ..Settings::default()
    })
    .await;
    let waiting: Vec<_> = (0..3)
        .map(|n| bench.start(bench.ask("l2.pay", json!({"n": n}))))
        .collect();
    until(&bench, |waiting| waiting >= 3).await;
    let refused = (3..20).map(|n| bench.start(bench.ask("l2.pay", json!({"n": n}))));
    for caller in refused.collect::<Vec<_>>() {
        let Decided::Refused(refusal) = caller.await.unwrap() else {
            panic!()
        };
        assert_eq!(refusal.answer, Answer::RateLimited);
        assert!(refusal.retry_after.is_some());
        assert!(refusal.reason.contains("max_waiting_per_agent"));
    }
    let mut other = bench.ask("l2.pay", json!({}));
    other.call.agent = "other".into();
    let other = bench.start(other);
    until(&bench, |waiting| waiting >= 4).await;
    bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    other.abort();
    until(&bench, |waiting| waiting == 3).await;
    // Whoever hangs up makes room.
    waiting[0].abort();
    until(&bench, |waiting| waiting == 2).await;
    let next = bench.start(bench.ask("l2.pay", json!({"n": 20})));
    until(&bench, |waiting| waiting == 3).await;
    next.abort();
}

async fn until(bench: &Bench, reached: impl Fn(usize) -> bool) {
    while !reached(bench.gate.waiting()) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn p10_only_so_many_questions_of_one_agent_are_left() {
    let bench = Bench::with(Settings {
        max_pending_per_agent: 3,
        ..Settings::default()
    })
    .await;
    let leave = |n: u64| {
        let mut ask = bench.ask("l2.pay", json!({"n": n}));
        ask.wait = Wait::AtMost(Duration::ZERO);
        ask
    };
    let mut left = Vec::new();
    for n in 0..3 {
        left.push(bench.ask_and_leave(leave(n)).await);
    }
    let Decided::Refused(refusal) = bench.run(leave(3)).await else {
        panic!()
    };
    assert_eq!(refusal.answer, Answer::RateLimited);
    assert!(refusal.reason.contains("max_pending_per_agent"));
    // The same questions again are none more, and others have their own.
    bench.ask_and_leave(leave(0)).await;
    let mut other = leave(3);
    other.call.agent = "other".into();
    bench.ask_and_leave(other).await;
    // Who hangs up leaves a question, too.
    let hung_up = bench.start(bench.ask("l2.pay", json!({"n": 4})));
    assert!(matches!(hung_up.await.unwrap(), Decided::Refused(_)));
    bench.approve(&left[0]).await;
    bench.ask_and_leave(leave(3)).await;
    assert!(matches!(bench.run(leave(5)).await, Decided::Refused(_)));
}

/// Callers that go while their question is on its way to the store.
#[tokio::test]
async fn p10_who_hangs_up_at_once_leaves_a_question_like_any_other() {
    let bench = Bench::with(Settings {
        max_pending_per_agent: 3,
        ..Settings::default()
    })
    .await;
    for n in 0..40 {
        let asked = bench.gate.walk(bench.ask("l2.pay", json!({"n": n})), None);
        hang_up_after(&bench, asked, 1 + n % 4).await;
    }
    // Written after all of theirs.
    let mut other = bench.ask("l2.pay", json!({}));
    other.call.agent = "other".into();
    bench.ask_and_leave(other).await;
    let filter = ApprovalFilter {
        agent: Some("bot".into()),
        status: Some(Status::Pending),
        limit: 100,
        ..ApprovalFilter::default()
    };
    let store = bench.gate.store();
    let pending = store.approvals(&filter, bench.gate.now()).await.unwrap();
    assert_eq!(pending.len(), 3);
}

/// Polls a caller so many times, each time when there is something to do, and drops it: at the latest when it
/// waits for a person.
async fn hang_up_after(bench: &Bench, caller: impl Future, polls: u64) {
    let mut caller = pin!(caller);
    let mut polled = 0;
    poll_fn(|context| {
        polled += 1;
        let is_done = caller.as_mut().poll(context).is_ready() || bench.gate.waiting() > 0;
        if is_done || polled == polls {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
}

#[tokio::test]
async fn asking_again_about_an_open_question_is_not_a_loop() {
    let repeat = Some(LoopLimit {
        max: 2,
        window: Duration::from_secs(10),
    });
    let bench = Bench::with(Settings {
        repeat,
        ..Settings::default()
    })
    .await;
    for _ in 0..5 {
        bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    }
}

#[tokio::test]
async fn an_idempotency_key_makes_two_requests_one_call() {
    let bench = Bench::new().await;
    let keyed = |params| {
        let mut ask = bench.ask("allow.echo", params);
        ask.idempotency_key = Some("key-1".into());
        ask
    };
    let Decided::Ran(first) = bench.run(keyed(json!({"a": 1}))).await else {
        panic!()
    };
    let Decided::Replayed(second) = bench.run(keyed(json!({"a": 1}))).await else {
        panic!()
    };
    assert_eq!(first.trace_id, second.trace_id);
    assert_eq!(
        serde_json::to_string(&*first).unwrap(),
        serde_json::to_string(&*second).unwrap()
    );
    assert!(matches!(
        bench.run(keyed(json!({"a": 2}))).await,
        Decided::KeyMismatch
    ));
    assert_eq!(bench.ran(), 1);
}

#[tokio::test]
async fn a_call_that_waits_with_a_key_and_is_repeated_runs_once() {
    let bench = Bench::new().await;
    let mut ask = bench.ask("l2.pay", json!({}));
    ask.idempotency_key = Some("key-1".into());
    let callers = [bench.start(ask.clone()), bench.start(ask.clone())];
    let approval = bench.pending().await;
    bench.approve(&approval).await;
    for caller in callers {
        let decided = caller.await.unwrap();
        assert!(
            matches!(
                decided,
                Decided::Ran(_) | Decided::Replayed(_) | Decided::KeyUnsettled { .. }
            ),
            "{decided:?}"
        );
    }
    ask.wait = Wait::AtMost(Duration::ZERO);
    assert!(matches!(bench.run(ask).await, Decided::Replayed(_)));
    assert_eq!(bench.ran(), 1);
}

#[tokio::test]
async fn a_decision_repeated_under_its_key_is_the_same_permission() {
    let bench = Bench::new().await;
    let keyed = || {
        let mut ask = bench.ask("allow.echo", json!({}));
        (ask.door, ask.idempotency_key) = (Door::Decide, Some("key-1".into()));
        ask
    };
    let Decided::Permitted(first) = bench.gate.decide(keyed()).await.unwrap() else {
        panic!()
    };
    let Decided::Replayed(again) = bench.gate.decide(keyed()).await.unwrap() else {
        panic!()
    };
    assert_eq!(&again.trace_id, first.trace_id());
    assert_eq!(bench.traces().await.len(), 1);
}

#[tokio::test]
async fn a_key_used_to_decide_does_not_stand_for_a_run() {
    let bench = Bench::new().await;
    let keyed = |door| {
        let mut ask = bench.ask("allow.echo", json!({}));
        (ask.door, ask.idempotency_key) = (door, Some("key-1".into()));
        ask
    };
    let decided = bench.gate.decide(keyed(Door::Decide)).await.unwrap();
    assert!(matches!(decided, Decided::Permitted(_)), "{decided:?}");
    let ran = bench.run(keyed(Door::Http)).await;
    assert!(matches!(ran, Decided::KeyMismatch), "{ran:?}");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn an_endless_wait_ends_with_the_question() {
    let bench = Bench::new().await;
    let mut ask = bench.ask("l2.pay", json!({}));
    ask.wait = Wait::AtMost(Duration::MAX);
    let caller = bench.start(ask);
    bench.pending().await;
    bench.clock.advance(Duration::from_mins(5));
    bench.gate.sweep().await.unwrap();
    assert!(matches!(caller.await.unwrap(), Decided::Refused(_)));
}
