//! What the screen shows, by what happened.

use std::time::Duration;

use provost_runner::journal::Line;
use serde_json::{Value, json};

use super::{
    screen::{Screen, Show},
    style::Style,
};

const PLAIN: Style = Style {
    colored: false,
    width: Some(72),
};

/// Entries a second apart, and the progress after them.
fn shown(style: Style, entries: &[Value]) -> String {
    let mut screen = Screen::new(style, Show::Replay);
    let mut lines = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let mut entry = entry.clone();
        entry["at"] = json!(1_000 * place);
        lines.extend(screen.line(&Line::parse(1, entry.to_string()).unwrap()));
    }
    lines.extend(screen.end());
    lines.extend(screen.bottom(Duration::ZERO));
    lines.join("\n")
}

fn update(kind: &str, mut fields: Value) -> Value {
    fields["sessionUpdate"] = kind.into();
    json!({"in": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": fields}}})
}

fn says(kind: &str, text: &str) -> Value {
    update(kind, json!({"content": {"type": "text", "text": text}}))
}

fn tool(kind: &str, fields: Value) -> Value {
    let mut fields = fields;
    fields["toolCallId"] = "t1".into();
    update(kind, fields)
}

#[test]
fn every_kind_of_update() {
    let entries = [
        says("user_message_chunk", "make the tests pass"),
        says("agent_thought_chunk", "The tests fail because the "),
        says("agent_thought_chunk", "clock is not a parameter."),
        says(
            "agent_message_chunk",
            "I will look at the tests.\n\nThen I ",
        ),
        says(
            "agent_message_chunk",
            "will change the clock, which is a longer sentence that has to be wrapped somewhere.",
        ),
        update(
            "plan",
            json!({"entries": [
            {"content": "look", "status": "in_progress", "priority": "high"},
            {"content": "change", "status": "pending", "priority": "low"}]}),
        ),
        tool(
            "tool_call",
            json!({"kind": "execute", "title": "Terminal", "status": "pending", "rawInput": {}, "content": []}),
        ),
        tool(
            "tool_call_update",
            json!({"title": "cargo test", "rawInput": {"command": "cargo test"}}),
        ),
        tool(
            "tool_call_update",
            json!({"status": "completed", "content": [{"type": "content", "content":
            {"type": "text", "text": "```console\nrunning 2 tests\n\tok\n1\n2\n3\n4\n5\n6\n7\n```"}}]}),
        ),
        update(
            "tool_call",
            json!({"toolCallId": "t2", "kind": "edit", "title": "Edit src/clock.rs", "status": "in_progress",
            "locations": [{"path": "/repo/src/clock.rs", "line": 7}],
            "content": [{"type": "diff", "path": "/repo/src/clock.rs", "oldText": "a\nb\nc\nd\n", "newText": "a\nB\nc\nd\ne\n"}]}),
        ),
        update(
            "tool_call_update",
            json!({"toolCallId": "t2", "status": "failed",
            "content": [{"type": "content", "content": {"type": "text", "text": "no such file"}}]}),
        ),
        update(
            "plan",
            json!({"entries": [{"content": "look", "status": "completed"}, {"content": "change", "status": "pending"}]}),
        ),
        update(
            "plan",
            json!({"entries": [{"content": "look", "status": "completed"}, {"content": "change", "status": "pending"}]}),
        ),
        update(
            "available_commands_update",
            json!({"availableCommands": [{"name": "init"}, {"name": "review"}]}),
        ),
        update("current_mode_update", json!({"currentModeId": "plan"})),
        update(
            "config_option_update",
            json!({"configOptions": [{"id": "model", "name": "Model", "currentValue": "opus"}]}),
        ),
        update(
            "session_info_update",
            json!({"title": "Tests", "updatedAt": "2026-11-16T08:15:10.278Z"}),
        ),
        update(
            "usage_update",
            json!({"used": 12_345, "size": 200_000, "cost": {"amount": 0.25, "currency": "USD"}}),
        ),
        update(
            "notice",
            json!({"severity": "warning", "message": "nearly full"}),
        ),
        update("compaction_update", json!({"status": "in_progress"})),
        says("compaction_summary_chunk", "The clock was changed."),
        update(
            "agent_message_chunk",
            json!({"content": {"type": "image", "mimeType": "image/png", "data": "AAAA"}}),
        ),
    ];
    insta::assert_snapshot!(shown(PLAIN, &entries));
}

#[test]
fn a_run_from_its_start_to_its_end() {
    let entries = [
        json!({"event": {"started": {"runId": "r1", "repoDir": "/repo"}}}),
        json!({"event": {"agent": {"name": "claude", "title": "Claude Agent", "version": "1.0"}}}),
        json!({"event": {"session": "s1"}}),
        json!({"out": {"id": 3, "method": "session/load", "params": {}}}),
        says("agent_message_chunk", "said before"),
        json!({"in": {"id": 3, "result": {}}}),
        json!({"out": {"id": 4, "method": "session/prompt", "params": {"prompt": [{"type": "text", "text": "go on\nplease"}]}}}),
        json!({"in": {"method": "_auth/status_update", "params": {"kind": "api_key"}}}),
        json!({"in": {"id": 0, "method": "fs/read_text_file", "params": {"path": "/repo/a"}}}),
        json!({"in": {"id": "p", "method": "session/request_permission", "params": {"toolCall": {"title": "rm -r x", "kind": "execute"}}}}),
        json!({"decision": {"title": "rm -r x", "outcome": "rejected", "by": "gateway", "reason": "a rule"}}),
        json!({"out": {"id": "p", "result": {}}}),
        json!({"sent": {"sequence": 2, "how": "delivered"}}),
        json!({"sent": {"sequence": 3, "how": "refused with 413"}}),
        json!({"err": "it broke"}),
        json!({"in": {"id": 4, "error": {"code": -32000, "message": "no more"}}}),
        json!({"event": {"ended": {"state": "failed", "reason": "agent_error", "message": "the agent refused"}}}),
    ];
    insta::assert_snapshot!(shown(PLAIN, &entries));
}

#[test]
fn colours_are_where_they_help() {
    let style = Style {
        colored: true,
        width: Some(72),
    };
    let entries = [
        says("agent_thought_chunk", "hm"),
        update(
            "tool_call",
            json!({"toolCallId": "1", "kind": "edit", "title": "edit", "status": "completed",
            "content": [{"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}]}),
        ),
    ];
    insta::assert_debug_snapshot!(shown(style, &entries));
}

#[test]
fn an_agent_that_is_odd_or_hostile() {
    let evil = "\u{1b}[2J\u{202e}txt\u{9b}31m\r\u{7}\u{200b}";
    let entries = [
        says("agent_message_chunk", evil),
        says(evil, evil),
        update(
            "tool_call",
            json!({"toolCallId": evil, "kind": evil, "title": evil, "status": evil,
            "locations": [{"path": evil, "line": -1}, 7, null],
            "content": [{"type": "diff", "path": evil, "oldText": evil, "newText": "x\t\u{1b}c"}, 7, {"type": evil}]}),
        ),
        update(
            "plan",
            json!({"entries": [{"content": evil, "status": evil}, 7]}),
        ),
        update("plan", json!({"entries": "none"})),
        update("current_mode_update", json!({"currentModeId": evil})),
        update("session_info_update", json!({"title": evil})),
        update(
            "config_option_update",
            json!({"configOptions": [{"name": evil, "currentValue": evil}]}),
        ),
        update(
            "available_commands_update",
            json!({"availableCommands": [{"name": evil}]}),
        ),
        update(
            "usage_update",
            json!({"used": 1, "cost": {"amount": 1, "currency": evil}}),
        ),
        update("notice", json!({"severity": evil, "message": evil})),
        update(
            "agent_message_chunk",
            json!({"content": {"type": "resource_link", "name": evil, "uri": evil}}),
        ),
        update("agent_message_chunk", json!({"content": {"type": evil}})),
        update("agent_message_chunk", json!({"content": 7})),
        json!({"in": {"method": "session/update", "params": 7}}),
        json!({"in": {"method": evil, "params": evil}}),
        json!({"in": {"id": evil, "method": evil, "params": {"path": evil}}}),
        json!({"in": {"id": 1, "method": "session/request_permission", "params": {"toolCall": {"title": evil, "kind": evil}}}}),
        json!({"decision": {"title": evil, "outcome": evil, "by": evil, "reason": evil}}),
        json!({"out": {"id": 9, "method": "session/prompt", "params": {"prompt": [{"type": "text", "text": evil}]}}}),
        json!({"in": {"id": 9, "result": {"stopReason": evil}}}),
        json!({"err": evil}),
        json!({"sent": {"sequence": 1, "how": evil}}),
        json!({"event": {"agent": {"title": evil}}}),
        json!({"event": {"session": evil}}),
        json!({"event": {"started": {"runId": evil, "repoDir": evil}}}),
        json!({"event": {"ended": {"state": evil, "reason": evil, "message": evil}}}),
    ];
    let shown = shown(PLAIN, &entries);
    let hides = |c: char| c != '\n' && provost_core::review::hides(c);
    assert!(!shown.contains(hides), "{shown:?}");
    insta::assert_snapshot!(shown);
}

#[test]
fn nothing_floods_the_screen() {
    let (huge, large) = ("x".repeat(10_000_000), "x".repeat(1_000_000));
    let lines = "y\n".repeat(500_000);
    let many: Vec<_> = (0..20_000)
        .map(|n| json!({"path": format!("/f{n}"), "content": "s"}))
        .collect();
    for entry in [
        says("agent_message_chunk", &huge),
        says("agent_message_chunk", &lines),
        says("agent_message_chunk", &"\u{1b}".repeat(1_000_000)),
        says(&large, &large),
        update("plan", json!({ "entries": many })),
        update("notice", json!({ "message": large })),
        update(
            "tool_call",
            json!({"toolCallId": large, "kind": large, "title": large, "status": "failed", "locations": many,
            "content": [{"type": "content", "content": {"type": "text", "text": lines}}]}),
        ),
        update(
            "tool_call",
            json!({"toolCallId": "1", "status": "in_progress",
            "content": [{"type": "diff", "path": large, "oldText": lines, "newText": large}]}),
        ),
        update(
            "tool_call",
            json!({"toolCallId": "1", "status": "in_progress", "content": vec![
            json!({"type": "diff", "path": "a", "newText": "z\n".repeat(2_000)}); 1_000]}),
        ),
        update(
            "available_commands_update",
            json!({ "availableCommands": many }),
        ),
        update("config_option_update", json!({ "configOptions": many })),
        json!({"in": {"method": "x", "params": large}}),
        json!({"err": large}),
    ] {
        for width in [None, Some(72), Some(1)] {
            let style = Style {
                colored: true,
                width,
            };
            let shown = shown(style, std::slice::from_ref(&entry));
            let (bytes, rows) = (shown.len(), shown.lines().count());
            let start: String = entry.to_string().chars().take(90).collect();
            assert!(
                bytes < 300_000 && rows < 500,
                "{bytes} bytes, {rows} rows: {start}"
            );
        }
    }
}
