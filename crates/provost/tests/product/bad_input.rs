//! What nobody should send: each gets a clear error, and nothing changes.

use std::{io::Read as _, net::Shutdown};

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{AGENT, POLICY, Site},
    http::{Answer, Client},
};

const TOO_LARGE: usize = 50 << 20;

/// Method, address, body, and the status and code that answer them.
type Case<'a> = (&'a str, String, Vec<u8>, u16, &'a str);

fn post<'a>(target: &str, body: &str, status: u16, code: &'a str) -> Case<'a> {
    ("POST", target.to_owned(), body.into(), status, code)
}

fn get<'a>(target: &str, status: u16, code: &'a str) -> Case<'a> {
    ("GET", target.to_owned(), Vec::new(), status, code)
}

/// Bodies that are no call, whatever the door.
fn bodies() -> Vec<Vec<u8>> {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let mut bodies: Vec<Vec<u8>> = [
        "{\"tool\": \"notes.add\",",
        "{\"tool\": \"notes.add\"",
        "not json",
        "{'tool': 'notes.add'}",
        "{\"tool\": \"notes.add\"} trailing",
        "[]",
        "null",
        "42",
        "\"text\"",
        "{\"tool\": 5, \"params\": 5}",
        "{\"tool\": \"notes.add\", \"params\": []}",
        "{\"tool\": \"notes.add\", \"params\": \"text\"}",
        "{\"tool\": \"notes.add\", \"params\": null}",
        "{\"tool\": \"notes.add\", \"parms\": {}}",
        "{\"tool\": \"notes.add\", \"params\": {}, \"params\": {}}",
        "{\"tool\": \"notes.add\", \"params\": {\"n\": 1e999}}",
        "{\"tool\": \"notes.add\", \"params\": {\"n\": NaN}}",
        "{\"tool\": \"notes.add\", \"params\": {\"n\": 01}}",
        "{\"tool\": \"notes.add\", \"params\": {\"s\": \"\\ud800\"}}",
        "{\"tool\": \"notes.add\", \"params\": {\"s\": \"a\nb\"}}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    bodies.extend([
        b"\xff\xfe".to_vec(),
        b"{\"tool\": \"notes.add\", \"params\": {\"s\": \"\xff\"}}".to_vec(),
        b"{\"tool\": \"notes.add\", \"params\": {\"\xc3\x28\": 1}}".to_vec(),
        b"\xef\xbb\xbf{\"tool\": \"notes.add\"}".to_vec(),
        deep("[", "]").into(),
        format!(
            "{{\"tool\": \"notes.add\", \"params\": {{\"a\": {}}}}}",
            deep("[", "]")
        )
        .into(),
        format!(
            "{{\"tool\": \"notes.add\", \"params\": {}1{}}}",
            "{\"a\":".repeat(10_000),
            "}".repeat(10_000)
        )
        .into(),
        format!(
            "{{\"tool\": \"notes.add\", \"params\": {{\"n\": {}}}}}",
            "9".repeat(5_000)
        )
        .into(),
    ]);
    bodies
}

/// What an agent may get wrong.
fn asking() -> Vec<Case<'static>> {
    let long = "x".repeat(300);
    let mut cases = vec![
        post("/decide", "", 400, "bad_request"),
        post("/decide", "{}", 400, "bad_request"),
        post("/decide", "{\"tool\": \"\"}", 400, "bad_request"),
        post("/decide", "{\"tool\": \"a\\u0000b\"}", 400, "bad_request"),
        post("/decide", "{\"tool\": \"a\\nb\"}", 400, "bad_request"),
        post(
            "/decide",
            &format!("{{\"tool\": \"{long}\"}}"),
            400,
            "bad_request",
        ),
        post(
            "/decide",
            "{\"tool\": \"t\", \"session_id\": \"a\\u0000\"}",
            400,
            "bad_request",
        ),
        post(
            "/decide",
            "{\"tool\": \"t\", \"agent\": \"somebody\"}",
            403,
            "forbidden",
        ),
        post(
            "/decide?wait=soon",
            "{\"tool\": \"notes.add\"}",
            400,
            "bad_request",
        ),
        post(
            "/decide?wait=-1s",
            "{\"tool\": \"notes.add\"}",
            400,
            "bad_request",
        ),
        post(
            "/decide?wiat=1s",
            "{\"tool\": \"notes.add\"}",
            400,
            "bad_request",
        ),
        post("/tool/notes.add?wait=soon", "{}", 400, "bad_request"),
        post("/tool/no.such.tool", "{}", 404, "unknown_tool"),
        post("/tool/%ff", "{}", 400, "bad_request"),
        post("/tool/notes.add%00", "{}", 404, "unknown_tool"),
        post("/tool/..%2f..%2fetc", "{}", 404, "unknown_tool"),
        post("/tool/", "{}", 404, "not_found"),
        post("/tool", "{}", 404, "not_found"),
        get("/decide", 405, "method_not_allowed"),
        get("/tool/notes.add", 405, "method_not_allowed"),
        (
            "PUT",
            "/tool/notes.add".into(),
            b"{}".to_vec(),
            405,
            "method_not_allowed",
        ),
        (
            "BREW",
            "/decide".into(),
            b"{}".to_vec(),
            405,
            "method_not_allowed",
        ),
        get("/no/such/address", 404, "not_found"),
        get("/", 404, "not_found"),
    ];
    for body in bodies() {
        for target in ["/decide", "/tool/notes.add"] {
            cases.push(("POST", target.into(), body.clone(), 400, "bad_request"));
        }
    }
    cases
}

/// What somebody who looks may get wrong.
fn looking() -> Vec<Case<'static>> {
    let bad = |target: &str| get(target, 400, "bad_request");
    vec![
        bad("/approvals?tool=["),
        bad("/approvals?tool=%5B"),
        bad("/approvals?tool={a"),
        bad("/approvals?status=open"),
        bad("/approvals?status=%ff"),
        bad("/approvals?level=god"),
        bad("/approvals?limit=many"),
        bad("/approvals?limit=-1"),
        bad("/approvals?limit=99999999999999999999999"),
        bad("/approvals?after=x"),
        bad("/approvals?since=yesterday"),
        bad("/approvals?wait=soon"),
        bad("/approvals?content=all"),
        bad("/approvals?stauts=pending"),
        bad("/traces?tool=["),
        bad("/traces?verdict=maybe"),
        bad("/traces?since=x"),
        bad("/traces?until=x"),
        bad("/traces?before=x"),
        bad("/traces?limit=x"),
        bad("/traces?agnet=x"),
        bad("/sessions?limit=x"),
        bad("/events?after=x"),
        get("/approvals/0123456789abcdef", 404, "not_found"),
        get("/approvals/%00", 404, "not_found"),
        get("/approvals/%25", 404, "not_found"),
        bad("/approvals/%ff"),
        get("/traces/0123456789abcdef0123456789abcdef", 404, "not_found"),
        bad("/traces/%ff"),
        (
            "DELETE",
            "/approvals".into(),
            Vec::new(),
            405,
            "method_not_allowed",
        ),
    ]
}

/// What somebody who decides may get wrong about the approval that waits.
fn deciding(id: &str) -> Vec<Case<'static>> {
    let approve = format!("/approvals/{id}/approve");
    let bad = |body: &str| post(&approve, body, 400, "bad_request");
    let long = |name: &str, length: usize| json!({name: "x".repeat(length)}).to_string();
    vec![
        bad("{\"confidence\": 1.5}"),
        bad("{\"confidence\": -0.1}"),
        bad("{\"confidence\": \"high\"}"),
        bad("{\"confidence\": 1e400}"),
        bad("{\"confidence\": NaN}"),
        bad("{\"reasoning\": 5}"),
        bad("{\"resolved_by\": [\"me\"]}"),
        bad("{\"reason\": \"misspelt\"}"),
        bad("{\"reasoning\": \"broken"),
        bad(&long("reasoning", 17 << 10)),
        bad(&long("resolved_by", 300)),
        post(
            "/approvals/0123456789abcdef/approve",
            "{}",
            404,
            "not_found",
        ),
        post("/approvals/0123456789abcdef/deny", "{}", 404, "not_found"),
        post(
            "/approvals/0123456789abcdef/escalate",
            "{}",
            404,
            "not_found",
        ),
        post("/approvals/0123456789abcdef/claim", "{}", 404, "not_found"),
        post("/approvals/%00/approve", "{}", 404, "not_found"),
        post("/approvals//approve", "{}", 404, "not_found"),
        post(&format!("/approvals/{id}/aprove"), "{}", 404, "not_found"),
        post(
            &format!("/approvals/{id}/claim"),
            "{\"duration\": \"soon\"}",
            400,
            "bad_request",
        ),
        get(&approve, 405, "method_not_allowed"),
    ]
}

/// What an admin may get wrong.
fn running() -> Vec<Case<'static>> {
    let bad = |target: &str, body: &str| post(target, body, 400, "bad_request");
    vec![
        bad("/grants", "{}"),
        bad(
            "/grants",
            "{\"agent\": \"[\", \"tools\": \"*\", \"duration\": \"1h\"}",
        ),
        bad(
            "/grants",
            "{\"agent\": \"*\", \"tools\": \"[\", \"duration\": \"1h\"}",
        ),
        bad(
            "/grants",
            "{\"agent\": \"*\", \"tools\": [\"*\"], \"duration\": \"1h\"}",
        ),
        bad(
            "/grants",
            "{\"agent\": \"*\", \"tools\": \"*\", \"duration\": 60}",
        ),
        bad(
            "/grants",
            "{\"agent\": \"*\", \"tools\": \"*\", \"duration\": \"1h\", \"max_uses\": -1}",
        ),
        bad(
            "/grants",
            "{\"agent\": \"*\", \"tools\": \"*\", \"duration\": \"1h\", \"when\": \"((((\"}",
        ),
        (
            "DELETE",
            "/grants/0123456789abcdef".into(),
            Vec::new(),
            404,
            "not_found",
        ),
        bad("/keys", "{\"name\": \"a:b\", \"role\": \"human\"}"),
        bad("/keys", "{\"name\": \"\", \"role\": \"human\"}"),
        bad("/keys", "{\"name\": \"a\\u0000\", \"role\": \"human\"}"),
        bad("/keys", "{\"name\": \"a\", \"role\": \"god\"}"),
        bad(
            "/keys",
            "{\"name\": \"a\", \"role\": \"supervisor\", \"tools\": [\"[\"]}",
        ),
        bad(
            "/keys",
            "{\"name\": \"a\", \"role\": \"human\", \"tools\": [\"*\"]}",
        ),
        post(
            "/keys",
            "{\"name\": \"alice\", \"role\": \"admin\"}",
            409,
            "name_taken",
        ),
        (
            "DELETE",
            "/keys/nobody".into(),
            Vec::new(),
            404,
            "not_found",
        ),
        bad("/stop", "{\"agent\": 5}"),
        bad("/stop", "{\"agent\": \"a\", \"session\": \"b\"}"),
        bad("/stop", "{\"agnet\": \"a\"}"),
        bad("/stop", "{\"agent\": \"\"}"),
        post("/resume", "{\"agent\": \"nobody\"}", 404, "not_found"),
    ]
}

#[track_caller]
fn check(client: &Client, cases: Vec<Case<'_>>) {
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
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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
    let many: String = (0..500).map(|n| format!("x-{n}: 1\r\n")).collect();
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
    agent.tool("notes.add", json!({"id": "before"})).ok();
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
    for client in [&agent, &keyed] {
        check(client, asking());
    }
    check(&alice, looking());
    check(&alice, deciding(&id));
    check(&admin, running());
    headers(&agent, &alice);
    not_http(&agent);
    too_large(&agent, &alice, &id);

    let after = (
        chain(),
        admin.get("/keys").json(),
        gateway.one_pending()["status"].clone(),
    );
    assert_eq!(before, after);
    assert_eq!(gateway.traces().len(), 1);
    assert_eq!(admin.get("/grants").json(), json!([]));
    assert_eq!(admin.get("/stop").json(), json!([]));
    assert_eq!(echo.all_executions().len(), 1);
    assert_eq!(gateway.health()["status"], "ok");
    let log = gateway.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    alice.approve(&id).ok();
}
