//! Webhooks and callbacks, received as a client would.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    process::Command,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Site, configuration},
};

const AGENT: &str = "agent-secret-0123456789";
/// The example key of the standard.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The check of the standard, as its receivers do it.
const CHECK: &str = "import base64, hashlib, hmac, sys
key, id, time, body, signature = sys.argv[1:]
key = base64.b64decode(key.removeprefix('whsec_'))
wanted = hmac.new(key, f'{id}.{time}.{body}'.encode(), hashlib.sha256).digest()
assert 'v1,' + base64.b64encode(wanted).decode() == signature, signature";

struct Posted {
    headers: HashMap<String, String>,
    body: String,
}

impl Posted {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    #[track_caller]
    fn is_signed_with(&self, key: &str) {
        let header = |name: &str| self.headers[name].clone();
        let (id, time) = (header("webhook-id"), header("webhook-timestamp"));
        let signature = header("webhook-signature");
        let output = Command::new("python3")
            .args(["-c", CHECK, key, &id, &time, &self.body, &signature])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

/// A receiver: its address, and what it is sent. The first time it is busy.
fn receiver() -> (String, Receiver<Posted>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut statuses = ["503 Busy"].into_iter().chain(std::iter::repeat("200 OK"));
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let head = reader.by_ref().lines().map_while(Result::ok);
            let headers: HashMap<_, _> = head
                .take_while(|line| !line.is_empty())
                .filter_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    Some((name.to_ascii_lowercase(), value.to_owned()))
                })
                .collect();
            let length = headers["content-length"].parse().unwrap();
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let status = statuses.next().unwrap();
            let answer =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            let body = String::from_utf8(body).unwrap();
            if send.send(Posted { headers, body }).is_err() {
                return;
            }
        }
    });
    (url, receive)
}

fn next(posted: &Receiver<Posted>) -> Posted {
    posted.recv_timeout(Duration::from_secs(30)).unwrap()
}

#[test]
fn a_callback_tells_the_end_and_its_client_can_check_it() {
    let (url, posted) = receiver();
    let site = Site::empty();
    site.configure(&format!(
        "listen: 127.0.0.1:0
data: data
auth:
  keys:
    - {{name: keyed, role: agent, key: {AGENT}}}
    - {{name: alice, role: human, key: alice-secret-0123456789}}
channels:
  email: {{smtp: 'smtp://127.0.0.1:9', from: gate@example.org}}
"
    ));
    let gateway = site.start();
    let agent = gateway.client().key(AGENT);
    let mut body = json!({
        "action_type": "exec_cmd", "title": "t", "channel": "email", "target": {"email_to": "a@b.org"},
    });
    let plain = agent.post("/v1/approvals", &body).ok().json();
    assert_eq!(plain["callback_key"], Value::Null);
    body["callback_url"] = json!(url);
    let made = agent.post("/v1/approvals", &body).ok().json();
    let id = made["approval_id"].as_str().unwrap();
    gateway.alice().deny(id).ok();

    let (busy, told) = (next(&posted), next(&posted));
    assert_eq!(busy.headers["webhook-id"], told.headers["webhook-id"]);
    told.is_signed_with(made["callback_key"].as_str().unwrap());
    let told = told.json();
    assert_eq!(told["type"], "approval.resolved");
    assert_eq!(
        (&told["data"]["approval_id"], &told["data"]["status"]),
        (&json!(id), &json!("denied"))
    );
    assert_eq!(told["data"]["decision"]["decided_by"], "human:alice");
}

#[test]
fn a_webhook_is_told_of_a_question_and_of_its_end() {
    let (url, posted) = receiver();
    let echo = Echo::start();
    let site = Site::empty();
    let hooks = format!("channels:\n  webhooks:\n    - {{url: '{url}', secret: {SECRET}}}\n");
    site.configure(&configuration(&echo, &hooks));
    let gateway = site.start();
    let waiting = gateway
        .agent()
        .tool_waiting("gmail.send", json!({"id": "mail"}));
    let (busy, created) = (next(&posted), next(&posted));
    assert_eq!(busy.headers["webhook-id"], created.headers["webhook-id"]);
    created.is_signed_with(SECRET);
    assert_eq!(created.json()["type"], "approval.created");
    let id = created.json()["data"]["id"].as_str().unwrap().to_owned();
    gateway.alice().approve(&id).ok();
    waiting.join().unwrap().ok();
    let resolved = next(&posted);
    resolved.is_signed_with(SECRET);
    assert_eq!(resolved.json()["type"], "approval.resolved");
    assert_eq!(resolved.json()["data"]["end"]["by"], "human:alice");
}
