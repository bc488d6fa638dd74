//! Secrets are masked in every view, content is withheld by what a field is for, and what runs is untouched.

use provost_core::trace::view::Exposure;
use serde_json::{Value, json};

use crate::{
    app::{TestApp, Who},
    console::Tab,
};

const SECRET: &str = "hunter2horse";
const CONTENT: &str = "private words";

fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// Calls that bury a secret, each in another way.
fn burying() -> Vec<Value> {
    let token = token();
    vec![
        json!({"password": SECRET}),
        json!({"env": {"API_KEY": SECRET}, "list": [{"clientSecret": [SECRET]}]}),
        json!({"command": format!("PASSWORD={SECRET} rm -rf /x && curl -u a:{SECRET} https://x")}),
        json!({"command": format!("curl -H 'Authorization: Bearer {token}' https://a:{SECRET}@x")}),
        json!({"file_path": "/p/a", "old_string": token, "new_string": format!("key = \"{token}\"")}),
        json!({"path": "/p/.env", "content": format!("TOKEN={SECRET}\nB={token}\n")}),
        json!({"description": format!("use {token}"), "command": format!("echo {token}")}),
        json!({token.clone(): 1, "note": format!("password: \"{SECRET}\"")}),
        json!({"patch": format!("*** Begin Patch\n*** Add File: a\n+PASSWORD={SECRET}\n*** End Patch")}),
    ]
}

async fn views(app: &TestApp, id: &str, trace: &str) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    let trace = format!("/traces/{trace}");
    let detail = format!("/approvals/{id}");
    let full = format!("{detail}?content=full");
    let paths = [
        "/approvals",
        "/approvals?content=full",
        "/traces",
        "/traces?content=full",
        "/sessions",
        "/grants",
        &detail,
        &full,
        &trace,
        &format!("{trace}?content=full"),
    ];
    for path in paths {
        for who in [Who::Human, Who::Supervisor] {
            let answer = app.ask(who, "GET", path, Value::Null).await;
            seen.push((format!("{who:?} {path}"), answer.body.to_string()));
        }
    }
    let tab = Tab::signed_in(app, "human-key").await;
    for path in [
        "/".to_owned(),
        "/?content=full".to_owned(),
        format!("/console/approval/{id}"),
        format!("/console/approval/{id}?content=full"),
        "/console/traces".to_owned(),
        "/console/traces?content=full".to_owned(),
        trace.replace("/traces", "/console/trace"),
    ] {
        let page = tab.get(&path).await;
        seen.push((path, page.text));
    }
    seen
}

#[tokio::test]
async fn p09_a_buried_secret_is_in_no_view() {
    for exposure in [Exposure::Everything, Exposure::Structure] {
        for params in burying() {
            let app = TestApp::with(exposure, false).await;
            let body = json!({"tool": "fs.any", "arguments": params});
            let asked = app
                .ask(Who::Agent, "POST", "/decide?wait=0", body)
                .await
                .body;
            let id = asked["approval_id"].as_str().unwrap();
            let trace = asked["trace_id"].as_str().unwrap();
            for _ in 0..2 {
                for (view, text) in views(&app, id, trace).await {
                    for secret in [SECRET, &token()] {
                        assert!(
                            !text.contains(secret),
                            "{exposure:?} {view} of {params}: {text}"
                        );
                    }
                }
                let path = format!("/approvals/{id}/deny");
                let reason = json!({"reasoning": format!("do not send {}", token())});
                app.ask(Who::Human, "POST", &path, reason).await;
            }
        }
    }
}

#[tokio::test]
async fn p09_a_mask_says_kind_and_length_and_is_a_risk() {
    let app = TestApp::new().await;
    let id = app
        .pending("pay.run", json!({"args": ["x"], "password": SECRET}))
        .await;
    let path = format!("/approvals/{id}");
    let shown = app.ask(Who::Human, "GET", &path, Value::Null).await.body;
    assert_eq!(
        shown["params"]["password"],
        "[secret: password, 12 characters]"
    );
    assert_eq!(shown["hides_secret"], true);
    let command = format!("TOKEN={SECRET} rm -rf /x");
    let id = app.pending("pay.run", json!({"command": command})).await;
    let path = format!("/approvals/{id}");
    let shown = app.ask(Who::Human, "GET", &path, Value::Null).await.body;
    let part = &shown["summary"]["parts"][0];
    assert_eq!(
        part["text"],
        "TOKEN=[secret: token, 12 characters] rm -rf /x"
    );
    let risks = shown["summary"]["risks"].to_string();
    assert!(
        risks.contains("hides_secret") && risks.contains("deletes"),
        "{risks}"
    );
    let plain = app.pending("pay.run", json!({"args": ["x"]})).await;
    let path = format!("/approvals/{plain}");
    let shown = app.ask(Who::Human, "GET", &path, Value::Null).await.body;
    assert!(shown.get("hides_secret").is_none(), "{shown}");
}

#[tokio::test]
async fn p09_no_view_of_what_is_hidden_has_a_digest() {
    for (exposure, params) in [
        (Exposure::Everything, json!({"pin": "4711"})),
        (Exposure::Structure, json!({"note": "4711"})),
    ] {
        let app = TestApp::with(exposure, false).await;
        let body = json!({"tool": "fs.any", "arguments": params});
        let decide = "/decide?wait=0";
        let asked = app.ask(Who::Agent, "POST", decide, body.clone()).await.body;
        let id = asked["approval_id"].as_str().unwrap();
        let approve = format!("/approvals/{id}/approve");
        app.ask(Who::Human, "POST", &approve, json!({"remember": "always"}))
            .await;
        app.ask(Who::Agent, "POST", decide, body).await;
        let trace = format!("/traces/{}", asked["trace_id"].as_str().unwrap());
        for path in [
            "/approvals?status=approved",
            &format!("/approvals/{id}"),
            "/traces",
            &trace,
            "/grants",
        ] {
            let shown = app.ask(Who::Supervisor, "GET", path, Value::Null).await;
            assert_eq!(shown.status, 200, "{path} {}", shown.body);
            assert!(
                !shown.body.to_string().contains("\"digest\""),
                "{path} {}",
                shown.body
            );
        }
    }
    let app = TestApp::new().await;
    let id = app.pending("pay.run", json!({"args": ["x"]})).await;
    let path = format!("/approvals/{id}");
    let shown = app.ask(Who::Human, "GET", &path, Value::Null).await.body;
    assert!(shown["digest"].is_string(), "{shown}");
}

#[tokio::test]
async fn p09_a_grant_and_the_loser_of_a_race_see_no_secret() {
    let app = TestApp::new().await;
    let grant = json!({
        "agent": "claude", "tools": "pay.*", "duration": "1h", "reasoning": format!("for {}", token()),
        "when": format!("params.header == \"Authorization: Bearer {SECRET}9\""),
    });
    let made = app.ask(Who::Admin, "POST", "/grants", grant).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let listed = app.ask(Who::Admin, "GET", "/grants", Value::Null).await;
    let page = Tab::signed_in(&app, "admin-key")
        .await
        .get("/console/grants")
        .await;
    for text in [made.body.to_string(), listed.body.to_string(), page.text] {
        assert!(!text.contains(SECRET) && !text.contains(&token()), "{text}");
        assert!(text.contains("[secret: "), "{text}");
    }
    let id = app.pending("fs.run", json!({"args": ["x"]})).await;
    let path = format!("/approvals/{id}/deny");
    let why = json!({"reasoning": token()});
    assert_eq!(
        app.ask(Who::Human, "POST", &path, why.clone()).await.status,
        200
    );
    let late = app.ask(Who::Human, "POST", &path, why).await;
    assert_eq!(late.status, 409);
    assert!(!late.body.to_string().contains(&token()), "{}", late.body);
}

#[tokio::test]
async fn p09_content_is_withheld_by_what_a_field_is_for() {
    let app = TestApp::with(Exposure::Structure, false).await;
    for params in [
        json!({"file_path": "/p", "old_string": CONTENT, "new_string": CONTENT}),
        json!({"edits": [{"old_str": CONTENT, "newText": CONTENT}], "path": "/p"}),
        json!({"args": ["x"], "stdin": CONTENT}),
        json!({"input": CONTENT}),
        json!({"command": format!("git commit -m '{CONTENT}'")}),
        json!({"command": format!("cat > f <<'E'\n{CONTENT}\nE\n")}),
        json!({"cmd": ["bash", "-lc", format!("echo '{CONTENT}' > f")]}),
        json!({"commitMessage": CONTENT, "html_body": CONTENT, "Prompt": CONTENT}),
        json!({"note": format!("one\n{CONTENT}")}),
    ] {
        let id = app.pending("fs.run", params.clone()).await;
        for who in [Who::Supervisor, Who::Human] {
            for path in ["/approvals".to_owned(), format!("/approvals/{id}")] {
                let shown = app
                    .ask(who, "GET", &path, Value::Null)
                    .await
                    .body
                    .to_string();
                assert!(!shown.contains(CONTENT), "{path} of {params}: {shown}");
            }
        }
        let path = format!("/approvals/{id}?content=full");
        let shown = app.ask(Who::Human, "GET", &path, Value::Null).await;
        assert!(shown.body.to_string().contains(CONTENT), "{}", shown.body);
        let refused = app.ask(Who::Supervisor, "GET", &path, Value::Null).await;
        assert_eq!(refused.status, 403);
    }
}

#[tokio::test]
async fn p09_a_short_error_of_a_backend_is_withheld() {
    let app = TestApp::with(Exposure::Structure, false).await;
    let body = json!({"params": {CONTENT: 1}});
    let answer = app.ask(Who::Agent, "POST", "/tool/ok.run", body).await;
    assert!(answer.body.to_string().contains(CONTENT), "{}", answer.body);
    let trace = format!("/traces/{}", answer.body["trace_id"].as_str().unwrap());
    let shown = app.ask(Who::Supervisor, "GET", &trace, Value::Null).await;
    assert_eq!(shown.status, 403, "not a tool of this supervisor");
    let shown = app.ask(Who::Human, "GET", &trace, Value::Null).await.body;
    assert!(shown["error"]["content_length"].is_number(), "{shown}");
    assert!(!shown["error"].to_string().contains(CONTENT), "{shown}");
}

#[tokio::test]
async fn p09_masking_never_alters_what_runs() {
    let app = TestApp::new().await;
    let params = json!({"args": ["--token", token(), format!("--password={SECRET}")]});
    let id = app.pending("pay.run", params.clone()).await;
    let approve = format!("/approvals/{id}/approve");
    assert_eq!(
        app.ask(Who::Human, "POST", &approve, json!({}))
            .await
            .status,
        200
    );
    let body = json!({"params": params});
    let ran = app
        .ask(Who::Agent, "POST", "/tool/pay.run", body)
        .await
        .body;
    let expected = format!("--token {} --password={SECRET}\n", token());
    assert_eq!(ran["result"]["stdout"], expected.as_str());
}

#[tokio::test]
async fn p09_an_edit_of_what_was_masked_runs_with_its_secrets() {
    let app = TestApp::new().await;
    let params = json!({"args": [format!("--password={SECRET}"), "old"]});
    let id = app.pending("pay.run", params.clone()).await;
    let path = format!("/approvals/{id}");
    let shown = app.ask(Who::Human, "GET", &path, Value::Null).await.body;
    let mut edited = shown["params"].clone();
    assert!(!edited.to_string().contains(SECRET), "{edited}");
    edited["args"][1] = "new".into();
    // A mask that stands for nothing is refused.
    let wrong = json!({"arguments": {"args": ["[secret: token, 5 characters]"]}});
    let approve = format!("{path}/approve");
    let refused = app.ask(Who::Human, "POST", &approve, wrong).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let body = json!({"arguments": edited});
    let approved = app.ask(Who::Human, "POST", &approve, body).await;
    assert_eq!(approved.status, 200, "{}", approved.body);
    let body = json!({"params": params});
    let ran = app
        .ask(Who::Agent, "POST", "/tool/pay.run", body)
        .await
        .body;
    assert_eq!(
        ran["result"]["stdout"],
        format!("--password={SECRET} new\n").as_str()
    );
}
