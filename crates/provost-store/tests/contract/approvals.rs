//! Approvals: opened once, claimed, escalated, expired.

use provost_core::{
    approval::{Claim, Level, Status},
    ids::ApprovalId,
    ports::{Claimed, Escalated, Opened, Resolved, Taken},
};

use crate::{making::*, place::Place};

crate::contract!(
    the_same_call_opens_one_approval,
    a_question_under_old_control_is_not_asked,
    a_decided_approval_stays_open_until_it_is_taken,
    an_approval_that_expired_is_not_found_again,
    a_claim_is_a_lease,
    escalation_hands_over_to_people,
    time_promotes_and_expires,
);

async fn the_same_call_opens_one_approval(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    let opens = (0..30).map(|_| {
        let (store, new) = (store.clone(), question("fs.write", "a", seen));
        async move { opened(store.open_approval(new, START).await.unwrap()) }
    });
    let approvals = race(opens).await;
    let first = &approvals[0].question;
    assert!(approvals.iter().all(|approval| approval.question == *first));
    let other = ask(&*store, "fs.write", "b").await;
    assert_ne!(other.question.id, approvals[0].question.id);
    assert_eq!(store.queue_depth().await.unwrap().pending, 2);
    store.close().await;

    let store = place.open().await;
    let again = ask(&*store, "fs.write", "a").await;
    assert_eq!(again.question, approvals[0].question);
    assert_eq!(again.state.asked, 31);
    store.close().await;
}

async fn a_question_under_old_control_is_not_asked(place: &Place) {
    let store = place.open().await;
    let new = question("fs.write", "a", version(&*store).await);
    store.add_grant(grant(None), note("granted")).await.unwrap();
    let opened = store.open_approval(new, START).await.unwrap();
    assert!(matches!(opened, Opened::Stale), "{opened:?}");
    assert_eq!(store.queue_depth().await.unwrap().pending, 0);
    store.close().await;
}

async fn a_decided_approval_stays_open_until_it_is_taken(place: &Place) {
    let store = place.open().await;
    for status in [Status::Approved, Status::Denied] {
        let asked = ask(&*store, "fs.write", "a").await;
        let resolved = store
            .resolve(answer(&asked, status, "human:alice", after(1)))
            .await
            .unwrap();
        assert!(matches!(resolved, Resolved::Won(_)), "{resolved:?}");
        let again = ask(&*store, "fs.write", "a").await;
        assert_eq!(again.question.id, asked.question.id);
        assert_eq!(again.state.status, status);
        let seen = version(&*store).await;
        let taken = store
            .take(&asked.question.id, after(2), seen, None)
            .await
            .unwrap();
        assert!(matches!(taken, Taken::Yes), "{taken:?}");
        let anew = ask(&*store, "fs.write", "a").await;
        assert_ne!(anew.question.id, asked.question.id);
        store
            .resolve(answer(&anew, Status::Denied, "human:alice", after(3)))
            .await
            .unwrap();
        store
            .take(&anew.question.id, after(3), seen, None)
            .await
            .unwrap();
    }
    store.close().await;
}

async fn an_approval_that_expired_is_not_found_again(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let seen = version(&*store).await;
    let again = opened(
        store
            .open_approval(question("fs.write", "a", seen), after(299))
            .await
            .unwrap(),
    );
    assert_eq!(again.question.id, asked.question.id);
    let anew = opened(
        store
            .open_approval(question("fs.write", "a", seen), after(300))
            .await
            .unwrap(),
    );
    assert_ne!(anew.question.id, asked.question.id);
    store.close().await;
}

async fn a_claim_is_a_lease(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let id = &asked.question.id;
    let claim = |by: &str, until| Claim {
        by: by.to_owned(),
        until: after(until),
    };
    let claims = (0..20).map(|n| {
        let (store, id, claim) = (store.clone(), id.clone(), claim(&format!("bot-{n}"), 20));
        async move { store.claim(&id, claim, START).await.unwrap() }
    });
    let claimed = race(claims).await;
    let holder = claimed.iter().find_map(|claimed| match claimed {
        Claimed::Yes(approval) => approval.state.claim.clone(),
        _ => None,
    });
    let holder = holder.expect("one holds it");
    let held = |claimed: &&_| matches!(claimed, Claimed::Held(by) if *by == *holder);
    assert_eq!(claimed.iter().filter(held).count(), 19);
    let longer = store
        .claim(id, claim(&holder.by, 30), after(10))
        .await
        .unwrap();
    assert!(matches!(longer, Claimed::Yes(_)), "{longer:?}");
    let early = store
        .claim(id, claim("other", 50), after(29))
        .await
        .unwrap();
    assert!(matches!(early, Claimed::Held(_)), "{early:?}");
    let late = store
        .claim(id, claim("other", 50), after(30))
        .await
        .unwrap();
    assert!(matches!(late, Claimed::Yes(_)), "{late:?}");
    let people = store
        .claim(id, claim("third", 99), after(60))
        .await
        .unwrap();
    assert!(matches!(people, Claimed::Lost(_)), "{people:?}");
    let nothing = store
        .claim(&ApprovalId::random(), claim("x", 9), START)
        .await
        .unwrap();
    assert!(matches!(nothing, Claimed::NotFound));
    store.close().await;
}

async fn escalation_hands_over_to_people(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let id = &asked.question.id;
    match store.escalate(id, escalation(after(5))).await.unwrap() {
        Escalated::Yes(approval) => {
            assert_eq!(approval.state.level, Level::Human);
            assert_eq!(
                approval.state.escalation,
                Some(Box::new(escalation(after(5))))
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        store.escalate(id, escalation(after(6))).await.unwrap(),
        Escalated::Lost(_)
    ));
    let mut resolve = answer(&asked, Status::Approved, "supervisor:bot", after(7));
    resolve.only_supervisor_level = true;
    assert!(matches!(
        store.resolve(resolve).await.unwrap(),
        Resolved::NotYours(_)
    ));
    let late = ask(&*store, "fs.write", "b").await;
    let escalated = store
        .escalate(&late.question.id, escalation(after(60)))
        .await
        .unwrap();
    assert!(matches!(escalated, Escalated::Lost(_)), "{escalated:?}");
    let nothing = store
        .escalate(&ApprovalId::random(), escalation(START))
        .await
        .unwrap();
    assert!(matches!(nothing, Escalated::NotFound));
    store.close().await;
}

async fn time_promotes_and_expires(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let id = &asked.question.id;
    let overdue = async |seconds| store.overdue(after(seconds), 10).await.unwrap().len();
    assert_eq!(overdue(59).await, 0);
    assert!(!store.promote(id, after(59)).await.unwrap());
    assert_eq!(overdue(60).await, 1);
    assert!(store.promote(id, after(60)).await.unwrap());
    assert!(!store.promote(id, after(60)).await.unwrap(), "once");
    assert_eq!(overdue(299).await, 0);
    let row = row("claude", None, "fs.write", after(300));
    assert!(!store.expire(id, after(299), row.clone()).await.unwrap());
    assert_eq!(overdue(300).await, 1);
    let before = verify(&*store).await.unwrap();
    assert!(store.expire(id, after(300), row.clone()).await.unwrap());
    assert!(!store.expire(id, after(300), row).await.unwrap(), "once");
    assert_eq!(verify(&*store).await.unwrap(), before + 1);
    assert_eq!(overdue(999).await, 0);
    let expired = store.approval(id.as_str()).await.unwrap().unwrap();
    assert_eq!(expired.state.status, Status::Expired);
    let names: Vec<_> = store
        .events(0, 10)
        .await
        .unwrap()
        .iter()
        .map(|event| event.event.name())
        .collect();
    assert_eq!(
        names,
        [
            "approval.created",
            "approval.escalated",
            "approval.resolved"
        ]
    );
    store.close().await;
}
