//! Grants and stops.

use std::time::Duration;

use proptest::prelude::*;
use provost_core::{
    control::Scope,
    gate::{Decided, NewGrant},
    glob::Glob,
    key::{Key, KeyHash, Role},
    policy::PolicySet,
    trace::Answer,
};
use serde_json::json;

use crate::bench::Bench;

pub(crate) fn grant(tools: &str) -> NewGrant {
    NewGrant {
        agent: Glob::new("*").unwrap(),
        tools: Glob::new(tools).unwrap(),
        session_id: None,
        when: None,
        duration: Duration::from_mins(10),
        max_uses: None,
        reasoning: None,
    }
}

#[tokio::test]
async fn a_grant_answers_what_would_be_asked_until_it_ends() {
    let bench = Bench::new().await;
    let granted = bench.gate.grant(grant("l2.*"), "admin:root").await.unwrap();
    assert!(matches!(
        bench.run(bench.ask("l2.pay", json!({}))).await,
        Decided::Ran(_)
    ));
    assert_eq!(bench.traces().await[0]["grant_id"], json!(granted.grant.id));
    bench.clock.advance(Duration::from_mins(10));
    bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    bench.verify().await;
}

#[tokio::test]
async fn defect_08_grants_look_at_arguments_and_count_their_uses() {
    let bench = Bench::new().await;
    let new = NewGrant {
        when: Some("params.amount < 10".into()),
        max_uses: Some(2),
        ..grant("l2.*")
    };
    bench.gate.grant(new, "admin:root").await.unwrap();
    bench
        .ask_and_leave(bench.ask("l2.pay", json!({"amount": 10})))
        .await;
    for expected in [true, true, false] {
        let mut ask = bench.ask("l2.pay", json!({"amount": 9}));
        ask.wait = provost_core::gate::Wait::AtMost(Duration::ZERO);
        assert_eq!(matches!(bench.run(ask).await, Decided::Ran(_)), expected);
    }
    assert_eq!(bench.ran(), 2);
}

#[tokio::test]
async fn a_revoked_grant_permits_nothing() {
    let bench = Bench::new().await;
    let granted = bench.gate.grant(grant("l2.*"), "admin:root").await.unwrap();
    assert!(
        bench
            .gate
            .revoke(&granted.grant.id, "admin:root")
            .await
            .unwrap()
    );
    assert!(
        !bench
            .gate
            .revoke(&granted.grant.id, "admin:root")
            .await
            .unwrap()
    );
    bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
}

#[tokio::test]
async fn a_new_grant_releases_what_is_pending_and_matches() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    bench.pending().await;
    let other = bench.ask_and_leave(bench.ask("l1.write", json!({}))).await;
    let granted = bench.gate.grant(grant("l2.*"), "admin:root").await.unwrap();
    assert_eq!(granted.released, 1);
    assert!(matches!(caller.await.unwrap(), Decided::Ran(_)));
    assert_eq!(bench.pending().await.question.id, other.question.id);
    let by = json!(format!("grant:{}", granted.grant.id));
    assert!(
        bench
            .traces()
            .await
            .iter()
            .any(|trace| trace.get("approved_by") == Some(&by))
    );
}

#[tokio::test]
async fn what_waits_goes_with_the_key_that_asked() {
    let bench = Bench::new().await;
    let key = Key {
        name: "bot".into(),
        role: Role::Agent,
        tools: Vec::new(),
        person: None,
        hash: KeyHash::of("secret"),
        created_at: bench.gate.now(),
    };
    assert!(bench.gate.add_key(key, "admin:root").await.unwrap());
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    bench.pending().await;
    assert!(bench.gate.remove_key("bot", "admin:root").await.unwrap());
    let Decided::Refused(refusal) = caller.await.unwrap() else {
        panic!()
    };
    assert_eq!(
        (refusal.answer, &*refusal.reason),
        (
            Answer::Deny,
            "denied by key:admin:root: the key of bot was removed"
        )
    );
}

#[tokio::test]
async fn what_waits_goes_with_its_session() {
    let bench = Bench::new().await;
    let mut ask = bench.ask("l2.pay", json!({}));
    ask.call.session = Some("ours".into());
    let caller = bench.start(ask);
    bench.pending().await;
    for (agent, session, withdrawn) in [
        ("bot", "another", 0),
        ("else", "ours", 0),
        ("bot", "ours", 1),
    ] {
        let ended = bench.gate.session_ended(agent, session, "run:1").await;
        assert_eq!(ended.unwrap(), withdrawn, "{agent} {session}");
    }
    let Decided::Refused(refusal) = caller.await.unwrap() else {
        panic!()
    };
    assert_eq!(&*refusal.reason, "denied by run:1: the session has ended");
}

#[tokio::test]
async fn a_stop_denies_what_waits_suspends_grants_and_can_be_lifted() {
    let bench = Bench::new().await;
    bench.gate.grant(grant("l1.*"), "admin:root").await.unwrap();
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    bench.pending().await;
    let denied = bench
        .gate
        .stop(
            Scope::Agent("bot".into()),
            "admin:root",
            Some("lunch".into()),
        )
        .await
        .unwrap();
    assert_eq!(denied, 1);
    let Decided::Refused(refusal) = caller.await.unwrap() else {
        panic!()
    };
    assert_eq!(
        (refusal.answer, &*refusal.reason),
        (Answer::Deny, "denied by stop:admin:root: lunch")
    );
    for tool in ["allow.echo", "l1.write", "l2.pay"] {
        let Decided::Refused(refusal) = bench.run(bench.ask(tool, json!({}))).await else {
            panic!("{tool}")
        };
        assert_eq!(refusal.answer, Answer::Stopped);
    }
    let mut other = bench.ask("allow.echo", json!({}));
    other.call.agent = "other".into();
    assert!(matches!(bench.run(other).await, Decided::Ran(_)));
    assert!(
        bench
            .gate
            .resume(&Scope::Agent("bot".into()), "admin:root")
            .await
            .unwrap()
    );
    assert!(
        !bench
            .gate
            .resume(&Scope::Agent("bot".into()), "admin:root")
            .await
            .unwrap()
    );
    assert!(matches!(
        bench.run(bench.ask("l1.write", json!({}))).await,
        Decided::Ran(_)
    ));
    bench.verify().await;
}

#[tokio::test]
async fn p17_a_stop_by_a_glob_denies_and_refuses_every_agent_it_matches() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    bench.pending().await;
    let scope = Scope::Agent("b*".into());
    let root = "admin:root";
    assert_eq!(bench.gate.stop(scope.clone(), root, None).await.unwrap(), 1);
    assert!(matches!(caller.await.unwrap(), Decided::Refused(_)));
    let Decided::Refused(refusal) = bench.run(bench.ask("allow.echo", json!({}))).await else {
        panic!()
    };
    assert_eq!(refusal.answer, Answer::Stopped);
    let mut other = bench.ask("allow.echo", json!({}));
    other.call.agent = "other".into();
    assert!(matches!(bench.run(other).await, Decided::Ran(_)));
    assert!(bench.gate.resume(&scope, root).await.unwrap());
    let after = bench.run(bench.ask("allow.echo", json!({}))).await;
    assert!(matches!(after, Decided::Ran(_)));
}

#[tokio::test]
async fn what_a_grant_released_goes_with_the_grant() {
    let bench = Bench::new().await;
    let asked = bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    let granted = bench.gate.grant(grant("l2.*"), "admin:root").await.unwrap();
    assert_eq!(granted.released, 1);
    bench
        .gate
        .revoke(&granted.grant.id, "admin:root")
        .await
        .unwrap();
    let again = bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    assert_ne!(again.question.id, asked.question.id, "it is asked anew");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn a_policy_that_now_denies_beats_an_approval() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    let waiting = bench.pending().await;
    let left = bench
        .ask_and_leave(bench.ask("l2.pay", json!({"other": 1})))
        .await;
    bench.approve(&left).await;
    bench
        .gate
        .replace_policy(PolicySet::compile(Vec::new()).unwrap());
    bench.approve(&waiting).await;
    let Decided::Refused(refusal) = caller.await.unwrap() else {
        panic!()
    };
    assert_eq!((refusal.answer, &*refusal.rule), (Answer::Deny, "default"));
    let retried = bench.run(bench.ask("l2.pay", json!({"other": 1}))).await;
    assert!(matches!(retried, Decided::Refused(_)), "{retried:?}");
    assert_eq!(bench.ran(), 0);
    bench.verify().await;
}

#[tokio::test]
async fn a_new_policy_denies_what_waits_and_is_forbidden_now() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    bench.pending().await;
    bench
        .gate
        .replace_policy(PolicySet::compile(Vec::new()).unwrap());
    assert_eq!(bench.gate.deny_forbidden().await.unwrap(), 1);
    assert!(matches!(caller.await.unwrap(), Decided::Refused(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_deny_is_never_overridden_by_a_grant(agent in "[*b][*o]?", tools in prop::sample::select(vec!["*", "deny.*", "deny.rm", "d*"]), when in prop::option::of(Just("true".to_owned()))) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new().await;
            let new = NewGrant { agent: Glob::new(&agent).unwrap(), when, ..grant(tools) };
            bench.gate.grant(new, "admin:root").await.unwrap();
            let decided = bench.run(bench.ask("deny.rm", json!({}))).await;
            assert!(matches!(decided, Decided::Refused(_)), "{decided:?}");
            assert_eq!(bench.ran(), 0);
        });
    }
}
