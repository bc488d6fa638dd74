//! The seed's own clients: its Python loop, its curl and jq lines, and the shapes of its answers.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{FS_BOT, Gateway, POLICY, Site, eventually},
};

const WRITE: &str = "filesystem.write_file";

#[track_caller]
fn need(program: &str, arguments: &[&str]) {
    let found = Command::new(program).args(arguments).output();
    assert!(
        found.is_ok_and(|output| output.status.success()),
        "`{program} {}` does not work here: run ./test.sh, which installs what the tests need",
        arguments.join(" ")
    );
}

/// Runs the loop until it has acted on so many approvals; what it did, by approval.
fn run_loop(gateway: &Gateway, approvals: usize) -> Vec<Value> {
    let python = std::env::var("PROVOST_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    need(&python, &["-c", "import requests"]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/seed_loop.py");
    let output = Command::new(&python)
        .args([script, &gateway.url(), FS_BOT, &approvals.to_string()])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{wrong}");
    told.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_seeds_python_loop_works() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let write = |id: &str, path: &str| {
        agent.tool_waiting(WRITE, json!({"id": id, "path": path, "content": "x"}))
    };
    let (good, bad, unsure) = (
        write("good", "/home/user/project/main.go"),
        write("bad", "/etc/passwd"),
        write("unsure", "/home/user/other/main.go"),
    );
    gateway.until_waiting(3);
    // Not the file system's: the loop must never see it.
    let other = agent.tool_waiting("gmail.send", json!({"id": "mail", "path": "/"}));
    gateway.until_waiting(4);

    let mut did: Vec<_> = run_loop(&gateway, 3)
        .iter()
        .map(|line| format!("{} {}", line["did"], line["status"]))
        .collect();
    did.sort();
    assert_eq!(did, ["\"approve\" 200", "\"deny\" 200", "\"escalate\" 200"]);

    let good = good.join().unwrap().ok();
    assert_eq!(good.json()["result"]["echo"]["id"], "good");
    assert_eq!(echo.executions("good"), 1);
    let bad = bad.join().unwrap();
    bad.refused(403, "denied");
    assert!(
        bad.text().contains("the system's own file"),
        "{}",
        bad.text()
    );
    assert_eq!(echo.executions("bad"), 0);

    // The third is a person's now, and no longer in the supervisor's queue.
    assert_eq!(gateway.fs_bot().pending(), Vec::<Value>::new());
    assert!(!unsure.is_finished());
    let people = gateway.alice().pending();
    let escalated = people.iter().find(|item| item["tool"] == WRITE).unwrap();
    assert_eq!(escalated["level"], "human");
    assert_eq!(escalated["escalated_by"], "supervisor:fs-bot");
    assert_eq!(escalated["escalation_reasoning"], "outside the project");
    gateway
        .alice()
        .approve(escalated["id"].as_str().unwrap())
        .ok();
    unsure.join().unwrap().ok();
    assert_eq!(echo.executions("unsure"), 1);

    let trace = gateway.trace(&good.trace_id());
    assert_eq!(trace["approved_by"], "supervisor:fs-bot");
    assert_eq!(trace["approver_label"], "agent:supervisor");
    assert_eq!(trace["supervisor_reasoning"], "within the project");
    assert_eq!(trace["supervisor_confidence"], 0.95);
    let mail = gateway.alice().pending();
    assert_eq!(mail.len(), 1);
    gateway.alice().deny(mail[0]["id"].as_str().unwrap()).ok();
    other.join().unwrap().refused(403, "denied");
}

#[test]
fn the_seeds_curl_and_jq_lines_work() {
    need("curl", &["--version"]);
    need("jq", &["--version"]);
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway
        .agent()
        .tool("notes.add", json!({"id": "no supervisor"}))
        .ok();
    let calls = [
        ("good", "/home/user/project/main.go"),
        ("bad", "/etc/passwd"),
    ]
    .map(|(id, path)| {
        gateway
            .agent()
            .tool_waiting(WRITE, json!({"id": id, "path": path}))
    });
    gateway.until_waiting(2);
    run_loop(&gateway, 2);
    let answers = calls.map(|call| call.join().unwrap());
    let ids = answers.map(|answer| answer.trace_id());

    let jq = |filter: &str| -> Value {
        let line = format!(
            "curl -s -H 'Authorization: Bearer {FS_BOT}' {}/traces | jq '{filter}'",
            gateway.url()
        );
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let wrong = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}\n{wrong}"))
    };
    let sorted = |list: &Value| {
        let mut ids: Vec<_> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|trace| trace["trace_id"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    let mut both = ids.to_vec();
    both.sort();
    let resolved = jq("[.[] | select(.supervisor_reasoning != null)]");
    assert_eq!(sorted(&resolved), both);
    let average =
        jq("[.[] | select(.supervisor_confidence > 0) | .supervisor_confidence] | add / length");
    let average = average.as_f64().unwrap();
    assert!((average - 0.895).abs() < 1e-9, "{average}");
    let low = jq("[.[] | select(.supervisor_confidence > 0 and .supervisor_confidence < 0.85)]");
    assert_eq!(sorted(&low), [ids[1].clone()]);
}

/// A name, and whether its value is as it should be.
type Field<'a> = (&'a str, fn(&Value) -> bool);

/// Whether the object has these fields, and each is what it should be.
#[track_caller]
fn has(object: &Value, fields: &[Field]) {
    for (name, right) in fields {
        let field = object.get(*name);
        assert!(
            field.is_some_and(right),
            "`{name}` of {object:#} is not as the seed has it"
        );
    }
}

fn is_hex(value: &Value, digits: usize) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_time(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() >= 20 && &text[10..11] == "T" && text.ends_with('Z'))
}

/// Such as `4m59s`.
fn is_remaining(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.ends_with('s') && text.starts_with(|c: char| c.is_ascii_digit()) && text.len() <= 8
    })
}

const APPROVAL: &[Field] = &[
    ("id", |value| is_hex(value, 16)),
    ("agent_id", |value| value == "claude"),
    ("tool", |value| value == WRITE),
    ("params", |value| {
        value["path"] == "/home/user/project/main.go"
    }),
    ("policy_rule", |value| value == "all:rule-3"),
    ("status", |value| value == "pending"),
    ("created_at", is_time),
    ("remaining", is_remaining),
    ("injection_risk", |value| value == false),
];

#[test]
fn the_response_shapes_are_the_seeds() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let (agent, bot) = (gateway.agent(), gateway.fs_bot());
    let read = agent
        .tool("filesystem.read_file", json!({"path": "/a"}))
        .ok();
    has(
        &read.json(),
        &[
            ("result", Value::is_object),
            ("trace_id", |value| is_hex(value, 32)),
            ("policy", |value| value == "allow"),
            ("latency_ms", Value::is_u64),
        ],
    );
    assert_eq!(read.header("x-trace-id").unwrap(), read.trace_id());
    gateway
        .admin()
        .post(
            "/grants",
            &json!({"agent": "claude", "tools": "filesystem.read_*", "duration": "30m"}),
        )
        .is(201);
    let params = json!({"path": "/home/user/project/main.go", "content": "package main"});
    let waiting = agent.tool_waiting(WRITE, params);
    gateway.until_waiting(1);

    let list = bot.get("/approvals?status=pending&tool=filesystem.*").ok();
    let list = list.json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    has(&list[0], APPROVAL);
    let mail = bot.get("/approvals?status=pending&tool=gmail.*").ok();
    assert_eq!(mail.json(), json!([]));

    let id = list[0]["id"].as_str().unwrap();
    let detail = bot.get(&format!("/approvals/{id}")).ok().json();
    has(&detail, APPROVAL);
    assert_eq!(detail["params"]["content"], "package main");
    has(
        &detail["recent_traces"][0],
        &[
            ("trace_id", |value| is_hex(value, 32)),
            ("tool", |value| value == "filesystem.read_file"),
            ("policy", |value| value == "allow"),
            ("timestamp", is_time),
        ],
    );
    has(
        &detail["active_grants"][0],
        &[
            ("id", |value| is_hex(value, 16)),
            ("agent", |value| value == "claude"),
            ("tools", |value| value == "filesystem.read_*"),
            ("expires_at", is_time),
            ("remaining", is_remaining),
            ("granted_by", |value| {
                value.as_str().is_some_and(|by| by.starts_with("admin:"))
            }),
        ],
    );
    // A unique beginning of an id will do.
    let short = bot.get(&format!("/approvals/{}", &id[..8])).ok();
    assert_eq!(short.json()["id"], id);

    // Every field of the body is optional, and so is the body.
    let approved = bot
        .send("POST", &format!("/approvals/{id}/approve"), b"")
        .ok();
    assert_eq!(approved.json()["id"], id);
    assert_eq!(approved.json()["status"], "approved");
    waiting.join().unwrap().ok();
    bot.approve(id).refused(409, "already_resolved");
    bot.deny(id).refused(409, "already_resolved");
    assert_eq!(bot.deny(id).json()["decision"]["by"], "supervisor:fs-bot");
    bot.approve("0000000000000000").refused(404, "not_found");
    bot.get("/approvals/0000000000000000")
        .refused(404, "not_found");

    let asked = agent.tool_waiting(WRITE, json!({"path": "/other"}));
    let second = eventually("the second approval", || bot.pending().pop());
    let denied = bot.post(
        &format!("/approvals/{}/deny", second["id"].as_str().unwrap()),
        &json!({"resolved_by": "agent:supervisor", "reasoning": "no", "confidence": 1.0}),
    );
    assert_eq!(denied.ok().json()["status"], "denied");
    asked.join().unwrap().refused(403, "denied");
}
