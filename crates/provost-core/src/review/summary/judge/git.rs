//! What git risks: lost work, rewritten history, and settings that run programs.

mod flags;

use super::{
    Risk, Risks, Word,
    args::{has, has_long, has_short, is_long, operands},
    options::{self, Order},
};

/// Subcommands that change no file and no setting, unless a flag names one.
const LOOKING: [&str; 29] = [
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "annotate",
    "shortlog",
    "describe",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "cat-file",
    "name-rev",
    "grep",
    "merge-base",
    "diff-tree",
    "diff-index",
    "diff-files",
    "show-ref",
    "for-each-ref",
    "show-branch",
    "count-objects",
    "check-ignore",
    "check-attr",
    "whatchanged",
    "cherry",
    "version",
];
/// Other subcommands that are known. Any other word may be an alias, which runs whatever it stands for.
const CHANGING: [&str; 42] = [
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "branch",
    "bundle",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "difftool",
    "fetch",
    "filter-branch",
    "filter-repo",
    "format-patch",
    "fsck",
    "gc",
    "help",
    "init",
    "merge",
    "mergetool",
    "mv",
    "notes",
    "prune",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "revert",
    "rm",
    "sparse-checkout",
    "stash",
    "submodule",
    "switch",
    "tag",
    "worktree",
];
/// Settings that name no program and no file, and lists of them.
const HARMLESS: [&str; 14] = [
    "user.name",
    "user.email",
    "core.abbrev",
    "core.autocrlf",
    "core.quotepath",
    "core.safecrlf",
    "diff.algorithm",
    "diff.renames",
    "init.defaultbranch",
    "merge.conflictstyle",
    "merge.ff",
    "pull.ff",
    "pull.rebase",
    "rebase.autostash",
];
const HARMLESS_LISTS: [&str; 4] = ["advice.", "color.", "column.", "log."];

pub(super) fn risks(all: &[Word]) -> Risks {
    let call = Call::of(all);
    let Call { command, args, .. } = call;
    let mut risks = Risks::new();
    if call.settings.iter().any(|setting| !is_harmless(setting)) || call.names_program() {
        risks.insert(Risk::RunsText);
    }
    let named = LOOKING.contains(&command) || CHANGING.contains(&command);
    if !call.understood || (!command.is_empty() && !named) {
        risks.insert(Risk::Unreadable);
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
        "remote" if has(args, &["update", "show", "prune"]) || has_short(args, "f") => {
            risks.insert(Risk::Downloads);
        }
        "ls-remote" => {
            risks.insert(Risk::Network);
        }
        "archive" if has_long(args, "--remote") => {
            risks.insert(Risk::Network);
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

/// It changes nothing, or only the file that a flag names.
pub(super) fn only_looks(args: &[Word]) -> bool {
    let call = Call::of(args);
    call.understood && LOOKING.contains(&call.command)
}

/// It shows what is in the repository, and no file beside it.
pub(super) fn reads_only_repository(args: &[Word]) -> bool {
    const SHOWING: [&str; 7] = [
        "status",
        "log",
        "show",
        "shortlog",
        "rev-parse",
        "rev-list",
        "describe",
    ];
    let Call { command, args, .. } = Call::of(args);
    // `-Oorder` and `--pathspec-from-file=…`
    let from_file = |word: &Word| word.text.starts_with("-O") || word.text.contains("-file");
    SHOWING.contains(&command) && !args.iter().any(from_file)
}

#[derive(Debug)]
struct Call<'a> {
    /// What stands before the subcommand.
    globals: &'a [Word],
    /// Given with `-c`.
    settings: Vec<&'a str>,
    command: &'a str,
    args: &'a [Word],
    /// Every flag is known.
    understood: bool,
}

impl<'a> Call<'a> {
    fn of(all: &'a [Word]) -> Self {
        let (mut at, mut settings, mut understood) = (0, Vec::new(), true);
        while let Some(word) = all.get(at).filter(|word| word.text.starts_with('-')) {
            if word.text == "-c" {
                settings.extend(all.get(at + 1).map(|word| word.text.as_str()));
            }
            let flag = flags::global(&word.text);
            understood &= flag.known;
            at += flag.words;
        }
        let command = all.get(at).map_or("", |word| &word.text);
        let args = all.get(at + 1..).unwrap_or_default();
        if command == "clone" {
            settings.extend(cloned_settings(args));
        }
        Self {
            globals: all.get(..at).unwrap_or(all),
            settings,
            command,
            args,
            understood: understood && flags::are_known(command, args),
        }
    }

    /// Flags and words that name a program to run, of git itself or of a subcommand.
    fn names_program(&self) -> bool {
        const GLOBAL: [&str; 3] = ["--exec-path=", "--git-dir", "--config-env"];
        const ANYWHERE: [&str; 8] = [
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "--ext-diff",
            "--extcmd",
            "--tool-help",
            "--filters",
        ];
        let Self { command, args, .. } = *self;
        let global = |word: &Word| GLOBAL.iter().any(|flag| word.text.starts_with(flag));
        let anywhere = |word: &Word| {
            ANYWHERE.iter().any(|flag| is_like(&word.text, flag)) || word.text.contains("ext::")
        };
        let own = match command {
            "grep" => has_short(args, "O"),
            "rebase" => has_short(args, "x"),
            // Hooks of a template run at once.
            "clone" | "init" if has_long(args, "--template") => true,
            "clone" | "fetch" | "ls-remote" | "pull" => has_short(args, "u"),
            "bisect" => has(args, &["run"]),
            "submodule" => has(args, &["foreach"]),
            "filter-branch" | "mergetool" | "difftool" => true,
            _ => false,
        };
        own || self.globals.iter().any(global) || args.iter().any(anywhere)
    }
}

/// The settings that `clone` writes into the new repository and obeys at once. Any word may be a flag or the value
/// of the one before.
fn cloned_settings(args: &[Word]) -> impl Iterator<Item = &str> {
    let is_config = |word: &str| is_long(word, "--config");
    let given = (0..args.len()).flat_map(move |at| {
        let words = args.iter().skip(at).take(2);
        let words = words.map(|word| word.text.as_str());
        options::parse(words, Order::Anywhere, "bcjou", is_config).given
    });
    given.filter_map(move |(name, value)| {
        let set = name == "c" || is_config(name);
        set.then_some(value.unwrap_or_default())
    })
}

fn is_harmless(setting: &str) -> bool {
    let setting = setting.to_lowercase();
    let (name, value) = setting.split_once('=').unwrap_or((&setting, ""));
    match name {
        "core.pager" => matches!(value, "" | "cat"),
        "core.fsmonitor" | "commit.gpgsign" | "tag.gpgsign" => value == "false",
        _ => HARMLESS.contains(&name) || HARMLESS_LISTS.iter().any(|list| name.starts_with(list)),
    }
}

/// The flag, a longer one, or the flag cut short, as git takes it: `--outp=x`.
fn is_like(word: &str, flag: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.starts_with(flag) || is_long(name, flag)
}

/// `git config --global --get name`, or the name alone.
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
    const PLAIN: [&str; 9] = [
        "--global",
        "--local",
        "--system",
        "--worktree",
        "--null",
        "-z",
        "--show-origin",
        "--show-scope",
        "--name-only",
    ];
    let mut words = args.iter().map(|word| word.text.as_str());
    let first = words.by_ref().find(|word| !PLAIN.contains(word));
    match first {
        Some(word) if READING.contains(&word) => true,
        Some(word) => !word.starts_with('-') && words.next().is_none(),
        None => true,
    }
}

/// The files that its subcommands write because they are named.
pub(super) fn written(args: &[Word]) -> Vec<&str> {
    let Call { command, args, .. } = Call::of(args);
    let mut words = args.iter().map(|word| word.text.as_str()).peekable();
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        match output(command, word) {
            // Without a file behind it, it is still not known to write none.
            Some("") => files.push(words.peek().copied().unwrap_or(word)),
            Some(file) => files.push(file),
            None => {}
        }
    }
    let mut named = operands(args).map(|word| word.text.as_str());
    match (command, named.next()) {
        ("init", Some(folder)) => files.push(folder),
        ("worktree", Some("add" | "move")) | ("bundle", Some("create")) => files.extend(named),
        ("clone", Some(_)) => files.push(named.next().unwrap_or(".")),
        _ => {}
    }
    files
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

/// `git checkout -q -b name`. Behind any other flag `-b` may be its value.
fn makes_branch(args: &[Word]) -> bool {
    const PLAIN: [&str; 5] = ["-q", "--quiet", "-t", "--track", "--no-track"];
    let mut words = args.iter().map(|word| word.text.as_str());
    let first = words.find(|word| !PLAIN.contains(word)).unwrap_or_default();
    first == "--orphan" || first.starts_with("-b")
}

fn discards(command: &str, args: &[Word]) -> bool {
    let forced = has_short(args, "f") || has_long(args, "--force");
    match command {
        "reset" => ["--hard", "--merge", "--keep"]
            .iter()
            .any(|flag| has_long(args, flag)),
        "clean" => forced,
        "rm" => forced || has_short(args, "r"),
        // Whether it names a branch or a file is not to be seen.
        "checkout" => forced || !makes_branch(args),
        "switch" => forced || has_short(args, "C") || has_long(args, "--discard-changes"),
        "restore" | "filter-branch" | "filter-repo" | "prune" => true,
        "gc" => has_long(args, "--prune"),
        "reflog" => has(args, &["expire", "delete"]),
        "stash" => has(args, &["drop", "clear"]),
        "branch" => forced || has_short(args, "DMC"),
        "tag" => forced || has_short(args, "d") || has_long(args, "--delete"),
        "worktree" => forced || has(args, &["remove"]),
        _ => false,
    }
}
