//! The receivers we hand out, run against the reporter: what they print is what was reported, and a wrong token
//! gets its 401.

use std::{
    env,
    io::{self, BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use provost_runner::{
    config::Secret,
    report::{Phase, Reporter},
};

use crate::setup::{LONG, TOKEN, chunk, complete, raw, settings};

#[path = "../../examples/receiver.rs"]
#[expect(dead_code, reason = "its `main` is for whoever runs it alone")]
mod receiver;

/// Ended when the test is.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python() -> (Running, impl BufRead) {
    let python = env::var("PROVOST_TEST_PYTHON").unwrap_or("python3".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/receiver.py");
    let mut child = Command::new(python)
        .arg(script)
        .env("CALLBACK_TOKEN", TOKEN)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (Running(child), lines)
}

fn rust() -> impl BufRead {
    let (lines, mut out) = io::pipe().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    thread::spawn(move || receiver::serve(&listener, TOKEN, &mut out));
    BufReader::new(lines)
}

/// What the receiver prints, as it comes: its address first, heartbeats left out.
fn printed(lines: impl BufRead + Send + 'static) -> (String, mpsc::Receiver<String>) {
    let mut lines = lines.lines();
    let first = lines.next().unwrap().unwrap();
    let url = first.strip_prefix("listening on ").unwrap().to_owned();
    let (send, printed) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if !line.starts_with("0 heartbeat 0") && send.send(line).is_err() {
                return;
            }
        }
    });
    (url, printed)
}

async fn drive(lines: impl BufRead + Send + 'static) {
    let (url, printed) = printed(lines);
    let mut honest = settings(url);
    honest.deadline = LONG;
    let mut wrong = honest.clone();
    wrong.callback.as_mut().unwrap().token = Secret::new("another");

    let reporter = Reporter::start(honest).unwrap();
    for number in 0..120 {
        reporter.notification(raw(&chunk(number)), Phase::Live);
    }
    reporter.agent_notification("_auth/status_update", None);
    reporter.end(complete());
    assert_eq!(reporter.drained(LONG).await.left, 0);
    assert_eq!(reporter.counts().delivered, 5);
    let expected = [
        "1 session_update 50",
        "2 session_update 50",
        "3 session_update 20",
        "4 agent_notification 0",
        "5 prompt_complete 0",
    ];
    for line in expected {
        assert_eq!(printed.recv().unwrap(), line);
    }

    let reporter = Reporter::start(wrong).unwrap();
    reporter.end(complete());
    reporter.unauthorized().cancelled().await;
    assert!(printed.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_receiver_in_rust_takes_what_is_reported() {
    drive(rust()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_receiver_in_python_takes_what_is_reported() {
    let (_running, lines) = python();
    drive(lines).await;
}
