//! The beginning: without a configuration, and where another gateway is already.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{POLICY, Site},
};

#[test]
fn without_a_configuration_everything_asks_a_human() {
    let site = Site::empty();
    let gateway = site.start_with(&["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    let health = gateway.health();
    assert_eq!(
        (&health["store"], &health["policy"]["source"]),
        (&json!("sqlite"), &json!("embedded defaults"))
    );
    let asked = gateway
        .agent()
        .decide_async("shell.exec", json!({"cmd": "ls"}));
    let id = asked.is(202).approval_id();
    let shown = gateway.admin().get(&format!("/approvals/{id}")).ok().json();
    assert_eq!(shown["level"], "human");
    gateway.admin().approve(&id).ok();
    gateway
        .agent()
        .decide_async("shell.exec", json!({"cmd": "ls"}))
        .ok();
    for name in ["admin.key", "provost.db"] {
        let file = std::fs::metadata(site.data().join(name)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn two_gateways_do_not_share_a_folder() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let Err((status, log)) = site.try_start() else {
        panic!("a second one started");
    };
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(
        log.contains("another process uses") && log.contains("provost.db"),
        "{log}"
    );
    // The first does not notice, and its place is free when it has gone.
    gateway.agent().tool("notes.add", json!({})).ok();
    gateway.kill();
    site.start().agent().tool("notes.add", json!({})).ok();
}
