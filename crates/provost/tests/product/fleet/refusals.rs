//! Who may run what, and where.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use super::{ONE, Stage, start, until};
use crate::{
    harness::{AGENT, ALICE, FS_BOT, KEYS},
    http::Client,
};

#[test]
fn people_start_runs_and_nobody_else() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hello"));
    until(&gateway, &id, "done");
    let clients: [(Client, u16); 5] = [
        (gateway.client(), 401),
        (gateway.agent(), 403),
        (gateway.client().key(AGENT), 403),
        (gateway.client().key(FS_BOT), 403),
        (gateway.admin(), 200),
    ];
    for (client, status) in clients {
        client.get("/v1/runs").is(status);
        client.get(&format!("/v1/runs/{id}")).is(status);
        client.get(&format!("/v1/runs/{id}/events")).is(status);
        let started = client.post("/v1/runs", &stage.body("hello"));
        started.is(if status == 200 { 202 } else { status });
        let cancelled = client.post(&format!("/v1/runs/{id}/cancel"), &json!({}));
        cancelled.is(if status == 200 { 409 } else { status });
    }
    // Nobody passes for an agent that is run here.
    let claimed = gateway
        .client()
        .agent("run:scripted")
        .decide("x", json!({}));
    claimed.refused(403, "forbidden");
    let forged = gateway.client().key(&format!("run:{id}:00"));
    forged.get("/v1/standing").is(401);
}

#[test]
fn what_may_not_be_run_is_refused() {
    let stage = Stage::new(ONE, "");
    let elsewhere = stage.site.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, stage.repo.join("link")).unwrap();
    let gateway = stage.site.start();
    let alice = gateway.alice();
    let with = |name: &str, value: Value| {
        let mut body = stage.body("hello");
        body[name] = value;
        alice.post("/v1/runs", &body)
    };
    with("repoDir", json!(stage.repo.join("link"))).refused(403, "outside_roots");
    with("repoDir", json!("/etc")).refused(403, "outside_roots");
    with("repoDir", json!(stage.site.data())).refused(403, "outside_roots");
    with("agent", json!("other")).refused(400, "bad_request");
    with("prompt", json!(7)).refused(400, "bad_request");
    with("command", json!("sh")).refused(400, "bad_request");
    with("limits", json!({"wallSeconds": 1e6})).refused(400, "bad_request");
    let two = with("limits", json!({"wallSeconds": -1, "turn": 1}));
    let problems = two.json()["problems"].as_array().unwrap().len();
    assert_eq!(problems, 2, "{}", two.text());
    alice
        .send("POST", "/v1/runs", b"[]")
        .refused(400, "bad_request");
    alice.get("/v1/runs?state=odd").refused(400, "bad_request");
    alice.get("/v1/runs/none").refused(404, "not_found");
    assert_eq!(fs::read_dir(stage.runs()).unwrap().count(), 0);
    // The same request under the same key is the same run.
    let keyed = alice.with("idempotency-key", "k1");
    let first = keyed
        .post("/v1/runs", &stage.body("hello"))
        .is(202)
        .field("id");
    let again = keyed.post("/v1/runs", &stage.body("hello")).is(202);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.field("id"), first);
    let other = keyed.post("/v1/runs", &stage.body("other"));
    other.refused(422, "idempotency_key_reused");
    // Without the section there is nothing to be run.
    drop(gateway);
    stage
        .site
        .configure(&format!("listen: 127.0.0.1:0\ndata: data\n{KEYS}"));
    let gateway = stage.site.start();
    let none = gateway.client().key(ALICE).get("/v1/runs");
    none.refused(404, "not_configured");
}

#[test]
fn an_agent_that_does_not_start_fails_the_run() {
    let stage = Stage::new(ONE, "");
    let settings = stage.settings.replace("python3", "no-such-program");
    let config = format!("listen: 127.0.0.1:0\ndata: data\n{settings}");
    stage.site.configure(&config);
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hello"));
    let failed = until(&gateway, &id, "failed");
    assert_eq!(failed["error"]["reason"], "spawn_failed", "{failed}");
}
