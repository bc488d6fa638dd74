//! A person changes a call: what was written is the new arguments, and must fit the tool.

use provost_core::{
    approval::Question,
    call::{Digest, NOT_EXACT, exact_numbers, is_exact},
    review::{Facts, unmask},
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
/// JSON, only a text that begins as the call does, or with a path, is taken.
pub(super) fn in_line(
    app: &App,
    question: &Question,
    text: &str,
) -> Result<Map<String, Value>, String> {
    let is_object = serde_json::from_str::<Map<String, Value>>(text).is_ok();
    if !is_object && !is_clear(&question.tool, &question.params, text) {
        return Err(format!(
            "it is not clear that `{}` is to take the place of this call: reply with 5, then a line of ```, the new text, \
             and another line of ```",
            shortened(text)
        ));
    }
    arguments(app, question, text)
}

/// Every line begins with a program of the call, with its first word, or with a path. Where no text can take
/// the place of the call, its sender is told so.
fn is_clear(tool: &str, params: &Map<String, Value>, text: &str) -> bool {
    let Some(name) = replaced(params) else {
        return true;
    };
    let before = params.get(name).and_then(Value::as_str);
    let first = before.and_then(|before| before.split_whitespace().next());
    let facts = Facts::of(tool, params);
    let parts = facts.command.map(|command| command.parts);
    let programs: Vec<String> = parts
        .into_iter()
        .flatten()
        .map(|part| part.program)
        .collect();
    let is_path = |word: &str| {
        let below = ["/", "./", "../", "~/"]
            .iter()
            .find_map(|root| word.strip_prefix(root));
        below.is_some_and(|below| below.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
    };
    let mut words = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    words.all(|word| {
        first == Some(word) || is_path(word) || programs.iter().any(|program| program == word)
    })
}

fn shortened(text: &str) -> String {
    /// So much of it is shown to the person who wrote it.
    const SHOWN: usize = 40;
    text.chars().take(SHOWN).collect()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn clear(tool: &str, params: &Value, text: &str) -> bool {
        is_clear(tool, params.as_object().unwrap(), text)
    }

    #[test]
    fn p13_a_remark_takes_the_place_of_no_command() {
        let command = json!({"command": "rm -rf ./build && npm run build"});
        for text in [
            "npm test",
            "rm -r ./build",
            "/usr/bin/make all",
            "./run.sh --dry",
            "npm ci\nnpm test",
        ] {
            assert!(clear("shell.run", &command, text), "{text}");
        }
        for text in [
            "tables would be dropped by this",
            "minuutjes",
            "stelle",
            "make all",
            "- npm test",
            "npm test\nis that fine with you",
            "/ no",
            "the npm test",
        ] {
            assert!(!clear("shell.run", &command, text), "{text}");
        }
        let path = json!({"path": "/tmp/x"});
        assert!(clear("files.delete", &path, "/tmp/y"));
        assert!(!clear("files.delete", &path, "others please"));
        let wordy = json!({"text": "Hello all"});
        assert!(clear("chat.post", &wordy, "Hello Bob"));
        assert!(!clear("chat.post", &wordy, "people read that"));
    }
}
