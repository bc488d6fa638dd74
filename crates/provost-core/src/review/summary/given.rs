//! Where a call says its command: the one reading of arguments behind what people see and what rules are told.

use serde_json::{Map, Value};

use super::{
    bounds::hides_characters,
    change::patch,
    facts::is_shell_tool,
    shell::{Word, is_keyword_text},
};
use crate::review::hidden::reorders;

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
/// What editing tools call a command is no shell's.
const EDITOR_VERBS: [&str; 5] = ["view", "create", "str_replace", "insert", "undo_edit"];

/// The command of a call, as its arguments give it.
#[derive(Debug)]
pub(super) struct Given {
    /// Which of several the tool obeys is not known: all of them count.
    pub(super) commands: Vec<Form>,
    /// Variables that the tool sets: assignments before the command.
    pub(super) assigned: Vec<Word>,
    /// Nothing else in the arguments has a say in what runs.
    pub(super) sure: bool,
    pub(super) hides_characters: bool,
}

#[derive(Debug)]
pub(super) enum Form {
    /// A text for a shell.
    Script(String),
    /// A program and its words, which a tool that joins them for a shell reads alike.
    Words(Vec<String>),
    /// Some tools start the program, others join it all for a shell, and the two differ.
    Either(Vec<String>),
    /// A shape that is not known.
    Odd(String),
}

/// `None` where there is no command. A shell's call without one is a command that could not be found, whatever
/// else it names, unless what stands in its place is a patch that `changes` files.
pub(super) fn find(tool: &str, params: &Map<String, Value>, changes: bool) -> Option<Given> {
    let shell = is_shell_tool(tool);
    let names = names(shell);
    let given: Vec<&Value> = names.filter_map(|name| set(params, name)).collect();
    let commands: Vec<&Value> = given
        .iter()
        .copied()
        .filter(|value| is_command(tool, value) || (shell && value.is_string()))
        .collect();
    let mut found = Given {
        commands: Vec::new(),
        assigned: Vec::new(),
        sure: speaks_posix(tool) && is_ordinary_shell(params) && !has_other_command(params),
        hides_characters: commands.iter().any(|value| hides(value)),
    };
    if commands.is_empty() {
        // `command: 5`, or `{"x": …}`: it was given, in a shape that is not known.
        let odd = given
            .iter()
            .filter(|value| !value.is_string() && !value.is_array());
        let odd: Vec<Form> = odd.map(|value| Form::Odd(value.to_string())).collect();
        found.sure = false;
        let lost = !odd.is_empty() || (shell && (given.is_empty() || !changes));
        found.commands = odd;
        return lost.then_some(found);
    }
    let arguments = ARGUMENTS.iter().filter_map(|name| set(params, name));
    let arguments: Vec<&Value> = arguments.collect();
    found.sure &= arguments.len() <= 1;
    found.hides_characters |= arguments.iter().any(|arguments| hides(arguments));
    for name in ENVIRONMENTS {
        // `env: prod` is no environment.
        if let Some(environment) = set(params, name)
            && environment.as_str().is_none_or(|text| text.contains('='))
        {
            found.assigned.extend(assignments(environment));
        }
    }
    let forms = commands.into_iter().flat_map(|command| {
        let alone = arguments.is_empty().then(|| form(command, None));
        let with = arguments
            .iter()
            .map(|arguments| form(command, Some(arguments)));
        alone.into_iter().chain(with)
    });
    found.commands = forms.collect();
    Some(found)
}

/// Whether what runs may stand under a name that is read as one of those that are known: `Command` beside `command`,
/// to servers that do not tell upper from lower case, or `commands`.
fn has_other_command(params: &Map<String, Value>) -> bool {
    let known = || {
        let commands = COMMANDS.iter().chain(&SHELL_COMMANDS);
        commands
            .chain(&ARGUMENTS)
            .chain(&ENVIRONMENTS)
            .chain(&INTERPRETERS)
    };
    let fold = |name: &str| {
        let name = name.replace(['_', '-'], "");
        name.to_uppercase().to_lowercase()
    };
    let is_other = |name: &str| {
        let folded = fold(name);
        let reads_alike = |known: &&str| *known != name && fold(known) == folded;
        folded == "commands" || (!known().any(|known| *known == name) && known().any(reads_alike))
    };
    let mut names = params.keys().filter(|name| set(params, name).is_some());
    names.any(|name| is_other(name))
}

/// The arguments that hold a command, by their shape.
pub(super) fn shown(params: &Map<String, Value>) -> Vec<&'static str> {
    COMMANDS
        .into_iter()
        .filter(|name| set(params, name).is_some_and(|value| is_command("", value)))
        .collect()
}

fn names(shell: bool) -> impl Iterator<Item = &'static str> {
    let of_shells = SHELL_COMMANDS.into_iter().filter(move |_| shell);
    COMMANDS.into_iter().chain(of_shells)
}

fn set<'a>(params: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    params.get(name).filter(|value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

fn is_command(tool: &str, value: &Value) -> bool {
    match value {
        // To any other tool a text that looks like a patch is a command all the same.
        Value::String(text) if patch::begins(text) => !patch::is_applied_by(tool),
        Value::String(text) => !EDITOR_VERBS.contains(&text.as_str()),
        Value::Array(items) => !is_patch(items),
        _ => false,
    }
}

/// `["apply_patch", "*** Begin Patch…"]` is a change.
fn is_patch(items: &[Value]) -> bool {
    matches!(items, [name, Value::String(_)] if name == "apply_patch")
}

fn hides(value: &Value) -> bool {
    match value {
        Value::String(text) => hides_characters(text) || reorders(text),
        Value::Array(items) => items.iter().any(hides),
        _ => false,
    }
}

fn form(command: &Value, arguments: Option<&Value>) -> Form {
    let words = match (command, arguments) {
        (Value::String(text), None) => return Form::Script(text.clone()),
        (Value::String(program), Some(Value::Array(items))) => {
            let program = Some(program.as_str());
            let all = std::iter::once(program).chain(items.iter().map(Value::as_str));
            all.collect::<Option<Vec<&str>>>()
        }
        (Value::Array(items), None) => items.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let Some(words) = words else {
        let arguments = arguments.map(Value::to_string).unwrap_or_default();
        let text = command
            .as_str()
            .map_or_else(|| command.to_string(), str::to_owned);
        return Form::Odd(format!("{text} {arguments}").trim_end().to_owned());
    };
    // How a tool hands its text to a shell.
    if let [
        "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh",
        "-c" | "-lc",
        text,
    ] = words.as_slice()
        && arguments.is_none()
    {
        return Form::Script((*text).to_owned());
    }
    let alike = words.iter().all(|word| is_plain(word))
        && words
            .first()
            .is_some_and(|name| !name.contains('=') && !is_keyword_text(name));
    let words = words.into_iter().map(str::to_owned).collect();
    if alike {
        Form::Words(words)
    } else {
        Form::Either(words)
    }
}

/// A shell takes it for itself.
pub(super) fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    !word.is_empty() && word.chars().all(plain) && !word.starts_with('=')
}

fn assignments(environment: &Value) -> Vec<Word> {
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
    texts.iter().map(|text| Word::literal(text)).collect()
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

/// Other shells have other quotes and names: their commands are shown, and not judged harmless.
pub(super) fn speaks_posix(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    let whole = [
        "fish", "nu", "csh", "tcsh", "node", "ruby", "perl", "php", "lua", "js",
    ];
    let mut parts = tool.split(|c: char| !c.is_ascii_alphanumeric());
    ![
        "powershell",
        "pwsh",
        "cmd.exe",
        "sql",
        "python",
        "nushell",
        "javascript",
    ]
    .iter()
    .any(|other| tool.contains(other))
        && !parts.any(|part| whole.contains(&part))
}
