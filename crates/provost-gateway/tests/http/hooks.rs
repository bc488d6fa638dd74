//! Coding agents ask by their hooks.

use serde_json::{Value, json};

use crate::app::{TestApp, Who};

async fn hook(app: &TestApp, agent: &str, said: Value) -> Value {
    let path = format!("/hooks/{agent}");
    let answer = app.ask(Who::Agent, "POST", &path, said).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

fn pre(tool: &str, id: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": "/p", "tool_name": tool,
        "tool_input": {"command": "make"}, "tool_use_id": id})
}

fn decision(answer: &Value) -> &str {
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    decision
        .as_str()
        .unwrap_or_else(|| panic!("no decision: {answer}"))
}

async fn traces(app: &TestApp, query: &str) -> Vec<Value> {
    let path = format!("/traces?{query}");
    let answer = app.ask(Who::Admin, "GET", &path, Value::Null).await;
    let found = answer.body.as_array().or(answer.body["traces"].as_array());
    found.unwrap_or_else(|| panic!("{}", answer.body)).clone()
}

#[tokio::test]
async fn a_call_is_allowed_or_denied_with_its_reason_and_its_outcome_follows() {
    let app = TestApp::new().await;
    let allowed = hook(&app, "claude-code", pre("Read", "t1")).await;
    assert_eq!(decision(&allowed), "allow");
    let denied = hook(&app, "claude-code", pre("WebFetch", "t2")).await;
    assert_eq!(decision(&denied), "deny");
    let reason = denied["hookSpecificOutput"]["permissionDecisionReason"].as_str();
    assert!(reason.unwrap().contains("not permitted"), "{denied}");

    let mut done = pre("Read", "t1");
    done["hook_event_name"] = "PostToolUse".into();
    done["tool_response"] = "four".into();
    for _ in 0..2 {
        assert_eq!(hook(&app, "claude-code", done.clone()).await, json!({}));
    }
    let found = traces(&app, "tool=claude.Read").await;
    let [trace] = &*found else {
        panic!("{found:?}")
    };
    assert_eq!(trace["session_id"], "s-1");
    assert_eq!(trace["door"], "hook");
    assert_eq!(trace["outcome"], "done", "{trace}");
    assert_eq!(trace["size"], 4);
}

#[tokio::test]
async fn a_person_is_asked_while_the_agent_waits() {
    let app = TestApp::new().await;
    let asking = hook(&app, "claude-code", pre("Bash", "t3"));
    let deciding = async {
        let path = "/approvals?status=pending&wait=10s";
        let listed = app.ask(Who::Human, "GET", path, Value::Null).await.body;
        let pending = listed.as_array().or(listed["approvals"].as_array());
        let pending = pending.and_then(|list| list.first()).cloned();
        let pending = pending.unwrap_or_else(|| panic!("{listed}"));
        assert_eq!(pending["tool"], "claude.Bash");
        let path = format!("/approvals/{}/approve", pending["id"].as_str().unwrap());
        let approved = app.ask(Who::Human, "POST", &path, json!({})).await;
        assert_eq!(approved.status, 200, "{}", approved.body);
    };
    let (answer, ()) = tokio::join!(asking, deciding);
    assert_eq!(decision(&answer), "allow");
}

#[tokio::test]
async fn the_agents_folder_is_the_project_of_the_summary() {
    let app = TestApp::new().await;
    for (folder, id, is_outside) in [("/srv/project", "t5", false), ("/srv/other", "t6", true)] {
        let mut said = pre("Bash", id);
        said["cwd"] = folder.into();
        said["session_id"] = id.into();
        said["tool_input"] = json!({"command": "make > /srv/project/log"});
        let asking = hook(&app, "claude-code", said);
        let deciding = async {
            let path = "/approvals?status=pending&wait=10s";
            let listed = app.ask(Who::Human, "GET", path, Value::Null).await.body;
            let listed = listed.as_array().or(listed["approvals"].as_array());
            let path = format!("/approvals/{}", listed.unwrap()[0]["id"].as_str().unwrap());
            let shown = app.ask(Who::Human, "GET", &path, Value::Null).await.body;
            let risks = shown["summary"]["risks"].to_string();
            assert_eq!(risks.contains("writes_outside"), is_outside, "{shown}");
            let path = format!("{path}/deny");
            app.ask(Who::Human, "POST", &path, json!({})).await;
        };
        tokio::join!(asking, deciding);
    }
}

/// A waiting call of Bash, approved by a person with other arguments.
async fn changed(app: &TestApp, arguments: Value) -> (Value, u16) {
    let asking = hook(app, "claude-code", pre("Bash", "t4"));
    let deciding = async {
        let path = "/approvals?status=pending&wait=10s";
        let listed = app.ask(Who::Human, "GET", path, Value::Null).await.body;
        let pending = listed.as_array().or(listed["approvals"].as_array());
        let id = pending.unwrap()[0]["id"].as_str().unwrap().to_owned();
        let approve = format!("/approvals/{id}/approve");
        let body = json!({ "arguments": arguments });
        let answer = app.ask(Who::Human, "POST", &approve, body).await;
        if answer.status != 200 {
            let deny = format!("/approvals/{id}/deny");
            app.ask(Who::Human, "POST", &deny, json!({})).await;
        }
        answer.status.as_u16()
    };
    tokio::join!(asking, deciding)
}

#[tokio::test]
async fn a_person_may_change_the_call() {
    let app = TestApp::new().await;
    let (answer, status) = changed(&app, json!({"command": "make -n"})).await;
    assert_eq!(status, 200);
    assert_eq!(decision(&answer), "allow");
    assert_eq!(
        answer["hookSpecificOutput"]["updatedInput"],
        json!({"command": "make -n"})
    );
    let found = traces(&app, "tool=claude.Bash").await;
    assert_eq!(found[0]["params"], json!({"command": "make"}));
    assert_eq!(found[0]["changed_params"], json!({"command": "make -n"}));

    // Policy denies this one, whoever approves it.
    let (answer, status) = changed(&app, json!({"command": "rm -rf /"})).await;
    assert_eq!(status, 422);
    assert_eq!(decision(&answer), "deny");
}

#[tokio::test]
async fn sessions_and_unknown_events_are_noted_and_answered_neutrally() {
    let app = TestApp::new().await;
    for event in ["SessionStart", "UserPromptSubmit", "SomethingNew"] {
        let said =
            json!({"hook_event_name": event, "session_id": "s-9", "prompt": "private words"});
        assert_eq!(hook(&app, "claude-code", said).await, json!({}), "{event}");
    }
    let sessions = app.ask(Who::Admin, "GET", "/sessions", Value::Null).await;
    assert!(
        sessions.body.to_string().contains("s-9"),
        "{}",
        sessions.body
    );
    let records = app.app.gate.store().chain_records("main", 0, 100).await;
    let bodies: Vec<_> = records.unwrap().into_iter().flatten().collect();
    let noted = |text: &str| bodies.iter().any(|record| record.body.contains(text));
    assert!(noted("claude-code SomethingNew"));
    assert!(!noted("private words"));
    let cursor = json!({"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c"});
    assert_eq!(
        hook(&app, "cursor", cursor).await,
        json!({"continue": true})
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_never_a_yes() {
    let app = TestApp::new().await;
    let said = json!({"hook_event_name": "PreToolUse", "session_id": "s"});
    assert_eq!(decision(&hook(&app, "claude-code", said).await), "deny");
    let mut said = pre("Read", "t");
    said["session_id"] = "a\u{7}".into();
    assert_eq!(decision(&hook(&app, "claude-code", said).await), "deny");
    let said = json!({"hook_event_name": "beforeShellExecution"});
    assert_eq!(hook(&app, "cursor", said).await["permission"], "deny");

    for (path, body, status) in [
        ("/hooks/claude-code", json!({}), 400),
        ("/hooks/claude-code", json!([]), 400),
        ("/hooks/cursor", json!({"hook_event_name": 5}), 400),
        (
            "/hooks/nobody",
            json!({"hook_event_name": "PreToolUse"}),
            404,
        ),
    ] {
        let answer = app.ask(Who::Agent, "POST", path, body).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        let help = answer.body["error"]["help"].as_str();
        assert!(help.is_some(), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_repeated_id_never_makes_one_trace_of_two_calls() {
    let app = TestApp::new().await;
    for _ in 0..2 {
        let answer = hook(&app, "claude-code", pre("Read", "same")).await;
        assert_eq!(decision(&answer), "allow");
    }
    let found = traces(&app, "tool=claude.Read").await;
    assert_eq!(found.len(), 2);
    assert_ne!(found[0]["trace_id"], found[1]["trace_id"]);
}
