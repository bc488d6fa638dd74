//! A person changes a call: what was written is the new arguments, and must fit the tool.

mod asked;

use provost_core::{
    approval::Question,
    call::{Digest, NOT_EXACT, exact_numbers, is_exact},
    menu::{Code, Unclear},
    review::unmask,
};
use serde_json::{Map, Value};

use self::asked::Asked;
use super::InLine;
use crate::app::App;

/// Arguments that are a command, where a plain text may stand for all of them.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];

/// An object is the arguments; another text takes the place of the command, or of the only text there is.
pub(super) fn arguments(
    app: &App,
    question: &Question,
    text: &str,
) -> Result<Map<String, Value>, String> {
    let arguments = match serde_json::from_slice(&exact_numbers(text.as_bytes())) {
        Ok(Value::Object(arguments)) => arguments,
        _ => in_place(question, text)?,
    };
    if !arguments.values().all(is_exact) {
        return Err(format!("{NOT_EXACT}: write it as text"));
    }
    fitting(app, question, arguments)
}

/// The same for a line of a reply, where "5 tables would be dropped by this" is a remark and no command: beside
/// JSON, only what looks like the call is taken. Where no text can take its place, its sender is told so.
pub(super) fn in_line(
    app: &App,
    question: &Question,
    line: &InLine,
) -> Result<Map<String, Value>, String> {
    let is_object = serde_json::from_str::<Map<String, Value>>(&line.text).is_ok();
    let is_clear = || {
        let asked = Asked::call(&question.tool, &question.params);
        asked.is_none_or(|asked| asked.is_replaced_by(line))
    };
    if !is_object && !is_clear() {
        return Err(Unclear::unmarked(Code::Change, &line.text).to_string());
    }
    arguments(app, question, &line.text)
}

/// The same for what an agent asks in its own words.
pub(super) fn words_in_line(question: &Question, line: &InLine) -> Result<String, String> {
    let text = &line.text;
    let is_json = text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
    if is_json || Asked::in_words(question).is_replaced_by(line) {
        Ok(text.clone())
    } else {
        Err(Unclear::unmarked(Code::Change, text).to_string())
    }
}

/// A changed call is a new one, and must fit its tool.
pub(super) fn fitting(
    app: &App,
    question: &Question,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let fits = app.backends.fits(question, &arguments);
    fits.map_err(|why| format!("the changed call does not fit the tool: {why}"))?;
    Ok(arguments)
}

/// Whether these are the arguments of the question, as they were shown: with its secrets masked.
pub(super) fn is_none(question: &Question, arguments: &Map<String, Value>) -> bool {
    let whole = unmask(arguments, &question.params);
    whole.is_some_and(|whole| Digest::of_written(&whole) == Digest::of_written(&question.params))
}

fn in_place(question: &Question, text: &str) -> Result<Map<String, Value>, String> {
    let Some(name) = replaced(&question.params) else {
        return Err(
            "reply with 5 and the new arguments as JSON, such as 5 {\"path\": \"/tmp/a\"}"
                .to_owned(),
        );
    };
    let mut arguments = question.params.clone();
    arguments.insert(name.to_owned(), text.into());
    Ok(arguments)
}

/// The argument whose place a plain text takes.
fn replaced(params: &Map<String, Value>) -> Option<&str> {
    let is_text = |name: &&str| params.get(*name).is_some_and(Value::is_string);
    let mut texts = params.iter().filter(|(_, value)| value.is_string());
    let only = match (texts.next(), texts.next()) {
        (Some((name, _)), None) => Some(name.as_str()),
        _ => None,
    };
    COMMANDS.iter().copied().find(|name| is_text(name)).or(only)
}
