//! A card is of bounded height, whatever an agent writes into it.

use serde_json::{Value, json};

use super::{ASK, pages, sign_in};
use crate::{
    chromium::Browser,
    echo::Echo,
    harness::{AGENT, ALICE, Site},
};

/// Pixels, on a phone.
const HIGHEST: u64 = 1700;

const MAIL: &str = "channels:
  email: {smtp: 'smtp://127.0.0.1:9', from: 'Provost <gate@example.org>'}
";

fn request(title: &str, preview: &str) -> Value {
    json!({
        "session_id": "s1", "action_type": "exec_cmd", "title": title, "preview": preview,
        "channel": "email", "target": {"email_to": "you@example.org"}, "expires_in_sec": 600,
    })
}

fn calls() -> Vec<(&'static str, Value)> {
    let hidden = "\u{2028}".repeat(3000);
    let letters = "x".repeat(2000);
    let diff = format!("{letters}\n").repeat(16);
    let hidden_lines = vec!["\u{2028}".repeat(40); 300];
    let risky = "rm -rf x; curl y | sudo sh; ".repeat(200);
    vec![
        ("hidden", json!({ "q": hidden })),
        ("control", json!({"q": "\u{1}".repeat(3000)})),
        ("newlines", json!({"q": "\n".repeat(3000)})),
        ("words", json!({"q": "a ".repeat(5000)})),
        (
            "long words",
            json!({"q": format!("{} ", "w".repeat(19)).repeat(500)}),
        ),
        ("tabs", json!({"q": "\t".repeat(3000)})),
        ("wide", json!({"q": "日".repeat(3000)})),
        ("lines that hide", json!({ "q": hidden_lines })),
        (
            "diff",
            json!({"path": "/srv/a", "old_string": "", "new_string": diff}),
        ),
        (
            "diff that hides",
            json!({"path": "/srv/a", "content": hidden_lines.join("\n")}),
        ),
        (
            "path",
            json!({"path": format!("/srv/{}", "p".repeat(4096)), "content": "x"}),
        ),
        (
            "one step",
            json!({"command": format!("echo {letters}{letters}")}),
        ),
        ("risky steps", json!({ "command": risky })),
        (
            "a long risky step",
            json!({"command": format!("rm -rf {letters} {hidden}")}),
        ),
        ("claim", json!({"command": "ls", "description": hidden})),
        (
            "others",
            json!({"command": "ls", "env": {"a": hidden, "b": letters}}),
        ),
        ("name", json!({"n".repeat(3000): 1})),
    ]
}

#[test]
fn p14_a_card_is_of_bounded_height_whatever_is_in_it() {
    let echo = Echo::start();
    let site = Site::new(&echo, &format!("{ASK}{MAIL}"));
    let gateway = site.start();
    let mut browser = Browser::start();
    browser.look(390, 844, "light");
    sign_in(&mut browser, &gateway, ALICE);
    let mut ids = Vec::new();
    for (name, arguments) in calls() {
        let tool = if arguments.get("command").is_some() {
            "held.call"
        } else {
            "gmail.send"
        };
        ids.push((
            name,
            gateway.agent().tool_async(tool, arguments).approval_id(),
        ));
    }
    let agent = gateway.client().key(AGENT);
    for (name, text) in [
        ("a preview of newlines", "\n".repeat(3000)),
        ("a preview that hides", "\u{2028}".repeat(3000)),
        ("a preview of letters", "W".repeat(3000)),
        ("a preview of words", "a ".repeat(1500)),
    ] {
        let title: String = text.trim().chars().take(200).collect();
        let made = agent.post("/v1/approvals", &request(&format!("x{title}"), &text));
        let id = made.ok().json()["approval_id"].as_str().unwrap().to_owned();
        ids.push((name, id));
    }
    browser.go(&format!("{}/", gateway.url()));
    let mut too_high = Vec::new();
    for (name, id) in &ids {
        let height =
            format!("Math.round(document.querySelector('#a-{id}').getBoundingClientRect().height)");
        let height = browser.eval(&height).as_u64().unwrap();
        if height > HIGHEST {
            too_high.push((*name, height));
        }
    }
    browser.screenshot(&pages::pictures().join("heights-phone-light.png"));
    assert_eq!(too_high, []);
    // All of it is behind a fold, or a link.
    for (name, id) in &ids {
        let more = format!("document.querySelector('#a-{id} .fold, #a-{id} .rest a') !== null");
        assert_eq!(browser.eval(&more), true, "{name}");
    }
    browser.look(1280, 900, "light");
    browser.screenshot(&pages::pictures().join("heights-desk-light.png"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
