//! The tools that remembering knows by their exact names. What any other tool does with its arguments is not
//! known: `path` and `content` may be a file to write or a program to run, and `description` may be obeyed.

/// Tools that write their text into the file they name, and do nothing else with it.
const EDITORS: [&str; 11] = [
    "acp.edit",
    "claude.Edit",
    "claude.MultiEdit",
    "claude.Write",
    "claude.mcp__filesystem__edit_file",
    "claude.mcp__filesystem__write_file",
    "codex.mcp__filesystem__edit_file",
    "codex.mcp__filesystem__write_file",
    "cursor.Write",
    "filesystem.edit_file",
    "filesystem.write_file",
];

/// Shells to which `description` is what the agent says of the command.
const DESCRIBED_SHELLS: [&str; 1] = ["claude.Bash"];

pub(super) fn edits_files(tool: &str) -> bool {
    EDITORS.contains(&tool)
}

/// Whether the `description` of a call takes no effect. What the gateway forwards reaches a tool of which it
/// knows nothing.
pub(super) fn only_describes(tool: &str, forwarded: bool) -> bool {
    !forwarded && DESCRIBED_SHELLS.contains(&tool)
}
