//! Comparisons of a name of the scope with a value of another kind, as the evaluator judges them.

use crate::expr::ast::{CompareOp, Expr, ExprKind};
use crate::expr::lint::types::Type;
use crate::expr::value::Number;

/// What comes of such a comparison. The last is the mildest: one member of a list that may match is enough.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clash {
    /// One of a set of words, none of which is a number, with a number.
    NeverText,
    /// A number with what is none.
    NeverNumber,
    /// Any text with a number. A text that is a number compares as that number.
    Numeral,
}

impl Clash {
    /// `None`: there is nothing to remark, or the kinds alone tell it.
    pub(super) fn of(named: &Type, op: CompareOp, other: &Expr) -> Option<Self> {
        let is_bool = matches!(other.kind, ExprKind::Bool(_));
        match named {
            Type::Word if is_number(other) => Some(Self::NeverText),
            Type::Text | Type::Name if is_number(other) => Some(Self::Numeral),
            Type::Number if is_bool && op != CompareOp::In => None,
            Type::Number if is_no_number(other) => Some(Self::NeverNumber),
            _ => None,
        }
    }

    pub(super) fn never_matches(self, op: CompareOp) -> bool {
        self != Self::Numeral && op != CompareOp::NotEqual
    }

    /// The message and the help.
    pub(super) fn remark(self, op: CompareOp, named: &Expr, other: &Expr) -> (String, String) {
        let comes_to = match (self, op) {
            (Self::Numeral, CompareOp::NotEqual) => "is false only of a text that is a number",
            (Self::Numeral, _) if op.is_ordering() => {
                "can be judged only of a text that is a number"
            }
            (Self::Numeral, _) => "matches only a text that is a number",
            (_, CompareOp::NotEqual) => "always holds",
            _ => "can never match",
        };
        let (kind, written) = match self {
            Self::NeverNumber => ("a number", "a number"),
            Self::NeverText | Self::Numeral => ("text", "a text in quotes"),
        };
        let symbol = op.symbol();
        (
            format!("`{symbol}` {comes_to}: `{named}` is {kind}, and `{other}` is not"),
            format!("compare it with {written}"),
        )
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Number(_) | ExprKind::Negate(_))
}

/// Text that does not read as a number, or a bool.
pub(super) fn is_no_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Text(text) => Number::parse(text).is_none(),
        ExprKind::Bool(_) => true,
        _ => false,
    }
}
