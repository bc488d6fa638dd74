//! The programs that `find` and `fd` run for the files that they find. A flag that is not in these lists may write
//! or run something.

use super::{
    Judge, Risk, Risks, Word,
    args::{has, is_flag},
    name_of, outputs,
    wrapper::fed,
};

/// Words of `find` without a value, and with one. Those of `-fprint` and its like name a file that is written.
const PLAIN: &str = "-print -print0 -prune -quit -delete -ls -depth -d -mount -xdev -follow -empty -true -false \
    -daystart -noleaf -readable -writable -executable -nouser -nogroup -not -and -or -a -o -H -L -P -E -X -x -s \
    -ignore_readdir_race -noignore_readdir_race -warn -nowarn -help --help -version --version";
const VALUED: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype \
    -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -newerct -newerat -newermm -perm \
    -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth -regextype -printf -fstype -used -fprint \
    -fprint0 -fls";
/// Letters of `fd` without a value and with one, and its long flags.
const FD_PLAIN: &str = "HIugsiFapLl0q1hV";
const FD_VALUED: &str = "tedEScj";
const FD_LONG: &str = "--hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted \
    --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --relative-path --full-path \
    --follow --print0 --quiet --one-file-system --prune --strip-cwd-prefix --version --help";
const FD_LONG_VALUED: &str = "--max-results --max-depth --min-depth --exact-depth --type --extension --exclude --size \
    --changed-within --changed-before --color --threads --and --owner --format";
/// The first word that is no flag is a program of its own language.
const SCRIPTED: [&str; 7] = ["awk", "gawk", "mawk", "nawk", "sed", "gsed", "jq"];

pub(super) fn risks(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    match name {
        "find" => find(judge, args),
        "fd" | "fdfind" => fd(judge, args),
        _ => Risks::new(),
    }
}

/// What `find` does at one of its words.
enum Step<'a> {
    Known,
    Unknown,
    Runs(&'a [Word]),
}

/// The words of `find`, each read once: the value of one is no word by itself.
fn steps(args: &[Word]) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let (step, skipped) = match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let (program, _) = after.split_at(end(after));
                (Step::Runs(program), program.len())
            }
            "-fprintf" => (Step::Known, 2),
            word if is_in(VALUED, word) => (Step::Known, 1),
            word if !is_flag(word) || is_in(PLAIN, word) || is_level(word) => (Step::Known, 0),
            _ => (Step::Unknown, 0),
        };
        steps.push(step);
        rest = after.get(skipped..).unwrap_or_default();
    }
    steps
}

/// Every word of `find` is known, and so is what it writes. The files that it deletes are not.
pub(super) fn is_known(args: &[Word]) -> bool {
    !has(args, &["-delete"]) && !steps(args).iter().any(|step| matches!(step, Step::Unknown))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// `-O3`
fn is_level(word: &str) -> bool {
    let level = word.strip_prefix("-O").unwrap_or_default();
    level.len() == 1 && level.bytes().all(|byte| byte.is_ascii_digit())
}

fn find(judge: &Judge, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    // Also where it may be a value: a variable before it moves what follows.
    if has(args, &["-delete"]) {
        risks.insert(Risk::Deletes);
    }
    for step in steps(args) {
        match step {
            Step::Known => {}
            Step::Unknown => {
                risks.insert(Risk::Unreadable);
            }
            Step::Runs(words) if words.iter().any(|word| word.text.contains("{}")) => {
                risks.append(&mut started(judge, words));
            }
            Step::Runs(words) => {
                risks.append(&mut judge.inner(words));
                risks.append(&mut fed(words));
            }
        }
    }
    risks
}

/// Where the program that is run ends: a `+` does so only behind `{}`.
fn end(words: &[Word]) -> usize {
    let mut last = "";
    let ended = words.iter().position(|word| {
        let text = word.text.as_str();
        let before = std::mem::replace(&mut last, text);
        text == ";" || (text == "+" && before == "{}")
    });
    ended.unwrap_or(words.len())
}

/// A program that is handed the names of files, which are known only when it runs.
fn started(judge: &Judge, words: &[Word]) -> Risks {
    let mut risks = judge.inner_fed(words);
    risks.append(&mut fed(words));
    // The name of a file as a part of a flag, or as a program.
    let glued = |word: &Word| word.text.contains("{}") && word.text != "{}";
    let program = words.first().map(name_of).unwrap_or_default();
    let mut operands = words.iter().skip(1).filter(|word| !is_flag(&word.text));
    let scripted =
        SCRIPTED.contains(&&*program) && operands.next().is_some_and(|word| word.text == "{}");
    // What a program makes of the files that it is handed is known of few.
    let args = words.get(1..).unwrap_or_default();
    if words.iter().any(glued) || scripted || !outputs::are_all(&program, args) {
        risks.insert(Risk::Unreadable);
    }
    risks
}

fn fd(judge: &Judge, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        match (name, text.split_once('=')) {
            ("--exec" | "--exec-batch", Some((_, program))) => {
                risks.append(&mut started(judge, &[Word::literal(program)]));
            }
            _ if runs_next(text) => {
                let end = after.iter().position(|word| word.text == ";");
                let (words, after) = after.split_at(end.unwrap_or(after.len()));
                risks.append(&mut started(judge, words));
                rest = after;
            }
            _ if fd_takes_next(text) => rest = after.get(1..).unwrap_or_default(),
            _ if is_flag(text) && !fd_knows(text) => {
                risks.insert(Risk::Unreadable);
            }
            _ => {}
        }
    }
    risks
}

/// A program stands behind this flag of `fd`, which may be the last of several letters.
fn runs_next(flag: &str) -> bool {
    matches!(flag, "--exec" | "--exec-batch")
        || (is_flag(flag) && !flag.starts_with("--") && flag.ends_with(['x', 'X']))
}

/// The next word is the value of this flag of `fd`, and no flag.
fn fd_takes_next(flag: &str) -> bool {
    if flag.starts_with("--") {
        return is_in(FD_LONG_VALUED, flag);
    }
    let letters = flag.strip_prefix('-').unwrap_or_default();
    let valued = letters.find(|c| FD_VALUED.contains(c));
    fd_knows(flag) && valued.is_some_and(|at| at + 1 == letters.len())
}

fn fd_knows(flag: &str) -> bool {
    if flag.starts_with("--") {
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
        return name == "--" || is_in(FD_LONG, name) || is_in(FD_LONG_VALUED, name);
    }
    let letters = flag.trim_start_matches('-');
    let valued = letters.find(|c| FD_VALUED.contains(c));
    let plain = letters.get(..valued.unwrap_or(letters.len()));
    plain.is_some_and(|letters| letters.chars().all(|c| FD_PLAIN.contains(c)))
}
