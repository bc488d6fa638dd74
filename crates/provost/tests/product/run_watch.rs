//! `provost run --watch`: a run that is looked at, with and without somebody at the terminal.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use serde_json::Value;

use crate::harness::{PROVOST, Site};

/// Says something hostile, asks once, and tells what it was answered.
const AGENT: &str = r#"
import json, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def says(text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s", "update": update})
options = [{"optionId": "no-1", "name": "No", "kind": "reject_once"}, {"optionId": "yes-1", "name": "Yes", "kind": "allow_once"}]
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        send(id=message["id"], result={"sessionId": "s"})
    elif method == "session/prompt":
        prompt = message["id"]
        says("hidden \x1b[2J words")
        call = {"toolCallId": "1", "kind": "execute", "title": "Say hi", "rawInput": {"command": "echo hi"}}
        send(id="p", method="session/request_permission", params={"sessionId": "s", "toolCall": call, "options": options})
    elif message.get("id") == "p":
        says("chosen: " + message["result"]["outcome"]["optionId"])
        send(id=prompt, result={"stopReason": "end_turn"})
"#;

/// A terminal with somebody who answers each question with the next word.
const PERSON: &str = r#"
import os, pty, sys
answers = sys.argv[1].split(",")
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, asked = b"", 0
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    shown += data
    while answers and shown.count(b"y or n? ") > asked:
        asked += 1
        os.write(terminal, answers.pop(0).encode() + b"\n")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

const RUN: [&str; 8] = [
    "--data",
    "data",
    "run",
    "--watch",
    "--prompt",
    "say hi",
    "--agent",
    "./agent.py",
];

fn site() -> Site {
    let site = Site::empty();
    let agent = site.path("agent.py");
    fs::write(&agent, format!("#!/usr/bin/env python3\n{AGENT}")).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    site
}

/// What is on the terminal of somebody who answers so.
fn watched(answers: &str) -> String {
    let site = site();
    let output = Command::new("python3")
        .args(["-c", PERSON, answers, PROVOST])
        .args(RUN)
        .current_dir(site.path(""))
        .env_remove("PROVOST_CONFIG")
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}\n{wrong}");
    shown
}

#[test]
fn a_question_is_answered_where_it_is_read() {
    for (answers, chosen) in [("maybe,,y", "yes-1"), ("n", "no-1"), ("3,2", "yes-1")] {
        let shown = watched(answers);
        assert!(shown.contains("$ echo hi"), "{shown}");
        assert!(
            shown.contains(&format!("chosen: {chosen}")),
            "{answers}: {shown}"
        );
        let again = shown.matches("please answer with one of").count();
        assert_eq!(again, answers.matches(',').count(), "{shown}");
        assert!(shown.contains("hidden \\u{1b}[2J words"), "{shown}");
        assert!(!shown.contains("\u{1b}[2J"), "{shown}");
    }
}

#[test]
fn without_a_terminal_the_answer_is_no() {
    let site = site();
    let output = site.provost(&RUN);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    for part in [
        "> say hi",
        "may it? execute Say hi",
        "nobody is at the terminal",
        "chosen: no-1",
    ] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn programs_get_a_line_for_each_event() {
    let site = site();
    let mut arguments = vec!["--json"];
    arguments.extend(RUN);
    let output = site.provost(&arguments);
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = shown
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, events) = lines.split_last().unwrap();
    assert_eq!(last["outcome"]["state"], "done", "{shown}");
    let journal = fs::read_to_string(site.path(last["journal"].as_str().unwrap())).unwrap();
    let journal: Vec<Value> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events, journal);
}
