//! The files that the words of a program name: those it reads. Rather too many than too few; where a flag is not
//! known, they may be others. What a program reads beyond its words is not known.

use super::{
    Word, awk, curl, git,
    known::Call,
    options::{self, Order},
    sed,
};

/// What the words of a program are that are no flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Files,
    /// The first is what it does.
    Filter,
    /// The first is what it looks for, unless a flag says that. Without files it may read the folder it is in.
    Search,
    SearchHere,
}

const READING_FILES: [&str; 30] = [
    "ls",
    "cat",
    "tac",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "diff",
    "less",
    "more",
    "nl",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "base64",
    "cmp",
    "file",
    "stat",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "bat",
    "zcat",
    "paste",
    "comm",
    "du",
];

impl Operands {
    fn of(name: &str) -> Option<Self> {
        match name {
            "jq" => Some(Self::Filter),
            "grep" | "egrep" | "fgrep" => Some(Self::Search),
            "rg" => Some(Self::SearchHere),
            _ => READING_FILES.contains(&name).then_some(Self::Files),
        }
    }
}

/// To `grep`: without files it reads the folder it is in.
const RECURSIVE: [&str; 6] = [
    "r",
    "R",
    "d",
    "--recursive",
    "--dereference-recursive",
    "--directories",
];
/// They read no file, whatever they are told.
const READING_NONE: [&str; 24] = [
    "pwd", "echo", "printf", "true", "false", ":", "cd", "test", "[", "sleep", "seq", "basename",
    "dirname", "whoami", "uname", "tr", "mkdir", "rmdir", "touch", "tee", "rm", "unlink", "kill",
    "exit",
];

/// A program whose words, if they are no flags, are what it looks for or at, and never a subcommand.
pub(crate) fn reads_files(program: &str) -> bool {
    Operands::of(program).is_some()
        || matches!(
            program,
            "find" | "fd" | "sed" | "awk" | "tree" | "shuf" | "echo"
        )
}

/// The files, and whether these are all that the words name.
pub(super) fn read(name: &str, args: &[Word]) -> (Vec<String>, bool) {
    if let Some((operands, call)) = Operands::of(name).zip(Call::of(name, args)) {
        let listed = lists_files(name, &call);
        let (files, sure) = named(operands, call);
        return (files, sure && !listed);
    }
    match name {
        "sed" | "gsed" => sed::files(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk::files(args),
        "git" => (Vec::new(), git::reads_only_repository(args)),
        "curl" => curl::Call::of(args).reads(),
        "cp" | "mv" | "ln" => copied(name, args),
        "source" | "." => (plain_words(args), args.len() == 1),
        "install" | "scp" | "rsync" | "ag" | "yq" => (plain_words(args), false),
        _ => (Vec::new(), READING_NONE.contains(&name)),
    }
}

/// A file names further files, or the words are taken apart in another way than here.
fn lists_files(name: &str, call: &Call<'_>) -> bool {
    match name {
        "jq" => call.has(&["--arg", "--argjson"]),
        _ => name.ends_with("sum") && call.has(&["c", "--check"]),
    }
}

fn named(operands: Operands, call: Call<'_>) -> (Vec<String>, bool) {
    let brought = call.has(&["e", "f", "--regexp", "--file", "--files", "--type-list"]);
    let wants = match operands {
        Operands::Files => false,
        Operands::Filter => true,
        Operands::Search | Operands::SearchHere => !brought,
    };
    let here = match operands {
        Operands::Files | Operands::Filter => false,
        Operands::Search => call.has(&RECURSIVE),
        Operands::SearchHere => true,
    };
    let vague = operands == Operands::Search && counts_vaguely(&call.flags);
    let mut files = call.operands;
    let wanted = if wants && call.understood && !files.is_empty() {
        files.remove(0)
    } else {
        ""
    };
    if here && (files.is_empty() || vague) {
        files.push(".");
    }
    files.extend(call.reads);
    // A value that may be a file is one.
    files.extend(call.doubtful);
    // A filter may take code from other files.
    let imports =
        operands == Operands::Filter && ["import", "include"].iter().any(|it| wanted.contains(it));
    (texts(files), call.understood && !imports)
}

/// `grep -C 5 x`: to some the number is what it looks for.
fn counts_vaguely(flags: &[&str]) -> bool {
    let next = |at: usize| flags.get(at + 1).copied().unwrap_or_default();
    let mut flags = flags.iter().enumerate();
    flags.any(|(at, flag)| *flag == "C" && !next(at).starts_with(|c: char| c.is_ascii_digit()))
}

/// All but the last, or all of them if a flag says where to.
fn copied(name: &str, args: &[Word]) -> (Vec<String>, bool) {
    let Some(call) = Call::of(name, args) else {
        return (Vec::new(), false);
    };
    let mut files = call.operands;
    if call.understood && call.writes.is_empty() {
        files.pop();
    }
    (texts(files), call.understood)
}

fn plain_words(args: &[Word]) -> Vec<String> {
    let words = args.iter().map(|word| word.text.as_str());
    texts(options::parse(words, Order::Anywhere, "", |_| false).operands)
}

fn texts(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}
