//! Programs that run another program, named in their arguments.

mod flags;

use super::{
    DEEPEST, Judge, Risk, Risks, Word,
    args::{has_long, has_short, is_flag},
    interpreter::{input, joined, texts_after},
    name_of,
};
use crate::review::summary::shell::is_assignment;
use flags::{WRAPPERS, Wrapper};

const RAISING: [&str; 5] = ["sudo", "doas", "pkexec", "runuser", "su"];
const DELETING: [&str; 4] = ["rm", "rmdir", "unlink", "shred"];
/// They hand their words to a shell.
const JOINING: [&str; 3] = ["ssh", "watch", "parallel"];
const FEEDING: [&str; 2] = ["xargs", "parallel"];
/// Without a program they run what they read: a shell, or commands line by line.
const READING: [&str; 7] = [
    "parallel", "unshare", "nsenter", "chroot", "script", "runuser", "doas",
];
/// What they start is not told from their words alone, or runs elsewhere.
const KEEPING: [&str; 4] = ["ssh", "watch", "parallel", "xargs"];

pub(super) fn risks(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    if RAISING.contains(&name) {
        risks.insert(Risk::RaisesPrivilege);
    }
    // What follows it is a body that is not read.
    if matches!(name, "function" | "coproc") {
        risks.insert(Risk::Unreadable);
    }
    if matches!(name, "flock" | "script" | "runuser") {
        risks.append(&mut texts_after(judge, args, &["-c", "--command"]));
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        risks.append(&mut wrapped(judge, wrapper, args));
    }
    risks
}

fn wrapped(judge: &Judge, wrapper: &Wrapper, args: &[Word]) -> Risks {
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let found = Found::behind(wrapper, &texts);
    let assigned = found.assigned.iter().filter_map(|at| args.get(*at));
    let mut risks = judge.assign(assigned);
    if !found.understood {
        risks.insert(Risk::Unreadable);
    }
    let asks_shell = wrapper.name == "sudo"
        && (has_short(args, "is") || has_long(args, "--login") || has_long(args, "--shell"));
    let programs = found.starts.iter().filter_map(|start| args.get(*start..));
    let alone = programs.clone().any(<[Word]>::is_empty);
    if judge.piped && alone && (asks_shell || READING.contains(&wrapper.name)) {
        risks.append(&mut input(judge));
    }
    for words in programs {
        if FEEDING.contains(&wrapper.name) {
            risks.append(&mut judge.inner_fed(words));
            risks.append(&mut fed(words));
        } else if !JOINING.contains(&wrapper.name) {
            risks.append(&mut judge.inner(words));
        }
        if JOINING.contains(&wrapper.name) || (asks_shell && !words.is_empty()) {
            risks.append(&mut joined(judge, words));
        }
    }
    risks
}

/// What deletes whatever it is handed, also behind programs that only start it: `xargs sudo rm`.
pub(super) fn fed(words: &[Word]) -> Risks {
    fed_behind(words, DEEPEST)
}

fn fed_behind(words: &[Word], deepest: usize) -> Risks {
    let Some(((name, args), deepest)) = words.split_first().zip(deepest.checked_sub(1)) else {
        return Risks::new();
    };
    let name = name_of(name);
    if DELETING.contains(&name.as_str()) {
        return Risks::from([Risk::Deletes]);
    }
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
        return Risks::new();
    };
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let starts = Found::behind(wrapper, &texts).starts;
    let programs = starts.into_iter().filter_map(|start| args.get(start..));
    programs
        .flat_map(|words| fed_behind(words, deepest))
        .collect()
}

/// What a flag takes.
enum Takes {
    Nothing,
    Next,
    Unknown,
}

/// The program behind the flags of a wrapper.
struct Found {
    /// Where it may begin. After a flag of which it is not known whether the next word is its value, both
    /// readings count.
    starts: Vec<usize>,
    assigned: Vec<usize>,
    /// Every flag is known.
    understood: bool,
}

impl Found {
    fn behind(wrapper: &Wrapper, args: &[&str]) -> Self {
        let (mut at, mut unsure) = (0, false);
        let mut assigned = Vec::new();
        let mut understood = true;
        while let Some(text) = args.get(at) {
            if *text == "--" {
                at += 1;
                unsure = false;
                break;
            }
            if *text == "-" && wrapper.name == "env" {
                at += 1;
            } else if is_flag(text) {
                let takes = wrapper.takes(text);
                unsure = matches!(takes, Takes::Unknown);
                understood &= !unsure;
                at += 1 + usize::from(matches!(takes, Takes::Next));
            } else if is_assignment(text) {
                assigned.push(at);
                at += 1;
            } else {
                break;
            }
        }
        let starts = [at + wrapper.before, at + wrapper.before + 1];
        let readings = if unsure { 2 } else { 1 };
        let mut starts: Vec<usize> = starts.into_iter().take(readings).collect();
        starts.retain(|start| *start <= args.len());
        // Flags behind the words that come first: `flock file -c text`.
        let flagged = |start: &usize| args.get(*start).is_some_and(|text| is_flag(text));
        if starts.iter().any(flagged) {
            let text = args.get(at + wrapper.before).copied().unwrap_or_default();
            understood &= matches!(wrapper.name, "flock" | "script") && text == "-c";
        }
        starts.retain(|start| !flagged(start));
        Self {
            starts,
            assigned,
            understood,
        }
    }
}

/// The program that a command starts, behind those that only start another. `None` where it is not certain.
pub(in crate::review) fn started<'a>(words: &[&'a str]) -> Option<&'a str> {
    let (name, args) = words.split_first()?;
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_starter = |wrapper: &&Wrapper| wrapper.name == name && !KEEPING.contains(&name);
    let Some(wrapper) = WRAPPERS.iter().find(is_starter) else {
        return Some(name);
    };
    let found = Found::behind(wrapper, args);
    match *found.starts {
        [start] if found.understood => started(args.get(start..)?),
        _ => None,
    }
}

impl Wrapper {
    fn takes(&self, flag: &str) -> Takes {
        if let Some(long) = flag.strip_prefix("--") {
            return self.takes_long(long);
        }
        let letters = flag.strip_prefix('-').unwrap_or(flag);
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let last = at + letter.len_utf8() == letters.len();
                return if last { Takes::Next } else { Takes::Nothing };
            }
            // Values that are glued on only.
            if self.name == "xargs" && matches!(letter, 'i' | 'l' | 'e') {
                return Takes::Nothing;
            }
            if !self.plain.contains(letter) {
                return Takes::Unknown;
            }
        }
        Takes::Nothing
    }

    fn takes_long(&self, flag: &str) -> Takes {
        let (name, glued) = match flag.split_once('=') {
            Some((name, _)) => (name, true),
            None => (flag, false),
        };
        // Long flags may be cut short.
        let is = |names: &str| names.split(' ').any(|long| long.starts_with(name));
        match (is(self.long), is(self.long_valued)) {
            _ if name.is_empty() => Takes::Unknown,
            (false, true) if !glued => Takes::Next,
            (true, false) | (false, true) => Takes::Nothing,
            _ => Takes::Unknown,
        }
    }
}
