//! The tools of the agents, as their hooks name them, and the arguments they have. Policies name them with the
//! agent's prefix: `claude.Bash`. What an agent's MCP servers offer is not here: `claude.mcp__SERVER__TOOL`.

use super::Dialect;

/// A tool of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentTool {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
}

const fn tool(name: &'static str, arguments: &'static [&'static str]) -> AgentTool {
    AgentTool { name, arguments }
}

/// Of Claude Code 2.1.312, which a test asks for its tools.
const CLAUDE: [AgentTool; 43] = [
    tool(
        "Bash",
        &[
            "command",
            "description",
            "timeout",
            "run_in_background",
            "dangerouslyDisableSandbox",
        ],
    ),
    tool("Monitor", &["command", "description", "timeout_ms", "ws"]),
    tool(
        "Read",
        &["file_path", "offset", "limit", "pages", "allow_large"],
    ),
    tool("Write", &["file_path", "content"]),
    tool(
        "Edit",
        &["file_path", "old_string", "new_string", "replace_all"],
    ),
    tool(
        "NotebookEdit",
        &[
            "notebook_path",
            "cell_id",
            "new_source",
            "cell_type",
            "edit_mode",
        ],
    ),
    tool("Glob", &["pattern", "path"]),
    tool(
        "Grep",
        &[
            "pattern",
            "path",
            "glob",
            "type",
            "output_mode",
            "head_limit",
            "offset",
            "multiline",
            "context",
            "-A",
            "-B",
            "-C",
            "-i",
            "-n",
            "-o",
        ],
    ),
    tool("WebFetch", &["url", "prompt", "offset"]),
    tool(
        "WebSearch",
        &["query", "allowed_domains", "blocked_domains"],
    ),
    tool("Agent", SUBAGENT),
    tool("Task", SUBAGENT),
    tool(
        "Workflow",
        &[
            "script",
            "scriptPath",
            "name",
            "title",
            "description",
            "args",
            "resumeFromRunId",
        ],
    ),
    tool("Skill", &["skill", "args"]),
    tool("SlashCommand", &["command"]),
    tool("TodoWrite", &["todos"]),
    tool(
        "TaskCreate",
        &["subject", "description", "activeForm", "metadata"],
    ),
    tool("TaskGet", &["taskId"]),
    tool("TaskList", &[]),
    tool(
        "TaskUpdate",
        &[
            "taskId",
            "subject",
            "description",
            "activeForm",
            "status",
            "addBlocks",
            "addBlockedBy",
            "owner",
            "metadata",
        ],
    ),
    tool("TaskOutput", &["task_id", "block", "timeout"]),
    tool("TaskStop", &["task_id", "shell_id"]),
    tool("BashOutput", &["bash_id", "filter"]),
    tool("KillShell", &["shell_id"]),
    tool("CronCreate", &["cron", "prompt", "recurring", "durable"]),
    tool("CronDelete", &["id"]),
    tool("CronList", &[]),
    tool(
        "ScheduleWakeup",
        &["delaySeconds", "prompt", "reason", "stop", "noop"],
    ),
    tool(
        "RemoteTrigger",
        &["action", "trigger_id", "session_id", "cursor", "body"],
    ),
    tool("PushNotification", &["message", "status"]),
    tool("EnterPlanMode", &[]),
    tool("ExitPlanMode", &["plan", "allowedPrompts"]),
    tool("EnterWorktree", &["name", "path"]),
    tool("ExitWorktree", &["action", "discard_changes"]),
    tool(
        "AskUserQuestion",
        &["questions", "answers", "annotations", "metadata"],
    ),
    tool("ReportFindings", &["findings", "level"]),
    tool("ListAgents", &["channel", "q"]),
    tool("SendMessage", &["to", "message", "summary"]),
    tool("ToolSearch", &["query", "max_results"]),
    tool("ListMcpResourcesTool", &["server"]),
    tool("ReadMcpResourceTool", &["server", "uri"]),
    tool("ReadMcpResourceDirTool", &["server", "uri"]),
    tool("LSP", &["operation", "filePath", "line", "character"]),
];

const SUBAGENT: &[&str] = &[
    "description",
    "prompt",
    "subagent_type",
    "model",
    "effort",
    "mode",
    "name",
    "team_name",
    "isolation",
    "run_in_background",
];

/// Of Codex, by its source of August 2026.
const CODEX: [AgentTool; 8] = [
    tool("Bash", &["command"]),
    tool("apply_patch", &["command"]),
    tool("update_plan", &["plan", "explanation"]),
    tool("view_image", &["path", "detail", "environment_id"]),
    tool("spawn_agent", &["message", "task_name", "agent_type"]),
    tool("request_permissions", &["permissions", "reason"]),
    tool("list_mcp_resources", &["server", "cursor"]),
    tool("read_mcp_resource", &["server", "uri"]),
];

/// Of Cursor, by its documentation: the first two have events of their own, the others come as `preToolUse`.
const CURSOR: [AgentTool; 6] = [
    tool("Shell", &["command", "cwd", "working_directory"]),
    tool("Read", &["file_path"]),
    tool("Write", &["file_path", "content"]),
    tool("Delete", &["file_path"]),
    tool("Grep", &["pattern", "path"]),
    tool("Task", &["description", "prompt", "subagent_type"]),
];

impl Dialect {
    /// What stands before the names of its tools in policies.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
        }
    }

    pub fn tools(self) -> &'static [AgentTool] {
        match self {
            Self::ClaudeCode => &CLAUDE,
            Self::Codex => &CODEX,
            Self::Cursor => &CURSOR,
        }
    }
}
