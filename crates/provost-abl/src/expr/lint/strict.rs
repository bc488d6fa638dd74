//! Remarks on strict programs: comparisons that can never be judged, because their sides are of different
//! kinds whatever the call says, and lengths that mean one thing of a text and another of a list.

use super::Lint;
use crate::expr::ast::{CompareOp, Expr, ExprKind, Step};
use crate::expr::error::Span;
use crate::expr::functions::Function;

/// All remarks that only a gate needs, in source order. `computed` are the names whose shape is known.
pub fn strict_lints<'e>(expr: &'e Expr, computed: &[&'e str]) -> Vec<Lint> {
    let mut linter = Linter {
        computed: computed.to_vec(),
        ..Linter::default()
    };
    linter.condition(expr);
    linter.visit(expr);
    linter.lints.sort_by_key(|lint| lint.span.start);
    linter.lints
}

/// What a value is, as far as its expression tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Text,
    List,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number => "a number",
            Self::Text => "text",
            Self::List => "a list",
        }
    }

    fn is_like(self, other: Self) -> bool {
        let scalar = |kind| matches!(kind, Self::Number | Self::Text);
        self == other || (scalar(self) && scalar(other))
    }
}

#[derive(Default)]
struct Linter<'e> {
    /// Names of computed values and of their members.
    computed: Vec<&'e str>,
    /// What the condition around us has found to be a list, or to be text.
    shaped: Vec<&'e Expr>,
    lints: Vec<Lint>,
}

impl<'e> Linter<'e> {
    fn visit(&mut self, expr: &'e Expr) {
        let outer = self.shaped.len();
        match &expr.kind {
            ExprKind::All(operands) => self.joined(operands, false),
            ExprKind::Any(operands) => self.joined(operands, true),
            ExprKind::Not(of) => self.condition(of),
            ExprKind::Compare {
                op, left, right, ..
            } => self.compare(*op, expr.span, left, right),
            ExprKind::Call {
                function: Function::Length,
                args,
            } => {
                if let [of] = args.as_slice() {
                    self.length(expr.span, of);
                }
            }
            _ => {}
        }
        let known = self.computed.len();
        if let ExprKind::Each {
            name, list, body, ..
        } = &expr.kind
        {
            self.condition(body);
            if self.is_computed(list) {
                self.computed.push(name);
            }
        }
        for child in expr.children() {
            self.visit(child);
        }
        self.computed.truncate(known);
        self.shaped.truncate(outer);
    }

    fn joined(&mut self, operands: &'e [Expr], by_or: bool) {
        for operand in operands {
            self.condition(operand);
        }
        self.learn(operands, by_or);
    }

    /// In `IS_ARRAY(x) AND …` the rest only matters of a list; in `NOT IS_ARRAY(x) OR …` too.
    fn learn(&mut self, operands: &'e [Expr], negated: bool) {
        for operand in operands {
            let test = match &operand.kind {
                ExprKind::Not(of) if negated => of,
                _ if negated => continue,
                _ => operand,
            };
            if let ExprKind::Call {
                function: Function::IsArray | Function::IsString,
                args,
            } = &test.kind
            {
                self.shaped.extend(args);
            }
        }
    }

    fn condition(&mut self, expr: &Expr) {
        if let Some(kind) = kind_of(expr)
            && kind != Kind::Bool
        {
            self.report(
                expr.span,
                format!("`{expr}` is {}, and no condition", kind.name()),
                "compare it with something".to_owned(),
            );
        }
    }

    fn compare(&mut self, op: CompareOp, span: Span, left: &Expr, right: &Expr) {
        let symbol = op.symbol();
        match (op, kind_of(left), kind_of(right)) {
            (CompareOp::Equal | CompareOp::NotEqual, Some(a), Some(b)) if !a.is_like(b) => {
                self.never(span, symbol, a, b);
            }
            (CompareOp::Equal | CompareOp::NotEqual, None, Some(Kind::List))
            | (CompareOp::Equal | CompareOp::NotEqual, Some(Kind::List), None) => {
                let (value, list) = match kind_of(left) {
                    None => (left, right),
                    Some(_) => (right, left),
                };
                self.report(
                    span,
                    format!("`{symbol}` with a list cannot be judged of a single value"),
                    format!("write `{value} IN {list}` if one of them is meant"),
                );
            }
            (CompareOp::In, _, Some(kind)) if kind != Kind::List => {
                self.report(
                    right.span,
                    format!(
                        "`IN` can never be judged: its right side is {}",
                        kind.name()
                    ),
                    format!("write a list: `IN [{right}]`"),
                );
            }
            (_, a, b) if op.is_ordering() => {
                for (kind, side) in [(a, left), (b, right)] {
                    if let Some(kind @ (Kind::Bool | Kind::List)) = kind {
                        self.report(
                            side.span,
                            format!("`{symbol}` can never be judged: a side is {}", kind.name()),
                            "compare numbers".to_owned(),
                        );
                    }
                }
            }
            _ => {}
        }
    }

    fn is_computed(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Path { root, .. } if self.computed.contains(&&**root))
    }

    fn never(&mut self, span: Span, symbol: &str, left: Kind, right: Kind) {
        let (left, right) = (left.name(), right.name());
        self.report(
            span,
            format!("`{symbol}` can never be judged: one side is {left}, the other {right}"),
            "compare values of the same kind".to_owned(),
        );
    }

    fn length(&mut self, span: Span, of: &Expr) {
        let is_path = matches!(of.kind, ExprKind::Path { .. });
        if is_path && !self.is_computed(of) && self.shaped.iter().all(|known| *known != of) {
            self.report(
                span,
                format!("`{of}` has another length as text than as a list"),
                format!(
                    "say which you mean: `IS_ARRAY({of}) AND …` to allow, `NOT IS_ARRAY({of}) OR …` to deny"
                ),
            );
        }
    }

    fn report(&mut self, span: Span, message: String, help: String) {
        self.lints.push(Lint {
            span,
            message,
            help: Some(help),
        });
    }
}

fn kind_of(expr: &Expr) -> Option<Kind> {
    match &expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Not(_)
        | ExprKind::Empty(_)
        | ExprKind::IsSet { .. }
        | ExprKind::Compare { .. }
        | ExprKind::Each { .. }
        | ExprKind::All(_)
        | ExprKind::Any(_) => Some(Kind::Bool),
        ExprKind::Number(_) | ExprKind::Negate(_) => Some(Kind::Number),
        ExprKind::Text(_) | ExprKind::Pattern(_) => Some(Kind::Text),
        ExprKind::List(_) => Some(Kind::List),
        ExprKind::Path { steps, .. } => match steps.last() {
            Some(Step::Key(key)) if &**key == "length" => Some(Kind::Number),
            _ => None,
        },
        ExprKind::Call { function, .. } => match function {
            Function::IsArray | Function::IsNumber | Function::IsString => Some(Kind::Bool),
            Function::Length | Function::ArrayFindIndex => Some(Kind::Number),
            Function::Split | Function::ObjectKeys | Function::ObjectValues => Some(Kind::List),
            Function::Join | Function::ToString | Function::Now | Function::UniqueId => {
                Some(Kind::Text)
            }
            _ if function.is_numeric() => Some(Kind::Number),
            _ if function.is_textual() => Some(Kind::Text),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse;

    #[test]
    fn p1_what_can_never_be_judged_is_told() {
        for (source, remarks) in [
            ("params.env == ['prod']", 1),
            ("['prod'] != params.env", 1),
            ("LOWER(params.env) == true", 1),
            ("params.env IN 'prod'", 1),
            ("params.n < true", 1),
            ("params.n >= [5]", 1),
            ("params.a == 1 AND 'text'", 1),
            ("LENGTH(params.files)", 2),
            ("LENGTH(params.files) <= 3", 1),
            ("IS_ARRAY(params.files) AND LENGTH(params.files) <= 3", 0),
            ("NOT IS_ARRAY(params.files) OR LENGTH(params.files) > 3", 0),
            ("IS_ARRAY(params.x) AND LENGTH(params.files) <= 3", 1),
            ("params.env == 'prod' AND params.n < 5 AND params.yes", 0),
            ("params.env IN ['a', 'b'] AND params.flag == true", 0),
            ("'5' == 5", 0),
        ] {
            let expr = parse(source).expr.unwrap();
            let found = strict_lints(&expr, &[]);
            assert_eq!(found.len(), remarks, "{source}: {found:?}");
        }
    }
}
