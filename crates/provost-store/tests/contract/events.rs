//! The feed of events.

use std::time::Duration;

use provost_core::{approval::Status, event::Event};

use crate::{making::*, place::Place};

crate::contract!(
    events_have_no_gaps_and_keep_their_order,
    events_tell_who_and_what,
    events_wake_whoever_waits,
    recording_makes_no_events,
);

async fn events_have_no_gaps_and_keep_their_order(place: &Place) {
    let store = place.open().await;
    assert_eq!(store.last_event().await.unwrap(), 0);
    let seen = version(&*store).await;
    let asks = (0..50).map(|n| {
        let (store, new) = (store.clone(), question("fs.write", &n.to_string(), seen));
        async move {
            let asked = opened(store.open_approval(new, START).await.unwrap());
            approve(&*store, &asked).await;
        }
    });
    race(asks).await;
    assert_eq!(store.last_event().await.unwrap(), 100);
    let mut events = Vec::new();
    while let Some(next) =
        Some(store.events(events.len() as u64, 7).await.unwrap()).filter(|e| !e.is_empty())
    {
        assert!(next.len() <= 7);
        events.extend(next);
    }
    assert!(events.iter().map(|event| event.id).eq(1..=100));
    let mut pending = std::collections::HashSet::new();
    for event in &events {
        match &event.event {
            Event::ApprovalCreated(about) => assert!(pending.insert(about.approval_id.clone())),
            Event::ApprovalResolved(about) => assert!(pending.remove(&about.approval_id)),
            other => panic!("{other:?}"),
        }
    }
    assert!(pending.is_empty());
    store.close().await;

    let store = place.open().await;
    ask(&*store, "fs.write", "later").await;
    assert_eq!(store.last_event().await.unwrap(), 101);
    store.close().await;
}

async fn events_tell_who_and_what(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    store
        .resolve(answer(&asked, Status::Denied, "human:alice", after(3)))
        .await
        .unwrap();
    let events = store.events(1, 10).await.unwrap();
    let [resolved] = &*events else {
        panic!("{events:?}")
    };
    assert_eq!((resolved.id, resolved.at), (2, after(3)));
    let Event::ApprovalResolved(about) = &resolved.event else {
        panic!("{resolved:?}")
    };
    assert_eq!(about.approval_id, asked.question.id);
    assert_eq!(
        (about.status, about.by.as_deref()),
        (Status::Denied, Some("human:alice"))
    );
    assert_eq!((&*about.agent_id, &*about.tool), ("claude", "fs.write"));
    store.close().await;
}

async fn events_wake_whoever_waits(place: &Place) {
    let store = place.open().await;
    let mut wake = store.wake();
    let waiter = tokio::spawn({
        let store = store.clone();
        async move {
            while store.last_event().await.unwrap() == 0 {
                wake.recv().await.unwrap();
            }
        }
    });
    ask(&*store, "fs.write", "a").await;
    tokio::time::timeout(Duration::from_secs(10), waiter)
        .await
        .expect("it wakes")
        .unwrap();
    store.close().await;
}

async fn recording_makes_no_events(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    approve(&*store, &asked).await;
    let before = store.last_event().await.unwrap();
    write(&*store, row("claude", None, "fs.read", START)).await;
    let seen = version(&*store).await;
    store
        .take(&asked.question.id, after(2), seen, None)
        .await
        .unwrap();
    store.record_note(note("nothing")).await.unwrap();
    assert_eq!(store.last_event().await.unwrap(), before);
    store.close().await;
}
