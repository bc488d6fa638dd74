use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;

use super::*;

const KINDS: [Kind; 4] = [
    Kind::SessionUpdate,
    Kind::AgentNotification,
    Kind::PermissionRequest,
    Kind::PromptComplete,
];

fn body(sequence: u64, kind: Kind, len: usize) -> Bytes {
    let head = format!(
        r#"{{"kind":"{}","promptId":"p","sequence":{sequence},"x":""#,
        kind.as_str()
    );
    let fill = "x".repeat(len.saturating_sub(head.len() + 2));
    Bytes::from(format!("{head}{fill}\"}}"))
}

fn bounds(memory: usize, disk: u64) -> Bounds {
    Bounds { memory, disk }
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

#[tokio::test]
async fn memory_first_then_disk_then_the_oldest_goes() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, left) = Spool::open(folder.path(), "p").unwrap();
    let mut queue = Queue::new(bounds(250, 250), Some(spool), left);
    let update = |queue: &mut Queue, sequence| {
        queue.push(
            sequence,
            Kind::SessionUpdate,
            1,
            body(sequence, Kind::SessionUpdate, 100),
        )
    };
    for sequence in 1..=4 {
        assert!(update(&mut queue, sequence).is_empty());
    }
    assert_eq!((queue.memory, queue.disk), (200, 200));
    assert_eq!(queue.next().unwrap().sequence, 1);
    // The first is in flight and is not taken back.
    assert_eq!(numbers(&update(&mut queue, 5)), [2]);
    let end = body(6, Kind::PromptFailed, 5_000);
    assert_eq!(
        numbers(&queue.push(6, Kind::PromptFailed, 0, end)),
        [3, 4, 5]
    );
    assert_eq!(queue.len(), 2);
    queue.settle();
    let last = queue.next().unwrap();
    assert!(matches!(last.stored, Stored::Disk(_)));
    assert_eq!(
        last.body().await.unwrap(),
        body(6, Kind::PromptFailed, 5_000)
    );
}

#[test]
fn without_a_folder_memory_is_the_bound_and_a_giant_goes_alone() {
    let mut queue = Queue::new(bounds(1_000, 1 << 30), None, Vec::new());
    let giant = body(1, Kind::SessionUpdate, 9_000);
    assert!(queue.push(1, Kind::SessionUpdate, 1, giant).is_empty());
    let small = body(2, Kind::SessionUpdate, 100);
    assert_eq!(numbers(&queue.push(2, Kind::SessionUpdate, 1, small)), [1]);
    let end = body(3, Kind::PromptComplete, 950);
    assert_eq!(numbers(&queue.push(3, Kind::PromptComplete, 0, end)), [2]);
    let late = body(4, Kind::SessionUpdate, 100);
    assert_eq!(numbers(&queue.push(4, Kind::SessionUpdate, 1, late)), [4]);
    assert_eq!((queue.next().unwrap().sequence, queue.keep()), (3, 0));
}

#[test]
fn a_disk_that_fails_costs_updates_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, left) = Spool::open(folder.path(), "p").unwrap();
    let mut queue = Queue::new(bounds(250, 1 << 20), Some(spool), left);
    drop(folder);
    let push = |queue: &mut Queue, sequence, kind| {
        numbers(&queue.push(sequence, kind, 1, body(sequence, kind, 100)))
    };
    assert!(push(&mut queue, 1, Kind::SessionUpdate).is_empty());
    assert!(push(&mut queue, 2, Kind::SessionUpdate).is_empty());
    assert_eq!(push(&mut queue, 3, Kind::SessionUpdate), [3]);
    assert!(push(&mut queue, 4, Kind::PromptFailed).is_empty());
    assert_eq!((queue.len(), queue.keep()), (3, 0));
}

#[test]
fn what_is_kept_is_private_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("deep/spool");
    let (spool, left) = Spool::open(&base, "p").unwrap();
    let mut queue = Queue::new(bounds(1 << 20, 1 << 20), Some(spool), left);
    for (sequence, kind) in [(7, Kind::SessionUpdate), (8, Kind::PromptComplete)] {
        queue.push(sequence, kind, 1, body(sequence, kind, 100));
    }
    queue.next();
    assert_eq!(queue.keep(), 2);

    let inner = fs::read_dir(&base).unwrap().next().unwrap().unwrap().path();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&base), mode(&inner)), (0o700, 0o700));
    for file in fs::read_dir(&inner).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    fs::write(inner.join("00.session_update.json"), "{torn").unwrap();
    fs::write(inner.join("01.session_update.part"), "{torn").unwrap();

    assert!(Spool::open(&base, "another").unwrap().1.is_empty());
    let (spool, left) = Spool::open(&base, "p").unwrap();
    let mut queue = Queue::new(bounds(1 << 20, 1 << 20), Some(spool), left);
    assert_eq!(queue.next().unwrap().sequence, 7);
    queue.settle();
    assert_eq!(queue.next().unwrap().kind, Kind::PromptComplete);
    queue.settle();
    assert_eq!((queue.len(), queue.disk), (0, 0));
}

#[test]
fn an_end_is_on_disk_as_soon_as_it_is_owed() {
    let folder = tempfile::tempdir().unwrap();
    let (spool, left) = Spool::open(folder.path(), "p").unwrap();
    let mut queue = Queue::new(bounds(1 << 20, 1 << 20), Some(spool), left);
    for (sequence, kind) in [(1, Kind::SessionUpdate), (2, Kind::PromptFailed)] {
        queue.push(sequence, kind, 1, body(sequence, kind, 100));
    }
    // Killed before it could tidy up.
    let (_, left) = Spool::open(folder.path(), "p").unwrap();
    let left: Vec<_> = left.iter().map(|one| (one.sequence, one.kind)).collect();
    // With what goes before it.
    assert_eq!(left, [(1, Kind::SessionUpdate), (2, Kind::PromptFailed)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_holds_the_bounds_hold_and_only_updates_go(
        steps in prop::collection::vec((0_usize..6, 80_usize..900), 1..80),
        with_disk: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let spool = with_disk.then(|| Spool::open(folder.path(), "p").unwrap().0);
        let mut queue = Queue::new(bounds(2_000, 3_000), spool, Vec::new());
        let (mut sent, mut gone) = (Vec::new(), Vec::new());
        let (mut sequence, mut protected) = (0, 0);
        for (step, len) in steps {
            let Some(kind) = KINDS.get(step) else {
                sent.extend(queue.next().map(|entry| entry.sequence));
                queue.settle();
                continue;
            };
            sequence += 1;
            protected += usize::from(!kind.may_be_dropped()) * len.max(120);
            for entry in queue.push(sequence, *kind, 1, body(sequence, *kind, len)) {
                prop_assert!(entry.kind.may_be_dropped());
                gone.push(entry.sequence);
            }
            prop_assert!(queue.memory <= 2_000 + protected);
            prop_assert!(queue.disk <= 3_000 + protected as u64);
        }
        while let Some(entry) = queue.next() {
            sent.push(entry.sequence);
            queue.settle();
        }
        prop_assert!(sent.is_sorted());
        sent.extend(gone);
        sent.sort_unstable();
        prop_assert_eq!(sent, (1..=sequence).collect::<Vec<_>>());
        prop_assert_eq!((queue.memory, queue.disk), (0, 0));
    }
}
