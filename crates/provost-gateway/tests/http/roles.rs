//! Every endpoint against every role.

use std::sync::Arc;

use async_trait::async_trait;
use http::StatusCode;
use provost_core::{
    card::Card,
    delivery::{Delivery, Shown},
    ports::{Channel, Undelivered},
    trace::view::Exposure,
};
use provost_gateway::{access::DeclaredAgents, channels::Channels};
use serde_json::{Value, json};

use crate::app::{TestApp, Who};

const EVERYBODY: [Who; 8] = [
    Who::Nobody,
    Who::Declared,
    Who::Agent,
    Who::Supervisor,
    Who::Human,
    Who::Admin,
    Who::Inbox,
    Who::Stranger,
];

/// A channel that is configured, and on which nothing arrives.
struct Nowhere;

#[async_trait]
impl Channel for Nowhere {
    async fn show(&self, _: &Delivery, _: &Card) -> Result<Shown, Undelivered> {
        Err(Undelivered::Never {
            why: "nowhere".into(),
        })
    }

    async fn close(&self, _: &Delivery, _: &Shown, _: &Card) -> Result<(), Undelivered> {
        Ok(())
    }
}

struct Row {
    method: &'static str,
    path: String,
    body: Value,
    /// In the order of `EVERYBODY`.
    expected: [u16; 8],
}

fn row(method: &'static str, path: &str, body: Value, expected: [u16; 8]) -> Row {
    Row {
        method,
        path: path.to_owned(),
        body,
        expected,
    }
}

/// Asking: agents only; a person on a channel: by key. What became of it: the agent about its own, and people.
/// Bringing mail: a forwarder or people. Looking: those who decide. Steering: people, or admins alone.
/// Operations: anyone.
fn table(approval: &str) -> Vec<Row> {
    const ASK: [u16; 8] = [200, 200, 200, 403, 403, 403, 403, 401];
    const ASK_BY_KEY: [u16; 8] = [401, 401, 200, 403, 403, 403, 403, 401];
    const OWN: [u16; 8] = [401, 401, 200, 403, 200, 200, 403, 401];
    const BRING: [u16; 8] = [401, 401, 403, 403, 200, 200, 200, 401];
    const LOOK: [u16; 8] = [401, 403, 403, 200, 200, 200, 403, 401];
    const PEOPLE: [u16; 8] = [401, 403, 403, 403, 200, 200, 403, 401];
    const ADMIN: [u16; 8] = [401, 403, 403, 403, 403, 200, 403, 401];
    const ANYBODY: [u16; 8] = [200, 200, 200, 200, 200, 200, 403, 401];
    const PUBLIC: [u16; 8] = [200; 8];
    const NO_KEY_OPENS_IT: [u16; 8] = [401; 8];
    let found =
        |expected: [u16; 8], status| expected.map(|code| if code == 200 { status } else { code });
    let one = |action: &str| format!("/approvals/{approval}{action}");
    let none = Value::Null;
    vec![
        row("POST", "/tool/ok.run", json!({"params": {}}), ASK),
        row("POST", "/decide", json!({"tool": "ok.x"}), ASK),
        row(
            "POST",
            "/v1/permissions",
            json!({"toolCall": {"kind": "read", "rawInput": {"path": "/p/a"}}}),
            ASK,
        ),
        // Of which session, is not said.
        row("DELETE", "/v1/permissions", none.clone(), found(ASK, 400)),
        row("GET", "/v1/standing", Value::Null, ASK),
        row(
            "POST",
            "/v1/unsupervised",
            json!({"toolCall": {"kind": "execute", "rawInput": {"command": "ls"}}}),
            found(ASK, 201),
        ),
        row("POST", "/v1/mcp-calls", json!({"tool": "ok.x"}), ASK),
        row(
            "POST",
            "/v1/mcp-calls/0000000000000000/outcome",
            json!({"token": "none"}),
            found(ASK, 403),
        ),
        row(
            "POST",
            "/hooks/claude-code",
            json!({"hook_event_name": "SessionStart"}),
            ASK,
        ),
        row(
            "POST",
            "/mcp",
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            ANYBODY,
        ),
        // Both are of a session, and here there is none.
        row("GET", "/mcp", none.clone(), found(ANYBODY, 400)),
        row("DELETE", "/mcp", none.clone(), found(ANYBODY, 400)),
        row("GET", "/tools", none.clone(), ANYBODY),
        row("GET", "/mcp-servers", none.clone(), ANYBODY),
        row("GET", "/approvals", none.clone(), LOOK),
        row("GET", &one(""), none.clone(), LOOK),
        row(
            "POST",
            "/approvals/0000000000000000/approve",
            json!({}),
            found(LOOK, 404),
        ),
        row(
            "POST",
            "/approvals/0000000000000000/deny",
            json!({}),
            found(LOOK, 404),
        ),
        row(
            "POST",
            "/approvals/0000000000000000/escalate",
            json!({}),
            found(LOOK, 404),
        ),
        row(
            "POST",
            "/approvals/0000000000000000/claim",
            json!({}),
            found(LOOK, 404),
        ),
        row("GET", "/events", none.clone(), LOOK),
        row("GET", "/traces", none.clone(), LOOK),
        row(
            "GET",
            "/traces/0000000000000000",
            none.clone(),
            found(LOOK, 404),
        ),
        row("GET", "/traces/export", none.clone(), PEOPLE),
        row("GET", "/traces/verify", none.clone(), PEOPLE),
        row("GET", "/sessions", none.clone(), LOOK),
        row("GET", "/sessions/s1", none.clone(), LOOK),
        row("GET", "/grants", none.clone(), LOOK),
        row(
            "POST",
            "/grants",
            json!({"agent": "x", "tools": "x", "duration": "1m"}),
            found(ADMIN, 201),
        ),
        row(
            "DELETE",
            "/grants/0000000000000000",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row("GET", "/stop", none.clone(), PEOPLE),
        row("POST", "/stop", json!({"agent": "nobody"}), ADMIN),
        row(
            "POST",
            "/resume",
            json!({"agent": "somebody"}),
            found(ADMIN, 404),
        ),
        row(
            "GET",
            "/mcp-servers/nobody/tools",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row(
            "POST",
            "/mcp-servers/nobody/trust",
            json!({"tool": "x", "digest": "0".repeat(64)}),
            found(PEOPLE, 404),
        ),
        row("GET", "/v1/people", none.clone(), PEOPLE),
        row(
            "POST",
            "/v1/people/nobody/test",
            json!({}),
            found(PEOPLE, 404),
        ),
        row(
            "GET",
            "/v1/people-tests/0000000000000000",
            none.clone(),
            found(PEOPLE, 404),
        ),
        // Nothing is run here.
        row("GET", "/v1/runs", none.clone(), found(PEOPLE, 404)),
        row("POST", "/v1/runs", json!({}), found(PEOPLE, 404)),
        row(
            "GET",
            "/v1/runs/0000000000000000",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row(
            "GET",
            "/v1/runs/0000000000000000/events",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row(
            "POST",
            "/v1/runs/0000000000000000/cancel",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row(
            "GET",
            "/v1/runs/0000000000000000/changes",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row(
            "GET",
            "/v1/runs/0000000000000000/prompts",
            none.clone(),
            found(PEOPLE, 404),
        ),
        row(
            "POST",
            "/v1/runs/0000000000000000/prompts",
            json!({"prompt": "x"}),
            found(PEOPLE, 404),
        ),
        row(
            "POST",
            "/v1/runs/0000000000000000/prompts/p/cancel",
            json!({}),
            found(PEOPLE, 404),
        ),
        row("GET", "/policies", none.clone(), PEOPLE),
        row("GET", "/agents/declared", none.clone(), ADMIN),
        row("GET", "/keys", none.clone(), ADMIN),
        row(
            "POST",
            "/keys",
            json!({"name": "new", "role": "agent"}),
            found(ADMIN, 201),
        ),
        row("DELETE", "/keys/nobody", none.clone(), found(ADMIN, 404)),
        row("POST", "/console/links", none.clone(), found(LOOK, 201)),
        row(
            "POST",
            "/v1/approvals",
            json!({"action_type": "exec_cmd", "title": "t", "channel": "email", "target": {"email_to": "a@b.org"}}),
            ASK_BY_KEY,
        ),
        row(
            "GET",
            "/v1/approvals/0000000000000000",
            none.clone(),
            found(OWN, 404),
        ),
        row("GET", "/v1/allow-rules", none.clone(), OWN),
        row(
            "DELETE",
            "/v1/allow-rules/0000000000000000",
            none.clone(),
            found(OWN, 404),
        ),
        row("GET", "/v1/session-allows", none.clone(), OWN),
        row(
            "DELETE",
            "/v1/session-allows/0000000000000000",
            none.clone(),
            found(OWN, 404),
        ),
        row(
            "POST",
            "/v1/inbox/email-reply",
            json!({"subject": "Re: [0000000000000000]", "body": "1"}),
            found(BRING, 404),
        ),
        row("POST", "/v1/telegram/webhook", json!({}), NO_KEY_OPENS_IT),
        // A page: whoever has no session of the console is led to where one signs in.
        row(
            "GET",
            "/a/0000000000000000",
            none.clone(),
            found(PUBLIC, 303),
        ),
        row("GET", "/health", none.clone(), PUBLIC),
        row("GET", "/ready", none.clone(), PUBLIC),
        row("GET", "/version", none.clone(), PUBLIC),
        row("GET", "/instance", none.clone(), found(PUBLIC, 404)),
        row("GET", "/metrics", none.clone(), found(PUBLIC, 404)),
        row("GET", "/openapi.json", none, PUBLIC),
    ]
}

#[tokio::test]
async fn every_endpoint_lets_in_whom_it_should_and_nobody_else() {
    let app = TestApp::new().await;
    let email = Channels::default().with("email", Arc::new(Nowhere));
    app.app.channels.store(Arc::new(email));
    let approval = app.pending("fs.run", json!({})).await;
    let mut wrong = Vec::new();
    for (at, row) in table(&approval).into_iter().enumerate() {
        // Each row from an address of its own, so that strangers are not slowed down yet.
        let from = [127, 0, at as u8, 1];
        for (who, expected) in EVERYBODY.into_iter().zip(row.expected) {
            let answer = app
                .send(who, from, row.method, &row.path, &[], row.body.clone())
                .await;
            if answer.status.as_u16() != expected {
                wrong.push(format!(
                    "{} {} as {who:?}: {} instead of {expected}",
                    row.method, row.path, answer.status
                ));
            }
            let failed = answer.status.is_client_error();
            assert!(
                !failed || answer.body["error"]["code"].is_string(),
                "{} {}",
                row.path,
                answer.body
            );
            assert!(answer.headers.contains_key("x-request-id"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn the_table_covers_every_endpoint_there_is() {
    let documented: Value =
        serde_json::from_str(include_str!("../../src/doors/http/openapi.json")).unwrap();
    let in_table: Vec<String> = table("ID")
        .iter()
        .map(|row| {
            let path = row
                .path
                .replace("0000000000000000", "{id}")
                .replace("/ID", "/{id}");
            let path = path
                .replace("/ok.run", "/{name}")
                .replace("/claude-code", "/{agent}")
                .replace("/s1", "/{id}")
                .replace("keys/nobody", "keys/{name}")
                .replace("servers/nobody", "servers/{name}")
                .replace("people/nobody", "people/{name}")
                .replace("prompts/p/", "prompts/{prompt}/");
            format!("{} {path}", row.method)
        })
        .collect();
    for (path, methods) in documented["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let wanted = format!("{} {path}", method.to_uppercase());
            assert!(in_table.contains(&wanted), "no row for {wanted}");
        }
    }
}

#[tokio::test]
async fn a_supervisors_key_sees_and_decides_its_own_tools_at_its_own_level_only() {
    let app = TestApp::new().await;
    let (fs, pay) = (
        app.pending("fs.run", json!({})).await,
        app.pending("pay.run", json!({})).await,
    );
    let listed = app
        .ask(
            Who::Supervisor,
            "GET",
            "/approvals?status=pending",
            Value::Null,
        )
        .await
        .body;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["id"], json!(fs));
    for (id, expected) in [(&pay, 403), (&fs, 200)] {
        assert_eq!(
            app.ask(
                Who::Supervisor,
                "GET",
                &format!("/approvals/{id}"),
                Value::Null
            )
            .await
            .status,
            expected
        );
        let path = format!("/approvals/{id}/approve");
        assert_eq!(
            app.ask(Who::Supervisor, "POST", &path, json!({}))
                .await
                .status,
            expected
        );
    }
    assert_eq!(
        app.ask(
            Who::Human,
            "POST",
            &format!("/approvals/{pay}/deny"),
            json!({})
        )
        .await
        .status,
        200
    );
}

#[tokio::test]
async fn declared_agents_come_from_this_machine_only() {
    let app = TestApp::new().await;
    let decide = json!({"tool": "ok.x"});
    let far = [10, 1, 2, 3];
    for (who, from, headers, expected) in [
        (Who::Declared, far, &[][..], 401),
        (Who::Nobody, far, &[][..], 401),
        (Who::Agent, far, &[][..], 200),
        (
            Who::Declared,
            [127, 0, 0, 1],
            &[("x-forwarded-for", "10.1.2.3")][..],
            401,
        ),
        (
            Who::Nobody,
            [127, 0, 0, 1],
            &[("forwarded", "for=10.1.2.3")][..],
            401,
        ),
        (
            Who::Declared,
            [127, 0, 0, 1],
            &[("origin", "http://evil.example")][..],
            403,
        ),
        (
            Who::Declared,
            [127, 0, 0, 1],
            &[("host", "evil.example")][..],
            403,
        ),
        (
            Who::Admin,
            [127, 0, 0, 1],
            &[("host", "evil.example")][..],
            403,
        ),
    ] {
        let answer = app
            .send(who, from, "POST", "/decide", headers, decide.clone())
            .await;
        let expected = if who == Who::Admin { 403 } else { expected };
        assert_eq!(
            answer.status.as_u16(),
            expected,
            "{who:?} {from:?} {headers:?}"
        );
    }
}

#[tokio::test]
async fn p07_a_request_that_names_two_hosts_declares_nobody() {
    let app = TestApp::new().await;
    for (path, hosts, expected) in [
        ("/decide", &[("host", "localhost")][..], 200),
        ("http://localhost/decide", &[("host", "localhost")], 200),
        (
            "/decide",
            &[("host", "localhost"), ("host", "evil.com")],
            403,
        ),
        ("http://evil.com/decide", &[("host", "localhost")], 403),
        ("/decide", &[("host", "[[127.0.0.1]]")], 403),
        ("/decide", &[("host", "[::1")], 403),
        ("/decide", &[("host", "127.0.0.1]")], 403),
    ] {
        let body = json!({"tool": "ok.x"});
        let here = [127, 0, 0, 1];
        let answer = app.send(Who::Declared, here, "POST", path, hosts, body);
        assert_eq!(answer.await.status, expected, "{path} {hosts:?}");
    }
}

/// Nobody is sent to a setting or a way in that is closed here.
#[tokio::test]
async fn p07_refusals_name_only_ways_that_are_open() {
    let app = TestApp::new().await;
    let word = "Bearer agent:NAME";
    let setting = "declared_agents: loopback";
    for (declared_agents, hosts, by_word, by_setting) in [
        (DeclaredAgents::Loopback, None, true, false),
        (DeclaredAgents::UntilFirstKey, None, false, true),
        (DeclaredAgents::Never, None, false, false),
        (
            DeclaredAgents::UntilFirstKey,
            Some("gate.example.org"),
            false,
            false,
        ),
    ] {
        let mut live = (**app.app.live.load()).clone();
        live.access.declared_agents = declared_agents;
        live.access.hosts = hosts.map(str::to_owned).into_iter().collect();
        app.app.live.store(live.into());
        let help = async |who, from| {
            let body = json!({"tool": "ok.x"});
            let answer = app.send(who, from, "POST", "/decide", &[], body).await;
            answer.body["error"]["help"].as_str().unwrap().to_owned()
        };
        let told = help(Who::Human, [127, 0, 0, 1]).await;
        assert_eq!(told.contains(word), by_word, "{declared_agents:?}: {told}");
        let told = help(Who::Declared, [10, 1, 2, 3]).await;
        assert_eq!(
            told.contains(setting),
            by_setting,
            "{declared_agents:?}: {told}"
        );
        assert!(told.contains("keys create --role agent"), "{told}");
    }
}

#[tokio::test]
async fn nobody_passes_for_a_keyed_agent() {
    let app = TestApp::new().await;
    let headers = [("authorization", "Bearer agent:claude")];
    let answer = app
        .send(
            Who::Nobody,
            [127, 0, 0, 1],
            "POST",
            "/decide",
            &headers,
            json!({"tool": "ok.x"}),
        )
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let answer = app
        .ask(
            Who::Agent,
            "POST",
            "/decide",
            json!({"tool": "ok.x", "agent": "other"}),
        )
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn guessing_keys_is_limited_and_does_not_lock_out_who_has_one() {
    let app = TestApp::new().await;
    let mut last = StatusCode::OK;
    for _ in 0..25 {
        last = app
            .ask(Who::Stranger, "GET", "/approvals", Value::Null)
            .await
            .status;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        app.ask(Who::Human, "GET", "/approvals", Value::Null)
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn an_open_gateway_lets_a_keyless_person_on_this_machine_decide_and_no_agent() {
    let app = TestApp::with(Exposure::Everything, true).await;
    let id = app.pending("pay.run", json!({})).await;
    let path = format!("/approvals/{id}/approve");
    for (who, from, expected) in [
        (Who::Agent, [127, 0, 0, 1], 403),
        (Who::Declared, [127, 0, 0, 1], 403),
        (Who::Nobody, [10, 0, 0, 1], 401),
        (Who::Nobody, [127, 0, 0, 1], 200),
    ] {
        assert_eq!(
            app.send(who, from, "POST", &path, &[], json!({}))
                .await
                .status
                .as_u16(),
            expected,
            "{who:?}"
        );
    }
}
