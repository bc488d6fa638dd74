//! Files that are deleted or replaced under a running store: nothing is decided from then on.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use provost_core::ports::{Store, StoreError};

use crate::{making::*, place::Place};

crate::contract!(p11_a_store_keeps_its_identity);

async fn p11_a_store_keeps_its_identity(place: &Place) {
    let store = place.open().await;
    let identity = store.identity().await.unwrap();
    assert_eq!(identity.len(), 32, "{identity}");
    let live = store.live_chains().await.unwrap();
    assert_eq!(live.len(), 1, "{live:?}");
    store.close().await;
    let store = place.open().await;
    assert_eq!(store.identity().await.unwrap(), identity);
    store.close().await;
    let store = place.open_for_reading().await;
    assert_eq!(store.identity().await.unwrap(), identity);
    store.close().await;
    let other = Place::sqlite();
    let store = other.open().await;
    assert_ne!(store.identity().await.unwrap(), identity);
    store.close().await;
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    format!("{}{ending}", database.display()).into()
}

/// Replaced as an editor or `mv` does it.
fn replace(path: &Path) {
    let other = beside(path, ".other");
    fs::copy(path, &other).unwrap();
    fs::rename(other, path).unwrap();
}

type Harm = fn(&Path);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_a_store_whose_files_are_gone_decides_nothing() {
    let harms: [(&str, Harm); 6] = [
        ("database deleted", |db| fs::remove_file(db).unwrap()),
        ("database replaced", replace),
        ("log deleted", |db| {
            fs::remove_file(beside(db, "-wal")).unwrap();
        }),
        ("log replaced", |db| replace(&beside(db, "-wal"))),
        ("log emptied", |db| {
            File::create(beside(db, "-wal")).unwrap();
        }),
        ("folder moved", |db| {
            let folder = db.parent().unwrap();
            fs::rename(folder, folder.with_extension("away")).unwrap();
        }),
    ];
    for (what, harm) in harms {
        let place = Place::sqlite();
        let store = place.open().await;
        write(&*store, row("claude", None, "fs.read", START)).await;
        let seen = version(&*store).await;
        harm(&place.file());
        // The very next write is refused, and everything after it.
        for _ in 0..3 {
            let refused = store
                .record(record(row("claude", None, "fs.read", START), seen))
                .await;
            assert!(
                matches!(refused, Err(StoreError::Lost(_))),
                "{what}: {refused:?}"
            );
        }
        let ready = store.ready().await;
        assert!(
            matches!(ready, Err(StoreError::Lost(_))),
            "{what}: {ready:?}"
        );
        // What was answered before could be answered from memory: reads are refused, too.
        let read = store.control().await;
        assert!(matches!(read, Err(StoreError::Lost(_))), "{what}: {read:?}");
        store.close().await;
    }
}

/// Whether it says so by itself.
async fn notices(store: &dyn Store) -> bool {
    let mut look = tokio::time::interval(Duration::from_millis(20));
    let noticed = async {
        while !matches!(store.control_version().await, Err(StoreError::Lost(_))) {
            look.tick().await;
        }
    };
    let noticed = tokio::time::timeout(Duration::from_secs(10), noticed).await;
    noticed.is_ok()
}

/// Without a write, within the second that is stated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_an_idle_store_notices_that_its_files_are_gone() {
    let harms: [(&str, Harm); 5] = [
        ("database deleted", |db| fs::remove_file(db).unwrap()),
        ("index deleted", |db| {
            fs::remove_file(beside(db, "-shm")).unwrap();
        }),
        ("lock deleted", |db| {
            fs::remove_file(beside(db, ".lock")).unwrap();
        }),
        ("database emptied", |db| {
            File::create(db).unwrap();
        }),
        ("database overwritten", |db| {
            let length = fs::metadata(db).unwrap().len();
            fs::write(db, vec![b'x'; length as usize]).unwrap();
        }),
    ];
    for (what, harm) in harms {
        let place = Place::sqlite();
        let store = place.open().await;
        write(&*store, row("claude", None, "fs.read", START)).await;
        harm(&place.file());
        assert!(notices(&*store).await, "{what}");
        assert!(store.ready().await.is_err(), "{what}");
        store.close().await;
    }
}

/// An older copy over the open file, as `cp` does it: the same inode, another content.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_an_older_copy_over_the_open_file_is_noticed() {
    let place = Place::sqlite();
    place.open().await.close().await;
    let older = fs::read(place.file()).unwrap();
    let store = place.open().await;
    for n in 0..200 {
        let tool = format!("fs.{n}.{}", "x".repeat(2000));
        write(&*store, row("claude", None, &tool, START)).await;
    }
    store.close().await;
    let store = place.open().await;
    fs::write(place.file(), older).unwrap();
    assert!(notices(&*store).await);
    store.close().await;
}

/// A backup that is put back under a running gateway keeps its files when that gateway ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_what_stands_there_instead_is_left_alone() {
    let place = Place::sqlite();
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    for ending in ["", "-wal", "-shm"] {
        let path = beside(&place.file(), ending);
        fs::remove_file(&path).unwrap();
        fs::write(&path, format!("a backup{ending}")).unwrap();
    }
    assert!(store.ready().await.is_err());
    store.close().await;
    drop(store);
    for ending in ["", "-wal", "-shm"] {
        let text = fs::read_to_string(beside(&place.file(), ending)).unwrap();
        assert_eq!(text, format!("a backup{ending}"));
    }
}

/// What other programs may do with SQLite beside us.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_reading_copying_and_writing_back_are_no_loss() {
    let place = Place::sqlite();
    let store = place.open().await;
    let seen = version(&*store).await;
    for n in 0..20 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
        match n % 4 {
            0 => {
                let emptied = rusqlite::Connection::open(place.file()).unwrap();
                let mode = "PRAGMA wal_checkpoint(TRUNCATE)";
                emptied.query_row(mode, [], |_| Ok(())).unwrap();
            }
            1 => {
                let copy = beside(&place.file(), &format!(".{n}"));
                fs::hard_link(place.file(), copy).unwrap();
            }
            2 => place.intrude("SELECT count(*) FROM traces").await,
            _ => {}
        }
    }
    let done = store
        .record(record(row("claude", None, "fs.read", START), seen))
        .await;
    assert!(done.is_ok(), "{done:?}");
    verify(&*store).await.unwrap();
    store.close().await;
}
