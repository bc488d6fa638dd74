//! Questions, and who may answer them.

use std::time::Duration;

use provost_core::{
    approval::{Level, Status},
    gate::{Claiming, Decided, Escalating, Resolution, Resolving},
    key::Role,
    trace::Answer,
};
use serde_json::json;

use crate::bench::{Bench, decider, human};

impl Bench {
    pub(crate) async fn approve(&self, approval: &provost_core::approval::Approval) {
        let resolution = Resolution {
            reasoning: Some("fine".into()),
            confidence: Some(0.9),
            label: Some("me".into()),
            ..Resolution::default()
        };
        let resolved = self
            .gate
            .resolve(
                approval.question.id.as_str(),
                &human(),
                Status::Approved,
                resolution,
            )
            .await;
        assert!(matches!(resolved.unwrap(), Resolving::Done(_)));
    }

    pub(crate) async fn deny(&self, approval: &provost_core::approval::Approval) {
        let (id, status) = (approval.question.id.as_str(), Status::Denied);
        let resolving = self
            .gate
            .resolve(id, &human(), status, Resolution::default())
            .await;
        assert!(matches!(resolving.unwrap(), Resolving::Done(_)));
    }
}

#[tokio::test]
async fn a_waiting_caller_runs_at_once_when_approved() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({"amount": 5})));
    let approval = bench.pending().await;
    assert_eq!(bench.ran(), 0);
    bench.approve(&approval).await;
    let Decided::Ran(executed) = caller.await.unwrap() else {
        panic!()
    };
    assert_eq!(executed.approval_id, Some(approval.question.id));
    assert_eq!(bench.ran(), 1);
    bench.verify().await;
}

#[tokio::test]
async fn defect_04_the_outcome_of_an_approval_reaches_the_trace() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({})));
    let approval = bench.pending().await;
    bench.clock.advance(Duration::from_secs(7));
    bench.approve(&approval).await;
    caller.await.unwrap();
    bench.verify().await;
    let trace = &bench.traces().await[0];
    for (field, expected) in [
        ("approval_status", json!("approved")),
        ("approved_by", json!("human:alice")),
        ("approver_label", json!("me")),
        ("supervisor_reasoning", json!("fine")),
        ("supervisor_confidence", json!(0.9)),
        ("approval_ms", json!(7000)),
        ("approval_id", json!(approval.question.id)),
        ("outcome", json!("done")),
    ] {
        assert_eq!(trace[field], expected, "{field}");
    }
}

#[tokio::test]
async fn defect_05_an_approval_is_one_permit_for_the_identical_retry_and_never_runs_alone() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l2.pay", json!({"amount": 5})));
    let approval = bench.pending().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    bench.approve(&approval).await;
    assert_eq!(bench.ran(), 0, "nobody waits, so nothing runs");
    assert_eq!(bench.traces().await[0]["outcome"], "none");

    // Another call, and another agent's same call, are other questions.
    let other = bench
        .ask_and_leave(bench.ask("l2.pay", json!({"amount": 6})))
        .await;
    assert_ne!(other.question.id, approval.question.id);
    let mut foreign = bench.ask("l2.pay", json!({"amount": 5}));
    foreign.call.agent = "other".into();
    assert_ne!(
        bench.ask_and_leave(foreign).await.question.id,
        approval.question.id
    );

    let Decided::Ran(executed) = bench.run(bench.ask("l2.pay", json!({"amount": 5}))).await else {
        panic!()
    };
    assert_eq!(executed.trace_id, approval.question.trace_id);
    assert_eq!(bench.ran(), 1);
    let again = bench
        .ask_and_leave(bench.ask("l2.pay", json!({"amount": 5})))
        .await;
    assert_ne!(
        again.question.id, approval.question.id,
        "a permit is used once"
    );
    bench.verify().await;
}

#[tokio::test]
async fn a_permit_nobody_took_runs_out() {
    let bench = Bench::new().await;
    let approval = bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    bench.approve(&approval).await;
    bench.clock.advance(Duration::from_secs(301));
    let again = bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    assert_ne!(again.question.id, approval.question.id);
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn a_denial_reaches_the_caller_who_left_and_comes_back() {
    let bench = Bench::new().await;
    let approval = bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    let resolution = Resolution {
        reasoning: Some("too much".into()),
        ..Resolution::default()
    };
    bench
        .gate
        .resolve(
            approval.question.id.as_str(),
            &human(),
            Status::Denied,
            resolution,
        )
        .await
        .unwrap();
    let Decided::Refused(refusal) = bench.run(bench.ask("l2.pay", json!({}))).await else {
        panic!()
    };
    assert_eq!(refusal.answer, Answer::Deny);
    assert_eq!(&*refusal.reason, "denied by human:alice: too much");
    let again = bench.ask_and_leave(bench.ask("l2.pay", json!({}))).await;
    assert_ne!(again.question.id, approval.question.id);
}

#[tokio::test]
async fn time_moves_a_question_from_supervisors_to_people_and_then_ends_it() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l1.write", json!({})));
    let approval = bench.pending().await;
    assert_eq!(approval.state.level_at(bench.gate.now()), Level::Supervisor);
    bench.clock.advance(Duration::from_secs(61));
    bench.gate.sweep().await.unwrap();
    let moved = bench.pending().await;
    assert_eq!(moved.state.level, Level::Human);
    let bot = decider("bot-1", Role::Supervisor, &[]);
    let id = approval.question.id.as_str();
    let late = bench
        .gate
        .resolve(id, &bot, Status::Approved, Resolution::default())
        .await
        .unwrap();
    assert!(matches!(late, Resolving::Forbidden(_)), "{late:?}");
    bench.clock.advance(Duration::from_mins(4));
    bench.gate.sweep().await.unwrap();
    let Decided::Refused(refusal) = caller.await.unwrap() else {
        panic!()
    };
    assert_eq!(refusal.answer, Answer::Expired);
    let after = bench
        .gate
        .resolve(id, &human(), Status::Approved, Resolution::default())
        .await
        .unwrap();
    assert!(matches!(after, Resolving::Already(_)), "{after:?}");
    assert_eq!(
        (bench.ran(), bench.traces().await[0]["status_code"].clone()),
        (0, json!(408))
    );
    bench.verify().await;
}

#[tokio::test]
async fn defect_07_only_somebody_else_of_the_right_role_decides() {
    let bench = Bench::new().await;
    let l1 = bench
        .ask_and_leave(bench.ask("l1.write", json!({})))
        .await
        .question
        .id;
    let l2 = bench
        .ask_and_leave(bench.ask("l2.pay", json!({})))
        .await
        .question
        .id;
    for (who, id, allowed) in [
        (decider("bot", Role::Human, &[]), &l2, false),
        (decider("bot", Role::Supervisor, &[]), &l1, false),
        (decider("fs", Role::Supervisor, &[]), &l2, false),
        (decider("fs", Role::Supervisor, &["other.*"]), &l1, false),
        (decider("fs", Role::Supervisor, &["l1.*"]), &l1, true),
        (decider("alice", Role::Human, &[]), &l2, true),
    ] {
        let resolution = Resolution {
            label: Some("human:root".into()),
            ..Resolution::default()
        };
        let resolved = bench
            .gate
            .resolve(id.as_str(), &who, Status::Approved, resolution)
            .await
            .unwrap();
        assert_eq!(
            matches!(resolved, Resolving::Done(_)),
            allowed,
            "{who:?} {resolved:?}"
        );
        if let Resolving::Done(approval) = resolved {
            let decision = approval.state.decision.unwrap();
            assert_eq!(
                decision.by,
                who.identity(),
                "the authenticated one is recorded"
            );
            assert_eq!(
                decision.label.as_deref(),
                Some("human:root"),
                "the claimed one stands beside it"
            );
        }
    }
}

#[tokio::test]
async fn a_claim_keeps_other_supervisors_off_until_it_ends() {
    let bench = Bench::new().await;
    let approval = bench.ask_and_leave(bench.ask("l1.write", json!({}))).await;
    let id = approval.question.id.as_str();
    let (one, two) = (
        decider("one", Role::Supervisor, &[]),
        decider("two", Role::Supervisor, &[]),
    );
    let lease = Some(Duration::from_secs(20));
    assert!(matches!(
        bench.gate.claim(id, &one, lease).await.unwrap(),
        Claiming::Done(_)
    ));
    assert!(matches!(
        bench.gate.claim(id, &one, lease).await.unwrap(),
        Claiming::Done(_)
    ));
    assert!(
        matches!(bench.gate.claim(id, &two, lease).await.unwrap(), Claiming::Held(claim) if claim.by == "supervisor:one")
    );
    let barred = bench
        .gate
        .resolve(id, &two, Status::Denied, Resolution::default())
        .await
        .unwrap();
    assert!(matches!(barred, Resolving::Held(_)), "{barred:?}");
    bench.clock.advance(Duration::from_secs(21));
    assert!(matches!(
        bench.gate.claim(id, &two, lease).await.unwrap(),
        Claiming::Done(_)
    ));
    // A person needs no claim.
    let resolved = bench
        .gate
        .resolve(id, &human(), Status::Denied, Resolution::default())
        .await
        .unwrap();
    assert!(matches!(resolved, Resolving::Done(_)));
}

#[tokio::test]
async fn escalation_hands_over_to_people_with_the_reason() {
    let bench = Bench::new().await;
    let caller = bench.start(bench.ask("l1.write", json!({})));
    let approval = bench.pending().await;
    let (id, bot) = (
        approval.question.id.as_str(),
        decider("one", Role::Supervisor, &[]),
    );
    let why = Resolution {
        reasoning: Some("outside the project".into()),
        ..Resolution::default()
    };
    assert!(matches!(
        bench.gate.escalate(id, &bot, why.clone()).await.unwrap(),
        Escalating::Done(_)
    ));
    assert!(matches!(
        bench.gate.escalate(id, &bot, why).await.unwrap(),
        Escalating::Already(_)
    ));
    let barred = bench
        .gate
        .resolve(id, &bot, Status::Approved, Resolution::default())
        .await
        .unwrap();
    assert!(matches!(barred, Resolving::Forbidden(_)));
    bench.approve(&approval).await;
    caller.await.unwrap();
    let trace = &bench.traces().await[0];
    assert_eq!(trace["escalated_by"], "supervisor:one");
    assert_eq!(trace["escalation_reasoning"], "outside the project");
    assert_eq!(trace["approved_by"], "human:alice");
}
