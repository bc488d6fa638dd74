//! Rules for coding agents that name tools which no such agent has: they would never match.

mod arguments;

use provost_core::{glob::Glob, policy::Policy};
use provost_gateway::{backends::BackendsConfig, hooks::Dialect};

use super::{
    policies::{Origin, Policies},
    reader::Reader,
};

/// What others call the tool that runs commands, changes files or reads them.
const SHELLS: [&str; 10] = [
    "bash",
    "shell",
    "sh",
    "terminal",
    "exec",
    "execute",
    "command",
    "run",
    "run_command",
    "process",
];
const EDITORS: [&str; 8] = [
    "edit",
    "write",
    "edit_file",
    "write_file",
    "multiedit",
    "str_replace",
    "apply_patch",
    "patch",
];
const READERS: [&str; 3] = ["read", "read_file", "cat"];

impl Reader<'_> {
    pub(super) fn lint_agent_tools(&mut self, policies: &Policies, backends: &BackendsConfig) {
        for (policy, place) in policies.policies.iter().zip(&policies.places) {
            if place.origin != Origin::Written {
                continue;
            }
            let agent = agent_of(policy);
            for (rule, at) in policy.rules.iter().zip(&place.rules) {
                for (tool, span) in rule.tools.iter().zip(&at.tools) {
                    let is_ours = |prefix: &str| has_backend(backends, prefix);
                    if let Some((message, help)) = misnamed(tool, agent, is_ours) {
                        self.warn(*span, message, help);
                    }
                }
                self.lint_arguments(rule, at);
            }
        }
    }
}

/// The coding agent that a policy is for, by its pattern; one for everybody is for none in particular.
fn agent_of(policy: &Policy) -> Option<Dialect> {
    let pattern = policy.agent.to_ascii_lowercase();
    let glob = Glob::new(&pattern).ok();
    let is_for = |dialect: &Dialect| {
        pattern.starts_with(dialect.prefix())
            || glob
                .as_ref()
                .is_some_and(|glob| glob.matches(dialect.name()))
    };
    let is_for_all = glob.as_ref().is_some_and(|glob| glob.matches("\u{1}"));
    Dialect::ALL
        .into_iter()
        .find(is_for)
        .filter(|_| !is_for_all)
}

/// Whether a tool of this gateway may begin so.
fn has_backend(backends: &BackendsConfig, prefix: &str) -> bool {
    let begins = |name: &str| name.split('.').next() == Some(prefix);
    backends.http_tools.iter().any(|tool| begins(&tool.name))
        || backends.cli_tools.iter().any(|tool| begins(&tool.name))
        || backends
            .mcp_servers
            .iter()
            .any(|server| begins(&server.name))
        || backends
            .openapi
            .iter()
            .any(|api| api.name.as_deref().is_none_or(begins))
}

fn misnamed(
    tool: &str,
    agent: Option<Dialect>,
    is_ours: impl Fn(&str) -> bool,
) -> Option<(String, String)> {
    let (prefix, name) = match tool.split_once('.') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, tool),
    };
    let named = Dialect::ALL
        .into_iter()
        .find(|dialect| prefix.is_some_and(|prefix| dialect.prefix().eq_ignore_ascii_case(prefix)));
    if let Some((dialect, prefix)) = named.zip(prefix) {
        if prefix == dialect.prefix() {
            return misnamed_of(dialect, name);
        }
        let meant = if matches_known(dialect, name) {
            name
        } else {
            meant(dialect, name).unwrap_or(name)
        };
        return (!is_ours(prefix)).then(|| told(dialect, tool, Some(meant)));
    }
    let is_shell = |name: &str| SHELLS.contains(&&*name.to_ascii_lowercase());
    let Some(dialect) = agent else {
        let first = prefix.unwrap_or(name);
        return (is_shell(first) && !is_ours(first)).then(|| told_of_all(tool));
    };
    let meant = match prefix {
        Some(prefix) if is_shell(prefix) && !is_ours(prefix) => shell(dialect).to_owned(),
        Some(_) => return None,
        // A pattern without a prefix is not about the tools of one agent.
        None if name.contains(['*', '?', '[', '\\']) => return None,
        None if name.starts_with("mcp__") => name.to_owned(),
        None => meant(dialect, name)?.to_owned(),
    };
    Some(told(dialect, tool, Some(&meant)))
}

/// The name stands behind the agent's own prefix.
fn misnamed_of(dialect: Dialect, name: &str) -> Option<(String, String)> {
    if matches_known(dialect, name) || may_be_of_server(name) {
        return None;
    }
    let meant = meant(dialect, name);
    // Of the others not every tool is known.
    if meant.is_none() && dialect != Dialect::ClaudeCode {
        return None;
    }
    let tool = format!("{}.{name}", dialect.prefix());
    Some(told(dialect, &tool, meant))
}

fn matches_known(dialect: Dialect, pattern: &str) -> bool {
    let glob = Glob::new(pattern);
    glob.is_ok_and(|glob| dialect.tools().iter().any(|tool| glob.matches(tool.name)))
}

/// Whether a name or a pattern may match a tool of an MCP server, which nobody can list here.
fn may_be_of_server(pattern: &str) -> bool {
    const SERVER: &str = "mcp__";
    let fixed = pattern.split(['*', '?', '[', '\\']).next();
    let fixed = fixed.unwrap_or_default();
    let is_pattern = fixed.len() < pattern.len();
    fixed.starts_with(SERVER) || (is_pattern && SERVER.starts_with(fixed))
}

fn meant(dialect: Dialect, name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let glob = Glob::new(&name).ok()?;
    let mut tools = dialect.tools().iter();
    let alike = tools.find(|tool| glob.matches(&tool.name.to_ascii_lowercase()));
    let name = name.trim_end_matches('*');
    let is = |names: &[&str]| names.contains(&name);
    alike.map(|tool| tool.name).or_else(|| match dialect {
        _ if is(&SHELLS) => Some(shell(dialect)),
        Dialect::ClaudeCode if is(&EDITORS) => Some("Edit"),
        Dialect::Codex if is(&EDITORS) => Some("apply_patch"),
        Dialect::Cursor if is(&EDITORS) => Some("Write"),
        Dialect::ClaudeCode | Dialect::Cursor if is(&READERS) => Some("Read"),
        _ => None,
    })
}

fn shell(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ClaudeCode | Dialect::Codex => "Bash",
        Dialect::Cursor => "Shell",
    }
}

/// A policy for everybody, or for an agent that may be any.
fn told_of_all(tool: &str) -> (String, String) {
    let shells = Dialect::ALL.map(|dialect| format!("`{}.{}`", dialect.prefix(), shell(dialect)));
    (
        format!(
            "no tool of this file is called `{tool}`, and no coding agent has one of that name"
        ),
        format!(
            "coding agents run commands with {}; keep it if an agent of your own names its tool so",
            shells.join(", ")
        ),
    )
}

fn told(dialect: Dialect, tool: &str, meant: Option<&str>) -> (String, String) {
    let agent = match dialect {
        Dialect::ClaudeCode => "Claude Code",
        Dialect::Codex => "Codex",
        Dialect::Cursor => "Cursor",
    };
    let prefix = dialect.prefix();
    let message = format!("{agent} has no tool `{tool}`, so this rule never matches for it");
    let help = match meant {
        Some(meant) => {
            format!("write `{prefix}.{meant}`; docs/agents.md lists the tools of {agent}")
        }
        None => format!(
            "docs/agents.md lists the tools of {agent}; those of its MCP servers are `{prefix}.mcp__SERVER__TOOL`"
        ),
    };
    (message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(tool: &str, agent: Option<Dialect>) -> Option<String> {
        let (message, help) = misnamed(tool, agent, |prefix| prefix == "terminal")?;
        assert!(message.contains(tool), "{message}");
        Some(help.split('`').nth(1).unwrap_or_default().to_owned())
    }

    #[test]
    fn p17_names_that_no_agent_has_are_told_with_the_right_one() {
        use Dialect::{ClaudeCode, Codex, Cursor};
        for (tool, agent, meant) in [
            ("shell.run", Some(ClaudeCode), "claude.Bash"),
            ("shell.*", Some(Codex), "codex.Bash"),
            ("bash.exec", Some(Cursor), "cursor.Shell"),
            ("Bash", Some(ClaudeCode), "claude.Bash"),
            ("edit", Some(ClaudeCode), "claude.Edit"),
            (
                "mcp__files__read",
                Some(ClaudeCode),
                "claude.mcp__files__read",
            ),
            ("claude.bash", None, "claude.Bash"),
            ("claude.Shell", None, "claude.Bash"),
            ("claude.bas*", None, "claude.Bash"),
            ("claude.b?sh", None, "claude.Bash"),
            ("claude.shell*", None, "claude.Bash"),
            ("codex.edit*", None, "codex.apply_patch"),
            ("cursor.shell*", Some(Cursor), "cursor.Shell"),
            ("claude.no_such_*", None, "claude.mcp__SERVER__TOOL"),
            ("codex.Edit", None, "codex.apply_patch"),
            ("cursor.Bash", None, "cursor.Shell"),
            ("claude.NoSuchTool", None, "claude.mcp__SERVER__TOOL"),
            ("Claude.Read", None, "claude.Read"),
            ("CLAUDE.*", Some(ClaudeCode), "claude.*"),
            ("Cursor.bash", Some(Cursor), "cursor.Shell"),
            // For everybody, and for an agent of any name.
            ("shell.run", None, "claude.Bash"),
            ("Bash", None, "claude.Bash"),
        ] {
            assert_eq!(suggested(tool, agent).as_deref(), Some(meant), "{tool}");
        }
        for (tool, agent) in [
            ("terminal.run", None),
            ("terminal.run", Some(ClaudeCode)),
            ("filesystem.read_*", Some(ClaudeCode)),
            ("*", Some(ClaudeCode)),
            ("claude.*", Some(ClaudeCode)),
            ("claude.Bash", Some(ClaudeCode)),
            ("claude.mcp__files__read", None),
            ("claude.mcp__files__*", None),
            ("claude.m*", None),
            ("claude.*__read", None),
            ("claude.Bas*", None),
            ("claude.[BE]*", None),
            ("codex.a_new_*", None),
            ("codex.a_new_tool", None),
            ("payments.send", Some(Cursor)),
        ] {
            assert_eq!(suggested(tool, agent), None, "{tool}");
        }
    }

    #[test]
    fn p17_a_policy_is_for_an_agent_that_its_pattern_names() {
        for (pattern, agent) in [
            ("claude-code", Some(Dialect::ClaudeCode)),
            ("claude*", Some(Dialect::ClaudeCode)),
            ("claude", Some(Dialect::ClaudeCode)),
            ("codex", Some(Dialect::Codex)),
            ("*-code", Some(Dialect::ClaudeCode)),
            ("*", None),
            ("worker-*", None),
        ] {
            let policy = Policy {
                name: "p".into(),
                agent: pattern.to_owned(),
                rate_limit: None,
                rules: Vec::new(),
            };
            assert_eq!(agent_of(&policy), agent, "{pattern}");
        }
    }
}
