//! The canonical text of an expression: `parse(display(e)) == e`. Parentheses appear only where
//! the tree needs them, and around a `NOT` that is compared, which people misread.

use std::fmt::{self, Formatter, Write as _};

use super::ast::{Expr, ExprKind, Step};
use super::lexer::is_name;
use super::pattern::Pattern;

/// How tightly a node binds; the order of the variants is the precedence of the language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Any,
    All,
    Compare,
    Sum,
    Product,
    Unary,
    Primary,
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Null => f.write_str("null"),
            ExprKind::Bool(truth) => write!(f, "{truth}"),
            ExprKind::Number(number) => write!(f, "{number}"),
            ExprKind::Text(text) => write_quoted(f, text),
            ExprKind::Pattern(pattern) => write_pattern(f, pattern),
            ExprKind::List(items) => {
                f.write_char('[')?;
                write_joined(f, items)?;
                f.write_char(']')
            }
            ExprKind::Path { root, steps } => {
                f.write_str(root)?;
                write_steps(f, steps)
            }
            ExprKind::Access { of, steps } => write_access(f, of, steps),
            ExprKind::Call { function, args } => {
                write!(f, "{}(", function.name())?;
                write_joined(f, args)?;
                f.write_char(')')
            }
            ExprKind::Not(of) => write_unary(f, "NOT ", of),
            ExprKind::Negate(of) => write_unary(f, "-", of),
            ExprKind::Empty(of) => write_unary(f, "EMPTY ", of),
            ExprKind::IsSet { of, negated } => {
                write_compared(f, of)?;
                f.write_str(if *negated { " IS NOT SET" } else { " IS SET" })
            }
            ExprKind::Arithmetic { first, rest } => {
                let tighter = match level(self) {
                    Level::Product => Level::Unary,
                    _ => Level::Product,
                };
                write_at(f, first, tighter)?;
                for (op, operand) in rest {
                    write!(f, " {} ", op.symbol())?;
                    write_at(f, operand, tighter)?;
                }
                Ok(())
            }
            ExprKind::Compare {
                op,
                negated,
                left,
                right,
            } => {
                write_compared(f, left)?;
                let not = if *negated { "NOT " } else { "" };
                write!(f, " {not}{} ", op.symbol())?;
                write_at(f, right, Level::Sum)
            }
            ExprKind::Each {
                quantifier,
                name,
                list,
                body,
            } => {
                write!(f, "{} {name} IN ", quantifier.word())?;
                write_at(f, list, Level::Sum)?;
                write!(f, " SATISFY ({body})")
            }
            ExprKind::All(operands) => write_chain(f, operands, " AND ", Level::Compare),
            ExprKind::Any(operands) => write_chain(f, operands, " OR ", Level::All),
            ExprKind::Missing => f.write_char('…'),
        }
    }
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Any(_) => Level::Any,
        ExprKind::All(_) => Level::All,
        ExprKind::Compare { .. } | ExprKind::IsSet { .. } => Level::Compare,
        ExprKind::Arithmetic { rest, .. } => match rest.first() {
            Some((op, _)) if op.is_product() => Level::Product,
            _ => Level::Sum,
        },
        ExprKind::Not(_) | ExprKind::Negate(_) | ExprKind::Empty(_) => Level::Unary,
        _ => Level::Primary,
    }
}

fn write_at(f: &mut Formatter<'_>, expr: &Expr, least: Level) -> fmt::Result {
    if level(expr) < least {
        write!(f, "({expr})")
    } else {
        write!(f, "{expr}")
    }
}

fn write_unary(f: &mut Formatter<'_>, sign: &str, of: &Expr) -> fmt::Result {
    f.write_str(sign)?;
    write_at(f, of, Level::Unary)
}

fn write_compared(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    match expr.kind {
        ExprKind::Not(_) => write!(f, "({expr})"),
        _ => write_at(f, expr, Level::Sum),
    }
}

fn write_chain(f: &mut Formatter<'_>, operands: &[Expr], word: &str, least: Level) -> fmt::Result {
    for (index, operand) in operands.iter().enumerate() {
        if index > 0 {
            f.write_str(word)?;
        }
        write_at(f, operand, least)?;
    }
    Ok(())
}

fn write_joined(f: &mut Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// Without parentheses a path would swallow the steps and a number its dot.
fn write_access(f: &mut Formatter<'_>, of: &Expr, steps: &[Step]) -> fmt::Result {
    match of.kind {
        ExprKind::Call { .. } | ExprKind::List(_) | ExprKind::Text(_) => write!(f, "{of}")?,
        _ => write!(f, "({of})")?,
    }
    write_steps(f, steps)
}

fn write_steps(f: &mut Formatter<'_>, steps: &[Step]) -> fmt::Result {
    for step in steps {
        match step {
            Step::Key(key) if is_name(key) => write!(f, ".{key}")?,
            Step::Key(key) => {
                f.write_char('[')?;
                write_quoted(f, key)?;
                f.write_char(']')?;
            }
            Step::Index(index) => write!(f, "[{index}]")?,
        }
    }
    Ok(())
}

fn write_pattern(f: &mut Formatter<'_>, pattern: &Pattern) -> fmt::Result {
    match pattern.flags() {
        Some(flags) => write!(f, "/{}/{flags}", pattern.source()),
        None => write_quoted(f, pattern.source()),
    }
}

fn write_quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            control if control.is_control() => write!(f, "\\u{{{:x}}}", u32::from(control))?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('"')
}
