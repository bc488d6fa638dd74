//! What a dollar sign begins: substitutions, parameters, arithmetic, and quotes with C escapes.

use super::{Reader, Word};

impl Reader<'_> {
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) {
        let start = self.at;
        // The shell joins the lines first, and then sees what the dollar begins.
        self.sound &= !self.rest().starts_with("$\\\n");
        if self.arithmetic("$((") {
            word.computed = true;
        } else if self.eat("$(") {
            let script = self.nested();
            word.run(script);
        } else if self.eat("${") {
            self.parameter(word);
        } else if !quoted && self.rest().starts_with("$'") {
            self.at += 2;
            word.varies = true;
            self.c_quoted(word);
            return;
        } else if !quoted && self.rest().starts_with("$\"") {
            self.at += 1;
            word.varies = true;
            self.double_quoted(word);
            return;
        } else {
            self.at += 1;
            // `$~x` and its like are plain text to some shells, and expansions to others.
            word.computed |= self.name() || self.rest().starts_with(['~', '=', '^', '+', '[']);
        }
        word.text.push_str(self.slice(start, self.at));
    }

    /// `$NAME`, `$1`, `$@`: whether there is one.
    fn name(&mut self) -> bool {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        self.at += length;
        if length == 0 && rest.starts_with(['@', '*', '#', '?', '$', '!', '-']) {
            self.at += 1;
            return true;
        }
        length > 0
    }

    /// The rest of `${ … }`. Substitutions in it run.
    fn parameter(&mut self, word: &mut Word) {
        if self.depth >= super::DEEPEST {
            self.give_up();
            return;
        }
        self.depth += 1;
        let mut value = Word::default();
        loop {
            match self.peek() {
                None => {
                    self.sound = false;
                    break;
                }
                Some('}') => {
                    self.at += 1;
                    break;
                }
                Some('"') => self.double_quoted(&mut value),
                // Whether these are quotes depends on the shell and on what stands around.
                Some('\'') => self.give_up(),
                Some(c) => self.inside_quotes(c, &mut value),
            }
        }
        self.depth -= 1;
        word.computed = true;
        word.inner.append(&mut value.inner);
    }

    /// Skips `((1 + x))` if it is plain arithmetic; anything else is read as commands.
    pub(super) fn arithmetic(&mut self, opening: &str) -> bool {
        /// Longer ones are read as commands, which they are not.
        const LONGEST: usize = 1_000;
        let Some(body) = self.rest().strip_prefix(opening) else {
            return false;
        };
        let body = body
            .get(..body.floor_char_boundary(LONGEST))
            .unwrap_or(body);
        let mut open = 0_usize;
        for (at, c) in body.char_indices() {
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' => {
                    let closed = body.get(at..).is_some_and(|rest| rest.starts_with("))"));
                    if closed {
                        self.at += opening.len() + at + 2;
                    }
                    return closed;
                }
                _ if c.is_ascii_alphanumeric() || " _+-*/%<>=!&|^~?:,;".contains(c) => {}
                _ => return false,
            }
        }
        false
    }

    /// The rest of `$'…'`.
    fn c_quoted(&mut self, word: &mut Word) {
        loop {
            match self.next() {
                None => {
                    self.sound = false;
                    return;
                }
                Some('\'') => return,
                Some('\\') => self.c_escape(word),
                Some(c) => word.text.push(c),
            }
        }
    }

    fn c_escape(&mut self, word: &mut Word) {
        let Some(c) = self.next() else {
            self.sound = false;
            return;
        };
        let code = match c {
            'n' => Some(10),
            't' => Some(9),
            'r' => Some(13),
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3)
            }
            '\\' | '\'' | '"' | '?' => Some(c as u32),
            _ => None,
        };
        match code.and_then(char::from_u32) {
            Some(c) => word.text.push(c),
            // Rare escapes: the word is not known.
            None => word.computed = true,
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let digits = self.rest().chars().take(most);
        let length = digits.take_while(|c| c.is_digit(radix)).count();
        let number = u32::from_str_radix(self.slice(self.at, self.at + length), radix);
        self.at += length;
        number.ok()
    }
}
