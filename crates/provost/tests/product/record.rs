//! The record is lost, cut or replaced: a gateway that runs stops deciding, and one that starts refuses.

use std::{
    fs,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

use provost_core::trace::{RecordKind, chain};
use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{POLICY, Site, eventually},
    relay::Relay,
    replicas::Database,
};

fn told(output: &Output) -> String {
    let (said, noted) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&said[..], noted].concat()).into_owned()
}

/// Some calls, closed in order.
fn fill(site: &Site) {
    let mut gateway = site.start();
    for n in 0..5 {
        gateway.agent().tool("notes.add", json!({"n": n})).ok();
    }
    gateway.terminate();
    assert!(gateway.ended().success());
}

/// The gateway does not start, and `traces verify` ends with 1. Both say what is wrong and what to do.
#[track_caller]
fn refused(site: &Site, problem: &str) {
    for _ in 0..2 {
        let Err((status, log)) = site.try_start() else {
            panic!("it started all the same");
        };
        assert_eq!(status.code(), Some(1), "{log}");
        assert!(log.contains(problem), "{problem}: {log}");
        assert!(log.contains("provost traces accept-gap"), "{log}");
    }
    let verified = site.verify_offline(&[]);
    let said = told(&verified);
    assert_eq!(verified.status.code(), Some(1), "{said}");
    assert!(said.contains(problem), "{problem}: {said}");
    assert!(said.contains("NOT intact"), "{said}");
    let verified = site.verify_offline(&["--json"]);
    assert_eq!(verified.status.code(), Some(1), "{}", told(&verified));
}

/// Somebody says that it is meant to be so; it works again, and the record tells.
#[track_caller]
fn accepted(site: &Site) {
    let output = site.provost(&["traces", "accept-gap", "--reason", "backup of Monday"]);
    assert!(output.status.success(), "{}", told(&output));
    let mut gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    gateway.terminate();
    assert!(gateway.ended().success());
    let verified = site.verify_offline(&[]);
    let said = told(&verified);
    assert!(verified.status.success(), "{said}");
    assert!(said.contains("accepts a gap"), "{said}");
    assert!(said.contains("backup of Monday"), "{said}");
    let again = site.provost(&["traces", "accept-gap"]);
    assert!(
        told(&again).contains("nothing to accept"),
        "{}",
        told(&again)
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn p11_a_database_deleted_under_a_gateway_stops_decisions() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let mut gateway = site.start();
    gateway
        .agent()
        .tool("notes.add", json!({"id": "before"}))
        .ok();
    gateway
        .admin()
        .post("/stop", &json!({"reasoning": "halt"}))
        .ok();
    gateway.admin().post("/resume", &json!({})).ok();
    for ending in ["", "-wal", "-shm"] {
        fs::remove_file(format!("{}{ending}", site.database().display())).unwrap();
    }
    let call = json!({"id": "after"});
    gateway
        .agent()
        .tool("notes.add", call.clone())
        .refused(503, "store_unavailable");
    gateway
        .agent()
        .decide("notes.add", call)
        .refused(503, "store_unavailable");
    assert_eq!(echo.executions("after"), 0);
    for page in ["/ready", "/health"] {
        let answer = gateway.client().get(page);
        answer.refused(503, "store_unavailable");
        let words = gateway.client().get(page).json()["error"]["message"].to_string();
        assert!(words.contains("deleted"), "{page}: {words}");
        assert!(!words.contains("provost.db"), "{page}: {words}");
    }
    assert_eq!(gateway.client().get("/health").json()["status"], "failing");
    let url = gateway.url();
    let doctor = site.provost(&["doctor", "--url", &url]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(told(&doctor).contains("deleted"), "{}", told(&doctor));
    gateway.terminate();
    assert!(gateway.ended().success());
    refused(&site, "the record is gone");
    assert!(!site.database().exists(), "looking made one");
    accepted(&site);
}

/// Nobody writes: it is noticed all the same.
#[test]
fn p11_an_idle_gateway_notices_that_its_folder_was_moved() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    fs::rename(site.data(), site.path("away")).unwrap();
    eventually("the loss in the log", || {
        gateway.log().contains("moved away").then_some(())
    });
    gateway
        .client()
        .get("/ready")
        .refused(503, "store_unavailable");
    gateway.kill();
    // Put back, it works again.
    fs::rename(site.path("away"), site.data()).unwrap();
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
}

#[test]
fn p11_a_folder_that_is_gone_is_told_and_not_made_anew() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    let ignored = fs::read_to_string(site.data().join(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    fs::rename(site.data(), site.path("old")).unwrap();
    let Err((status, log)) = site.try_start() else {
        panic!("it started without its record");
    };
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(!site.data().exists(), "nothing was made");
    let output = site.provost(&["doctor"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let line = told.lines().find(|line| line.contains("  record  "));
    assert!(line.unwrap_or_default().starts_with("fail"), "{told}");
}

#[test]
fn p11_an_older_copy_is_refused_until_it_is_accepted() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    copy(&site.data(), &site.path("backup"));
    fill(&site);
    fs::remove_dir_all(site.data()).unwrap();
    copy(&site.path("backup"), &site.data());
    refused(&site, "it had come to record");
    accepted(&site);
}

#[test]
fn p11_a_fresh_database_in_the_place_of_another_is_refused() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    // Killed: what was kept is up to a second behind, and enough.
    gateway.kill();
    let key = fs::read(site.data().join("admin.key")).unwrap();
    fs::remove_dir_all(site.data()).unwrap();
    fs::create_dir(site.data()).unwrap();
    fs::write(site.data().join("admin.key"), key).unwrap();
    let refused_start = site.try_start();
    assert!(refused_start.is_err());
    // Also where another gateway made the new one.
    let elsewhere = Site::new(&echo, POLICY);
    fill(&elsewhere);
    copy(&elsewhere.data(), &site.data());
    refused(&site, "another record stands here");
    accepted(&site);
}

#[test]
fn p11_a_moved_folder_is_known_and_an_older_copy_is_accepted_first() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    let older = site.path("older");
    copy(&site.data(), &older);
    fill(&site);
    // An older copy beside the original may stand in for it only when somebody says so.
    let rolled_back = site.provost(&["serve", "--data", "older"]);
    let said = told(&rolled_back);
    assert_eq!(rolled_back.status.code(), Some(1), "{said}");
    assert!(said.contains("it had come to record"), "{said}");
    assert!(said.contains("PROVOST_STATE"), "{said}");
    let accepted = site.provost(&["traces", "accept-gap", "--data", "older"]);
    assert!(accepted.status.success(), "{}", told(&accepted));
    let gateway = site.start_with(&["serve", "--data", "older"]);
    gateway.agent().tool("notes.add", json!({})).ok();
    gateway.kill();
    // Moved, it goes on.
    fs::rename(site.data(), site.path("moved")).unwrap();
    fs::create_dir(site.data()).unwrap();
    fs::copy(site.path("moved/admin.key"), site.data().join("admin.key")).unwrap();
    let gateway = site.start_with(&["serve", "--data", "moved"]);
    gateway.agent().tool("notes.add", json!({})).ok();
    let gateway_log = gateway.log();
    gateway.kill();
    assert!(!gateway_log.contains("is a copy"), "{gateway_log}");
    // And its old place is free.
    fill(&site);
    // An older copy at a new place, with the original gone, is what somebody rolled back.
    let backup = site.path("backup");
    copy(&site.data(), &backup);
    fill(&site);
    fs::remove_dir_all(site.data()).unwrap();
    fs::rename(&backup, site.path("other")).unwrap();
    let rolled_back = site.provost(&["serve", "--data", "other"]);
    let said = told(&rolled_back);
    assert_eq!(rolled_back.status.code(), Some(1), "{said}");
    assert!(said.contains("it had come to record"), "{said}");
}

/// A copy that was tried and removed went its own way: the original is not held against it.
#[test]
fn p11_a_moved_folder_goes_on_after_a_copy_of_it_was_tried() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    copy(&site.data(), &site.path("copy"));
    for _ in 0..2 {
        let mut gateway = site.start_with(&["serve", "--data", "copy"]);
        for n in 0..5 {
            gateway.agent().tool("notes.add", json!({"n": n})).ok();
        }
        gateway.terminate();
        assert!(gateway.ended().success());
    }
    fs::remove_dir_all(site.path("copy")).unwrap();
    fs::rename(site.data(), site.path("moved")).unwrap();
    fs::create_dir(site.data()).unwrap();
    fs::copy(site.path("moved/admin.key"), site.data().join("admin.key")).unwrap();
    let gateway = site.start_with(&["serve", "--data", "moved"]);
    gateway.agent().tool("notes.add", json!({})).ok();
    gateway.kill();
}

/// The configured path leads elsewhere: to a new folder, and to an older copy.
#[test]
fn p11_a_link_in_the_place_of_the_data_folder_is_noticed() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    let (older, newer) = (site.path("older"), site.path("newer"));
    copy(&site.data(), &older);
    fill(&site);
    fs::rename(site.data(), &newer).unwrap();
    let lead_to = |folder: &Path| {
        let _ = fs::remove_file(site.data());
        std::os::unix::fs::symlink(folder, site.data()).unwrap();
    };
    let empty = site.path("empty");
    fs::create_dir(&empty).unwrap();
    fs::copy(newer.join("admin.key"), empty.join("admin.key")).unwrap();
    lead_to(&empty);
    refused(&site, "the record is gone");
    assert!(!empty.join("provost.db").exists(), "looking made one");
    lead_to(&older);
    refused(&site, "it had come to record");
    // Moved, with a link in its place.
    lead_to(&newer);
    fill(&site);
    let verified = site.verify_offline(&[]);
    assert!(verified.status.success(), "{}", told(&verified));
}

/// All records go, and a note says that they were pruned; the chain proves itself.
#[test]
fn p11_a_forged_pruning_is_refused() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    let sql = rusqlite::Connection::open(site.database()).unwrap();
    let (head, note): (i64, String) = sql
        .query_row(
            // Beyond everything that was kept.
            "SELECT head_seq + 1, (SELECT body FROM traces WHERE kind = 'note') FROM chains",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let anchor = [7_u8; 32];
    let mut note: serde_json::Value = serde_json::from_str(&note).unwrap();
    let detail = json!({"chain": "main", "upto_seq": head, "anchor_hash": chain::text(&anchor)});
    note["note"] = json!("pruned");
    note["by"] = json!("store");
    note["detail"] = detail;
    let body = note.to_string();
    let last = head as u64 + 1;
    let hash = chain::next(&anchor, last, RecordKind::Note, &body);
    let forge = |statement: &str| {
        let values = rusqlite::named_params! {":seq": head, ":last": last as i64, ":anchor": &anchor[..],
        ":hash": &hash[..], ":body": body};
        let mut statement = sql.prepare(statement).unwrap();
        let known = values.iter().filter(|(name, _)| {
            statement
                .parameter_index(name)
                .is_ok_and(|index| index.is_some())
        });
        let known: Vec<_> = known.copied().collect();
        statement.execute(&known[..]).unwrap();
    };
    forge("DELETE FROM traces WHERE kind <> 'note' OR place > 1");
    forge("UPDATE traces SET place = :last, hash = :hash, body = :body");
    forge(
        "UPDATE chains SET anchor_seq = :seq, anchor_hash = :anchor, head_seq = :last, head_hash = :hash",
    );
    drop(sql);
    refused(&site, "did not prune it");
    accepted(&site);
}

/// Nothing is written before it refuses, so that what was left can be looked at.
#[test]
fn p11_a_log_that_was_emptied_is_told_and_left_alone() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    eventually("the heads", || {
        let record = &gateway.health()["record"];
        record["kept_at"].is_string().then_some(())
    });
    gateway.kill();
    let log = format!("{}-wal", site.database().display());
    fs::File::create(&log).unwrap();
    let before = fs::read(site.database()).unwrap();
    refused(&site, "the record is gone");
    assert!(fs::read(site.database()).unwrap() == before);
}

#[test]
fn p11_retention_is_no_gap() {
    let echo = Echo::start();
    let site = Site::new(&echo, &format!("retention: {{traces: 1ms}}\n{POLICY}"));
    fill(&site);
    for _ in 0..2 {
        // Prunes as it starts.
        let mut gateway = site.start();
        eventually("the pruning", || {
            let verified = gateway.admin().get("/traces/verify").ok().json();
            assert_eq!(verified["gaps"], json!([]), "{verified}");
            (verified["chains"][0]["pruned"].as_u64()? > 0).then_some(())
        });
        gateway.agent().tool("notes.add", json!({})).ok();
        gateway.terminate();
        assert!(gateway.ended().success());
        let verified = site.verify_offline(&[]);
        let said = told(&verified);
        assert!(verified.status.success(), "{said}");
        assert!(said.contains("kept outside the store since 2"), "{said}");
    }
}

/// Whoever may write the data folder must not blind the one who keeps the heads, nor remove all before him.
#[test]
fn p11_ends_of_the_record_that_are_gone_stop_decisions() {
    for intrusion in [
        "DELETE FROM identity",
        "UPDATE chains SET head_hash = x'00'",
        "DELETE FROM traces; DELETE FROM chains",
    ] {
        let echo = Echo::start();
        let site = Site::new(&echo, POLICY);
        let gateway = site.start();
        gateway.agent().tool("notes.add", json!({})).ok();
        eventually("the heads", || {
            let record = &gateway.health()["record"];
            record["kept_at"].is_string().then_some(())
        });
        let sql = rusqlite::Connection::open(site.database()).unwrap();
        sql.execute_batch(intrusion).unwrap();
        eventually(intrusion, || {
            (gateway.client().get("/ready").status == 503).then_some(())
        });
        gateway
            .agent()
            .decide("notes.add", json!({}))
            .refused(503, "store_unavailable");
    }
}

/// A trigger keeps the row that tells the end of the record where it is, so that the rest can be cut off later.
#[test]
fn p11_an_end_of_the_record_that_is_held_back_stops_decisions() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let mut gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    let sql = rusqlite::Connection::open(site.database()).unwrap();
    let freeze = "CREATE TRIGGER t BEFORE UPDATE ON chains BEGIN SELECT raise(IGNORE); END";
    sql.execute_batch(freeze).unwrap();
    gateway.agent().tool("notes.add", json!({"hidden": 1})).ok();
    eventually("the loss", || {
        (gateway.client().get("/ready").status == 503).then_some(())
    });
    gateway
        .agent()
        .decide("notes.add", json!({}))
        .refused(503, "store_unavailable");
    gateway.terminate();
    assert!(gateway.ended().success());
    let cut = "DROP TRIGGER t; DELETE FROM traces WHERE place > (SELECT head_seq FROM chains)";
    sql.execute_batch(cut).unwrap();
    drop(sql);
    refused(&site, "it had come to record");
}

/// A database that an older dump of itself replaced while the gateway ran.
#[test]
fn p11_a_database_put_back_under_a_gateway_stops_decisions() {
    let echo = Echo::start();
    let database = Database::create();
    let site = database.site(&echo);
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({"n": 1})).ok();
    database.intrude(
        "CREATE SCHEMA dump; CREATE TABLE dump.chains AS TABLE chains; \
         CREATE TABLE dump.traces AS TABLE traces",
    );
    let kept_at = || gateway.health()["record"]["kept_at"].clone();
    let before = eventually("the heads", || Some(kept_at()).filter(Value::is_string));
    gateway.agent().tool("notes.add", json!({"n": 2})).ok();
    gateway.admin().post("/stop", &json!({})).ok();
    // A gateway that starts later knows of no more than was kept.
    eventually("the later heads", || (kept_at() != before).then_some(()));
    database.intrude(
        "BEGIN; DELETE FROM stops; UPDATE control SET version = version + 1; \
         DELETE FROM traces WHERE place NOT IN (SELECT place FROM dump.traces); \
         UPDATE chains c SET head_seq = d.head_seq, head_hash = d.head_hash \
         FROM dump.chains d WHERE d.chain = c.chain; COMMIT",
    );
    // A probe may be the first to fail, and says less.
    eventually("the loss", || {
        let ready = gateway.client().get("/ready");
        let words = ready.json()["error"]["message"].to_string();
        (ready.status == 503 && words.contains("put back")).then_some(())
    });
    gateway
        .agent()
        .decide("notes.add", json!({}))
        .refused(503, "store_unavailable");
    gateway.kill();
    refused(&site, "it had come to record");
}

/// The server is named otherwise, and holds an older state.
#[test]
fn p11_another_name_of_the_server_does_not_hide_an_older_database() {
    let echo = Echo::start();
    let database = Database::create();
    let site = database.site(&echo);
    fill(&site);
    let url = database.url().replace("127.0.0.1", "localhost");
    assert_ne!(url, database.url());
    let config = fs::read_to_string(site.path("provost.yaml")).unwrap();
    let renamed = config.replace(&database.url(), &url);
    let cut = "DELETE FROM traces t USING chains c WHERE t.chain = c.chain AND t.seq = c.head_seq; \
         UPDATE chains c SET head_seq = head_seq - 1, head_hash = \
         (SELECT hash FROM traces t WHERE t.chain = c.chain AND t.seq = c.head_seq - 1)";
    database.intrude(&format!("CREATE TABLE kept AS TABLE traces; {cut}"));
    site.configure(&renamed);
    refused(&site, "it had come to record");
    // Put right, the database goes on under its other name.
    database.intrude(
        "INSERT INTO traces OVERRIDING SYSTEM VALUE SELECT * FROM kept k \
         WHERE NOT EXISTS (SELECT 1 FROM traces t WHERE t.place = k.place); \
         UPDATE chains c SET head_seq = t.seq, head_hash = t.hash FROM traces t \
         WHERE t.chain = c.chain AND t.seq = c.head_seq + 1; DROP TABLE kept",
    );
    fill(&site);
}

/// The log is overwritten with zeros: what the writer remembers of it is of no use to anybody else.
#[test]
fn p12_a_damaged_log_is_told_by_ready() {
    use std::os::unix::fs::FileExt as _;
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    gateway.client().get("/ready").ok();
    let log = format!("{}-wal", site.database().display());
    let log = fs::OpenOptions::new().write(true).open(log).unwrap();
    let length = log.metadata().unwrap().len();
    log.write_all_at(&vec![0; length as usize - 64], 64)
        .unwrap();
    eventually("the damage", || {
        (gateway.client().get("/ready").status == 503).then_some(())
    });
    gateway
        .agent()
        .decide("notes.add", json!({}))
        .refused(503, "store_unavailable");
    // It does not come back by itself.
    gateway
        .client()
        .get("/ready")
        .refused(503, "store_unavailable");
}

#[test]
fn p11_without_a_folder_for_the_heads_it_works_and_says_so() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fs::write(site.path("state"), "a file").unwrap();
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    let record = &gateway.health()["record"];
    let why = record["not_kept"].as_str().unwrap();
    assert!(why.contains("PROVOST_STATE"), "{record}");
    assert_eq!(gateway.health()["status"], "ok");
    let doctor = site.provost(&["doctor", "--url", &gateway.url()]);
    let said = told(&doctor);
    assert!(said.contains("in memory alone"), "{said}");
    gateway.kill();
    // With a folder, it is kept from then on.
    fs::remove_file(site.path("state")).unwrap();
    let gateway = site.start();
    assert!(gateway.health()["record"]["kept_at"].is_string());
    let kept: Vec<_> = fs::read_dir(site.path("state/heads")).unwrap().collect();
    assert_eq!(kept.len(), 1);
}

#[test]
fn p11_kept_heads_that_cannot_be_read_are_no_yes() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    let kept = fs::read_dir(site.path("state/heads")).unwrap().next();
    let kept = kept.unwrap().unwrap().path();
    for text in ["", "{}", "[1, 2"] {
        fs::write(&kept, text).unwrap();
        let Err((_, log)) = site.try_start() else {
            panic!("{text}: it started all the same");
        };
        assert!(log.contains("accept-gap"), "{text}: {log}");
        // The command that it names needs no gateway.
        assert!(log.contains("`provost traces export --data DIR`"), "{log}");
        let data = site.data();
        let data = data.to_str().unwrap();
        let exported = site.provost(&["traces", "export", "--data", data]);
        assert!(exported.status.success(), "{exported:?}");
        assert!(!exported.stdout.is_empty(), "{exported:?}");
    }
    accepted(&site);
}

/// On each replica: both keep the heads of all chains.
#[test]
fn p11_a_cut_chain_in_postgres_is_refused_by_every_replica() {
    let echo = Echo::start();
    let database = Database::create();
    let sites = [database.site(&echo), database.site(&echo)];
    let gateways = [sites[0].start(), sites[1].start()];
    for gateway in &gateways {
        gateway
            .agent()
            .tool("notes.add", json!({"by": gateway.addr.port()}))
            .ok();
    }
    let chains = gateways[0].admin().get("/traces/verify").ok().json();
    assert_eq!(chains["intact"], true, "{chains}");
    assert_eq!(chains["gaps"], json!([]), "{chains}");
    for mut gateway in gateways {
        gateway.terminate();
        assert!(gateway.ended().success());
    }
    // Both start again with what the other wrote.
    fill(&sites[0]);
    fill(&sites[1]);
    database.intrude(
        "DELETE FROM traces t USING chains c WHERE t.chain = c.chain AND t.seq = c.head_seq; \
         UPDATE chains c SET head_seq = head_seq - 1, head_hash = \
         (SELECT hash FROM traces t WHERE t.chain = c.chain AND t.seq = c.head_seq - 1)",
    );
    refused(&sites[0], "it had come to record");
    refused(&sites[1], "it had come to record");
    for site in &sites {
        let output = site.provost(&["traces", "accept-gap"]);
        assert!(output.status.success(), "{}", told(&output));
    }
    let gateway = sites[1].start();
    gateway.agent().tool("notes.add", json!({})).ok();
}

/// A store that hangs: another program holds the lock of the database.
#[test]
fn p12_a_store_that_answers_nothing_is_told_in_time() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway.client().get("/ready").ok();
    let holder = rusqlite::Connection::open(site.database()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for page in ["/ready", "/health", "/ready"] {
        let asked = Instant::now();
        let answer = gateway.client().get(page);
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(4), "{page} took {took:?}");
        answer.refused(503, "store_unavailable");
    }
    gateway.client().get("/metrics").ok();
    holder.execute_batch("ROLLBACK").unwrap();
    eventually("the store's return", || {
        (gateway.client().get("/ready").status == 200).then_some(())
    });
    assert_eq!(gateway.health()["status"], "ok");
}

/// A server that swallows everything: the connections stay open, and nothing comes back.
#[test]
fn p12_a_database_server_that_falls_silent_is_told_in_time() {
    let echo = Echo::start();
    let database = Database::create();
    let relay = Relay::to(database.server_address());
    let site = database.site_through(&echo, relay.addr);
    let gateway = site.start();
    gateway.client().get("/ready").ok();
    relay.swallow(true);
    for page in ["/ready", "/health", "/ready", "/metrics"] {
        let asked = Instant::now();
        let answer = gateway.client().get(page);
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(4), "{page} took {took:?}");
        if page != "/metrics" {
            answer.refused(503, "store_unavailable");
            let words = answer.json()["error"]["message"].to_string();
            assert!(words.contains("has not answered"), "{words}");
        }
    }
    relay.swallow(false);
    eventually("the store's return", || {
        (gateway.client().get("/ready").status == 200).then_some(())
    });
}
