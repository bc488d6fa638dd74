//! The tokens with a closing mark: `"text"`, `'text'` and `/pattern/flags`.

use super::{Lexer, TokenKind, continues_name};

impl Lexer<'_> {
    pub(super) fn text(&mut self, quote: char) {
        let start = self.at;
        // `matches "\d+"` is what people write: there an unknown escape is the pattern's own.
        let keep_unknown = self.after_matches();
        self.at += quote.len_utf8();
        let mut text = String::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    let help = format!("add a closing `{quote}`");
                    self.report(start, "the text is not closed", Some(help));
                    return self.push(TokenKind::Bad, start);
                }
                Some('\\') => self.escape(&mut text, keep_unknown),
                Some(character) => {
                    self.at += character.len_utf8();
                    if character == quote {
                        return self.push(TokenKind::Text(text), start);
                    }
                    text.push(character);
                }
            }
        }
    }

    fn escape(&mut self, text: &mut String, keep_unknown: bool) {
        let start = self.at;
        self.at += 1;
        let Some(escaped) = self.peek() else { return };
        self.at += escaped.len_utf8();
        let plain = match escaped {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '\\' | '/' | '"' | '\'' => Some(escaped),
            'u' => self.code_point(),
            _ => None,
        };
        match plain {
            Some(character) => text.push(character),
            None if keep_unknown => text.push_str(self.since(start)),
            None => {
                let found = self.since(start);
                let help = format!("write `\\{found}` for a backslash");
                self.report(start, format!("unknown escape `{found}`"), Some(help));
            }
        }
    }

    /// `\u00e9` or `\u{1f600}`, after the `u`.
    fn code_point(&mut self) -> Option<char> {
        let braced = self.eat(|character| character == '{');
        let start = self.at;
        let longest = if braced { 6 } else { 4 };
        while self.at - start < longest && self.eat(|character| character.is_ascii_hexdigit()) {}
        let digits = self.since(start);
        let complete = if braced {
            self.eat(|character| character == '}')
        } else {
            digits.len() == longest
        };
        let code = u32::from_str_radix(digits, 16).ok()?;
        char::from_u32(code).filter(|_| complete)
    }

    pub(super) fn regex(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut in_class = false;
        loop {
            let Some(character) = self.peek().filter(|character| *character != '\n') else {
                let help = "add a closing `/`".to_owned();
                self.report(start, "the pattern is not closed", Some(help));
                return self.push(TokenKind::Bad, start);
            };
            self.at += character.len_utf8();
            match character {
                '/' if !in_class => break,
                '\\' => {
                    self.eat(|escaped| escaped != '\n');
                }
                '[' => in_class = true,
                ']' => in_class = false,
                _ => {}
            }
        }
        let end = self.at;
        self.take_while(continues_name);
        let flags = self.since(end);
        let source = super::Span::new(start + 1, end - 1).text(self.source);
        self.push(TokenKind::Regex { source, flags }, start);
    }
}
