//! The copies of approvals on channels: written with them, leased, shown, and ended with them.

use std::time::Duration;

use provost_core::{
    approval::{Approval, Decision, Kind, Level, State, Status},
    delivery::{Plan, Purpose, Shown},
    ids::TraceId,
    ports::{Escalated, Leased, Resolved, Store},
    time::Time,
    trace::TraceRow,
};
use serde_json::{Value, json};

use crate::{making::*, place::Place};

crate::contract!(
    a_delivery_is_due_with_its_question_and_leased_to_one,
    what_was_shown_is_told_the_end_and_the_rest_is_not_sent,
    an_end_in_the_middle_of_showing_is_told,
    people_are_asked_once_the_question_is_theirs,
    a_callback_is_told_the_end_alone,
    failures_are_tried_again_until_given_up,
    a_delivery_is_found_by_what_the_channel_knows,
    cursors_and_secrets_stay,
    several_people_approve_and_each_counts_once,
    asking_again_is_counted_and_a_denial_is_remembered,
    what_is_shown_is_due_when_it_is_no_longer_true,
    a_choice_makes_its_grant_in_the_same_breath,
    a_request_is_answered_when_it_is_decided,
    what_is_settled_when_it_is_made_is_recorded_and_told,
);

fn plan(purpose: Purpose, after: u64) -> Plan {
    Plan {
        channel: "telegram".into(),
        address: json!({"tg_chat_id": 42}),
        person: Some("alice".into()),
        purpose,
        after: Duration::from_secs(after),
    }
}

async fn asked(store: &dyn Store, level: Level, plans: Vec<Plan>) -> Approval {
    let mut new = question("mail.send", "a", version(store).await);
    new.state.level = level;
    new.plans = plans;
    opened(store.open_approval(new, START).await.unwrap())
}

async fn due(store: &dyn Store, now: Time) -> Vec<Leased> {
    let until = now.plus(Duration::from_secs(30));
    store.lease_deliveries(now, until, 10).await.unwrap()
}

/// As the notice of an act that nobody decided.
async fn what_is_settled_when_it_is_made_is_recorded_and_told(place: &Place) {
    let store = place.open().await;
    let version = version(&*store).await;
    let mut new = question("acp.execute", "a", version);
    new.question.kind = Kind::Notice;
    new.state = State::pending(Level::Human, START, None);
    new.state.status = Status::Denied;
    new.state.answered_at = Some(START);
    new.state.decision = Some(Box::new(Decision::new(Status::Denied, "watch", START)));
    new.plans = vec![plan(Purpose::Ask, 0)];
    let row = TraceRow {
        trace_id: new.question.trace_id.clone(),
        verdict: "unsupervised",
        ..row("claude", Some("s1"), "acp.execute", START)
    };
    new.granted = Some(Box::new(record(row, version)));
    let made = opened(store.open_approval(new, START).await.unwrap());
    let trace = store.trace(made.question.trace_id.as_str()).await.unwrap();
    assert!(trace.is_some(), "it is recorded");
    let told = due(&*store, START).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].approval, made);
    let id = &told[0].delivery.id;
    let seen = shown("42:8");
    store.delivery_shown(id, &seen, after(1)).await.unwrap();
    store.delivery_closed(id).await.unwrap();
    assert!(due(&*store, after(1000)).await.is_empty());
}

fn shown(key: &str) -> Shown {
    Shown {
        key: key.to_owned(),
        detail: Value::Null,
    }
}

async fn a_delivery_is_due_with_its_question_and_leased_to_one(place: &Place) {
    let store = place.open().await;
    let plans = vec![plan(Purpose::Ask, 0), plan(Purpose::Remind, 60)];
    let approval = asked(&*store, Level::Human, plans.clone()).await;
    store.close().await;

    let store = place.open().await;
    let first = due(&*store, START).await;
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].delivery.plan, plans[0]);
    assert_eq!(first[0].approval, approval);
    assert!(due(&*store, after(29)).await.is_empty(), "it is leased");
    let again = due(&*store, after(30)).await;
    assert_eq!(again[0].delivery, first[0].delivery, "its lease is over");
    let reminder = due(&*store, after(60)).await;
    assert!(
        reminder
            .iter()
            .any(|leased| leased.delivery.plan == plans[1])
    );
}

async fn what_was_shown_is_told_the_end_and_the_rest_is_not_sent(place: &Place) {
    let store = place.open().await;
    let plans = vec![plan(Purpose::Ask, 0), plan(Purpose::Remind, 60)];
    let approval = asked(&*store, Level::Human, plans).await;
    let id = due(&*store, START).await[0].delivery.id.clone();
    store
        .delivery_shown(&id, &shown("42:7"), after(1))
        .await
        .unwrap();
    assert!(due(&*store, after(50)).await.is_empty(), "it is shown");
    approve(&*store, &approval).await;
    let ended = due(&*store, after(100)).await;
    assert_eq!(ended.len(), 1, "the reminder is not sent");
    assert_eq!(ended[0].delivery.shown, Some(shown("42:7")));
    assert_eq!(ended[0].approval.state.status, Status::Approved);
    store.delivery_closed(&id).await.unwrap();
    assert!(due(&*store, after(1000)).await.is_empty());
    let all = store.deliveries(&approval.question.id).await.unwrap();
    assert!(all.iter().all(|delivered| delivered.closed), "{all:?}");
}

async fn an_end_in_the_middle_of_showing_is_told(place: &Place) {
    let store = place.open().await;
    let approval = asked(&*store, Level::Human, vec![plan(Purpose::Ask, 0)]).await;
    let id = due(&*store, START).await[0].delivery.id.clone();
    approve(&*store, &approval).await;
    assert!(due(&*store, after(1)).await.is_empty(), "not shown yet");
    store
        .delivery_shown(&id, &shown("42:7"), after(2))
        .await
        .unwrap();
    let ended = due(&*store, after(2)).await;
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].approval.state.status, Status::Approved);
}

async fn people_are_asked_once_the_question_is_theirs(place: &Place) {
    let store = place.open().await;
    let plans = vec![plan(Purpose::Ask, 0), plan(Purpose::Remind, 10)];
    let approval = asked(&*store, Level::Supervisor, plans.clone()).await;
    assert!(due(&*store, after(59)).await.is_empty());
    let escalated = store
        .escalate(&approval.question.id, escalation(after(20)))
        .await
        .unwrap();
    assert!(matches!(escalated, Escalated::Yes(_)), "{escalated:?}");
    assert_eq!(due(&*store, after(20)).await.len(), 1);
    let reminder = due(&*store, after(30)).await;
    assert_eq!(reminder[0].delivery.plan, plans[1]);

    let later = question("other.tool", "b", version(&*store).await);
    let later = provost_core::ports::NewApproval {
        plans: vec![plan(Purpose::Ask, 0)],
        ..later
    };
    let later = opened(store.open_approval(later, START).await.unwrap());
    assert!(store.promote(&later.question.id, after(61)).await.unwrap());
    let asked = due(&*store, after(61)).await;
    assert!(
        asked
            .iter()
            .any(|leased| leased.approval.question == later.question)
    );
}

async fn a_callback_is_told_the_end_alone(place: &Place) {
    let store = place.open().await;
    let approval = asked(&*store, Level::Human, vec![plan(Purpose::Callback, 0)]).await;
    assert!(due(&*store, after(100)).await.is_empty());
    approve(&*store, &approval).await;
    assert_eq!(due(&*store, after(100)).await.len(), 1);
}

async fn failures_are_tried_again_until_given_up(place: &Place) {
    let store = place.open().await;
    let approval = asked(&*store, Level::Human, vec![plan(Purpose::Ask, 0)]).await;
    let id = due(&*store, START).await[0].delivery.id.clone();
    store
        .delivery_failed(&id, Some(after(5)), "no answer")
        .await
        .unwrap();
    assert!(due(&*store, after(4)).await.is_empty());
    store.postpone_delivery(&id, after(5)).await.unwrap();
    assert_eq!(due(&*store, after(5)).await[0].delivery.attempts, 1);
    store.delivery_failed(&id, None, "blocked").await.unwrap();
    assert!(due(&*store, after(1000)).await.is_empty());
    let all = store.deliveries(&approval.question.id).await.unwrap();
    assert!(all[0].closed);
    assert_eq!(all[0].error.as_deref(), Some("blocked"));
}

async fn a_delivery_is_found_by_what_the_channel_knows(place: &Place) {
    let store = place.open().await;
    asked(&*store, Level::Human, vec![plan(Purpose::Ask, 0)]).await;
    let id = due(&*store, START).await[0].delivery.id.clone();
    assert!(
        store
            .delivery_shown_as("telegram", "42:7")
            .await
            .unwrap()
            .is_none()
    );
    store
        .delivery_shown(&id, &shown("42:7"), START)
        .await
        .unwrap();
    let found = store.delivery_shown_as("telegram", "42:7").await.unwrap();
    assert_eq!(found.unwrap().id, id);
    assert!(
        store
            .delivery_shown_as("email", "42:7")
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(store.delivery(&id).await.unwrap().unwrap().id, id);
    assert!(store.delivery(&"nobody".into()).await.unwrap().is_none());
}

async fn cursors_and_secrets_stay(place: &Place) {
    let store = place.open().await;
    assert_eq!(store.cursor("telegram:1").await.unwrap(), None);
    for value in ["5", "6"] {
        store.set_cursor("telegram:1", value).await.unwrap();
    }
    let secret = store.secret("mail").await.unwrap();
    store.close().await;
    let store = place.open().await;
    assert_eq!(store.cursor("telegram:1").await.unwrap().unwrap(), "6");
    assert_eq!(store.secret("mail").await.unwrap(), secret);
    assert_ne!(store.secret("other").await.unwrap(), secret);
}

async fn what_is_shown_is_due_when_it_is_no_longer_true(place: &Place) {
    let store = place.open().await;
    let mut new = question("mail.send", "a", version(&*store).await);
    new.question.needed = 2;
    new.state.level = Level::Human;
    new.plans = vec![plan(Purpose::Ask, 0), plan(Purpose::Remind, 100)];
    let approval = opened(store.open_approval(new.clone(), START).await.unwrap());
    let leased = due(&*store, START).await;
    let id = &leased[0].delivery.id;
    let seen = async |now| store.delivery_shown(id, &shown("1"), now).await.unwrap();
    seen(START).await;
    assert!(due(&*store, after(50)).await.is_empty());

    let mut vote = answer(&approval, Status::Approved, "human:alice", after(50));
    vote.needed = 2;
    store.resolve(vote).await.unwrap();
    let leased = due(&*store, after(50)).await;
    assert_eq!(leased.len(), 1, "not what nobody was shown yet");
    assert_eq!(leased[0].delivery.shown, Some(shown("1")));
    assert_eq!(leased[0].approval.state.votes.len(), 1);
    seen(after(51)).await;
    assert!(due(&*store, after(52)).await.is_empty());

    store.open_approval(new.clone(), after(52)).await.unwrap();
    for _ in 0..3 {
        let mut new = new.clone();
        new.question.trace_id = TraceId::at(after(52));
        let again = store.open_approval(new, after(52)).await.unwrap();
        assert_eq!(opened(again).question.id, approval.question.id);
    }
    assert!(due(&*store, after(53)).await.is_empty(), "not at once");
    let leased = due(&*store, after(58)).await;
    assert_eq!(leased.len(), 1);
    let asked = leased[0].approval.state.asked;
    assert_eq!(asked, 4, "who walks twice has asked once");
}

async fn several_people_approve_and_each_counts_once(place: &Place) {
    let store = place.open().await;
    for (tool, last, expected) in [
        ("a.tool", Status::Approved, Status::Approved),
        ("b.tool", Status::Denied, Status::Denied),
    ] {
        let mut new = question(tool, "a", version(&*store).await);
        new.question.needed = 2;
        let approval = opened(store.open_approval(new, START).await.unwrap());
        let vote = |status, by: &str, person: Option<&str>| {
            let mut resolve = answer(&approval, status, by, after(1));
            resolve.needed = 2;
            resolve.decision.person = person.map(Into::into);
            resolve
        };
        for (by, person) in [
            ("human:alice", None),
            ("human:alice", None),
            ("admin:Alice", None),
            ("human:laptop", Some("alice")),
            ("admin:bob", Some("alice")),
        ] {
            let resolved = store.resolve(vote(Status::Approved, by, person)).await;
            let Resolved::Counted(counted) = resolved.unwrap() else {
                panic!("one of two decided")
            };
            assert_eq!(counted.state.votes.len(), 1);
            assert_eq!(counted.state.status, Status::Pending);
        }
        let resolved = store
            .resolve(vote(last, "human:alice", Some("bob")))
            .await
            .unwrap();
        let Resolved::Won(won) = resolved else {
            panic!("{resolved:?}")
        };
        assert_eq!(won.state.status, expected);
    }
}

async fn asking_again_is_counted_and_a_denial_is_remembered(place: &Place) {
    let store = place.open().await;
    for expected in 1..=3 {
        let approval = ask(&*store, "mail.send", "a").await;
        assert_eq!(approval.state.asked, expected);
        assert_eq!(approval.question.denied_before, None);
    }
    let approval = ask(&*store, "mail.send", "a").await;
    let denied = answer(&approval, Status::Denied, "human:alice", after(1));
    store.resolve(denied).await.unwrap();
    let taken = store
        .take(
            &approval.question.id,
            after(2),
            version(&*store).await,
            None,
        )
        .await;
    taken.unwrap();
    let again = ask(&*store, "mail.send", "a").await;
    assert_ne!(again.question.id, approval.question.id);
    assert_eq!(again.question.denied_before, Some(after(1)));
    assert_eq!(
        ask(&*store, "mail.send", "b").await.question.denied_before,
        None
    );
}

async fn a_choice_makes_its_grant_in_the_same_breath(place: &Place) {
    let store = place.open().await;
    let approval = ask(&*store, "mail.send", "a").await;
    let before = version(&*store).await;
    let grant = grant(None);
    let mut resolve = answer(&approval, Status::Approved, "human:alice", after(1));
    resolve.new_grant = Some(Box::new((grant.clone(), note("grant created"))));
    let lost = resolve.clone();
    assert!(matches!(
        store.resolve(resolve).await.unwrap(),
        Resolved::Won(_)
    ));
    let control = store.control().await.unwrap();
    assert_eq!(control.grants, [grant]);
    assert!(control.version > before);
    assert!(matches!(
        store.resolve(lost).await.unwrap(),
        Resolved::Lost(_)
    ));
    assert_eq!(
        store.control().await.unwrap().grants.len(),
        1,
        "the loser grants nothing"
    );
}

async fn a_request_is_answered_when_it_is_decided(place: &Place) {
    let store = place.open().await;
    let mut new = question("exec_cmd", "a", version(&*store).await);
    new.question.request = Some(Box::new(provost_core::approval::Request {
        client_id: "0123456789ab".to_owned(),
        title: "Run command".to_owned(),
        preview: "npm test".to_owned(),
        channel: "telegram".to_owned(),
        target: json!({"tg_chat_id": 42}),
    }));
    let approval = opened(store.open_approval(new.clone(), START).await.unwrap());
    approve(&*store, &approval).await;
    new.question.id = provost_core::ids::ApprovalId::requested();
    let next = opened(store.open_approval(new, after(2)).await.unwrap());
    assert_ne!(next.question.id, approval.question.id, "each is asked anew");
}
