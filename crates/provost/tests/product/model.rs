//! A model that does as it is told: calls of tools, turn by turn, then a last word. It speaks the APIs of Anthropic,
//! OpenAI (chats and responses) and Gemini on loopback, and remembers what it hears of its calls.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod tools;

use std::{
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// So long is a command held back at most: a test that forgets to release it still ends.
const LONGEST_HOLD: Duration = Duration::from_mins(1);

const MOST_OF_ONE_ID: u64 = 5;

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
pub(crate) const LAST_WORD: &str = "That is all.";

/// What the model has its agent do.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Run {
        command: String,
        /// Another folder than the agent's own.
        folder: Option<String>,
    },
    Write {
        path: String,
        text: String,
    },
    /// A tool by its name, with what it is given.
    Call {
        tool: &'static str,
        arguments: Value,
    },
}

/// What the model says next.
enum Turn {
    Calls(Vec<Call>),
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
    /// What is done in each turn.
    turns: Mutex<Vec<Vec<Act>>>,
    /// What became of the calls, in the words the model is told.
    results: Mutex<Vec<String>>,
    /// Every request, as it came.
    asked: Mutex<Vec<String>>,
    calls: AtomicU64,
    /// Every call has the id of the first.
    repeats_ids: AtomicBool,
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

impl Act {
    pub(crate) fn run(command: &str) -> Self {
        Self::Run {
            command: command.to_owned(),
            folder: None,
        }
    }
}

impl Model {
    pub(crate) fn that_runs(command: &str) -> Self {
        Self::that_does(vec![vec![Act::run(command)]])
    }

    pub(crate) fn that_does(turns: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let script = Arc::new(Script {
            turns: Mutex::new(turns),
            results: Mutex::default(),
            asked: Mutex::default(),
            calls: AtomicU64::new(0),
            repeats_ids: AtomicBool::new(false),
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

    /// From now on, and for the next prompt.
    pub(crate) fn then_does(&self, turns: Vec<Vec<Act>>) {
        *self.script.turns.lock().unwrap() = turns;
    }

    pub(crate) fn repeats_ids(&self) {
        self.script.repeats_ids.store(true, Ordering::Relaxed);
    }

    /// Holds the next call back until it is released.
    pub(crate) fn hold(&self) -> Held {
        let ((say, asked), (go, wait)) = (mpsc::channel(), mpsc::channel());
        *self.script.hold.lock().unwrap() = Some((say, wait));
        Held { asked, go }
    }

    /// The tools that the model was offered, with their schemas.
    pub(crate) fn offered(&self) -> Vec<Value> {
        self.script.offered.lock().unwrap().clone()
    }

    /// What the model was told of its calls, at last.
    #[track_caller]
    pub(crate) fn was_told(&self) -> String {
        let results = self.script.results.lock().unwrap();
        results.last().expect("the model was told nothing").clone()
    }

    /// Whether it was told this of any of its calls.
    pub(crate) fn heard(&self, text: &str) -> bool {
        let results = self.script.results.lock().unwrap();
        results.iter().any(|result| result.contains(text))
    }

    /// Whether this stood anywhere in what it was asked.
    pub(crate) fn was_reminded_of(&self, text: &str) -> bool {
        let asked = self.script.asked.lock().unwrap();
        asked.iter().any(|asked| asked.contains(text))
    }
}

impl Script {
    fn serve(&self, mut stream: &TcpStream) {
        // A caller that hangs up is no concern of a model's.
        let Ok((path, asked)) = request(&mut BufReader::new(stream)) else {
            return;
        };
        self.asked.lock().unwrap().push(asked.to_string());
        let (kind, body) = self.answer(&path, &asked);
        let length = body.len();
        let _ = stream.write_all(
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            )
            .as_bytes(),
        );
    }

    fn answer(&self, path: &str, asked: &Value) -> (&'static str, String) {
        let streamed = asked["stream"] == true;
        if path.ends_with("/chat/completions") {
            let turn = self.turn(chat::tools(asked), chat::results(asked));
            chat::answer(&turn, streamed)
        } else if path.ends_with("/responses") {
            let turn = self.turn(responses::tools(asked), responses::results(asked));
            (STREAM, responses::events(&turn))
        } else if path.contains(":generateContent") || path.contains(":streamGenerateContent") {
            let turn = self.turn(gemini::tools(asked), gemini::results(asked));
            gemini::answer(&turn, path.contains(":stream"))
        } else if path.ends_with("/v1/messages") {
            let turn = self.turn(anthropic::tools(asked), anthropic::results(asked));
            anthropic::answer(&turn, streamed)
        } else {
            let known = json!({"input_tokens": 1, "data": [{"id": "scripted", "object": "model"}]});
            (JSON, known.to_string())
        }
    }

    /// The turn that is due by how many results there are. Side calls, for titles, have no tools.
    fn turn<'a>(&self, offered: impl Iterator<Item = &'a Value>, results: Vec<String>) -> Turn {
        let offered: Vec<Value> = offered.cloned().collect();
        self.offered.lock().unwrap().extend(offered.clone());
        let done = results.len();
        self.results.lock().unwrap().extend(results);
        match self.due(&offered, done) {
            Some(due) => {
                self.held();
                let calls = due.into_iter().map(|(tool, arguments)| Call {
                    id: self.id(),
                    tool,
                    arguments,
                });
                Turn::Calls(calls.collect())
            }
            None => Turn::Last,
        }
    }

    fn due(&self, offered: &[Value], mut done: usize) -> Option<Vec<(String, Value)>> {
        let turns = self.turns.lock().unwrap();
        // Of calls of one id an agent may tell one result only, and the script would never end.
        let repeats = self.repeats_ids.load(Ordering::Relaxed);
        if repeats && self.calls.load(Ordering::Relaxed) > MOST_OF_ONE_ID {
            return None;
        }
        for turn in &*turns {
            if done < turn.len() {
                return turn.iter().map(|act| tools::call(act, offered)).collect();
            }
            done -= turn.len();
        }
        None
    }

    /// Each call has its own id: an agent that comes back to an old one takes a second of that name for the first.
    fn id(&self) -> String {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.repeats_ids.load(Ordering::Relaxed) {
            return "toolu_0".to_owned();
        }
        format!("toolu_{number}")
    }

    fn held(&self) {
        let hold = self.hold.lock().unwrap().take();
        if let Some((asked, go)) = hold {
            asked.send(()).unwrap();
            // Whoever was to release it may have gone.
            let _ = go.recv_timeout(LONGEST_HOLD);
        }
    }
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
