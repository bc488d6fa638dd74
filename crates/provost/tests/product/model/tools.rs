//! The tools of each agent, by the name that it offers them under.

use serde_json::{Map, Value, json};

use super::Act;

const WHY: &str = "Do the work";
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
const WRITERS: [&str; 6] = [
    "Write",
    "write",
    "write_file",
    "developer__write",
    "WriteFile",
    "text_editor",
];

/// What the folder of a command, the place of a file and its text are called, by one agent or another.
const FOLDERS: [&str; 5] = ["workdir", "dir_path", "directory", "cwd", "working_dir"];
const PLACES: [&str; 3] = ["file_path", "filePath", "path"];
const TEXTS: [&str; 3] = ["content", "text", "file_text"];

/// The tool that does this, if it is offered, and what it is given.
pub(super) fn call(act: &Act, offered: &[Value]) -> Option<(String, Value)> {
    match act {
        // Some are known by name alone.
        Act::Call { tool, arguments } => {
            (!offered.is_empty()).then(|| ((*tool).to_owned(), arguments.clone()))
        }
        Act::Run { command, folder } => {
            let tool = first(&SHELLS, offered)?;
            let name = name_of(tool);
            let Some(folder) = folder else {
                return Some((name.to_owned(), shell(name, command).into()));
            };
            let mut arguments = match named(tool, &FOLDERS) {
                Some(_) => shell(name, command),
                None => shell(name, &format!("cd '{folder}' && {command}")),
            };
            arguments.extend(named(tool, &FOLDERS).map(|key| (key, json!(folder))));
            Some((name.to_owned(), arguments.into()))
        }
        Act::Write { path, text } => {
            if let Some(tool) = first(&WRITERS, offered) {
                let place = named(tool, &PLACES)?;
                let content = named(tool, &TEXTS)?;
                let arguments = json!({place: path, content: text});
                return Some((name_of(tool).to_owned(), arguments));
            }
            // Codex has no tool for it but its patches, as a command.
            let name = name_of(first(&SHELLS, offered)?);
            let patch = format!(
                "apply_patch <<'END'\n*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\nEND"
            );
            Some((name.to_owned(), shell(name, &patch).into()))
        }
    }
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

fn first<'a>(known: &[&str], offered: &'a [Value]) -> Option<&'a Value> {
    let mut known = known.iter();
    known.find_map(|name| offered.iter().find(|tool| name_of(tool) == *name))
}

/// The first of these that the tool's schema has.
fn named(tool: &Value, known: &[&str]) -> Option<String> {
    const SCHEMAS: [&str; 3] = ["input_schema", "parameters", "parametersJsonSchema"];
    let mut schemas = SCHEMAS.iter();
    let schema = schemas.find_map(|name| tool[name]["properties"].as_object())?;
    let found = known.iter().find(|name| schema.contains_key(**name))?;
    Some((*found).to_owned())
}

fn shell(tool: &str, command: &str) -> Map<String, Value> {
    let arguments = match tool {
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
    };
    match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}
