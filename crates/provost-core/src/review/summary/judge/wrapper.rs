//! Programs that run another program, named in their arguments.

mod flags;

use super::{
    Judge, Risk, Risks, Word,
    args::{has_long, has_short, is_flag},
    interpreter::{joined, texts_after},
    name_of,
};
use crate::review::summary::shell::is_assignment;
use flags::{WRAPPERS, Wrapper};

const RAISING: [&str; 5] = ["sudo", "doas", "pkexec", "runuser", "su"];
const DELETING: [&str; 4] = ["rm", "rmdir", "unlink", "shred"];
/// They hand their words to a shell.
const JOINING: [&str; 3] = ["ssh", "watch", "parallel"];
const FEEDING: [&str; 2] = ["xargs", "parallel"];

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
    let found = Found::behind(wrapper, args);
    let mut risks = judge.assign(found.assigned.iter().copied());
    if !found.understood {
        risks.insert(Risk::Unreadable);
    }
    let asks_shell = wrapper.name == "sudo"
        && (has_short(args, "is") || has_long(args, "--login") || has_long(args, "--shell"));
    for words in found.programs {
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

/// What deletes whatever it is handed.
pub(super) fn fed(words: &[Word]) -> Risks {
    match words.first() {
        Some(name) if DELETING.contains(&name_of(name).as_str()) => Risks::from([Risk::Deletes]),
        _ => Risks::new(),
    }
}

/// The program behind the flags of a wrapper.
struct Found<'a> {
    /// Where it may begin. After a flag of which it is not known whether the next word is its value, both
    /// readings count.
    programs: Vec<&'a [Word]>,
    assigned: Vec<&'a Word>,
    /// Every flag is known.
    understood: bool,
}

/// What a flag takes.
enum Takes {
    Nothing,
    Next,
    Unknown,
}

impl<'a> Found<'a> {
    fn behind(wrapper: &Wrapper, args: &'a [Word]) -> Self {
        let (mut at, mut unsure) = (0, false);
        let mut assigned = Vec::new();
        let mut understood = true;
        while let Some(word) = args.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                at += 1;
                unsure = false;
                break;
            }
            if text == "-" && wrapper.name == "env" {
                at += 1;
            } else if is_flag(text) {
                let takes = wrapper.takes(text);
                unsure = matches!(takes, Takes::Unknown);
                understood &= !unsure;
                at += 1 + usize::from(matches!(takes, Takes::Next));
            } else if is_assignment(text) {
                assigned.push(word);
                at += 1;
            } else {
                break;
            }
        }
        let starts = [at + wrapper.before, at + wrapper.before + 1];
        let readings = if unsure { 2 } else { 1 };
        let programs = starts.into_iter().take(readings);
        let programs: Vec<&[Word]> = programs.filter_map(|start| args.get(start..)).collect();
        // Flags behind the words that come first: `flock file -c text`.
        let flagged = |words: &&[Word]| words.first().is_some_and(|word| is_flag(&word.text));
        if programs.iter().any(&flagged) {
            let text = args.get(at + wrapper.before).map_or("", |word| &word.text);
            understood &= matches!(wrapper.name, "flock" | "script") && text == "-c";
        }
        Self {
            programs: programs.into_iter().filter(|it| !flagged(it)).collect(),
            assigned,
            understood,
        }
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
