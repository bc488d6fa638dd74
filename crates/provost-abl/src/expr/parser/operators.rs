//! Operators between operands: which there are, how tightly they bind, and what they build.

use super::{Parser, Symbol, TokenKind};
use crate::expr::ast::{ArithmeticOp, CompareOp, Expr, ExprKind};
use crate::expr::error::{ExprError, Span};
use crate::expr::path;
use crate::expr::pattern::Pattern;
use crate::expr::suggest::nearest;

/// Binding power, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Power {
    Any,
    All,
    Compare,
    Sum,
    Product,
    /// Tighter than every operator between operands.
    Unary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    True,
    False,
    Null,
    And,
    Or,
    Not,
    Is,
    Exists,
    Empty,
    Compare(CompareOp),
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("AND", Keyword::And),
    ("OR", Keyword::Or),
    ("NOT", Keyword::Not),
    ("IS", Keyword::Is),
    ("IN", Keyword::Compare(CompareOp::In)),
    ("contains", Keyword::Compare(CompareOp::Contains)),
    ("matches", Keyword::Compare(CompareOp::Matches)),
    ("STARTS_WITH", Keyword::Compare(CompareOp::StartsWith)),
    ("ENDS_WITH", Keyword::Compare(CompareOp::EndsWith)),
    ("WITHIN", Keyword::Compare(CompareOp::Within)),
    ("EXISTS", Keyword::Exists),
    ("EMPTY", Keyword::Empty),
    ("true", Keyword::True),
    ("always", Keyword::True),
    ("false", Keyword::False),
    ("null", Keyword::Null),
];

/// Words of other languages for operators of ours.
const FOREIGN: &[(&str, &str)] = &[
    ("equals", "=="),
    ("eq", "=="),
    ("ne", "!="),
    ("gt", ">"),
    ("gte", ">="),
    ("lt", "<"),
    ("lte", "<="),
    ("like", "matches"),
    ("includes", "contains"),
    ("has", "contains"),
    ("begins_with", "STARTS_WITH"),
    ("under", "WITHIN"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    Or,
    And,
    Is,
    Compare { op: CompareOp, negated: bool },
    Arithmetic(ArithmeticOp),
}

impl Infix {
    pub(super) fn power(self) -> Power {
        match self {
            Self::Or => Power::Any,
            Self::And => Power::All,
            Self::Is | Self::Compare { .. } => Power::Compare,
            Self::Arithmetic(op) if op.is_product() => Power::Product,
            Self::Arithmetic(_) => Power::Sum,
        }
    }
}

pub(super) fn keyword(word: &str) -> Option<Keyword> {
    KEYWORDS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(word))
        .map(|(_, keyword)| *keyword)
}

/// For a word that stands where an operator belongs.
pub(super) fn suggestion(word: &str) -> Option<String> {
    let foreign = FOREIGN
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(word))
        .map(|(_, ours)| *ours);
    let between = KEYWORDS
        .iter()
        .filter(|(_, keyword)| matches!(keyword, Keyword::Compare(_) | Keyword::And | Keyword::Or))
        .map(|(known, _)| *known);
    foreign
        .or_else(|| nearest(word, between))
        .map(|ours| format!("`{word}` is not an operator, try `{ours}`"))
}

impl Parser<'_> {
    /// The operator ahead, if the token ahead is one.
    pub(super) fn infix(&self) -> Option<Infix> {
        match self.kind() {
            TokenKind::Symbol(symbol) => symbolic(*symbol),
            TokenKind::Word(word) => match keyword(word)? {
                Keyword::And => Some(Infix::And),
                Keyword::Or => Some(Infix::Or),
                Keyword::Is => Some(Infix::Is),
                Keyword::Compare(op) => Some(Infix::Compare { op, negated: false }),
                Keyword::Not => match self.kind_after(1) {
                    TokenKind::Word(next) => match keyword(next)? {
                        Keyword::Compare(op) => Some(Infix::Compare { op, negated: true }),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes the operator ahead and its right side.
    pub(super) fn join(&mut self, left: Expr, start: usize, infix: Infix) -> Expr {
        match infix {
            Infix::Or | Infix::And => self.chain(left, start, infix),
            Infix::Arithmetic(_) => self.arithmetic(left, start, infix.power()),
            Infix::Is => self.is_set(left, start),
            Infix::Compare { op, negated } => self.compare(left, start, op, negated),
        }
    }

    fn chain(&mut self, left: Expr, start: usize, infix: Infix) -> Expr {
        let mut operands = vec![left];
        let tighter = match infix {
            Infix::Or => Power::All,
            _ => Power::Compare,
        };
        while self.infix() == Some(infix) {
            self.bump();
            operands.push(self.expression(tighter));
        }
        let kind = match infix {
            Infix::Or => ExprKind::Any(operands),
            _ => ExprKind::All(operands),
        };
        Expr::new(kind, self.since(start))
    }

    fn arithmetic(&mut self, left: Expr, start: usize, power: Power) -> Expr {
        let tighter = match power {
            Power::Product => Power::Unary,
            _ => Power::Product,
        };
        let mut rest = Vec::new();
        while let Some(Infix::Arithmetic(op)) = self.infix()
            && Infix::Arithmetic(op).power() == power
        {
            self.bump();
            rest.push((op, self.expression(tighter)));
        }
        let first = Box::new(left);
        Expr::new(ExprKind::Arithmetic { first, rest }, self.since(start))
    }

    fn is_set(&mut self, left: Expr, start: usize) -> Expr {
        self.refuse_bare_not(&left, start, "IS SET", "write `… IS NOT SET`");
        let is = self.span();
        self.bump();
        let negated = self.eat_word("not");
        if !self.eat_word("set") {
            let span = Span::new(is.start, self.end);
            let instead = match self.kind() {
                TokenKind::Word(word) if keyword(word) == Some(Keyword::Empty) => "EMPTY x",
                _ if negated => "!=",
                _ => "==",
            };
            let error = ExprError::new(span, format!("expected `SET`, found {}", self.found()));
            self.report(error.help(format!(
                "write `IS SET` or `IS NOT SET`, or try `{instead}`"
            )));
            if instead == "EMPTY x" {
                self.bump();
            } else if *self.kind() != TokenKind::End && self.infix().is_none() {
                self.operand();
            }
        }
        self.refuse_chain();
        let of = Box::new(left);
        Expr::new(ExprKind::IsSet { of, negated }, self.since(start))
    }

    fn compare(&mut self, left: Expr, start: usize, op: CompareOp, negated: bool) -> Expr {
        if !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            let symbol = op.symbol();
            let help = if op.is_ordering() {
                format!("write `NOT (… {symbol} …)`")
            } else {
                format!("write `… NOT {symbol} …`, or `NOT (… {symbol} …)`")
            };
            self.refuse_bare_not(&left, start, symbol, &help);
        }
        self.bump();
        if negated {
            self.bump();
        }
        let mut right = self.expression(Power::Sum);
        if op == CompareOp::Matches
            && let ExprKind::Text(text) = &right.kind
        {
            right = self.pattern(right.span, || Pattern::quoted(text));
        }
        if matches!(op, CompareOp::Within | CompareOp::StartsWith) {
            self.refuse_ambiguous(op, &right);
        }
        self.refuse_chain();
        let kind = ExprKind::Compare {
            op,
            negated,
            left: Box::new(left),
            right: Box::new(right),
        };
        Expr::new(kind, self.since(start))
    }

    /// `NOT a WITHIN b` would test whether `NOT a` is within `b`, which it never is: a rule that
    /// reads right and never fires. `==` is left alone, a bool may well be compared.
    fn refuse_bare_not(&mut self, left: &Expr, start: usize, symbol: &str, help: &str) {
        if matches!(left.kind, ExprKind::Not(_)) && left.span.start == start {
            let not = Span::new(start, self.span().end);
            let error = ExprError::new(not, format!("`NOT` binds tighter than `{symbol}`"));
            self.report(error.help(help));
        }
    }

    /// A folder that is not the same on every system: no path could be judged by it.
    fn refuse_ambiguous(&mut self, op: CompareOp, right: &Expr) {
        match &right.kind {
            ExprKind::List(items) if op == CompareOp::Within => {
                for item in items {
                    self.refuse_ambiguous(op, item);
                }
            }
            ExprKind::Text(text)
                if path::is_ambiguous(text)
                    && (op == CompareOp::Within || path::looks_like_path(text)) =>
            {
                let error = ExprError::new(right.span, "the path can be read in two ways");
                self.report(error.help(match op {
                    CompareOp::Within => "write one `/` between folders, or start with a drive",
                    _ => "write one `/` between folders, or `matches` if it is no path",
                }));
            }
            _ => {}
        }
    }

    /// The rest of a chain is read for its errors and dropped, lest the tree grow with its length.
    fn refuse_chain(&mut self) {
        while let Some(infix) = self.infix()
            && infix.power() == Power::Compare
        {
            let error = ExprError::new(self.span(), "comparisons do not chain");
            self.report(error.help("join them with `AND`"));
            self.bump();
            if let Infix::Compare { negated, .. } = infix {
                if negated {
                    self.bump();
                }
                self.expression(Power::Sum);
            } else {
                self.eat_word("not");
                self.eat_word("set");
            }
        }
    }

    pub(super) fn eat_word(&mut self, wanted: &str) -> bool {
        let found =
            matches!(self.kind(), TokenKind::Word(word) if word.eq_ignore_ascii_case(wanted));
        if found {
            self.bump();
        }
        found
    }
}

fn symbolic(symbol: Symbol) -> Option<Infix> {
    let compare = |op| Infix::Compare { op, negated: false };
    Some(match symbol {
        Symbol::And => Infix::And,
        Symbol::Or => Infix::Or,
        Symbol::Plus => Infix::Arithmetic(ArithmeticOp::Add),
        Symbol::Minus => Infix::Arithmetic(ArithmeticOp::Subtract),
        Symbol::Star => Infix::Arithmetic(ArithmeticOp::Multiply),
        Symbol::Slash => Infix::Arithmetic(ArithmeticOp::Divide),
        Symbol::Equal => compare(CompareOp::Equal),
        Symbol::NotEqual => compare(CompareOp::NotEqual),
        Symbol::Less => compare(CompareOp::Less),
        Symbol::LessOrEqual => compare(CompareOp::LessOrEqual),
        Symbol::Greater => compare(CompareOp::Greater),
        Symbol::GreaterOrEqual => compare(CompareOp::GreaterOrEqual),
        _ => return None,
    })
}
