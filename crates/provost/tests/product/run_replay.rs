//! `provost run replay`: what a journal holds, on the screen and at a callback that has not seen it.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    process::Output,
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    harness::Site,
    receiver::{Receiver, Told, answering},
};

const SECRET: &str = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=";

/// What no library writes: white space, numbers of any length, a name twice, escapes that need not be.
fn notification(number: usize) -> String {
    format!(
        r#"{{ "sessionId":"s-1",  "update":{{"sessionUpdate":"agent_message_chunk","n":0.0024000000000000002,"n":{number}.10,"big":123456789012345678901234567890,"content":{{"type":"text","text":"\u0077ord {number} \/ "}}}}}}"#
    )
}

fn heard(params: &str) -> String {
    format!(r#"{{"at":2,"in":{{"jsonrpc":"2.0","method":"session/update","params":{params}}}}}"#)
}

/// A run that loads a session, asks once, is answered, and says something afterwards.
fn journal(notifications: &[String]) -> Vec<String> {
    let (before, after) = notifications.split_at(60);
    let (during, late) = after.split_at(after.len() - 1);
    let line = |value: Value| value.to_string();
    let mut lines = vec![
        line(
            json!({"at": 1, "event": {"started": {"runId": "r", "taskId": "t", "sandboxId": "b", "promptId": "p", "repoDir": "/repo"}}}),
        ),
        line(json!({"at": 1, "event": {"session": "s-1"}})),
        line(
            json!({"at": 1, "out": {"id": 2, "method": "session/load", "params": {"sessionId": "s-1"}}}),
        ),
    ];
    lines.extend(before.iter().map(|params| heard(params)));
    lines.push(line(json!({"at": 3, "in": {"id": 2, "result": null}})));
    lines.push(line(
        json!({"at": 3, "out": {"id": 3, "method": "session/prompt", "params": {"prompt": [{"type": "text", "text": "go"}]}}}),
    ));
    lines.push("this line was lost by a disk".to_owned());
    lines.extend(during.iter().map(|params| heard(params)));
    lines.push(r#"{"at":4,"in":{"method":"_auth/status_update","params":{ "a":1.0 }}}"#.to_owned());
    lines.push(line(
        json!({"at": 4, "decision": {"permissionId": "p:permission:1", "outcome": "allowed", "by": "callback", "reason": "x"}}),
    ));
    lines.push(r#"{"at":5,"in":{"id":3,"result":{"stopReason":"end_turn","usage":{ "total": 0.30000000000000004 }}}}"#.to_owned());
    lines.push(line(
        json!({"at": 5, "event": {"ended": {"state": "done", "stopReason": "end_turn"}}}),
    ));
    lines.extend(late.iter().map(|params| heard(params)));
    lines
}

struct Replayed {
    site: Site,
    notifications: Vec<String>,
}

impl Replayed {
    fn new(end: &str) -> Self {
        let site = Site::empty();
        let notifications: Vec<_> = (0..200).map(notification).collect();
        let text = journal(&notifications).join("\n") + "\n" + end;
        fs::write(site.path("journal.jsonl"), text).unwrap();
        fs::write(site.path("token"), "the-token\n").unwrap();
        fs::write(site.path("secret"), SECRET).unwrap();
        Self {
            site,
            notifications,
        }
    }

    fn replay(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut all = vec!["run", "replay", "journal.jsonl"];
        all.extend(arguments);
        let Output {
            status,
            stdout,
            stderr,
        } = self.site.provost(&all);
        let text = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
        (status.code(), text)
    }

    fn send(&self, to: SocketAddr) -> (Option<i32>, String) {
        let url = format!("http://{to}/hook");
        self.replay(&[
            "--to",
            &url,
            "--token-file",
            "token",
            "--signing-secret-file",
            "secret",
            "--patience",
            "2",
        ])
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    kind: String,
    run_id: String,
    task_id: String,
    sandbox_id: String,
    prompt_id: String,
    session_id: String,
    sequence: u64,
    phase: Option<String>,
    #[serde(default)]
    notifications: Vec<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    stop_reason: Option<String>,
    usage: Option<Box<RawValue>>,
}

fn reports(told: &[Told]) -> Vec<Report> {
    told.iter()
        .map(|told| serde_json::from_str(&told.body).unwrap())
        .collect()
}

#[test]
fn a_callback_hears_what_it_would_have_heard_of_a_run_that_told_nobody() {
    let replayed = Replayed::new("");
    // It is away at first: what is sent again stands there once more.
    let receiver = Receiver::start(1);
    let (code, text) = replayed.send(receiver.addr);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("line 66 cannot be read and is skipped"),
        "{text}"
    );
    assert!(
        text.contains("200 notifications in 7 reports: 7 delivered, 0 refused, 0 left"),
        "{text}"
    );

    let told = receiver.told(8);
    assert!(told.iter().all(|told| told.is_signed_with(SECRET)));
    assert!(
        told.iter()
            .all(|told| told.header("authorization") == "Bearer the-token")
    );
    assert_eq!(told[0].body, told[1].body);
    let reports = reports(&told[1..]);
    let sent = reports.iter().flat_map(|report| &report.notifications);
    let sent: Vec<_> = sent.map(|raw| raw.get()).collect();
    // What came after the end is in the journal only.
    assert_eq!(sent, replayed.notifications[..199]);

    let whose = |report: &Report| {
        [
            &report.run_id,
            &report.task_id,
            &report.sandbox_id,
            &report.prompt_id,
            &report.session_id,
        ]
        .map(Clone::clone)
    };
    assert!(
        reports
            .iter()
            .all(|report| whose(report) == ["r", "t", "b", "p", "s-1"])
    );
    let sequences: Vec<_> = reports.iter().map(|report| report.sequence).collect();
    assert_eq!(sequences, (1..=7).collect::<Vec<_>>());
    let order: Vec<_> = reports
        .iter()
        .map(|report| {
            (
                report.kind.as_str(),
                report.phase.as_deref(),
                report.notifications.len(),
            )
        })
        .collect();
    assert_eq!(
        order,
        [
            ("session_update", Some("replay"), 50),
            ("session_update", Some("replay"), 10),
            ("session_update", None, 50),
            ("session_update", None, 50),
            ("session_update", None, 39),
            ("agent_notification", None, 0),
            ("prompt_complete", None, 0),
        ]
    );
    assert_eq!(reports[5].method.as_deref(), Some("_auth/status_update"));
    assert_eq!(reports[5].params.as_ref().unwrap().get(), r#"{ "a":1.0 }"#);
    assert_eq!(reports[6].stop_reason.as_deref(), Some("end_turn"));
    let usage = reports[6].usage.as_ref().unwrap();
    assert_eq!(usage.get(), r#"{ "total": 0.30000000000000004 }"#);
}

#[test]
fn a_journal_that_is_cut_off_is_replayed_up_to_there() {
    let replayed = Replayed::new(r#"{"at":6,"in":{"method":"session/upd"#);
    let receiver = Receiver::start(0);
    let (code, text) = replayed.send(receiver.addr);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("the journal is cut off in line 211"),
        "{text}"
    );
    assert_eq!(reports(&receiver.told(7)).len(), 7);

    let (code, text) = replayed.replay(&["--fast"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("the journal is cut off in line 211"),
        "{text}"
    );
}

#[test]
fn a_callback_that_does_not_know_the_token_is_told_once() {
    let replayed = Replayed::new("");
    let (code, text) = replayed.send(answering("401 No"));
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("does not know the token"), "{text}");
}

#[test]
fn what_is_not_delivered_is_said() {
    let replayed = Replayed::new("");
    let (code, text) = replayed.send(answering("413 Too Large"));
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("7 reports: 0 delivered, 7 refused"), "{text}");
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let gone = nobody.local_addr().unwrap();
    drop(nobody);
    let (code, text) = replayed.send(gone);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("0 delivered, 0 refused, 7 left"), "{text}");
}

#[test]
fn a_journal_is_shown() {
    let replayed = Replayed::new("");
    let (code, text) = replayed.replay(&["--speed", "0"]);
    assert_eq!(code, Some(0), "{text}");
    for part in [
        "run r in /repo",
        "earlier in this session",
        "> go",
        "word 199 /",
        "allowed by callback",
        "end_turn",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "it is no terminal:\n{text}");

    let (code, text) = replayed.replay(&["--fast", "--json"]);
    assert_eq!(code, Some(0), "{text}");
    let (told, expected) = (text.lines().take(210), journal(&replayed.notifications));
    let expected = expected.iter().filter(|line| line.starts_with('{'));
    assert!(
        told.take(209).eq(expected),
        "its lines, as they are:\n{text}"
    );
}

#[test]
fn wrong_use_is_told() {
    let replayed = Replayed::new("");
    for (arguments, part) in [
        (&["--to", "http://127.0.0.1:1"][..], "token is missing"),
        (
            &["--to", "nothing", "--token-file", "token"],
            "callback url",
        ),
        (&["--token-file", "token"], "--to"),
        (&["--speed=-1"], "0 or more"),
        (&["--fast", "--to", "http://x"], "cannot be used with"),
    ] {
        let (code, text) = replayed.replay(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {text}");
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
    fs::write(replayed.site.path("journal.jsonl"), "").unwrap();
    let (code, text) = replayed.replay(&[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("no run in this journal"), "{text}");
}

/// An agent that says much, asks once, and says odd numbers.
const AGENT: &str = r#"
import json, sys
def send(line): print(line, flush=True)
def say(n): send('{"jsonrpc":"2.0","method":"session/update","params":{ "sessionId":"s", "n":%d.10, "update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d "}}}}' % (n, n))
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send(json.dumps({"id": message["id"], "result": {"protocolVersion": 1}}))
    elif method == "session/new":
        send(json.dumps({"id": message["id"], "result": {"sessionId": "s"}}))
    elif method == "session/prompt":
        prompt = message["id"]
        for n in range(120): say(n)
        send('{"method":"_x/other","params":{ "a":1.0 }}')
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        call = {"toolCallId": "1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
        send(json.dumps({"id": 1, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": call, "options": options}}))
    elif method is None:
        for n in range(120, 130): say(n)
        send(json.dumps({"id": prompt, "result": {"stopReason": "end_turn"}}))
"#;

/// Runs that agent, reported there.
fn reported(site: &Site, to: SocketAddr, flags: &[&str]) -> Output {
    fs::write(site.path("agent.py"), AGENT).unwrap();
    fs::write(site.path("token"), "the-token").unwrap();
    let config = json!({
        "runId": "run", "taskId": "task", "sandboxId": "box", "promptId": "a prompt", "prompt": "go",
        "callbackUrl": format!("http://{to}/hook"), "token": "the-token", "permissions": "auto",
        "command": ["python3", site.path("agent.py")], "journal": site.path("first.jsonl"),
    });
    fs::write(site.path("run.json"), config.to_string()).unwrap();
    site.provost(&[&["run", "--config", "run.json"], flags].concat())
}

fn without_heartbeats(told: &[Told]) -> Vec<(String, String)> {
    let told = told.iter();
    let told = told.filter(|told| !told.body.contains(r#""kind":"heartbeat""#));
    told.map(|told| (told.header("webhook-id").to_owned(), told.body.clone()))
        .collect()
}

#[test]
fn a_callback_gets_what_was_first_sent() {
    let site = Site::empty();
    let first = Receiver::start(0);
    let output = reported(&site, first.addr, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let sent = without_heartbeats(&first.told(5));
    assert!(sent.len() >= 5, "{sent:?}");

    let again = Receiver::start(0);
    let url = format!("http://{}/hook", again.addr);
    let replay = [
        "run",
        "replay",
        "first.jsonl",
        "--token-file",
        "token",
        "--to",
        &url,
    ];
    let output = site.provost(&replay);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("130 notifications in"), "{said}");
    assert_eq!(without_heartbeats(&again.told(sent.len())), sent);

    // A line that a disk lost shows: what follows cannot be what was sent.
    let text = fs::read_to_string(site.path("first.jsonl")).unwrap();
    let lost = |line: &&str| !line.contains("\"text\":\"word 7 \"");
    let text: Vec<_> = text.lines().filter(lost).collect();
    fs::write(site.path("first.jsonl"), text.join("\n") + "\n").unwrap();
    let output = site.provost(&replay);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("not as first sent"), "{said}");
}

/// Whoever reads the output as JSON sees it as well.
const FLAGS: [&[&str]; 4] = [&[], &["--json"], &["--quiet"], &["--watch", "--json"]];

#[test]
fn a_receiver_that_wants_nothing_is_an_error() {
    for (status, flags) in [("410 Gone", &FLAGS[..]), ("404 Not Found", &FLAGS[..1])] {
        for flags in flags {
            let site = Site::empty();
            let output = reported(&site, answering(status), flags);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(4), "{flags:?}: {said}");
            let (number, _) = status.split_once(' ').unwrap();
            assert!(
                said.contains("error: the callback refused every report"),
                "{flags:?}: {said}"
            );
            assert!(said.contains(&format!("the last with {number}")), "{said}");
        }
    }
}

#[test]
fn a_receiver_that_does_not_know_the_token_is_an_error() {
    for flags in FLAGS {
        let output = reported(&Site::empty(), answering("401 Unauthorized"), flags);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{flags:?}: {said}");
        assert!(
            said.contains("does not know the token"),
            "{flags:?}: {said}"
        );
    }
}

/// That it failed is known from the message, and that nobody was told from the code.
#[test]
fn a_run_that_fails_unheard_exits_as_one_that_is_unheard() {
    let site = Site::empty();
    let config = json!({
        "runId": "run", "taskId": "task", "sandboxId": "box", "promptId": "p", "prompt": "go",
        "callbackUrl": format!("http://{}/hook", answering("410 Gone")), "token": "t", "permissions": "auto",
        "command": ["python3", "-c", "exit(3)"], "journal": site.path("first.jsonl"),
    });
    fs::write(site.path("run.json"), config.to_string()).unwrap();
    let output = site.provost(&["run", "--config", "run.json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("agent_exited"), "{said}");
}

#[test]
fn nobody_is_told_of_a_run_without_a_callback() {
    let (site, receiver) = (Site::empty(), Receiver::start(0));
    reported(&site, receiver.addr, &[]);
    let told = receiver.told(1).len();
    let run = ["run", "--config", "run.json", "--no-callback", "--json"];
    let output = site.provost(&run);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(receiver.told(told).len(), told);
}

#[test]
fn a_prompt_comes_from_the_input_where_there_is_no_other() {
    let site = Site::empty();
    let echo = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message["method"]
    result = {"protocolVersion": 1, "sessionId": "s", "stopReason": "end_turn"}
    if method == "session/prompt":
        text = message["params"]["prompt"][0]["text"]
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": json.dumps(text)}}
        print(json.dumps({"method": "session/update", "params": {"sessionId": "s", "update": update}}), flush=True)
    if "id" in message:
        print(json.dumps({"id": message["id"], "result": result}), flush=True)
"#;
    fs::write(site.path("echo.py"), echo).unwrap();
    let agent = format!("python3 {}", site.path("echo.py").display());
    let journal = site.path("journal").display().to_string();
    let heard = |words: &[&str]| {
        let usual = ["--agent", &agent, "--journal", &journal];
        let unknown = ["--permissions", "deny", "--unknown-agent", "allow"];
        let arguments = [&["run"], words, &usual, &unknown].concat();
        let output = site.provost_reading(&arguments, "some changes");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let heard: Value = serde_json::from_slice(&output.stdout).expect(&said);
        (heard, said.contains("the input is not read"))
    };
    assert_eq!(heard(&[]), (json!("some changes"), false));
    let both = ["review this", "--prompt-file", "-"];
    assert_eq!(heard(&both), (json!("review this\n\nsome changes"), false));
    assert_eq!(heard(&["review this"]), (json!("review this"), true));
}
