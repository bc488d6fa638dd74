//! A store opened for reading: beside a gateway or without one, it changes nothing.

use std::fs;

use provost_core::ports::StoreError;
use provost_store::{OpenError, open_for_reading};

use crate::{making::*, place::Place};

crate::contract!(
    it_reads_beside_a_gateway_and_refuses_to_write,
    other_schemas_are_refused,
    a_store_that_is_not_there_is_not_made,
);

async fn refusal(place: &Place) -> OpenError {
    match open_for_reading(&place.config()).await {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

async fn it_reads_beside_a_gateway_and_refuses_to_write(place: &Place) {
    let store = place.open().await;
    let first = forwarded("claude", START);
    write(&*store, first.clone()).await;
    let reader = place.open_for_reading().await;
    assert_eq!(
        reader.chains().await.unwrap(),
        store.chains().await.unwrap()
    );
    let seen = version(&*store).await;
    let new = record(row("claude", None, "fs.read", START), seen);
    let asked = ask(&*store, "fs.write", "a").await;
    let refusals = [
        reader.record(new).await.err(),
        reader.record_note(note("x")).await.err(),
        reader
            .record_outcome(outcome(&first, "done"), None)
            .await
            .err(),
        reader
            .resolve(answer(
                &asked,
                provost_core::approval::Status::Denied,
                "human:alice",
                after(1),
            ))
            .await
            .err(),
        reader.prune(after(9), after(9)).await.err(),
        reader.recover(after(9)).await.err(),
        reader.ready().await.err(),
    ];
    for refused in refusals {
        assert!(
            matches!(refused, Some(StoreError::Failed(_))),
            "{refused:?}"
        );
    }
    // What is written meanwhile is seen, and the gateway goes on when the reader has gone.
    write(&*store, row("claude", None, "fs.read", START)).await;
    assert_eq!(store.total_calls("claude").await.unwrap(), 2);
    assert_eq!(reader.total_calls("claude").await.unwrap(), 2);
    reader.close().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn other_schemas_are_refused(place: &Place) {
    place.open().await.close().await;
    place
        .intrude("UPDATE schema_version SET version = 99")
        .await;
    let error = refusal(place).await;
    assert!(
        matches!(error, OpenError::NewerSchema { found: 99, .. }),
        "{error}"
    );
    place
        .intrude("UPDATE schema_version SET version = -1")
        .await;
    let error = refusal(place).await;
    assert!(
        matches!(error, OpenError::OlderSchema { found: -1, .. }),
        "{error}"
    );
}

async fn a_store_that_is_not_there_is_not_made(place: &Place) {
    for _ in 0..2 {
        let error = refusal(place).await;
        assert!(matches!(error, OpenError::Missing { .. }), "{error}");
    }
    if let Place::Sqlite(folder) = place {
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_damaged_file_is_named() {
    let place = Place::sqlite();
    fs::write(place.file(), "Dear diary, this is no database.").unwrap();
    let error = refusal(&place).await;
    assert!(matches!(error, OpenError::NotADatabase { .. }), "{error}");
    fs::write(place.file(), "").unwrap();
    let error = refusal(&place).await;
    assert!(matches!(error, OpenError::Missing { .. }), "{error}");
    fs::remove_file(place.file()).unwrap();
    place.intrude("CREATE TABLE recipes (name TEXT)").await;
    let error = refusal(&place).await;
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    fs::remove_file(place.file()).unwrap();

    place.open().await.close().await;
    let mut bytes = fs::read(place.file()).unwrap();
    bytes[100..2000].fill(0xAA);
    fs::write(place.file(), &bytes).unwrap();
    let error = refusal(&place).await;
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    assert_eq!(fs::read(place.file()).unwrap(), bytes);
}

/// A process that was killed leaves its log behind: what it wrote last stands there.
#[tokio::test]
async fn what_a_killed_process_wrote_is_read() {
    let (place, left) = (Place::sqlite(), Place::sqlite());
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    for suffix in ["", "-wal"] {
        let name = |place: &Place| format!("{}{suffix}", place.file().display());
        fs::copy(name(&place), name(&left)).unwrap();
    }
    let before = fs::read(left.file()).unwrap();
    let reader = left.open_for_reading().await;
    assert_eq!(verify(&*reader).await.unwrap(), 1);
    reader.close().await;
    assert_eq!(fs::read(left.file()).unwrap(), before);
    let again = left.open().await;
    assert_eq!(verify(&*again).await.unwrap(), 1);
    again.close().await;
    store.close().await;
}
