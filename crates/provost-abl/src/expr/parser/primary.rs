//! Operands: literals, lists, paths, calls, parentheses and the operators before them.

use super::operators::{Keyword, Power, keyword};
use super::{MAX_PATTERNS, Parser, Symbol, TokenKind};
use crate::expr::ast::{Expr, ExprKind, Step};
use crate::expr::error::{ExprError, Span};
use crate::expr::functions::Function;
use crate::expr::pattern::Pattern;
use crate::expr::suggest::nearest;

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> Expr {
        let start = self.span().start;
        match self.kind().clone() {
            TokenKind::Word(word) => self.word(word),
            TokenKind::Number(number) => self.literal(ExprKind::Number(number)),
            TokenKind::Text(text) => self.literal(ExprKind::Text(text.into())),
            TokenKind::Regex { source, flags } => self.regex(source, flags),
            TokenKind::Symbol(Symbol::Minus) => self.unary(ExprKind::Negate),
            TokenKind::Symbol(Symbol::Bang) => self.unary(ExprKind::Not),
            TokenKind::Symbol(Symbol::Open) => self.group(),
            TokenKind::Symbol(Symbol::OpenList) => {
                let list = self.nested(|parser| {
                    let items = parser.items(Symbol::CloseList);
                    Expr::new(ExprKind::List(items), parser.since(start))
                });
                self.steps_into(list)
            }
            TokenKind::Bad => {
                let missing = self.missing();
                self.bump();
                missing
            }
            TokenKind::Symbol(_) | TokenKind::End => self.no_value(None),
        }
    }

    fn no_value(&mut self, help: Option<String>) -> Expr {
        let message = format!("expected a value, found {}", self.found());
        let mut error = ExprError::new(self.span(), message);
        error.help = help;
        self.report(error);
        self.missing()
    }

    fn word(&mut self, word: &str) -> Expr {
        if let Some((quantifier, instead)) = self.quantifier(word) {
            return self.each(quantifier, instead);
        }
        match keyword(word) {
            Some(Keyword::True) => self.literal(ExprKind::Bool(true)),
            Some(Keyword::False) => self.literal(ExprKind::Bool(false)),
            Some(Keyword::Null) => self.literal(ExprKind::Null),
            Some(Keyword::Not) => self.unary(ExprKind::Not),
            Some(Keyword::Empty) => self.unary(ExprKind::Empty),
            Some(Keyword::Exists) => self.unary(|of| ExprKind::IsSet { of, negated: false }),
            Some(keyword) => self.misplaced(word, keyword),
            None if *self.kind_after(1) == TokenKind::Symbol(Symbol::Open) => self.call(word),
            None => self.path(word),
        }
    }

    /// An operator where a value belongs: alone, or called like a function.
    fn misplaced(&mut self, word: &str, keyword: Keyword) -> Expr {
        let missing = self.no_value(Some(format!("`{word}` goes between two values")));
        let called = *self.kind_after(1) == TokenKind::Symbol(Symbol::Open);
        if !called || !matches!(keyword, Keyword::Compare(_)) {
            return missing;
        }
        self.nested(|parser| {
            parser.bump();
            parser.items(Symbol::Close);
            missing
        })
    }

    fn literal(&mut self, kind: ExprKind) -> Expr {
        let span = self.span();
        self.bump();
        self.steps_into(Expr::new(kind, span))
    }

    fn regex(&mut self, source: &str, flags: &str) -> Expr {
        let span = self.span();
        self.bump();
        self.pattern(span, || Pattern::literal(source, flags))
    }

    pub(super) fn pattern(
        &mut self,
        span: Span,
        compile: impl FnOnce() -> Result<Pattern, String>,
    ) -> Expr {
        self.patterns += 1;
        let problem = if self.patterns > MAX_PATTERNS {
            format!("more than {MAX_PATTERNS} patterns in one expression")
        } else {
            match compile() {
                Ok(pattern) => return Expr::new(ExprKind::Pattern(pattern), span),
                Err(reason) => format!("the pattern does not compile: {reason}"),
            }
        };
        self.report(ExprError::new(span, problem));
        Expr::new(ExprKind::Missing, span)
    }

    fn unary(&mut self, wrap: impl FnOnce(Box<Expr>) -> ExprKind) -> Expr {
        let start = self.span().start;
        self.nested(|parser| {
            parser.bump();
            let of = parser.expression(Power::Unary);
            Expr::new(wrap(Box::new(of)), parser.since(start))
        })
    }

    fn group(&mut self) -> Expr {
        let open = self.span();
        let inner = self.nested(|parser| {
            parser.bump();
            let inner = parser.expression(Power::Any);
            parser.close(Symbol::Close, open);
            inner
        });
        let steps = self.steps();
        if steps.is_empty() {
            return inner;
        }
        let of = Box::new(inner);
        Expr::new(ExprKind::Access { of, steps }, self.since(open.start))
    }

    /// The closing mark of a pair, or an error about whichever of the two is to blame.
    pub(super) fn close(&mut self, close: Symbol, open: Span) {
        while !self.eat(close) {
            if *self.kind() == TokenKind::End {
                let mark = open.text(self.source);
                let closing = if close == Symbol::Close { ")" } else { "]" };
                let error = ExprError::new(open, format!("`{mark}` is not closed"))
                    .help(format!("add a `{closing}`"));
                return self.report(error);
            }
            let message = format!("expected an operator, found {}", self.found());
            self.report(ExprError::new(self.span(), message));
            self.bump();
        }
    }

    /// Values separated by commas, from the opening mark ahead to the closing one.
    fn items(&mut self, close: Symbol) -> Vec<Expr> {
        let mark = self.span();
        self.bump();
        let mut items = Vec::new();
        if self.eat(close) {
            return items;
        }
        loop {
            items.push(self.expression(Power::Any));
            if self.eat(Symbol::Comma) {
                continue;
            }
            if !self.at_symbol(close) {
                let message = format!("expected `,`, found {}", self.found());
                if *self.kind() != TokenKind::End {
                    self.report(ExprError::new(self.span(), message));
                }
                self.skip_to_separator(close);
                if self.eat(Symbol::Comma) {
                    continue;
                }
            }
            self.close(close, mark);
            return items;
        }
    }

    fn skip_to_separator(&mut self, close: Symbol) {
        while *self.kind() != TokenKind::End
            && !self.at_symbol(close)
            && !self.at_symbol(Symbol::Comma)
        {
            self.bump();
        }
    }

    fn call(&mut self, name: &str) -> Expr {
        let span = self.span();
        let call = self.nested(|parser| {
            parser.bump();
            let args = parser.items(Symbol::Close);
            let whole = parser.since(span.start);
            let Some(function) = Function::named(name) else {
                let error = ExprError::new(span, format!("unknown function `{name}`"));
                parser.report(match nearest(name, Function::names()) {
                    Some(known) => error.help(format!("did you mean `{known}`?")),
                    None => error,
                });
                return Expr::new(ExprKind::Missing, whole);
            };
            if !function.accepts(args.len()) {
                let message = format!(
                    "`{}` takes {}, found {}",
                    function.name(),
                    function.arity(),
                    args.len()
                );
                let error = ExprError::new(whole, message);
                parser.report(error.help(format!("write `{}`", function.signature())));
            }
            Expr::new(ExprKind::Call { function, args }, whole)
        });
        self.steps_into(call)
    }

    fn path(&mut self, root: &str) -> Expr {
        let start = self.span().start;
        self.bump();
        let root = root.into();
        let steps = self.steps();
        Expr::new(ExprKind::Path { root, steps }, self.since(start))
    }

    fn steps_into(&mut self, of: Expr) -> Expr {
        let start = of.span.start;
        let steps = self.steps();
        if steps.is_empty() {
            return of;
        }
        let of = Box::new(of);
        Expr::new(ExprKind::Access { of, steps }, self.since(start))
    }

    fn steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let step = if self.eat(Symbol::Dot) {
                self.key()
            } else if self.at_symbol(Symbol::OpenList) {
                self.index()
            } else {
                return steps;
            };
            steps.extend(step);
        }
    }

    fn key(&mut self) -> Option<Step> {
        if let TokenKind::Word(word) = *self.kind() {
            self.bump();
            return Some(Step::Key(word.into()));
        }
        let message = format!("expected a name after `.`, found {}", self.found());
        let mut error = ExprError::new(self.span(), message);
        if let TokenKind::Number(number) = self.kind() {
            error = error.help(format!("write `[{number}]` for a position in a list"));
            self.report(error);
            self.bump();
        } else {
            self.report(error);
        }
        None
    }

    fn index(&mut self) -> Option<Step> {
        let open = self.span();
        self.bump();
        let step = match self.kind() {
            TokenKind::Text(text) => Some(Step::Key(text.as_str().into())),
            TokenKind::Number(number) => number
                .as_int()
                .and_then(|int| usize::try_from(int).ok())
                .map(Step::Index),
            _ => None,
        };
        if step.is_some() {
            self.bump();
        } else {
            let message = format!(
                "expected a position or a quoted key, found {}",
                self.found()
            );
            let error = ExprError::new(self.span(), message);
            self.report(error.help("write `[0]` or `[\"key\"]`"));
            self.skip_to_separator(Symbol::CloseList);
        }
        self.close(Symbol::CloseList, open);
        step
    }
}
