//! An answer is for one call, from one folder, executed by one side. Nothing else collects it.

use std::time::Duration;

use provost_core::{
    approval::{Approval, Status},
    door::Door,
    gate::{Ask, Decided, Resolution, Resolving, Wait},
    menu::Code,
    trace::Answer,
};
use serde_json::json;

use crate::bench::{Bench, human};

const HERE: &str = "/srv/project";

/// As one of the doors asks it: for the agent to execute, from this folder.
fn ask(bench: &Bench, folder: Option<&str>) -> Ask {
    let mut ask = bench.ask("l2.make", json!({"command": "make x"}));
    ask.call.session = Some("s".into());
    ask.door = Door::Hook;
    ask.folder = folder.map(Into::into);
    ask.wait = Wait::AtMost(Duration::ZERO);
    ask
}

async fn decide(bench: &Bench, ask: Ask) -> Decided {
    bench.gate.decide(ask).await.unwrap()
}

async fn waits(bench: &Bench, ask: Ask) -> Approval {
    match decide(bench, ask).await {
        Decided::Waiting(approval) => *approval,
        other => panic!("{other:?}"),
    }
}

async fn resolve(bench: &Bench, asked: &Approval, status: Status, code: Option<Code>) {
    let resolution = Resolution {
        code,
        ..Resolution::default()
    };
    let id = asked.question.id.as_str();
    let resolving = bench.gate.resolve(id, &human(), status, resolution).await;
    assert!(matches!(resolving, Ok(Resolving::Done(_))), "{resolving:?}");
}

#[tokio::test]
async fn p03_an_approval_is_taken_from_its_own_folder_alone() {
    for code in [None, Some(Code::Session), Some(Code::Always)] {
        let bench = Bench::new().await;
        let asked = waits(&bench, ask(&bench, Some(HERE))).await;
        resolve(&bench, &asked, Status::Approved, code).await;
        for other in [Some("/home/evil"), Some("/srv/project/"), Some(""), None] {
            let waiting = waits(&bench, ask(&bench, other)).await;
            assert_ne!(waiting.question.id, asked.question.id, "{other:?}");
            assert_eq!(waiting.question.works_in.as_deref(), other);
        }
        let taken = decide(&bench, ask(&bench, Some(HERE))).await;
        assert!(matches!(taken, Decided::Permitted(_)), "{taken:?}");
        let again = decide(&bench, ask(&bench, Some(HERE))).await;
        let granted = matches!(again, Decided::Permitted(_));
        assert_eq!(granted, code.is_some(), "{again:?}");
        bench.verify().await;
    }
}

#[tokio::test]
async fn p03_callers_of_two_folders_wait_for_two_questions() {
    let bench = Bench::new().await;
    let start = |folder: &'static str| {
        let mut ask = ask(&bench, Some(folder));
        ask.wait = Wait::UntilDecided;
        let gate = bench.gate.clone();
        tokio::spawn(async move { gate.decide(ask).await.unwrap() })
    };
    let here = start(HERE);
    let asked = bench.pending().await;
    assert_eq!(asked.question.works_in.as_deref(), Some(HERE));
    let victim = waits(&bench, ask(&bench, Some("/home/victim"))).await;
    assert_eq!(victim.state.asked, 1);
    resolve(&bench, &asked, Status::Approved, Some(Code::Always)).await;
    let decided = here.await.unwrap();
    assert!(matches!(decided, Decided::Permitted(_)), "{decided:?}");
    let state = bench.approval(&victim.question.id).await.state;
    assert_eq!(state.status, Status::Pending);
    waits(&bench, ask(&bench, Some("/home/victim"))).await;
}

#[tokio::test]
async fn p03_what_the_agent_may_do_itself_does_not_run_here_nor_the_other_way() {
    for door in [Door::Decide, Door::Hook, Door::Acp, Door::Mcp] {
        let bench = Bench::new().await;
        let outside = || {
            let mut ask = ask(&bench, None);
            ask.door = door;
            ask
        };
        let inside = || {
            let mut ask = outside();
            ask.door = Door::Http;
            ask
        };
        let asked = waits(&bench, outside()).await;
        resolve(&bench, &asked, Status::Approved, None).await;
        let here = bench.ask_and_leave(inside()).await;
        assert_eq!(bench.ran(), 0, "{door:?}");
        resolve(&bench, &here, Status::Approved, None).await;
        let taken = decide(&bench, outside()).await;
        assert!(matches!(taken, Decided::Permitted(_)), "{taken:?}");
        waits(&bench, outside()).await;
        let ran = bench.run(inside()).await;
        assert!(matches!(ran, Decided::Ran(_)), "{ran:?}");
        assert_eq!(bench.ran(), 1, "{door:?}");
    }
}

#[tokio::test]
async fn p03_a_key_stands_for_its_folder_and_for_who_executes() {
    let bench = Bench::new().await;
    let keyed = |folder: Option<&str>| {
        let mut ask = ask(&bench, folder);
        ask.idempotency_key = Some("k1".into());
        ask
    };
    let asked = waits(&bench, keyed(Some(HERE))).await;
    resolve(&bench, &asked, Status::Approved, None).await;
    let taken = decide(&bench, keyed(Some(HERE))).await;
    assert!(matches!(taken, Decided::Permitted(_)), "{taken:?}");
    let long = "/x".repeat(4096);
    for other in [Some("/home/evil"), Some(""), Some(&*long), None] {
        let told = decide(&bench, keyed(other)).await;
        assert!(matches!(told, Decided::KeyMismatch), "{told:?}");
    }
    let told = bench.run(keyed(Some(HERE))).await;
    assert!(matches!(told, Decided::KeyMismatch), "{told:?}");
    let told = decide(&bench, keyed(Some(HERE))).await;
    assert!(matches!(told, Decided::Replayed(_)), "{told:?}");
}

#[tokio::test]
async fn p03_a_key_of_a_call_that_a_wrapper_executes_repeats_a_yes_for_a_minute() {
    let bench = Bench::new().await;
    let keyed = || {
        let mut ask = ask(&bench, None);
        (ask.door, ask.idempotency_key) = (Door::Mcp, Some("k1".into()));
        ask
    };
    let asked = waits(&bench, keyed()).await;
    resolve(&bench, &asked, Status::Approved, None).await;
    let taken = decide(&bench, keyed()).await;
    assert!(matches!(taken, Decided::Permitted(_)), "{taken:?}");
    let told = decide(&bench, keyed()).await;
    assert!(matches!(told, Decided::Replayed(_)), "{told:?}");
    bench.clock.advance(Duration::from_mins(1));
    let told = decide(&bench, keyed()).await;
    assert!(matches!(told, Decided::Waiting(_)), "{told:?}");
}

#[tokio::test]
async fn p03_a_denial_is_for_its_own_folder() {
    let bench = Bench::new().await;
    let asked = waits(&bench, ask(&bench, Some(HERE))).await;
    resolve(&bench, &asked, Status::Denied, None).await;
    waits(&bench, ask(&bench, Some("/srv/other"))).await;
    match decide(&bench, ask(&bench, Some(HERE))).await {
        Decided::Refused(refusal) => assert_eq!(refusal.approval_id, Some(asked.question.id)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn p03_a_folder_that_cannot_be_shown_is_refused() {
    let bench = Bench::new().await;
    let long = "/x".repeat(4096);
    match decide(&bench, ask(&bench, Some(&long))).await {
        Decided::Refused(refusal) => assert_eq!(refusal.answer, Answer::Invalid),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn p03_the_recorded_digest_is_that_of_the_call() {
    let bench = Bench::new().await;
    let asked = waits(&bench, ask(&bench, Some(HERE))).await;
    resolve(&bench, &asked, Status::Approved, None).await;
    decide(&bench, ask(&bench, Some(HERE))).await;
    let digest = ask(&bench, None).call.digest().to_string();
    let traces = bench.traces().await;
    assert_eq!(
        traces.last().unwrap()["digest"],
        json!(digest),
        "{traces:?}"
    );
}
