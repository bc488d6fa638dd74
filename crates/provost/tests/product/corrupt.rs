//! A database that is damaged, and one that fails.

use std::fs;

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{POLICY, Site},
};

/// A folder with some history, closed in order.
fn with_history(echo: &Echo) -> Site {
    let site = Site::new(echo, POLICY);
    let mut gateway = site.start();
    for n in 0..50 {
        let params = json!({"mark": format!("mark-{n:03}"), "filler": "x".repeat(1000)});
        gateway.agent().decide("notes.add", params).ok();
    }
    gateway.terminate();
    assert!(gateway.ended().success());
    site
}

type Damage = fn(&mut Vec<u8>);

#[test]
fn a_corrupt_database_is_named_and_left_alone() {
    let echo = Echo::start();
    let site = with_history(&echo);
    let whole = fs::read(site.database()).unwrap();
    assert!(whole.len() > 100_000, "{}", whole.len());
    let damages: [(&str, Damage); 5] = [
        ("another header", |file| {
            file[..16].copy_from_slice(b"Not a database!!");
        }),
        ("a header of zeros", |file| file[..100].fill(0)),
        ("a file of text", |file| {
            *file = b"listen: 127.0.0.1:9090\n".repeat(1000);
        }),
        ("garbage from the second page on", |file| {
            let mut noise = 7_u32;
            for byte in &mut file[4096..] {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = (noise >> 24) as u8;
            }
        }),
        ("half of it", |file| {
            file.truncate(file.len() / 2 / 4096 * 4096);
        }),
    ];
    for (what, damage) in damages {
        let mut damaged = whole.clone();
        damage(&mut damaged);
        fs::write(site.database(), &damaged).unwrap();
        let Err((status, log)) = site.try_start() else {
            panic!("{what}: it started all the same");
        };
        assert_eq!(status.code(), Some(1), "{what}: {log}");
        assert!(
            log.contains("provost.db"),
            "{what}: the file is not named: {log}"
        );
        assert!(log.contains("not changed"), "{what}: {log}");
        assert!(!log.contains("panicked"), "{what}: {log}");
        assert!(
            fs::read(site.database()).unwrap() == damaged,
            "{what}: the file was changed"
        );
    }
    // Put back, it is as it was.
    fs::write(site.database(), &whole).unwrap();
    let gateway = site.start();
    assert_eq!(gateway.traces().len(), 50);
    site.verify_chain(Some(&gateway));
}

/// Damage inside a record is nothing a start would see: the proof of the chain does, and says where.
#[test]
fn damage_inside_a_record_is_found_and_pointed_at() {
    let echo = Echo::start();
    let site = with_history(&echo);
    let whole = fs::read(site.database()).unwrap();
    for (what, bytes) in [
        ("other text", b"MARK-025"),
        ("no JSON", b"\"}}}}}}}"),
        ("no text at all", b"\xff\xfe\xfd\xfc-025"),
    ] {
        let mut damaged = whole.clone();
        let places: Vec<_> = (0..damaged.len() - 8)
            .filter(|at| damaged[*at..].starts_with(b"mark-025"))
            .collect();
        assert!(!places.is_empty());
        for at in places {
            damaged[at..at + 8].copy_from_slice(bytes);
        }
        fs::write(site.database(), &damaged).unwrap();
        let gateway = site.start();
        for output in [
            site.provost(&["traces", "verify", "--url", &gateway.url()]),
            {
                gateway.kill();
                site.verify_offline(&[])
            },
        ] {
            let said = String::from_utf8_lossy(&output.stdout);
            let wrong = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{what}: {said}{wrong}");
            // The first record is the note of the admin key; the calls follow.
            assert!(
                said.contains("breaks at record 27"),
                "{what}: {said}{wrong}"
            );
        }
        for leftover in ["provost.db-wal", "provost.db-shm"] {
            let _ = fs::remove_file(site.data().join(leftover));
        }
    }
}

#[test]
fn a_store_that_fails_allows_nothing() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let mut allowed = Vec::new();
    let mut refused = 0;
    // No file may grow beyond so many blocks: a full disk, as far as the store can tell.
    // The log of a new store holds 450 kB before the first call: a page for every table and index.
    let gateway = site.start_with_files_up_to(2000);
    let agent = gateway.agent();
    for n in 0..2000 {
        let id = format!("call-{n}");
        let params = json!({"id": id, "filler": "x".repeat(20_000)});
        // What is only decided is recorded as well; an even call also runs.
        let answer = match n % 2 {
            0 => agent.tool("notes.add", params),
            _ => agent.decide("notes.add", params),
        };
        if answer.status == 200 {
            assert_eq!(echo.executions(&id), 1 - n % 2);
            allowed.push((id, answer.trace_id()));
            continue;
        }
        answer.refused(503, "store_unavailable");
        assert_eq!(echo.executions(&id), 0, "it ran without a record");
        refused += 1;
        if refused == 5 {
            break;
        }
    }
    assert_eq!(refused, 5, "the disk never filled up");
    assert!(!allowed.is_empty());
    assert!(gateway.log().contains("store failed"), "{}", gateway.log());
    gateway.kill();

    // With room again, everything that was answered is there.
    let gateway = site.start();
    for (id, trace_id) in &allowed {
        assert_eq!(gateway.trace(trace_id)["params"]["id"], id.as_str());
    }
    site.verify_chain(Some(&gateway));
    gateway.agent().tool("notes.add", json!({})).ok();
}
