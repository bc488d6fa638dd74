//! Secrets inside arguments: by the name they stand under, and by how they look. Every view of a call passes
//! here; what is stored and what runs does not.

mod edit;
pub(super) mod words;

use serde_json::{Map, Value};

use super::{
    names::{holds_words, is_secret, is_secret_number, is_secret_object, is_shell_text},
    secret::{Grammar, Labels, holds_mask, kind_of, secrets, stays_visible},
};

pub use edit::unmask;

/// Arguments with their secrets masked.
pub fn mask_map(params: &Map<String, Value>) -> Map<String, Value> {
    let labels = labels(params);
    let mut shown = |_: &str, kind: &'static str, secret: &str| labels.mask(kind, secret);
    Masking::of(params, &mut shown).members(params, false)
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
}

impl<'s> Masking<'s> {
    fn of(params: &Map<String, Value>, sink: &'s mut Sink<'s>) -> Self {
        let mut commands = String::new();
        collect_commands(params, &mut commands);
        Self {
            sink,
            path: Vec::new(),
            commands,
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
            Value::String(text) if below => self.named(name, text).into(),
            Value::String(text) if is_shell_text(name) => self.text(text, Grammar::COMMAND).into(),
            Value::String(text) => self.text(text, Grammar::Text).into(),
            Value::Number(number) if is_secret_number(name) => {
                self.mask(kind_of(name), &number.to_string()).into()
            }
            Value::Array(items) => {
                let items = items.iter();
                items.map(|item| self.value(name, item, below)).collect()
            }
            Value::Object(map) => {
                let below = below && (!is_secret(name) || is_secret_object(name));
                Value::Object(self.members(map, below))
            }
            other => other.clone(),
        }
    }

    /// The whole text is a secret. From a substitution on it is shown: it would run, should a shell read it.
    fn named(&mut self, name: &str, text: &str) -> String {
        if text.is_empty() || holds_mask(text) || stays_visible(name, text, &self.commands) {
            return text.to_owned();
        }
        let runs = ["$(", "`", "${"];
        let end = runs.iter().filter_map(|mark| text.find(mark)).min();
        let (literal, rest) = text.split_at(end.unwrap_or(text.len()));
        if literal.is_empty() {
            return text.to_owned();
        }
        self.mask(kind_of(name), literal) + rest
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

/// `{"name": "PASSWORD", "value": "…"}`: the member that holds the value, and the name it stands under.
fn pair(map: &Map<String, Value>) -> Option<(&'static str, &str)> {
    let member = |names: [&str; 4]| {
        let mut names = names.into_iter();
        names.find_map(|name| map.get(name)?.as_str())
    };
    let name = member(["name", "key", "variable", "header"]).filter(|name| is_secret(name))?;
    let fields = ["value", "val", "content"];
    let field = fields.into_iter().find(|field| map.contains_key(*field))?;
    Some((field, name))
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
                for text in items.iter().filter_map(Value::as_str) {
                    commands.push_str(text);
                    commands.push('\n');
                }
            }
            Value::Object(map) => collect_commands(map, commands),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
