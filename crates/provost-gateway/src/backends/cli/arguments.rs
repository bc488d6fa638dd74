//! The argument list of a call, checked: only known arguments, only allowed flags, none of what a
//! shell would take for its own.

use provost_abl::expr::nearest;
use provost_core::ports::ForwardError;
use serde_json::{Map, Value};

use super::Resolved;

const KNOWN: [&str; 4] = ["args", "flags", "stdin", "command"];

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
    for name in params.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        let meant = nearest(name, KNOWN)
            .map(|near| format!(", did you mean `{near}`?"))
            .unwrap_or_default();
        problems.push(format!("unknown argument `{name}`{meant}"));
    }
    // The tool's name says which command runs; an argument may repeat it, and not contradict it.
    if params
        .get("command")
        .is_some_and(|command| command.as_str() != resolved.command)
    {
        problems.push("`command` is not the command of this tool".to_owned());
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
    let lists = &resolved.settings.list_args;
    let flags = flags(params.get("flags"), lists, &mut problems);
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
fn flags(flags: Option<&Value>, lists: &[String], problems: &mut Vec<String>) -> Vec<String> {
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
        if !is_flag_name(name) {
            problems.push(format!("`{name}` cannot be the name of a flag"));
            continue;
        }
        let flag = if name.len() == 1 {
            format!("-{name}")
        } else {
            format!("--{name}")
        };
        match value {
            Value::Bool(true) => args.push(flag),
            Value::Bool(false) | Value::Null => {}
            Value::Array(values) if lists.contains(&flag) => {
                let texts: Vec<_> = values.iter().filter_map(text).collect();
                if texts.len() < values.len() {
                    problems.push(format!("flag `{name}` must list only strings and numbers"));
                }
                args.extend(texts.into_iter().flat_map(|text| [flag.clone(), text]));
            }
            Value::Array(_) => problems.push(format!(
                "flag `{name}` is a list, and `list_args` does not name `{flag}`: give one value, or repeat it in `args`"
            )),
            one => match text(one) {
                Some(text) => args.extend([flag, text]),
                None => problems.push(format!(
                    "flag `{name}` must be a string, a number or a boolean"
                )),
            },
        }
    }
    args
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
