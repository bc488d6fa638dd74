//! What agents ask people themselves: how much of it, and what channels are given of it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use provost_core::{
    card::Card,
    delivery::{Delivery, Shown},
    gate::Settings,
    policy::{Policy, PolicySet, RateLimit},
    ports::{Channel, SystemClock, Undelivered},
    trace::view::Exposure,
};
use provost_gateway::channels::{
    Allowed, AllowedUrl, CALLBACK, Channels, deliver, webhook::Callbacks,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{Answer, TestApp, Who};

/// Hands on all that it is given.
struct Recorder(UnboundedSender<String>);

impl Recorder {
    fn keep(&self, delivery: &Delivery, card: &Card) {
        let _ = self.0.send(format!("{delivery:?} {}", json!(card)));
    }
}

#[async_trait]
impl Channel for Recorder {
    async fn show(&self, delivery: &Delivery, card: &Card) -> Result<Shown, Undelivered> {
        self.keep(delivery, card);
        Ok(Shown {
            key: delivery.id.to_string(),
            detail: Value::Null,
        })
    }

    async fn close(&self, delivery: &Delivery, _: &Shown, card: &Card) -> Result<(), Undelivered> {
        self.keep(delivery, card);
        Ok(())
    }
}

fn with_mail(app: &TestApp) -> UnboundedReceiver<String> {
    let (given, taken) = unbounded_channel();
    let channels = Channels::default().with("email", Arc::new(Recorder(given)));
    app.app.channels.store(Arc::new(channels));
    taken
}

async fn request(app: &TestApp, title: &str, preview: &str, more: Value) -> Answer {
    let mut body = json!({
        "session_id": "s1", "action_type": "exec_cmd", "title": title, "preview": preview,
        "channel": "email", "target": {"email_to": "carol@example.org"},
    });
    let fields = body.as_object_mut().unwrap();
    fields.extend(more.as_object().cloned().unwrap_or_default());
    app.ask(Who::Agent, "POST", "/v1/approvals", body).await
}

async fn refused_traces(app: &TestApp) -> usize {
    let path = "/traces?verdict=rate_limited";
    let found = app.ask(Who::Admin, "GET", path, Value::Null).await;
    assert_eq!(found.status, 200, "{}", found.body);
    let traces = found.body.as_array().unwrap();
    assert!(traces.iter().all(|trace| trace["tool"] == "exec_cmd"));
    traces.len()
}

#[tokio::test]
async fn only_so_many_wait_at_once() {
    let app = TestApp::new().await;
    let _mail = with_mail(&app);
    app.app.gate.replace_settings(Settings {
        max_pending_per_agent: 2,
        ..Settings::default()
    });
    let first = request(&app, "1", "", json!({})).await;
    assert_eq!(request(&app, "2", "", json!({})).await.status, 200);
    let refused = request(&app, "3", "", json!({})).await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert_eq!(refused.body["error"]["code"], "too_many_pending");
    assert!(refused.body["error"]["help"].is_string());
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(refused_traces(&app).await, 1);
    let again = request(&app, "2", "", json!({})).await;
    assert_eq!(
        (again.status.as_u16(), &again.body["asked"]),
        (200, &json!(2))
    );
    let id = first.body["approval_id"].as_str().unwrap();
    let deny = format!("/approvals/{id}/deny");
    app.ask(Who::Human, "POST", &deny, json!({})).await;
    assert_eq!(request(&app, "3", "", json!({})).await.status, 200);
}

#[tokio::test]
async fn requests_count_against_the_total() {
    for granted in [false, true] {
        let app = TestApp::new().await;
        let _mail = with_mail(&app);
        let policy = Policy {
            name: "p".into(),
            agent: "*".into(),
            rate_limit: Some(RateLimit {
                max_per_minute: None,
                max_total: Some(2),
            }),
            rules: Vec::new(),
        };
        app.app
            .gate
            .replace_policy(PolicySet::compile(vec![policy]).unwrap());
        let first = request(&app, "1", "", json!({})).await;
        if granted {
            let id = first.body["approval_id"].as_str().unwrap();
            let path = format!("/approvals/{id}/approve");
            let always = json!({"remember": "always"});
            let approved = app.ask(Who::Human, "POST", &path, always).await;
            assert_eq!(approved.status, 200, "{}", approved.body);
        }
        let second = request(&app, "2", "", json!({})).await;
        assert_eq!(second.status, 200, "{}", second.body);
        assert_eq!(second.body["auto"], granted);
        for title in ["3", "4"] {
            let refused = request(&app, title, "", json!({})).await;
            assert_eq!(refused.status, 429, "{}", refused.body);
            assert_eq!(refused.body["error"]["code"], "rate_limited");
        }
        assert_eq!(refused_traces(&app).await, 2);
    }
}

#[tokio::test]
async fn where_content_is_not_shown_channels_get_none_of_it() {
    const SECRET: &str = "hunter2-in-what-was-asked";
    for (exposure, shown) in [(Exposure::Structure, false), (Exposure::Everything, true)] {
        let app = TestApp::with(exposure, false).await;
        let mut mail = with_mail(&app);
        let long = format!("{SECRET} {}", "x".repeat(300));
        let asked = [("Deploy", SECRET), ("Deploy", long.as_str()), (&long, "")];
        let mut ids = Vec::new();
        for (title, preview) in asked {
            let made = request(&app, title, preview, json!({})).await;
            ids.push(made.body["approval_id"].as_str().unwrap().to_owned());
        }
        let delivering = tokio::spawn(deliver(app.app.clone()));
        for _ in asked {
            let given = mail.recv().await.unwrap();
            assert_eq!(given.contains(SECRET), shown, "{given}");
        }
        for id in ids {
            let path = format!("/approvals/{id}/deny");
            app.ask(Who::Human, "POST", &path, json!({})).await;
            let told = mail.recv().await.unwrap();
            assert!(told.contains("denied"), "{told}");
            assert_eq!(told.contains(SECRET), shown, "{told}");
        }
        delivering.abort();
    }
}

#[tokio::test]
async fn p08_only_what_is_allowed_is_called_back() {
    let app = TestApp::new().await;
    let _mail = with_mail(&app);
    let ask = async |url: &str| {
        let made = request(&app, url, "", json!({"callback_url": url})).await;
        (made.status.as_u16(), made.body["error"]["code"].clone())
    };
    for url in [
        "http://169.254.169.254/latest",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://0.0.0.0/",
        "http://:21149/",
        "http://[::1%25lo]/",
        "http://[fe80::1%25eth0]/",
        "https://example.org:99999/",
        "https://example.org:8443.evil/",
        "https://example.org:08443/",
    ] {
        assert_eq!(ask(url).await, (422, json!("bad_callback_url")), "{url}");
    }
    assert_eq!(ask("https://example.org/a").await.0, 200);
    for url in [
        "http://127.0.0.1:8080/a",
        "http://localhost/a",
        "http://[::1]/a",
        "http://[::ffff:127.0.0.1]/a",
        "http://2130706433/a",
        "http://0x7f.1/a",
        "http://10.0.0.1/a",
        "http://192.168.0.1/a",
        "http://100.64.0.1/a",
        "http://[fd12::1]/a",
        "http://[64:ff9b::10.0.0.1]/a",
        "http://[2002:7f00:1::]/a",
    ] {
        let refused = ask(url).await;
        assert_eq!(refused, (422, json!("callback_not_allowed")), "{url}");
    }
    let refused = request(
        &app,
        "t",
        "",
        json!({"callback_url": "http://127.0.0.1:81/a"}),
    )
    .await;
    let help = refused.body["error"]["help"].as_str().unwrap();
    assert!(
        help.contains("`http://127.0.0.1:81/*` to `channels.callbacks.allow`"),
        "{help}"
    );
    let allowed = AllowedUrl::parse("https://hooks.example.org/*").unwrap();
    let channels = (*app.app.channels.load_full()).clone();
    let channels = channels.allowing_callbacks(Allowed::only(vec![allowed]));
    app.app.channels.store(Arc::new(channels));
    let refused = ask("https://example.org/b").await;
    assert_eq!(refused, (422, json!("callback_not_allowed")));
    assert_eq!(ask("https://hooks.example.org/b").await.0, 200);
}

#[tokio::test]
async fn a_title_says_something() {
    let app = TestApp::new().await;
    let _mail = with_mail(&app);
    for title in ["", " \t"] {
        let refused = request(&app, title, "rm -rf", json!({})).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_eq!(refused.body["error"]["code"], "missing_field");
    }
}

#[tokio::test]
async fn one_waits_as_long_as_the_request_is_open() {
    let app = TestApp::new().await;
    let _mail = with_mail(&app);
    // That is for calls; a request says itself how long it is open.
    app.app.gate.replace_settings(Settings {
        timeout: Duration::ZERO,
        ..Settings::default()
    });
    let made = request(&app, "t", "", json!({"expires_in_sec": 600})).await;
    let id = made.body["approval_id"].as_str().unwrap();
    let status = format!("/v1/approvals/{id}?wait=60s");
    let waiting = app.ask(Who::Agent, "GET", &status, Value::Null);
    let deciding = async {
        while app.app.gate.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        let path = format!("/approvals/{id}/approve");
        app.ask(Who::Human, "POST", &path, json!({})).await
    };
    let (waited, _) = tokio::join!(waiting, deciding);
    assert_eq!(waited.body["status"], "approved", "{}", waited.body);
}

#[tokio::test]
async fn a_callback_tells_what_the_client_would_see() {
    let app = TestApp::new().await;
    let (given, mut taken) = unbounded_channel();
    let receiver = axum::Router::new().route(
        "/told",
        axum::routing::post(async move |body: String| {
            let _ = given.send(body);
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/told", listener.local_addr().unwrap());
    let serving = tokio::spawn(async { axum::serve(listener, receiver).await });
    let _mail = with_mail(&app);
    let allowed = Allowed::only(vec![AllowedUrl::parse(&url).unwrap()]);
    let callbacks = Callbacks::new([7; 32], allowed.clone(), Arc::new(SystemClock));
    let channels = (*app.app.channels.load_full()).clone();
    let channels = channels.with(CALLBACK, Arc::new(callbacks));
    let channels = channels.allowing_callbacks(allowed);
    app.app.channels.store(Arc::new(channels));
    let delivering = tokio::spawn(deliver(app.app.clone()));
    let mut ids = Vec::new();
    for title in ["first", "released by the first"] {
        let made = request(&app, title, "", json!({"callback_url": url})).await;
        ids.push(made.body["approval_id"].as_str().unwrap().to_owned());
    }
    let path = format!("/approvals/{}/approve", ids[0]);
    let always = json!({"remember": "always", "reasoning": "fine"});
    app.ask(Who::Human, "POST", &path, always).await;
    for _ in &ids {
        let told: Value = serde_json::from_str(&taken.recv().await.unwrap()).unwrap();
        let id = told["data"]["approval_id"].as_str().unwrap();
        let path = format!("/v1/approvals/{id}");
        let seen = app.ask(Who::Agent, "GET", &path, Value::Null).await;
        assert_eq!(told["data"]["decision"], seen.body["decision"], "{told}");
        assert!(seen.body["decision"]["rule_id"].is_string());
    }
    delivering.abort();
    serving.abort();
}

#[tokio::test]
async fn p08_a_callback_that_leads_elsewhere_is_not_followed() {
    let app = TestApp::new().await;
    let (given, mut taken) = unbounded_channel();
    let noting = |path: &'static str| {
        let given = given.clone();
        axum::routing::post(async move || {
            let _ = given.send(path);
            [(http::header::LOCATION, "/secret")]
        })
    };
    let moved = {
        let given = given.clone();
        axum::routing::post(async move || {
            let _ = given.send("/moved");
            let to = [(http::header::LOCATION, "/secret")];
            (http::StatusCode::TEMPORARY_REDIRECT, to)
        })
    };
    let receiver = axum::Router::new()
        .route("/moved", moved)
        .route("/told", noting("/told"))
        .route("/secret", noting("/secret"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async { axum::serve(listener, receiver).await });
    let _mail = with_mail(&app);
    let allowed = Allowed::only(vec![AllowedUrl::parse(&format!("{base}/*")).unwrap()]);
    let callbacks = Callbacks::new([7; 32], allowed.clone(), Arc::new(SystemClock));
    let channels = (*app.app.channels.load_full()).clone();
    let channels = channels.with(CALLBACK, Arc::new(callbacks));
    let channels = channels.allowing_callbacks(allowed);
    app.app.channels.store(Arc::new(channels));
    let delivering = tokio::spawn(deliver(app.app.clone()));
    for path in ["/moved", "/told"] {
        let url = format!("{base}{path}");
        let made = request(&app, path, "", json!({"callback_url": url})).await;
        let id = made.body["approval_id"].as_str().unwrap();
        let deny = format!("/approvals/{id}/deny");
        app.ask(Who::Human, "POST", &deny, json!({})).await;
        assert_eq!(taken.recv().await, Some(path));
    }
    delivering.abort();
    serving.abort();
}
