//! However a run ends, its terminal report is the last thing that is sent, and comes at once. What a receiver gets is
//! verified: signatures, numbers and order.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::SECRET;
use crate::{
    harness::{PROVOST, Site, eventually},
    peers,
    receiver::{Receiver, Told},
};

/// Ends its prompt as its second argument says, and tells the receiver, whose port is the first, just before.
const AGENT: &str = r#"
import json, os, signal, socket, sys
port, end = int(sys.argv[1]), sys.argv[2]
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def update(**update):
    send(method="session/update", params={"sessionId": "s", "update": update})
def tell():
    with socket.create_connection(("127.0.0.1", port)) as receiver:
        receiver.sendall(b"POST /ends HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        receiver.recv(1000)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=id, result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        send(id=id, result={"sessionId": "s"})
    elif method == "session/cancel":
        send(id=prompt, result={"stopReason": "cancelled"})
    elif method == "session/prompt":
        prompt = id
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "so be it"})
        update(sessionUpdate="tool_call", toolCallId="1", title="look", kind="read", status="completed")
        tell()
        if end == "done":
            send(id=id, result={"stopReason": "end_turn"})
        elif end == "failed":
            send(id=id, error={"code": -32000, "message": "no model"})
        elif end == "exited":
            sys.exit(3)
        elif end == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif end == "limit":
            update(sessionUpdate="tool_call", toolCallId="2", title="look again", kind="read", status="completed")
"#;

/// How each ends: the last report's kind, and the reason of a failure.
const ENDS: [(&str, &str, Option<&str>); 7] = [
    ("done", "prompt_complete", None),
    ("failed", "prompt_failed", Some("agent_error")),
    ("exited", "prompt_failed", Some("agent_exited")),
    ("killed", "prompt_failed", Some("agent_exited")),
    ("limit", "prompt_failed", Some("limit_exceeded")),
    ("cancelled", "prompt_failed", Some("stopped")),
    ("hung up", "prompt_failed", Some("stopped")),
];

struct Trial {
    site: Site,
    receiver: Receiver,
}

impl Trial {
    fn start(end: &str) -> (Self, Child) {
        let site = Site::empty();
        let receiver = Receiver::start(0);
        fs::create_dir(site.path("work")).unwrap();
        fs::write(site.path("agent.py"), AGENT).unwrap();
        let port = receiver.addr.port().to_string();
        let config = json!({
            "runId": "run", "taskId": "task", "sandboxId": "sandbox", "promptId": "prompt", "prompt": "end",
            "repoDir": site.path("work"), "permissions": "auto", "limits": {"toolCalls": 1},
            "command": [peers::python(), site.path("agent.py"), port, end],
            "callbackUrl": format!("http://{}/report", receiver.addr), "token": "a-token", "signingSecret": SECRET,
        });
        fs::write(site.path("run.json"), config.to_string()).unwrap();
        let child = Command::new(PROVOST)
            .args(["run", "--config", "run.json", "--data", "data"])
            .current_dir(site.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        (Self { site, receiver }, child)
    }

    /// When the agent was about to end.
    fn ends_at(&self) -> Instant {
        eventually("the agent's end", || {
            let told = self.receiver.told(0);
            let found = told.iter().find(|told| told.path == "/ends");
            found.map(|told| told.at)
        })
    }

    fn reports(&self) -> Vec<Told> {
        let mut told = self.receiver.told(0);
        told.retain(|told| told.path == "/report");
        told
    }
}

/// How long after its end a run was reported to have ended.
fn told_after(end: &str, kind: &str, reason: Option<&str>) -> Duration {
    let (trial, mut child) = Trial::start(end);
    let mut ended = trial.ends_at();
    let signal = match end {
        "cancelled" => Some(Signal::TERM),
        "hung up" => Some(Signal::HUP),
        _ => None,
    };
    if let Some(signal) = signal {
        let runner = i32::try_from(child.id()).unwrap();
        ended = Instant::now();
        kill_process(Pid::from_raw(runner).unwrap(), signal).unwrap();
    }
    let status = child.wait().unwrap();
    assert_eq!(status.success(), reason.is_none(), "{end}");
    let told = trial.reports();
    let reports: Vec<Value> = told
        .iter()
        .map(|told| serde_json::from_str(&told.body).unwrap())
        .collect();
    let numbered = reports
        .iter()
        .filter(|report| report["kind"] != "heartbeat");
    for (index, report) in numbered.enumerate() {
        assert_eq!(report["sequence"], index as u64 + 1, "{end} {report}");
    }
    let is_last = |report: &Value| report["kind"].as_str().unwrap().starts_with("prompt_");
    let last = reports.last().unwrap();
    assert_eq!(last["kind"], kind, "{end}: something follows the end");
    let ends = reports.iter().filter(|report| is_last(report));
    assert_eq!(ends.count(), 1, "{end}");
    if let Some(reason) = reason {
        assert_eq!(last["error"]["data"]["reason"], reason, "{end}");
    }
    let last = told.last().unwrap();
    assert!(last.is_signed_with(SECRET), "{end}");
    assert_eq!(last.header("authorization"), "Bearer a-token", "{end}");
    drop(trial.site);
    last.at.duration_since(ended)
}

/// Other tests may run at the same time: the order counts here, and the time roughly.
#[test]
fn the_terminal_report_is_the_last() {
    for (end, kind, reason) in ENDS {
        let late = told_after(end, kind, reason);
        assert!(late < Duration::from_secs(5), "{end}: {late:?}");
    }
}

mod full {
    use super::*;

    #[test]
    fn the_terminal_report_is_last_and_comes_within_a_second() {
        const RUNS: usize = 50;
        let mut slowest = ("", Duration::ZERO);
        for (end, kind, reason) in ENDS.into_iter().cycle().take(RUNS) {
            let late = told_after(end, kind, reason);
            if late > slowest.1 {
                slowest = (end, late);
            }
        }
        let (end, late) = slowest;
        println!("the slowest of {RUNS} runs ({end}) was told after {late:?}");
        assert!(late < Duration::from_secs(1), "{end}: {late:?}");
    }
}
