//! Stores that cannot be opened say why, and stay as they are.

use std::{fs, os::unix::fs::PermissionsExt as _};

use provost_store::{OpenError, StoreConfig, open};

use crate::{making::*, place::Place};

crate::contract!(
    a_schema_of_the_future_is_refused,
    a_store_opens_again_and_again
);

async fn a_schema_of_the_future_is_refused(place: &Place) {
    place.open().await.close().await;
    place
        .intrude("UPDATE schema_version SET version = 99")
        .await;
    let Err(error) = place.try_open().await else {
        panic!("it opened")
    };
    assert!(
        matches!(error, OpenError::NewerSchema { found: 99, .. }),
        "{error}"
    );
}

async fn a_store_opens_again_and_again(place: &Place) {
    for _ in 0..3 {
        let store = place.open().await;
        write(&*store, row("claude", None, "fs.read", START)).await;
        verify(&*store).await.unwrap();
        store.close().await;
    }
    let store = place.open().await;
    assert_eq!(store.total_calls("claude").await.unwrap(), 3);
    store.close().await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    for content in [&b"Dear diary, this is not a database at all."[..], b"short"] {
        let place = Place::sqlite();
        fs::write(place.file(), content).unwrap();
        let Err(error) = place.try_open().await else {
            panic!("it opened")
        };
        assert!(
            matches!(&error, OpenError::NotADatabase { path } if *path == place.file()),
            "{error}"
        );
        assert_eq!(fs::read(place.file()).unwrap(), content);
    }
}

#[tokio::test]
async fn a_damaged_file_is_left_alone() {
    let place = Place::sqlite();
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    store.close().await;
    let mut bytes = fs::read(place.file()).unwrap();
    for damage in ["truncated", "scribbled"] {
        if damage == "truncated" {
            bytes.truncate(bytes.len() / 2);
        } else {
            bytes[100..2000].fill(0xAA);
        }
        fs::write(place.file(), &bytes).unwrap();
        let Err(error) = place.try_open().await else {
            panic!("it opened, {damage}")
        };
        assert!(
            matches!(&error, OpenError::Corrupt { .. }),
            "{damage}: {error}"
        );
        assert!(error.to_string().contains("provost.db") && error.help().contains("backup"));
        assert_eq!(fs::read(place.file()).unwrap(), bytes, "{damage}");
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let place = Place::sqlite();
    place.intrude("CREATE TABLE recipes (name TEXT)").await;
    let before = fs::read(place.file()).unwrap();
    let Err(error) = place.try_open().await else {
        panic!("it opened")
    };
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert_eq!(fs::read(place.file()).unwrap(), before);
}

#[tokio::test]
async fn one_file_is_used_by_one_process() {
    let place = Place::sqlite();
    let store = place.open().await;
    let Err(error) = place.try_open().await else {
        panic!("it opened")
    };
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("provost.db"));
    store.close().await;
    place.open().await.close().await;
}

/// A second name has a lock and a log of its own.
#[tokio::test]
async fn p11_a_file_with_two_names_is_refused() {
    let place = Place::sqlite();
    place.open().await.close().await;
    let other = place.file().with_file_name("other.db");
    fs::hard_link(place.file(), &other).unwrap();
    let refused = || async {
        let Err(error) = place.try_open().await else {
            panic!("it opened")
        };
        assert!(matches!(error, OpenError::Linked { .. }), "{error}");
        assert!(error.help().contains("hard links"));
    };
    refused().await;
    fs::remove_file(place.file()).unwrap();
    std::os::unix::fs::symlink(&other, place.file()).unwrap();
    refused().await;
    fs::rename(&other, place.file()).unwrap();
    place.open().await.close().await;
}

#[tokio::test]
async fn only_the_owner_may_read_the_file() {
    let place = Place::sqlite();
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    for suffix in ["", "-wal", ".lock"] {
        let file = format!("{}{suffix}", place.file().display());
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "{file}"
        );
    }
    store.close().await;
}

#[tokio::test]
async fn a_folder_that_is_missing_is_named() {
    let config = StoreConfig::Sqlite {
        path: "/nowhere/at/all/provost.db".into(),
    };
    let Err(error) = open(&config).await else {
        panic!("it opened")
    };
    assert!(matches!(error, OpenError::Unusable { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/at/all"));
}

#[tokio::test]
async fn damage_found_later_is_told_as_such() {
    let place = Place::sqlite();
    let store = place.open().await;
    for n in 0..200 {
        write(&*store, row("claude", None, "fs.read", after(n))).await;
    }
    let asked = ask(&*store, "fs.write", "a").await;
    store.close().await;
    place
        .intrude("UPDATE approvals SET question = 'nonsense'")
        .await;
    let store = place.open().await;
    let error = store
        .approval(asked.question.id.as_str())
        .await
        .unwrap_err();
    assert!(
        matches!(error, provost_core::ports::StoreError::Corrupt(_)),
        "{error}"
    );
    store.close().await;
}

#[tokio::test]
async fn a_server_that_is_away_is_named_without_its_password() {
    let url = "postgres://bob:s3cret@127.0.0.1:1/provost".to_owned();
    let Err(error) = open(&StoreConfig::Postgres { url }).await else {
        panic!("it opened")
    };
    assert!(matches!(error, OpenError::Connect { .. }), "{error}");
    let text = format!("{error} {error:?}");
    assert!(
        text.contains("127.0.0.1:1/provost") && !text.contains("s3cret"),
        "{text}"
    );
}
