//! A yes that is asked for again under its idempotency key, by an agent that executes its calls itself.

use std::{sync::Arc, time::Duration};

use provost_core::{
    approval::Status,
    control::Scope,
    door::Door,
    gate::{Ask, Decided, End, Executed, NewGrant, Resolution, Wait},
    glob::Glob,
    ids::TraceId,
    policy::{Policy, PolicySet},
    trace::Answer,
};
use serde_json::{Map, Value, json};

use crate::bench::{Bench, human};

const MINUTE: Duration = Duration::from_mins(1);
/// A millisecond less.
const ALMOST: Duration = Duration::from_millis(59_999);

fn keyed(bench: &Bench, tool: &str) -> Ask {
    let mut ask = bench.ask(tool, json!({"a": 1}));
    (ask.door, ask.idempotency_key) = (Door::Decide, Some("key-1".into()));
    ask.wait = Wait::AtMost(Duration::ZERO);
    ask
}

async fn decide(bench: &Bench, ask: Ask) -> Decided {
    bench.gate.decide(ask).await.unwrap()
}

async fn permitted(bench: &Bench, ask: Ask) -> TraceId {
    match decide(bench, ask).await {
        Decided::Permitted(permit) => permit.trace_id().clone(),
        other => panic!("not permitted: {other:?}"),
    }
}

async fn replayed(bench: &Bench, ask: Ask) -> Box<Executed> {
    match decide(bench, ask).await {
        Decided::Replayed(executed) => executed,
        other => panic!("not replayed: {other:?}"),
    }
}

async fn refused(bench: &Bench, ask: Ask, why: Answer) {
    match decide(bench, ask).await {
        Decided::Refused(refusal) => assert_eq!(refusal.answer, why),
        other => panic!("not refused: {other:?}"),
    }
}

async fn waits(bench: &Bench, ask: Ask) -> provost_core::approval::Approval {
    match decide(bench, ask).await {
        Decided::Waiting(approval) => *approval,
        other => panic!("not waiting: {other:?}"),
    }
}

/// A call that a person approved and the agent has taken.
async fn approved(bench: &Bench) -> TraceId {
    let approval = waits(bench, keyed(bench, "l2.pay")).await;
    bench.approve(&approval).await;
    permitted(bench, keyed(bench, "l2.pay")).await
}

fn rules(rules: Value) -> PolicySet {
    PolicySet::compile(vec![Policy {
        name: "p".into(),
        agent: "*".into(),
        rate_limit: None,
        rules: serde_json::from_value(rules).unwrap(),
    }])
    .unwrap()
}

fn every(action: &str) -> PolicySet {
    rules(json!([{"tools": ["*"], "action": action}]))
}

fn grant(max_uses: Option<u64>, duration: Duration) -> NewGrant {
    NewGrant {
        agent: Glob::new("*").unwrap(),
        tools: Glob::new("l2.*").unwrap(),
        session_id: None,
        when: None,
        duration,
        max_uses,
        reasoning: None,
    }
}

#[tokio::test]
async fn p03_a_yes_is_repeated_for_a_minute_and_then_decided_anew() {
    let bench = Bench::new().await;
    let ask = || keyed(&bench, "allow.echo");
    let first = permitted(&bench, ask()).await;
    bench.clock.advance(ALMOST);
    assert_eq!(replayed(&bench, ask()).await.trace_id, first);
    assert_eq!(bench.traces().await.len(), 1);

    bench.clock.advance(Duration::from_millis(1));
    let second = permitted(&bench, ask()).await;
    assert_ne!(second, first);
    assert_eq!(bench.traces().await.len(), 2, "the new one is recorded");
    bench.clock.advance(ALMOST);
    assert_eq!(replayed(&bench, ask()).await.trace_id, second);

    let mut other = ask();
    other.call.params = Map::new();
    assert!(matches!(
        decide(&bench, other.clone()).await,
        Decided::KeyMismatch
    ));
    bench.clock.advance(MINUTE * 10);
    assert!(matches!(decide(&bench, other).await, Decided::KeyMismatch));
    bench.verify().await;
}

#[tokio::test]
async fn p03_a_call_that_fits_its_tool_no_more_ends_a_yes_under_its_key() {
    let bench = Bench::new().await;
    permitted(&bench, keyed(&bench, "allow.echo")).await;
    let mut again = keyed(&bench, "allow.echo");
    again.misfit = Some("at `/a`: want string, but got number".into());
    refused(&bench, again, Answer::Invalid).await;
    bench.verify().await;
}

#[tokio::test]
async fn p03_a_stop_ends_a_yes_under_its_key() {
    for scope in [
        Scope::Everything,
        Scope::Agent("bot".into()),
        Scope::Session("s1".into()),
    ] {
        let bench = Bench::new().await;
        let ask = || {
            let mut ask = keyed(&bench, "allow.echo");
            ask.call.session = Some("s1".into());
            ask
        };
        let first = permitted(&bench, ask()).await;
        let root = "admin:root";
        bench.gate.stop(scope.clone(), root, None).await.unwrap();
        refused(&bench, ask(), Answer::Stopped).await;
        bench.gate.resume(&scope, root).await.unwrap();
        assert_eq!(replayed(&bench, ask()).await.trace_id, first, "{scope}");
    }
}

#[tokio::test]
async fn p03_a_new_policy_ends_a_yes_under_its_key() {
    let bench = Bench::new().await;
    let ask = || keyed(&bench, "allow.echo");
    let first = permitted(&bench, ask()).await;
    bench.gate.replace_policy(every("deny"));
    refused(&bench, ask(), Answer::Deny).await;

    bench.gate.replace_policy(every("human_approval"));
    let approval = waits(&bench, ask()).await;
    bench.approve(&approval).await;
    let second = permitted(&bench, ask()).await;
    assert_ne!(second, first);
    assert_eq!(replayed(&bench, ask()).await.trace_id, second);
    bench.verify().await;
}

#[tokio::test]
async fn p03_an_approval_is_used_once_however_often_its_key_comes() {
    let bench = Bench::new().await;
    let first = approved(&bench).await;
    for _ in 0..3 {
        let again = replayed(&bench, keyed(&bench, "l2.pay")).await;
        assert_eq!(again.trace_id, first);
    }
    bench.clock.advance(MINUTE);
    let asked_anew = waits(&bench, keyed(&bench, "l2.pay")).await;
    assert_ne!(asked_anew.question.trace_id, first);
}

/// People may take their time: the minute begins when the agent was told.
#[tokio::test]
async fn p03_the_minute_begins_with_the_answer() {
    let bench = Bench::new().await;
    let mut ask = keyed(&bench, "l2.pay");
    ask.wait = Wait::UntilDecided;
    let (gate, asked) = (bench.gate.clone(), ask.clone());
    let caller = tokio::spawn(async move { gate.decide(asked).await.unwrap() });
    let approval = bench.pending().await;
    bench.clock.advance(MINUTE * 3);
    bench.approve(&approval).await;
    let Decided::Permitted(permit) = caller.await.unwrap() else {
        panic!()
    };
    bench.clock.advance(ALMOST);
    assert_eq!(&replayed(&bench, ask).await.trace_id, permit.trace_id());
}

#[tokio::test]
async fn p03_an_approval_answers_no_stricter_policy() {
    let bench = Bench::new().await;
    let approval = waits(&bench, keyed(&bench, "l1.look")).await;
    bench.approve(&approval).await;
    let first = permitted(&bench, keyed(&bench, "l1.look")).await;
    assert_eq!(
        replayed(&bench, keyed(&bench, "l1.look")).await.trace_id,
        first
    );
    bench.gate.replace_policy(every("human_approval"));
    waits(&bench, keyed(&bench, "l1.look")).await;
    bench.gate.replace_policy(every("allow"));
    assert_eq!(
        replayed(&bench, keyed(&bench, "l1.look")).await.trace_id,
        first
    );
}

#[tokio::test]
async fn p03_changed_arguments_are_held_against_policy_again() {
    let bench = Bench::new().await;
    let approval = waits(&bench, keyed(&bench, "l2.pay")).await;
    let resolution = Resolution {
        arguments: Some(Map::from_iter([("a".to_owned(), json!(2))])),
        ..Resolution::default()
    };
    let id = approval.question.id.as_str();
    bench
        .gate
        .resolve(id, &human(), Status::Approved, resolution)
        .await
        .unwrap();
    permitted(&bench, keyed(&bench, "l2.pay")).await;
    let again = replayed(&bench, keyed(&bench, "l2.pay")).await;
    let End::Permitted { arguments, .. } = &again.end else {
        panic!()
    };
    assert_eq!(arguments.as_ref().unwrap()["a"], 2);
    bench.gate.replace_policy(rules(json!([
        {"tools": ["*"], "when": "params.a == 2", "action": "deny"},
        {"tools": ["*"], "action": "human_approval"},
    ])));
    let asked = waits(&bench, keyed(&bench, "l2.pay")).await;
    assert_ne!(asked.question.id, approval.question.id);
}

/// What runs are the changed arguments, but what the key stands for is the call as it was asked.
#[tokio::test]
async fn p03_a_deny_of_what_was_asked_ends_an_edited_yes() {
    let bench = Bench::new().await;
    let approval = waits(&bench, keyed(&bench, "l2.pay")).await;
    let resolution = Resolution {
        arguments: Some(Map::from_iter([("a".to_owned(), json!(2))])),
        ..Resolution::default()
    };
    let (id, alice) = (approval.question.id.as_str(), human());
    let resolved = bench
        .gate
        .resolve(id, &alice, Status::Approved, resolution)
        .await;
    resolved.unwrap();
    permitted(&bench, keyed(&bench, "l2.pay")).await;
    replayed(&bench, keyed(&bench, "l2.pay")).await;
    bench.gate.replace_policy(rules(json!([
        {"tools": ["*"], "when": "params.a == 1", "action": "deny"},
        {"tools": ["*"], "action": "allow"},
    ])));
    refused(&bench, keyed(&bench, "l2.pay"), Answer::Deny).await;
}

#[tokio::test]
async fn p03_a_yes_of_a_grant_goes_with_the_grant() {
    let root = "admin:root";
    let bench = Bench::new().await;
    let ask = || keyed(&bench, "l2.pay");
    let granted = bench.gate.grant(grant(Some(1), MINUTE * 9), root).await;
    let first = permitted(&bench, ask()).await;
    assert_eq!(
        replayed(&bench, ask()).await.trace_id,
        first,
        "the one use was this one"
    );
    let id = granted.unwrap().grant.id;
    bench.gate.revoke(&id, root).await.unwrap();
    waits(&bench, ask()).await;

    let bench = Bench::new().await;
    let ask = || keyed(&bench, "l2.pay");
    let short = grant(None, Duration::from_secs(30));
    bench.gate.grant(short, root).await.unwrap();
    permitted(&bench, ask()).await;
    bench.clock.advance(Duration::from_secs(29));
    replayed(&bench, ask()).await;
    bench.clock.advance(Duration::from_secs(1));
    waits(&bench, ask()).await;
}

#[tokio::test]
async fn p03_another_grant_is_another_decision_and_a_use_of_that_one() {
    let bench = Bench::new().await;
    let ask = || keyed(&bench, "l2.pay");
    let short = grant(None, Duration::from_secs(30));
    bench.gate.grant(short, "admin:root").await.unwrap();
    let first = permitted(&bench, ask()).await;
    bench.clock.advance(Duration::from_secs(30));
    let longer = grant(None, MINUTE);
    bench.gate.grant(longer, "admin:root").await.unwrap();
    assert_ne!(permitted(&bench, ask()).await, first);
    let grants = bench.gate.store().control().await.unwrap().grants;
    assert_eq!(grants.last().unwrap().uses, 1);
}

#[tokio::test]
async fn p03_what_a_grant_released_goes_with_the_grant() {
    let bench = Bench::new().await;
    let ask = || keyed(&bench, "l2.pay");
    waits(&bench, ask()).await;
    let new = grant(None, MINUTE * 9);
    let granted = bench.gate.grant(new, "admin:root").await.unwrap();
    assert_eq!(granted.released, 1);
    permitted(&bench, ask()).await;
    replayed(&bench, ask()).await;
    let id = granted.grant.id;
    bench.gate.revoke(&id, "admin:root").await.unwrap();
    waits(&bench, ask()).await;
}

#[tokio::test]
async fn p03_a_key_is_one_agents_and_one_sessions() {
    let bench = Bench::new().await;
    let first = permitted(&bench, keyed(&bench, "allow.echo")).await;
    let mut other_agent = keyed(&bench, "allow.echo");
    other_agent.call.agent = "other".into();
    assert_ne!(permitted(&bench, other_agent).await, first);
    let mut other_session = keyed(&bench, "allow.echo");
    other_session.call.session = Some("s2".into());
    for _ in 0..2 {
        let decided = decide(&bench, other_session.clone()).await;
        assert!(matches!(decided, Decided::KeyMismatch), "{decided:?}");
        bench.clock.advance(MINUTE * 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn p03_callers_with_one_key_at_once_get_one_decision() {
    let bench = Arc::new(Bench::new().await);
    let new = grant(Some(2), MINUTE * 9);
    bench.gate.grant(new, "admin:root").await.unwrap();
    for round in 1..=2 {
        let callers: Vec<_> = (0..16)
            .map(|_| {
                let (gate, ask) = (bench.gate.clone(), keyed(&bench, "l2.pay"));
                tokio::spawn(async move { gate.decide(ask).await.unwrap() })
            })
            .collect();
        let (mut made, mut ids) = (0, std::collections::HashSet::new());
        for caller in callers {
            ids.insert(match caller.await.unwrap() {
                Decided::Permitted(permit) => {
                    made += 1;
                    permit.trace_id().clone()
                }
                Decided::Replayed(executed) => executed.trace_id,
                other => panic!("{other:?}"),
            });
        }
        assert_eq!((made, ids.len()), (1, 1));
        assert_eq!(bench.traces().await.len(), round);
        bench.clock.advance(MINUTE);
    }
    waits(&bench, keyed(&bench, "l2.pay")).await;
}

/// What ran is a fact, whatever was stopped or forbidden since; nothing runs again.
#[tokio::test]
async fn p03_the_outcome_of_a_call_that_ran_is_told_for_as_long_as_it_is_kept() {
    let bench = Bench::new().await;
    let ask = || {
        let mut ask = keyed(&bench, "allow.echo");
        ask.door = Door::Http;
        ask
    };
    let Decided::Ran(first) = bench.run(ask()).await else {
        panic!()
    };
    let root = "admin:root";
    bench
        .gate
        .stop(Scope::Everything, root, None)
        .await
        .unwrap();
    bench.gate.replace_policy(every("deny"));
    bench.clock.advance(MINUTE * 60);
    let Decided::Replayed(again) = bench.run(ask()).await else {
        panic!()
    };
    assert_eq!(again.trace_id, first.trace_id);
    assert_eq!(bench.ran(), 1);
}
