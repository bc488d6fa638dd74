//! Claude Code, and Codex, whose hooks have the same shapes.

use serde_json::{Map, Value, json};

use super::{
    Heard, Reply, What,
    field::{act, ask, event, size, text},
};

pub(super) const PRE: &str = "PreToolUse";
const PERMISSION: &str = "PermissionRequest";

const ACT: (&str, &str) = ("tool_name", "tool_input");

pub(super) fn hear(prefix: &str, said: &Map<String, Value>) -> Result<Heard, String> {
    let event = event(said)?;
    let what = match &*event {
        PRE | PERMISSION => ask(act(prefix, said, ACT)),
        "PostToolUse" | "PostToolUseFailure" => done(prefix, said),
        // What a prompt says may be private, and is nothing that the gate decides.
        "UserPromptSubmit" => What::Note(json!({ "prompt_bytes": size(said.get("prompt")) })),
        "SessionStart" => What::Note(json!({ "source": text(said, "source") })),
        "SessionEnd" => What::Note(json!({ "reason": text(said, "reason") })),
        _ => What::Unknown,
    };
    Ok(Heard {
        session: text(said, "session_id").map(str::to_owned),
        folder: text(said, "cwd").map(str::to_owned),
        event,
        what,
    })
}

fn done(prefix: &str, said: &Map<String, Value>) -> What {
    let Ok(act) = act(prefix, said, ACT) else {
        return What::Unknown;
    };
    let response = said.get("tool_response");
    let failed = response
        .and_then(|response| response.get("is_error").or(response.get("isError")))
        .and_then(Value::as_bool)
        .unwrap_or_default();
    let error = match text(said, "error") {
        Some(error) => Some(error.chars().take(1000).collect()),
        None => failed.then(|| "the tool reported an error".to_owned()),
    };
    What::Done {
        act,
        error,
        size: size(response),
    }
}

pub(super) fn decides(event: &str, answer: &Value) -> bool {
    let output = answer.get("hookSpecificOutput");
    let named = output.and_then(|output| output.get("hookEventName"));
    let decision = output.and_then(|output| match event {
        PERMISSION => output.pointer("/decision/behavior"),
        _ => output.get("permissionDecision"),
    });
    named.and_then(Value::as_str) == Some(event)
        && matches!(decision.and_then(Value::as_str), Some("allow" | "deny"))
}

pub(super) fn reply(event: &str, reply: Reply<'_>) -> Value {
    let mut output = match (event, reply) {
        (PRE, Reply::Allow(reason)) => {
            json!({ "permissionDecision": "allow", "permissionDecisionReason": reason })
        }
        (PRE, Reply::AllowInstead(reason, arguments)) => json!({
            "permissionDecision": "allow",
            "permissionDecisionReason": reason,
            "updatedInput": arguments,
        }),
        (PRE, Reply::Deny(reason)) => {
            json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })
        }
        (PRE, Reply::Ask(reason)) => {
            json!({ "permissionDecision": "ask", "permissionDecisionReason": reason })
        }
        (PERMISSION, Reply::Allow(_)) => json!({ "decision": { "behavior": "allow" } }),
        (PERMISSION, Reply::AllowInstead(_, arguments)) => {
            json!({ "decision": { "behavior": "allow", "updatedInput": arguments } })
        }
        (PERMISSION, Reply::Deny(reason)) => {
            json!({ "decision": { "behavior": "deny", "message": reason, "interrupt": false } })
        }
        // Without an answer to a request for permission, the person at the agent is asked.
        _ => return json!({}),
    };
    if let Some(output) = output.as_object_mut() {
        output.insert("hookEventName".to_owned(), event.into());
    }
    json!({ "hookSpecificOutput": output })
}
