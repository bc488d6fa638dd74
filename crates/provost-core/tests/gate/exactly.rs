//! What was decided is what runs, however the retry writes its numbers.

use provost_core::{
    door::Door,
    gate::{Decided, End, Wait},
};
use serde_json::{Value, json};

use crate::bench::Bench;

/// The same numbers, and so the same digest, as the question and its retry may write them.
const SPELLINGS: [(&str, &str); 6] = [
    (r#"{"n":1}"#, r#"{"n":1.0}"#),
    (r#"{"n":1.0}"#, r#"{"n":1}"#),
    (r#"{"n":0}"#, r#"{"n":-0.0}"#),
    (r#"{"n":-0.0}"#, r#"{"n":0}"#),
    (r#"{"n":0.0}"#, r#"{"n":-0.0}"#),
    (r#"{"a":[{"n":1000}]}"#, r#"{"a":[{"n":1e3}]}"#),
];

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

#[tokio::test]
async fn p02_an_approval_taken_by_a_retry_runs_the_arguments_that_were_asked_about() {
    for (asked, retried) in SPELLINGS {
        let bench = Bench::new().await;
        let approval = bench.ask_and_leave(bench.ask("l2.pay", read(asked))).await;
        bench.approve(&approval).await;
        let decided = bench.run(bench.ask("l2.pay", read(retried))).await;
        let Decided::Ran(executed) = decided else {
            panic!("{decided:?}")
        };
        let End::Answered { result, .. } = &executed.end else {
            panic!("{executed:?}")
        };
        assert_eq!(result.get(), read(asked).to_string());
        assert_eq!(executed.approval_id, Some(approval.question.id));
        bench.verify().await;
    }
}

#[tokio::test]
async fn p02_a_caller_who_joins_the_wait_runs_the_arguments_of_the_question() {
    let bench = Bench::new().await;
    let asked = bench
        .ask_and_leave(bench.ask("l2.pay", json!({"n": 1})))
        .await;
    let caller = bench.start(bench.ask("l2.pay", json!({"n": 1.0})));
    bench.approve(&asked).await;
    let Decided::Ran(executed) = caller.await.unwrap() else {
        panic!()
    };
    let End::Answered { result, .. } = &executed.end else {
        panic!()
    };
    assert_eq!(result.get(), r#"{"n":1}"#);
}

#[tokio::test]
async fn p02_a_caller_who_executes_itself_is_told_the_arguments_that_were_decided() {
    for door in [Door::Decide, Door::Hook, Door::Acp] {
        for (asked, retried) in SPELLINGS {
            let bench = Bench::new().await;
            let ask = |params: &str| {
                let mut ask = bench.ask("l2.pay", read(params));
                (ask.door, ask.wait) = (door, Wait::AtMost(std::time::Duration::ZERO));
                ask
            };
            let waiting = bench.gate.decide(ask(asked)).await.unwrap();
            let Decided::Waiting(approval) = waiting else {
                panic!("{waiting:?}")
            };
            bench.approve(&approval).await;
            let decided = bench.gate.decide(ask(retried)).await.unwrap();
            let Decided::Permitted(permit) = decided else {
                panic!("{decided:?}")
            };
            let told = permit.changed().map(|params| json!(params).to_string());
            assert_eq!(told, Some(read(asked).to_string()), "{door:?} {retried}");
        }
    }
}

#[tokio::test]
async fn p02_the_same_letters_are_not_told_as_a_change() {
    let bench = Bench::new().await;
    let ask = || {
        let mut ask = bench.ask("l2.pay", json!({"n": 1.0, "text": "é"}));
        (ask.door, ask.wait) = (Door::Decide, Wait::AtMost(std::time::Duration::ZERO));
        ask
    };
    let Decided::Waiting(approval) = bench.gate.decide(ask()).await.unwrap() else {
        panic!()
    };
    bench.approve(&approval).await;
    let Decided::Permitted(permit) = bench.gate.decide(ask()).await.unwrap() else {
        panic!()
    };
    assert_eq!(permit.changed(), None);
}

#[tokio::test]
async fn p02_an_idempotency_key_stands_for_one_spelling_of_the_call() {
    for door in [Door::Http, Door::Decide, Door::Acp] {
        for (first, second) in SPELLINGS {
            let bench = Bench::new().await;
            let ask = |params: &str| {
                let mut ask = bench.ask("allow.echo", read(params));
                (ask.door, ask.idempotency_key) = (door, Some("key".into()));
                ask
            };
            bench.gate.decide(ask(first)).await.unwrap();
            let again = bench.gate.decide(ask(first)).await.unwrap();
            assert!(matches!(again, Decided::Replayed(_)), "{again:?}");
            let other = bench.gate.decide(ask(second)).await.unwrap();
            assert!(matches!(other, Decided::KeyMismatch), "{door:?} {other:?}");
        }
    }
}
