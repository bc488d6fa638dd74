//! An act that nobody decided: people are told of it, wherever they are.

use std::{fs, process::Output};

use serde_json::{Value, json};

use crate::{
    bot::Bot,
    echo::Echo,
    harness::{Site, eventually},
    people,
    receiver::Receiver,
};

/// Says that it ran a command, and had asked nobody.
const AGENT: &str = r#"
import json, sys
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send(id=message["id"], result={"protocolVersion": 1})
    elif method == "session/new":
        send(id=message["id"], result={"sessionId": "s"})
    elif method == "session/prompt":
        call = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "rm -rf build", "kind": "execute",
            "status": "completed", "rawInput": {"command": "rm -rf build"}}
        send(method="session/update", params={"sessionId": "s", "update": call})
        send(id=message["id"], result={"stopReason": "end_turn"})
"#;

fn run(site: &Site, more: &Value, arguments: &[&str]) -> Output {
    fs::write(site.path("agent.py"), AGENT).unwrap();
    let mut config = json!({
        "runId": "run", "taskId": "task", "sandboxId": "box", "promptId": "prompt", "prompt": "go",
        "command": ["python3", site.path("agent.py")], "unknownAgent": "allow",
    });
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    fs::write(site.path("run.json"), config.to_string()).unwrap();
    let run = ["run", "--config", "run.json", "--no-callback"];
    site.provost(&[&run[..], arguments].concat())
}

#[test]
fn people_are_told_on_their_channels() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let receiver = Receiver::start(0);
    let addr = receiver.addr;
    let hooks = format!(
        "  webhooks:\n    - {{url: 'http://{addr}/hook'}}\n    - {{url: 'http://{addr}/slack', kind: slack}}\npeople:\n  - {{name: carol, channels: {{telegram: 42}}}}\n"
    );
    let site = people::site(&bot, &echo, &hooks);
    let gateway = site.start();
    let asking = json!({"url": gateway.url(), "key": people::AGENT});
    let output = run(&site, &json!({ "gateway": asking }), &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("NOBODY DECIDED THIS: rm -rf build"), "{said}");
    assert!(said.contains("failed (unsupervised)"), "{said}");

    let told = receiver.told(2);
    let body = |path: &str| {
        let told = told.iter().find(|told| told.path == path).unwrap();
        serde_json::from_str::<Value>(&told.body).unwrap()
    };
    let hook = body("/hook");
    assert_eq!(hook["type"], "act.unsupervised");
    assert_eq!(hook["data"]["tool"], "acp.execute");
    assert_eq!(hook["data"]["exact"]["parts"][0]["text"], "rm -rf build");
    let slack = body("/slack");
    let text = slack["text"].as_str().unwrap();
    assert!(text.contains("used acp.execute and asked nobody"), "{text}");

    let message = &bot.messages(1)[0];
    let text = message["text"].as_str().unwrap();
    assert!(
        text.starts_with("<b>🚨 An agent did something that nobody decided</b>"),
        "{text}"
    );
    assert!(text.contains("rm -rf build"), "{text}");
    assert!(text.contains("its run was ended"), "{text}");
    assert!(message.get("reply_markup").is_none(), "{message}");

    let traces = gateway.traces();
    assert_eq!(traces[0]["verdict"], "unsupervised", "{traces:?}");
    assert!(gateway.alice().pending().is_empty());
    site.verify_chain(Some(&gateway));
    // Once is enough: nothing follows what was told.
    eventually("the deliveries being done with", || {
        let id = hook["data"]["id"].as_str().unwrap();
        let shown = gateway.alice().get(&format!("/approvals/{id}")).ok().json();
        (shown["kind"] == "notice").then_some(())
    });
    assert_eq!(receiver.told(2).len(), 2);
}

#[test]
fn without_a_gateway_the_terminal_says_it() {
    for (arguments, part) in [
        (&["--permissions", "deny"][..], "NOBODY DECIDED THIS"),
        (
            &["--permissions", "deny", "--quiet"],
            "nobody decided (execute): rm -rf build",
        ),
    ] {
        for (how, code) in [("end", 1), ("flag", 0)] {
            let site = Site::empty();
            let output = run(&site, &json!({ "unsupervised": how }), arguments);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "{said}");
            assert!(said.contains(part), "{arguments:?} {how}: {said}");
        }
    }
}
