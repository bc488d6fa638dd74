//! A record held against the heads that were kept of it in a second place.

use provost_core::{
    ports::{Store, StoreError},
    trace::{
        chain,
        kept::{Chains, Gap, KeptHeads, Pruners},
    },
};

use crate::{making::*, place::Place};

crate::contract!(
    p11_a_record_that_went_on_fits,
    p11_pruning_by_this_gateway_is_no_gap,
    p11_pruning_by_a_replica_needs_retention_and_a_note,
    p11_a_forged_pruning_is_a_gap,
    p11_another_store_is_not_followed,
    p11_a_lost_store_refuses_everything,
    p11_a_cut_end_is_a_gap,
    p11_a_record_that_was_hashed_anew_is_a_gap,
    p11_another_store_is_a_gap,
    p11_a_chain_that_is_gone_is_a_gap,
    p11_a_changed_chain_is_not_followed,
    p11_a_cut_end_is_noticed_while_nothing_is_written,
    p11_a_beginning_that_is_gone_is_a_gap,
    p11_a_chain_that_is_gone_is_noticed_while_nothing_is_written,
    p11_missing_ends_of_the_record_are_corruption,
    p11_a_head_that_is_held_back_is_a_gap,
    p11_ends_that_are_gone_are_a_gap,
    p11_what_was_written_is_kept_without_reading,
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
    let gaps = kept.gaps(&*store, Pruners::Nobody).await.unwrap();
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
    let (moved, gaps) = follow(&mut followed, &*store).await;
    assert!(moved && gaps.is_empty(), "{gaps:?}");
    assert_eq!(followed, KeptHeads::of(&*store).await.unwrap());
    assert!(!follow(&mut followed, &*store).await.0, "nothing moved");
    store.close().await;
}

async fn follow(kept: &mut KeptHeads, store: &dyn Store) -> (bool, Vec<Gap>) {
    let followed = kept.follow(store, Chains::All, Pruners::Nobody).await;
    followed.unwrap()
}

async fn p11_pruning_by_this_gateway_is_no_gap(place: &Place) {
    let mut kept = fill(place, 0).await;
    fill(place, 100).await;
    let store = place.open().await;
    assert_eq!(follow(&mut kept, &*store).await.1, []);
    for before in [5, 50, 105] {
        let cuts = store.prunable(after(before)).await.unwrap();
        kept.expect_pruning(&cuts);
        // A crash before it was pruned, and one after it.
        assert_eq!(follow(&mut kept, &*store).await.1, []);
        assert_eq!(kept.gaps(&*store, Pruners::Nobody).await.unwrap(), []);
        let pruned = store.prune_to(cuts, after(before), after(200)).await;
        pruned.unwrap();
        assert_eq!(kept.gaps(&*store, Pruners::Nobody).await.unwrap(), []);
        assert_eq!(follow(&mut kept, &*store).await.1, []);
        assert!(kept.chains.values().all(|head| head.pruning.is_none()));
    }
    store.close().await;
}

async fn p11_pruning_by_a_replica_needs_retention_and_a_note(place: &Place) {
    let kept = fill(place, 0).await;
    fill(place, 100).await;
    let store = place.open().await;
    let replicas = |outlived| Pruners::Replicas { outlived };
    let gaps = async |pruners| kept.gaps(&*store, pruners).await.unwrap();
    store.prune(after(5), after(200)).await.unwrap();
    assert_eq!(gaps(replicas(false)).await, []);
    let found = gaps(Pruners::Nobody).await;
    assert!(found[0].problem.contains("did not prune it"), "{found:?}");
    // Beyond what was kept, only where all of that is older than the retention.
    store.prune(after(105), after(200)).await.unwrap();
    assert_eq!(gaps(replicas(true)).await, []);
    let beyond = gaps(replicas(false)).await;
    let is_single = matches!(place, Place::Sqlite(_));
    assert_eq!(
        !beyond.is_empty(),
        is_single,
        "one chain goes on: {beyond:?}"
    );
    store.close().await;
    // Without the note, nobody may have done it.
    let erase =
        "UPDATE traces SET body = replace(body, '\"note\":\"pruned\"', '\"note\":\"other\"')";
    place.intrude(erase).await;
    let store = place.open_for_reading().await;
    let found = kept.gaps(&*store, replicas(false)).await.unwrap();
    assert!(!found.is_empty());
    store.close().await;
}

/// Everything goes, and a note at the new end of the chain says that it was pruned.
async fn p11_a_forged_pruning_is_a_gap(place: &Place) {
    let kept = fill(place, 0).await;
    let store = place.open().await;
    store.prune(after(1000), after(2000)).await.unwrap();
    verify(&*store).await.unwrap();
    store.close().await;
    let found = problems(place, &kept).await;
    assert!(found[0].contains("did not prune it"), "{found:?}");
}

async fn p11_another_store_is_not_followed(place: &Place) {
    let mut kept = fill(place, 0).await;
    let before = kept.clone();
    let other = Place::sqlite();
    fill(&other, 0).await;
    let store = other.open().await;
    let (moved, gaps) = follow(&mut kept, &*store).await;
    assert!(
        !moved && gaps[0].problem.contains("another record"),
        "{gaps:?}"
    );
    assert_eq!(kept, before);
    store.close().await;
}

async fn p11_a_lost_store_refuses_everything(place: &Place) {
    let store = place.open().await;
    store.ready().await.unwrap();
    store.lose("it was put back");
    let is_lost = |error: StoreError| matches!(error, StoreError::Lost(_));
    assert!(store.ready().await.is_err_and(is_lost));
    assert!(store.chains().await.is_err_and(is_lost));
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
    let (moved, gaps) = follow(&mut kept, &*store).await;
    assert!(!moved && gaps.len() == 1, "{gaps:?}");
    assert_eq!(kept, before, "the evidence stays");
    store.close().await;
}

/// The noted head is left as it was, so that nothing seems to have moved.
async fn p11_a_cut_end_is_noticed_while_nothing_is_written(place: &Place) {
    let store = place.open().await;
    for n in 0..10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
    }
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    place
        .intrude("DELETE FROM traces WHERE tool IN ('fs.8', 'fs.9')")
        .await;
    let (moved, gaps) = follow(&mut kept, &*store).await;
    assert!(!moved && gaps.len() == 1, "{gaps:?}");
    assert!(gaps[0].problem.contains("is missing"), "{gaps:?}");
    store.close().await;
}

async fn p11_a_chain_that_is_gone_is_noticed_while_nothing_is_written(place: &Place) {
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    place
        .intrude("DELETE FROM traces; DELETE FROM chains")
        .await;
    let (moved, gaps) = follow(&mut kept, &*store).await;
    assert!(!moved && gaps.len() == 1, "{gaps:?}");
    assert!(gaps[0].problem.contains("the chain is gone"), "{gaps:?}");
    store.close().await;
}

/// They are told from a store that is away for a moment.
async fn p11_missing_ends_of_the_record_are_corruption(place: &Place) {
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    for intrusion in [
        "DELETE FROM identity",
        "ALTER TABLE identity RENAME TO identity_away",
    ] {
        place.intrude(intrusion).await;
        let followed = kept.follow(&*store, Chains::All, Pruners::Nobody).await;
        let corrupt = matches!(followed, Err(StoreError::Corrupt(_)));
        assert!(corrupt, "{intrusion}: {followed:?}");
    }
    store.close().await;
}

async fn p11_a_beginning_that_is_gone_is_a_gap(place: &Place) {
    let kept = fill(place, 0).await;
    place
        .intrude("DELETE FROM traces WHERE tool IS NULL OR tool NOT IN ('fs.8', 'fs.9')")
        .await;
    let found = problems(place, &kept).await;
    let is_told = |problem: &String| problem.contains("its first, is missing");
    assert!(found.iter().any(is_told), "{found:?}");
}

/// What a trigger on the ends of the chain makes of them: the chain proves itself, and seems not to have moved.
async fn p11_a_head_that_is_held_back_is_a_gap(place: &Place) {
    let store = place.open().await;
    for n in 0..10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
    }
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    write(&*store, row("claude", None, "fs.hidden", after(10))).await;
    let held_back = "UPDATE chains SET head_seq = head_seq - 1, head_hash = \
         (SELECT hash FROM traces WHERE tool = 'fs.9') WHERE head_seq > 10";
    place.intrude(held_back).await;
    let written = store.written_head().unwrap();
    assert!(kept.advance(Some(written.clone())));
    let (_, gaps) = follow(&mut kept, &*store).await;
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!(gaps[0].problem.contains("it ends at record"), "{gaps:?}");
    let head = &kept.chains[&written.chain];
    assert_eq!(
        (head.seq, &head.hash),
        (written.seq, &chain::text(&written.hash))
    );
    store.close().await;
    // The next start knows of it as well.
    place
        .intrude("DELETE FROM traces WHERE tool = 'fs.hidden'")
        .await;
    let found = problems(place, &kept).await;
    assert!(found[0].contains("it had come to record"), "{found:?}");
}

/// Its records are there still.
async fn p11_ends_that_are_gone_are_a_gap(place: &Place) {
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    place.intrude("DELETE FROM chains").await;
    let (moved, gaps) = follow(&mut kept, &*store).await;
    assert!(!moved && gaps.len() == 1, "{gaps:?}");
    store.close().await;
}

async fn p11_what_was_written_is_kept_without_reading(place: &Place) {
    let store = place.open().await;
    let mut kept = KeptHeads::of(&*store).await.unwrap();
    assert!(!kept.advance(store.written_head()), "nothing was written");
    for n in 0..10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
        assert!(kept.advance(store.written_head()), "{n}");
        assert_eq!(kept, KeptHeads::of(&*store).await.unwrap());
        assert!(!kept.advance(store.written_head()), "{n}");
    }
    assert_eq!(follow(&mut kept, &*store).await, (false, Vec::new()));
    store.close().await;
    let store = place.open_for_reading().await;
    assert_eq!(store.written_head(), None);
    store.close().await;
}
