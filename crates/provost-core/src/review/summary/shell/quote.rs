//! Words: quotes and escapes taken away, expansions noted.

use super::{Reader, Word};

impl Reader<'_> {
    pub(super) fn word(&mut self) -> Word {
        let mut word = Word::default();
        let (mut bare, mut closes) = (None, false);
        while let Some(c) = self.peek() {
            if matches!(c, '\\' | '\'' | '"' | '$' | '`') && !self.rest().starts_with("\\\n") {
                bare.get_or_insert(word.text.len());
                word.quoted |= matches!(c, '\\' | '\'' | '"');
            }
            match c {
                ' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>' | '(' | ')' => break,
                '\\' => self.escape(&mut word),
                '\'' => self.single_quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '$' => self.dollar(&mut word, false),
                '`' => self.backticks(&mut word),
                '{' if self.literal_braces(&mut word) => {}
                _ => {
                    word.pattern |= matches!(c, '*' | '?' | '[' | '{');
                    closes |= c == '}' && !word.pattern;
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        // To zsh the brace of `{ a b}` ends the group.
        self.sound &= !closes || (word.text == "}" && !word.quoted);
        word.bare = bare.unwrap_or(word.text.len());
        word
    }

    /// `HEAD@{1}`: without a comma or two dots no shell makes several words of it. At the beginning of a word it
    /// may name a descriptor, and `{}` is a place for something else.
    fn literal_braces(&mut self, word: &mut Word) -> bool {
        const LONGEST: usize = 256;
        let rest = self.rest();
        let rest = rest.get(..rest.floor_char_boundary(LONGEST));
        let inside = rest.and_then(|rest| rest.get(1..)?.split_once('}'));
        let Some((inside, _)) = inside else {
            return false;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
        if word.text.is_empty() || inside.is_empty() || !inside.chars().all(plain) {
            return false;
        }
        let length = inside.len() + 2;
        word.text.push_str(self.slice(self.at, self.at + length));
        self.at += length;
        true
    }

    /// Outside quotes: the next character as it is; a line that goes on.
    fn escape(&mut self, word: &mut Word) {
        self.at += 1;
        match self.next() {
            Some('\n') => {}
            Some(c) => word.text.push(c),
            None => self.sound = false,
        }
    }

    fn single_quoted(&mut self, word: &mut Word) {
        self.at += 1;
        let Some(end) = self.rest().find('\'') else {
            self.give_up();
            return;
        };
        let quoted = self.slice(self.at, self.at + end);
        // To fish `\'` is a quote inside quotes, and the text would end elsewhere.
        let backslashes = quoted.len() - quoted.trim_end_matches('\\').len();
        self.sound &= backslashes.is_multiple_of(2);
        word.text.push_str(quoted);
        self.at += end + 1;
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word) {
        self.at += 1;
        loop {
            match self.peek() {
                None => {
                    self.sound = false;
                    return;
                }
                Some('"') => {
                    self.at += 1;
                    return;
                }
                Some(c) => self.inside_quotes(c, word),
            }
        }
    }

    /// One step inside double quotes, or inside a here-document.
    pub(super) fn inside_quotes(&mut self, c: char, word: &mut Word) {
        match c {
            '\\' => {
                self.at += 1;
                match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                    Some(c) => word.text.extend(['\\', c]),
                    None => self.sound = false,
                }
            }
            '$' => self.dollar(word, true),
            '`' => {
                let start = self.at;
                self.backticks(word);
                // Some shells take the backslash away here, so that quotes inside begin and end elsewhere.
                self.sound &= !self.slice(start, self.at).contains("\\\"");
            }
            _ => {
                word.text.push(c);
                self.at += c.len_utf8();
            }
        }
    }

    /// The old form of `$( … )`: one level of backslashes goes before it is read.
    pub(super) fn backticks(&mut self, word: &mut Word) {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.next() {
                None => {
                    self.sound = false;
                    break;
                }
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => inner.extend(['\\', c]),
                    None => self.sound = false,
                },
                Some(c) => inner.push(c),
            }
        }
        word.text.push_str(self.slice(start, self.at));
        let script = self.nested_text(&inner);
        word.run(script);
    }
}
