//! What does not fit the schema of a tool is refused before anything is decided, at every door, and recorded.

use provost_gateway::backends::{BackendsConfig, HttpToolConfig};
use serde_json::{Value, json};

use crate::{
    app::{Answer, TestApp, Who},
    servers::Script,
};

/// `ok.get` and `pay.get` take `env`, a text, into their query; nothing listens where they would be called.
fn http_tools() -> BackendsConfig {
    let tool = |name: &str, method: &str, input_schema: Value| HttpToolConfig {
        name: name.into(),
        url: "http://127.0.0.1:9/x".into(),
        method: method.into(),
        headers: Vec::new(),
        timeout: None,
        description: String::new(),
        input_schema,
    };
    let schema = json!({
        "type": "object",
        "properties": {"env": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["env"],
        "additionalProperties": false,
    });
    BackendsConfig {
        http_tools: vec![
            tool("ok.get", "GET", schema.clone()),
            tool("pay.post", "POST", schema.clone()),
            tool("denied.get", "GET", schema),
            tool("ok.plain", "GET", Value::Null),
        ],
        ..BackendsConfig::default()
    }
}

const MISFITS: [&str; 9] = [
    r#"{"env": ["prod"]}"#,
    r#"{"env": [["prod"]]}"#,
    r#"{"env": {"a": "prod"}}"#,
    r#"{"env": true}"#,
    r#"{"env": 1}"#,
    r#"{"env": null}"#,
    "{}",
    r#"{"env": "a", "n": 1.5}"#,
    r#"{"env": "a", "Env": "b"}"#,
];

async fn traces(app: &TestApp) -> Vec<Value> {
    let path = "/traces?verdict=invalid";
    let listed = app.ask(Who::Admin, "GET", path, Value::Null).await.body;
    let listed = listed.as_array().or(listed["traces"].as_array());
    listed.cloned().unwrap()
}

fn assert_invalid(answer: &Answer, case: &str) {
    assert_eq!(answer.status, 422, "{case}: {}", answer.body);
    let error = &answer.body["error"];
    assert_eq!(error["code"], "invalid_arguments", "{case}");
    assert!(
        error["help"].is_string() && answer.body["trace_id"].is_string(),
        "{case}"
    );
}

#[tokio::test]
async fn p01_a_call_that_does_not_fit_is_refused_and_recorded() {
    let app = TestApp::of(http_tools()).await;
    let mut refused = 0;
    for tool in ["ok.get", "pay.post", "denied.get"] {
        for arguments in MISFITS {
            let params: Value = serde_json::from_str(arguments).unwrap();
            let called = json!({"params": params});
            let path = format!("/tool/{tool}");
            let answer = app.ask(Who::Agent, "POST", &path, called).await;
            assert_invalid(&answer, &format!("{path} {arguments}"));
            let asked = json!({"tool": tool, "arguments": params});
            let answer = app.ask(Who::Agent, "POST", "/decide", asked).await;
            assert_invalid(&answer, &format!("/decide {tool} {arguments}"));
            refused += 2;
        }
    }
    let traces = traces(&app).await;
    assert_eq!(traces.len(), refused);
    for trace in &traces {
        assert_eq!(
            (&trace["policy"], &trace["status_code"], &trace["outcome"]),
            (&json!("invalid"), &json!(422), &json!("none")),
            "{trace}"
        );
    }
    let pending = "/approvals?status=pending";
    let pending = app.ask(Who::Human, "GET", pending, Value::Null).await.body;
    assert!(!pending.to_string().contains("pay.post"), "{pending}");
}

#[tokio::test]
async fn p01_the_error_names_place_and_cause_and_no_value() {
    let app = TestApp::of(http_tools()).await;
    let body = json!({"params": {"env": ["s3cr3t"], "n": "s3cr3t"}});
    let answer = app.ask(Who::Agent, "POST", "/tool/ok.get", body).await;
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "the arguments do not fit `ok.get`: at `/env`: want string, but got array; at `/n`: want \
         integer, but got string"
    );
}

#[tokio::test]
async fn p01_without_a_schema_nothing_but_text_and_numbers_becomes_a_query() {
    let app = TestApp::of(http_tools()).await;
    for value in [json!(["prod"]), json!({"a": 1}), json!(true), json!([])] {
        let body = json!({"params": {"env": value}});
        let answer = app.ask(Who::Agent, "POST", "/tool/ok.plain", body).await;
        assert_invalid(&answer, &value.to_string());
    }
    // What fits is sent, and nobody is there.
    for value in [json!("prod"), json!(7), Value::Null] {
        let body = json!({"params": {"env": value}});
        let answer = app.ask(Who::Agent, "POST", "/tool/ok.plain", body).await;
        assert_eq!(answer.status, 502, "{}", answer.body);
    }
}

#[tokio::test]
async fn p01_a_stop_and_a_limit_come_first() {
    let app = TestApp::of(http_tools()).await;
    let stop = json!({"agent": "claude", "reasoning": "enough"});
    assert_eq!(app.ask(Who::Admin, "POST", "/stop", stop).await.status, 200);
    let body = json!({"params": {"env": ["prod"]}});
    let answer = app.ask(Who::Agent, "POST", "/tool/ok.get", body).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    assert_eq!(answer.body["error"]["code"], "stopped");
}

#[tokio::test]
async fn p01_hooks_and_permissions_that_name_a_tool_of_ours_are_checked() {
    let mut config = http_tools();
    for tool in &mut config.http_tools {
        tool.name = match tool.name.as_str() {
            "ok.get" => "claude.Read".into(),
            "pay.post" => "acp.read".into(),
            other => other.to_owned(),
        };
        // Only `env` is looked at: these doors add what they know.
        if let Some(schema) = tool.input_schema.as_object_mut() {
            schema.remove("additionalProperties");
        }
    }
    let app = TestApp::of(config).await;
    let hook = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read",
        "tool_input": {"env": ["prod"]},
    });
    let answer = app
        .ask(Who::Agent, "POST", "/hooks/claude-code", hook)
        .await;
    let decision = &answer.body["hookSpecificOutput"]["permissionDecision"];
    assert_eq!(decision, "deny", "{}", answer.body);
    let asking = json!({"toolCall": {"kind": "read", "rawInput": {"env": ["prod"]}}});
    let answer = app.ask(Who::Agent, "POST", "/v1/permissions", asking).await;
    assert_invalid(&answer, "acp");
    let doors: Vec<_> = traces(&app).await;
    let doors: Vec<_> = doors.iter().map(|trace| trace["door"].as_str()).collect();
    assert_eq!(doors.len(), 2, "{doors:?}");
}

fn upstream_tools() -> Value {
    json!([
        {"name": "strict", "inputSchema": {
            "type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"],
        }},
        {"name": "broken", "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}}},
        {"name": "elsewhere", "inputSchema": {"$ref": "https://example.org/s.json"}},
        {"name": "look", "inputSchema": {"properties": {"a": {"pattern": "(?=x)"}}}},
    ])
}

#[tokio::test]
async fn p01_the_schema_of_an_upstream_tool_is_enforced() {
    let script = Script::new(&[]);
    script.set_tools(upstream_tools());
    let app = TestApp::serving(vec![script.server("ok", "")]).await;
    let server = app.server_when("ok", |server| server["tools"] == 4).await;
    let body = json!({"params": {"env": ["prod"]}});
    let answer = app.ask(Who::Agent, "POST", "/tool/ok.strict", body).await;
    assert_invalid(&answer, "/tool");
    let body = json!({"tool": "ok.strict", "arguments": {}});
    let answer = app.ask(Who::Agent, "POST", "/decide", body).await;
    assert_invalid(&answer, "/decide");
    assert_eq!(script.noted("calls"), Vec::<String>::new());
    let body = json!({"params": {"env": "prod", "more": [1]}});
    let answer = app.ask(Who::Agent, "POST", "/tool/ok.strict", body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);

    // What cannot be read is said, and the tools are served unchecked.
    let warnings = server["warnings"].to_string();
    for tool in ["broken", "elsewhere", "look"] {
        let said = format!("the arguments of `{tool}` are not checked");
        assert!(warnings.contains(&said), "{warnings}");
        let path = format!("/tool/ok.{tool}");
        let answer = app
            .ask(Who::Agent, "POST", &path, json!({"params": {"a": [1]}}))
            .await;
        assert_eq!(answer.status, 200, "{tool} {}", answer.body);
    }
}

#[tokio::test]
async fn p01_over_mcp_it_is_invalid_params() {
    let script = Script::new(&[]);
    script.set_tools(upstream_tools());
    let app = TestApp::serving(vec![script.server("ok", "")]).await;
    app.server_when("ok", |server| server["tools"] == 4).await;
    let message = |arguments: Value| {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "ok.strict", "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        })
    };
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "ok.strict"),
    ];
    let from = [127, 0, 0, 1];
    for arguments in [json!({"env": ["prod"]}), json!({}), json!({"env": true})] {
        let body = message(arguments);
        let answer = app
            .send(Who::Agent, from, "POST", "/mcp", &headers, body)
            .await;
        let error = &answer.body["error"];
        assert_eq!(error["code"], -32602, "{} {}", answer.status, answer.body);
        assert!(error["data"]["trace_id"].is_string(), "{error}");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains("do not fit `ok.strict`"), "{said}");
    }
    assert_eq!(script.noted("calls"), Vec::<String>::new());
    assert_eq!(traces(&app).await.len(), 3);
}
