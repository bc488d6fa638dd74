//! Text to tokens. A slip that is easy to guess (`=` for `==`) is reported and read as meant, so
//! that the parser can go on and find the next one.

mod quoted;

use super::error::{ExprError, Span};
use super::parser::MAX_ERRORS;
use super::value::Number;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind<'s>,
    pub(super) span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'s> {
    /// A name, a keyword or an operator written as a word.
    Word(&'s str),
    Number(Number),
    Text(String),
    Regex {
        source: &'s str,
        flags: &'s str,
    },
    Symbol(Symbol),
    /// Already reported.
    Bad,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    Dot,
    Plus,
    Minus,
    Star,
    Slash,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Bang,
}

/// Longest first. The third column is what to write instead.
const SYMBOLS: &[(&str, Symbol, Option<&str>)] = &[
    ("===", Symbol::Equal, Some("==")),
    ("!==", Symbol::NotEqual, Some("!=")),
    ("==", Symbol::Equal, None),
    ("!=", Symbol::NotEqual, None),
    ("<>", Symbol::NotEqual, Some("!=")),
    ("<=", Symbol::LessOrEqual, None),
    (">=", Symbol::GreaterOrEqual, None),
    ("=<", Symbol::LessOrEqual, Some("<=")),
    ("=>", Symbol::GreaterOrEqual, Some(">=")),
    ("&&", Symbol::And, None),
    ("||", Symbol::Or, None),
    ("=", Symbol::Equal, Some("==")),
    ("≠", Symbol::NotEqual, Some("!=")),
    ("≤", Symbol::LessOrEqual, Some("<=")),
    ("≥", Symbol::GreaterOrEqual, Some(">=")),
    ("&", Symbol::And, Some("AND")),
    ("|", Symbol::Or, Some("OR")),
    ("<", Symbol::Less, None),
    (">", Symbol::Greater, None),
    ("!", Symbol::Bang, None),
    ("(", Symbol::Open, None),
    (")", Symbol::Close, None),
    ("[", Symbol::OpenList, None),
    ("]", Symbol::CloseList, None),
    (",", Symbol::Comma, None),
    (".", Symbol::Dot, None),
    ("+", Symbol::Plus, None),
    ("-", Symbol::Minus, None),
    ("*", Symbol::Star, None),
    ("/", Symbol::Slash, None),
];

/// The tokens of `source`, always ended by one `End`, and what was wrong with them.
pub(super) fn tokens(source: &str) -> (Vec<Token<'_>>, Vec<ExprError>) {
    let mut lexer = Lexer {
        source,
        at: 0,
        tokens: Vec::new(),
        errors: Vec::new(),
    };
    while let Some(character) = lexer.peek() {
        if character.is_whitespace() {
            lexer.at += character.len_utf8();
        } else {
            lexer.token(character);
        }
    }
    lexer.push(TokenKind::End, source.len());
    (lexer.tokens, lexer.errors)
}

/// Whether `text` can stand after a dot as it is.
pub(super) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(starts_name) && characters.all(continues_name)
}

fn starts_name(character: char) -> bool {
    character.is_alphabetic() || character == '_' || character == '$'
}

fn continues_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    tokens: Vec<Token<'s>>,
    errors: Vec<ExprError>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn since(&self, start: usize) -> &'s str {
        Span::new(start, self.at).text(self.source)
    }

    fn push(&mut self, kind: TokenKind<'s>, start: usize) {
        let span = Span::new(start, self.at);
        self.tokens.push(Token { kind, span });
    }

    fn report(&mut self, start: usize, message: impl Into<String>, help: Option<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(ExprError {
                message: message.into(),
                span: Span::new(start, self.at),
                help,
            });
        }
    }

    fn token(&mut self, first: char) {
        if starts_name(first) {
            self.word();
        } else if first.is_ascii_digit() {
            self.number();
        } else if first == '"' || first == '\'' {
            self.text(first);
        } else if first == '/' && self.after_matches() {
            self.regex();
        } else {
            self.symbol(first);
        }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = self.rest();
        let length = rest
            .find(|character| !accept(character))
            .unwrap_or(rest.len());
        self.at += length;
    }

    fn eat(&mut self, expected: impl Fn(char) -> bool) -> bool {
        match self.peek() {
            Some(character) if expected(character) => {
                self.at += character.len_utf8();
                true
            }
            _ => false,
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.take_while(continues_name);
        self.push(TokenKind::Word(self.since(start)), start);
    }

    fn number(&mut self) {
        let start = self.at;
        let digit = |character: char| character.is_ascii_digit();
        self.take_while(digit);
        if self.rest().starts_with('.') && self.rest().chars().nth(1).is_some_and(digit) {
            self.at += 1;
            self.take_while(digit);
        }
        let mantissa = self.at;
        if self.eat(|character| matches!(character, 'e' | 'E')) {
            self.eat(|character| matches!(character, '+' | '-'));
            if self.peek().is_some_and(digit) {
                self.take_while(digit);
            } else {
                self.at = mantissa;
            }
        }
        self.take_while(continues_name);
        let text = self.since(start);
        if let Some(number) = Number::parse(text) {
            self.push(TokenKind::Number(number), start);
            return;
        }
        self.report(start, format!("`{text}` is not a number"), None);
        self.push(TokenKind::Bad, start);
    }

    fn symbol(&mut self, first: char) {
        let start = self.at;
        let rest = self.rest();
        let known = SYMBOLS.iter().find(|(text, ..)| rest.starts_with(text));
        let Some(&(text, symbol, instead)) = known else {
            return self.stray(first);
        };
        self.at += text.len();
        if let Some(instead) = instead {
            let help = format!("`{text}` is not an operator, try `{instead}`");
            self.report(start, format!("unknown operator `{text}`"), Some(help));
        }
        self.push(TokenKind::Symbol(symbol), start);
    }

    /// Text in typographic quotes is taken whole: what is inside it is no expression.
    fn stray(&mut self, first: char) {
        const QUOTES: [char; 6] = ['“', '”', '„', '‘', '’', '`'];
        let start = self.at;
        self.at += first.len_utf8();
        let mut help = None;
        if QUOTES.contains(&first) {
            help = Some("write text in straight quotes".to_owned());
            let line = self.rest().lines().next().unwrap_or_default();
            if let Some((end, quote)) = line.match_indices(QUOTES).next() {
                self.at += end + quote.len();
            }
        }
        self.report(start, format!("unexpected character `{first}`"), help);
        self.push(TokenKind::Bad, start);
    }

    /// Only there a slash starts a pattern; anywhere else it divides.
    fn after_matches(&self) -> bool {
        let mut before = self.tokens.iter().rev().map(|token| &token.kind);
        matches!(before.next(), Some(TokenKind::Word(word)) if word.eq_ignore_ascii_case("matches"))
            && before.next() != Some(&TokenKind::Symbol(Symbol::Dot))
    }
}
