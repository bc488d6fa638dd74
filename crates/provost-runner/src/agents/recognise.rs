//! Which agent a command starts.

use std::path::Path;

use super::{KNOWN, Profile};

/// Programs that start the one that their arguments name.
const STARTERS: [&str; 10] = [
    "node", "nodejs", "bun", "bunx", "deno", "npx", "npm", "pnpm", "yarn", "env",
];

pub fn named(name: &str) -> Option<&'static Profile> {
    KNOWN.into_iter().find(|profile| profile.name == name)
}

/// By the program's file name, or by the script or package that `node` or `npx` is given.
pub fn started_as(words: &[String]) -> Option<&'static Profile> {
    let mut words = words.iter().map(String::as_str);
    let program = words.next()?;
    let file = file_name(program);
    if let Some(profile) = of(program) {
        return Some(profile);
    }
    if !STARTERS.contains(&file) {
        return None;
    }
    // `npx -y PACKAGE`, `npm exec -- PACKAGE`, `env A=b node SCRIPT`.
    let skipped = |word: &&str| {
        word.starts_with('-')
            || matches!(*word, "exec" | "x" | "dlx" | "run")
            || STARTERS.contains(&file_name(word))
            || (file == "env" && word.contains('='))
    };
    words.find(|word| !skipped(word)).and_then(of)
}

fn of(word: &str) -> Option<&'static Profile> {
    KNOWN
        .into_iter()
        .find(|profile| profile.programs.iter().any(|name| is(word, name)))
}

/// `name`, `/usr/bin/name`, `name.js`, `@scope/name@1.2`, `…/node_modules/@scope/name/dist/index.js`.
fn is(word: &str, name: &str) -> bool {
    let installed = word.rsplit_once("node_modules/").map(|(_, rest)| rest);
    let package = installed.and_then(|rest| {
        let mut parts = rest.split('/');
        let first = parts.next()?;
        if first.starts_with('@') {
            parts.next()
        } else {
            Some(first)
        }
    });
    plain(file_name(word)) == name || package == Some(name)
}

fn file_name(word: &str) -> &str {
    let name = Path::new(word).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(word)
}

/// Without a version and without the ending of a script.
fn plain(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name);
    let mut endings = [".js", ".mjs", ".cjs", ".exe"].into_iter();
    let cut = endings.find_map(|ending| name.strip_suffix(ending));
    cut.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_what_starts_them() {
        for (line, expected) in [
            (
                "npx -y @agentclientprotocol/claude-agent-acp",
                Some("claude"),
            ),
            (
                "npx -y @agentclientprotocol/claude-agent-acp@0.99.1",
                Some("claude"),
            ),
            ("claude-agent-acp", Some("claude")),
            (
                "node /x/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
                Some("claude"),
            ),
            (
                "/opt/opencode-linux-x64-baseline/bin/opencode acp",
                Some("opencode"),
            ),
            ("codex-acp -c model=x", Some("codex")),
            ("npm exec -- @agentclientprotocol/codex-acp", Some("codex")),
            (
                "node --no-warnings /n/node_modules/@google/gemini-cli/bundle/gemini.js --acp",
                Some("gemini"),
            ),
            ("gemini --experimental-acp", Some("gemini")),
            ("env A=b qwen --acp", Some("qwen")),
            ("goose acp", Some("goose")),
            (
                "node /n/node_modules/@moonshot-ai/kimi-code/dist/main.mjs acp",
                Some("kimi"),
            ),
            ("kilo acp", Some("kilo")),
            // A name elsewhere says nothing.
            ("python3 /home/goose/agent.py", None),
            ("my-agent --like codex-acp", None),
            ("node /home/gemini/agent.js", None),
            ("sh -c 'goose acp'", None),
        ] {
            let words = crate::config::split(line).unwrap();
            assert_eq!(
                started_as(&words).map(|profile| profile.name),
                expected,
                "{line}"
            );
        }
    }
}
