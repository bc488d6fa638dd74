//! The console through the router, as a browser without a script sees it.

#[path = "console/asking.rs"]
mod asking;
#[path = "console/deciding.rs"]
mod deciding;
#[path = "console/looking.rs"]
mod looking;
#[path = "console/manners.rs"]
mod manners;
#[path = "console/racing.rs"]
mod racing;
#[path = "console/reading.rs"]
mod reading;
#[path = "console/running.rs"]
mod running;
#[path = "console/signing_in.rs"]
mod signing_in;
#[path = "console/steering.rs"]
mod steering;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use serde_json::{Value, json};

use crate::app::{TestApp, Who};

const HOST: &str = "127.0.0.1:9090";
const ORIGIN: &str = "http://127.0.0.1:9090";

/// A browser, signed in or not.
pub(crate) struct Tab<'a> {
    app: &'a TestApp,
    cookie: Option<String>,
}

pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl<'a> Tab<'a> {
    pub(crate) fn new(app: &'a TestApp) -> Self {
        Self { app, cookie: None }
    }

    pub(crate) async fn signed_in(app: &'a TestApp, key: &str) -> Self {
        let mut tab = Self::new(app);
        let page = tab.sign_in(&[("key", key)]).await;
        assert_eq!(page.status, 303, "{}", page.text);
        tab
    }

    /// The same browser, sent to another process.
    pub(crate) fn on<'b>(&self, app: &'b TestApp) -> Tab<'b> {
        let cookie = self.cookie.clone();
        Tab { app, cookie }
    }

    /// Keeps the cookie it is given.
    pub(crate) async fn sign_in(&mut self, form: &[(&str, &str)]) -> Page {
        let page = self.send_form("/console/login", form).await;
        if let Some(cookie) = page.headers.get("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            self.cookie = Some(pair.to_owned());
        }
        page
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Page {
        self.send("GET", path, headers, String::new()).await
    }

    /// Sends a form with the token of the session.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Page {
        let token = self.token().await;
        let mut all = vec![("csrf", token.as_str())];
        all.extend(form);
        self.send_form(path, &all).await
    }

    /// Sends a form as it is.
    pub(crate) async fn send_form(&self, path: &str, form: &[(&str, &str)]) -> Page {
        self.send("POST", path, &[("origin", ORIGIN)], encoded(form))
            .await
    }

    pub(crate) async fn token(&self) -> String {
        let page = self.get("/").await;
        let (_, rest) = page.text.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Page {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("host", HOST);
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body)).unwrap();
        let (parts, text) = self.app.raw(request).await;
        Page {
            status: parts.status,
            headers: parts.headers,
            text,
        }
    }
}

impl Page {
    pub(crate) fn goes_to(&self) -> &str {
        let to = self.headers.get("location");
        to.and_then(|to| to.to_str().ok()).unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) {
        assert!(self.text.contains(text), "no `{text}` in {}", self.text);
    }

    #[track_caller]
    pub(crate) fn says_not(&self, text: &str) {
        assert!(!self.text.contains(text), "`{text}` in {}", self.text);
    }
}

/// As [`TestApp::pending`], for an act of which no tool is known.
pub(crate) async fn asked(app: &TestApp, tool: &str, arguments: Value) -> String {
    let body = json!({"tool": tool, "arguments": arguments});
    let answer = app.ask(Who::Agent, "POST", "/decide?wait=0", body).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
    answer.body["approval_id"].as_str().unwrap().to_owned()
}

pub(crate) fn encoded(form: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(form);
    query.finish()
}
