//! Why a condition came out as it did: only the parts that decided it, with the values they saw.
//! The values come from the scope; whoever shows an explanation redacts it first.

use std::cell::RefCell;
use std::fmt;

use super::ast::{Expr, ExprKind, Quantifier};
use super::error::{EvalError, Span};
use super::eval::{Member, Run, Truth};
use super::program::Program;
use super::scope::Scope;
use super::value::{preview, shorten};

/// The longest value, and the longest piece of source, that is shown.
const LONGEST: usize = 80;
/// The longest member of a list: it has several fields.
const LONGEST_MEMBER: usize = 240;
/// Where no member settled it, so many are shown.
const MOST_MEMBERS: usize = 3;
/// The member that settled it is looked for among so many.
const MOST_SEARCHED: usize = 1000;

/// The outcome of a condition and what decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub outcome: Result<bool, EvalError>,
    pub reason: Reason,
}

/// One sub-expression that took part in the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub span: Span,
    /// Its source, shortened.
    pub expression: String,
    pub seen: Seen,
    /// What decided it in turn.
    pub because: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A condition that held or did not.
    Truth(bool),
    /// A value as JSON, shortened.
    Value(String),
    NotSet,
    /// A condition on something that is not there.
    Absent,
    Error(String),
}

pub(super) fn explain(program: &Program, scope: &dyn Scope) -> Explanation {
    let explainer = Explainer {
        program,
        scope,
        members: RefCell::default(),
    };
    Explanation {
        outcome: program.test(scope),
        reason: explainer.condition(program.expr()),
    }
}

struct Explainer<'a> {
    program: &'a Program,
    scope: &'a dyn Scope,
    /// The members of lists that are being explained.
    members: RefCell<Vec<Member<'a>>>,
}

impl<'a> Explainer<'a> {
    /// A fresh one for every question: parts are asked again and again, which must not add up.
    fn run(&self) -> Run<'a> {
        let run = Run::new(self.scope, self.program.settings());
        run.with_members(self.members.borrow().clone())
    }

    /// Where a yes or a no is wanted, a value that is neither is what went wrong.
    fn condition(&self, expr: &'a Expr) -> Reason {
        let mut reason = self.reason(expr);
        if let Err(error) = self.run().test(expr) {
            reason.seen = Seen::Error(error.to_string());
        }
        reason
    }

    fn reason(&self, expr: &'a Expr) -> Reason {
        let because = match &expr.kind {
            ExprKind::All(operands) => self.deciding(operands, false),
            ExprKind::Any(operands) => self.deciding(operands, true),
            ExprKind::Not(of) => vec![self.condition(of)],
            ExprKind::Each {
                quantifier,
                name,
                list,
                body,
            } => self.members(*quantifier, name, list, body),
            _ => self.inputs(expr),
        };
        Reason {
            span: expr.span,
            expression: shorten(expr.span.text(self.program.source()), LONGEST, true),
            seen: self.seen(expr),
            because,
        }
    }

    /// The operand that settled it, or all of them if none did.
    fn deciding(&self, operands: &'a [Expr], settling: bool) -> Vec<Reason> {
        let find = |wanted: &dyn Fn(Result<bool, EvalError>) -> bool| {
            let mut operands = operands.iter();
            operands.find(|operand| wanted(self.run().test(operand)))
        };
        let settled = find(&|truth| match truth {
            Ok(truth) => truth == settling,
            Err(error) => !matches!(error, EvalError::Unreadable { .. }),
        });
        match settled.or_else(|| find(&|truth| truth.is_err())) {
            Some(operand) => vec![self.condition(operand)],
            None => operands
                .iter()
                .map(|operand| self.condition(operand))
                .collect(),
        }
    }

    /// The member that settled it, or the first few if none did.
    fn members(
        &self,
        quantifier: Quantifier,
        name: &'a str,
        list: &'a Expr,
        body: &'a Expr,
    ) -> Vec<Reason> {
        let Ok(Some(items)) = self.run().items(list) else {
            return vec![self.reason(list)];
        };
        let settling = match quantifier {
            Quantifier::All => Truth::No,
            Quantifier::Any | Quantifier::None => Truth::Yes,
        };
        let members = || {
            let items = items.iter().take(MOST_SEARCHED);
            items.map(|item| (name, item.into_owned()))
        };
        let of = |wanted: fn(Result<Truth, EvalError>, Truth) -> bool| {
            members().find(|member| wanted(self.run().of_member(member.clone(), body), settling))
        };
        let settled =
            of(|truth, settling| truth == Ok(settling)).or_else(|| of(|truth, _| truth.is_err()));
        let shown: Vec<Member<'a>> = match settled {
            Some(member) => vec![member],
            None => members().take(MOST_MEMBERS).collect(),
        };
        let mut reasons: Vec<Reason> = shown
            .into_iter()
            .map(|member| self.member(member, body))
            .collect();
        if !items.is_whole() || reasons.is_empty() {
            reasons.push(self.reason(list));
        }
        reasons
    }

    fn member(&self, member: Member<'a>, body: &'a Expr) -> Reason {
        let (expression, seen) = (member.0.to_owned(), preview(&member.1, LONGEST_MEMBER));
        self.members.borrow_mut().push(member);
        let because = vec![self.condition(body)];
        self.members.borrow_mut().pop();
        Reason {
            span: body.span,
            expression,
            seen: Seen::Value(seen),
            because,
        }
    }

    /// What a comparison or a computation worked on; a path is its own explanation.
    fn inputs(&self, expr: &'a Expr) -> Vec<Reason> {
        let mut inputs: Vec<Reason> = Vec::new();
        for child in expr.children() {
            if child.is_literal() {
                continue;
            }
            let reason = self.reason(child);
            if inputs
                .iter()
                .all(|known| known.expression != reason.expression)
            {
                inputs.push(reason);
            }
        }
        inputs
    }

    fn seen(&self, expr: &'a Expr) -> Seen {
        let outcome = if is_condition(expr) {
            self.run().judge(expr).map(|truth| match truth {
                Truth::Absent => Seen::Absent,
                truth => Seen::Truth(truth == Truth::Yes),
            })
        } else {
            self.run().open(expr).map(|value| {
                if value.is_null() {
                    Seen::NotSet
                } else if value.is_complete() {
                    Seen::Value(preview(&value, LONGEST))
                } else {
                    let known = preview(&value, LONGEST);
                    Seen::Value(format!("{known}, and what could not be read"))
                }
            })
        };
        outcome.unwrap_or_else(|error| Seen::Error(error.to_string()))
    }
}

fn is_condition(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::All(_)
            | ExprKind::Any(_)
            | ExprKind::Not(_)
            | ExprKind::Empty(_)
            | ExprKind::IsSet { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Each { .. }
            | ExprKind::Bool(_)
    )
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Reason {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(
            f,
            "{:indent$}`{}` ",
            "",
            self.expression,
            indent = depth * 2
        )?;
        match &self.seen {
            Seen::Truth(truth) => write!(f, "was {truth}")?,
            Seen::Value(value) => write!(f, "is {value}")?,
            Seen::NotSet => f.write_str("is not set")?,
            Seen::Absent => f.write_str("does not apply")?,
            Seen::Error(error) => write!(f, "failed: {error}")?,
        }
        if !self.because.is_empty() {
            f.write_str(" because")?;
        }
        for reason in &self.because {
            f.write_str("\n")?;
            reason.write(f, depth + 1)?;
        }
        Ok(())
    }
}
