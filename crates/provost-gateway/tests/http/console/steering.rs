//! Grants, stops and policy.

use provost_core::policy::{Policy, PolicySet};
use serde_json::{Value, json};

use super::Tab;
use crate::app::{TestApp, Who};

#[tokio::test]
async fn an_admin_grants_and_revokes() {
    let app = TestApp::new().await;
    let (root, alice) = (
        Tab::signed_in(&app, "admin-key").await,
        Tab::signed_in(&app, "human-key").await,
    );
    let form = [
        ("agent", "claude"),
        ("tools", "pay.*"),
        ("duration", "1h"),
        ("max_uses", "5"),
        ("when", "params.n < 10"),
        ("reasoning", "small sums"),
    ];
    alice.post("/console/grants", &form).await.is(403);
    alice
        .get("/console/grants")
        .await
        .is(200)
        .says_not("Grant something");
    root.post("/console/grants", &form).await.is(303);
    let page = root.get("/console/grants").await.is(200);
    for text in [
        "pay.*",
        "params.n &#60; 10",
        "0 of 5",
        "small sums",
        "admin:root",
    ] {
        page.says(text);
    }
    for bad in [
        ("duration", "100d"),
        ("duration", "soon"),
        ("when", "params. <"),
        ("max_uses", "many"),
        ("agent", "["),
    ] {
        let mut form: Vec<_> = form
            .iter()
            .filter(|(name, _)| *name != bad.0)
            .copied()
            .collect();
        form.push(bad);
        root.post("/console/grants", &form)
            .await
            .is(400)
            .says("<h1>");
    }
    let grants = app
        .ask(Who::Admin, "GET", "/grants", Value::Null)
        .await
        .body;
    assert_eq!(grants.as_array().unwrap().len(), 1);
    let path = format!(
        "/console/grants/{}/revoke",
        grants[0]["id"].as_str().unwrap()
    );
    alice.post(&path, &[]).await.is(403);
    root.post(&path, &[]).await.is(303);
    root.post(&path, &[]).await.is(400);
    root.get("/console/grants")
        .await
        .says("No grant is in force");
}

#[tokio::test]
async fn an_admin_stops_and_resumes_and_every_page_says_so() {
    let app = TestApp::new().await;
    let (root, alice) = (
        Tab::signed_in(&app, "admin-key").await,
        Tab::signed_in(&app, "human-key").await,
    );
    for path in ["/", "/console/traces", "/console/policy", "/console/agents"] {
        root.get(path).await.says("href=\"/console/stop\"");
        alice.get(path).await.says_not("href=\"/console/stop\"");
    }
    app.pending("pay.run", json!({})).await;
    alice
        .post("/console/stop", &[("scope", "everything")])
        .await
        .is(403);
    for form in [
        &[][..],
        &[("scope", "agent")],
        &[("scope", "session"), ("agent", "claude")],
    ] {
        root.post("/console/stop", form)
            .await
            .is(400)
            .says("Nothing was stopped");
    }
    let page = root
        .post(
            "/console/stop",
            &[
                ("scope", "agent"),
                ("agent", "claude"),
                ("reasoning", "it loops"),
            ],
        )
        .await
        .is(303);
    let page = root.get(page.goes_to()).await;
    page.says("Stopped. 1 pending approval was denied.");
    page.says_not("No agent in it was seen");
    alice
        .get("/")
        .await
        .says("<strong>Stopped:</strong> agent:claude");
    alice.get("/console/stop").await.is(200).says("it loops");
    let call = app
        .ask(Who::Agent, "POST", "/tool/ok.run", json!({"params": {}}))
        .await;
    assert_eq!(call.status, 403);
    alice
        .post("/console/resume", &[("scope", "agent:claude")])
        .await
        .is(403);
    root.post("/console/resume", &[("scope", "agent:claude")])
        .await
        .is(303);
    let call = app
        .ask(Who::Agent, "POST", "/tool/ok.run", json!({"params": {}}))
        .await;
    assert_eq!(call.status, 200);
}

#[tokio::test]
async fn p17_a_stop_of_a_glob_shows_with_every_agent_and_session_it_holds() {
    let app = TestApp::new().await;
    let root = Tab::signed_in(&app, "admin-key").await;
    let call = json!({"tool": "ok.run", "arguments": {}, "session_id": "s-1"});
    app.ask(Who::Agent, "POST", "/decide", call).await;
    for (agent, unseen) in [("codex*", true), ("cl*", false)] {
        let form = [("scope", "agent"), ("agent", agent)];
        let page = root.post("/console/stop", &form).await.is(303);
        let page = root.get(page.goes_to()).await;
        if unseen {
            page.says("No agent in it was seen so far");
            root.get("/console/agents").await.says_not("badge no");
        } else {
            page.says_not("No agent in it was seen so far");
        }
    }
    for path in [
        "/console/agents",
        "/console/sessions",
        "/console/session/s-1",
    ] {
        root.get(path)
            .await
            .says("<span class=\"badge no\">stopped");
    }
}

fn read_draft(text: &str) -> Result<PolicySet, String> {
    let policies: Vec<Policy> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    PolicySet::compile(policies).map_err(|errors| format!("{} errors", errors.len()))
}

#[tokio::test]
async fn policy_is_shown_explained_and_replayed() {
    let app = TestApp::new().await;
    app.app.console.read_drafts_by(read_draft);
    let (alice, bot) = (
        Tab::signed_in(&app, "human-key").await,
        Tab::signed_in(&app, "supervisor-key").await,
    );
    for path in ["/console/policy", "/console/stop"] {
        bot.get(path).await.is(403);
    }
    let page = alice.get("/console/policy").await.is(200);
    page.says("ask a supervisor");
    page.says("params.command STARTS_WITH");
    let explain = async |params: &str| {
        let form = [
            ("agent", "claude"),
            ("tool", "claude.Bash"),
            ("params", params),
        ];
        alice.post("/console/policy/explain", &form).await.is(200)
    };
    explain("{\"command\": \"rm -rf /\"}")
        .await
        .says("Verdict: <strong>deny</strong>");
    explain("{\"command\": \"ls\"}")
        .await
        .says("does not match");
    explain("nonsense").await.says("not a JSON object");
    for n in 0..3 {
        app.ask(
            Who::Agent,
            "POST",
            "/tool/ok.run",
            json!({"params": {"n": n}}),
        )
        .await;
    }
    let draft = json!([{"name": "new", "agent": "*", "rules": [{"tools": ["ok.*"], "action": "human_approval"}]}]).to_string();
    let page = alice
        .post("/console/policy/replay", &[("draft", &draft)])
        .await
        .is(200);
    page.says("3 of 3 decisions would change.");
    page.says("new:rule-1");
    alice
        .post("/console/policy/replay", &[("draft", "{")])
        .await
        .is(200)
        .says("cannot be used");
    bot.post("/console/policy/replay", &[("draft", &draft)])
        .await
        .is(403);
    // Nothing was changed by it.
    let call = app
        .ask(Who::Agent, "POST", "/tool/ok.run", json!({"params": {}}))
        .await;
    assert_eq!(call.status, 200);
}
