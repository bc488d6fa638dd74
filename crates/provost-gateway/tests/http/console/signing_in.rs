//! Who gets in, by what, and for how long.

use provost_gateway::console::one_time_link;
use serde_json::{Value, json};

use super::{ORIGIN, Tab, encoded};
use crate::app::{TestApp, Who};

#[tokio::test]
async fn a_key_signs_in_by_a_cookie_that_no_script_and_no_other_site_can_use() {
    let app = TestApp::new().await;
    let mut tab = Tab::new(&app);
    for path in ["/", "/console/traces", "/console/approval/x?content=full"] {
        let page = tab.get(path).await.is(303);
        assert!(page.goes_to().starts_with("/console/login"), "{path}");
    }
    tab.get("/console/login")
        .await
        .is(200)
        .says("type=\"password\"");
    let page = tab
        .sign_in(&[("key", "human-key"), ("next", "/console/traces")])
        .await
        .is(303);
    assert_eq!(page.goes_to(), "/console/traces");
    let cookie = page.headers["set-cookie"].to_str().unwrap();
    for part in [
        "provost_session_9090=",
        "Path=/",
        "HttpOnly",
        "SameSite=Strict",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(
        !cookie.contains("Secure") && !cookie.contains("human-key"),
        "{cookie}"
    );
    tab.get("/").await.is(200).says("alice");
    // Reached by TLS, the cookie is for TLS alone.
    let form = encoded(&[("key", "human-key")]);
    let page = Tab::new(&app)
        .send(
            "POST",
            "/console/login",
            &[("origin", "https://127.0.0.1:9090")],
            form,
        )
        .await;
    assert!(
        page.headers["set-cookie"]
            .to_str()
            .unwrap()
            .ends_with("; Secure")
    );
}

#[tokio::test]
async fn nobody_is_sent_elsewhere() {
    let app = TestApp::new().await;
    for next in [
        "https://evil.example.com/",
        "//evil.example.com",
        "/\\evil.example.com",
        "javascript:alert(1)",
        "/traces",
        "",
    ] {
        let page = Tab::new(&app)
            .sign_in(&[("key", "human-key"), ("next", next)])
            .await
            .is(303);
        assert_eq!(page.goes_to(), "/", "{next}");
    }
}

#[tokio::test]
async fn agents_and_strangers_stay_outside() {
    let app = TestApp::new().await;
    let mut tab = Tab::new(&app);
    tab.sign_in(&[("key", "agent-key")])
        .await
        .is(403)
        .says("never decides or looks");
    tab.sign_in(&[("key", "agent:bob")]).await.is(401);
    tab.sign_in(&[("key", "nonsense")])
        .await
        .is(401)
        .says("not known");
    tab.sign_in(&[]).await.is(401);
    assert!(tab.cookie.is_none());
    tab.get("/").await.is(303);
    // An API key is no session, and a session no API key.
    tab.get_with("/", &[("authorization", "Bearer admin-key")])
        .await
        .is(303);
    let alice = Tab::signed_in(&app, "human-key").await;
    alice.get("/approvals").await.is(401);
    alice.get("/traces").await.is(401);
}

#[tokio::test]
async fn guessing_is_limited_and_locks_nobody_out() {
    let app = TestApp::new().await;
    let mut tab = Tab::new(&app);
    for _ in 0..20 {
        tab.sign_in(&[("key", "guess")]).await.is(401);
    }
    let page = tab.sign_in(&[("key", "guess")]).await.is(429);
    assert!(page.headers.contains_key("retry-after"));
    tab.sign_in(&[("key", "human-key")]).await.is(303);
}

#[tokio::test]
async fn a_link_signs_in_once_and_only_by_its_button() {
    let app = TestApp::new().await;
    let key = app.app.gate.control().key("admin-key").unwrap().clone();
    let link = one_time_link(&app.app, &key).await.unwrap();
    let token = link.split_once("token=").unwrap().1;
    let mut tab = Tab::new(&app);
    for method in ["GET", "HEAD", "GET"] {
        let page = tab.send(method, &link, &[], String::new()).await.is(200);
        assert!(!page.headers.contains_key("set-cookie"));
    }
    tab.sign_in(&[("token", token)]).await.is(303);
    tab.get("/").await.is(200).says("root");
    let again = Tab::new(&app).sign_in(&[("token", token)]).await.is(401);
    again.says("used already");
}

#[tokio::test]
async fn whoever_decides_may_ask_for_a_link() {
    let app = TestApp::new().await;
    for (who, status) in [
        (Who::Nobody, 401),
        (Who::Agent, 403),
        (Who::Supervisor, 201),
        (Who::Human, 201),
        (Who::Admin, 201),
        (Who::Stranger, 401),
    ] {
        let answer = app.ask(who, "POST", "/console/links", Value::Null).await;
        assert_eq!(answer.status, status, "{who:?}");
        if status == 201 {
            let path = answer.body["path"].as_str().unwrap();
            let token = path.split_once("token=").unwrap().1;
            Tab::new(&app).sign_in(&[("token", token)]).await.is(303);
        }
    }
}

#[tokio::test]
async fn signing_out_and_a_removed_key_end_a_session_at_once() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let page = tab.post("/console/logout", &[]).await.is(303);
    assert!(
        page.headers["set-cookie"]
            .to_str()
            .unwrap()
            .contains("Max-Age=0")
    );
    tab.get("/").await.is(303);

    let new = json!({"name": "carol", "role": "human"});
    let made = app.ask(Who::Admin, "POST", "/keys", new.clone()).await.body;
    let carol = Tab::signed_in(&app, made["key"].as_str().unwrap()).await;
    carol.get("/").await.is(200);
    carol.get("/console/events").await.is(200);
    app.ask(Who::Admin, "DELETE", "/keys/carol", Value::Null)
        .await;
    carol.get("/").await.is(303);
    carol.get("/console/fragment/inbox").await.is(401);
    carol.get("/console/events").await.is(401);
    // The name alone brings nothing back.
    app.ask(Who::Admin, "POST", "/keys", new).await;
    carol.get("/").await.is(303);
}

#[tokio::test]
async fn a_session_holds_on_every_replica_and_over_a_restart() {
    let app = TestApp::new().await;
    let other = app.replica().await;
    let alice = Tab::signed_in(&app, "human-key").await;
    let there = alice.on(&other);
    there.get("/").await.is(200).says("alice");
    let id = app.pending("pay.run", json!({})).await;
    let path = format!("/console/decide/{id}");
    // The form of one replica's page is taken by another.
    let token = alice.token().await;
    let form = [("csrf", token.as_str()), ("do", "approve")];
    there.send_form(&path, &form).await.is(303);

    alice.post("/console/logout", &[]).await.is(303);
    alice.get("/").await.is(303);
    let restarted = app.replica().await;
    alice.on(&restarted).get("/").await.is(303);

    let key = app.app.gate.control().key("admin-key").unwrap().clone();
    let link = one_time_link(&app.app, &key).await.unwrap();
    let token = link.split_once("token=").unwrap().1;
    let mut tab = Tab::new(&other);
    tab.sign_in(&[("token", token)]).await.is(303);
    tab.on(&app).get("/").await.is(200).says("root");
    let again = Tab::new(&app).sign_in(&[("token", token)]).await;
    again.is(401).says("used already");
}

#[tokio::test]
async fn signing_in_anew_leaves_no_session_behind() {
    let app = TestApp::new().await;
    let mut tab = Tab::signed_in(&app, "human-key").await;
    let before = tab.on(&app);
    before.get("/").await.is(200).says("alice");
    tab.sign_in(&[("key", "admin-key")]).await.is(303);
    tab.get("/").await.is(200).says("root");
    before.get("/").await.is(303);
}

#[tokio::test]
async fn a_form_must_be_of_a_page_of_this_session() {
    let app = TestApp::new().await;
    let id = app.pending("pay.run", json!({})).await;
    let (alice, root) = (
        Tab::signed_in(&app, "human-key").await,
        Tab::signed_in(&app, "admin-key").await,
    );
    let path = format!("/console/decide/{id}");
    let (own, other) = (alice.token().await, root.token().await);
    for token in ["", "x", other.as_str()] {
        alice
            .send_form(&path, &[("csrf", token), ("do", "approve")])
            .await
            .is(403)
            .says("not ours");
    }
    alice.send_form(&path, &[("do", "approve")]).await.is(403);
    let form = encoded(&[("csrf", own.as_str()), ("do", "approve")]);
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", ORIGIN)],
        &[("sec-fetch-site", "none")],
        &[("origin", "null")],
        &[("origin", "http://evil.example.com")],
        &[("origin", "http://127.0.0.1:8080")],
    ] {
        alice
            .send("POST", &path, headers, form.clone())
            .await
            .is(403);
    }
    // Nobody is signed in by a page of somebody else's.
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("origin", "null")],
    ] {
        let form = encoded(&[("key", "human-key")]);
        let page = Tab::new(&app)
            .send("POST", "/console/login", headers, form)
            .await
            .is(403);
        assert!(!page.headers.contains_key("set-cookie"));
    }
    let open = app
        .ask(Who::Human, "GET", &format!("/approvals/{id}"), Value::Null)
        .await;
    assert_eq!(open.body["status"], "pending");
    let own_site = &[("sec-fetch-site", "same-origin")];
    alice.send("POST", &path, own_site, form).await.is(303);
}

#[tokio::test]
async fn a_link_of_another_site_finds_whoever_is_signed_in() {
    let app = TestApp::new().await;
    // Browsers send no strict cookie along with it.
    let page = Tab::new(&app)
        .get_with("/console/traces?q=a", &[("sec-fetch-site", "cross-site")])
        .await
        .is(200);
    page.says("http-equiv=\"refresh\" content=\"0; url=/console/traces?q=a\"");
    Tab::new(&app)
        .get_with("/console/traces?q=a", &[("sec-fetch-site", "same-origin")])
        .await
        .is(303);
}
