//! Tokens to tree, by operator precedence. Parsing never fails: it returns what it could read and
//! every error it saw, with a `Missing` node where something was not there.

mod each;
mod operators;
mod primary;

use super::ast::{Expr, ExprKind};
use super::error::{ExprError, Span};
use super::lexer::{Symbol, Token, TokenKind, tokens};
use operators::Power;

/// The longest source that is read, in bytes.
pub const MAX_SOURCE: usize = 64 * 1024;
/// How deep parentheses, calls, lists and unary operators may nest.
pub const MAX_DEPTH: usize = 32;
/// Each may take a megabyte once compiled.
const MAX_PATTERNS: usize = 64;
/// After this many errors the rest is noise.
pub(super) const MAX_ERRORS: usize = 20;

/// What came out of reading a source.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The tree, with `Missing` nodes if there are errors; `None` when nothing could be read.
    pub expr: Option<Expr>,
    pub errors: Vec<ExprError>,
}

/// Reads an expression, reporting all its errors in one pass.
pub fn parse(source: &str) -> Parsed {
    if source.len() > MAX_SOURCE {
        let message = format!("the expression is longer than {MAX_SOURCE} bytes");
        return failed(ExprError::new(Span::new(0, source.len()), message));
    }
    let (tokens, errors) = tokens(source);
    if tokens.len() == 1 {
        return failed(ExprError::new(
            Span::new(0, source.len()),
            "the expression is empty",
        ));
    }
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        end: 0,
        depth: 0,
        patterns: 0,
        too_deep: false,
        members: Vec::new(),
        errors,
    };
    let expr = parser.whole();
    let too_deep = parser.too_deep;
    let mut errors = parser.errors;
    errors.sort_by_key(|error| error.span.start);
    errors.truncate(MAX_ERRORS);
    Parsed {
        expr: (!too_deep).then_some(expr),
        errors,
    }
}

fn failed(error: ExprError) -> Parsed {
    Parsed {
        expr: None,
        errors: vec![error],
    }
}

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token<'s>>,
    at: usize,
    /// Where the last token taken ended.
    end: usize,
    depth: usize,
    patterns: usize,
    /// Once set, the rest is skipped without a word.
    too_deep: bool,
    /// What the quantifiers around us call their members.
    members: Vec<&'s str>,
    errors: Vec<ExprError>,
}

impl<'s> Parser<'s> {
    fn kind(&self) -> &TokenKind<'s> {
        self.kind_after(0)
    }

    fn kind_after(&self, tokens: usize) -> &TokenKind<'s> {
        self.tokens
            .get(self.at + tokens)
            .map_or(&TokenKind::End, |token| &token.kind)
    }

    fn span(&self) -> Span {
        let end = Span::new(self.source.len(), self.source.len());
        self.tokens.get(self.at).map_or(end, |token| token.span)
    }

    /// Takes one token; the `End` stays.
    fn bump(&mut self) {
        if *self.kind() != TokenKind::End {
            self.end = self.span().end;
            self.at += 1;
        }
    }

    fn at_symbol(&self, symbol: Symbol) -> bool {
        *self.kind() == TokenKind::Symbol(symbol)
    }

    fn eat(&mut self, symbol: Symbol) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.bump();
        }
        found
    }

    /// From `start` to the end of what was read.
    fn since(&self, start: usize) -> Span {
        Span::new(start, self.end.max(start))
    }

    fn report(&mut self, error: ExprError) {
        let repeated = self
            .errors
            .iter()
            .any(|known| known.span.start == error.span.start);
        if !self.too_deep && !repeated && self.errors.len() < 2 * MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn missing(&self) -> Expr {
        let at = self.span().start;
        Expr::new(ExprKind::Missing, Span::new(at, at))
    }

    /// The token ahead, for a message.
    fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end".to_owned(),
            _ => format!("`{}`", self.span().text(self.source)),
        }
    }

    fn whole(&mut self) -> Expr {
        let expr = self.expression(Power::Any);
        while *self.kind() != TokenKind::End {
            self.trailing();
            while *self.kind() != TokenKind::End && self.infix().is_none() {
                self.bump();
            }
            if self.infix().is_some() {
                // The left side of what follows is lost: read on for its errors only.
                let lost = self.missing();
                let start = lost.span.start;
                self.infixes(lost, start, Power::Any);
            }
        }
        expr
    }

    /// Something after the end of an expression.
    fn trailing(&mut self) {
        let span = self.span();
        let found = self.found();
        match *self.kind() {
            TokenKind::Bad => self.bump(),
            TokenKind::Symbol(Symbol::Close | Symbol::CloseList) => {
                self.report(ExprError::new(span, format!("unmatched {found}")));
                self.bump();
            }
            TokenKind::Word(word) => {
                let mut error =
                    ExprError::new(span, format!("expected an operator, found {found}"));
                error.help = operators::suggestion(word);
                self.report(error);
            }
            _ => {
                let message = format!("expected an operator, found {found}");
                self.report(ExprError::new(span, message));
            }
        }
    }

    /// An operand and everything that binds to it at least as tightly as `least`.
    fn expression(&mut self, least: Power) -> Expr {
        // Not the start of the operand: that is inside its parentheses.
        let start = self.span().start;
        let left = self.operand();
        self.infixes(left, start, least)
    }

    fn infixes(&mut self, mut left: Expr, start: usize, least: Power) -> Expr {
        while let Some(infix) = self.infix() {
            if infix.power() < least {
                break;
            }
            left = self.join(left, start, infix);
        }
        left
    }

    /// Runs `read` one level deeper, or gives up on the source.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if self.depth == MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            let error =
                ExprError::new(self.span(), message).help("split it into several conditions");
            self.report(error);
            self.too_deep = true;
            self.at = self.tokens.len();
            return self.missing();
        }
        self.depth += 1;
        let expr = read(self);
        self.depth -= 1;
        expr
    }
}
