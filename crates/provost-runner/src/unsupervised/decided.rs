//! What a yes was about, and whether the agent then says that it did something else under the same id.
//!
//! Agents tell of one call in several ways: a command as a line or as words, a path from the root or from the
//! repository. What cannot be compared counts as the same.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::shell::line_in;

/// The questions about one call that were answered with yes, and what the agent said of the call afterwards.
#[derive(Default)]
pub(super) struct Decided {
    kinds: Vec<String>,
    commands: Vec<String>,
    folders: Vec<PathBuf>,
    paths: Vec<PathBuf>,
    /// A question told what the call would do.
    told: bool,
    then: Said,
}

/// What a call would do, as far as it is told.
#[derive(Default)]
pub(super) struct Said {
    command: Option<String>,
    /// Where the command is run.
    folder: Option<PathBuf>,
    paths: Vec<PathBuf>,
    /// It told anything of what it would do.
    something: bool,
}

impl Said {
    pub(super) fn of(told: &Map<String, Value>) -> Self {
        let input = told.get("rawInput").and_then(Value::as_object);
        let named = ["path", "file_path", "filePath"].into_iter();
        let named = named.filter_map(|name| input?.get(name)?.as_str());
        let content = told.get("content").and_then(Value::as_array);
        let diffs = content.into_iter().flatten();
        let diffs = diffs.filter(|block| block.get("type").is_some_and(|kind| kind == "diff"));
        let diffs = diffs.filter_map(|block| block.get("path")?.as_str());
        let paths: Vec<_> = named.chain(diffs).map(PathBuf::from).collect();
        let folder = input.and_then(|input| input.get("cwd")?.as_str());
        Self {
            command: input.and_then(command_in),
            folder: folder.map(PathBuf::from),
            something: !paths.is_empty() || input.is_some_and(|input| !input.is_empty()),
            paths,
        }
    }

    pub(super) fn command(&self) -> Option<&String> {
        self.command.as_ref()
    }
}

impl Decided {
    /// One more question about it was answered with yes.
    pub(super) fn add(&mut self, told: &Map<String, Value>) {
        let kind = told.get("kind").and_then(Value::as_str);
        self.kinds.push(kind.unwrap_or_default().to_owned());
        let said = Said::of(told);
        self.told |= said.something;
        self.commands.extend(said.command);
        self.folders.extend(said.folder);
        self.paths.extend(said.paths);
    }

    /// What the agent says of the call now.
    pub(super) fn then(&mut self, said: Said) {
        self.then.command = said.command.or(self.then.command.take());
        self.then.folder = said.folder.or(self.then.folder.take());
        if !said.paths.is_empty() {
            self.then.paths = said.paths;
        }
    }

    /// What it was asked about as.
    pub(super) fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// Whether what was done, of these kinds, is what was decided. `base`: what paths are of.
    pub(super) fn covers(&self, kinds: &[&String], base: &Path) -> bool {
        let vague = |kind: &str| matches!(kind, "" | "other");
        let decided = |kind: &&String| vague(kind) || self.kinds.contains(kind);
        // A question that says neither what the call is nor what it would do was decided as one that may be anything.
        let any = self.kinds.iter().any(|kind| vague(kind));
        let any = any && (!self.told || self.is_what_was_told(base));
        (any || kinds.iter().all(decided))
            && self.is_same_command(base)
            && self.are_same_paths(base)
    }

    /// It names the very command or the very files that the question named.
    fn is_what_was_told(&self, base: &Path) -> bool {
        let command = self.then.command.as_ref();
        let files = !self.paths.is_empty() && !self.then.paths.is_empty();
        command.is_some_and(|command| self.commands.contains(command))
            || (files && self.are_same_paths(base))
    }

    fn is_same_command(&self, base: &Path) -> bool {
        let command = self.then.command.as_ref();
        let folder = self.then.folder.as_ref();
        let same = |folder: &PathBuf| self.folders.iter().any(|one| is_same(one, folder, base));
        (self.commands.is_empty() || command.is_none_or(|one| self.commands.contains(one)))
            && (self.folders.is_empty() || folder.is_none_or(same))
    }

    fn are_same_paths(&self, base: &Path) -> bool {
        let decided = |path: &PathBuf| self.paths.iter().any(|one| is_same(one, path, base));
        self.paths.is_empty() || self.then.paths.iter().all(decided)
    }
}

/// By their names alone: links are not followed.
fn is_same(one: &Path, other: &Path, base: &Path) -> bool {
    plain(&base.join(one)) == plain(&base.join(other))
}

fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}

/// A line, a list of words, or a program with its arguments beside it.
fn command_in(input: &Map<String, Value>) -> Option<String> {
    let command = line(input.get("command").or_else(|| input.get("cmd"))?)?;
    let words = input.get("args").and_then(Value::as_array);
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<_> = [&*command].into_iter().chain(words).collect();
    Some(words.join(" "))
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
