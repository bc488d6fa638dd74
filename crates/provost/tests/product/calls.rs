//! What a caller may say of its call beside its arguments: a key that makes it one call however often it
//! is sent, and a trace id.

use std::collections::HashSet;

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{Gateway, POLICY, Site, configuration, eventually},
    http::Answer,
};

#[test]
fn one_idempotency_key_is_one_execution() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent().with("idempotency-key", "k1");
    let calls: Vec<_> = (0..8)
        .map(|_| agent.tool_waiting("slow.call", json!({"id": "once"})))
        .collect();
    let mut traces = HashSet::new();
    for call in calls {
        let answer = call.join().unwrap();
        // Beside the one that ran: its answer again, or that it is not there yet.
        if answer.status != 200 {
            answer.refused(409, "in_progress");
        }
        traces.insert(answer.trace_id());
    }
    assert_eq!(traces.len(), 1, "{traces:?}");
    let again = agent.tool("slow.call", json!({"id": "once"})).ok();
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert!(traces.contains(&again.trace_id()));
    assert_eq!(again.json()["result"]["echo"]["id"], "once");
    assert_eq!(echo.executions("once"), 1);

    // A key is one call's, and one agent's.
    agent
        .tool("slow.call", json!({"id": "other"}))
        .refused(422, "idempotency_key_reused");
    assert_eq!(echo.executions("other"), 0);
    let other = agent.agent("other");
    other.tool("slow.call", json!({"id": "once"})).ok();
    assert_eq!(echo.executions("once"), 2);
    gateway.kill();

    let gateway = site.start();
    let agent = gateway.agent().with("idempotency-key", "k1");
    let replayed = agent.tool("slow.call", json!({"id": "once"})).ok();
    assert!(traces.contains(&replayed.trace_id()));
    assert_eq!(echo.executions("once"), 2);
}

/// A caller's whole run has one trace id, by OpenTelemetry; a record of ours is of one call.
#[test]
fn a_callers_trace_id_never_names_two_calls() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let given = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{given}-00f067aa0ba902b7-01");
    let agent = gateway.agent().with("traceparent", &parent);
    let calls = [
        agent.tool_async("payments.send", json!({"n": 1})).is(202),
        agent.tool_async("payments.send", json!({"n": 2})).is(202),
        agent.tool("notes.add", json!({"n": 3})).ok(),
        agent.tool("notes.add", json!({"n": 4})).ok(),
        agent
            .decide("filesystem.delete_file", json!({"n": 5}))
            .is(403),
    ];
    assert_eq!(calls[0].trace_id(), given);
    for answer in &calls[..2] {
        gateway.alice().approve(&answer.approval_id()).ok();
    }
    // Nor do calls that are made side by side.
    let beside: Vec<_> = (6..=12)
        .map(|n| agent.tool_waiting("slow.call", json!({"n": n})))
        .collect();
    let mut calls = calls.to_vec();
    calls.extend(beside.into_iter().map(|call| call.join().unwrap().ok()));
    let ids: HashSet<_> = calls.iter().map(crate::http::Answer::trace_id).collect();
    assert_eq!(ids.len(), calls.len(), "{ids:?}");
    for (n, answer) in calls.iter().enumerate() {
        assert_eq!(gateway.trace(&answer.trace_id())["params"]["n"], n + 1);
    }
}

/// Over `/decide` and `/v1/permissions`, also after a restart: a stop and a new policy end what was permitted.
#[test]
fn p03_a_key_repeats_a_yes_only_while_it_holds() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let decide = |gateway: &Gateway| {
        let agent = gateway.agent().with("idempotency-key", "k1");
        agent.decide_async("notes.add", json!({"id": "once"}))
    };
    let permit = |gateway: &Gateway| {
        let agent = gateway.agent().with("idempotency-key", "k2");
        let call = json!({"toolCallId": "1", "title": "a", "kind": "read", "rawInput": {"a": 1}});
        agent.post("/v1/permissions?wait=0s", &json!({"toolCall": call}))
    };
    let asked = permit(&gateway).is(202);
    gateway.alice().approve(&asked.approval_id()).ok();
    let (decided, permitted) = (decide(&gateway).ok(), permit(&gateway).ok());
    gateway.kill();

    let gateway = site.start();
    for (again, first) in [(decide(&gateway), &decided), (permit(&gateway), &permitted)] {
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.ok().trace_id(), first.trace_id());
    }
    gateway.admin().post("/stop", &json!({})).ok();
    decide(&gateway).refused(403, "stopped");
    permit(&gateway).refused(403, "stopped");
    gateway.admin().post("/resume", &json!({})).ok();

    let asking = POLICY.replace("notes.add, ", "");
    site.configure(&configuration(&echo, &asking));
    eventually("the new policy", || {
        (decide(&gateway).status == 202).then_some(())
    });
}

/// What a runner passes on of `make x`, from this folder.
fn make_in(gateway: &Gateway, folder: Option<&str>, key: Option<&str>) -> Answer {
    let call = json!({"kind": "execute", "title": "make x", "rawInput": {"command": "make x"}});
    let agent = gateway.agent();
    let agent = match key {
        Some(key) => agent.with("idempotency-key", key),
        None => agent,
    };
    let body = match folder {
        Some(folder) => json!({"toolCall": call, "folder": folder}),
        None => json!({"toolCall": call}),
    };
    agent.post("/v1/permissions?wait=0s", &body)
}

#[test]
fn p03_an_answer_is_for_the_folder_that_was_shown() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let (project, evil) = (Some("/srv/project"), Some("/home/evil"));
    for remember in [None, Some("always")] {
        let id = make_in(&gateway, project, None).is(202).approval_id();
        let path = format!("/approvals/{id}/approve");
        gateway
            .alice()
            .post(&path, &json!({"remember": remember}))
            .ok();
        for other in [evil, None, Some("/srv/project/")] {
            make_in(&gateway, other, None).is(202);
        }
        make_in(&gateway, project, None).ok();
        let again = make_in(&gateway, project, None).status;
        assert_eq!(again, if remember.is_some() { 200 } else { 202 });
        if remember.is_none() {
            let id = make_in(&gateway, project, None).approval_id();
            gateway.alice().deny(&id).ok();
            make_in(&gateway, evil, None).is(202);
            make_in(&gateway, project, None).is(403);
        }
    }
}

#[test]
fn p03_a_key_is_for_the_folder_and_the_door_it_was_used_with() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let (project, key) = (Some("/srv/project"), Some("k1"));
    let id = make_in(&gateway, project, key).is(202).approval_id();
    gateway.alice().approve(&id).ok();
    make_in(&gateway, project, key).ok();
    for other in [Some("/home/evil"), None] {
        make_in(&gateway, other, key).refused(422, "idempotency_key_reused");
    }
    let arguments = json!({"command": "make x", "acp": {"title": "make x"}});
    let agent = gateway.agent().with("idempotency-key", "k1");
    agent
        .decide_async("acp.execute", arguments)
        .refused(422, "idempotency_key_reused");
    let again = make_in(&gateway, project, key).ok();
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}

#[test]
fn p03_what_the_agent_may_do_itself_does_not_run_here() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let params = |id: &str| json!({"id": id});
    let wrapped = |id: &str| {
        let body = json!({"tool": "payments.send", "arguments": params(id)});
        agent.post("/v1/mcp-calls?wait=0s", &body)
    };
    for (id, by_wrapper) in [("decided", false), ("wrapped", true)] {
        let ask = || {
            if by_wrapper {
                wrapped(id)
            } else {
                agent.decide_async("payments.send", params(id))
            }
        };
        let asked = ask().is(202).approval_id();
        gateway.alice().approve(&asked).ok();
        let here = agent.tool_async("payments.send", params(id)).is(202);
        assert_eq!(echo.executions(id), 0);
        gateway.alice().approve(&here.approval_id()).ok();
        ask().ok();
        ask().is(202);
        agent.tool("payments.send", params(id)).ok();
        assert_eq!(echo.executions(id), 1);
    }
}
