//! A small reader of shell commands: it finds which programs would run with which words. It is not a
//! shell: nothing is expanded, and what it does not understand it says it does not (`sound` is false).

mod dollar;
mod here;
mod quote;
mod script;

use here::PendingHere;
pub(super) use script::{is_keyword, is_keyword_text};

/// Substitutions and groups inside each other, at most.
const DEEPEST: usize = 8;
/// Words and signs of a script and of all inside it, at most: nobody reads more, and no reading of them may take long.
const MOST_TOKENS: usize = 5_000;

#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) pipelines: Vec<Pipeline>,
    /// Everything was understood.
    pub(super) sound: bool,
    /// It may be no script at all.
    pub(super) guessed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Pipeline {
    /// As it was written.
    pub(super) text: String,
    pub(super) commands: Vec<Command>,
}

#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// `( … )` and the bodies of arrays.
    pub(super) groups: Vec<Script>,
    /// The name in front of `()`: what follows is its body.
    pub(super) defines: Option<Word>,
}

impl Command {
    fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.redirects.is_empty()
            && self.groups.is_empty()
            && self.defines.is_none()
    }
}

/// A word without its quotes.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing about how the word is written"
)]
pub(super) struct Word {
    pub(super) text: String,
    /// Holds an expansion, so that its text is known only when it runs.
    pub(super) computed: bool,
    /// Holds an unquoted glob or brace.
    pub(super) pattern: bool,
    /// Not every shell reads it like this: `$'…'` is quotes to some, and a dollar before quotes to others.
    pub(super) varies: bool,
    /// Some of it stands in quotes or behind a backslash: such a word is no keyword.
    pub(super) quoted: bool,
    /// How much of its text stands before the first quote, backslash or expansion.
    pub(super) bare: usize,
    /// What substitutions in it run.
    pub(super) inner: Vec<Script>,
}

impl Word {
    /// A word that no shell has read.
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            quoted: true,
            ..Self::default()
        }
    }

    /// The same word without its substitutions, which are judged where the word stands.
    pub(super) fn unread(&self) -> Self {
        Self {
            text: self.text.clone(),
            quoted: true,
            inner: Vec::new(),
            ..*self
        }
    }

    /// Nothing in it is known only when it runs, or read in another way by another shell.
    pub(super) fn is_plain(&self) -> bool {
        !self.computed && !self.pattern && !self.varies && self.inner.is_empty()
    }

    /// `NAME=value` before a command. In quotes it would be the command's name.
    pub(super) fn is_assignment(&self) -> bool {
        let named = self.text.find('=').is_some_and(|at| at < self.bare);
        named && is_assignment(&self.text)
    }

    fn run(&mut self, script: Script) {
        self.computed = true;
        self.inner.push(script);
    }
}

/// `NAME=value`, `NAME+=value` or `NAME[index]=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[derive(Debug)]
pub(super) enum Redirect {
    Write(Word),
    Read(Word),
    /// A here-document or here-string: its text is the input.
    Here(Word),
}

impl Redirect {
    pub(super) fn word(&self) -> &Word {
        match self {
            Self::Write(word) | Self::Read(word) | Self::Here(word) => word,
        }
    }
}

pub(super) fn parse(text: &str) -> Script {
    Reader::new(text).script(None)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    tokens: usize,
    sound: bool,
    /// The here-documents of this line, once one was seen.
    here: Option<PendingHere>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            tokens: 0,
            sound: true,
            here: None,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Gives up: what follows is not read.
    fn give_up(&mut self) {
        self.sound = false;
        self.at = self.text.len();
    }

    /// The script up to a closing parenthesis, one level deeper.
    fn nested(&mut self) -> Script {
        if self.depth >= DEEPEST {
            self.give_up();
            return Script::default();
        }
        self.depth += 1;
        let script = self.script(Some(')'));
        self.depth -= 1;
        script
    }

    /// Another text that runs inside this one.
    fn nested_text(&mut self, text: &str) -> Script {
        self.read_inside(text, |reader| reader.script(None))
            .unwrap_or_default()
    }

    /// Reads a text inside this one, one level deeper. `None` if that is too deep.
    fn read_inside<'b, T>(
        &mut self,
        text: &'b str,
        read: impl FnOnce(&mut Reader<'b>) -> T,
    ) -> Option<T> {
        if self.depth >= DEEPEST {
            self.give_up();
            return None;
        }
        let mut reader = Reader {
            depth: self.depth + 1,
            tokens: self.tokens,
            ..Reader::new(text)
        };
        let found = read(&mut reader);
        self.tokens = reader.tokens;
        self.sound &= reader.sound;
        Some(found)
    }
}

#[cfg(test)]
mod tests;
