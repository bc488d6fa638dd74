//! Runners pass on what their agents ask over ACP.

use serde_json::{Value, json};

use crate::app::{TestApp, Who};

fn asking(tool_call: Value) -> Value {
    json!({"sessionId": "s-1", "folder": "/p", "requestId": "r-1", "toolCall": tool_call, "options": []})
}

#[tokio::test]
async fn policy_answers_by_the_kind_of_tool_and_its_arguments() {
    let app = TestApp::new().await;
    let ask = |tool_call| app.ask(Who::Agent, "POST", "/v1/permissions", asking(tool_call));
    let allowed =
        ask(json!({"toolCallId": "1", "kind": "read", "rawInput": {"path": "/p/a"}})).await;
    assert_eq!(allowed.status, 200, "{}", allowed.body);
    assert_eq!(allowed.body["action"], "allow");
    let denied = ask(json!({"kind": "execute", "rawInput": {"command": "rm -r /p"}})).await;
    assert_eq!(denied.status, 403, "{}", denied.body);
    let unknown = ask(json!({"kind": "brew"})).await;
    assert_eq!(unknown.status, 403, "{}", unknown.body);
    let path = "/traces?tool=acp.read";
    let traces = app.ask(Who::Admin, "GET", path, Value::Null).await.body;
    let trace = traces.as_array().or(traces["traces"].as_array()).unwrap()[0].clone();
    assert_eq!(
        (&trace["door"], &trace["session_id"]),
        (&json!("acp"), &json!("s-1"))
    );
}

#[tokio::test]
async fn a_person_sees_the_change_that_the_agent_shows() {
    let app = TestApp::new().await;
    let change =
        json!({"type": "diff", "path": "/p/a.txt", "oldText": "old\n", "newText": "new\n"});
    let tool_call =
        json!({"toolCallId": "7", "kind": "edit", "title": "Edit a.txt", "content": [change]});
    let asking = app.ask(Who::Agent, "POST", "/v1/permissions", asking(tool_call));
    let deciding = async {
        let path = "/approvals?status=pending&wait=10s";
        let listed = app.ask(Who::Human, "GET", path, Value::Null).await.body;
        let pending = listed
            .as_array()
            .or(listed["approvals"].as_array())
            .unwrap()[0]
            .clone();
        assert_eq!(pending["tool"], "acp.edit");
        let summary = &pending["summary"];
        assert_eq!(
            (&summary["kind"], &summary["path"]),
            (&json!("change"), &json!("/p/a.txt"))
        );
        assert!(
            summary["diff"].as_str().unwrap().contains("+new"),
            "{summary}"
        );
        assert_eq!(pending["params"]["acp"]["title"], "Edit a.txt");
        let path = format!("/approvals/{}/deny", pending["id"].as_str().unwrap());
        let body = json!({"reasoning": "not now"});
        assert_eq!(app.ask(Who::Human, "POST", &path, body).await.status, 200);
    };
    let (answer, ()) = tokio::join!(asking, deciding);
    assert_eq!(answer.status, 403, "{}", answer.body);
    assert!(
        answer.body.to_string().contains("not now"),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn a_turn_that_is_over_leaves_no_question() {
    let app = TestApp::new().await;
    let ask = |session: &str| {
        let call = json!({"kind": "edit", "rawInput": {"path": "/p/a", "content": "b"}});
        let body = json!({"sessionId": session, "toolCall": call});
        app.ask(Who::Agent, "POST", "/v1/permissions?wait=0", body)
    };
    for session in ["s-1", "s-2"] {
        assert_eq!(ask(session).await.status, 202);
    }
    let withdraw = |path: &'static str| app.ask(Who::Agent, "DELETE", path, Value::Null);
    assert_eq!(withdraw("/v1/permissions").await.status, 400);
    let withdrawn = withdraw("/v1/permissions?session_id=s-1").await.body;
    assert_eq!(withdrawn, json!({"withdrawn": 1}));
    let pending = "/approvals?status=pending";
    let pending = app.ask(Who::Human, "GET", pending, Value::Null).await.body;
    let pending = pending.as_array().unwrap().iter();
    let sessions: Vec<_> = pending.map(|one| &one["session_id"]).collect();
    assert_eq!(sessions, ["s-2"]);
}

#[tokio::test]
async fn an_edit_of_another_file_than_it_names_is_refused() {
    let app = TestApp::new().await;
    let change = json!({"type": "diff", "path": "/p/Makefile", "newText": "evil"});
    let call = json!({"kind": "edit", "rawInput": {"path": "/p/docs/a.md"}, "content": [change]});
    let ask = app.ask(Who::Agent, "POST", "/v1/permissions", asking(call));
    let refused = ask.await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_eq!(refused.body["error"]["code"], "call_contradictory");
}

#[tokio::test]
async fn an_agent_hears_that_it_is_to_stop() {
    let app = TestApp::new().await;
    let standing = || {
        app.ask(
            Who::Agent,
            "GET",
            "/v1/standing?session_id=s-1",
            Value::Null,
        )
    };
    assert_eq!(standing().await.body["stopped"], false);
    let stop = json!({"session": "s-1", "reasoning": "enough"});
    assert_eq!(app.ask(Who::Admin, "POST", "/stop", stop).await.status, 200);
    let stopped = standing().await.body;
    assert_eq!(stopped["stopped"], true);
    assert!(
        stopped["reason"].as_str().unwrap().contains("enough"),
        "{stopped}"
    );
    let other = "/v1/standing?session_id=s-2";
    let other = app.ask(Who::Agent, "GET", other, Value::Null).await.body;
    assert_eq!(other["stopped"], false);
}

#[tokio::test]
async fn p17_a_stop_takes_a_glob_and_names_the_agents_it_holds() {
    let app = TestApp::new().await;
    let post = |path: &'static str, agent: &'static str| {
        app.ask(Who::Admin, "POST", path, json!({"agent": agent}))
    };
    let standing = || app.ask(Who::Agent, "GET", "/v1/standing", Value::Null);
    let none = post("/stop", "codex*").await.body;
    assert_eq!(
        (&none["stopped"], &none["agents"]),
        (&json!("agent:codex*"), &json!([]))
    );
    assert_eq!(standing().await.body["stopped"], false);
    assert_eq!(post("/stop", "cl*").await.body["agents"], json!(["claude"]));
    let stopped = standing().await.body;
    assert_eq!(stopped["stopped"], true, "{stopped}");
    assert_eq!(post("/resume", "claude").await.status, 404);
    assert_eq!(post("/resume", "cl*").await.status, 200);
    assert_eq!(standing().await.body["stopped"], false);
    let everything = app.ask(Who::Admin, "POST", "/stop", json!({})).await.body;
    assert_eq!(everything["agents"], Value::Null);
}

/// As an agent asks over ACP: what its tool is given, where it works, and the change as it shows it.
fn edit(path: &str, text: &str) -> Value {
    let change = json!({"type": "diff", "path": path, "oldText": "a", "newText": text});
    let input = json!({"file_path": path, "old_string": "a", "new_string": text});
    json!({"sessionId": "s-1", "folder": "/srv/k", "toolCall": {
        "kind": "edit", "title": format!("Edit {path}"), "locations": [{"path": path, "line": 3}],
        "content": [change], "rawInput": input}})
}

#[tokio::test]
async fn p04_a_remembered_edit_over_acp_opens_what_it_says() {
    let app = TestApp::new().await;
    let ask = |body| app.ask(Who::Agent, "POST", "/v1/permissions?wait=0", body);
    let asked = ask(edit("/srv/k/src/a.rs", "b")).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    let id = asked.body["approval_id"].as_str().unwrap();
    let path = format!("/approvals/{id}/approve");
    let done = app.ask(Who::Human, "POST", &path, json!({"remember": "always"}));
    let done = done.await.body;
    assert_eq!(
        done["remembered"]["words"],
        "edits of .rs files directly in /srv/k/src; files whose names look like those of build and test tools are asked about"
    );
    for (path, text, status) in [
        ("/srv/k/src/a.rs", "b", 200),
        ("/srv/k/src/a.rs", "c", 200),
        ("/srv/k/src/b.rs", "c", 200),
        ("/srv/k/src/build.rs", "c", 202),
        ("/srv/k/src/b.py", "c", 202),
        ("/srv/k/b.rs", "c", 202),
    ] {
        let answer = ask(edit(path, text)).await;
        assert_eq!(answer.status, status, "{path} {}", answer.body);
    }
    let mut two = edit("/srv/k/src/b.rs", "c");
    two["toolCall"]["locations"] = json!([{"path": "/srv/k/src/b.rs"}, {"path": "/etc/passwd"}]);
    assert_eq!(ask(two).await.status, 202);
}

/// An agent asks, and says only which tool it wants.
fn untold(request: &str) -> Value {
    json!({"sessionId": "s-1", "folder": "/srv/k", "requestId": request, "toolCall": {
        "toolCallId": "7", "kind": "edit", "title": "Edit files", "rawInput": {}}})
}

#[tokio::test]
async fn a_decision_about_arguments_that_are_not_told_is_for_one_request() {
    let app = TestApp::new().await;
    let ask = |body| app.ask(Who::Agent, "POST", "/v1/permissions?wait=0", body);
    let asked = ask(untold("one")).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    let id = asked.body["approval_id"].as_str().unwrap();
    // The same request finds its place again; another one is another question.
    assert_eq!(ask(untold("one")).await.body["approval_id"], id);
    let other = ask(untold("two")).await;
    assert_ne!(other.body["approval_id"], id);
    let shown = app
        .ask(Who::Human, "GET", &format!("/approvals/{id}"), Value::Null)
        .await
        .body;
    assert_eq!(shown["params"]["acp"]["arguments"], "not told");
    assert_eq!(shown["offers"].as_array().map_or(0, Vec::len), 0, "{shown}");

    let path = format!("/approvals/{id}/approve");
    let remembered = app
        .ask(Who::Human, "POST", &path, json!({"remember": "always"}))
        .await;
    assert_eq!(remembered.status, 422, "{}", remembered.body);
    let done = app.ask(Who::Human, "POST", &path, json!({})).await;
    assert_eq!(done.status, 200, "{}", done.body);
    assert_eq!(
        ask(untold("two")).await.status,
        202,
        "taken by another request"
    );
    assert_eq!(
        ask(untold("three")).await.status,
        202,
        "taken by a later request"
    );
    assert_eq!(ask(untold("one")).await.status, 200);
    assert_eq!(ask(untold("one")).await.status, 202, "it is good for once");

    let mut nameless = untold("x");
    nameless.as_object_mut().unwrap().remove("requestId");
    let refused = ask(nameless).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_eq!(refused.body["error"]["code"], "request_id_missing");
}

#[tokio::test]
async fn what_nobody_decided_is_recorded_and_waits_for_nobody() {
    let app = TestApp::new().await;
    let did = json!({"sessionId": "s-1", "folder": "/p", "endsRun": true, "toolCall":
        {"toolCallId": "1", "kind": "execute", "title": "rm", "rawInput": {"command": "rm -r /p/build"}}});
    let told = app
        .ask(Who::Agent, "POST", "/v1/unsupervised", did.clone())
        .await;
    assert_eq!(told.status, 201, "{}", told.body);
    let path = "/traces?verdict=unsupervised";
    let traces = app.ask(Who::Admin, "GET", path, Value::Null).await.body;
    let traces = traces.as_array().or(traces["traces"].as_array()).unwrap();
    assert_eq!(traces.len(), 1, "{traces:?}");
    assert_eq!(traces[0]["trace_id"], told.body["trace_id"]);
    assert_eq!(traces[0]["tool"], "acp.execute");
    assert_eq!(traces[0]["params"]["command"], "rm -r /p/build");
    assert_eq!(
        traces[0]["reason"],
        "the agent did this without asking, and its run was ended"
    );
    let pending = app
        .ask(Who::Human, "GET", "/approvals?status=pending", Value::Null)
        .await
        .body;
    let pending = pending.as_array().or(pending["approvals"].as_array());
    assert!(pending.unwrap().is_empty(), "{pending:?}");
    // Nobody can decide it afterwards, and it is no answer to the same call.
    let id = told.body["approval_id"].as_str().unwrap();
    let path = format!("/approvals/{id}/approve");
    let late = app.ask(Who::Human, "POST", &path, json!({})).await;
    assert_eq!(late.status, 409, "{}", late.body);
    let mut asking = did;
    asking["requestId"] = "r-1".into();
    let asked = app
        .ask(Who::Agent, "POST", "/v1/permissions?wait=0", asking)
        .await;
    assert_eq!(asked.status, 403, "{}", asked.body);
    assert_ne!(asked.body["error"]["trace_id"], told.body["trace_id"]);
}
