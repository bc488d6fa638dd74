use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::report::{End, Failure, State, permissions::Permissions};

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

fn notice(update: Value) -> Box<RawValue> {
    raw(&json!({"sessionId": "s", "update": update}))
}

fn said(kind: &str, id: Option<&str>, said: &str) -> Box<RawValue> {
    let content = json!({"type": "text", "text": said});
    notice(json!({"sessionUpdate": kind, "messageId": id, "content": content}))
}

fn written_out(fold: &Fold) -> String {
    let permissions = Permissions::default();
    let snapshot = fold.snapshot(State::Running, 3, 0, &permissions, None);
    serde_json::to_string(&snapshot).unwrap()
}

fn folded(all: &[Box<RawValue>]) -> Value {
    let mut fold = Fold::default();
    for one in all {
        fold.take(one);
    }
    serde_json::from_str(&written_out(&fold)).unwrap()
}

#[test]
fn chunks_join_by_id_or_by_standing_together() {
    let agent = "agent_message_chunk";
    let snapshot = folded(&[
        said("user_message_chunk", None, "do"),
        said("user_message_chunk", None, " it"),
        said(agent, Some("m1"), "one "),
        said("agent_thought_chunk", None, "hm"),
        said(agent, Some("m2"), "two"),
        said(agent, Some("m1"), "and a half"),
        notice(json!({"sessionUpdate": "usage_update", "used": 3, "size": 9})),
        said(agent, None, "!"),
        notice(json!({"sessionUpdate": "tool_call", "toolCallId": "t"})),
        said(agent, None, "after"),
        notice(json!({"sessionUpdate": agent, "content": {"type": "image", "data": "AAAA"}})),
    ]);
    let messages = json!([
        {"role": "user", "text": "do it"},
        {"role": "agent", "messageId": "m1", "text": "one and a half!"},
        {"role": "thought", "text": "hm"},
        {"role": "agent", "messageId": "m2", "text": "two"},
        {"role": "agent", "text": "after", "other": {"image": 1}},
    ]);
    assert_eq!(snapshot["messages"], messages);
    assert_eq!(snapshot["notificationCount"], 11);
    assert_eq!(snapshot["truncated"], false);
}

#[test]
fn tool_calls_merge_and_the_last_word_counts() {
    let text = json!({"type": "content", "content": {"type": "text", "text": "ok"}});
    let image = json!({"type": "content", "content": {"type": "image", "data": "AAAA"}});
    let diff = json!({"type": "diff", "path": "/a", "oldText": "x", "newText": "y"});
    let content = json!([text, image, diff, {"type": "terminal", "terminalId": "1"}, 5]);
    let snapshot = folded(&[
        notice(
            json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run", "status": "pending", "rawInput": {"a": 1}}),
        ),
        notice(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "title": null, "content": content}),
        ),
        notice(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "late", "status": "in_progress"}),
        ),
        notice(json!({"sessionUpdate": "plan", "entries": [1]})),
        notice(json!({"sessionUpdate": "plan", "entries": [2]})),
        notice(json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"})),
        notice(json!({"sessionUpdate": "config_option_update", "configOptions": []})),
        notice(json!({"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "now"})),
        notice(json!({"sessionUpdate": "session_info_update", "updatedAt": "later"})),
        notice(
            json!({"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": {"amount": 0.1}}),
        ),
        notice(
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x"}]}),
        ),
    ]);
    let shown = json!([{"type": "text", "text": "ok"}, {"type": "image"}, {"type": "diff", "path": "/a"}, {"type": "terminal"}]);
    let expected = json!({
        "schemaVersion": 1, "state": "running", "notificationCount": 11, "throughSequence": 3, "messages": [],
        "toolCalls": [
            {"toolCallId": "t", "title": "Run", "status": "completed", "rawInput": {"a": 1}, "content": shown},
            {"toolCallId": "late", "status": "in_progress"},
        ],
        "plan": [2], "mode": "ask", "configOptions": [], "title": "T", "cost": {"amount": 0.1},
        "commands": [{"name": "x"}], "usage": {"used": 5, "size": 9},
        "pendingPermissions": [], "settledPermissions": [], "droppedReports": 0, "truncated": false,
    });
    assert_eq!(snapshot, expected);
}

#[test]
fn what_is_not_understood_is_counted() {
    let odd = [
        json!(null),
        json!([]),
        json!({}),
        json!({"update": 3}),
        json!({"update": {"sessionUpdate": 4}}),
        json!({"update": {"sessionUpdate": "new_in_2027", "content": {}}}),
        json!({"update": {"sessionUpdate": "agent_message_chunk"}}),
        json!({"update": {"sessionUpdate": "agent_message_chunk", "content": "plain"}}),
        json!({"update": {"sessionUpdate": "tool_call", "toolCallId": 7}}),
        json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "content": {"a": 1}}}),
    ];
    let snapshot = folded(&odd.map(|one| raw(&one)));
    assert_eq!(snapshot["notificationCount"], 10);
    assert_eq!(snapshot["messages"], json!([]));
    assert_eq!(snapshot["toolCalls"], json!([{"toolCallId": "t"}]));
}

#[test]
fn a_field_written_twice_counts_as_its_last() {
    let twice = r#"{"update":{"sessionUpdate":"plan","sessionUpdate":"session_info_update","title":"a","title":"b"}}"#;
    let snapshot = folded(&[RawValue::from_string(twice.to_owned()).unwrap()]);
    assert_eq!(snapshot["title"], "b");
}

#[test]
fn the_oldest_goes_first_and_it_is_said() {
    let mut fold = Fold::default();
    for number in 0..3_000 {
        let id = number.to_string();
        let output = "o".repeat(300);
        fold.take(&said("agent_message_chunk", Some(&id), &"word ".repeat(20)));
        fold.take(&notice(json!({"sessionUpdate": "tool_call", "toolCallId": id, "status": "completed", "rawOutput": output})));
    }
    let text = written_out(&fold);
    assert!(text.len() <= CAP && text.len() > CAP / 2, "{}", text.len());
    let snapshot: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(snapshot["truncated"], true);
    let messages = snapshot["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["messageId"], "2999");
    assert!(messages.len() > 50);
    let tools = snapshot["toolCalls"].as_array().unwrap();
    assert!(tools.last().unwrap()["rawOutput"].is_string());
    assert!(tools[0].get("rawOutput").is_none());
}

#[test]
fn a_message_that_never_ends_keeps_its_end() {
    let mut fold = Fold::default();
    for _ in 0..2_000 {
        fold.take(&said("agent_message_chunk", None, &"\u{1}é\"".repeat(30)));
    }
    fold.take(&said("agent_message_chunk", None, "the end"));
    let text = written_out(&fold);
    assert!(text.len() <= CAP);
    assert!(text.contains("the end") && text.contains(r#""truncated":true"#));
}

#[test]
fn the_worst_of_everything_fits() {
    let bad = "\u{1}".repeat(10_000);
    let mut permissions = Permissions::default();
    for number in 0..40 {
        let call = json!({"toolCall": {"toolCallId": bad, "title": bad}});
        permissions.ask(&number.to_string(), &raw(&call));
        permissions.settle(&format!("settled {number}"), &bad);
    }
    let mut fold = Fold::default();
    for number in 100..150 {
        let value = json!(vec![number; 4_000]);
        for (kind, field) in [
            ("plan", "entries"),
            ("config_option_update", "configOptions"),
            ("available_commands_update", "availableCommands"),
        ] {
            fold.take(&notice(json!({"sessionUpdate": kind, field: value})));
        }
        fold.take(&said(
            "agent_message_chunk",
            Some(&number.to_string()),
            &bad,
        ));
    }
    let end = End::Failed(Failure {
        message: bad,
        ..Failure::default()
    });
    let snapshot = fold.snapshot(State::Failed, 3, 0, &permissions, Some(&end));
    let text = serde_json::to_string(&snapshot).unwrap();
    assert!(text.len() <= CAP, "{}", text.len());
    let snapshot: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(snapshot["pendingPermissions"].as_array().unwrap().len(), 16);
    assert_eq!(snapshot["plan"].as_array().unwrap().len(), 4_000);
}

fn update() -> impl Strategy<Value = Value> {
    let id = prop_oneof![Just(String::new()), "[a-c]", "\\PC{0,300}"];
    let words = prop_oneof![
        "[ab\u{1}\"é]{0,40}",
        Just("\u{2}".repeat(9_000)),
        Just("é".repeat(40_000))
    ];
    let kind = prop::sample::select(vec![
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "config_option_update",
        "available_commands_update",
        "session_info_update",
        "usage_update",
        "?",
    ]);
    let content = (words.clone(), any::<bool>()).prop_map(|(said, list)| {
        let text = json!({"type": "text", "text": said});
        if list {
            json!(vec![json!({"type": "content", "content": text}); 9])
        } else {
            text
        }
    });
    let status = prop::sample::select(vec![
        json!("completed"),
        json!("pending"),
        json!(null),
        json!(3),
    ]);
    (kind, id, words, content, status).prop_map(|(kind, id, words, content, status)| {
        json!({"update": {
            "sessionUpdate": kind, "messageId": id, "toolCallId": id, "title": words, "content": content,
            "status": status, "rawInput": words, "entries": [words], "configOptions": [words],
            "availableCommands": [words], "used": 3,
        }})
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_comes_the_snapshot_is_json_and_bounded(updates in prop::collection::vec(update(), 0..60)) {
        let mut fold = Fold::default();
        for update in &updates {
            fold.take(&raw(update));
        }
        let text = written_out(&fold);
        prop_assert!(text.len() <= CAP, "{}", text.len());
        let snapshot: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&snapshot["notificationCount"], updates.len());
    }
}
