//! What nobody should send: each gets a clear error, and nothing changes.

mod cases;

use std::{io::Read as _, net::Shutdown};

use serde_json::json;

use cases::{Case, asking, calling_nobody, deciding, looking, running};

use crate::{
    echo::Echo,
    harness::{AGENT, POLICY, Site, eventually},
    http::{Answer, Client},
};

const TOO_LARGE: usize = 50 << 20;

/// Those that were answered otherwise.
fn wrong(client: &Client, cases: Vec<Case<'_>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (method, target, body, status, code) in cases {
        let shown = String::from_utf8_lossy(&body);
        let shown: String = shown.chars().take(80).collect();
        let answer = client.send(method, &target, &body);
        let error = serde_json::from_slice::<serde_json::Value>(&answer.body).ok();
        let error = error.map(|body| body["error"].clone()).unwrap_or_default();
        let clear = error["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty());
        if answer.status != status || error["code"] != code || !clear {
            wrong.push(format!(
                "{method} {target} {shown}\n  should be {status} {code}, was {} {}",
                answer.status,
                answer.text()
            ));
        }
    }
    wrong
}

/// Headers that are no good, on a request that is.
fn headers(agent: &Client, alice: &Client) {
    let long = "x".repeat(300);
    for (name, value) in [
        ("idempotency-key", long.as_str()),
        ("idempotency-key", ""),
        ("x-session-id", &long),
        ("x-session-id", ""),
        ("x-session-id", "\u{fc}"),
        ("prefer", "wait=soon"),
    ] {
        let answer = agent.with(name, value).decide("notes.add", json!({}));
        assert_eq!(answer.status, 400, "{name}: {value}: {}", answer.text());
        answer.refused(400, "bad_request");
    }
    for value in ["garbage", "-1", "1.5", "99999999999999999999999", "\u{fc}"] {
        let answer = alice.with("last-event-id", value).get("/events");
        assert_eq!(answer.status, 400, "{value}: {}", answer.text());
        answer.refused(400, "bad_request");
    }
    for value in [
        "Basic YTpi",
        "Bearer",
        "Bearer ",
        "Bearer \u{fc}",
        "agent:claude",
    ] {
        let answer = agent
            .with("authorization", value)
            .decide("notes.add", json!({}));
        assert_eq!(answer.status, 401, "{value}: {}", answer.text());
    }
    for name in ["", &long, "a\tb"] {
        let answer = agent.agent(name).decide("notes.add", json!({}));
        assert_eq!(answer.status, 400, "{name:?}: {}", answer.text());
    }
}

/// Too much, announced or not.
fn too_large(agent: &Client, alice: &Client, id: &str) {
    let body = format!(
        "{{\"tool\": \"notes.add\", \"params\": {{\"s\": \"{}\"}}}}",
        "x".repeat(TOO_LARGE)
    );
    for (client, target) in [
        (agent, "/decide".to_owned()),
        (agent, "/tool/notes.add".to_owned()),
        (alice, format!("/approvals/{id}/approve")),
    ] {
        let announced = client.send("POST", &target, body.as_bytes());
        announced.refused(413, "too_large");
        let mut request = client.head("POST", &target);
        request.extend(b"transfer-encoding: chunked\r\n\r\n");
        for chunk in body.as_bytes().chunks(1 << 20) {
            request.extend(format!("{:x}\r\n", chunk.len()).bytes());
            request.extend(chunk);
            request.extend(b"\r\n");
        }
        request.extend(b"0\r\n\r\n");
        let mut stream = client.open_raw(&request).unwrap();
        Answer::read(&mut stream).unwrap().refused(413, "too_large");
    }
}

/// Not even HTTP, or too much of it: an error status, or the line goes dead. No handler sees these.
fn not_http(agent: &Client) {
    let head = String::from_utf8(agent.head("POST", "/decide")).unwrap();
    let body = "{\"tool\": \"notes.add\"}";
    let whole = format!("content-length: {}\r\n\r\n{body}", body.len());
    let many = "x-many: 1\r\n".repeat(500);
    let huge = format!("x-huge: {}\r\n", "x".repeat(1 << 20));
    let raw_path = [
        b"POST /tool/\xff\xfe HTTP/1.1\r\n".as_slice(),
        b"host: localhost\r\n\r\n",
    ]
    .concat();
    for request in [
        b"hello\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"GET /health HTTP/9.9\r\nhost: localhost\r\n\r\n".to_vec(),
        raw_path,
        format!("{head}{many}{whole}").into(),
        format!("{head}{huge}{whole}").into(),
        format!("{head}x y: 1\r\n{whole}").into(),
        format!("{head}x: a\0b\r\n{whole}").into(),
        format!("{head}content-length: 5\r\n{whole}").into(),
        format!("{head}content-length: -1\r\n\r\n{body}").into(),
        format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n{body}\r\n0\r\n\r\n").into(),
        // Less than was announced, and then the end.
        format!("{head}content-length: 1000\r\n\r\n{body}").into(),
        format!(
            "{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n",
            body.len()
        )
        .into(),
    ] {
        let mut stream = agent.open_raw(&request).unwrap();
        let _ = stream.get_ref().shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let shown = String::from_utf8_lossy(&request);
        let shown: String = shown.chars().take(120).collect();
        let told = String::from_utf8_lossy(&answer);
        let status = told.split(' ').nth(1).unwrap_or_default();
        assert!(
            answer.is_empty() || status.starts_with('4') || status == "505",
            "{shown}: {told}"
        );
    }
}

#[test]
fn bad_input_gets_a_clear_error_and_changes_nothing() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let (agent, alice, admin) = (gateway.agent(), gateway.alice(), gateway.admin());
    let waiting = agent
        .tool_async("payments.send", json!({"id": "waits"}))
        .is(202);
    let id = waiting.approval_id();
    let ran = agent.tool("notes.add", json!({"id": "before"})).ok();
    // The record of the outcome follows the answer: from then on nothing more is written.
    eventually("the outcome", || {
        (gateway.trace(&ran.trace_id())["outcome"] == "done").then_some(())
    });
    let chain = || {
        let verified = admin.get("/traces/verify").ok().json();
        verified["chains"][0]["head_hash"].clone()
    };
    let before = (
        chain(),
        admin.get("/keys").json(),
        gateway.one_pending()["status"].clone(),
    );

    let keyed = gateway.client().key(AGENT);
    headers(&agent, &alice);
    not_http(&agent);
    too_large(&agent, &alice, &id);
    let mistaken = [
        wrong(&agent, asking()),
        wrong(&keyed, asking()),
        wrong(&alice, looking()),
        wrong(&alice, deciding(&id)),
        wrong(&admin, running()),
    ]
    .concat();
    assert!(
        mistaken.is_empty(),
        "{} of them:\n{}",
        mistaken.len(),
        mistaken.join("\n")
    );

    let after = (
        chain(),
        admin.get("/keys").json(),
        gateway.one_pending()["status"].clone(),
    );
    assert_eq!(before, after);
    assert_eq!(gateway.traces().len(), 1);
    assert_eq!(wrong(&agent, calling_nobody()), Vec::<String>::new());
    assert_eq!(gateway.traces().len(), 3);
    assert_eq!(admin.get("/grants").json(), json!([]));
    assert_eq!(admin.get("/stop").json(), json!([]));
    assert_eq!(echo.all_executions().len(), 1);
    assert_eq!(gateway.health()["status"], "ok");
    let log = gateway.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    alice.approve(&id).ok();
}
