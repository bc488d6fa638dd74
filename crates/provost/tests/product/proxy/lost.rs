//! A server that is killed: shown as down, started again, and nobody else's concern.

use std::fs;

use serde_json::json;

use super::desk::{Desk, EVERYBODY, children, kill};

const LONG: &str = "everything.trigger-long-running-operation";

#[test]
fn a_server_that_is_killed_is_down_and_comes_back() {
    let desk = Desk::new();
    let restarts = desk.server("everything")["restarts"].as_u64().unwrap();
    for (round, (sdk, way)) in (1..).zip(EVERYBODY) {
        let who = format!("{sdk:?} {way:?}");
        // The session of the client outlives the server.
        let mut client = desk.client(sdk, way, "legacy");
        client.begin("long", LONG, &json!({"duration": 60, "steps": 600}));
        client.step(&json!({"do": "progress", "as": "long"}));
        let both = children(desk.gateway.pid());
        assert_eq!(both.len(), 2, "{who}");
        kill(everything(&desk));
        let lost = client.wait("long");
        assert_eq!(lost["is_error"], true, "{who}: {lost}");
        let text = lost["text"].as_str().unwrap();
        assert!(text.contains("outcome unknown"), "{who}: {text}");

        let down = desk.until("everything", "down");
        assert!(down["last_error"].is_string(), "{who}: {down}");
        let echo = client.call("everything.echo", &json!({"message": "down"}));
        assert_eq!(echo["is_error"], true, "{who}: {echo}");
        let read = client.call("files.read_text_file", &desk.file("a"));
        assert_eq!(read["text"], "hello", "{who}");

        let up = desk.until("everything", "up");
        assert_eq!(up["restarts"], restarts + round, "{who}: {up}");
        let echo = client.call("everything.echo", &json!({"message": "again"}));
        assert_eq!(echo["text"], "Echo: again", "{who}");
        let left = children(desk.gateway.pid());
        let stayed = both.iter().filter(|pid| left.contains(pid));
        assert_eq!((left.len(), stayed.count()), (2, 1), "{who}");
        client.end();
    }
    assert_eq!(desk.server("files")["restarts"], 0);
    desk.site.verify_chain(Some(&desk.gateway));
}

fn everything(desk: &Desk) -> u32 {
    let children = children(desk.gateway.pid()).into_iter();
    let mut servers = children.filter(|pid| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline"));
        command.is_ok_and(|command| command.contains("server-everything"))
    });
    servers.next().unwrap()
}
