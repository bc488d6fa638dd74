//! What pages show, and to whom.

use provost_core::trace::view::Exposure;
use serde_json::{Value, json};

use super::{Tab, asked};
use crate::app::{TestApp, Who};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[tokio::test]
async fn every_answer_is_locked_down() {
    let app = TestApp::new().await;
    let id = app.pending("pay.run", json!({})).await;
    let (tab, stranger) = (Tab::signed_in(&app, "admin-key").await, Tab::new(&app));
    let approval = format!("/console/approval/{id}");
    for (path, status) in [
        ("/", 200),
        (approval.as_str(), 200),
        ("/console/traces", 200),
        ("/console/sessions", 200),
        ("/console/session/x", 200),
        ("/console/agents", 200),
        ("/console/grants", 200),
        ("/console/policy", 200),
        ("/console/stop", 200),
        ("/console/login", 200),
        ("/console/fragment/inbox", 200),
        ("/console/fragment/count", 200),
        ("/console/events", 200),
        ("/console", 303),
        ("/console/", 303),
        ("/console/approval/none", 404),
        ("/console/trace/none", 404),
        ("/console/nothing/here", 404),
        ("/console/assets/none.js", 404),
        ("/console/traces?tool=[", 400),
        ("/console/decide/x", 405),
    ] {
        for (tab, expected) in [(&tab, Some(status)), (&stranger, None)] {
            let page = tab.get(path).await;
            assert!(
                expected.is_none_or(|status| page.status == status),
                "{path} {}",
                page.status
            );
            assert_eq!(page.headers["content-security-policy"], POLICY, "{path}");
            assert_eq!(page.headers["x-content-type-options"], "nosniff", "{path}");
            assert_eq!(page.headers["referrer-policy"], "same-origin", "{path}");
            assert_eq!(
                page.headers["cross-origin-opener-policy"], "same-origin",
                "{path}"
            );
            let cache = page.headers["cache-control"].to_str().unwrap();
            assert!(cache == "no-store" || cache == "no-cache", "{path} {cache}");
            for inline in ["<script>", " style=", " onclick=", "javascript:"] {
                page.says_not(inline);
            }
        }
    }
}

#[tokio::test]
async fn what_pages_load_is_kept_by_its_hash() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let page = tab.get("/").await.text;
    let names: Vec<_> = page
        .split("/console/assets/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in names {
        let asset = Tab::new(&app)
            .get(&format!("/console/assets/{name}"))
            .await
            .is(200);
        assert!(
            asset.headers["cache-control"]
                .to_str()
                .unwrap()
                .contains("immutable")
        );
        assert!(!asset.text.is_empty());
    }
}

#[tokio::test]
async fn whatever_agents_write_is_text() {
    let app = TestApp::new().await;
    let hostile = "</textarea></pre><script>alert(1)</script><img src=x onerror='alert(2)'>\" onfocus=\"alert(3)\u{202e}\u{200b}";
    let params = json!({hostile: hostile, "command": hostile, "description": hostile});
    let id = asked(&app, "claude.Bash", params).await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let path = format!("/console/approval/{id}");
    let check = |page: super::Page| {
        for markup in [
            "<script>alert",
            "<img",
            "</textarea></pre>",
            "onfocus=\"",
            "\u{202e}",
            "\u{200b}",
        ] {
            page.says_not(markup);
        }
        page.says("&#60;script&#62;alert(1)&#60;/script&#62;");
        page.says("\\u{202e}");
    };
    check(tab.get("/").await.is(200));
    check(tab.get(&path).await.is(200));
    tab.post(
        &format!("/console/decide/{id}"),
        &[("do", "deny"), ("note", hostile)],
    )
    .await
    .is(303);
    check(tab.get(&path).await.is(200));
    let approval = app
        .ask(Who::Admin, "GET", &format!("/approvals/{id}"), Value::Null)
        .await
        .body;
    check(
        tab.get(&format!(
            "/console/trace/{}",
            approval["trace_id"].as_str().unwrap()
        ))
        .await
        .is(200),
    );
    check(tab.get("/console/traces").await.is(200));
    let query = super::encoded(&[("q", hostile), ("agent", hostile), ("session", hostile)]);
    tab.get(&format!("/console/traces?{query}"))
        .await
        .is(200)
        .says_not("<script>alert");
    tab.get(&format!(
        "/?{}",
        super::encoded(&[("agent", hostile), ("done", hostile)])
    ))
    .await
    .says_not("<script>alert");
    check(
        tab.post(
            "/console/policy/explain",
            &[("agent", hostile), ("tool", hostile), ("params", hostile)],
        )
        .await
        .is(200),
    );
}

#[tokio::test]
async fn content_is_described_until_a_person_asks_for_it() {
    let app = TestApp::with(Exposure::Structure, false).await;
    let id = app
        .pending("fs.run", json!({"text": "a secret of somebody"}))
        .await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let path = format!("/console/approval/{id}");
    for (shut, open) in [
        ("/", "/?content=full"),
        (&path, &format!("{path}?content=full")),
    ] {
        let page = tab.get(shut).await.is(200);
        page.says_not("a secret of somebody");
        page.says("content=full");
        tab.get(open).await.is(200).says("a secret of somebody");
    }
    let bot = Tab::signed_in(&app, "supervisor-key").await;
    for path in ["/?content=full", &format!("{path}?content=full")] {
        bot.get(path).await.is(200).says_not("a secret of somebody");
    }
    tab.post(&format!("/console/decide/{id}"), &[("do", "deny")])
        .await
        .is(303);
    tab.get("/console/traces")
        .await
        .says_not("a secret of somebody");
    tab.get("/console/traces?q=secret+of+somebody")
        .await
        .says("Nothing is recorded that fits");
    tab.get("/console/traces?content=full&q=secret+of+somebody")
        .await
        .says("fs.run");
}

#[tokio::test]
async fn the_inbox_is_filtered() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    tab.get("/").await.says("provost connect claude-code");
    let (pay, fs) = (
        app.pending("pay.run", json!({})).await,
        app.pending("fs.run", json!({})).await,
    );
    for (query, shows, hides) in [
        ("tool=pay.*", &pay, &fs),
        ("tool=fs.run&agent=claude", &fs, &pay),
    ] {
        for path in ["/", "/console/fragment/inbox"] {
            let page = tab.get(&format!("{path}?{query}")).await.is(200);
            page.says(shows);
            page.says_not(hides);
        }
    }
    tab.get("/?agent=nobody")
        .await
        .says("Nothing waits that fits");
    assert_eq!(tab.get("/console/fragment/count").await.text, "2");
}

#[tokio::test]
async fn the_record_is_searched_filtered_and_paged() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let call = async |n: usize| {
        let headers = [("x-session-id", "run-1")];
        let body = json!({"params": {"n": format!("word{n}")}});
        app.send(
            Who::Agent,
            [127, 0, 0, 1],
            "POST",
            "/tool/ok.run",
            &headers,
            body,
        )
        .await
    };
    for n in 0..55 {
        call(n).await;
    }
    app.ask(
        Who::Declared,
        "POST",
        "/decide",
        json!({"tool": "forbidden.x"}),
    )
    .await;
    let rows = |text: &str| text.matches("data-name=\"Verdict\"").count();
    let page = tab.get("/console/traces").await.is(200);
    assert_eq!(rows(&page.text), 50);
    let older = page
        .text
        .split("class=\"button\" href=\"")
        .last()
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let rest = tab.get(&older.replace("&#38;", "&")).await.is(200);
    assert_eq!(rows(&rest.text), 6);
    for (query, count) in [
        ("q=WORD7", 1),
        ("verdict=deny", 1),
        ("agent=bob", 1),
        ("tool=forbidden.*", 1),
        ("session=run-1&q=word54", 1),
        ("since=2099-01-01T00:00", 0),
        ("until=2020-01-01T00:00", 0),
        ("q=nothing-like-that", 0),
    ] {
        let page = tab.get(&format!("/console/traces?{query}")).await.is(200);
        assert_eq!(rows(&page.text), count, "{query}");
    }
    tab.get("/console/traces?since=yesterday").await.is(400);
    let id = call(99).await.body["trace_id"].as_str().unwrap().to_owned();
    let page = tab.get(&format!("/console/traces?q={id}")).await.is(303);
    let story = tab.get(page.goes_to()).await.is(200);
    for step in [
        "claude asked for ok.run",
        "Policy allowed it",
        "It was let through",
        "The tool failed",
    ] {
        story.says(step);
    }
    assert_eq!(
        rows(&tab.get("/console/session/run-1").await.is(200).text),
        50
    );
    tab.get("/console/sessions").await.is(200).says("run-1");
    let agents = tab.get("/console/agents").await.is(200);
    agents.says("claude");
    agents.says("by its word");
    // A supervisor sees the records of its tools.
    let bot = Tab::signed_in(&app, "supervisor-key").await;
    assert_eq!(rows(&bot.get("/console/traces").await.is(200).text), 0);
    bot.get(&format!("/console/trace/{id}")).await.is(403);
}
