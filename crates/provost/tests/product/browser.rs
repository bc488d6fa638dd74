//! What a page in somebody's browser, and somebody guessing, must never do.

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{AGENT, POLICY, Site, configuration, eventually},
};

/// One of every kind.
const ADDRESSES: [(&str, &str); 17] = [
    ("GET", "/health"),
    ("GET", "/version"),
    ("GET", "/tools"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("POST", "/tool/notes.add"),
    ("POST", "/decide"),
    ("GET", "/approvals"),
    ("POST", "/approvals/0000000000000000/approve"),
    ("GET", "/events"),
    ("GET", "/traces"),
    ("POST", "/grants"),
    ("POST", "/stop"),
    ("GET", "/"),
    ("POST", "/console/login"),
    ("POST", "/console/links"),
    ("GET", "/no/such/address"),
];

#[test]
fn foreign_pages_and_rebound_names_are_refused_everywhere() {
    let echo = Echo::start();
    let hosts = format!("hosts: [gate.example.com]\n{POLICY}");
    let site = Site::new(&echo, &hosts);
    let gateway = site.start();
    let port = gateway.addr.port();
    let body = json!({"tool": "notes.add", "arguments": {"id": "page"}}).to_string();
    // An agent by its word, one by its key, a person, and nobody.
    let callers = [
        gateway.agent(),
        gateway.client().key(AGENT),
        gateway.admin(),
        gateway.client(),
    ];
    for caller in &callers {
        for (header, value, code) in [
            (
                "origin",
                "http://evil.example.com".to_owned(),
                "foreign_origin",
            ),
            ("origin", "null".to_owned(), "foreign_origin"),
            (
                "origin",
                format!("http://127.0.0.1:{}", port ^ 1),
                "foreign_origin",
            ),
            ("host", format!("evil.example.com:{port}"), "foreign_host"),
            ("host", format!("localhost.evil.com:{port}"), "foreign_host"),
            ("host", format!("127.0.0.1.evil.com:{port}"), "foreign_host"),
        ] {
            for (method, target) in ADDRESSES {
                let answer = caller
                    .with(header, &value)
                    .send(method, target, body.as_bytes());
                assert_eq!(answer.status, 403, "{method} {target} {header}: {value}");
                answer.refused(403, code);
            }
        }
    }
    assert_eq!(echo.executions("page"), 0);
    assert_eq!(gateway.traces(), Vec::<serde_json::Value>::new());
    // Our own names and pages are welcome.
    for (name, value) in [
        ("host", format!("localhost:{port}")),
        ("host", "gate.example.com".to_owned()),
        ("origin", format!("http://{}", gateway.addr)),
    ] {
        gateway
            .client()
            .key(AGENT)
            .with(name, &value)
            .decide("notes.add", json!({}))
            .ok();
    }
}

#[test]
fn guessing_keys_is_limited_and_locks_nobody_out() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let guess = |n: usize| {
        gateway
            .client()
            .key(&format!("pvk_guess{n}"))
            .get("/approvals")
    };
    for n in 0..20 {
        guess(n).refused(401, "unauthorized");
    }
    for n in 20..25 {
        let limited = guess(n);
        limited.refused(429, "too_many_attempts");
        assert!(limited.header("retry-after").is_some());
    }
    gateway.alice().get("/approvals").ok();
    gateway.agent().decide("notes.add", json!({})).ok();
    gateway
        .client()
        .key(AGENT)
        .decide("notes.add", json!({}))
        .ok();
    let metrics = gateway.client().get("/metrics").ok().text();
    assert!(
        metrics.contains("provost_auth_failures_total 25"),
        "{metrics}"
    );
}

#[test]
fn nobody_passes_for_a_keyed_agent() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let call = |client: crate::http::Client| client.tool("notes.add", json!({"id": "who"}));
    call(gateway.client().agent("keyed")).refused(403, "forbidden");
    call(gateway.client().agent("alice")).refused(403, "forbidden");
    assert_eq!(echo.executions("who"), 0);
    let other = gateway
        .client()
        .key(AGENT)
        .post("/decide", &json!({"agent": "claude", "tool": "notes.add"}));
    other.refused(403, "forbidden");
    let trace = gateway.trace(&call(gateway.client().key(AGENT)).ok().trace_id());
    assert_eq!(trace["agent_id"], "keyed");
    // Through a proxy nobody is from this machine.
    for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
        let outside = gateway.agent().with(header, "203.0.113.7");
        call(outside).refused(401, "unauthorized");
    }
    // Whoever decides does not ask.
    call(gateway.alice()).refused(403, "forbidden");

    // A key that is taken away opens nothing from then on.
    let without = configuration(
        &echo,
        &format!("auth: {{declared_agents: never}}\n{POLICY}"),
    );
    site.configure(&without);
    eventually("the end of the key", || {
        (call(gateway.client().key(AGENT)).status == 401).then_some(())
    });
    drop(gateway);
    let gateway = site.start();
    call(gateway.agent()).refused(401, "unauthorized");
    call(gateway.client()).refused(401, "unauthorized");
}
