//! Calls by every client: run, denied, asked about, taken back.

use std::fs;

use serde_json::json;

use super::desk::{Desk, EVERYBODY};
use crate::harness::eventually;

const LONG: &str = "everything.trigger-long-running-operation";

#[test]
fn calls_are_run_and_denied() {
    let desk = Desk::new();
    fs::write(desk.folder.join("secret"), "hidden").unwrap();
    for (sdk, way) in EVERYBODY {
        for mode in ["auto", "legacy"] {
            let who = format!("{sdk:?} {way:?} {mode}");
            let mut client = desk.client(sdk, way, mode);
            let listed = client.step(&json!({"do": "list"}));
            let listed = listed["tools"].as_array().unwrap().clone();
            assert!(listed.contains(&json!("files.read_text_file")), "{who}");
            assert!(!listed.contains(&json!("files.create_directory")), "{who}");

            let read = client.call("files.read_text_file", &desk.file("a"));
            assert_eq!(
                (&read["text"], &read["is_error"]),
                (&json!("hello"), &json!(false))
            );
            for (tool, file) in [
                ("files.read_text_file", "secret"),
                ("files.create_directory", "new"),
            ] {
                let denied = client.call(tool, &desk.file(file));
                assert_eq!(denied["is_error"], true, "{who}: {denied}");
                let text = denied["text"].as_str().unwrap();
                assert!(
                    text.contains("Not permitted: policy denies"),
                    "{who}: {text}"
                );
            }
            assert!(!desk.folder.join("new").exists());
            // What the server itself says no to is its own answer.
            let missing = client.call("files.read_text_file", &desk.file("missing"));
            assert_eq!(missing["is_error"], true);
            assert!(
                missing["text"].as_str().unwrap().contains("ENOENT"),
                "{missing}"
            );
            client.end();
        }
    }
    let trace = &desk.gateway.traces()[0];
    assert_eq!(
        (&trace["door"], &trace["agent_id"]),
        (&json!("mcp"), &json!("keyed"))
    );
    desk.site.verify_chain(Some(&desk.gateway));
}

#[test]
fn a_call_waits_for_a_person_and_tells_that_it_does() {
    let desk = Desk::new();
    for (sdk, way) in EVERYBODY {
        for mode in ["auto", "legacy"] {
            let name = format!("{sdk:?}-{way:?}-{mode}");
            let mut client = desk.client(sdk, way, mode);
            let write = json!({"path": desk.folder.join(&name), "content": "asked"});
            client.begin("write", "files.write_file", &write);
            let pending = desk.gateway.one_pending();
            assert_eq!(pending["tool"], "files.write_file");
            let heard = client.step(&json!({"do": "progress", "as": "write"}));
            let sign = heard["progress"][0][1].as_str().unwrap();
            assert!(
                sign.contains(pending["id"].as_str().unwrap()),
                "{name}: {sign}"
            );
            let read = client.call("files.read_text_file", &desk.file("a"));
            assert_eq!(read["text"], "hello", "{name}: others go on meanwhile");
            assert!(!desk.folder.join(&name).exists());
            desk.approve(&pending);
            let written = client.wait("write");
            assert_eq!(written["is_error"], false, "{name}: {written}");
            assert_eq!(
                fs::read_to_string(desk.folder.join(&name)).unwrap(),
                "asked"
            );

            let write = json!({"path": desk.folder.join(&name), "content": "denied"});
            client.begin("write", "files.write_file", &write);
            let pending = desk.gateway.one_pending();
            let id = pending["id"].as_str().unwrap();
            desk.gateway.alice().deny(id).ok();
            let denied = client.wait("write");
            assert_eq!(denied["is_error"], true, "{name}: {denied}");
            assert_eq!(
                fs::read_to_string(desk.folder.join(&name)).unwrap(),
                "asked"
            );
            client.end();
        }
    }
}

#[test]
fn a_call_that_is_cancelled_waits_no_longer_and_is_taken_back_at_the_server() {
    let desk = Desk::listening();
    for (sdk, way) in EVERYBODY {
        for mode in ["auto", "legacy"] {
            let name = format!("{sdk:?}-{way:?}-{mode}");
            let mut client = desk.client(sdk, way, mode);
            let write = json!({"path": desk.folder.join(&name), "content": "in vain"});
            client.begin("write", "files.write_file", &write);
            let pending = desk.gateway.one_pending();
            desk.gateway.until_waiting(1);
            client.cancel("write");
            // The caller is gone, so that an approval releases nothing.
            desk.gateway.until_waiting(0);
            desk.approve(&pending);
            assert_eq!(
                client.call("files.read_text_file", &desk.file("a"))["text"],
                "hello"
            );
            assert!(!desk.folder.join(&name).exists(), "{name}");

            let told = cancellations(&desk);
            client.begin("long", LONG, &json!({"duration": 60, "steps": 600}));
            client.step(&json!({"do": "progress", "as": "long"}));
            client.cancel("long");
            eventually(&format!("{name}: the server's being told"), || {
                (cancellations(&desk) == told + 1).then_some(())
            });
            let echo = client.call("everything.echo", &json!({"message": name}));
            assert_eq!(echo["text"], format!("Echo: {name}"));
            client.end();
        }
    }
}

/// How many calls the server was told to give up.
fn cancellations(desk: &Desk) -> usize {
    let said = desk.said();
    said.matches(r#""method":"notifications/cancelled""#)
        .count()
}
