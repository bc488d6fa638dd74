//! Requests that are no good, and how each is to be answered.

use serde_json::json;

/// Method, address, body, and the status and code that answer them.
pub(super) type Case<'a> = (&'a str, String, Vec<u8>, u16, &'a str);

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
        r#"{"tool": "notes.add","#,
        r#"{"tool": "notes.add""#,
        "not json",
        "{'tool': 'notes.add'}",
        r#"{"tool": "notes.add"} trailing"#,
        "[]",
        "[{}]",
        r#"[null, "notes.add", {}, null]"#,
        "null",
        "42",
        r#""text""#,
        r#"{"tool": 5, "params": 5}"#,
        r#"{"tool": "notes.add", "params": []}"#,
        r#"{"tool": "notes.add", "params": "text"}"#,
        r#"{"tool": "notes.add", "params": null}"#,
        r#"{"tool": "notes.add", "parms": {}}"#,
        r#"{"tool": "notes.add", "params": {}, "params": {}}"#,
        r#"{"tool": "notes.add", "params": {"n": 1e999}}"#,
        r#"{"tool": "notes.add", "params": {"n": NaN}}"#,
        r#"{"tool": "notes.add", "params": {"n": 01}}"#,
        r#"{"tool": "notes.add", "params": {"s": "\ud800"}}"#,
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
            r#"{{"tool": "notes.add", "params": {{"a": {}}}}}"#,
            deep("[", "]")
        )
        .into(),
        format!(
            r#"{{"tool": "notes.add", "params": {}1{}}}"#,
            r#"{"a":"#.repeat(10_000),
            "}".repeat(10_000)
        )
        .into(),
        format!(
            r#"{{"tool": "notes.add", "params": {{"n": {}}}}}"#,
            "9".repeat(5_000)
        )
        .into(),
    ]);
    bodies
}

/// What an agent may get wrong.
pub(super) fn asking() -> Vec<Case<'static>> {
    let long = "x".repeat(300);
    let mut cases = vec![
        post("/decide", "", 400, "bad_request"),
        post("/decide", "{}", 400, "bad_request"),
        post("/decide", r#"{"tool": ""}"#, 400, "bad_request"),
        post("/decide", r#"{"tool": "a\u0000b"}"#, 400, "bad_request"),
        post("/decide", r#"{"tool": "a\nb"}"#, 400, "bad_request"),
        post(
            "/decide",
            &format!("{{\"tool\": \"{long}\"}}"),
            400,
            "bad_request",
        ),
        post(
            "/decide",
            r#"{"tool": "t", "session_id": "a\u0000"}"#,
            400,
            "bad_request",
        ),
        post(
            "/decide",
            r#"{"tool": "t", "agent": "somebody"}"#,
            403,
            "forbidden",
        ),
        post(
            "/decide?wait=soon",
            r#"{"tool": "notes.add"}"#,
            400,
            "bad_request",
        ),
        post(
            "/decide?wait=-1s",
            r#"{"tool": "notes.add"}"#,
            400,
            "bad_request",
        ),
        post(
            "/decide?wiat=1s",
            r#"{"tool": "notes.add"}"#,
            400,
            "bad_request",
        ),
        post("/tool/notes.add?wait=soon", "{}", 400, "bad_request"),
        post("/tool/%ff", "{}", 400, "bad_request"),
        post("/tool/notes.add%00", "{}", 400, "bad_request"),
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
        get("/index.html", 404, "not_found"),
    ];
    for body in bodies() {
        for target in ["/decide", "/tool/notes.add"] {
            cases.push(("POST", target.into(), body.clone(), 400, "bad_request"));
        }
    }
    cases
}

/// Calls of tools that nobody has, which are recorded.
pub(super) fn calling_nobody() -> Vec<Case<'static>> {
    vec![
        post("/tool/no.such.tool", "{}", 404, "unknown_tool"),
        post("/tool/..%2f..%2fetc", "{}", 404, "unknown_tool"),
    ]
}

/// What somebody who looks may get wrong.
pub(super) fn looking() -> Vec<Case<'static>> {
    let bad = |target: &str| get(target, 400, "bad_request");
    vec![
        bad("/approvals?tool=["),
        bad("/approvals?tool=%5B"),
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
        get("/approvals/%00", 400, "bad_request"),
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
pub(super) fn deciding(id: &str) -> Vec<Case<'static>> {
    let approve = format!("/approvals/{id}/approve");
    let bad = |body: &str| post(&approve, body, 400, "bad_request");
    let long = |name: &str, length: usize| json!({name: "x".repeat(length)}).to_string();
    vec![
        bad(r#"{"confidence": 1.5}"#),
        bad(r#"{"confidence": -0.1}"#),
        bad(r#"{"confidence": "high"}"#),
        bad(r#"{"confidence": 1e400}"#),
        bad(r#"{"confidence": NaN}"#),
        bad(r#"{"reasoning": 5}"#),
        bad(r#"{"resolved_by": ["me"]}"#),
        bad(r#"{"reason": "misspelt"}"#),
        bad(r#"{"reasoning": "broken"#),
        bad("[]"),
        bad("[null, null, null]"),
        bad(r#"["me", "because", 1.0]"#),
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
        post("/approvals/%00/approve", "{}", 400, "bad_request"),
        post("/approvals//approve", "{}", 404, "not_found"),
        post(&format!("/approvals/{id}/aprove"), "{}", 404, "not_found"),
        post(
            &format!("/approvals/{id}/claim"),
            r#"{"duration": "soon"}"#,
            400,
            "bad_request",
        ),
        get(&approve, 405, "method_not_allowed"),
    ]
}

/// What an admin may get wrong.
pub(super) fn running() -> Vec<Case<'static>> {
    let bad = |target: &str, body: &str| post(target, body, 400, "bad_request");
    vec![
        bad("/grants", "{}"),
        bad(
            "/grants",
            r#"{"agent": "[", "tools": "*", "duration": "1h"}"#,
        ),
        bad(
            "/grants",
            r#"{"agent": "*", "tools": "[", "duration": "1h"}"#,
        ),
        bad(
            "/grants",
            r#"{"agent": "*", "tools": ["*"], "duration": "1h"}"#,
        ),
        bad("/grants", r#"{"agent": "*", "tools": "*", "duration": 60}"#),
        bad(
            "/grants",
            r#"{"agent": "*", "tools": "*", "duration": "1h", "max_uses": -1}"#,
        ),
        bad(
            "/grants",
            r#"{"agent": "*", "tools": "*", "duration": "1h", "when": "(((("}"#,
        ),
        bad("/grants", r#"["*", "*", "1h", null, null, null, null]"#),
        (
            "DELETE",
            "/grants/0123456789abcdef".into(),
            Vec::new(),
            404,
            "not_found",
        ),
        bad("/keys", r#"{"name": "a:b", "role": "human"}"#),
        bad("/keys", r#"{"name": "", "role": "human"}"#),
        bad("/keys", r#"{"name": "a\u0000", "role": "human"}"#),
        bad("/keys", r#"{"name": "a", "role": "god"}"#),
        bad(
            "/keys",
            r#"{"name": "a", "role": "supervisor", "tools": ["["]}"#,
        ),
        bad("/keys", r#"{"name": "a", "role": "human", "tools": ["*"]}"#),
        post(
            "/keys",
            r#"{"name": "alice", "role": "admin"}"#,
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
        bad("/stop", r#"{"agent": 5}"#),
        bad("/stop", "[null, null, null]"),
        bad("/stop", r#"{"agent": "a", "session": "b"}"#),
        bad("/stop", r#"{"agnet": "a"}"#),
        bad("/stop", r#"{"agent": ""}"#),
        post("/resume", r#"{"agent": "nobody"}"#, 404, "not_found"),
    ]
}
