//! A record held against the heads that were kept of it in a second place.

use provost_core::trace::{chain, kept::KeptHeads};

use crate::{making::*, place::Place};

crate::contract!(
    p11_a_record_that_went_on_fits,
    p11_pruning_is_no_gap,
    p11_a_cut_end_is_a_gap,
    p11_a_record_that_was_hashed_anew_is_a_gap,
    p11_another_store_is_a_gap,
    p11_a_chain_that_is_gone_is_a_gap,
    p11_a_changed_chain_is_not_followed,
);

async fn fill(place: &Place, from: u64) -> KeptHeads {
    let store = place.open().await;
    for n in from..from + 10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
    }
    let kept = KeptHeads::of(&*store).await.unwrap();
    store.close().await;
    kept
}

async fn problems(place: &Place, kept: &KeptHeads) -> Vec<String> {
    let store = place.open_for_reading().await;
    let gaps = kept.gaps(&*store).await.unwrap();
    store.close().await;
    gaps.into_iter().map(|gap| gap.problem).collect()
}

async fn p11_a_record_that_went_on_fits(place: &Place) {
    let kept = fill(place, 0).await;
    assert!(problems(place, &kept).await.is_empty());
    fill(place, 10).await;
    assert!(problems(place, &kept).await.is_empty());

    let store = place.open().await;
    let mut followed = kept.clone();
    write(&*store, row("claude", None, "fs.read", START)).await;
    let (moved, gaps) = followed.follow(&*store).await.unwrap();
    assert!(moved && gaps.is_empty(), "{gaps:?}");
    assert_eq!(followed, KeptHeads::of(&*store).await.unwrap());
    assert!(!followed.follow(&*store).await.unwrap().0, "nothing moved");
    store.close().await;
}

async fn p11_pruning_is_no_gap(place: &Place) {
    let kept = fill(place, 0).await;
    fill(place, 100).await;
    let store = place.open().await;
    for before in [5, 50, 105] {
        store.prune(after(before), after(200)).await.unwrap();
        assert_eq!(kept.gaps(&*store).await.unwrap(), []);
    }
    let mut followed = kept.clone();
    assert_eq!(followed.follow(&*store).await.unwrap().1, []);
    store.close().await;
}

/// The end is cut off, and the noted head moved back: the chain proves itself.
const CUT: &str = "DELETE FROM traces WHERE tool IN ('fs.8', 'fs.9'); \
     UPDATE chains SET head_seq = head_seq - 2, head_hash = \
     (SELECT hash FROM traces WHERE tool = 'fs.7') WHERE head_seq > 8";

async fn p11_a_cut_end_is_a_gap(place: &Place) {
    let kept = fill(place, 0).await;
    place.intrude(CUT).await;
    let store = place.open_for_reading().await;
    verify(&*store).await.unwrap();
    store.close().await;
    let found = problems(place, &kept).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("it ends at record"), "{found:?}");
    // Also where the noted head was left as it was.
    place
        .intrude("UPDATE chains SET head_seq = head_seq + 2 WHERE head_seq > 7")
        .await;
    let found = problems(place, &kept).await;
    assert!(found[0].contains("is missing"), "{found:?}");
    // And where others were written instead.
    place
        .intrude("UPDATE chains SET head_seq = head_seq - 2 WHERE head_seq > 9")
        .await;
    fill(place, 20).await;
    assert_eq!(problems(place, &kept).await.len(), 1);
}

async fn p11_a_record_that_was_hashed_anew_is_a_gap(place: &Place) {
    let kept = fill(place, 0).await;
    let store = place.open_for_reading().await;
    let ends = store.chains().await.unwrap();
    let ends = ends.iter().find(|ends| ends.head_seq >= 10).unwrap();
    let records = store.chain_records(&ends.chain, 0, 100).await.unwrap();
    store.close().await;
    let bytes = |hash: &chain::Hash| match place {
        Place::Sqlite(_) => format!("x'{}'", chain::text(hash)),
        Place::Postgres { .. } => format!("'\\x{}'", chain::text(hash)),
    };
    let (mut hash, mut sql) = (ends.anchor_hash, String::new());
    for record in records.into_iter().map(Result::unwrap) {
        let body = record.body.replace("fs.4", "fs.x");
        hash = chain::next(&hash, record.seq, record.kind, &body);
        let (body, place) = (body.replace('\'', "''"), record.place);
        let hash = bytes(&hash);
        let update =
            format!("UPDATE traces SET body = '{body}', hash = {hash} WHERE place = {place};");
        sql.push_str(&update);
    }
    let hash = bytes(&hash);
    let update = format!("UPDATE chains SET head_hash = {hash} WHERE head_seq >= 10;");
    sql.push_str(&update);
    place.intrude(&sql).await;
    let store = place.open_for_reading().await;
    verify(&*store).await.unwrap();
    store.close().await;
    let found = problems(place, &kept).await;
    assert!(found[0].contains("rewritten"), "{found:?}");
    // It does not help to go on from there.
    fill(place, 30).await;
    assert!(problems(place, &kept).await[0].contains("rewritten"));
}

async fn p11_another_store_is_a_gap(place: &Place) {
    let kept = fill(place, 0).await;
    let other = Place::sqlite();
    fill(&other, 0).await;
    let found = problems(&other, &kept).await;
    assert!(found[0].contains("another record"), "{found:?}");
}

async fn p11_a_chain_that_is_gone_is_a_gap(place: &Place) {
    let kept = fill(place, 0).await;
    place
        .intrude("DELETE FROM traces; DELETE FROM chains")
        .await;
    let found = problems(place, &kept).await;
    assert!(found[0].contains("the chain is gone"), "{found:?}");
}

async fn p11_a_changed_chain_is_not_followed(place: &Place) {
    let store = place.open().await;
    for n in 0..10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
    }
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    let before = kept.clone();
    place.intrude(CUT).await;
    let (moved, gaps) = kept.follow(&*store).await.unwrap();
    assert!(!moved && gaps.len() == 1, "{gaps:?}");
    assert_eq!(kept, before, "the evidence stays");
    store.close().await;
}
