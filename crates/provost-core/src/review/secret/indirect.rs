//! Whether a script reads what it does not name: all variables, or the words of a command. Only what runs counts: a
//! file that is written may be about environments and functions.

use std::sync::LazyLock;

use regex::Regex;

use super::{reading::MOST_WORDS, token::program};
use crate::review::{
    summary::{Outline, Role, Spot},
    with_ascii_words, work,
};

/// What a script reads without naming it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::review) struct Indirect {
    /// Variables.
    pub(super) variables: bool,
    /// The words of a script, a function or an earlier command.
    pub(super) words: bool,
}

/// They show all variables if nothing stands behind them, or no program.
const SHOWING: [&str; 9] = [
    "env", "printenv", "set", "declare", "typeset", "export", "readonly", "local", "compgen",
];
/// Their texts are programs in which a variable can be named in pieces.
const INTERPRETING: [&str; 24] = [
    "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node",
    "deno", "bun", "php", "lua", "pwsh", "awk", "gawk", "mawk", "nawk", "jq", "yq", "envsubst",
    "make",
];
/// In their programs, `$1` is a field and not a word of the script.
const COUNTING: [&str; 8] = ["awk", "gawk", "mawk", "nawk", "sed", "perl", "jq", "psql"];
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];
/// They read or keep commands.
const KEEPING: [&str; 6] = ["history", "fc", "coproc", "trap", "function", "alias"];

struct Signs {
    variables: Regex,
    environment: Regex,
    words: Regex,
    function: Regex,
}

static SIGNS: LazyLock<Option<Signs>> = LazyLock::new(|| {
    let regex = |pattern: &str| Regex::new(&with_ascii_words(pattern)).ok();
    Some(Signs {
        variables: regex(
            r"\$\{!|\$\{\([^)]*P|/proc\b|BASH_|(?i:environb?\b|getenv)|\benv(?:\[|\(|::)|\b(?:process|Deno|Bun|import\.meta)\.env\b|[$%]_?ENV\b|\bENV(?:\.|\[|\{|\()",
        )?,
        environment: regex(
            r"(?i)env|\b(?:set|declare|typeset|export|readonly|local)[ \t]*(?:[|)>;&\n]|$)",
        )?,
        words: regex(r"\$\{?(?:[0-9@*]|_(?:\W|$)|argv\b)|BASH_|/proc\b")?,
        function: regex(r"[\w-][ \t]*\([ \t]*\)")?,
    })
});

impl Indirect {
    const ALL: Self = Self {
        variables: true,
        words: true,
    };

    pub(super) fn of(text: &str) -> Self {
        let (Some(signs), Some(outline)) = (SIGNS.as_ref(), Outline::of(text)) else {
            return Self::ALL;
        };
        // Some of them are held against all others.
        if outline.spots.len() > MOST_WORDS {
            return Self::ALL;
        }
        work::count(text.len());
        let outline = outline.judged(text);
        let mut found = Self {
            variables: false,
            words: signs.function.is_match(&unquoted(text, &outline)),
        };
        for (at, spot) in outline.spots.iter().enumerate() {
            if !is_written(&outline, at) {
                found.add(signs, &outline, at, spot);
            }
        }
        found
    }

    fn add(&mut self, signs: &Signs, outline: &Outline, at: usize, spot: &Spot) {
        let name = spot.text.rsplit('/').next().unwrap_or_default();
        let is_program = matches!(spot.role, Role::Program | Role::Keyword);
        let program = program(outline, at).unwrap_or_default();
        let is_in = |list: &[&str], name: &str| list.contains(&name);
        self.words |= is_program && is_in(&KEEPING, name);
        self.words |=
            signs.words.is_match(&spot.text) && (spot.computed || !is_in(&COUNTING, program));
        let is_script = is_in(&SHELLS, program) || spot.role == Role::Here;
        self.words |= is_script && signs.function.is_match(&spot.text);
        self.variables |= signs.variables.is_match(&spot.text)
            || (is_in(&INTERPRETING, program) || spot.role == Role::Here)
                && signs.environment.is_match(&spot.text)
            || is_in(&SHOWING, name) && shows(outline, at, spot, name)
            || (is_program && name == "ps");
    }
}

/// `env`, `sudo env -0`, `declare -p`: no program and no name stands behind it.
fn shows(outline: &Outline, at: usize, spot: &Spot, name: &str) -> bool {
    let behind = |it: &(usize, &Spot)| {
        it.1.command == spot.command && matches!(it.1.role, Role::Argument | Role::Program)
    };
    let words: Vec<&Spot> = outline
        .spots
        .iter()
        .enumerate()
        .skip(at + 1)
        .take_while(|(_, it)| it.command >= spot.command)
        .filter(behind)
        .map(|(_, it)| it)
        .collect();
    let is_first = spot.role == Role::Program;
    let starts = is_first || program(outline, at).is_none();
    match name {
        "env" => starts && words.iter().all(|word| word.text.starts_with('-')),
        "printenv" | "compgen" => starts,
        // `declare -n` names another variable, `declare -p` shows them.
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            let reads = |word: &&Spot| word.text.starts_with('-') && word.text.contains(['n', 'p']);
            is_first && (words.is_empty() || words.iter().any(reads))
        }
        _ => is_first && words.is_empty(),
    }
}

/// A here-document that is only written or sent: no command runs it, and none reads the file that it becomes.
fn is_written(outline: &Outline, at: usize) -> bool {
    let Some(spot) = outline.spots.get(at).filter(|it| it.role == Role::Here) else {
        return false;
    };
    let is_its = |it: &&Spot| it.command == spot.command;
    let mut files = outline.spots.iter().filter(is_its);
    let files: Vec<&str> = files
        .by_ref()
        .filter(|it| it.role == Role::File || it.role == Role::Argument)
        .map(|it| it.text.rsplit('/').next().unwrap_or_default())
        .filter(|name| !name.is_empty() && !name.starts_with('-'))
        .collect();
    let program = outline
        .spots
        .iter()
        .find(|it| is_its(it) && it.role == Role::Program);
    let program = program.map_or("", |it| it.text.rsplit('/').next().unwrap_or_default());
    let names = |it: &Spot| it.pattern || files.iter().any(|file| it.text.contains(file));
    let others = outline.spots.iter().filter(|it| !is_its(it));
    spot.text.contains('\n')
        && !program.is_empty()
        && !INTERPRETING.contains(&program)
        && !outline.pipes_text(at)
        && !others.into_iter().any(names)
}

/// A script without its quoted texts and documents.
fn unquoted(text: &str, outline: &Outline) -> String {
    let mut bare = text.to_owned();
    for (at, spot) in outline.spots.iter().enumerate() {
        if is_written(outline, at) {
            bare = bare.replacen(&spot.text, "\n", 1);
        }
    }
    let mut shown = String::with_capacity(bare.len());
    let (mut quote, mut escaped) = (None, false);
    for letter in bare.chars() {
        match quote {
            _ if escaped => escaped = false,
            None | Some('"') if letter == '\\' => escaped = true,
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                shown.push('_');
            }
            None => shown.push(letter),
        }
    }
    shown
}
