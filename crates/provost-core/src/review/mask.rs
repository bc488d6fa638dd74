//! The views of a call's arguments. With the secrets masked: by the name they stand under, and by how they look. With
//! the content withheld as well: what is masked stays masked, and of the rest only structure is shown. One walk makes
//! both; what is stored and what runs does not pass here.

mod edit;
mod literals;
mod named;
mod repeats;
mod withheld;
mod words;

use std::{cell::OnceCell, collections::HashSet};

use serde_json::{Map, Value};

use super::{
    names::{
        SHORTEST_NUMBER, holds_content, holds_words, is_input, is_key_name, is_name, is_place_name,
        is_secret, is_secret_number, is_secret_object, is_shell_text,
    },
    secret::{
        CONTENT, Grammar, Labels, Reading, Script, Secret, Within, is_random, kind_of, secrets,
    },
};
use named::{pair, pair_in_list};
use repeats::Repeats;
use words::Words;

pub use edit::unmask;
pub(super) use literals::Literals;
pub(super) use withheld::is_description;
pub use withheld::{described, redact_all};

/// What of the arguments is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// All but the secrets.
    Masked,
    /// Structure.
    Withheld,
}

/// Arguments with their secrets masked.
pub fn mask_map(params: &Map<String, Value>) -> Map<String, Value> {
    mask_some(params, params)
}

/// Some of a call's arguments, masked as they are beside the others: `some` says which.
pub fn mask_some(some: &Map<String, Value>, all: &Map<String, Value>) -> Map<String, Value> {
    let Noted { labels, any } = noted(all, &[View::Masked]);
    if !any {
        return some.clone();
    }
    Walk::of(all, View::Masked, &mut Showing(&labels))
        .repeating(&labels)
        .some_members(some, all)
}

/// Arguments as they are shown where content is not: where a call acts, which of a few things it means, numbers,
/// programs and their words.
pub fn redact_map(params: &Map<String, Value>) -> Map<String, Value> {
    redact_some(params, params)
}

/// Some of a call's arguments, as [`redact_map`] shows them beside the others.
pub fn redact_some(some: &Map<String, Value>, all: &Map<String, Value>) -> Map<String, Value> {
    let labels = labels(all, &[View::Masked, View::Withheld]);
    Walk::of(all, View::Withheld, &mut Showing(&labels))
        .repeating(&labels)
        .some_members(some, all)
}

/// Whether a view of these arguments masks anything.
pub fn hides_secret(params: &Map<String, Value>) -> bool {
    noted(params, &[View::Masked]).any
}

/// A value that stands under no name.
pub fn mask_value(value: &Value) -> Value {
    one(mask_map, "", value)
}

/// A value that stands under no name, where content is not shown: what the call is about.
pub fn redact(value: &Value) -> Value {
    one(redact_map, "target", value)
}

fn one(view: fn(&Map<String, Value>) -> Map<String, Value>, name: &str, value: &Value) -> Value {
    let params = Map::from_iter([(name.to_owned(), value.clone())]);
    view(&params).remove(name).unwrap_or_default()
}

/// The steps of one command, as they may be shown. `runs_text`: one of them runs a text as a program.
pub(super) fn mask_steps(steps: &[&str], runs_text: bool) -> Vec<String> {
    let beside = steps.join("\n");
    let script = Script::of(&beside);
    let mut at = 0;
    let found = steps.iter().map(|step| {
        let within = Within {
            script: &script,
            start: at,
        };
        at += step.len() + 1;
        let grammar = Grammar::Command {
            within: Some(within),
            runs_text,
        };
        secrets(step, grammar)
    });
    let found: Vec<_> = found.collect();
    let mut labels = Labels::default();
    for (step, found) in steps.iter().zip(&found) {
        labels.note_all(step, found);
    }
    let steps = steps.iter().zip(&found);
    steps
        .map(|(step, found)| labels.masked(step, found))
        .collect()
}

/// Which secret is which is the same in both views: their numbers are those of the masked one.
fn labels(params: &Map<String, Value>, views: &[View]) -> Labels {
    noted(params, views).labels
}

fn noted(params: &Map<String, Value>, views: &[View]) -> Noted {
    let mut noted = Noted::default();
    for view in views {
        // What one view masks, the next masks wherever it is repeated.
        let repeats = Repeats::of(&noted.labels);
        let mut walk = Walk::of(params, *view, &mut noted);
        walk.repeats = repeats;
        walk.members(params, false);
    }
    noted
}

/// Is told of everything that a view does not show.
trait Sink {
    /// What is shown instead of a piece of a text. `path`: the names above, without the places in lists.
    fn instead(&mut self, path: &[String], kind: &'static str, literal: &str) -> String;

    /// How a value is shown.
    fn value(&mut self, _path: &[String], _shown: &Value, _value: &Value) {}

    /// How a name is shown.
    fn name(&mut self, _path: &[String], _shown: &str, _name: &str) {}
}

#[derive(Default)]
struct Noted {
    labels: Labels,
    any: bool,
}

impl Sink for Noted {
    fn instead(&mut self, _: &[String], kind: &'static str, literal: &str) -> String {
        self.any = true;
        self.labels.note(kind, literal);
        String::new()
    }
}

struct Showing<'l>(&'l Labels);

impl Sink for Showing<'_> {
    fn instead(&mut self, _: &[String], kind: &'static str, literal: &str) -> String {
        self.0.mask(kind, literal)
    }
}

/// A walk through arguments.
struct Walk<'s> {
    view: View,
    sink: &'s mut dyn Sink,
    /// The names above as they are shown.
    path: Vec<String>,
    /// The commands of the call: they may use a variable that stands elsewhere.
    commands: String,
    script: OnceCell<Script>,
    /// Secrets of the call that are masked wherever they stand.
    repeats: Repeats,
    /// They run a text as a program, or that is not known.
    runs_text: bool,
}

impl<'s> Walk<'s> {
    fn of(params: &Map<String, Value>, view: View, sink: &'s mut dyn Sink) -> Self {
        let mut commands = String::new();
        collect_commands(params, &mut commands);
        let is_sure = || Reading::of(&commands).is_some_and(|it| !it.outline.runs_text);
        let runs_text = !commands.is_empty() && !is_sure();
        Self {
            view,
            sink,
            path: Vec::new(),
            commands,
            script: OnceCell::new(),
            repeats: Repeats::default(),
            runs_text,
        }
    }

    /// Masks these secrets of the call wherever it repeats them.
    fn repeating(mut self, labels: &Labels) -> Self {
        self.repeats = Repeats::of(labels);
        self
    }

    /// An object's members; `below`: the object itself stands under the name of a secret.
    fn members(&mut self, map: &Map<String, Value>, below: bool) -> Map<String, Value> {
        let members = self.named_members(map, below).into_iter();
        members.map(|(_, key, value)| (key, value)).collect()
    }

    /// All are looked at, because what one of them is may stand in another: a part shows nothing that the whole hides.
    fn some_members(
        &mut self,
        some: &Map<String, Value>,
        all: &Map<String, Value>,
    ) -> Map<String, Value> {
        let members = self.named_members(all, false).into_iter();
        members
            .filter(|(name, _, _)| some.contains_key(*name))
            .map(|(_, key, value)| (key, value))
            .collect()
    }

    /// Each member's name, the name as it is shown, and the value as it is shown.
    fn named_members<'m>(
        &mut self,
        map: &'m Map<String, Value>,
        below: bool,
    ) -> Vec<(&'m str, String, Value)> {
        let mut taken = HashSet::new();
        let mut shown = Vec::with_capacity(map.len());
        let named = pair(map);
        for (name, value) in map {
            let mut key = self.key(name);
            // Two names may look the same once they are masked: neither is lost.
            while !taken.insert(key.clone()) {
                key.push('\'');
            }
            self.sink.name(&self.path, &key, name);
            self.path.push(key.clone());
            let value = match named {
                Some((field, secret)) if field == name => self.value(secret, value, below),
                _ => self.member(map, name, value, below),
            };
            self.path.pop();
            shown.push((name.as_str(), key, value));
        }
        shown
    }

    fn member(
        &mut self,
        map: &Map<String, Value>,
        name: &str,
        value: &Value,
        below: bool,
    ) -> Value {
        if let Some(words) = Words::of(map, name, value) {
            return self.words(&words, value);
        }
        let is_odd = |items: &Vec<Value>| !items.iter().all(Value::is_string);
        if self.view == View::Withheld && holds_words(name) && value.as_array().is_some_and(is_odd)
        {
            return self.value("", value, below);
        }
        self.value(name, value, below)
    }

    /// A name can be as long as a text, and carry one.
    fn key(&mut self, name: &str) -> String {
        let secrets = secrets(name, Grammar::Text);
        if self.view == View::Masked || is_name(name) {
            return self.rendered(name, &secrets);
        }
        self.withheld_name(name, &secrets)
    }

    fn value(&mut self, name: &str, value: &Value, below: bool) -> Value {
        let below = below || is_secret(name);
        let shown = match value {
            Value::String(text) => self.string(name, text, below),
            Value::Number(number) => {
                let number = number.to_string();
                let is_secret = is_secret_number(name, number.len())
                    || (below && number.len() >= SHORTEST_NUMBER && !is_secret(name));
                if !is_secret {
                    return value.clone();
                }
                self.instead(kind_of(name), &number).into()
            }
            Value::Array(items) => return self.items(name, items, below),
            Value::Object(map) if self.view == View::Withheld && holds_content(name) => {
                self.withheld_object(map, below)
            }
            Value::Object(map) => {
                let below = below && (!is_secret(name) || is_secret_object(name));
                let shown = Value::Object(self.members(map, below));
                // One that the agent wrote itself.
                if !is_description(map) {
                    return shown;
                }
                shown
            }
            other => return other.clone(),
        };
        self.sink.value(&self.path, &shown, value);
        shown
    }

    fn items(&mut self, name: &str, items: &[Value], below: bool) -> Value {
        let items = items.iter().map(|item| match pair_in_list(item) {
            Some((name, value)) => Value::Array(vec![name.into(), self.value(name, value, true)]),
            None => self.value(name, item, below),
        });
        items.collect()
    }

    fn string(&mut self, name: &str, text: &str, below: bool) -> Value {
        let secrets = self.secrets(name, text, below);
        match self.view {
            View::Masked => self.rendered(text, &secrets).into(),
            View::Withheld => self.withheld(name, text, secrets, below),
        }
    }

    /// The secrets of the text under this name. Every view masks them.
    fn secrets(&self, name: &str, text: &str, below: bool) -> Vec<Secret> {
        let is_named = below || is_key(name, text);
        if !is_named && is_place_name(name, text) {
            return Vec::new();
        }
        let mut found = if is_named {
            self.named(name, text)
        } else {
            secrets(text, self.grammar(name))
        };
        self.repeats.add(text, self.grammar(name), &mut found);
        found
    }

    fn script(&self) -> &Script {
        self.script.get_or_init(|| Script::of(&self.commands))
    }

    /// How the text under this name is read: as a command if a shell may do so.
    fn grammar(&self, name: &str) -> Grammar<'static> {
        let runs = self.runs_text && (is_input(name) || self.script().says(name));
        if runs {
            Grammar::Command {
                within: None,
                runs_text: true,
            }
        } else if is_shell_text(name) {
            Grammar::COMMAND
        } else {
            Grammar::Text
        }
    }

    /// The text with something else in the place of these pieces.
    fn rendered(&mut self, text: &str, pieces: &[Secret]) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        for Secret { place, kind } in pieces {
            shown.push_str(text.get(at..place.start).unwrap_or_default());
            shown.push_str(&self.instead(kind, text.get(place.clone()).unwrap_or_default()));
            at = place.end;
        }
        shown.push_str(text.get(at..).unwrap_or_default());
        shown
    }

    fn instead(&mut self, kind: &'static str, literal: &str) -> String {
        self.sink.instead(&self.path, kind, literal)
    }
}

fn is_key(name: &str, text: &str) -> bool {
    is_key_name(name) && is_random(text.trim_start_matches("base64:"))
}

fn collect_commands(params: &Map<String, Value>, commands: &mut String) {
    for (name, value) in params {
        match Words::of(params, name, value) {
            Some(words) => {
                commands.push_str(words.script().unwrap_or(&words.joined().text));
                commands.push('\n');
            }
            None => collect_commands_in(name, value, commands),
        }
    }
}

fn collect_commands_in(name: &str, value: &Value, commands: &mut String) {
    match value {
        Value::String(text) if is_shell_text(name) => {
            commands.push_str(text);
            commands.push('\n');
        }
        Value::Array(items) => {
            for item in items {
                collect_commands_in(name, item, commands);
            }
        }
        Value::Object(map) => collect_commands(map, commands),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
