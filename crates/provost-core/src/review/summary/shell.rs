//! A small reader of shell commands: it finds which programs would run with which words. It is not a
//! shell: nothing is expanded, and what it does not understand it says it does not (`sound` is false).

mod dollar;
mod here;
mod quote;
mod script;

pub(super) use script::is_keyword;

/// Substitutions and groups inside each other, at most.
const DEEPEST: usize = 8;

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
}

impl Command {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.redirects.is_empty() && self.groups.is_empty()
    }
}

/// A word without its quotes.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// Holds an expansion, so that its text is known only when it runs.
    pub(super) computed: bool,
    /// Holds an unquoted glob or brace.
    pub(super) pattern: bool,
    /// Not every shell reads it like this: `$'…'` is quotes to some, and a dollar before quotes to others.
    pub(super) varies: bool,
    /// What substitutions in it run.
    pub(super) inner: Vec<Script>,
}

impl Word {
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    fn run(&mut self, script: Script) {
        self.computed = true;
        self.inner.push(script);
    }
}

#[derive(Debug)]
pub(super) enum Redirect {
    Write(Word),
    Read(Word),
    /// A here-document or here-string: its text is the input.
    Here(Word),
}

pub(super) fn parse(text: &str) -> Script {
    Reader::new(text, 0).script(None)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    sound: bool,
    /// Where the here-documents of this line end, once one was seen.
    here_end: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            at: 0,
            depth,
            sound: true,
            here_end: None,
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
        if self.depth >= DEEPEST {
            self.give_up();
            return Script::default();
        }
        let mut reader = Reader::new(text, self.depth + 1);
        let script = reader.script(None);
        self.sound &= reader.sound;
        script
    }
}

#[cfg(test)]
mod tests;
