//! A receiver on loopback that checks everything it is sent, and misbehaves as it is told.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::{Value, value::RawValue};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use crate::proof::{Headers, Proof};

/// What is done with one report. Heartbeats are always welcome unless all are refused.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Take,
    Status(u16),
    /// With more header lines.
    With(u16, String),
    /// Taken, with this body in the answer.
    Say(String),
    /// Read, and never answered.
    Silent,
    /// Half of the body is read, then the connection is reset.
    Reset,
    /// Taken, and the connection is closed without an answer.
    Lose,
    /// Taken, and the answer breaks off in its body.
    BreakOff,
}

#[derive(Default)]
struct Seen {
    script: VecDeque<Act>,
    taken: Vec<Value>,
    raw: Vec<String>,
    beats: Vec<Value>,
    /// What heartbeats are answered with.
    pulse: String,
    /// Of reports only what they are is kept, not what is in them besides notifications.
    lean: bool,
    attempts: usize,
    faults: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    proof: Arc<Mutex<Proof>>,
    changed: Arc<Notify>,
}

impl Receiver {
    pub(crate) async fn start(proof: Proof, script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::start_on(listener, proof, script)
    }

    pub(crate) fn start_on(
        listener: TcpListener,
        proof: Proof,
        script: impl IntoIterator<Item = Act>,
    ) -> Self {
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            proof: Arc::new(Mutex::new(proof)),
            changed: Arc::default(),
        };
        receiver.seen().script.extend(script);
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/callback?x=1", self.address)
    }

    /// The reports that were taken, each once, in order; no check may have failed.
    pub(crate) fn taken(&self) -> Vec<Value> {
        let seen = self.seen();
        assert!(seen.faults.is_empty(), "{:?}", seen.faults);
        seen.taken.clone()
    }

    /// The raw texts of all notifications that were taken.
    pub(crate) fn raw(&self) -> Vec<String> {
        self.seen().raw.clone()
    }

    pub(crate) fn beats(&self) -> usize {
        self.seen().beats.len()
    }

    pub(crate) fn heartbeats(&self) -> Vec<Value> {
        self.seen().beats.clone()
    }

    pub(crate) fn answer_heartbeats(&self, body: &str) {
        body.clone_into(&mut self.seen().pulse);
    }

    pub(crate) fn keep_little(&self) {
        self.seen().lean = true;
    }

    pub(crate) fn attempts(&self) -> usize {
        self.seen().attempts
    }

    pub(crate) async fn until(&self, enough: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            if enough(self) {
                return;
            }
            changed.await;
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    async fn serve(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Ok(Some((headers, length))) = read_head(&mut stream).await {
            let beat = headers
                .get("webhook-id")
                .is_some_and(|id| id.contains(":heartbeat:"));
            let act = if beat { self.pulse() } else { self.next() };
            if let Act::Reset = act {
                let mut half = vec![0; length / 2];
                let _ = stream.read_exact(&mut half).await;
                let _ = stream.get_ref().set_zero_linger();
                return;
            }
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).await.is_err() {
                return;
            }
            self.judge(&headers, &body, &act);
            if !self.answer(stream.get_mut(), act).await.unwrap_or(false) {
                return;
            }
        }
    }

    fn pulse(&self) -> Act {
        Act::Say(self.seen().pulse.clone())
    }

    fn next(&self) -> Act {
        let mut seen = self.seen();
        seen.attempts += 1;
        seen.script.pop_front().unwrap_or(Act::Take)
    }

    fn judge(&self, headers: &Headers, body: &[u8], act: &Act) {
        let checked = self.proof.lock().unwrap().check(headers, body);
        let mut seen = self.seen();
        match checked {
            Err(fault) => seen.faults.push(fault),
            Ok(json) if json["kind"] == "heartbeat" => seen.beats.push(json),
            Ok(mut json) => {
                let takes = matches!(act, Act::Take | Act::Say(_) | Act::Lose | Act::BreakOff);
                let known = seen.taken.iter().any(|one| {
                    one["sequence"] == json["sequence"] && one["promptId"] == json["promptId"]
                });
                if takes && !known {
                    seen.raw.extend(notifications(body));
                    if seen.lean {
                        json["notifications"] = Value::Null;
                        json["snapshot"] = Value::Null;
                    }
                    seen.taken.push(json);
                }
            }
        }
        drop(seen);
        self.changed.notify_waiters();
    }

    /// Whether the connection is kept.
    async fn answer(&self, stream: &mut TcpStream, act: Act) -> io::Result<bool> {
        let (status, more, body) = match act {
            Act::Take => (200, String::new(), String::new()),
            Act::Status(status) => (status, String::new(), String::new()),
            Act::With(status, more) => (status, more, String::new()),
            Act::Say(body) => (200, String::new(), body),
            Act::Silent => return std::future::pending().await,
            Act::Reset | Act::Lose => return Ok(false),
            Act::BreakOff => {
                let start = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"per";
                stream.write_all(start).await?;
                return Ok(false);
            }
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\n{more}content-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        Ok(true)
    }
}

async fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<Option<(Headers, usize)>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return Ok(None),
        }
    }
    let head = String::from_utf8(head).unwrap();
    assert!(
        head.starts_with("POST /callback?x=1 HTTP/1.1\r\n"),
        "{head}"
    );
    let lines = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "));
    let headers: Headers = lines
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers["content-length"].parse().unwrap();
    Ok(Some((headers, length)))
}

fn notifications(body: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Raw<'a> {
        #[serde(borrow, default)]
        notifications: Vec<&'a RawValue>,
    }
    let raw: Raw<'_> = serde_json::from_slice(body).unwrap();
    let raw = raw.notifications.iter();
    raw.map(|one| one.get().to_owned()).collect()
}
