//! Every version of the protocol that a client may speak.

use serde_json::json;

use super::desk::{Desk, EVERYBODY};
use crate::mcp_clients::Sdk;

const STATELESS: &str = "2026-07-28";
const NEWEST_WITH_INITIALIZE: &str = "2025-11-25";

#[test]
fn clients_agree_on_the_version_that_they_want() {
    let desk = Desk::new();
    for (sdk, way) in EVERYBODY {
        let mut modes = vec![
            ("auto", STATELESS),
            ("legacy", NEWEST_WITH_INITIALIZE),
            (STATELESS, STATELESS),
        ];
        if sdk == Sdk::Rust {
            modes.extend(["2024-11-05", "2025-03-26", "2025-06-18"].map(|old| (old, old)));
        }
        for (mode, version) in modes {
            let who = format!("{sdk:?} {way:?} {mode}");
            let mut client = desk.client(sdk, way, mode);
            let hello = client.step(&json!({"do": "hello"}));
            assert_eq!(hello["version"], version, "{who}");
            let listed = client.step(&json!({"do": "list"}));
            let listed = listed["tools"].as_array().unwrap().clone();
            assert!(listed.contains(&json!("files.read_text_file")), "{who}");
            let read = client.call("files.read_text_file", &desk.file("a"));
            assert_eq!(read["text"], "hello", "{who}");
            let denied = client.call("files.create_directory", &desk.file("new"));
            assert_eq!(denied["is_error"], true, "{who}");
            client.end();
        }
    }
}
