//! Secrets inside arguments: by the name they stand under, and by how they look. Every view of a call passes
//! here; what is stored and what runs does not.

mod edit;
mod named;
pub(super) mod words;

use serde_json::{Map, Value};

use super::{
    names::{
        SHORTEST_NUMBER, holds_words, is_command, is_input, is_key_name, is_place_name, is_secret,
        is_secret_number, is_secret_object, is_shell_text,
    },
    secret::{Grammar, Labels, Reading, is_mentioned, is_random, kind_of, secrets},
};
use named::{pair, pair_in_list};
use words::{Joined, program, runs_script};

pub use edit::unmask;

/// Arguments with their secrets masked.
pub fn mask_map(params: &Map<String, Value>) -> Map<String, Value> {
    mask_some(params, params)
}

/// Some of a call's arguments, masked as they are beside the others.
pub fn mask_some(some: &Map<String, Value>, all: &Map<String, Value>) -> Map<String, Value> {
    let labels = labels(all);
    let mut shown = |_: &str, kind: &'static str, secret: &str| labels.mask(kind, secret);
    Masking::of(all, &mut shown).members(some, false)
}

/// Whether a view of these arguments masks anything.
pub fn hides_secret(params: &Map<String, Value>) -> bool {
    let mut hides = false;
    let mut noted = |_: &str, _: &'static str, _: &str| {
        hides = true;
        String::new()
    };
    Masking::of(params, &mut noted).members(params, false);
    hides
}

/// A value that stands under no name.
pub fn mask_value(value: &Value) -> Value {
    let mut params = Map::new();
    params.insert(String::new(), value.clone());
    let shown = mask_map(&params).remove("");
    shown.unwrap_or_default()
}

/// The steps of one command, as they may be shown. `runs_text`: one of them runs a text as a program.
pub(super) fn mask_steps(steps: &[&str], runs_text: bool) -> Vec<String> {
    let beside = steps.join("\n");
    let grammar = Grammar::Command {
        beside: &beside,
        runs_text,
    };
    let found: Vec<_> = steps.iter().map(|step| secrets(step, grammar)).collect();
    let mut labels = Labels::default();
    for (step, found) in steps.iter().zip(&found) {
        labels.note_all(step, found);
    }
    let steps = steps.iter().zip(&found);
    steps
        .map(|(step, found)| labels.masked(step, found))
        .collect()
}

fn labels(params: &Map<String, Value>) -> Labels {
    let mut labels = Labels::default();
    let mut noted = |_: &str, kind: &'static str, secret: &str| {
        labels.note(kind, secret);
        String::new()
    };
    Masking::of(params, &mut noted).members(params, false);
    labels
}

/// Is told of every secret: where it stands, its kind, and what it is. Answers what is shown instead.
type Sink<'s> = dyn FnMut(&str, &'static str, &str) -> String + 's;

/// A walk through arguments.
struct Masking<'s> {
    sink: &'s mut Sink<'s>,
    /// The names above, without the places in lists.
    path: Vec<String>,
    /// The commands of the call: they may use a variable that stands elsewhere.
    commands: String,
    /// They run a text as a program, or that is not known.
    runs_text: bool,
}

impl<'s> Masking<'s> {
    fn of(params: &Map<String, Value>, sink: &'s mut Sink<'s>) -> Self {
        let mut commands = String::new();
        collect_commands(params, &mut commands);
        let is_sure = || Reading::of(&commands).is_some_and(|it| !it.outline.runs_text);
        let runs_text = !commands.is_empty() && !is_sure();
        Self {
            sink,
            path: Vec::new(),
            commands,
            runs_text,
        }
    }

    /// An object's members; `below`: the object itself stands under the name of a secret.
    fn members(&mut self, map: &Map<String, Value>, below: bool) -> Map<String, Value> {
        let mut shown = Map::new();
        let named = pair(map);
        for (name, value) in map {
            self.path.push(name.clone());
            let value = match named {
                Some((field, secret)) if field == name => self.value(secret, value, below),
                _ if holds_words(name) && is_words(value) => self.words(map, name, value),
                _ => self.value(name, value, below),
            };
            let mut key = self.text(name, Grammar::Text);
            self.path.pop();
            // Two names may look the same once they are masked: neither is lost.
            while shown.contains_key(&key) {
                key.push('\'');
            }
            shown.insert(key, value);
        }
        shown
    }

    fn value(&mut self, name: &str, value: &Value, below: bool) -> Value {
        let below = below || is_secret(name);
        match value {
            Value::String(text) if below || is_key(name, text) => self.named(name, text).into(),
            Value::String(text) if is_place_name(name, text) && !text.contains("://") => {
                text.as_str().into()
            }
            Value::String(text) => self.text(text, self.grammar(name)).into(),
            Value::Number(number) => {
                let number = number.to_string();
                if is_secret_number(name, number.len())
                    || (below && number.len() >= SHORTEST_NUMBER && !is_secret(name))
                {
                    return self.mask(kind_of(name), &number).into();
                }
                value.clone()
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| match pair_in_list(item) {
                    Some((name, text)) => {
                        Value::Array(vec![name.into(), self.named(name, text).into()])
                    }
                    None => self.value(name, item, below),
                });
                items.collect()
            }
            Value::Object(map) => {
                let below = below && (!is_secret(name) || is_secret_object(name));
                Value::Object(self.members(map, below))
            }
            other => other.clone(),
        }
    }

    /// How the text under this name is read: as a command if a shell may do so.
    fn grammar(&self, name: &str) -> Grammar<'static> {
        let runs = self.runs_text && (is_input(name) || is_mentioned(&self.commands, name));
        if runs {
            Grammar::Command {
                beside: "",
                runs_text: true,
            }
        } else if is_shell_text(name) {
            Grammar::COMMAND
        } else {
            Grammar::Text
        }
    }

    fn text(&mut self, text: &str, grammar: Grammar<'_>) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        for secret in secrets(text, grammar) {
            shown.push_str(text.get(at..secret.place.start).unwrap_or_default());
            let literal = text.get(secret.place.clone()).unwrap_or_default();
            shown.push_str(&self.mask(secret.kind, literal));
            at = secret.place.end;
        }
        shown.push_str(text.get(at..).unwrap_or_default());
        shown
    }

    fn mask(&mut self, kind: &'static str, secret: &str) -> String {
        (self.sink)(&self.path.join("\u{1f}"), kind, secret)
    }
}

fn is_key(name: &str, text: &str) -> bool {
    is_key_name(name) && is_random(text.trim_start_matches("base64:"))
}

fn is_words(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string))
}

fn collect_commands(params: &Map<String, Value>, commands: &mut String) {
    for (name, value) in params {
        match value {
            Value::String(text) if is_shell_text(name) => {
                commands.push_str(text);
                commands.push('\n');
            }
            Value::Array(items) if holds_words(name) => {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                match words.split_last() {
                    Some((script, shell)) if runs_script(shell) => commands.push_str(script),
                    _ => {
                        let before = (!is_command(name)).then(|| program(params));
                        commands.push_str(&Joined::of(before, &words).text);
                    }
                }
                commands.push('\n');
            }
            Value::Object(map) => collect_commands(map, commands),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
