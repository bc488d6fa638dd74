//! Remarks on strict programs: comparisons that can never be judged, because their sides are of different
//! kinds whatever the call says, and lengths that mean one thing of a text and another of a list.

mod clash;
mod holds;

pub use self::holds::never_holds;

use self::clash::{Clash, is_no_number};
use super::{
    Lint,
    types::{Known, Type, Types},
};
use crate::expr::ast::{ArithmeticOp, CompareOp, Expr, ExprKind, Step};
use crate::expr::error::Span;
use crate::expr::functions::Function;

/// All remarks that only a gate needs, in source order. `types` are those of the host's names.
pub fn strict_lints(expr: &Expr, types: Types) -> Vec<Lint> {
    let mut lints = Linter::read(expr, types).lints;
    lints.sort_by_key(|lint| lint.span.start);
    lints
}

/// What a value is, as far as its expression tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Text,
    List,
    Object,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number => "a number",
            Self::Text => "text",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }

    fn is_like(self, other: Self) -> bool {
        let scalar = |kind| matches!(kind, Self::Number | Self::Text);
        self == other || (scalar(self) && scalar(other))
    }
}

struct Linter<'e> {
    known: Known<'e>,
    /// What the condition around us has found to be a list, or to be text.
    shaped: Vec<&'e Expr>,
    lints: Vec<Lint>,
    /// Conditions that hold of no call, and which of the lints says why.
    dead: Vec<(&'e Expr, usize)>,
}

impl<'e> Linter<'e> {
    fn read(expr: &'e Expr, types: Types) -> Self {
        let mut linter = Self {
            known: Known::new(types),
            shaped: Vec::new(),
            lints: Vec::new(),
            dead: Vec::new(),
        };
        linter.condition(expr);
        linter.visit(expr);
        linter
    }

    fn visit(&mut self, expr: &'e Expr) {
        let outer = self.shaped.len();
        match &expr.kind {
            ExprKind::All(operands) => self.joined(operands, false),
            ExprKind::Any(operands) => self.joined(operands, true),
            ExprKind::Not(of) => self.condition(of),
            ExprKind::Compare {
                op, left, right, ..
            } => self.compare(*op, expr, left, right),
            ExprKind::Call {
                function: Function::Length,
                args,
            } => {
                if let [of] = args.as_slice() {
                    self.length(expr.span, of);
                }
            }
            ExprKind::Empty(of) => self.emptiness(expr, of),
            ExprKind::Arithmetic { first, rest } => self.arithmetic(expr.span, first, rest),
            _ => {}
        }
        let known = self.known.depth();
        if let ExprKind::Each {
            name, list, body, ..
        } = &expr.kind
        {
            self.members(expr, name, list);
            self.known.enter(name, list);
            self.condition(body);
        }
        for child in expr.children() {
            self.visit(child);
        }
        self.known.leave(known);
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
        if let Some(kind) = self.kind_of(expr)
            && kind != Kind::Bool
        {
            self.report(
                expr.span,
                format!("`{expr}` is {}, and no condition", kind.name()),
                "compare it with something".to_owned(),
            );
        }
    }

    fn compare(&mut self, op: CompareOp, whole: &'e Expr, left: &'e Expr, right: &'e Expr) {
        let (symbol, span) = (op.symbol(), whole.span);
        match (op, self.kind_of(left), self.kind_of(right)) {
            _ if self.clash(op, whole, left, right) => {}
            (CompareOp::Equal | CompareOp::NotEqual, Some(a), Some(b)) if !a.is_like(b) => {
                self.dead(whole);
                self.never(span, symbol, a, b);
            }
            (CompareOp::Equal | CompareOp::NotEqual, None, Some(Kind::List))
            | (CompareOp::Equal | CompareOp::NotEqual, Some(Kind::List), None) => {
                let (value, list) = match self.kind_of(left) {
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
                self.dead(whole);
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
                    if let Some(kind @ (Kind::Bool | Kind::List | Kind::Object)) = kind {
                        self.dead(whole);
                        self.report(
                            side.span,
                            format!("`{symbol}` can never be judged: a side is {}", kind.name()),
                            "compare numbers".to_owned(),
                        );
                    }
                }
            }
            (
                CompareOp::Matches
                | CompareOp::StartsWith
                | CompareOp::EndsWith
                | CompareOp::Within
                | CompareOp::Contains,
                Some(kind),
                _,
            ) if !(kind == Kind::Text || (op == CompareOp::Contains && kind == Kind::List)) => {
                self.dead(whole);
                self.report(
                    left.span,
                    format!(
                        "`{symbol}` can never be judged: `{left}` is {}",
                        kind.name()
                    ),
                    format!(
                        "compare text: `ANY item IN {left} SATISFY (item {symbol} …)` of a list"
                    ),
                );
            }
            _ => {}
        }
    }

    /// A name that is text for every call beside a number, or a number beside what is none.
    fn clash(&mut self, op: CompareOp, whole: &'e Expr, left: &Expr, right: &Expr) -> bool {
        let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        let sides = match &right.kind {
            ExprKind::List(items) if op == CompareOp::In && !items.is_empty() => {
                items.iter().collect()
            }
            _ if equality || op.is_ordering() => vec![right],
            _ => return false,
        };
        let beside = |named: &Expr, other: &Expr| Clash::of(self.known.type_of(named)?, op, other);
        let met: Option<Vec<_>> = sides.into_iter().map(|side| beside(left, side)).collect();
        let (clash, named, other) = if let Some(clash) = met.and_then(|met| met.into_iter().max()) {
            (clash, left, right)
        } else if op != CompareOp::In
            && let Some(clash) = beside(right, left)
        {
            (clash, right, left)
        } else {
            return false;
        };
        if clash.never_matches(op) {
            self.dead(whole);
        }
        let (message, help) = clash.remark(op, named, other);
        self.report(whole.span, message, help);
        true
    }

    /// Operands that are no numbers, beside one that is.
    fn arithmetic(&mut self, span: Span, first: &Expr, rest: &[(ArithmeticOp, Expr)]) {
        let operands = || std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand));
        let joins = rest.iter().all(|(op, _)| *op == ArithmeticOp::Add)
            && !operands().any(|operand| self.kind_of(operand) == Some(Kind::Number));
        let stray = operands().find(|operand| match self.kind_of(operand) {
            Some(Kind::Bool | Kind::List | Kind::Object) => true,
            _ => !joins && is_no_number(operand),
        });
        if let Some(stray) = stray {
            let help = "join texts only: `TO_STRING(…)` makes text of a number";
            self.report(
                span,
                format!("it can never be judged: `{stray}` is no number"),
                help.to_owned(),
            );
        }
    }

    /// A quantifier goes over a list.
    fn members(&mut self, whole: &'e Expr, name: &str, list: &Expr) {
        if let Some(kind) = self.kind_of(list)
            && kind != Kind::List
        {
            self.dead(whole);
            self.report(
                list.span,
                format!(
                    "`{name} IN {list}` can never be judged: `{list}` is {}, and no list",
                    kind.name()
                ),
                "name a list, such as `command.parts`, or compare the value itself".to_owned(),
            );
        }
    }

    fn emptiness(&mut self, whole: &'e Expr, of: &Expr) {
        if matches!(
            self.known.type_of(of),
            Some(Type::Name | Type::Word | Type::Number | Type::Bool)
        ) {
            self.dead(whole);
            self.report(
                whole.span,
                format!("`EMPTY {of}` never holds: `{of}` is never empty"),
                "compare it, or remove the condition".to_owned(),
            );
        }
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
        let is_known = self
            .known
            .type_of(of)
            .is_some_and(|of| !matches!(of, Type::Open));
        if is_path && !is_known && self.shaped.iter().all(|known| *known != of) {
            self.report(
                span,
                format!("`{of}` has another length as text than as a list"),
                format!(
                    "say which you mean: `IS_ARRAY({of}) AND …` to allow, `NOT IS_ARRAY({of}) OR …` to deny"
                ),
            );
        }
    }

    fn kind_of(&self, expr: &Expr) -> Option<Kind> {
        let known = self.known.type_of(expr).map(|known| match known {
            Type::Bool => Kind::Bool,
            Type::Number => Kind::Number,
            Type::Text | Type::Name | Type::Word => Kind::Text,
            Type::List(_) => Kind::List,
            Type::Object(_) | Type::Open => Kind::Object,
        });
        known.or_else(|| kind_of(expr))
    }

    /// The next remark says why this condition holds of no call.
    fn dead(&mut self, condition: &'e Expr) {
        self.dead.push((condition, self.lints.len()));
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
        ExprKind::Arithmetic { first, rest } => sum_kind(first, rest),
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

/// Of arithmetic: a number, unless only `+` stands there, and that between texts or what may be one.
fn sum_kind(first: &Expr, rest: &[(ArithmeticOp, Expr)]) -> Option<Kind> {
    let start = (kind_of(first), is_no_number(first));
    let (kind, _) = rest.iter().fold(start, |(kind, is_text), (op, operand)| {
        let other = kind_of(operand);
        if *op != ArithmeticOp::Add || [kind, other].contains(&Some(Kind::Number)) {
            (Some(Kind::Number), false)
        } else if is_text || is_no_number(operand) {
            (Some(Kind::Text), true)
        } else {
            (None, false)
        }
    });
    kind
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::expr::{JsonScope, Program, parse};

    #[test]
    fn p01_what_can_never_be_judged_is_told() {
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
            ("params.price + params.fee > 1000", 0),
            ("params.price + '12' > 1000", 0),
            ("params.price - 'none' > 1000", 1),
            ("'v' + 1 == params.tag", 1),
            ("'v' + params.n == params.tag", 0),
            ("'v' + TO_STRING(1) == params.tag", 0),
            ("params.n + true > 5", 1),
            ("params.n + [1] > 5", 1),
            ("params.n + 1", 1),
            ("'v' + params.n", 1),
            ("params.n * 2 matches /x/", 1),
            ("'v' + params.n matches /x/", 0),
        ] {
            let expr = parse(source).expr.unwrap();
            let found = strict_lints(&expr, |_| None);
            assert_eq!(found.len(), remarks, "{source}: {found:?}");
        }
    }

    #[test]
    fn p17_names_of_the_scope_have_a_type() {
        static MEMBER: Type = Type::Object(&[("name", Type::Text), ("size", Type::Number)]);
        static FILES: Type = Type::List(&MEMBER);
        let types: Types = |name| match name {
            "agent" => Some(&Type::Name),
            "session" => Some(&Type::Text),
            "risks" => Some(&Type::List(&Type::Word)),
            "params" => Some(&Type::Open),
            "port" => Some(&Type::Number),
            "ok" => Some(&Type::Bool),
            "files" => Some(&FILES),
            _ => None,
        };
        for (source, message) in [
            ("risks == 'deletes'", "`==` can never be judged"),
            ("params == 'x'", "`==` can never be judged"),
            ("'x' IN params", "`IN` can never be judged"),
            ("params MATCHES /x/", "`matches` can never be judged"),
            ("risks STARTS_WITH 'x'", "`STARTS_WITH` can never be judged"),
            (
                "ANY r IN risks SATISFY (r == 5)",
                "`==` can never match: `r` is text",
            ),
            (
                "port == 'https'",
                "`==` can never match: `port` is a number, and `\"https\"` is not",
            ),
            ("port != 'https'", "`!=` always holds: `port` is a number"),
            ("port == 'inf'", "`==` can never match: `port` is a number"),
            ("port == true", "`==` can never be judged"),
            ("port IN ['a', true]", "`IN` can never match"),
            ("EMPTY agent", "`agent` is never empty"),
            ("agent", "`agent` is text, and no condition"),
            ("risks", "`risks` is a list, and no condition"),
            (
                "ANY a IN agent SATISFY (a == 'x')",
                "`agent` is text, and no list",
            ),
            (
                "NONE p IN params SATISFY (p == 'x')",
                "`params` is an object, and no list",
            ),
            (
                "ALL n IN LENGTH(files) SATISFY (n > 1)",
                "is a number, and no list",
            ),
            (
                "ANY f IN files SATISFY (ANY n IN f.name SATISFY (n == 'x'))",
                "`f.name` is text, and no list",
            ),
            (
                "ANY f IN files SATISFY (f.size == 'big')",
                "`f.size` is a number",
            ),
        ] {
            let expr = parse(source).expr.unwrap();
            let found = strict_lints(&expr, types);
            assert!(
                found.len() == 1 && found[0].message.contains(message),
                "{source}: {found:?}"
            );
        }
        for source in [
            "agent == 'claude' AND session != 'x' AND 'deletes' IN risks AND ok",
            "port == 443 OR port == '443' OR port > 1024",
            "agent > 'a' AND agent IN ['5', 5] AND EMPTY session",
            "params.x == 5 AND LENGTH(risks) == 1 AND agent.length > 3",
            "risks CONTAINS 'deletes' AND risks == ['deletes']",
            "ALL f IN files SATISFY (f.name ENDS_WITH '.md' AND f.size < 5)",
            "ANY x IN params.list SATISFY (x == 1) AND ANY x IN [1, 2] SATISFY (x == port)",
            "ANY w IN SPLIT(agent, '-') SATISFY (w == 'x')",
        ] {
            let expr = parse(source).expr.unwrap();
            assert_eq!(strict_lints(&expr, types), [], "{source}");
        }
    }

    /// The evaluator takes a text that is a number for that number, so nothing may say that it never does.
    #[test]
    fn p17_text_beside_a_number_matches_as_the_evaluator_says() {
        let types: Types = |name| (name == "session").then_some(&Type::Text);
        for (source, message) in [
            ("session == 7", "`==` matches only a text that is a number"),
            ("7 == session", "`==` matches only a text that is a number"),
            (
                "session IN [7, 8]",
                "`IN` matches only a text that is a number",
            ),
            (
                "session != -8",
                "`!=` is false only of a text that is a number",
            ),
            (
                "session > 5",
                "`>` can be judged only of a text that is a number",
            ),
        ] {
            let expr = parse(source).expr.unwrap();
            let found = strict_lints(&expr, types);
            assert!(
                found.len() == 1 && found[0].message.starts_with(message),
                "{source}: {found:?}"
            );
            let program = Program::compile(source).unwrap().strict();
            let roots = json!({"session": "7"});
            let scope = JsonScope::new(&roots, jiff::Timestamp::default());
            assert_eq!(program.test(&scope), Ok(true), "{source}");
        }
    }
}
