//! How a command may go on behind the words that somebody approved. It stays the same command: it starts no other
//! program, takes no other subcommand, and writes nothing where the approved words only looked.

use serde_json::{Map, Value};

use crate::review::{self, Facts, Program};

/// Behind these words a word that is no flag is a file, a test or a package, and never another subcommand. A `*` is
/// any word that is no flag. Programs that only look at files are known to the reader of commands.
const TAKING_TARGETS: [&str; 53] = [
    "npm test",
    "npm run *",
    "pnpm test",
    "pnpm run *",
    "yarn test",
    "yarn run *",
    "bun test",
    "cargo test",
    "cargo nextest run",
    "cargo check",
    "cargo build",
    "cargo clippy",
    "cargo fmt",
    "cargo doc",
    "cargo bench",
    "go test",
    "go build",
    "go vet",
    "go fmt",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "jest",
    "vitest run",
    "mocha",
    "eslint",
    "prettier",
    "tsc",
    "mypy",
    "pyright",
    "ruff check",
    "ruff format",
    "black",
    "flake8",
    "pylint",
    "rspec",
    "bundle exec rspec",
    "rubocop",
    "phpunit",
    "dotnet test",
    "dotnet build",
    "git status",
    "git diff",
    "git log",
    "git show",
    "git blame",
    "git grep",
    "git ls-files",
    "git shortlog",
    "git add",
    "git rev-list",
];

/// Whether `more` may stand behind the approved words. Both are commands of this tool.
pub(super) fn may_follow(
    tool: &str,
    params: &Map<String, Value>,
    approved: &[String],
    more: &[String],
) -> bool {
    let Some(now) = parts(tool, params) else {
        return false;
    };
    let words: Vec<String> = approved.iter().map(|word| review::quoted(word)).collect();
    let mut before = params.clone();
    for name in ["command", "cmd"] {
        if let Some(command) = before.get_mut(name) {
            *command = Value::String(words.join(" "));
        }
    }
    let Some(before) = parts(tool, &before) else {
        return false;
    };
    let alike = |(before, now): (&Program, &Program)| {
        before.program == now.program && (!only_looks(before) || only_looks(now))
    };
    let has_targets = more.iter().any(|word| !word.starts_with('-'));
    before.len() == now.len()
        && before.iter().zip(&now).all(alike)
        && (!has_targets || takes_targets(approved, &before))
}

/// The programs of a command that was read in full. `None` if it was not.
pub(super) fn parts(tool: &str, params: &Map<String, Value>) -> Option<Vec<Program>> {
    let facts = Facts::of(tool, params);
    let command = facts.command.filter(|_| facts.change.is_none())?;
    let certain = command.sure && command.parts.iter().all(|part| part.risks_sure);
    certain.then_some(command.parts)
}

fn only_looks(part: &Program) -> bool {
    part.writes_sure && part.writes.is_empty()
}

fn takes_targets(approved: &[String], parts: &[Program]) -> bool {
    let is_reader = |part: &Program| review::reads_files(&part.program) && only_looks(part);
    let begins = |words: &str| {
        let mut words = words.split(' ').enumerate();
        words.all(|(at, word)| {
            let given = approved.get(at).map_or("", String::as_str);
            given == word || (word == "*" && !given.is_empty() && !given.starts_with('-'))
        })
    };
    matches!(parts, [part] if is_reader(part)) || TAKING_TARGETS.iter().any(|it| begins(it))
}
