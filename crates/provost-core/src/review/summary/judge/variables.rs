//! Variables that a command sets: some make programs load or run what is not in the command.

use super::{Risk, Risks, Word};

/// A program loads code from here, or is another program altogether.
const LOADING: [&str; 24] = [
    "PATH",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "PROMPT_COMMAND",
    "IFS",
    "SHELLOPTS",
    "BASHOPTS",
    "GCONV_PATH",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "GIT_SSH_COMMAND",
    "GIT_EXEC_PATH",
    "PAGER",
    "RUSTC_WRAPPER",
    "GOFLAGS",
];
/// The same, by how their names begin.
const LOADING_FAMILIES: [&str; 4] = ["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG"];
/// Their values are commands that a program runs.
const COMMANDS: [&str; 18] = [
    "PS0",
    "PS1",
    "PS4",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "SSH_ASKPASS",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "MAKEFLAGS",
];

/// They change how much a program says or how it looks, and not what it reads or runs.
const HARMLESS: [&str; 30] = [
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CI",
    "DEBUG",
    "VERBOSE",
    "PORT",
    "NODE_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "APP_ENV",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "RUST_TEST_THREADS",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "GOOS",
    "GOARCH",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
];

/// Every one of these is known to change nothing that matters. Of any other variable a program may make what it
/// likes: `HOME` names the folder of its settings, `GIT_TRACE` a file that it writes.
pub(super) fn are_known<'w>(mut words: impl Iterator<Item = &'w Word>) -> bool {
    words.all(|word| {
        let name = name_of(word);
        let harmless = name.len() == 1 || name.starts_with("LC_") || HARMLESS.contains(&name);
        harmless && !may_be_evaluated(&word.text)
    })
}

/// A piece of an index that a shell evaluates: `x='a[$'; x+='(command)]'; [[ x -eq 1 ]]`.
pub(super) fn may_be_evaluated(text: &str) -> bool {
    text.contains(['[', '$', '`'])
}

fn name_of(word: &Word) -> &str {
    word.text.split(['=', '+', '[']).next().unwrap_or_default()
}

/// What setting one of these risks: `NAME`, `NAME=value`, `NAME[index]+=value`.
pub(super) fn risks<'w>(words: impl Iterator<Item = &'w Word>) -> Risks {
    let mut risks = Risks::new();
    for word in words {
        let name = name_of(word);
        let family = |prefix: &&str| name.starts_with(*prefix);
        if LOADING.contains(&name) || LOADING_FAMILIES.iter().any(family) {
            risks.insert(Risk::Unreadable);
        }
        if COMMANDS.contains(&name) {
            risks.insert(Risk::RunsText);
        }
        if evaluates(&word.text) {
            risks.extend([Risk::RunsText, Risk::Unreadable]);
        }
    }
    risks
}

/// `a[$(command)]`: wherever a shell takes this for a variable or a number, the command runs.
pub(super) fn evaluates(text: &str) -> bool {
    let index = text.split_once('[').map_or("", |(_, index)| index);
    index.contains("$(") || index.contains('`')
}
