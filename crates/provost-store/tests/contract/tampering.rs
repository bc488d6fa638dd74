//! Whoever changes the record behind the store's back is found out.

use crate::{making::*, place::Place};

crate::contract!(
    a_changed_record_shows,
    a_removed_record_shows,
    a_cut_end_shows_even_after_more_was_written,
    an_end_cut_under_a_writer_shows_and_stops_nobody,
);

async fn written(place: &Place) {
    let store = place.open().await;
    for n in 0..10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
    }
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn a_changed_record_shows(place: &Place) {
    written(place).await;
    place
        .intrude("UPDATE traces SET body = replace(body, 'fs.4', 'fs.x') WHERE tool = 'fs.4'")
        .await;
    let store = place.open().await;
    assert!(verify(&*store).await.is_err());
    store.close().await;
}

async fn a_removed_record_shows(place: &Place) {
    written(place).await;
    place
        .intrude("DELETE FROM traces WHERE tool = 'fs.4'")
        .await;
    let store = place.open().await;
    assert!(verify(&*store).await.is_err());
    store.close().await;
}

async fn a_cut_end_shows_even_after_more_was_written(place: &Place) {
    written(place).await;
    place
        .intrude("DELETE FROM traces WHERE tool IN ('fs.8', 'fs.9')")
        .await;
    let store = place.open().await;
    assert!(verify(&*store).await.is_err());
    write(&*store, row("claude", None, "fs.read", START)).await;
    assert!(verify(&*store).await.is_err());
    store.close().await;
}

async fn an_end_cut_under_a_writer_shows_and_stops_nobody(place: &Place) {
    written(place).await;
    let store = place.open().await;
    place
        .intrude("DELETE FROM traces WHERE tool IN ('fs.8', 'fs.9')")
        .await;
    for n in 10..20 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
    }
    assert!(verify(&*store).await.is_err());
    store.close().await;
}
