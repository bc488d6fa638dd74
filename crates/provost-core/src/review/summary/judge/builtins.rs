//! Commands of the shell itself that evaluate their words, set variables, or have something run later.

use super::{
    Judge, Risk, Risks, Word,
    args::{has_short, operands},
    ledger::Program,
    variables::{self, evaluates, may_be_evaluated},
};

/// They take a word for a variable or a number, and a shell evaluates what stands in its index.
const EVALUATING: [&str; 26] = [
    "printf",
    "print",
    "test",
    "[",
    "[[",
    "read",
    "unset",
    "let",
    "wait",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "integer",
    "float",
    "mapfile",
    "readarray",
    "getopts",
    "for",
    "select",
    "set",
    "shift",
    "return",
    "exit",
    "vared",
];
/// Whatever they are told is run, now or later.
const RUNNING: [&str; 13] = [
    "compgen", "complete", "compopt", "compdef", "bind", "bindkey", "fc", "zle", "zmodload",
    "autoload", "sched", "emulate", "zstyle",
];

pub(super) fn risks(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    // Which commands it runs is not read.
    let evaluated = EVALUATING.contains(&name) && args.iter().any(|word| evaluates(&word.text));
    if evaluated {
        risks.insert(Risk::Unreadable);
    }
    if evaluated || RUNNING.contains(&name) || runs(name, args) {
        risks.insert(Risk::RunsText);
    }
    // To zsh what stands behind the brackets of `if [[ … ]] command` is a command.
    let ended = args.last().is_some_and(|word| word.text == "]]");
    if (name == "[[" && !ended) || is_glued(name, args) || tests_index(name, args) {
        risks.insert(Risk::Unreadable);
    }
    risks.append(&mut assign(judge, name, args));
    risks
}

fn assign(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let words = assigned(name, args);
    if words.is_empty() || values_are_written(name, args) {
        return judge.assign(words.into_iter());
    }
    let risks = variables::risks(words.iter().copied());
    judge.note(Program {
        risks_sure: false,
        ..Program::assigning(words.into_iter(), &risks)
    });
    risks
}

/// The values stand in the words as they are. What `printf` makes of them, and what `read` finds, may be an index
/// that a later command evaluates: `printf -v x 'a[\x24(command)]'; [[ x -eq 1 ]]`.
fn values_are_written(name: &str, args: &[Word]) -> bool {
    match name {
        "printf" | "print" | "read" | "mapfile" | "readarray" | "vared" | "getopts" | "select" => {
            false
        }
        "for" => !args.iter().any(|word| may_be_evaluated(&word.text)),
        _ => true,
    }
}

/// `[ -v 'a[x]' ]`: the index is evaluated, and so is the value of `x`.
fn tests_index(name: &str, args: &[Word]) -> bool {
    matches!(name, "test" | "[" | "[[")
        && args.iter().any(|word| word.text == "-v")
        && args.iter().any(|word| word.text.contains('['))
}

fn runs(name: &str, args: &[Word]) -> bool {
    match name {
        "hash" => args.iter().any(|word| word.text != "-r"),
        "enable" => !args.is_empty(),
        "jobs" => has_short(args, "x"),
        "mapfile" | "readarray" => has_short(args, "C"),
        _ => false,
    }
}

/// The variables that it sets.
fn assigned<'w>(name: &str, args: &'w [Word]) -> Vec<&'w Word> {
    match name {
        "export" | "declare" | "typeset" | "local" | "readonly" | "integer" | "float" | "unset"
        | "read" | "mapfile" | "readarray" | "vared" | "let" => operands(args).collect(),
        "printf" | "print" | "wait" => after(args, if name == "wait" { "-p" } else { "-v" }),
        "for" | "select" => args.first().into_iter().collect(),
        "getopts" => args.get(1).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The word behind this flag.
fn after<'w>(args: &'w [Word], flag: &str) -> Vec<&'w Word> {
    let at = args.iter().position(|word| word.text == flag);
    at.and_then(|at| args.get(at + 1)).into_iter().collect()
}

/// `-vNAME`: no name is taken out of it.
fn is_glued(name: &str, args: &[Word]) -> bool {
    let flag = match name {
        "printf" | "print" => "-v",
        "wait" => "-p",
        _ => return false,
    };
    let glued = |word: &Word| word.text.len() > flag.len() && word.text.starts_with(flag);
    args.iter().any(glued)
}
