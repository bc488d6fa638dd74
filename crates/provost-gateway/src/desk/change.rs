//! A person changes a call: what was written is the new arguments, and must fit the tool.

use provost_core::{
    approval::Question,
    call::{NOT_EXACT, is_exact},
};
use serde_json::{Map, Value};

use crate::app::App;

/// Arguments that are a command, where a plain text may stand for all of them.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];

/// An object is the arguments; another text takes the place of the command, or of the only text there is.
pub(super) fn arguments(
    app: &App,
    question: &Question,
    text: &str,
) -> Result<Map<String, Value>, String> {
    let arguments = match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => arguments,
        _ => in_place(question, text)?,
    };
    if !arguments.values().all(is_exact) {
        return Err(format!("{NOT_EXACT}: write it as text"));
    }
    fitting(app, question, arguments)
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

fn in_place(question: &Question, text: &str) -> Result<Map<String, Value>, String> {
    let params = &question.params;
    let is_text = |name: &&str| params.get(*name).is_some_and(Value::is_string);
    let mut texts = params.iter().filter(|(_, value)| value.is_string());
    let only = match (texts.next(), texts.next()) {
        (Some((name, _)), None) => Some(name.as_str()),
        _ => None,
    };
    let Some(name) = COMMANDS.iter().copied().find(|name| is_text(name)).or(only) else {
        return Err(
            "reply with 5 and the new arguments as JSON, such as 5 {\"path\": \"/tmp/a\"}"
                .to_owned(),
        );
    };
    let mut arguments = params.clone();
    arguments.insert(name.to_owned(), text.into());
    Ok(arguments)
}
