//! The tools of the tests: a server on loopback that answers with what it was sent, and remembers what it
//! executed.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// So long is a held call kept waiting at most: a test that forgets to release it still ends.
const LONGEST_HOLD: Duration = Duration::from_secs(30);

/// Every tool of the tests. The backend knows them by their path.
pub(crate) const TOOLS: [&str; 8] = [
    "filesystem.read_file",
    "filesystem.write_file",
    "filesystem.delete_file",
    "gmail.send",
    "payments.send",
    "notes.add",
    "slow.call",
    "held.call",
];

#[derive(Clone)]
pub(crate) struct Echo {
    pub(crate) addr: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// How often a call was executed, by the `id` among its arguments.
    executed: Mutex<HashMap<String, usize>>,
    connections: AtomicUsize,
    /// Calls to `held.call` wait until this is set.
    released: Mutex<bool>,
    release: Condvar,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let shared = state.clone();
        // Ends with the test's process, as do the threads of its connections.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let state = shared.clone();
                thread::spawn(move || serve(&stream, &state));
            }
        });
        Self { addr, state }
    }

    /// As it stands in a configuration file.
    pub(crate) fn tools(&self) -> String {
        let tool = |name: &&str| {
            format!(
                "  - {{name: {name}, url: 'http://{}/{name}', method: POST}}\n",
                self.addr
            )
        };
        let tools: String = TOOLS.iter().map(tool).collect();
        format!("http_tools:\n{tools}")
    }

    pub(crate) fn executions(&self, id: &str) -> usize {
        let executed = self.state.executed.lock().unwrap();
        executed.get(id).copied().unwrap_or(0)
    }

    pub(crate) fn all_executions(&self) -> HashMap<String, usize> {
        self.state.executed.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn release(&self) {
        *self.state.released.lock().unwrap() = true;
        self.state.release.notify_all();
    }
}

impl State {
    fn execute(&self, tool: &str, params: &Value) {
        let id = params["id"].as_str().unwrap_or_default();
        *self
            .executed
            .lock()
            .unwrap()
            .entry(id.to_owned())
            .or_default() += 1;
        let longest = match tool {
            "held.call" => LONGEST_HOLD,
            // Long enough to be killed in.
            "slow.call" => Duration::from_millis(5),
            _ => return,
        };
        let released = self.released.lock().unwrap();
        let _ = self
            .release
            .wait_timeout_while(released, longest, |released| !*released)
            .unwrap();
    }
}

fn serve(stream: &TcpStream, state: &State) {
    let _ = stream.set_nodelay(true);
    // A caller that hangs up, or is killed, is no concern of an echo's.
    let mut reader = BufReader::new(stream);
    while let Ok((tool, params)) = request(&mut reader) {
        state.execute(&tool, &params);
        let body = json!({"tool": tool, "echo": params}).to_string();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = stream;
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The path of a request, and its body.
pub(crate) fn request(reader: &mut impl BufRead) -> io::Result<(String, Value)> {
    let mut tool = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if tool.is_empty() {
            let path = line.split(' ').nth(1).unwrap_or_default();
            path.trim_start_matches('/').clone_into(&mut tool);
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((tool, serde_json::from_slice(&body).unwrap_or_default()))
}
