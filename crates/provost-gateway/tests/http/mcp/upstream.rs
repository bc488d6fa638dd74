//! What servers behind the gateway offer, as agents find it.

use provost_core::policy::PolicySet;
use provost_gateway::backends::{McpServerConfig, McpTransport, mcp::Phase};
use serde_json::{Value, json};

use super::{
    behind::Behind,
    wire::{Client, Door, names, said},
};
use crate::app::{TestApp, Who};

/// `claude` may do everything with `alpha` but read secrets, and is asked about prompts of `beta`; the
/// declared agent may use `beta` alone.
fn policies() -> PolicySet {
    let policies = json!([
        {"name": "claude", "agent": "claude", "rules": [
            {"tools": ["alpha.resources.read"], "action": "deny", "when": "params.uri STARTS_WITH 'row://alpha/secret'"},
            {"tools": ["beta.prompts.get"], "action": "human_approval"},
            {"tools": ["alpha.*", "beta.*", "inner.*"], "action": "allow"},
        ]},
        {"name": "bob", "agent": "bob", "rules": [{"tools": ["beta.*"], "action": "allow"}]},
    ]);
    PolicySet::compile(serde_json::from_value(policies).unwrap()).unwrap()
}

async fn serving(configs: Vec<McpServerConfig>) -> Door {
    let inside = TestApp::serving(configs).await;
    inside.app.gate.replace_policy(policies());
    let mut notices = inside.app.mcp.notices();
    let up = || {
        let mut servers = inside.app.mcp.upstreams();
        servers.all(|server| server.status().status == Phase::Up && server.count() > 0)
    };
    while !up() {
        notices.recv().await.unwrap();
    }
    Door::around(inside).await
}

async fn both() -> (Door, Behind, Behind) {
    let (alpha, beta) = (Behind::start("alpha").await, Behind::start("beta").await);
    let door = serving(vec![alpha.config(), beta.config()]).await;
    (door, alpha, beta)
}

fn uris(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item["uri"].as_str().unwrap()).collect()
}

async fn read(client: &Client<'_>, uri: &str) -> Value {
    client.ask("resources/read", json!({"uri": uri})).await
}

#[tokio::test]
async fn definitions_and_results_pass_untouched_but_for_the_name() {
    let (door, alpha, _) = both().await;
    let client = door.client(Who::Agent, "2025-11-25").await;
    let listed = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let echo = &listed.as_array().unwrap()[0];
    let expected = json!({"name": "alpha.echo", "execution": {"new": true},
        "inputSchema": {"type": "object", "x-new": [1, 2.5]}});
    assert_eq!(*echo, expected);
    let params = json!({"name": "alpha.echo", "arguments": {"n": 1}, "_meta": {"mine": 1, "traceparent": "t"}});
    let result = client.ask("tools/call", params).await["result"].clone();
    let expected = json!({"content": [{"type": "hologram", "text": "hi"}],
        "structuredContent": {"n": 1}, "later": {"field": null}});
    assert_eq!(result, expected);
    // What nobody judged does not pass.
    let call = &alpha.heard("tools/call")[0]["params"];
    assert_eq!(
        (
            &call["name"],
            &call["_meta"]["traceparent"],
            &call["_meta"]["mine"]
        ),
        (&json!("echo"), &json!("t"), &Value::Null)
    );
    let bob = door.client(Who::Declared, "2025-11-25").await;
    let expected = ["beta.echo", "beta.slow", "grant.list", "mesh.catalog"];
    assert_eq!(bob.tools().await, expected);
}

#[tokio::test]
async fn progress_passes_and_a_cancelled_call_is_cancelled_at_the_server() {
    let (door, alpha, _) = both().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (id, mut reply) = client.begin("alpha.slow", json!({})).await;
    let sign = reply.next().await.unwrap();
    let expected =
        json!({"progressToken": "p", "progress": 3.0, "total": 9.0, "message": "working"});
    assert_eq!(sign["params"], expected);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    client.post(&cancel).await;
    assert_eq!(reply.next().await, None);
    door.inside.app.gate.drain().await;
    while alpha.heard("notifications/cancelled").is_empty() {
        tokio::task::yield_now().await;
    }
    let trace = &door.traces().await[0];
    assert_eq!(trace["outcome"], "failed", "{trace}");
}

#[tokio::test]
async fn progress_passes_in_order_and_before_the_answer() {
    let (door, _alpha, _) = both().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (id, mut reply) = client.begin("alpha.slow", json!({"more": 20})).await;
    for progress in 3..24 {
        let sign = reply.next().await.unwrap();
        assert_eq!(sign["params"]["progress"], f64::from(progress), "{sign}");
    }
    assert_eq!(reply.next().await.unwrap()["id"], id);
}

#[tokio::test]
async fn resources_are_put_together_and_read_from_the_server_that_lists_them() {
    let (door, alpha, _) = both().await;
    let claude = door.client(Who::Agent, "2025-06-18").await;
    let listed = claude.ask("resources/list", json!({})).await;
    let listed = &listed["result"]["resources"];
    assert_eq!(uris(listed), ["note://alpha", "note://beta", "shared://x"]);
    assert_eq!(listed[2]["name"], "alpha", "the first by name");
    assert_eq!(listed[0]["later"], 1);
    for (uri, from) in [
        ("note://beta", "beta"),
        ("shared://x", "alpha"),
        ("row://beta/7", "beta"),
    ] {
        let contents = &read(&claude, uri).await["result"]["contents"][0];
        assert_eq!(
            (&contents["text"], &contents["later"]),
            (&json!(from), &json!(true))
        );
    }
    assert_eq!(
        read(&claude, "note://nobody").await["error"]["code"],
        -32002
    );
    assert_eq!(
        read(&claude, "row://alpha/none").await["error"]["code"],
        -32002
    );
    let denied = read(&claude, "row://alpha/secret").await;
    assert_eq!(denied["error"]["code"], -32000);
    let text = denied["error"]["message"].as_str().unwrap();
    assert!(
        text.contains("row://alpha/secret") && text.contains("claude:rule-1"),
        "{text}"
    );
    assert_eq!(alpha.heard("resources/read").len(), 2);
    let trace = &door.traces().await[0];
    assert_eq!(
        (&trace["tool"], &trace["verdict"]),
        (&json!("alpha.resources.read"), &json!("deny"))
    );

    let bob = door.client(Who::Declared, "2025-06-18").await;
    let listed = bob.ask("resources/list", json!({})).await;
    assert_eq!(
        uris(&listed["result"]["resources"]),
        ["note://beta", "shared://x"]
    );
    assert_eq!(
        read(&bob, "shared://x").await["result"]["contents"][0]["text"],
        "beta"
    );
    assert_eq!(read(&bob, "note://alpha").await["error"]["code"], -32002);
    let admin = door.client(Who::Admin, "2025-06-18").await;
    let listed = admin.ask("resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"], json!([]));
}

#[tokio::test]
async fn prompts_carry_their_servers_name_and_a_person_may_be_asked() {
    let (door, _, beta) = both().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let listed = client.ask("prompts/list", json!({})).await;
    assert_eq!(
        names(&listed["result"]["prompts"]),
        ["alpha.greet", "beta.greet"]
    );
    let got = client
        .ask("prompts/get", json!({"name": "alpha.greet"}))
        .await;
    let text = &got["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "alpha:\"greet\"");
    let get = json!({"name": "beta.greet", "_meta": {"progressToken": 1}});
    let mut reply = client.post(&door.request("prompts/get", &get)).await;
    assert_eq!(
        reply.next().await.unwrap()["method"],
        "notifications/progress"
    );
    assert!(beta.heard("prompts/get").is_empty());
    door.decide(&door.pending().await, "approve", json!({}))
        .await;
    assert!(reply.last().await["result"]["messages"].is_array());
    for unknown in ["greet", "gamma.greet"] {
        let said = client.ask("prompts/get", json!({"name": unknown})).await;
        assert_eq!(said["error"]["code"], -32602, "{unknown}");
    }
}

#[tokio::test]
async fn completion_is_offered_where_policy_allows_it_outright() {
    let (door, alpha, _) = both().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let argument = json!({"name": "a", "value": "b"});
    for (reference, from) in [
        (
            json!({"type": "ref/prompt", "name": "alpha.greet"}),
            "alpha",
        ),
        (
            json!({"type": "ref/resource", "uri": "row://beta/{id}"}),
            "beta",
        ),
    ] {
        let params = json!({"ref": reference, "argument": argument});
        let said = client.ask("completion/complete", params).await;
        assert_eq!(said["result"]["completion"]["values"], json!([from]));
    }
    assert_eq!(
        alpha.heard("completion/complete")[0]["params"]["ref"]["name"],
        "greet"
    );
    let bob = door.client(Who::Declared, "2025-06-18").await;
    let params =
        json!({"ref": {"type": "ref/prompt", "name": "alpha.greet"}, "argument": argument});
    let said = bob.ask("completion/complete", params).await;
    assert_eq!(said["result"]["completion"]["values"], json!([]));
    assert_eq!(alpha.heard("completion/complete").len(), 1);
}

#[tokio::test]
async fn what_servers_say_reaches_those_who_may_hear_it() {
    let (door, alpha, _) = both().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let mut stream = door.send(Who::Agent, "GET", &client.headers(), "").await;
    for (method, params) in [
        ("resources/subscribe", json!({"uri": "note://alpha"})),
        ("logging/setLevel", json!({"level": "warning"})),
    ] {
        assert_eq!(
            client.ask(method, params).await["result"],
            json!({}),
            "{method}"
        );
    }
    assert_eq!(
        alpha.heard("logging/setLevel")[0]["params"]["level"],
        "warning"
    );
    // Of these, only those that were wanted are heard.
    alpha.say(
        "notifications/resources/updated",
        json!({"uri": "shared://x"}),
    );
    alpha.say(
        "notifications/message",
        json!({"level": "info", "data": "quiet"}),
    );
    alpha.say(
        "notifications/resources/updated",
        json!({"uri": "note://alpha"}),
    );
    let updated = stream.next().await.unwrap();
    assert_eq!(
        updated["params"],
        json!({"uri": "note://alpha"}),
        "{updated}"
    );
    alpha.say(
        "notifications/message",
        json!({"level": "error", "data": "loud"}),
    );
    let message = stream.next().await.unwrap();
    let expected = json!({"level": "error", "data": "loud", "logger": "alpha"});
    assert_eq!(message["params"], expected);
    alpha.say("notifications/prompts/list_changed", json!({}));
    let changed = stream.next().await.unwrap();
    assert_eq!(changed["method"], "notifications/prompts/list_changed");
    door.inside.app.policies_changed();
    let changed = stream.next().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    let gone = json!({"uri": "note://alpha"});
    assert_eq!(
        client.ask("resources/unsubscribe", gone).await["result"],
        json!({})
    );
    assert_eq!(alpha.heard("resources/unsubscribe").len(), 1);
    let said = client
        .ask("logging/setLevel", json!({"level": "shouting"}))
        .await;
    assert_eq!(said["error"]["code"], -32602);
}

/// One gateway behind another: the official library is the client in between, over both generations of the
/// protocol as it finds them.
#[tokio::test]
async fn the_official_client_lists_and_calls_through_this_door() {
    let inner = Door::open().await;
    let config = McpServerConfig {
        name: "inner".to_owned(),
        transport: McpTransport::Http {
            url: format!("http://{}/mcp", inner.addr).as_str().into(),
            headers: vec![("authorization".to_owned(), "Bearer agent-key".into())],
        },
        timeout: None,
    };
    let outer = serving(vec![config]).await;
    let status = outer.inside.app.mcp.get("inner").unwrap().status();
    assert_eq!(status.protocol_version.as_deref(), Some("2026-07-28"));
    let client = outer.client(Who::Agent, "2025-06-18").await;
    let tools = client.tools().await;
    assert!(tools.contains(&"inner.ok.run".to_owned()), "{tools:?}");
    let (text, failed) = client
        .call("inner.ok.run", json!({"args": ["through"]}))
        .await;
    assert!(text.contains("through") && !failed, "{text}");
    assert!(!tools.contains(&"inner.hidden.run".to_owned()), "{tools:?}");

    let (_, mut waiting) = client
        .begin("inner.pay.run", json!({"args": ["seven"]}))
        .await;
    let sign = waiting.next().await.unwrap();
    assert_eq!(sign["params"]["progressToken"], "p", "{sign}");
    inner
        .decide(&inner.pending().await, "approve", json!({}))
        .await;
    let (text, failed) = said(&waiting.last().await);
    assert!(text.contains("seven") && !failed, "{text}");
    assert_eq!(inner.traces().await[0]["door"], "mcp");
}
