//! What git risks: lost work, rewritten history, and settings that run programs.

use super::{
    Risk, Risks, Word,
    args::{has, has_long, has_short, operands},
};

/// Flags before the subcommand whose value is the next word.
const VALUED: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

pub(super) fn risks(all: &[Word]) -> Risks {
    let (settings, command, args) = split(all);
    let mut risks = Risks::new();
    if settings.iter().any(|setting| runs_program(setting)) || names_program(command, all) {
        risks.insert(Risk::RunsText);
    }
    match command {
        "push" => {
            risks.insert(Risk::Uploads);
            if forces(args) {
                risks.insert(Risk::ForcesPush);
            }
        }
        "clone" | "fetch" | "pull" | "submodule" => {
            risks.insert(Risk::Downloads);
        }
        // Settings name programs that later commands run.
        "config" if !only_reads_settings(args) => {
            risks.insert(Risk::WritesSensitive);
        }
        _ if discards(command, args) => {
            risks.insert(Risk::DiscardsChanges);
        }
        _ => {}
    }
    risks
}

/// The settings given with `-c`, the subcommand, and its arguments.
fn split(args: &[Word]) -> (Vec<&str>, &str, &[Word]) {
    let (mut at, mut settings) = (0, Vec::new());
    while let Some(word) = args.get(at) {
        if VALUED.contains(&word.text.as_str()) {
            if word.text == "-c" {
                settings.extend(args.get(at + 1).map(|word| word.text.as_str()));
            }
            at += 2;
        } else if word.text.starts_with('-') {
            at += 1;
        } else {
            return (settings, &word.text, args.get(at + 1..).unwrap_or_default());
        }
    }
    (settings, "", &[])
}

/// Aliases, hooks, pagers, editors and helpers are programs.
fn runs_program(setting: &str) -> bool {
    let setting = setting.to_lowercase();
    setting.contains('!')
        || [
            "command", "pager", "editor", "hook", "helper", "proxy", "monitor",
        ]
        .iter()
        .any(|word| setting.contains(word))
}

/// Flags and words that name a program to run, of git itself or of a subcommand.
fn names_program(command: &str, args: &[Word]) -> bool {
    const ANYWHERE: [&str; 9] = [
        "--exec-path",
        "--config-env",
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "--open-files-in-pager",
        "--ext-diff",
        "--extcmd",
        "--tool-help",
    ];
    let anywhere = |word: &Word| {
        ANYWHERE.iter().any(|flag| is_like(&word.text, flag)) || word.text.contains("ext::")
    };
    let own = match command {
        "grep" => has_short(args, "O"),
        "rebase" | "difftool" => has_short(args, "x"),
        "clone" | "fetch" | "ls-remote" | "pull" => has_short(args, "u"),
        "bisect" => has(args, &["run"]),
        "submodule" => has(args, &["foreach"]),
        "filter-branch" | "mergetool" | "difftool--helper" | "send-email" => true,
        _ => false,
    };
    own || args.iter().any(anywhere)
}

/// The flag, a longer one, or the flag cut short, as git takes it: `--outp=x`.
fn is_like(word: &str, flag: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.len() >= 4 && (name.starts_with(flag) || flag.starts_with(name))
}

fn only_reads_settings(args: &[Word]) -> bool {
    const READING: [&str; 8] = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "get",
        "list",
    ];
    has(args, &READING) || operands(args).count() < 2
}

/// The files that flags of its subcommands write.
pub(super) fn written(args: &[Word]) -> Vec<&str> {
    let (_, command, args) = split(args);
    let next = args.iter().skip(1).map(|word| word.text.as_str());
    args.iter()
        .zip(next.chain([""]))
        .filter_map(|(word, next)| match output(command, &word.text)? {
            "" => Some(next),
            file => Some(file),
        })
        .filter(|file| !file.is_empty())
        .collect()
}

/// The file that this flag names, which is empty if the next word does.
fn output<'a>(command: &str, flag: &'a str) -> Option<&'a str> {
    if is_like(flag, "--output") {
        return Some(flag.split_once('=').map_or("", |(_, file)| file));
    }
    let letters = flag.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
    match command {
        "archive" | "format-patch" => letters.split_once('o').map(|(_, file)| file),
        _ => None,
    }
}

fn forces(args: &[Word]) -> bool {
    has_short(args, "fd")
        || ["--force", "--mirror", "--delete", "--prune"]
            .iter()
            .any(|flag| has_long(args, flag))
        || args.iter().any(|word| word.text.starts_with("--force"))
        || operands(args).any(|word| word.text.starts_with(['+', ':']))
}

fn discards(command: &str, args: &[Word]) -> bool {
    match command {
        "reset" => has_long(args, "--hard"),
        "clean" => has_short(args, "f") || has_long(args, "--force"),
        "checkout" | "switch" => {
            has_short(args, "f") || has_long(args, "--force") || has(args, &["--", "."])
        }
        "restore" | "filter-branch" | "filter-repo" => true,
        "stash" => has(args, &["drop", "clear"]),
        "branch" => has_short(args, "D"),
        _ => false,
    }
}
