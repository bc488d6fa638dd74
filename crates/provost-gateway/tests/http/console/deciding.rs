//! The forms that decide.

use serde_json::{Value, json};

use super::{Page, Tab, asked, reading::field};
use crate::app::{TestApp, Who};

async fn approval(app: &TestApp, id: &str) -> Value {
    app.ask(Who::Admin, "GET", &format!("/approvals/{id}"), Value::Null)
        .await
        .body
}

async fn decide(tab: &Tab<'_>, id: &str, form: &[(&str, &str)]) -> Page {
    tab.post(&format!("/console/decide/{id}"), form).await
}

#[tokio::test]
async fn an_approval_is_decided_with_a_note() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    for (choice, status) in [("approve", "approved"), ("deny", "denied")] {
        let id = app.pending("pay.run", json!({"n": choice})).await;
        let list = tab.get("/").await.is(200);
        list.says(&id);
        list.says("(1) Inbox");
        let page = decide(&tab, &id, &[("do", choice), ("note", "because\r\nof this")])
            .await
            .is(303);
        assert!(page.goes_to().starts_with("/?done="), "{}", page.goes_to());
        tab.get(page.goes_to())
            .await
            .is(200)
            .says("role=\"status\">");
        let decided = approval(&app, &id).await;
        assert_eq!(decided["status"], status);
        assert_eq!(decided["resolved_by"], "human:alice");
        assert_eq!(decided["reasoning"], "because\nof this");
        let page = tab.get(&format!("/console/approval/{id}")).await.is(200);
        page.says("human:alice");
        page.says_not("name=\"do\"");
    }
    let id = app.pending("pay.run", json!({"n": 3})).await;
    decide(&tab, &id, &[])
        .await
        .is(400)
        .says("Nothing was chosen");
    decide(&tab, &id, &[("do", "anything")]).await.is(400);
    let long = "x".repeat(20_000);
    decide(&tab, &id, &[("do", "approve"), ("note", &long)])
        .await
        .is(400);
    decide(&tab, "0000000000000000", &[("do", "approve")])
        .await
        .is(404);
    assert_eq!(approval(&app, &id).await["status"], "pending");
}

#[tokio::test]
async fn whoever_comes_second_is_told_who_was_first() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = app.pending("pay.run", json!({})).await;
    app.ask(
        Who::Admin,
        "POST",
        &format!("/approvals/{id}/deny"),
        json!({"reasoning": "too dear"}),
    )
    .await;
    let page = decide(&tab, &id, &[("do", "approve")]).await.is(409);
    page.says("Already decided");
    page.says("admin:root");
    page.says("too dear");
    // Who pressed twice was first both times.
    let id = app.pending("pay.run", json!({"n": 2})).await;
    for _ in 0..2 {
        decide(&tab, &id, &[("do", "approve")]).await.is(303);
    }
    decide(&tab, &id, &[("do", "approve"), ("note", "and more")])
        .await
        .is(409);
    decide(&tab, &id, &[("do", "deny")])
        .await
        .is(409)
        .says("human:alice");
}

#[tokio::test]
async fn a_longer_permission_holds_for_the_session_or_for_good() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let ask = async |session: &str| {
        let path = "/decide?wait=0";
        let headers = [("x-session-id", session)];
        app.send(
            Who::Agent,
            [127, 0, 0, 1],
            "POST",
            path,
            &headers,
            json!({"tool": "pay.run", "arguments": {"n": 1}}),
        )
        .await
    };
    let first = ask("one").await;
    let id = first.body["approval_id"].as_str().unwrap();
    decide(&tab, id, &[("do", "session")]).await.is(303);
    assert_eq!(approval(&app, id).await["resolved_by"], "human:alice");
    ask("one").await;
    assert_eq!(ask("one").await.status, 200);
    let other = ask("two").await;
    assert_eq!(other.status, 202);
    let id = other.body["approval_id"].as_str().unwrap();
    decide(&tab, id, &[("do", "always"), ("note", "it is fine")])
        .await
        .is(303);
    assert_eq!(ask("three").await.status, 200);
    let page = tab.get("/console/grants").await.is(200);
    page.says("only in session one");
    page.says("exactly these arguments: those of approval");
    page.says("it is fine");
    // Where there is no session there is nothing to allow it for.
    let id = asked(&app, "pay.other", json!({})).await;
    let page = tab.get(&format!("/console/approval/{id}")).await;
    page.says("value=\"always\"");
    page.says_not("value=\"session\"");
}

#[tokio::test]
async fn arguments_are_edited_and_policy_has_the_last_word() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = asked(&app, "claude.Bash", json!({"command": "ls \u{202e}x"})).await;
    let page = tab.get(&format!("/console/approval/{id}")).await.is(200);
    page.says("Approve as edited");
    page.says("&#34;ls \\u202ex&#34;");
    let (_, seen) = page.text.split_once("name=\"seen\" value=\"").unwrap();
    let (seen, _) = seen.split_once('"').unwrap();
    for (arguments, status) in [
        ("{", 400),
        ("[1]", 400),
        ("", 400),
        ("{\"n\": 1e400}", 400),
        ("{\"command\": \"rm -rf /\"}", 428),
    ] {
        let form = [("do", "change"), ("arguments", arguments), ("seen", seen)];
        let page = decide(&tab, &id, &form).await.is(status);
        if status == 428 {
            let mark = field(&page, "confirmed").unwrap();
            let form = [form[0], form[1], ("confirmed", &*mark)];
            decide(&tab, &id, &form).await.is(422);
        }
    }
    assert_eq!(approval(&app, &id).await["status"], "pending");
    let changed = [
        ("do", "change"),
        ("arguments", "{\"command\": \"ls -l\"}"),
        ("note", "rather so"),
        ("back", "approval"),
    ];
    let page = decide(&tab, &id, &changed).await.is(303);
    assert!(
        page.goes_to()
            .starts_with(&format!("/console/approval/{id}?done=changed"))
    );
    let trace = approval(&app, &id).await["trace_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let story = tab.get(&format!("/console/trace/{trace}")).await.is(200);
    story.says("with other arguments than were asked for");
    story.says("ls -l");
}

#[tokio::test]
async fn those_that_are_ticked_are_decided_together() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(app.pending("pay.run", json!({"n": n})).await);
    }
    app.ask(
        Who::Admin,
        "POST",
        &format!("/approvals/{}/deny", ids[1]),
        json!({}),
    )
    .await;
    let form = [
        ("do", "approve"),
        ("id", &ids[0]),
        ("id", &ids[1]),
        ("id", &ids[2]),
        ("note", "all of them"),
    ];
    let page = tab.post("/console/decide", &form).await.is(303);
    tab.get(page.goes_to())
        .await
        .says("Approved: 2; 1 had been decided already");
    for (id, status) in ids
        .iter()
        .zip(["approved", "denied", "approved", "pending"])
    {
        assert_eq!(approval(&app, id).await["status"], status);
    }
    tab.post("/console/decide", &[("do", "deny")])
        .await
        .is(400)
        .says("None was ticked");
    tab.post("/console/decide", &[("do", "always"), ("id", &ids[3])])
        .await
        .is(400);
    tab.post("/console/decide", &[("do", "deny"), ("id", &ids[3])])
        .await
        .is(303);
    assert_eq!(approval(&app, &ids[3]).await["status"], "denied");
}

#[tokio::test]
async fn a_supervisor_decides_its_own_tools_at_its_own_level() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "supervisor-key").await;
    let (own, foreign) = (
        app.pending("fs.run", json!({"n": 1})).await,
        app.pending("pay.run", json!({"n": 2})).await,
    );
    let list = tab.get("/").await.is(200);
    list.says(&own);
    list.says_not(&foreign);
    list.says("(1) Inbox");
    let page = tab.get(&format!("/console/approval/{own}")).await.is(200);
    for choice in ["session", "always", "change"] {
        page.says_not(&format!("value=\"{choice}\""));
    }
    tab.get(&format!("/console/approval/{foreign}"))
        .await
        .is(403);
    decide(&tab, &foreign, &[("do", "approve")]).await.is(422);
    decide(&tab, &own, &[("do", "always")]).await.is(422);
    decide(&tab, &own, &[("do", "change"), ("arguments", "{}")])
        .await
        .is(422);
    assert_eq!(approval(&app, &own).await["status"], "pending");
    decide(&tab, &own, &[("do", "hand_up"), ("note", "I cannot tell")])
        .await
        .is(303);
    tab.get("/").await.says_not(&own);
    decide(&tab, &own, &[("do", "approve")]).await.is(422);
    let alice = Tab::signed_in(&app, "human-key").await;
    alice
        .get("/")
        .await
        .says("handed up by supervisor:fs-bot: I cannot tell");
}

#[tokio::test]
async fn p04_a_wider_permission_is_ticked_before_it_is_given() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = asked(&app, "pay.Bash", json!({"command": "npm test"})).await;
    let page = tab.get(&format!("/console/approval/{id}")).await.is(200);
    page.says("Allow for 30 days: exactly these arguments");
    let words = "commands that begin with npm test and show no known risk";
    page.says(&format!("name=\"confirm\" value=\"{words}\" required"));
    let wide = [("do", "always"), ("scope", "words")];
    decide(&tab, &id, &wide).await.is(422);
    decide(&tab, &id, &[("do", "always"), ("scope", "everything")])
        .await
        .is(400);
    assert_eq!(approval(&app, &id).await["status"], "pending");
    decide(
        &tab,
        &id,
        &[("do", "always"), ("scope", "words"), ("confirm", words)],
    )
    .await
    .is(303);
    let page = tab.get(&format!("/console/approval/{id}")).await.is(200);
    page.says(words);
    page.says("provost grants revoke");

    let risky = asked(&app, "pay.Bash", json!({"command": "rm -rf build"})).await;
    let page = tab.get(&format!("/console/approval/{risky}")).await.is(200);
    page.says("Allow for 30 days: exactly these arguments");
    page.says_not("name=\"confirm\"");
}
