//! The words of a command in the order in which they are read, each with the part that it plays. Masks are held
//! against this: a command with something else in the place of a secret must still be the same command.

use super::{
    Risk, Risks,
    bounds::hides_characters,
    command::LONGEST_READ,
    judge::Judge,
    place::Place,
    shell::{self, Command, Redirect, Script, Word, is_keyword},
};
use crate::review::work;

/// What a word is to its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::review) enum Role {
    Keyword,
    /// `NAME=value` before a program, or alone.
    Assignment,
    Program,
    Argument,
    /// The file of a redirection.
    File,
    /// A here-document or here-string.
    Here,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a word"
)]
#[derive(Clone, Debug)]
pub(in crate::review) struct Spot {
    pub(in crate::review) role: Role,
    pub(in crate::review) text: String,
    /// Holds a variable or a substitution.
    pub(in crate::review) computed: bool,
    pub(in crate::review) pattern: bool,
    /// Holds a substitution: other programs run in it.
    pub(in crate::review) substitutes: bool,
    /// Which command it belongs to, and how deep that stands.
    pub(in crate::review) command: usize,
    depth: usize,
    /// What its command writes is read by another one, or becomes a word of it.
    pub(in crate::review) feeds: bool,
    /// The pipeline of the script that it belongs to.
    pipeline: usize,
}

#[derive(Debug, Default)]
pub(in crate::review) struct Outline {
    pub(in crate::review) spots: Vec<Spot>,
    /// A text or a variable is run as a program, or what runs is not known.
    pub(in crate::review) runs_text: bool,
    /// The pipelines that run a text that one of their commands writes.
    piping: Vec<usize>,
    /// Which texts are run is not known.
    unsure: bool,
    commands: usize,
    /// The programs and arguments of each command.
    words: Vec<Vec<usize>>,
    pipelines: usize,
    feeds: bool,
}

impl Outline {
    /// `None` where the command was not understood.
    pub(in crate::review) fn of(text: &str) -> Option<Self> {
        if text.len() > LONGEST_READ || hides_characters(text) {
            return None;
        }
        work::count(text.len());
        let script = shell::parse(text);
        if !script.sound {
            return None;
        }
        let mut outline = Self::default();
        outline.script(&script, 0);
        Some(outline)
    }

    /// Whether any of it runs a text that is not itself read here.
    pub(in crate::review) fn judged(mut self, text: &str) -> Self {
        let script = shell::parse(text);
        let mut judge = Judge::new(Place::new(None));
        let risks: Vec<Risks> = script
            .pipelines
            .iter()
            .map(|it| judge.pipeline(it))
            .collect();
        let has = |risk: Risk| risks.iter().any(|risks| risks.contains(&risk));
        let piping = risks.iter().enumerate();
        let piping = piping.filter(|(_, risks)| risks.contains(&Risk::PipesToShell));
        self.piping = piping.map(|(at, _)| at + 1).collect();
        // `exec > >(sh)`: what is written later is run.
        let redirects = |spot: &Spot| spot.role == Role::Program && spot.text == "exec";
        self.unsure =
            has(Risk::Unreadable) || (!self.piping.is_empty() && self.spots.iter().any(redirects));
        self.runs_text = self.unsure || has(Risk::PipesToShell) || has(Risk::RunsText);
        self
    }

    /// Not all of it is understood.
    pub(in crate::review) fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// Whether the text that this word is, or that its command writes, is run by another command, or that is not
    /// known: in the same pipeline, or by way of a file that both name.
    pub(in crate::review) fn pipes_text(&self, at: usize) -> bool {
        let Some(pipeline) = self.spots.get(at).map(|spot| spot.pipeline) else {
            return true;
        };
        let words = |pipeline: usize| {
            let words = self.spots.iter().filter(move |it| it.pipeline == pipeline);
            words.filter(|spot| spot.role != Role::Program && !spot.text.starts_with('-'))
        };
        let shares = |other: usize| {
            words(other).any(|word| words(pipeline).any(|mine| mine.text == word.text))
        };
        self.unsure || self.piping.iter().any(|it| *it == pipeline || shares(*it))
    }

    /// The same commands with as many words, in which each plays the same part.
    pub(in crate::review) fn is_alike(&self, other: &Self) -> bool {
        let shape = |spot: &Spot| (spot.role, spot.command, spot.depth, spot.substitutes);
        let mine = self.spots.iter().map(shape);
        self.commands == other.commands && mine.eq(other.spots.iter().map(shape))
    }

    /// The words of a command before one of its words, and the program first.
    pub(in crate::review) fn before(&self, at: usize) -> impl DoubleEndedIterator<Item = &Spot> {
        let command = self.spots.get(at).map(|spot| spot.command);
        let words = command.and_then(|command| self.words.get(command));
        let words = words.map_or(&[][..], Vec::as_slice);
        let before = words.partition_point(|word| *word < at);
        let words = words.iter().take(before);
        words.filter_map(|word| self.spots.get(*word))
    }

    fn script(&mut self, script: &Script, depth: usize) {
        for pipeline in &script.pipelines {
            // A pipeline is no list of commands, nor the other way round.
            self.commands += 1;
            self.pipelines += usize::from(depth == 0);
            let feeds = self.feeds;
            for (at, command) in pipeline.commands.iter().enumerate() {
                self.commands += 1;
                self.feeds = feeds || at + 1 < pipeline.commands.len();
                self.command(command, depth);
            }
            self.feeds = feeds;
        }
    }

    fn command(&mut self, command: &Command, depth: usize) {
        let number = self.commands;
        let mut named = false;
        for word in &command.words {
            let role = match () {
                () if named => Role::Argument,
                () if is_keyword(word) => Role::Keyword,
                () if assigned_name(&word.text).is_some() => Role::Assignment,
                () => Role::Program,
            };
            named |= role == Role::Program;
            self.word(word, role, number, depth);
        }
        for redirect in &command.redirects {
            match redirect {
                Redirect::Write(word) | Redirect::Read(word) => {
                    self.word(word, Role::File, number, depth);
                }
                Redirect::Here(word) => self.word(word, Role::Here, number, depth),
            }
        }
        for group in &command.groups {
            self.script(group, depth + 1);
        }
    }

    fn word(&mut self, word: &Word, role: Role, command: usize, depth: usize) {
        if matches!(role, Role::Program | Role::Argument) {
            if self.words.len() <= command {
                self.words.resize_with(command + 1, Vec::new);
            }
            if let Some(words) = self.words.get_mut(command) {
                words.push(self.spots.len());
            }
        }
        self.spots.push(Spot {
            role,
            text: word.text.clone(),
            computed: word.computed || word.varies,
            pattern: word.pattern,
            substitutes: !word.inner.is_empty(),
            command,
            depth,
            feeds: self.feeds,
            pipeline: self.pipelines,
        });
        let feeds = std::mem::replace(&mut self.feeds, true);
        for script in &word.inner {
            self.commands += 1;
            self.script(script, depth + 1);
        }
        self.feeds = feeds;
    }
}

/// The name before the `=` of an assignment.
pub(in crate::review) fn assigned_name(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let bare = name.split('[').next().unwrap_or_default();
    let is_name = !bare.is_empty()
        && !bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}
