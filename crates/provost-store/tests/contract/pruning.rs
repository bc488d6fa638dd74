//! Forgetting what is old.

use provost_core::{
    approval::Status,
    ports::{Record, TraceFilter},
};

use crate::{making::*, place::Place};

crate::contract!(
    pruning_keeps_the_chain_whole,
    pruning_stops_at_the_first_record_that_is_kept,
    pruning_forgets_what_is_answered_and_keeps_what_is_open,
    pruning_everything_leaves_a_chain_to_go_on_from,
);

async fn pruning_keeps_the_chain_whole(place: &Place) {
    let store = place.open().await;
    // PostgreSQL's chain begins with a note of today.
    let begin = u64::from(store.kind() == "postgres");
    let seen = version(&*store).await;
    let old = (0..5000).map(|n| {
        let (store, row) = (
            store.clone(),
            row("claude", Some("s1"), "fs.read", after(n)),
        );
        async move { store.record(record(row, seen)).await.unwrap() }
    });
    race(old).await;
    write(&*store, row("claude", Some("s2"), "fs.new", after(10_000))).await;
    if begin == 1 {
        place
            .intrude("UPDATE traces SET at = 0 WHERE kind = 'note'")
            .await;
    }
    assert_eq!(
        store.prune(after(10_000), after(10_001)).await.unwrap(),
        5000 + begin
    );
    assert_eq!(
        verify(&*store).await.unwrap(),
        2,
        "what was kept, and the note"
    );
    let filter = TraceFilter {
        limit: 100,
        ..TraceFilter::default()
    };
    assert_eq!(store.traces(&filter).await.unwrap().len(), 1);
    assert_eq!(store.total_calls("claude").await.unwrap(), 5001, "ever");
    assert_eq!(store.activity(10).await.unwrap().len(), 1);

    let ends = store.chains().await.unwrap();
    let ends = ends
        .iter()
        .find(|ends| ends.head_seq > ends.anchor_seq)
        .unwrap();
    let kept = store
        .chain_records(&ends.chain, ends.anchor_seq, 10)
        .await
        .unwrap();
    let note: serde_json::Value = serde_json::from_str(&kept[1].as_ref().unwrap().body).unwrap();
    assert_eq!(note["note"], "pruned");
    assert_eq!(note["detail"]["chain"], *ends.chain);
    assert_eq!(note["detail"]["upto_seq"], ends.anchor_seq);
    let hash = provost_core::trace::chain::text(&ends.anchor_hash);
    assert_eq!(note["detail"]["anchor_hash"], hash);

    assert_eq!(
        store.prune(after(10_000), after(10_002)).await.unwrap(),
        0,
        "nothing is left to prune"
    );
    store.close().await;
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", after(10_003))).await;
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn pruning_stops_at_the_first_record_that_is_kept(place: &Place) {
    let store = place.open().await;
    for at in [100, 200, 5000, 300, 6000] {
        write(&*store, row("claude", None, &format!("fs.{at}"), after(at))).await;
    }
    place
        .intrude("UPDATE traces SET at = 0 WHERE kind = 'note'")
        .await;
    let notes = u64::from(store.kind() == "postgres");
    assert_eq!(
        store.prune(after(1000), after(7000)).await.unwrap(),
        2 + notes
    );
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn pruning_forgets_what_is_answered_and_keeps_what_is_open(place: &Place) {
    let store = place.open().await;
    let pending = ask(&*store, "fs.pending", "a").await;
    let waiting = ask(&*store, "fs.waiting", "a").await;
    approve(&*store, &waiting).await;
    let answered = ask(&*store, "fs.answered", "a").await;
    store
        .resolve(answer(&answered, Status::Denied, "human:a", after(1)))
        .await
        .unwrap();
    let seen = version(&*store).await;
    store
        .take(&answered.question.id, after(2), seen, None)
        .await
        .unwrap();
    let keyed = Record {
        key: Some(key("claude", "k1")),
        ..record(forwarded("claude", START), seen)
    };
    store.record(keyed).await.unwrap();

    store.prune(after(100), after(500)).await.unwrap();
    let known = async |id: &str| store.approval(id).await.unwrap().is_some();
    assert!(
        known(pending.question.id.as_str()).await,
        "a pending one is never forgotten"
    );
    assert!(
        known(waiting.question.id.as_str()).await,
        "its permit lasts until 600"
    );
    assert!(!known(answered.question.id.as_str()).await);
    assert_eq!(store.keyed_answer("claude", "k1").await.unwrap(), None);
    assert_eq!(store.events(0, 10).await.unwrap(), []);
    assert_eq!(
        store.last_event().await.unwrap(),
        5,
        "places are not used again"
    );
    store.prune(after(100), after(600)).await.unwrap();
    assert!(!known(waiting.question.id.as_str()).await);
    ask(&*store, "fs.next", "a").await;
    assert_eq!(store.events(0, 10).await.unwrap()[0].id, 6);
    store.close().await;
}

async fn pruning_everything_leaves_a_chain_to_go_on_from(place: &Place) {
    let store = place.open().await;
    for n in 0..3 {
        write(&*store, row("claude", None, "fs.read", after(n))).await;
    }
    place
        .intrude("UPDATE traces SET at = 0 WHERE kind = 'note'")
        .await;
    store.prune(after(1000), after(2000)).await.unwrap();
    assert_eq!(verify(&*store).await.unwrap(), 1);
    store.close().await;
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", after(3000))).await;
    verify(&*store).await.unwrap();
    store.close().await;
}
