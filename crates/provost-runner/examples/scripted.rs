//! An agent that does what a script says: `scripted SCRIPT.json`. It speaks ACP by itself, so that what it
//! writes is exactly what the script holds, broken or not. Every `params` of a `session/update` that it wrote
//! is a line in its log, and so is every line that it heard in another.

#![expect(
    clippy::unwrap_used,
    reason = "an agent for tests: where its script is wrong it should break, and be seen to"
)]

use std::{
    collections::{BTreeMap, VecDeque},
    fs::File,
    io::{BufRead as _, BufWriter, Stdout, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json, value::RawValue};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Script {
    log: PathBuf,
    heard: PathBuf,
    /// It goes on after `session/cancel`.
    #[serde(default)]
    ignore_cancel: bool,
    /// It goes on after its input has ended.
    #[serde(default)]
    ignore_end: bool,
    /// By method; `session/prompt#2` is for the second time.
    #[serde(default)]
    methods: BTreeMap<String, Reply>,
}

/// What follows a request: steps, an answer or none, and more steps.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default, deserialize_with = "even_null")]
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
    #[serde(default)]
    after: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Step {
    /// The params of a `session/update`, as they stand in the script.
    Update(Box<RawValue>),
    /// The same from bytes, which may be no UTF-8.
    UpdateBytes(Vec<u8>),
    Flood {
        count: usize,
        size: usize,
    },
    /// A line of its own.
    Line(String),
    /// No line: what follows goes on from it.
    Bytes(Vec<u8>),
    Stderr(String),
    /// So many bytes, without the end of a line.
    Complain(usize),
    Request {
        id: Value,
        method: String,
        params: Box<RawValue>,
    },
    /// So many permissions at once, with ids from 1000.
    Storm {
        count: usize,
        params: Box<RawValue>,
    },
    /// Goes on when so many of its requests were answered.
    Answers(usize),
    /// Goes on when the file is there.
    File(PathBuf),
    Pause {
        millis: u64,
    },
    /// A shell in the agent's group that has its outputs; its process id is written to the file.
    Child {
        line: String,
        pid: PathBuf,
    },
    Exit(i32),
    Signal(i32),
}

struct Agent {
    script: Script,
    out: BufWriter<Stdout>,
    log: File,
    heard: Receiver<Value>,
    /// What was heard while it waited for something else.
    kept: VecDeque<Value>,
    answers: usize,
    prompt: Option<Value>,
    /// How often each method was asked for.
    times: BTreeMap<String, usize>,
}

fn main() {
    let path = std::env::args_os().nth(1).unwrap();
    let script: Script = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let heard = listen(File::create(&script.heard).unwrap());
    let mut agent = Agent {
        log: File::create(&script.log).unwrap(),
        script,
        out: BufWriter::with_capacity(64 * 1024, std::io::stdout()),
        heard,
        kept: VecDeque::new(),
        answers: 0,
        prompt: None,
        times: BTreeMap::new(),
    };
    while let Some(message) = agent.next() {
        agent.take(&message);
    }
}

/// What is heard, each line logged as it was.
fn listen(mut log: File) -> Receiver<Value> {
    let (heard, messages) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let line = line.unwrap();
            writeln!(log, "{line}").unwrap();
            let _ = heard.send(serde_json::from_str(&line).unwrap());
        }
    });
    messages
}

impl Agent {
    fn next(&mut self) -> Option<Value> {
        if let Some(message) = self.kept.pop_front() {
            return Some(message);
        }
        let heard = self.heard.recv().ok();
        while heard.is_none() && self.script.ignore_end {
            std::thread::park();
        }
        heard
    }

    fn take(&mut self, message: &Value) {
        let id = message.get("id").cloned();
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => self.requested(method, id),
            (Some("session/cancel"), None) if !self.script.ignore_cancel => {
                if let Some(prompt) = self.prompt.take() {
                    self.answer(&prompt, r#""result":{"stopReason":"cancelled"}"#);
                }
            }
            (Some(_), None) => {}
            (None, _) => self.answers += 1,
        }
    }

    fn requested(&mut self, method: &str, id: Value) {
        let times = self.times.entry(method.to_owned()).or_default();
        *times += 1;
        let key = match times {
            1 => method.to_owned(),
            times => format!("{method}#{times}"),
        };
        let reply = self.script.methods.remove(&key);
        let reply = reply.unwrap_or_else(|| usual(method));
        self.perform(reply.steps);
        match (reply.result, reply.error) {
            (Some(result), _) => self.answer(&id, &format!(r#""result":{result}"#)),
            (None, Some(error)) => self.answer(&id, &format!(r#""error":{error}"#)),
            (None, None) => self.prompt = Some(id),
        }
        self.perform(reply.after);
    }

    fn answer(&mut self, id: &Value, outcome: &str) {
        self.line(format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#).as_bytes());
        self.out.flush().unwrap();
    }

    fn perform(&mut self, steps: Vec<Step>) {
        for step in steps {
            self.step(step);
            self.out.flush().unwrap();
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Update(params) => self.update(params.get().as_bytes()),
            Step::UpdateBytes(params) => self.update(&params),
            Step::Flood { count, size } => self.flood(count, size),
            Step::Line(line) => self.line(line.as_bytes()),
            Step::Bytes(bytes) => self.out.write_all(&bytes).unwrap(),
            Step::Stderr(text) => eprint!("{text}"),
            Step::Complain(bytes) => eprint!("{}", "\r-\\|/".repeat(bytes / 5)),
            Step::Request { id, method, params } => self.request(&id, &method, &params),
            Step::Storm { count, params } => {
                for number in 1000..1000 + count {
                    self.request(&json!(number), "session/request_permission", &params);
                }
            }
            Step::Answers(count) => self.wait_for(count),
            Step::File(path) => wait_for(|| path.exists()),
            Step::Pause { millis } => std::thread::sleep(Duration::from_millis(millis)),
            Step::Child { line, pid } => child(&line, &pid),
            Step::Exit(code) => std::process::exit(code),
            Step::Signal(signal) => {
                let signal = Signal::from_named_raw(signal).unwrap();
                kill_process(getpid(), signal).unwrap();
                wait_for(|| false);
            }
        }
    }

    fn flood(&mut self, count: usize, size: usize) {
        let text = "x".repeat(size);
        for number in 0..count {
            let params = format!(
                r#"{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{number} {text}"}}}}}}"#
            );
            self.update(params.as_bytes());
        }
    }

    fn update(&mut self, params: &[u8]) {
        self.log.write_all(&[params, b"\n"].concat()).unwrap();
        let start = br#"{"jsonrpc":"2.0","method":"session/update","params":"#;
        self.line(&[start, params, b"}"].concat());
    }

    fn request(&mut self, id: &Value, method: &str, params: &RawValue) {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.line(line.as_bytes());
    }

    fn line(&mut self, line: &[u8]) {
        self.out.write_all(line).unwrap();
        self.out.write_all(b"\n").unwrap();
    }

    fn wait_for(&mut self, answers: usize) {
        while self.answers < answers {
            let Ok(message) = self.heard.recv() else {
                return;
            };
            match message.get("method") {
                Some(_) => self.kept.push_back(message),
                None => self.answers += 1,
            }
        }
    }
}

fn wait_for(done: impl Fn() -> bool) {
    while !done() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[expect(
    clippy::zombie_processes,
    reason = "whether it is left behind is what is tested"
)]
fn child(line: &str, pid: &std::path::Path) {
    let child = Command::new("/bin/sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    std::fs::write(pid, child.id().to_string()).unwrap();
}

/// `null` is an answer, too.
fn even_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(from).map(Some)
}

/// For what the script says nothing about.
fn usual(method: &str) -> Reply {
    let raw = |value: &Value| serde_json::value::to_raw_value(value).ok();
    let mut reply = Reply::default();
    match method {
        "initialize" => {
            reply.result = raw(&json!({"protocolVersion": 1, "agentCapabilities": {}}));
        }
        "session/new" => reply.result = raw(&json!({"sessionId": "s"})),
        "session/prompt" => reply.result = raw(&json!({"stopReason": "end_turn"})),
        _ => reply.error = raw(&json!({"code": -32601, "message": "not known to the script"})),
    }
    reply
}
