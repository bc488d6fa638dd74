//! All that a server offers, through the gateway as without it.

use serde_json::{Value, json};

use super::desk::{Desk, EVERYBODY, Way};
use crate::{
    mcp_clients::{Client, Place, Sdk},
    peers::{self, EVERYTHING, FILES},
};

const DOCUMENT: &str = "demo://resource/static/document/features.md";

/// Names that are the gateway's own: those of the server, with the server before them.
fn named(mut items: Value, server: &str) -> Vec<Value> {
    let items = items.as_array_mut().unwrap();
    for item in &mut *items {
        let name = format!("{server}.{}", item["name"].as_str().unwrap());
        item["name"] = name.into();
    }
    sorted(items)
}

fn sorted(items: &[Value]) -> Vec<Value> {
    let mut items = items.to_vec();
    items.sort_by_key(ToString::to_string);
    items
}

fn of(items: &Value, server: &str) -> Vec<Value> {
    let items = items.as_array().unwrap().iter();
    let own = items.filter(|item| {
        let name = item["name"].as_str().unwrap();
        name.strip_prefix(server)
            .is_some_and(|rest| rest.starts_with('.'))
    });
    sorted(&own.cloned().collect::<Vec<_>>())
}

#[test]
fn tools_are_described_as_their_servers_describe_them() {
    let desk = Desk::new();
    let folder = desk.folder.to_str().unwrap();
    for sdk in [Sdk::Python, Sdk::Rust] {
        let servers = [
            ("files", FILES, folder),
            ("everything", EVERYTHING, "stdio"),
        ];
        let servers = servers.map(|(server, module, argument)| {
            let mut direct = straight(sdk, module, argument);
            let offered = direct.step(&json!({"do": "tools"}))["tools"].clone();
            direct.end();
            let mut expected = named(offered, server);
            expected.retain(|tool| tool["name"] != "files.create_directory");
            // Tasks are not served here, and this tool can only be called as one.
            expected.retain(|tool| tool["name"] != "everything.simulate-research-query");
            for tool in &mut expected {
                if tool["execution"]["taskSupport"] == "optional" {
                    tool["execution"]["taskSupport"] = "forbidden".into();
                }
            }
            assert!(expected.len() > 10, "{server}");
            (server, expected)
        });
        for way in [Way::Http, Way::Stdio] {
            let mut client = desk.client(sdk, way, "auto");
            let tools = client.step(&json!({"do": "tools"}))["tools"].clone();
            for (server, expected) in &servers {
                assert_eq!(of(&tools, server), *expected, "{sdk:?} {way:?}");
            }
            client.end();
        }
    }
}

#[test]
fn resources_prompts_completion_and_results_are_the_servers() {
    let desk = Desk::new();
    for sdk in [Sdk::Python, Sdk::Rust] {
        let mut direct = straight(sdk, EVERYTHING, "stdio");
        for (way, mode) in [
            (Way::Http, "auto"),
            (Way::Http, "legacy"),
            (Way::Stdio, "auto"),
            (Way::Stdio, "legacy"),
        ] {
            let mut client = desk.client(sdk, way, mode);
            compare(&mut client, &mut direct, &format!("{sdk:?} {way:?} {mode}"));
            client.end();
        }
        direct.end();
    }
}

fn compare(client: &mut Client, direct: &mut Client, who: &str) {
    let prompts = client.step(&json!({"do": "prompts"}))["prompts"].clone();
    let expected = direct.step(&json!({"do": "prompts"}))["prompts"].clone();
    let expected = named(expected, "everything");
    assert_eq!(of(&prompts, "everything"), expected, "{who}");
    for list in ["resources", "templates"] {
        let step = json!({"do": list});
        let (found, expected) = (client.step(&step), direct.step(&step));
        let (found, expected) = (found[list].as_array(), expected[list].as_array());
        assert!(!expected.unwrap().is_empty());
        assert_eq!(sorted(found.unwrap()), sorted(expected.unwrap()), "{who}");
    }
    for step in steps() {
        let expected = direct.step(&step);
        assert_eq!(client.step(&prefixed(&step)), expected, "{who}: {step}");
    }
    for wrong in [
        json!({"do": "read", "uri": "demo://resource/none"}),
        json!({"do": "prompt", "name": "none"}),
        // Refused before it reaches the server, which would answer in its own words.
        json!({"do": "call", "tool": "get-sum", "arguments": {"a": "two"}}),
    ] {
        let failed = client.try_step(&prefixed(&wrong));
        assert!(failed["failed"].is_string(), "{who}: {failed}");
    }
}

/// A client of the server itself.
fn straight(sdk: Sdk, module: &str, argument: &str) -> Client {
    let module = peers::node_module(module);
    Client::start(sdk, "legacy", &Place::command(["node", &module, argument]))
}

/// Whatever is answered alike each time.
fn steps() -> [Value; 11] {
    let department = |value: &str| json!({"name": "department", "value": value});
    [
        json!({"do": "read", "uri": DOCUMENT}),
        json!({"do": "prompt", "name": "simple-prompt"}),
        json!({"do": "prompt", "name": "args-prompt", "arguments": {"city": "Paris"}}),
        json!({"do": "complete", "argument": department("S"),
            "ref": {"type": "ref/prompt", "name": "completable-prompt"}}),
        json!({"do": "complete", "argument": department("x"),
            "ref": {"type": "ref/prompt", "name": "completable-prompt"}}),
        json!({"do": "complete", "argument": {"name": "resourceId", "value": "7"},
            "ref": {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"}}),
        json!({"do": "call", "tool": "echo", "arguments": {"message": "hello"}}),
        json!({"do": "call", "tool": "get-sum", "arguments": {"a": 2, "b": 3}}),
        json!({"do": "call", "tool": "get-structured-content", "arguments": {"location": "Chicago"}}),
        json!({"do": "call", "tool": "get-tiny-image", "arguments": {}}),
        json!({"do": "call", "tool": "trigger-long-running-operation",
            "arguments": {"duration": 0.2, "steps": 2}}),
    ]
}

/// The same step, where the server is one of several.
fn prefixed(step: &Value) -> Value {
    let mut step = step.clone();
    for name in ["/tool", "/name", "/ref/name"] {
        if let Some(name) = step.pointer_mut(name) {
            *name = format!("everything.{}", name.as_str().unwrap()).into();
        }
    }
    step
}

#[test]
fn what_a_server_logs_is_heard() {
    let desk = Desk::listening();
    for (sdk, way) in EVERYBODY {
        let mut client = desk.client(sdk, way, "legacy");
        client.step(&json!({"do": "level", "level": "debug"}));
        // Logs once at once, at a level that it throws dice for.
        client.call("everything.toggle-simulated-logging", &json!({}));
        let logged = client.step(&json!({"do": "logged"}));
        assert_eq!(logged["logger"], "everything", "{sdk:?} {way:?}");
        let data = logged["data"].as_str().unwrap().to_lowercase();
        let level = logged["level"].as_str().unwrap();
        assert!(data.starts_with(level), "{sdk:?} {way:?}: {logged}");
        client.call("everything.toggle-simulated-logging", &json!({}));
        client.end();
    }
    assert!(desk.said().contains(r#""method":"logging/setLevel""#));
}
