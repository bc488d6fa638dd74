//! The files that the words of a program name: those it reads. Rather too many than too few; where a flag is not
//! known, they may be others. What a program reads beyond its words is not known.

use super::{Word, awk, curl, git, options, sed};

/// How a program takes the files that it reads.
struct Reading {
    programs: &'static [&'static str],
    /// Letters without a value, and letters whose value is no file.
    plain: &'static str,
    valued: &'static str,
    /// Long flags whose value is no file.
    long: &'static [&'static str],
    operands: Operands,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Files,
    /// The first is what it does.
    Filter,
    /// The first is what it looks for, unless a flag says that. Without files it may read the folder it is in.
    Search,
    SearchHere,
}

const fn reading(
    programs: &'static [&'static str],
    plain: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    operands: Operands,
) -> Reading {
    Reading {
        programs,
        plain,
        valued,
        long,
        operands,
    }
}

const READINGS: [Reading; 12] = [
    reading(
        &["ls"],
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "",
        &[
            "--all",
            "--almost-all",
            "--human-readable",
            "--recursive",
            "--color",
            "--reverse",
            "--directory",
            "--sort",
            "--time",
            "--time-style",
            "--full-time",
            "--group-directories-first",
        ],
        Operands::Files,
    ),
    reading(&["cat"], "AbeEnstTuv", "", &[], Operands::Files),
    reading(
        &["head", "tail"],
        "qvzfFr0123456789",
        "nc",
        &["--lines", "--bytes", "--quiet", "--verbose", "--follow"],
        Operands::Files,
    ),
    reading(
        &["wc"],
        "clLmw",
        "",
        &["--lines", "--words", "--bytes", "--chars"],
        Operands::Files,
    ),
    reading(
        &["grep", "egrep", "fgrep"],
        "EFGPiyvwxcLlqsHhnbTZzUoaIrRC0123456789",
        "ABme",
        &[
            "--regexp",
            "--color",
            "--colour",
            "--include",
            "--exclude",
            "--exclude-dir",
            "--context",
            "--after-context",
            "--before-context",
            "--max-count",
            "--ignore-case",
            "--line-number",
            "--count",
            "--files-with-matches",
            "--only-matching",
            "--invert-match",
            "--word-regexp",
            "--extended-regexp",
            "--fixed-strings",
            "--no-filename",
            "--with-filename",
            "--quiet",
            "--recursive",
        ],
        Operands::Search,
    ),
    reading(
        &["rg"],
        "ilnNcvwFHIoSsUxLpPqa0C",
        "ABmgtTrjMe",
        &[
            "--glob",
            "--type",
            "--hidden",
            "--no-ignore",
            "--no-heading",
            "--line-number",
            "--ignore-case",
            "--fixed-strings",
            "--files-with-matches",
            "--count",
            "--color",
            "--context",
            "--max-count",
            "--json",
        ],
        Operands::SearchHere,
    ),
    reading(
        &["sort"],
        "bdfgiMhnRrVcCmsuz",
        "kto",
        &[
            "--key",
            "--field-separator",
            "--numeric-sort",
            "--reverse",
            "--unique",
            "--output",
        ],
        Operands::Files,
    ),
    reading(&["uniq"], "cdDiu", "fs", &["--count"], Operands::Files),
    reading(
        &["cut"],
        "ns",
        "bcdf",
        &["--delimiter", "--fields", "--characters", "--bytes"],
        Operands::Files,
    ),
    reading(
        &["diff"],
        "abBcdeiNnpqrstuwy",
        "U",
        &[
            "--unified",
            "--brief",
            "--recursive",
            "--side-by-side",
            "--color",
            "--ignore-all-space",
        ],
        Operands::Files,
    ),
    reading(&["jq"], "nrjaSCMcseR", "", &[], Operands::Filter),
    // Of these no flag is known.
    reading(
        &[
            "tac",
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
            "source",
            ".",
            "bat",
            "zcat",
            "paste",
            "comm",
        ],
        "",
        "",
        &[],
        Operands::Files,
    ),
];
/// They read no file, whatever they are told.
const READING_NONE: [&str; 24] = [
    "pwd", "echo", "printf", "true", "false", ":", "cd", "test", "[", "sleep", "seq", "basename",
    "dirname", "whoami", "uname", "tr", "mkdir", "rmdir", "touch", "tee", "rm", "unlink", "kill",
    "exit",
];

/// The files, and whether these are all that the words name.
pub(super) fn read(name: &str, args: &[Word]) -> (Vec<String>, bool) {
    let words = || args.iter().map(|word| word.text.as_str());
    if let Some(reading) = READINGS.iter().find(|it| it.programs.contains(&name)) {
        return reading.files(words());
    }
    match name {
        "sed" | "gsed" => sed::files(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk::files(args),
        "git" => (Vec::new(), git::reads_only_repository(args)),
        "curl" => curl::Call::of(args).reads(),
        "cp" | "mv" | "ln" => copied(words()),
        "install" | "scp" | "rsync" | "ag" | "yq" => (plain_words(words()), false),
        _ => (Vec::new(), READING_NONE.contains(&name)),
    }
}

impl Reading {
    fn files<'a>(&self, words: impl Iterator<Item = &'a str>) -> (Vec<String>, bool) {
        let options = options::parse(words, self.valued, |_| false);
        let known = |name: &str| match name.strip_prefix("--") {
            Some(_) => self.long.contains(&name),
            None => self.plain.contains(name) || self.valued.contains(name),
        };
        let sure = options.given.iter().all(|(name, _)| known(name));
        let mut files = options.operands;
        let brought = |(name, _): &(&str, _)| matches!(*name, "e" | "--regexp");
        let named = match self.operands {
            Operands::Files => false,
            Operands::Filter => sure,
            Operands::Search | Operands::SearchHere => sure && !options.given.iter().any(brought),
        } && !files.is_empty();
        let wanted = if named { files.remove(0) } else { "" };
        // A value that may be a file is one.
        let doubtful = options.given.iter().filter(|(name, _)| !known(name));
        files.extend(doubtful.filter_map(|(_, value)| *value));
        let recursive = |(name, _): &(&str, _)| matches!(*name, "r" | "R" | "--recursive");
        let here = match self.operands {
            Operands::Files | Operands::Filter => false,
            Operands::Search => options.given.iter().any(recursive),
            Operands::SearchHere => true,
        };
        if files.is_empty() && here {
            files.push(".");
        }
        // A filter may take code from other files.
        let imports = self.operands == Operands::Filter
            && ["import", "include"].iter().any(|it| wanted.contains(it));
        (texts(files), sure && !imports)
    }
}

/// All but the last, or all of them if a flag may say where to.
fn copied<'a>(words: impl Iterator<Item = &'a str>) -> (Vec<String>, bool) {
    let options = options::parse(words, "", |_| false);
    let known = |(name, _): &(&str, _)| "afiprsuvRLPn".contains(name);
    let sure = options.given.iter().all(known);
    let mut files = options.operands;
    if sure {
        files.pop();
    }
    (texts(files), sure)
}

fn plain_words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    texts(options::parse(words, "", |_| false).operands)
}

fn texts(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}
