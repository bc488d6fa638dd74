//! A gateway behind a socket, and a client that says exactly what it is told to say.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicI64, Ordering},
};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client as Pool, connect::HttpConnector},
    rt::TokioExecutor,
};
use provost_gateway::{app::Waiting, doors, server};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::app::{TestApp, Who};

pub(super) struct Door {
    pub(super) inside: TestApp,
    pub(super) addr: SocketAddr,
    http: Pool<HttpConnector, Full<Bytes>>,
    id: AtomicI64,
}

/// An answer, whole or coming in.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    text: String,
}

/// An MCP client that has initialized.
pub(super) struct Client<'d> {
    pub(super) door: &'d Door,
    pub(super) who: Who,
    pub(super) session: String,
}

pub(super) const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

impl Door {
    pub(super) async fn open() -> Self {
        Self::around(TestApp::new().await).await
    }

    pub(super) async fn around(inside: TestApp) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (app, router) = (inside.app.clone(), doors::http::router(&inside.app));
        tokio::spawn(server::serve(app, router, listener));
        Self {
            inside,
            addr,
            http: Pool::builder(TokioExecutor::new()).build_http(),
            id: AtomicI64::new(0),
        }
    }

    /// Where the user of the client may choose not to wait.
    pub(super) async fn that_asks() -> Self {
        let door = Self::open().await;
        let mut live = (**door.inside.app.live.load()).clone();
        live.waiting = Waiting::Ask;
        door.inside.app.live.store(live.into());
        door
    }

    pub(super) async fn send(
        &self,
        who: Who,
        method: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        let uri = format!("http://{}/mcp", self.addr);
        let mut request = Request::builder().method(method).uri(uri);
        if let Some(key) = who.authorization() {
            request = request.header("authorization", key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let (head, body) = self.http.request(request).await.unwrap().into_parts();
        Reply {
            status: head.status,
            headers: head.headers,
            body,
            text: String::new(),
        }
    }

    pub(super) async fn post(&self, who: Who, headers: &[(&str, &str)], message: &Value) -> Reply {
        self.send(who, "POST", headers, message.to_string()).await
    }

    pub(super) fn request(&self, method: &str, params: &Value) -> Value {
        let id = self.id.fetch_add(1, Ordering::Relaxed);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    pub(super) async fn client(&self, who: Who, version: &str) -> Client<'_> {
        self.client_with(who, version, json!({})).await
    }

    pub(super) async fn client_with(&self, who: Who, version: &str, can: Value) -> Client<'_> {
        let hello = json!({"protocolVersion": version, "capabilities": can,
            "clientInfo": {"name": "test", "version": "1"}});
        let hello = self.request("initialize", &hello);
        let reply = self.post(who, &[ACCEPT], &hello).await;
        assert_eq!(reply.status, StatusCode::OK);
        let session = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let said = reply.json().await;
        assert_eq!(said["result"]["protocolVersion"], version);
        let client = Client {
            door: self,
            who,
            session,
        };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&initialized).await.status, StatusCode::ACCEPTED);
        client
    }

    /// What waits for a decision, once something does.
    pub(super) async fn pending(&self) -> String {
        let path = "/approvals?status=pending&wait=30s";
        let answer = self.inside.ask(Who::Human, "GET", path, Value::Null).await;
        answer.body[0]["id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn decide(&self, id: &str, how: &str, body: Value) {
        let path = format!("/approvals/{id}/{how}");
        let answer = self.inside.ask(Who::Human, "POST", &path, body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    }

    /// Everything that was recorded, as it was.
    pub(super) async fn records(&self) -> Vec<String> {
        let store = self.inside.app.gate.store();
        let records = store.chain_records("main", 0, 1000).await.unwrap();
        let records = records.into_iter().flatten();
        records.map(|record| record.body).collect()
    }

    pub(super) async fn traces(&self) -> Vec<Value> {
        let answer = self.inside.ask(Who::Human, "GET", "/traces", Value::Null);
        answer.await.body.as_array().unwrap().clone()
    }
}

impl Reply {
    pub(super) fn streams(&self) -> bool {
        let kind = self.headers.get("content-type");
        kind.is_some_and(|kind| kind == "text/event-stream")
    }

    pub(super) async fn json(self) -> Value {
        let body = self.body.collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap_or(Value::Null)
    }

    /// The next message of a stream, or `None` at its end.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let message = data.map(|data| serde_json::from_str(data).unwrap());
                self.text = rest.to_string();
                if message.is_some() {
                    return message;
                }
            }
            let frame = self.body.frame().await?.unwrap();
            let data = frame.into_data().unwrap_or_default();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The next message that is not a sign of progress.
    pub(super) async fn last(&mut self) -> Value {
        loop {
            let message = self.next().await.unwrap();
            if message["method"] != "notifications/progress" {
                return message;
            }
        }
    }
}

impl Client<'_> {
    pub(super) fn headers(&self) -> [(&str, &str); 2] {
        [ACCEPT, ("mcp-session-id", &self.session)]
    }

    pub(super) async fn post(&self, message: &Value) -> Reply {
        self.door.post(self.who, &self.headers(), message).await
    }

    pub(super) async fn ask(&self, method: &str, params: Value) -> Value {
        let request = self.door.request(method, &params);
        let mut reply = self.post(&request).await;
        assert_eq!(reply.status, StatusCode::OK);
        let said = if reply.streams() {
            reply.last().await
        } else {
            reply.json().await
        };
        assert_eq!(said["id"], request["id"], "{said}");
        said
    }

    /// The text of a tool's result, and whether it is an error.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> (String, bool) {
        let params = json!({"name": tool, "arguments": arguments});
        said(&self.ask("tools/call", params).await)
    }

    /// A call that is not answered at once.
    pub(super) async fn begin(&self, tool: &str, arguments: Value) -> (Value, Reply) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}});
        let request = self.door.request("tools/call", &params);
        let reply = self.post(&request).await;
        assert!(reply.streams());
        (request["id"].clone(), reply)
    }

    pub(super) async fn tools(&self) -> Vec<String> {
        let said = self.ask("tools/list", json!({})).await;
        names(&said["result"]["tools"])
    }
}

pub(super) fn names(list: &Value) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items
        .map(|item| item["name"].as_str().unwrap().to_owned())
        .collect()
}

pub(super) fn said(message: &Value) -> (String, bool) {
    let content = message["result"]["content"].as_array();
    let texts = content.unwrap_or_else(|| panic!("{message}")).iter();
    let texts: Vec<_> = texts.map(|item| item["text"].as_str().unwrap()).collect();
    (texts.join("\n"), message["result"]["isError"] == true)
}
