//! Commands that come as lists of words: they are masked as the same command in one text would be.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Masking;
use crate::review::{
    names::is_shell_text,
    secret::{Grammar, Secret, secrets},
};

/// A program that is not known.
const SOME_PROGRAM: &str = "_";

impl Masking<'_> {
    /// The list under `name`, whose program may stand beside it.
    pub(super) fn words(&mut self, map: &Map<String, Value>, name: &str, value: &Value) -> Value {
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        if let Some((script, shell)) = words.split_last()
            && runs_script(shell)
        {
            let mut shown: Vec<Value> = shell.iter().map(|word| (*word).into()).collect();
            shown.push(self.text(script, Grammar::COMMAND).into());
            return Value::Array(shown);
        }
        let program = (!is_shell_text(name)).then(|| program(map));
        let shown = masked_words(program, &words);
        let words = words.iter().zip(shown);
        words
            .map(|(word, secrets)| Value::String(self.pieces(word, secrets)))
            .collect()
    }

    fn pieces(&mut self, word: &str, secrets: Vec<Secret>) -> String {
        let mut shown = String::with_capacity(word.len());
        let mut at = 0;
        for Secret { place, kind } in secrets {
            shown.push_str(word.get(at..place.start).unwrap_or_default());
            shown.push_str(&self.mask(kind, word.get(place.clone()).unwrap_or_default()));
            at = place.end;
        }
        shown.push_str(word.get(at..).unwrap_or_default());
        shown
    }
}

/// `bash -lc` before its script.
pub(in crate::review) fn runs_script(shell: &[&str]) -> bool {
    let is_shell = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or_default();
        matches!(name, "bash" | "sh" | "zsh" | "dash")
    };
    matches!(shell, [shell, "-c" | "-lc"] if is_shell(shell))
}

/// The program beside a list of arguments.
pub(in crate::review) fn program(map: &Map<String, Value>) -> &str {
    let mut names = ["command", "cmd", "program", "executable"].iter();
    let program = names.find_map(|name| map.get(*name)?.as_str());
    let is_plain = |program: &&str| {
        !program.is_empty()
            && program
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    program.filter(is_plain).unwrap_or(SOME_PROGRAM)
}

/// The secrets of each word.
fn masked_words(program: Option<&str>, words: &[&str]) -> Vec<Vec<Secret>> {
    let joined = Joined::of(program, words);
    let mut found: Vec<Vec<Secret>> = vec![Vec::new(); words.len()];
    for secret in secrets(&joined.text, Grammar::COMMAND) {
        for (word, place) in joined.places(&secret.place) {
            if let Some(found) = found.get_mut(word) {
                found.push(Secret {
                    place,
                    kind: secret.kind,
                });
            }
        }
    }
    found
}

/// Words as one command, and where their letters are in it.
pub(in crate::review) struct Joined {
    pub(in crate::review) text: String,
    /// Where a stretch of letters begins in the text, its word, where it begins there, and how long it is.
    stretches: Vec<(usize, usize, usize, usize)>,
}

impl Joined {
    pub(in crate::review) fn of(program: Option<&str>, words: &[&str]) -> Self {
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
    pub(in crate::review) fn places(&self, piece: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        let covered = self
            .stretches
            .iter()
            .filter_map(|&(start, word, from, length)| {
                let first = piece.start.max(start);
                let last = piece.end.min(start + length);
                (first < last).then(|| (word, from + first - start..from + last - start))
            });
        covered.collect()
    }
}
