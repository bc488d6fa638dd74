//! The programs of a command, from the arguments in which tools take commands.

use serde_json::{Map, Value};

use super::{Ledger, Risks, is_shell_tool, unsure};
use crate::review::summary::{
    command::{LONGEST_READ, is_command, speaks_posix},
    judge::Judge,
    place::Place,
    shell::{self, Word},
};

const COMMANDS: [&str; 2] = ["command", "cmd"];
/// What only tools that are shells take for a command.
const SHELL_COMMANDS: [&str; 5] = [
    "script",
    "shell_command",
    "command_line",
    "commandLine",
    "bash_command",
];
const ARGUMENTS: [&str; 3] = ["args", "argv", "arguments"];
const ENVIRONMENTS: [&str; 3] = ["env", "environment", "env_vars"];
const INTERPRETERS: [&str; 3] = ["shell", "executable", "interpreter"];

/// `None` where there is no command. A shell's call without one is a command that could not be found.
pub(super) fn read(
    tool: &str,
    params: &Map<String, Value>,
    changes: bool,
) -> Option<(Ledger, Risks)> {
    let shell = is_shell_tool(tool);
    let names = COMMANDS
        .iter()
        .chain(SHELL_COMMANDS.iter().filter(|_| shell));
    let given: Vec<&Value> = names.filter_map(|name| set(params, name)).collect();
    let commands: Vec<&Value> = given
        .iter()
        .copied()
        .filter(|value| is_command(value) || (shell && value.is_string()))
        .collect();
    if commands.is_empty() {
        // `command: 5`, or `{"x": …}`: it was given, in a shape that is not known.
        let odd = given
            .iter()
            .any(|value| !value.is_string() && !value.is_array());
        return (odd || (shell && !changes)).then(unsure);
    }
    if !speaks_posix(tool) || !is_ordinary_shell(params) {
        return Some(unsure());
    }
    let ledger = Ledger::default().share();
    let mut judge = Judge::noting(Place::untrusted(), ledger.clone());
    let mut risks = Risks::new();
    for name in ENVIRONMENTS {
        // `env: prod` is no environment.
        if let Some(environment) = set(params, name)
            && environment.as_str().is_none_or(|text| text.contains('='))
        {
            assignments(&judge, environment);
        }
    }
    let arguments = ARGUMENTS.iter().find_map(|name| set(params, name));
    for command in commands {
        let found = match arguments {
            Some(arguments) => with_arguments(&mut judge, command, arguments),
            None => alone(&mut judge, command),
        };
        match found {
            Some(found) => risks.extend(found),
            None => return Some(unsure()),
        }
    }
    Some((ledger.take(), risks))
}

fn set<'a>(params: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    params.get(name).filter(|value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

/// `None` where it could not be read in full.
fn alone(judge: &mut Judge, command: &Value) -> Option<Risks> {
    match command {
        Value::String(text) => script(judge, text),
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            let words = words?;
            if let [
                "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh",
                "-c" | "-lc",
                text,
            ] = words.as_slice()
            {
                return script(judge, text);
            }
            self::words(judge, &words)
        }
        _ => None,
    }
}

fn script(judge: &mut Judge, text: &str) -> Option<Risks> {
    let script = (text.len() <= LONGEST_READ && !has_controls(text)).then(|| shell::parse(text))?;
    if !script.sound {
        return None;
    }
    let pipelines = script.pipelines.iter();
    Some(
        pipelines
            .flat_map(|pipeline| judge.pipeline(pipeline))
            .collect(),
    )
}

fn words(judge: &mut Judge, words: &[&str]) -> Option<Risks> {
    if words.iter().any(|word| word.contains('\0')) {
        return None;
    }
    let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
    Some(judge.words(&words))
}

/// A program and its arguments apart. Some tools start the program, others join it all for a shell: only
/// words that both read alike are certain.
fn with_arguments(judge: &mut Judge, command: &Value, arguments: &Value) -> Option<Risks> {
    let mut all = vec![command.as_str()?];
    for argument in arguments.as_array()? {
        all.push(argument.as_str()?);
    }
    let plain = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
        !word.is_empty() && word.chars().all(plain)
    };
    if all.iter().all(plain) {
        words(judge, &all)
    } else {
        None
    }
}

/// Variables that the tool sets are assignments before the command.
fn assignments(judge: &Judge, environment: &Value) {
    let texts: Vec<String> = match environment {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
            .collect(),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().unwrap_or_default().to_owned())
            .collect(),
        _ => vec![environment.to_string()],
    };
    let words: Vec<Word> = texts.iter().map(|text| Word::literal(text)).collect();
    judge.note_assignments(words.iter());
}

/// Another shell than the usual reads the text in another way, or is any program at all.
fn is_ordinary_shell(params: &Map<String, Value>) -> bool {
    const SHELLS: [&str; 4] = ["sh", "bash", "zsh", "dash"];
    INTERPRETERS
        .iter()
        .filter_map(|name| set(params, name))
        .all(|value| match value {
            Value::Bool(_) => true,
            Value::String(text) => {
                let name = ["/bin/", "/usr/bin/"]
                    .iter()
                    .find_map(|folder| text.strip_prefix(folder))
                    .unwrap_or(text);
                SHELLS.contains(&name)
            }
            _ => false,
        })
}

/// Shells drop some of these, and terminals obey them.
fn has_controls(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\t'))
}
