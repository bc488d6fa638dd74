//! Secrets inside texts: what looks like a token, a key or a password is masked wherever a text is shown. A mask
//! says what kind it hides and how long it is. What runs or is stored is never touched.
//!
//! **Invariant:** a mask hides nothing that takes effect. Where that is not clear, the text stays visible.

mod acts;
mod admit;
mod carried;
mod columns;
mod find;
mod index;
mod indirect;
mod label;
mod looks;
mod patch;
mod patterns;
mod reading;
mod seat;
mod setting;
mod token;
mod url;
mod uses;
mod value;

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

use super::names::is_place_name;

pub(super) use label::{CONTENT, Labels, holds_withheld};
pub(super) use looks::{
    is_path, is_phrase, is_plain, is_random, is_setting, is_target, looks_random,
};
pub(super) use reading::{Reading, Standing};
pub(super) use token::program;
pub(super) use uses::{Script, Use};

/// A piece of a text that is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) place: Range<usize>,
    pub(super) kind: &'static str,
}

/// What a text is, as far as its place tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grammar<'t> {
    /// Anything: prose, a file, JSON, SQL.
    Text,
    /// A command of a shell.
    Command {
        /// The script that it is a step of, in which a variable may be used.
        within: Option<Within<'t>>,
        /// A text is run as a program elsewhere in the script.
        runs_text: bool,
    },
}

impl Grammar<'_> {
    pub(super) const COMMAND: Grammar<'static> = Grammar::Command {
        within: None,
        runs_text: false,
    };
}

/// Where a step stands in its script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within<'t> {
    pub(super) script: &'t Script,
    /// Where the step begins.
    pub(super) start: usize,
}

static MASK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\[secret: [a-z ]{1,40}(?: #\d{1,6})?, \d{1,9} characters?\]").ok()
});

/// Whether a text holds what stands in the place of a secret, and so is not the text it seems to be.
pub(super) fn holds_mask(text: &str) -> bool {
    MASK.as_ref().is_none_or(|mask| mask.is_match(text))
}

/// Whether a text is a mask, and nothing else.
pub(super) fn is_mask(text: &str) -> bool {
    masks(text).first() == Some(&(0..text.len()))
}

/// The masks of a text, in their order.
pub(super) fn masks(text: &str) -> Vec<Range<usize>> {
    let Some(mask) = MASK.as_ref() else {
        return Vec::new();
    };
    mask.find_iter(text).map(|found| found.range()).collect()
}

/// A text with its secrets masked.
pub fn mask_text(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text, Grammar::Text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut labels = Labels::default();
    labels.note_all(text, &secrets);
    Cow::Owned(labels.masked(text, &secrets))
}

/// What says where something happens. A password in a URL is masked; a path that looks like a token is none.
pub(crate) fn mask_place(text: &str) -> Cow<'_, str> {
    if is_place_name("path", text) {
        Cow::Borrowed(text)
    } else {
        mask_text(text)
    }
}

/// The secrets of a text in their order; they do not overlap.
pub(super) fn secrets(text: &str, grammar: Grammar<'_>) -> Vec<Secret> {
    let values = find::values(text);
    if values.is_empty() {
        return Vec::new();
    }
    let mut found = match grammar {
        Grammar::Text => admit::in_text(text, values),
        Grammar::Command { within, runs_text } if patch::is_patch(text) => {
            let mut found = patch::in_patch(text, values.clone());
            found.extend(admit::in_command(text, within, runs_text, values));
            found
        }
        Grammar::Command { within, runs_text } => {
            admit::in_command(text, within, runs_text, values)
        }
    };
    // Of those that overlap, the one that begins first, and there the longest.
    found.sort_by_key(|secret| (secret.place.start, usize::MAX - secret.place.end));
    let mut end = 0;
    found.retain_mut(|secret| {
        secret.place.start = secret.place.start.max(end);
        let stays = secret.place.start < secret.place.end;
        end = end.max(secret.place.end);
        stays
    });
    found
}

/// Which of these pieces, which are secrets elsewhere, are masked here, too: in a command those that say nothing about
/// what is done.
pub(super) fn again(text: &str, grammar: Grammar<'_>, pieces: Vec<Secret>) -> Vec<Secret> {
    match grammar {
        Grammar::Text => pieces,
        Grammar::Command { .. } => admit::again(text, pieces),
    }
}

/// What stands under a name, in a word.
pub(super) fn kind_of(name: &str) -> &'static str {
    let name = name.to_lowercase();
    if name.contains("token") || name.contains("jwt") {
        "token"
    } else if name.contains("pass") || name.contains("pwd") {
        "password"
    } else if name.contains("key") {
        "key"
    } else {
        "secret"
    }
}

#[cfg(test)]
mod tests;
