//! Conditions on `tool` and `agent` that contradict the rule they stand in.

use provost_abl::expr::{CompareOp, Expr, ExprKind, Program};

use super::{
    super::set::{CompiledPolicy, CompiledRule},
    Remark,
};
use crate::glob::Glob;

pub(super) fn remarks(
    policy: &CompiledPolicy,
    rule: &CompiledRule,
    program: &Program,
) -> Vec<Remark> {
    let mut found = Vec::new();
    program.expr().walk(&mut |node| {
        let ExprKind::Compare {
            op, left, right, ..
        } = &node.kind
        else {
            return;
        };
        let Some((name, texts)) = compared(*op, left, right) else {
            return;
        };
        let globs = match name {
            "tool" => rule.globs.iter().collect(),
            _ => vec![&policy.agent],
        };
        let is_possible = |text: &&str| globs.iter().any(|glob| glob.matches(text));
        if !texts.iter().any(is_possible) {
            found.push(contradiction(node, name, &texts, &globs));
        }
    });
    found
}

/// `tool == "x"`, `agent IN ["x", "y"]`: the name, and all texts it is compared with.
fn compared<'e>(
    op: CompareOp,
    left: &'e Expr,
    right: &'e Expr,
) -> Option<(&'static str, Vec<&'e str>)> {
    let (name, other) = match (subject(left), subject(right)) {
        (Some(name), None) => (name, right),
        (None, Some(name)) if op != CompareOp::In => (name, left),
        _ => return None,
    };
    let texts = match (&other.kind, op) {
        (ExprKind::Text(text), CompareOp::Equal | CompareOp::NotEqual) => vec![&**text],
        (ExprKind::List(items), CompareOp::In) => {
            items.iter().map(text).collect::<Option<Vec<_>>>()?
        }
        _ => return None,
    };
    (!texts.is_empty()).then_some((name, texts))
}

fn text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Text(text) => Some(text),
        _ => None,
    }
}

fn subject(expr: &Expr) -> Option<&'static str> {
    match &expr.kind {
        ExprKind::Path { root, steps } if steps.is_empty() => {
            ["tool", "agent"].into_iter().find(|name| *name == &**root)
        }
        _ => None,
    }
}

fn contradiction(node: &Expr, name: &str, texts: &[&str], globs: &[&Glob]) -> Remark {
    let list = |items: Vec<String>| items.join(" or ");
    let texts = list(texts.iter().map(|text| format!("`{text}`")).collect());
    let globs = list(globs.iter().map(|glob| format!("`{glob}`")).collect());
    Remark {
        span: node.span,
        message: format!("`{name}` is never {texts} here: the rule is for {name} {globs}"),
        help: format!("correct the text, or write the rule for {name} {texts}"),
    }
}
