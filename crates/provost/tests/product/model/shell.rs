//! The tool of each agent that runs a command.

use serde_json::{Value, json};

const SHELLS: [&str; 8] = [
    "Bash",
    "bash",
    "run_shell_command",
    "shell",
    "developer__shell",
    "exec_command",
    "shell_command",
    "Shell",
];

/// The one that is offered.
pub(super) fn of(offered: &[String]) -> Option<String> {
    let found = SHELLS
        .into_iter()
        .find(|shell| offered.iter().any(|name| name == shell));
    found.map(str::to_owned)
}

pub(super) fn arguments(tool: &str, command: &str) -> Value {
    const WHY: &str = "Do the work";
    match tool {
        "exec_command" => {
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": WHY})
        }
        "shell_command" => {
            json!({"command": command, "sandbox_permissions": "require_escalated", "justification": WHY})
        }
        "run_shell_command" => {
            json!({"command": command, "description": WHY, "is_background": false})
        }
        "shell" | "developer__shell" => json!({ "command": command }),
        _ => json!({"command": command, "description": WHY}),
    }
}
