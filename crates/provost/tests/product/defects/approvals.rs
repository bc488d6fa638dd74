//! What a decision is, who may make it, and what becomes of it: 4, 5, 7.

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{AGENT, FS_BOT, POLICY, Site, eventually},
};

#[test]
fn defect_04_the_outcome_of_an_approval_is_in_the_durable_trace() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let decide = |verb: &str| {
        let asked = gateway
            .agent()
            .tool_waiting("filesystem.write_file", json!({"id": verb}));
        let id = gateway.one_pending()["id"].clone();
        let body = json!({"resolved_by": "agent:supervisor", "reasoning": format!("because {verb}"), "confidence": 0.9});
        gateway
            .fs_bot()
            .post(
                &format!("/approvals/{}/{verb}", id.as_str().unwrap()),
                &body,
            )
            .ok();
        (asked.join().unwrap().trace_id(), id)
    };
    let (approved, denied) = (decide("approve"), decide("deny"));
    gateway.kill();

    let gateway = site.start();
    for ((trace, approval), verb, status) in [
        (&approved, "approve", "approved"),
        (&denied, "deny", "denied"),
    ] {
        let trace = gateway.trace(trace);
        for (name, expected) in [
            ("approval_id", approval.clone()),
            ("approval_status", json!(status)),
            ("approved_by", json!("supervisor:fs-bot")),
            ("approver_label", json!("agent:supervisor")),
            ("supervisor_reasoning", json!(format!("because {verb}"))),
            ("supervisor_confidence", json!(0.9)),
            ("policy_rule", json!("all:rule-3")),
        ] {
            assert_eq!(trace[name], expected, "{name} of {trace:#}");
        }
        assert!(trace["approval_ms"].is_u64(), "{trace:#}");
    }
    site.verify_chain(Some(&gateway));
}

#[test]
fn defect_05_an_approval_is_a_single_use_permit_that_outlives_a_restart() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let pay = json!({"id": "paid", "amount": 1});
    let asked = gateway
        .agent()
        .tool_async("payments.send", pay.clone())
        .is(202);
    gateway.kill();

    let gateway = site.start();
    let agent = gateway.agent();
    let id = gateway.one_pending()["id"].clone();
    assert_eq!(id, asked.approval_id().as_str());
    gateway.alice().approve(id.as_str().unwrap()).ok();
    // Another call goes all the way, so whatever would run by itself has had its time.
    agent.tool("notes.add", json!({"id": "other"})).ok();
    assert_eq!(echo.executions("paid"), 0, "it ran with nobody waiting");

    // Neither another agent's call nor another call of this agent takes it.
    let other = gateway.client().agent("other");
    other.tool_async("payments.send", pay.clone()).is(202);
    agent
        .tool_async("payments.send", json!({"id": "paid", "amount": 2}))
        .is(202);
    assert_eq!(echo.executions("paid"), 0);

    let ran = agent.tool_async("payments.send", pay.clone()).ok();
    assert_eq!(ran.trace_id(), asked.trace_id());
    assert_eq!(echo.executions("paid"), 1);
    let again = agent.tool_async("payments.send", pay).is(202);
    assert_ne!(again.approval_id(), asked.approval_id());
    assert_eq!(echo.executions("paid"), 1, "the permit was used twice");
}

#[test]
fn defect_05_nothing_runs_when_the_caller_has_gone() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let pay = json!({"id": "gone", "amount": 1});
    let body = json!({"params": pay}).to_string();
    let caller = agent
        .open("POST", "/tool/payments.send", body.as_bytes())
        .unwrap();
    gateway.until_waiting(1);
    drop(caller);
    gateway.until_waiting(0);

    let id = gateway.one_pending()["id"].clone();
    gateway.alice().approve(id.as_str().unwrap()).ok();
    agent.tool("notes.add", json!({"id": "other"})).ok();
    assert_eq!(echo.executions("gone"), 0, "it ran with nobody waiting");
    agent.tool_async("payments.send", pay).ok();
    assert_eq!(echo.executions("gone"), 1);
}

#[test]
fn defect_07_nobody_approves_themselves() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let anybody = gateway.client();
    let keyed = anybody.key(AGENT);
    let asked = keyed
        .tool_async("payments.send", json!({"id": "mine"}))
        .is(202);
    let id = asked.approval_id();
    let claim = json!({"resolved_by": "human:alice", "reasoning": "I say so"});
    for (who, client, status) in [
        ("the agent itself", keyed.clone(), 403),
        ("another agent", anybody.agent("other"), 403),
        (
            "an agent that calls itself a person",
            anybody.agent("alice"),
            403,
        ),
        ("nobody", anybody.clone(), 401),
        ("a wrong key", anybody.key("wrong"), 401),
        (
            "a supervisor, of what is for people",
            anybody.key(FS_BOT),
            403,
        ),
    ] {
        for verb in ["approve", "deny", "escalate", "claim"] {
            let target = format!("/approvals/{id}/{verb}");
            let body = if verb == "claim" {
                json!({})
            } else {
                claim.clone()
            };
            let answer = client.post(&target, &body);
            assert_eq!(answer.status, status, "{who} {verb}: {}", answer.text());
            assert!(
                answer.json()["error"]["message"].is_string(),
                "{who} {verb}"
            );
        }
        if client.get("/version").status == 200 && status == 401 {
            client.get("/approvals").refused(401, "unauthorized");
        }
    }
    assert_eq!(gateway.one_pending()["status"], "pending");
    assert_eq!(echo.executions("mine"), 0);

    // Who it says decided is a label beside who did.
    let label = json!({"resolved_by": "agent:keyed"});
    let approved = gateway
        .alice()
        .post(&format!("/approvals/{id}/approve"), &label)
        .ok();
    assert_eq!(approved.json()["resolved_by"], "human:alice");
    keyed
        .tool_async("payments.send", json!({"id": "mine"}))
        .ok();
    let trace = eventually("the outcome", || {
        Some(gateway.trace(&asked.trace_id())).filter(|trace| trace["outcome"] == "done")
    });
    assert_eq!(trace["approved_by"], "human:alice");
    assert_eq!(trace["approver_label"], "agent:keyed");

    // Nor by asking with one hand what the other decides: a name is one person's.
    let bob = gateway
        .admin()
        .post("/keys", &json!({"name": "bob", "role": "human"}))
        .is(201);
    let other = gateway.client().agent("bobby");
    let id = other
        .tool_async("payments.send", json!({}))
        .is(202)
        .approval_id();
    let bob = gateway.client().key(&bob.field("key"));
    bob.approve(&id).ok();
    let refused = gateway
        .client()
        .agent("bob")
        .tool_async("payments.send", json!({}));
    refused.refused(403, "forbidden");
    assert_eq!(gateway.alice().pending(), Vec::<Value>::new());
}
