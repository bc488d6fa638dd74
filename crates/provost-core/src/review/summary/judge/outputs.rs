//! The files that a program writes, as far as its words name them.

use super::{
    Risk, Word,
    args::{has_short, is_long, operands},
    awk, curl, find, git, known, sed,
};

/// They write nothing but what [`written`] finds, whatever their words are.
const HARMLESS: [&str; 24] = [
    "pwd", "tr", "echo", "printf", "true", "false", ":", "test", "[", "cd", "sleep", "seq",
    "basename", "dirname", "realpath", "readlink", "which", "whoami", "id", "uname", "df", "ps",
    "kill", "dd",
];

/// Flags behind which a file is named that the program writes.
struct Outputs {
    programs: &'static [&'static str],
    /// Letters, and other letters whose value ends a word.
    short: &'static str,
    valued: &'static str,
    /// Long flags, which may be cut short, and flags with one dash, which may not.
    long: &'static [&'static str],
}

const fn outputs(
    programs: &'static [&'static str],
    short: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> Outputs {
    Outputs {
        programs,
        short,
        valued,
        long,
    }
}

const OUTPUTS: [Outputs; 12] = [
    outputs(
        &["curl"],
        "ocD",
        "AbCdeEFHhKmPQrtTuUwxXyYz",
        &[
            "--output",
            "--output-dir",
            "--cookie-jar",
            "--dump-header",
            "--trace",
            "--trace-ascii",
            "--etag-save",
            "--stderr",
            "--libcurl",
        ],
    ),
    outputs(
        &["wget"],
        "OPoa",
        "tTUQwieB",
        &[
            "--output-document",
            "--directory-prefix",
            "--output-file",
            "--append-output",
        ],
    ),
    outputs(&["tar", "bsdtar"], "C", "fIFTXbgHKLNV", &["--directory"]),
    outputs(&["unzip"], "d", "xP", &[]),
    outputs(
        &["find"],
        "",
        "",
        &["-fprintf", "-fprint0", "-fprint", "-fls"],
    ),
    outputs(&["install"], "t", "Sgmo", &["--target-directory"]),
    outputs(
        &["gcc", "g++", "cc", "c++", "clang", "clang++", "ld"],
        "",
        "",
        &["-o", "-MF", "-dumpdir"],
    ),
    outputs(
        &["go"],
        "",
        "",
        &[
            "-o",
            "--o",
            "-coverprofile",
            "-cpuprofile",
            "-memprofile",
            "-outputdir",
            "-trace",
        ],
    ),
    outputs(
        &["pytest", "py.test"],
        "",
        "",
        &[
            "--junitxml",
            "--junit-xml",
            "--log-file",
            "--basetemp",
            "--resultlog",
        ],
    ),
    outputs(
        &["cargo"],
        "",
        "",
        &["--target-dir", "--artifact-dir", "--out-dir"],
    ),
    outputs(
        &["strace", "ltrace", "time"],
        "o",
        "epuEsXaIPSbf",
        &["--output"],
    ),
    outputs(
        &["psql", "sqlite3"],
        "oL",
        "cdfhpUvFPRT",
        &["--output", "--log-file"],
    ),
];

/// Where the program writes, as far as its arguments tell.
pub(super) fn written(name: &str, args: &[Word]) -> Vec<String> {
    let mut paths: Vec<String> = match name {
        // What it takes away cannot be told of a computed name, which is marked as such.
        "rm" | "rmdir" | "unlink" => {
            texts(operands(args).filter(|word| !word.computed && !word.pattern))
        }
        "install" => {
            let mut words: Vec<&str> = operands(args).map(|word| &*word.text).collect();
            let given = OUTPUTS.iter().find(|it| it.programs.contains(&name));
            let given = given.and_then(|it| values(args, it).pop());
            let target = given.or_else(|| words.pop());
            copied(target.into_iter().collect(), &words)
        }
        "sed" | "gsed" => {
            let sed = sed::read(args);
            [sed.writes, sed.in_place].concat()
        }
        "awk" | "gawk" | "mawk" | "nawk" => awk::read(args).writes,
        "perl" if has_short(args, "i") => texts(operands(args).skip(1)),
        "git" => texts_of(git::written(args)),
        "dd" => texts_of(args.iter().filter_map(|word| word.text.strip_prefix("of="))),
        "script" => texts(operands(args).take(1)),
        "rsync" => {
            let mut words: Vec<&str> = operands(args).map(|word| &*word.text).collect();
            let target = words.pop().filter(|target| !target.contains(':'));
            copied(target.into_iter().collect(), &words)
        }
        "curl" if curl::Call::of(args).names_elsewhere() => vec![".".to_owned()],
        "wget" => vec![".".to_owned()],
        "history" if has_short(args, "wa") => texts(operands(args)),
        _ => known::Call::of(name, args).map_or_else(Vec::new, |call| of_known(name, call)),
    };
    if let Some(outputs) = OUTPUTS.iter().find(|it| it.programs.contains(&name)) {
        paths.extend(texts_of(values(args, outputs)));
    }
    paths
}

/// The files that programs write whose flags are known.
fn of_known(name: &str, call: known::Call<'_>) -> Vec<String> {
    let into_folder = !call.has(&known::NOT_INTO_FOLDER);
    let known::Call {
        mut writes,
        mut operands,
        ..
    } = call;
    match name {
        "tee" | "touch" | "truncate" | "mkdir" => writes.extend(operands),
        // The second file is what it writes.
        "uniq" | "xxd" => writes.extend(operands.into_iter().skip(1)),
        "cp" | "ln" | "mv" => {
            if name == "ln" && operands.len() == 1 && writes.is_empty() {
                // A link is made here, by the last part of its name.
                writes.extend(operands.iter().copied().chain(["."]));
            } else if writes.is_empty() {
                writes.extend(operands.pop());
            }
            // What is moved is taken away.
            let moved = operands.iter().filter(|_| name == "mv").copied();
            let mut files = texts_of(moved);
            let sources = if into_folder { operands } else { Vec::new() };
            files.extend(copied(writes, &sources));
            return files;
        }
        _ => {}
    }
    texts_of(writes)
}

/// The last target, too, as the folder in which each source gets a file of its name.
fn copied(targets: Vec<&str>, sources: &[&str]) -> Vec<String> {
    let folder = targets.last().map(|target| target.trim_end_matches('/'));
    let named = |source: &&str| Some(format!("{}/{}", folder?, file_name(source)?));
    let inside: Vec<String> = sources.iter().filter_map(named).collect();
    [texts_of(targets), inside].concat()
}

/// The name that a copy gets.
fn file_name(source: &str) -> Option<&str> {
    let name = source.trim_end_matches('/').rsplit('/').next();
    name.filter(|name| !matches!(*name, "" | "." | ".."))
}

/// The program writes nothing else.
pub(super) fn are_all(name: &str, args: &[Word]) -> bool {
    match name {
        "git" => git::only_looks(args),
        "curl" => curl::Call::of(args).is_known(),
        "find" => find::is_known(args),
        "sed" | "gsed" => !sed::read(args).risks.contains(&Risk::Unreadable),
        "awk" | "gawk" | "mawk" | "nawk" => !awk::read(args).risks.contains(&Risk::Unreadable),
        // What they run is a part of its own.
        "timeout" | "nice" => true,
        _ => {
            HARMLESS.contains(&name) || known::Call::of(name, args).is_some_and(|it| it.understood)
        }
    }
}

fn texts<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<String> {
    words.map(|word| word.text.clone()).collect()
}

fn texts_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// The values of these flags: in the next word, glued on, as the last of several letters, or behind a flag that
/// is cut short.
fn values<'a>(args: &'a [Word], outputs: &Outputs) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = args.iter().map(|word| word.text.as_str()).peekable();
    while let Some(word) = words.next() {
        let Some(value) = value(word, outputs) else {
            continue;
        };
        let value = match value {
            "" => words.peek().copied().unwrap_or_default(),
            value => value,
        };
        if !value.is_empty() && value != "-" {
            found.push(value);
        }
    }
    found
}

/// The value, which is empty if the next word is it.
fn value<'a>(word: &'a str, outputs: &Outputs) -> Option<&'a str> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if outputs.long.iter().any(|long| is_long(name, long)) {
        return Some(value);
    }
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
    for (at, letter) in letters.char_indices() {
        if outputs.short.contains(letter) {
            return letters.get(at + letter.len_utf8()..);
        }
        if outputs.valued.contains(letter) {
            return None;
        }
    }
    None
}
