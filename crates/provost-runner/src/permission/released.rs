//! What somebody allowed when the agent asked, and the agent now has us do: it is asked about once.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::{
    shell::{is_shell, line_in},
    workspace::{Act, Old},
};

/// As ACP names what runs a command, and what changes a file.
const EXECUTE: &str = "execute";
const EDIT: &str = "edit";
/// As many as an agent may have open at once.
const MOST: usize = 64;

/// Acts that were allowed and not done yet. Each is good for one, the very same.
#[derive(Default)]
pub(super) struct Released {
    acts: Vec<Allowed>,
}

#[derive(Debug, PartialEq, Eq)]
enum Allowed {
    Command {
        line: String,
        folder: PathBuf,
    },
    Write {
        path: PathBuf,
        old: String,
        new: String,
    },
    /// The whole of a file, whatever was in it.
    Content {
        path: PathBuf,
        text: String,
    },
}

impl Released {
    /// What a permission that was given lets the agent have done. Nothing where it does not say all of it, or was
    /// decided as something else: a yes to a read is none to a command.
    pub(super) fn allow(&mut self, tool_call: &Map<String, Value>, repo: &Path) {
        let kind = tool_call.get("kind").and_then(Value::as_str);
        let found = match kind {
            Some(EXECUTE) => command(tool_call, repo),
            Some(EDIT) => change(tool_call, repo),
            _ => None,
        };
        if let Some(act) = found {
            if self.acts.len() >= MOST {
                self.acts.remove(0);
            }
            self.acts.push(act);
        }
    }

    /// Whether this was allowed. It is not any more.
    pub(super) fn take(&mut self, act: &Act) -> bool {
        let found = self.acts.iter().position(|allowed| allowed.is(act));
        if let Some(index) = found {
            self.acts.remove(index);
        }
        found.is_some()
    }
}

impl Allowed {
    fn is(&self, act: &Act) -> bool {
        match (self, act) {
            (
                Self::Command { line, folder },
                Act::Run {
                    command,
                    args,
                    cwd,
                    env,
                },
            ) => {
                let same = |found: &str| found == line || after_cd(found, folder) == Some(line);
                cwd == folder
                    && env.iter().all(is_harmless)
                    && line_of(command, args).is_some_and(|found| same(found))
            }
            (
                Self::Write { path, old, new },
                Act::Write {
                    path: place,
                    old: found,
                    new: text,
                },
            ) => {
                let same = match found {
                    Old::Missing => old.is_empty(),
                    Old::Text(found) => found == old,
                    Old::Opaque { .. } => false,
                };
                same && path == place && new == text
            }
            (
                Self::Content { path, text },
                Act::Write {
                    path: place, new, ..
                },
            ) => path == place && text == new,
            _ => false,
        }
    }
}

/// The kind that a call is decided as, where the agent does not say what it is. Some call everything `other`.
pub(super) fn kind_of(tool_call: &Map<String, Value>, repo: &Path) -> Option<&'static str> {
    let told = tool_call.get("kind").and_then(Value::as_str);
    if !matches!(told, None | Some("" | "other")) {
        return None;
    }
    let runs = command(tool_call, repo).map(|_| EXECUTE);
    runs.or_else(|| change(tool_call, repo).map(|_| EDIT))
}

/// What follows `cd FOLDER && `, which leads where the command runs anyhow.
fn after_cd<'l>(line: &'l str, folder: &Path) -> Option<&'l str> {
    let folder = folder.to_str().filter(|path| !path.contains('\''))?;
    line.strip_prefix(&format!("cd '{folder}' && "))
}

/// Variables by which agents keep programs from colours and questions.
fn is_harmless((name, value): &(String, String)) -> bool {
    match &**name {
        "NO_COLOR" | "GIT_TERMINAL_PROMPT" => matches!(&**value, "0" | "1"),
        "TERM" => value == "dumb",
        "SHELL" => value.starts_with('/') && is_shell(value),
        _ => false,
    }
}

/// The line that a shell is given.
fn line_of<'a>(command: &'a String, args: &'a [String]) -> Option<&'a String> {
    match args {
        [] => Some(command),
        _ => line_in(command, args),
    }
}

/// Only a command line and where it runs: an argument that is not known might change what runs.
fn command(tool_call: &Map<String, Value>, repo: &Path) -> Option<Allowed> {
    const HARMLESS: [&str; 5] = ["command", "cwd", "description", "timeout", "timeout_secs"];
    let input = tool_call.get("rawInput")?.as_object()?;
    let line = input.get("command")?.as_str()?.to_owned();
    if !input.keys().all(|name| HARMLESS.contains(&&**name)) {
        return None;
    }
    let folder = match input.get("cwd") {
        None | Some(Value::Null) => repo.to_owned(),
        Some(Value::String(folder)) => PathBuf::from(folder).canonicalize().ok()?,
        Some(_) => return None,
    };
    Some(Allowed::Command { line, folder })
}

fn change(tool_call: &Map<String, Value>, repo: &Path) -> Option<Allowed> {
    match tool_call.get("content").and_then(Value::as_array) {
        Some(content) if content.iter().any(is_diff) => write(tool_call, repo),
        _ => content(tool_call),
    }
}

fn is_diff(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("diff")
}

/// The one change that the agent showed, of the file that its arguments name: policy judges by these.
fn write(tool_call: &Map<String, Value>, repo: &Path) -> Option<Allowed> {
    let content = tool_call.get("content")?.as_array()?;
    let mut diffs = content.iter().filter(|block| is_diff(block));
    let (Some(diff), None) = (diffs.next(), diffs.next()) else {
        return None;
    };
    let text = |name: &str| diff.get(name).and_then(Value::as_str).map(str::to_owned);
    let path = PathBuf::from(text("path")?);
    let input = tool_call.get("rawInput").and_then(Value::as_object);
    let named = ["path", "file_path", "filePath"].into_iter();
    let mut named = named.filter_map(|name| input?.get(name)?.as_str());
    if !named.all(|named| repo.join(named) == path) {
        return None;
    }
    Some(Allowed::Write {
        path,
        old: text("oldText").unwrap_or_default(),
        new: text("newText")?,
    })
}

/// A file and all of its text, and nothing else that might change what is written.
fn content(tool_call: &Map<String, Value>) -> Option<Allowed> {
    let input = tool_call.get("rawInput")?.as_object()?;
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let path = text("path")
        .or_else(|| text("file_path"))
        .map(PathBuf::from)?;
    let text = text("content")?.to_owned();
    (input.len() == 2 && path.is_absolute()).then_some(Allowed::Content { path, text })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(command: &str, args: &[&str], cwd: &str) -> Act {
        Act::Run {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: cwd.into(),
            env: Vec::new(),
        }
    }

    fn allowed(tool_call: Value) -> Released {
        let Value::Object(tool_call) = tool_call else {
            panic!()
        };
        let mut released = Released::default();
        released.allow(&tool_call, Path::new("/"));
        released
    }

    #[test]
    fn the_same_command_is_asked_about_once() {
        let asked = json!({"kind": "execute", "rawInput": {"command": "ls -l"}});
        let mut released = allowed(asked.clone());
        assert!(!released.take(&run("ls", &[], "/")));
        assert!(!released.take(&run("ls -l", &[], "/tmp")));
        assert!(released.take(&run("bash", &["-c", "ls -l"], "/")));
        assert!(
            !released.take(&run("ls -l", &[], "/")),
            "it was done already"
        );
        let with_env = Act::Run {
            command: "ls -l".to_owned(),
            args: Vec::new(),
            cwd: "/".into(),
            env: vec![("LD_PRELOAD".to_owned(), "x".to_owned())],
        };
        let asked_again = asked.clone();
        assert!(!allowed(asked).take(&with_env));
        let quiet = |line: &str| Act::Run {
            command: "/bin/bash".to_owned(),
            args: vec!["-c".to_owned(), line.to_owned()],
            cwd: "/".into(),
            env: vec![
                ("NO_COLOR".to_owned(), "1".to_owned()),
                ("TERM".to_owned(), "dumb".to_owned()),
            ],
        };
        assert!(!allowed(asked_again.clone()).take(&quiet("cd '/tmp' && ls -l")));
        assert!(!allowed(asked_again.clone()).take(&quiet("cd '/' && ls -l; id")));
        assert!(allowed(asked_again).take(&quiet("cd '/' && ls -l")));
        let more = json!({"kind": "execute", "rawInput": {"command": "ls -l", "background": true}});
        assert!(!allowed(more).take(&run("ls -l", &[], "/")));
        assert!(
            !allowed(json!({"kind": "execute", "title": "ls -l"})).take(&run("ls -l", &[], "/"))
        );
    }

    #[test]
    fn the_same_write_is_asked_about_once() {
        let diff = json!({"type": "diff", "path": "/a", "oldText": "1", "newText": "2"});
        let write = |old: &str, new: &str| Act::Write {
            path: "/a".into(),
            old: Old::Text(old.to_owned()),
            new: new.to_owned(),
        };
        let mut released = allowed(json!({"kind": "edit", "content": [diff]}));
        assert!(!released.take(&write("1", "3")));
        assert!(!released.take(&write("0", "2")));
        assert!(released.take(&write("1", "2")));
        assert!(!released.take(&write("1", "2")));
        let twice =
            allowed(json!({"kind": "edit", "content": [diff, diff]})).take(&write("1", "2"));
        assert!(!twice);
        // Policy judged by the file that is named.
        for (named, same) in [("/a", true), ("a", true), ("/docs/a", false)] {
            for name in ["path", "file_path", "filePath"] {
                let asked = json!({"kind": "edit", "rawInput": {name: named}, "content": [diff]});
                let taken = allowed(asked).take(&write("1", "2"));
                assert_eq!(taken, same, "{name} {named}");
            }
        }
        let other = json!({"kind": "edit", "rawInput": {"path": "/docs/a", "content": "2"}, "content": [diff]});
        assert_eq!(allowed(other).acts, []);
    }

    #[test]
    fn the_same_text_of_a_file_is_asked_about_once() {
        let write = |path: &str, new: &str| Act::Write {
            path: path.into(),
            old: Old::Text("1".to_owned()),
            new: new.to_owned(),
        };
        let asked =
            json!({"kind": "edit", "title": "write", "rawInput": {"path": "/a", "content": "2"}});
        let mut released = allowed(asked);
        assert!(!released.take(&write("/a", "3")));
        assert!(!released.take(&write("/b", "2")));
        assert!(!released.take(&run("2", &[], "/")));
        assert!(released.take(&write("/a", "2")));
        assert!(!released.take(&write("/a", "2")));
        // What else is asked may change what is written.
        let more =
            json!({"kind": "edit", "rawInput": {"path": "/a", "content": "2", "mode": "append"}});
        assert!(!allowed(more).take(&write("/a", "2")));
        let relative = json!({"kind": "edit", "rawInput": {"path": "a", "content": "2"}});
        assert!(!allowed(relative).take(&write("a", "2")));
    }

    #[test]
    fn a_yes_releases_only_what_was_decided() {
        let command = json!({"command": "ls"});
        let whole = json!({"path": "/a", "content": "2"});
        let diff = json!([{"type": "diff", "path": "/a", "oldText": "1", "newText": "2"}]);
        let write = Act::Write {
            path: "/a".into(),
            old: Old::Text("1".to_owned()),
            new: "2".to_owned(),
        };
        for kind in [
            "read", "search", "other", "think", "edit", "execute", "fetch",
        ] {
            let asked = |name: &str, what: &Value| allowed(json!({"kind": kind, name: what}));
            let runs = asked("rawInput", &command).take(&run("ls", &[], "/"));
            assert_eq!(runs, kind == "execute", "{kind}");
            assert_eq!(asked("content", &diff).take(&write), kind == "edit");
            assert_eq!(asked("rawInput", &whole).take(&write), kind == "edit");
        }
    }

    #[test]
    fn a_call_of_no_kind_is_decided_as_what_it_would_release() {
        for (call, kind) in [
            (
                json!({"kind": "other", "rawInput": {"command": "ls"}}),
                Some(EXECUTE),
            ),
            (json!({"rawInput": {"command": "ls"}}), Some(EXECUTE)),
            (
                json!({"kind": "other", "rawInput": {"path": "/a", "content": "2"}}),
                Some(EDIT),
            ),
            (
                json!({"content": [{"type": "diff", "path": "/a", "newText": "2"}]}),
                Some(EDIT),
            ),
            // It says what it is, and releases nothing else.
            (json!({"kind": "read", "rawInput": {"command": "ls"}}), None),
            (json!({"kind": "other", "rawInput": {"query": "x"}}), None),
        ] {
            let named = kind_of(call.as_object().unwrap(), Path::new("/"));
            assert_eq!(named, kind, "{call}");
        }
    }

    #[test]
    fn a_program_of_the_repository_is_no_shell() {
        for (shell, is_one) in [
            ("bash", true),
            ("/bin/sh", true),
            ("/usr/bin/zsh", true),
            ("/repo/bash", false),
            ("./sh", false),
            ("/usr/bin/../../repo/bash", false),
        ] {
            let asked = json!({"kind": "execute", "rawInput": {"command": "ls"}});
            let taken = allowed(asked).take(&run(shell, &["-c", "ls"], "/"));
            assert_eq!(taken, is_one, "{shell}");
        }
    }
}
