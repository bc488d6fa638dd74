//! Somebody changes the record while no gateway runs: `provost traces verify` finds it, says where, ends
//! with 1, and leaves it as it is. How each change is found is told by the store's own tests.

use std::{fs, process::Output};

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{POLICY, Site},
    replicas::Database,
};

/// Calls that run, one that is only decided and one that is denied, closed in order.
fn fill(site: &Site) {
    let mut gateway = site.start();
    for n in 0..3 {
        gateway.agent().tool("notes.add", json!({"n": n})).ok();
    }
    gateway.agent().decide("notes.add", json!({})).ok();
    gateway
        .agent()
        .tool("filesystem.delete_file", json!({}))
        .refused(403, "denied");
    gateway.terminate();
    assert!(gateway.ended().success());
}

fn told(output: &Output) -> String {
    let (said, noted) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&said[..], noted].concat()).into_owned()
}

#[test]
fn every_change_is_found_without_a_gateway() {
    let echo = Echo::start();
    let database = Database::create();
    let site = database.site(&echo);
    fill(&site);
    site.verify_chain(None);
    database.intrude(
        "CREATE TABLE traces_copy AS SELECT * FROM traces; \
         CREATE TABLE chains_copy AS SELECT * FROM chains;",
    );
    let denied = "(SELECT max(place) FROM traces_copy WHERE verdict = 'deny')";
    let outcome = "(SELECT min(place) FROM traces_copy WHERE kind = 'outcome')";
    let changes = [
        (
            "body",
            format!(
                "UPDATE traces SET body = replace(body, 'deny', 'allow') WHERE place = {denied}"
            ),
        ),
        (
            "kind",
            format!("UPDATE traces SET kind = 'note' WHERE place = {denied}"),
        ),
        (
            "no kind",
            format!("UPDATE traces SET kind = 'x' WHERE place = {denied}"),
        ),
        (
            "verdict",
            format!("UPDATE traces SET verdict = 'allow' WHERE place = {denied}"),
        ),
        (
            "forwarded",
            format!("UPDATE traces SET forwarded = true WHERE place = {denied}"),
        ),
        (
            "session",
            format!("UPDATE traces SET session = 's9' WHERE place = {outcome}"),
        ),
        (
            "agent",
            format!("UPDATE traces SET agent = 'other' WHERE place = {outcome}"),
        ),
        (
            "middle",
            format!("DELETE FROM traces WHERE place = {outcome}"),
        ),
        (
            "tail",
            format!("DELETE FROM traces WHERE place >= {denied}"),
        ),
        (
            "head down",
            "UPDATE chains SET head_seq = head_seq - 5".to_owned(),
        ),
        (
            "head up",
            "UPDATE chains SET head_seq = head_seq + 5".to_owned(),
        ),
        ("anchor", "UPDATE chains SET anchor_seq = 3".to_owned()),
        ("ends", "DELETE FROM chains".to_owned()),
    ];
    for (what, change) in changes {
        database.intrude(&change);
        // Again and again: looking must not put it right.
        for _ in 0..2 {
            let output = site.verify_offline(&[]);
            let told = told(&output);
            assert_eq!(output.status.code(), Some(1), "{what}: {told}");
            assert!(told.contains("breaks at record"), "{what}: {told}");
            assert!(told.contains("NOT intact"), "{what}: {told}");
        }
        database.intrude(
            "DELETE FROM traces; INSERT INTO traces SELECT * FROM traces_copy; \
             DELETE FROM chains; INSERT INTO chains SELECT * FROM chains_copy;",
        );
        site.verify_chain(None);
    }
    database.intrude("DELETE FROM traces; DELETE FROM chains");
    let output = site.verify_offline(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("the chain is gone"));
}

#[test]
fn a_file_is_proved_while_a_gateway_holds_it() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    fill(&site);
    let gateway = site.start();
    let head = gateway.admin().get("/traces/verify").ok().json();
    let head = head["chains"][0]["head_hash"].as_str().unwrap().to_owned();
    for (head, code) in [(&*head, 0), ("00ff00ff00ff00ff", 1)] {
        let output = site.verify_offline(&["--head", head]);
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
    }
    gateway.agent().tool("notes.add", json!({})).ok();
    site.verify_chain(Some(&gateway));
}

#[test]
fn an_empty_export_proves_nothing() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway.agent().tool("notes.add", json!({})).ok();
    let (url, file) = (gateway.url(), site.path("export.jsonl"));
    let verify = || site.provost(&["traces", "verify", "export.jsonl"]);
    let export = ["traces", "export", "--url", &url, "--out", "export.jsonl"];
    assert!(site.provost(&export).status.success());
    assert!(verify().status.success(), "{}", told(&verify()));
    let whole = fs::read_to_string(&file).unwrap();
    for (text, problem) in [
        (String::new(), "nothing to verify"),
        ("\n\n".to_owned(), "nothing to verify"),
        (
            whole.replacen("\"seq\"", "\"approved\":true,\"seq\"", 1),
            "line 2 is not a line of an export",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let output = verify();
        assert_eq!(output.status.code(), Some(1));
        assert!(told(&output).contains(problem), "{}", told(&output));
    }
}
