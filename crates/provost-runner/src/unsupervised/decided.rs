//! What a yes was about, and whether the agent then says that it did something else under the same id.
//!
//! Agents tell of one call in several ways: a command as a line or as words, a path from the root or from the
//! repository. What cannot be compared counts as the same.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::shell::line_in;

/// The questions about one call that were answered with yes, and what the agent said of the call afterwards.
#[derive(Default)]
pub(super) struct Decided {
    kinds: Vec<String>,
    commands: Vec<String>,
    paths: Vec<PathBuf>,
    then: Said,
}

/// What a call would do, as far as it is told.
#[derive(Default)]
pub(super) struct Said {
    command: Option<String>,
    paths: Vec<PathBuf>,
}

impl Said {
    pub(super) fn of(told: &Map<String, Value>) -> Self {
        let input = told.get("rawInput").and_then(Value::as_object);
        let command = input.and_then(|input| line(input.get("command")?));
        let named = ["path", "file_path", "filePath"].into_iter();
        let named = named.filter_map(|name| input?.get(name)?.as_str());
        let content = told.get("content").and_then(Value::as_array);
        let diffs = content.into_iter().flatten();
        let diffs = diffs.filter(|block| block.get("type").is_some_and(|kind| kind == "diff"));
        let diffs = diffs.filter_map(|block| block.get("path")?.as_str());
        Self {
            command,
            paths: named.chain(diffs).map(PathBuf::from).collect(),
        }
    }
}

impl Decided {
    /// One more question about it was answered with yes.
    pub(super) fn add(&mut self, told: &Map<String, Value>) {
        let kind = told.get("kind").and_then(Value::as_str);
        self.kinds.push(kind.unwrap_or_default().to_owned());
        let Said { command, paths } = Said::of(told);
        self.commands.extend(command);
        self.paths.extend(paths);
    }

    /// What the agent says of the call now.
    pub(super) fn then(&mut self, said: Said) {
        if said.command.is_some() {
            self.then.command = said.command;
        }
        if !said.paths.is_empty() {
            self.then.paths = said.paths;
        }
    }

    /// Whether what was done, of these kinds, is what was decided.
    pub(super) fn covers(&self, kinds: &[&String]) -> bool {
        // A question that does not say what the call is was decided as one that may be anything.
        let any = |kind: &String| matches!(&**kind, "" | "other");
        let decided = |kind: &&String| self.kinds.contains(kind);
        (self.kinds.iter().any(any) || kinds.iter().all(decided))
            && self.is_same_command()
            && self.are_same_paths()
    }

    fn is_same_command(&self) -> bool {
        let Some(command) = &self.then.command else {
            return true;
        };
        self.commands.is_empty() || self.commands.contains(command)
    }

    fn are_same_paths(&self) -> bool {
        let same = |one: &Path, other: &Path| one.ends_with(other) || other.ends_with(one);
        let decided = |path: &PathBuf| self.paths.iter().any(|decided| same(path, decided));
        self.paths.is_empty() || self.then.paths.iter().all(decided)
    }
}

/// A command as one line, however it is told.
fn line(command: &Value) -> Option<String> {
    let line = match command {
        Value::String(line) => line.clone(),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            let words = words?;
            let (program, arguments) = words.split_first()?;
            let line = line_in(program, arguments).map(|line| (*line).to_owned());
            line.unwrap_or_else(|| words.join(" "))
        }
        _ => return None,
    };
    Some(line.trim().to_owned())
}
