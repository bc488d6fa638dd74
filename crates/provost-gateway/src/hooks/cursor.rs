//! Cursor, whose events name the kind of act instead of a tool.

use serde_json::{Map, Value, json};

use super::{
    Act, Heard, Reply, What,
    field::{act, ask, event, one, size, text},
    instead,
};

const PROMPT: &str = "beforeSubmitPrompt";
const ASKING: [&str; 4] = [
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "preToolUse",
];
/// Of those, where Cursor does ask the person. To the others it takes `ask` for a yes.
const CAN_ASK: [&str; 2] = ["beforeShellExecution", "beforeMCPExecution"];
/// Of those, where Cursor takes other arguments than its own. The others have no `updated_input`: with a yes, what
/// was asked would run.
const CAN_CHANGE: [&str; 1] = ["preToolUse"];

pub(super) fn hear(said: &Map<String, Value>) -> Result<Heard, String> {
    let event = event(said)?;
    let tool = ("tool_name", "tool_input");
    let what = match &*event {
        "beforeShellExecution" => ask(shell(said)),
        "beforeMCPExecution" => ask(act("cursor.mcp_", said, tool).map(mcp_name)),
        "beforeReadFile" => ask(read(said)),
        "preToolUse" => ask(act("cursor", said, tool)),
        "afterFileEdit" => What::Note(json!({
            "file_path": text(said, "file_path"),
            "edits": said.get("edits").and_then(Value::as_array).map_or(0, Vec::len),
        })),
        "afterShellExecution" => What::Note(json!({ "output_bytes": size(said.get("output")) })),
        PROMPT => What::Note(json!({ "prompt_bytes": size(said.get("prompt")) })),
        "sessionStart" | "sessionEnd" | "stop" => What::Note(json!({
            "status": text(said, "status").or(text(said, "reason")),
        })),
        _ => What::Unknown,
    };
    Ok(Heard {
        session: text(said, "conversation_id")
            .or(text(said, "session_id"))
            .map(str::to_owned),
        folder: folder(said).map(str::to_owned),
        event,
        what,
    })
}

/// The workspace, where there is one: a command may begin elsewhere.
fn folder(said: &Map<String, Value>) -> Option<&str> {
    let roots = said.get("workspace_roots").and_then(Value::as_array);
    match roots.map(Vec::as_slice) {
        Some([root]) => root.as_str(),
        // Of several, none is the project.
        Some([_, ..]) => None,
        _ => text(said, "cwd"),
    }
}

fn shell(said: &Map<String, Value>) -> Result<Act, String> {
    let Some(command) = text(said, "command") else {
        return Err("`command` is missing".to_owned());
    };
    let mut params = one("command", command.into());
    if let Some(cwd) = text(said, "cwd") {
        params.insert("cwd".to_owned(), cwd.into());
    }
    Ok(named("Shell", params))
}

/// The content, which Cursor sends along, is not asked about and not recorded.
fn read(said: &Map<String, Value>) -> Result<Act, String> {
    match text(said, "file_path") {
        Some(path) => Ok(named("Read", one("file_path", path.into()))),
        None => Err("`file_path` is missing".to_owned()),
    }
}

fn named(tool: &str, params: Map<String, Value>) -> Act {
    Act {
        tool: format!("cursor.{tool}"),
        params,
        id: None,
    }
}

/// As other agents name the tools of MCP servers: `cursor.mcp__search`.
fn mcp_name(act: Act) -> Act {
    Act {
        tool: act.tool.replacen("mcp_.", "mcp__", 1),
        ..act
    }
}

pub(super) fn decides(answer: &Value) -> bool {
    let permission = answer.get("permission").and_then(Value::as_str);
    matches!(permission, Some("allow" | "deny"))
}

pub(super) fn reply(event: &str, reply: Reply<'_>) -> Value {
    match reply {
        _ if event == PROMPT => json!({ "continue": true }),
        Reply::Allow(_) if ASKING.contains(&event) => json!({ "permission": "allow" }),
        Reply::AllowInstead(_, arguments) if CAN_CHANGE.contains(&event) => {
            json!({ "permission": "allow", "updated_input": arguments })
        }
        Reply::AllowInstead(reason, arguments) if ASKING.contains(&event) => {
            denial(&instead(reason, arguments))
        }
        Reply::Ask(reason) if CAN_ASK.contains(&event) => {
            json!({ "permission": "ask", "user_message": reason })
        }
        Reply::Deny(reason) | Reply::Ask(reason) if ASKING.contains(&event) => denial(reason),
        _ => json!({}),
    }
}

fn denial(reason: &str) -> Value {
    json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
}
