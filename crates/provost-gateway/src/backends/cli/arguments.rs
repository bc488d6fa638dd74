//! The argument list of a call, checked: only known arguments, only allowed flags, none of what a
//! shell would take for its own.

use provost_abl::expr::nearest;
use provost_core::ports::ForwardError;
use serde_json::{Map, Value};

use super::{COMMAND, CliCommandConfig, Resolved};

const KNOWN: [&str; 3] = ["args", "flags", "stdin"];

/// There is no shell, but what a call runs may start one: these never reach it as arguments.
const REFUSED: [(&str, &str); 8] = [
    (";", ";"),
    ("&&", "&&"),
    ("|", "|"),
    ("`", "`"),
    ("$(", "$("),
    ("${", "${"),
    ("\n", "newline"),
    ("\r", "carriage return"),
];

#[derive(Debug, PartialEq)]
pub(super) struct Invocation<'p> {
    pub(super) args: Vec<String>,
    pub(super) stdin: Option<&'p str>,
}

pub(super) fn read<'p>(
    params: &'p Map<String, Value>,
    resolved: &Resolved<'_>,
) -> Result<Invocation<'p>, ForwardError> {
    let mut problems = Vec::new();
    for name in params.keys() {
        problems.extend(unknown(name, resolved));
    }
    let stdin = match params.get("stdin") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => {
            problems.push("`stdin` must be text".to_owned());
            None
        }
    };
    let mut args = positional(params.get("args"), &mut problems);
    let flags = flags(params.get("flags"), resolved.settings, &mut problems);
    // Behind `--` a flag would be one no more.
    let before = args
        .iter()
        .position(|arg| arg == "--")
        .unwrap_or(args.len());
    args.splice(before..before, flags);
    for arg in &args {
        problems.extend(refusal(arg));
    }
    if let Some(allowed) = &resolved.settings.allowed_args {
        problems.extend(forbidden(&args, allowed));
    }
    if problems.is_empty() {
        Ok(Invocation { args, stdin })
    } else {
        Err(ForwardError::Arguments(problems.join("; ")))
    }
}

/// Only the dispatcher takes `command`. Beside the name of another tool it would be ignored, and people and rules
/// would take it for what runs.
fn unknown(name: &str, resolved: &Resolved<'_>) -> Option<String> {
    if KNOWN.contains(&name) || (name == COMMAND && resolved.dispatched) {
        return None;
    }
    let help = match name {
        COMMAND => ": the name of the tool says what runs".to_owned(),
        _ => nearest(name, KNOWN)
            .map(|near| format!(", did you mean `{near}`?"))
            .unwrap_or_default(),
    };
    Some(format!("unknown argument `{name}`{help}"))
}

fn positional(args: Option<&Value>, problems: &mut Vec<String>) -> Vec<String> {
    let items = match args {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => {
            problems.push("`args` must be an array".to_owned());
            return Vec::new();
        }
    };
    let texts: Vec<_> = items.iter().filter_map(text).collect();
    if texts.len() < items.len() {
        problems.push("`args` must hold only strings and numbers".to_owned());
    }
    texts
}

/// A flag with a value, or alone where its value is true. A list repeats the flag where the command declares
/// that it takes several: a rule about `flags.env` speaks of one value, and must not be passed by a list of one.
fn flags(
    flags: Option<&Value>,
    settings: &CliCommandConfig,
    problems: &mut Vec<String>,
) -> Vec<String> {
    let flags = match flags {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Object(flags)) => flags,
        Some(_) => {
            problems.push("`flags` must be an object".to_owned());
            return Vec::new();
        }
    };
    let mut args = Vec::new();
    for (name, value) in flags {
        match words(name, value, settings) {
            Ok(words) => args.extend(words),
            Err(problem) => problems.push(problem),
        }
    }
    args
}

/// The words that a flag becomes.
fn words(name: &str, value: &Value, settings: &CliCommandConfig) -> Result<Vec<String>, String> {
    if !is_flag_name(name) {
        return Err(format!("`{name}` cannot be the name of a flag"));
    }
    let flag = if name.len() == 1 {
        format!("-{name}")
    } else {
        format!("--{name}")
    };
    match value {
        Value::Bool(true) => Ok(vec![flag]),
        Value::Bool(false) | Value::Null => Ok(Vec::new()),
        Value::Array(values) if settings.list_args.contains(&flag) => {
            let texts: Option<Vec<_>> = values.iter().map(text).collect();
            let texts =
                texts.ok_or_else(|| format!("flag `{name}` must list only strings and numbers"))?;
            let each = texts.into_iter().map(|text| valued(&flag, text, settings));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Value::Array(_) => Err(format!(
            "flag `{name}` is a list, and `list_args` does not name `{flag}`: give one value, or repeat it in `args`"
        )),
        one => match text(one) {
            Some(text) => valued(&flag, text, settings),
            None => Err(format!(
                "flag `{name}` must be a string, a number or a boolean"
            )),
        },
    }
}

/// A flag and its value are one word. A value that is a word of its own would be a flag or an argument of its own
/// to a program whose flag takes none, and no rule about `flags` or `args` saw it: only flags that are declared
/// to take a value are written so.
fn valued(flag: &str, value: String, settings: &CliCommandConfig) -> Result<Vec<String>, String> {
    let is_long = flag.starts_with("--");
    let is_named = |list: &[String]| list.iter().any(|one| one == flag);
    let is_apart = is_named(&settings.value_args) || (!is_long && is_named(&settings.list_args));
    match (is_apart, is_long) {
        (true, _) if value.starts_with('-') => Err(format!(
            "the value of flag `{flag}` begins with `-`, and would be taken for another flag"
        )),
        (true, _) => Ok(vec![flag.to_owned(), value]),
        (false, true) => Ok(vec![format!("{flag}={value}")]),
        (false, false) => Err(format!(
            "flag `{flag}` cannot be given a value, because `value_args` does not name it: write both in `args`"
        )),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_flag_name(name: &str) -> bool {
    !name.starts_with('-')
        && !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn refusal(arg: &str) -> Option<String> {
    if arg.contains('\0') {
        return Some("an argument must not hold a NUL byte".to_owned());
    }
    let (_, name) = REFUSED.iter().find(|(text, _)| arg.contains(text))?;
    Some(format!("an argument must not hold `{name}`"))
}

/// The flags that are not on the list. What follows an allowed `--` is no flag.
fn forbidden(args: &[String], allowed: &[String]) -> Option<String> {
    let is_allowed = |flag: &str| allowed.iter().any(|one| one == flag);
    let refused: Vec<_> = args
        .iter()
        .take_while(|arg| *arg != "--" || !is_allowed("--"))
        .filter(|arg| arg.starts_with('-'))
        .map(|arg| arg.split_once('=').map_or(arg.as_str(), |(name, _)| name))
        .filter(|flag| !is_allowed(flag))
        .map(|flag| format!("`{flag}`"))
        .collect();
    if refused.is_empty() {
        return None;
    }
    let allowed = if allowed.is_empty() {
        "none".to_owned()
    } else {
        allowed.join(", ")
    };
    Some(format!(
        "flag {} is not allowed (allowed: {allowed})",
        refused.join(", ")
    ))
}
