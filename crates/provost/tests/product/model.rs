//! A model that does as it is told: one command in a shell, then a last word. It speaks the APIs of Anthropic,
//! OpenAI (chats and responses) and Gemini on loopback, and remembers what it hears of the command.

mod chat;
mod gemini;
mod responses;
mod shell;

use std::{
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// So long is a command held back at most: a test that forgets to release it still ends.
const LONGEST_HOLD: Duration = Duration::from_mins(1);

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
pub(crate) const LAST_WORD: &str = "That is all.";

/// What the model says next.
enum Turn {
    Call(Call),
    Last,
}

struct Call {
    id: String,
    tool: String,
    arguments: Value,
}

pub(crate) struct Model {
    pub(crate) addr: SocketAddr,
    script: Arc<Script>,
}

struct Script {
    command: String,
    /// What became of the command, in the words the model is told.
    results: Mutex<Vec<String>>,
    calls: AtomicU64,
    /// The tools that the model was offered.
    offered: Mutex<Vec<Value>>,
    /// Says that the model was asked, and waits for a word.
    hold: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

/// A model that was asked, and has not answered yet.
pub(crate) struct Held {
    asked: Receiver<()>,
    go: Sender<()>,
}

impl Held {
    pub(crate) fn until_asked(&self) {
        self.asked.recv_timeout(LONGEST_HOLD).unwrap();
    }

    pub(crate) fn release(self) {
        self.go.send(()).unwrap();
    }
}

impl Model {
    pub(crate) fn that_runs(command: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let script = Arc::new(Script {
            command: command.to_owned(),
            results: Mutex::default(),
            calls: AtomicU64::new(0),
            offered: Mutex::default(),
            hold: Mutex::default(),
        });
        let shared = script.clone();
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let script = shared.clone();
                thread::spawn(move || script.serve(&stream));
            }
        });
        Self { addr, script }
    }

    /// Holds the command back until it is released.
    pub(crate) fn hold(&self) -> Held {
        let ((say, asked), (go, wait)) = (mpsc::channel(), mpsc::channel());
        *self.script.hold.lock().unwrap() = Some((say, wait));
        Held { asked, go }
    }

    /// The tools that the model was offered, with their schemas.
    pub(crate) fn offered(&self) -> Vec<Value> {
        self.script.offered.lock().unwrap().clone()
    }

    /// What the model was told of its command, at last.
    #[track_caller]
    pub(crate) fn was_told(&self) -> String {
        let results = self.script.results.lock().unwrap();
        results.last().expect("the model was told nothing").clone()
    }
}

impl Script {
    fn serve(&self, mut stream: &TcpStream) {
        // A caller that hangs up is no concern of a model's.
        let Ok((path, asked)) = request(&mut BufReader::new(stream)) else {
            return;
        };
        let streamed = asked["stream"] == true;
        let (kind, body) = if path.ends_with("/chat/completions") {
            let turn = self.turn(chat::offered(&asked), chat::results(&asked));
            chat::answer(&turn, streamed)
        } else if path.ends_with("/responses") {
            let turn = self.turn(responses::offered(&asked), responses::results(&asked));
            (STREAM, responses::events(&turn))
        } else if path.contains(":generateContent") || path.contains(":streamGenerateContent") {
            let turn = self.turn(gemini::offered(&asked), gemini::results(&asked));
            gemini::answer(&turn, path.contains(":stream"))
        } else if path.ends_with("/v1/messages") {
            let blocks = self.blocks(&asked);
            if streamed {
                (STREAM, events(&blocks))
            } else {
                (JSON, whole(&blocks).to_string())
            }
        } else {
            (
                JSON,
                json!({"input_tokens": 1, "data": [{"id": "scripted", "object": "model"}]})
                    .to_string(),
            )
        };
        let length = body.len();
        let _ = stream.write_all(
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            )
            .as_bytes(),
        );
    }

    fn blocks(&self, asked: &Value) -> Vec<Value> {
        let tools = asked["tools"].as_array().into_iter().flatten();
        let mut offered = self.offered.lock().unwrap();
        offered.extend(tools.clone().cloned());
        drop(offered);
        let names = tools.map(|tool| tool["name"].clone());
        match self.turn(texts(names), tool_results(asked)) {
            Turn::Call(call) => vec![
                json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}),
            ],
            Turn::Last => vec![json!({"type": "text", "text": LAST_WORD})],
        }
    }

    /// The command where there is a shell and it was not run yet. Side calls, for titles, have no tools.
    fn turn(&self, offered: Vec<String>, results: Vec<String>) -> Turn {
        let shell = shell::of(&offered);
        match shell {
            Some(tool) if results.is_empty() => {
                self.held();
                // Each call has its own id: an agent that comes back to an old one takes a second of that name
                // for the first.
                let number = self.calls.fetch_add(1, Ordering::Relaxed);
                Turn::Call(Call {
                    id: format!("toolu_{number}"),
                    arguments: shell::arguments(&tool, &self.command),
                    tool,
                })
            }
            _ => {
                self.results.lock().unwrap().extend(results);
                Turn::Last
            }
        }
    }

    fn held(&self) {
        if let Some((asked, go)) = self.hold.lock().unwrap().take() {
            asked.send(()).unwrap();
            go.recv_timeout(LONGEST_HOLD).unwrap();
        }
    }
}

fn texts(values: impl Iterator<Item = Value>) -> Vec<String> {
    values
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

fn tool_results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let results = results.map(|block| block["content"].to_string());
    // What a killed agent had begun is told as interrupted when it comes back: that is no result.
    results
        .filter(|result| !result.contains("interrupt"))
        .collect()
}

fn stop_reason(blocks: &[Value]) -> &'static str {
    let is_call = blocks.iter().any(|block| block["type"] == "tool_use");
    if is_call { "tool_use" } else { "end_turn" }
}

fn message(content: &[Value], stop: Option<&str>) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn whole(blocks: &[Value]) -> Value {
    message(blocks, Some(stop_reason(blocks)))
}

fn events(blocks: &[Value]) -> String {
    let mut events = vec![json!({"type": "message_start", "message": message(&[], None)})];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, delta) = if block["type"] == "tool_use" {
            let mut empty = block.clone();
            empty["input"] = json!({});
            let input = block["input"].to_string();
            (
                empty,
                json!({"type": "input_json_delta", "partial_json": input}),
            )
        } else {
            let delta = json!({"type": "text_delta", "text": block["text"]});
            (json!({"type": "text", "text": ""}), delta)
        };
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    let delta = json!({"stop_reason": stop_reason(blocks), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    let event = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(event).collect()
}

/// The path without its query, and the body.
fn request(reader: &mut impl BufRead) -> io::Result<(String, Value)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default().to_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let mut body = Vec::new();
    reader.take(length.unwrap_or(0)).read_to_end(&mut body)?;
    Ok((path, serde_json::from_slice(&body).unwrap_or_default()))
}
