//! The syntax tree. Chains (`a AND b AND c`, `a + b - c`) are flat, so that the depth of a tree is
//! bounded by the nesting limit of the parser and recursion over it cannot exhaust the stack.

use super::error::Span;
use super::functions::Function;
use super::pattern::Pattern;
use super::value::Number;

/// A node and the bytes it came from. Parentheses around a node belong to its parent.
#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Null,
    Bool(bool),
    /// Never negative: a minus sign is a `Negate`.
    Number(Number),
    Text(Box<str>),
    /// A constant right side of `matches`, compiled.
    Pattern(Pattern),
    List(Vec<Expr>),
    /// `root.key[0]`
    Path {
        root: Box<str>,
        steps: Vec<Step>,
    },
    /// Steps into a value that is not a plain path: `SPLIT(x, ",")[0]`
    Access {
        of: Box<Expr>,
        steps: Vec<Step>,
    },
    Call {
        function: Function,
        args: Vec<Expr>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Empty(Box<Expr>),
    /// `x IS SET`, `x IS NOT SET`; `EXISTS x` is the former.
    IsSet {
        of: Box<Expr>,
        negated: bool,
    },
    /// One precedence level: either all `+ -` or all `* /`.
    Arithmetic {
        first: Box<Expr>,
        rest: Vec<(ArithmeticOp, Expr)>,
    },
    /// `negated` is only ever set for the operators written as words (`NOT IN`).
    Compare {
        op: CompareOp,
        negated: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `ALL part IN command.parts SATISFY (…)`: a condition on the members of a list.
    Each {
        quantifier: Quantifier,
        /// What a member is called inside `body`, and nowhere else.
        name: Box<str>,
        list: Box<Expr>,
        body: Box<Expr>,
    },
    /// Two or more operands joined by `AND`.
    All(Vec<Expr>),
    /// Two or more operands joined by `OR`.
    Any(Vec<Expr>),
    /// Stands where the parser reported an error; never part of a compiled program.
    Missing,
}

/// How many members a condition must hold of. Of a list without members none of them holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    All,
    Any,
    None,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(Box<str>),
    Index(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Contains,
    Matches,
    StartsWith,
    EndsWith,
    Within,
}

impl Expr {
    pub(crate) fn new(kind: ExprKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// The nodes directly below this one, in source order.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::List(items) | ExprKind::All(items) | ExprKind::Any(items) => {
                items.iter().collect()
            }
            ExprKind::Call { args, .. } => args.iter().collect(),
            ExprKind::Access { of, .. }
            | ExprKind::Not(of)
            | ExprKind::Negate(of)
            | ExprKind::Empty(of)
            | ExprKind::IsSet { of, .. } => vec![of],
            ExprKind::Arithmetic { first, rest } => std::iter::once(&**first)
                .chain(rest.iter().map(|(_, operand)| operand))
                .collect(),
            ExprKind::Compare { left, right, .. } => vec![left, right],
            ExprKind::Each { list, body, .. } => vec![list, body],
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Pattern(_)
            | ExprKind::Path { .. }
            | ExprKind::Missing => Vec::new(),
        }
    }

    /// Visits this node and every node below it.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    pub(crate) fn is_literal(&self) -> bool {
        match &self.kind {
            ExprKind::List(items) => items.iter().all(Expr::is_literal),
            ExprKind::Negate(of) => of.is_literal(),
            kind => matches!(
                kind,
                ExprKind::Null
                    | ExprKind::Bool(_)
                    | ExprKind::Number(_)
                    | ExprKind::Text(_)
                    | ExprKind::Pattern(_)
            ),
        }
    }
}

/// Two trees are the same when they say the same; where they stood does not matter.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Quantifier {
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::Any => "ANY",
            Self::None => "NONE",
        }
    }
}

impl ArithmeticOp {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        }
    }

    pub(crate) fn is_product(self) -> bool {
        matches!(self, Self::Multiply | Self::Divide)
    }
}

impl CompareOp {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "IN",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::StartsWith => "STARTS_WITH",
            Self::EndsWith => "ENDS_WITH",
            Self::Within => "WITHIN",
        }
    }

    pub fn is_ordering(self) -> bool {
        matches!(
            self,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual
        )
    }
}
