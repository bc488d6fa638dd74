//! Commands that come as lists of words: they are shown as the same command in one text would be.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{View, Walk};
use crate::review::{
    names::{begins_with_program, holds_commands, holds_words},
    secret::{CONTENT, Grammar, Secret, secrets},
    withhold::withhold,
};

/// A program that is not known.
const SOME_PROGRAM: &str = "_";

/// The words of one command.
pub(super) struct Words<'a> {
    /// Where it stands beside them.
    program: Option<&'a str>,
    /// Which program it is, is told.
    is_told: bool,
    words: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// The list under `name`, whose program may stand beside it. A list of commands is none.
    pub(super) fn of(map: &'a Map<String, Value>, name: &str, value: &'a Value) -> Option<Self> {
        let items = value.as_array().filter(|_| holds_words(name))?;
        let words: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
        let first = *words.first()?;
        let has_program = begins_with_program(name);
        if holds_commands(name) || (has_program && first.contains(char::is_whitespace)) {
            return None;
        }
        let program = match program(map) {
            _ if has_program => None,
            None if first.starts_with('-') => Some(SOME_PROGRAM),
            program => program,
        };
        let is_told = has_program || program.is_some_and(|it| it != SOME_PROGRAM);
        Some(Self {
            program,
            is_told,
            words,
        })
    }

    /// What stands behind `bash -lc`.
    pub(super) fn script(&self) -> Option<&'a str> {
        let (script, shell) = self.words.split_last()?;
        let is_shell = |word: &str| {
            let name = word.rsplit('/').next().unwrap_or_default();
            matches!(name, "bash" | "sh" | "zsh" | "dash")
        };
        let shell: Vec<&str> = self.program.iter().chain(shell).copied().collect();
        matches!(&*shell, [shell, "-c" | "-lc"] if is_shell(shell)).then_some(script)
    }

    pub(super) fn joined(&self) -> Joined {
        Joined::of(self.program, &self.words)
    }
}

/// The program beside a list of arguments.
fn program(map: &Map<String, Value>) -> Option<&str> {
    let mut names = ["command", "cmd", "program", "executable", "entrypoint"].iter();
    let program = names.find_map(|name| match map.get(*name)? {
        Value::Array(words) => words.first().filter(|_| words.len() == 1)?.as_str(),
        program => program.as_str(),
    });
    let is_plain = |program: &&str| {
        !program.is_empty()
            && program
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || " /._-".contains(c))
    };
    program.map(|program| Some(program).filter(is_plain).unwrap_or(SOME_PROGRAM))
}

impl Walk<'_> {
    pub(super) fn words(&mut self, words: &Words<'_>, value: &Value) -> Value {
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        if words.script().is_some()
            && let Some((script, shell)) = items.split_last()
        {
            let script = self.value("command", script, false);
            return shell.iter().cloned().chain([script]).collect();
        }
        let joined = words.joined();
        let mut secrets = secrets(&joined.text, Grammar::COMMAND);
        self.repeats
            .add(&joined.text, Grammar::COMMAND, &mut secrets);
        let pieces = match self.view {
            View::Masked => Some(secrets),
            // What an unknown program does with its words is not known.
            View::Withheld if !words.is_told => None,
            View::Withheld => withhold(&joined.text, secrets),
        };
        let pieces = pieces.map(|pieces| joined.of_words(&pieces, items.len()));
        let shown = items.iter().enumerate().map(|(at, item)| {
            let word = item.as_str().unwrap_or_default();
            let pieces = pieces.as_ref().and_then(|pieces| pieces.get(at)).cloned();
            let shown = self.word(word, pieces);
            self.sink.value(&self.path, &shown, item);
            shown
        });
        shown.collect()
    }

    fn word(&mut self, word: &str, pieces: Option<Vec<Secret>>) -> Value {
        if self.view == View::Masked {
            return self.rendered(word, &pieces.unwrap_or_default()).into();
        }
        let is_secret = |piece: &Secret| piece.kind != CONTENT;
        let hides = pieces.as_ref().is_none_or(|it| it.iter().any(is_secret));
        self.bounded(word, pieces, hides)
    }
}

/// Words as one command, and where their letters are in it.
pub(super) struct Joined {
    pub(super) text: String,
    /// Where a stretch of letters begins in the text, its word, where it begins there, and how long it is.
    stretches: Vec<(usize, usize, usize, usize)>,
}

impl Joined {
    fn of(program: Option<&str>, words: &[&str]) -> Self {
        let mut joined = Self {
            text: program.unwrap_or_default().to_owned(),
            stretches: Vec::new(),
        };
        for (at, word) in words.iter().enumerate() {
            if !joined.text.is_empty() {
                joined.text.push(' ');
            }
            joined.push(at, word);
        }
        joined
    }

    fn push(&mut self, at: usize, word: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            self.stretch(at, 0, word);
            return;
        }
        self.text.push('\'');
        let mut from = 0;
        for piece in word.split('\'') {
            if from > 0 {
                self.text.push_str(r"'\''");
            }
            self.stretch(at, from, piece);
            from += piece.len() + 1;
        }
        self.text.push('\'');
    }

    fn stretch(&mut self, word: usize, from: usize, letters: &str) {
        self.stretches
            .push((self.text.len(), word, from, letters.len()));
        self.text.push_str(letters);
    }

    /// The words that a piece of the text covers, and what of them.
    fn places(&self, piece: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        let mut places: Vec<(usize, Range<usize>)> = Vec::new();
        for &(start, word, from, length) in &self.stretches {
            let first = piece.start.max(start);
            let last = piece.end.min(start + length);
            if first >= last {
                continue;
            }
            let place = from + first - start..from + last - start;
            match places.last_mut() {
                // Only a quote stands between the stretches of a word.
                Some((same, before)) if *same == word => before.end = place.end,
                _ => places.push((word, place)),
            }
        }
        places
    }

    /// The pieces of each word.
    fn of_words(&self, pieces: &[Secret], words: usize) -> Vec<Vec<Secret>> {
        let mut found: Vec<Vec<Secret>> = vec![Vec::new(); words];
        for piece in pieces {
            for (word, place) in self.places(&piece.place) {
                if let Some(found) = found.get_mut(word) {
                    found.push(Secret {
                        place,
                        kind: piece.kind,
                    });
                }
            }
        }
        found
    }
}
