//! The flags of programs that look around, and of those that write the files which their words name. What is not in
//! the table may do anything: a call with such a flag is not understood.

mod table;

use super::{
    Word,
    args::is_long,
    options::{self, Options, Order},
};
use table::TABLE;

/// One program, or several with the same flags.
struct Known {
    programs: &'static [&'static str],
    /// Letters behind one dash, or a long flag: `-abc`, `--all`. With a value: `-n:`, `--lines:`; the value is a
    /// file that is read: `-f<`, or written: `-o>`. Without a sign a long flag may have a value behind `=`. A `+`
    /// before them says that a flag behind the first operand is an operand, too.
    flags: &'static str,
}

/// The target is no folder that the sources are copied into.
pub(super) const NOT_INTO_FOLDER: [&str; 2] = ["T", "--no-target-directory"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Read,
    Written,
}

/// The words of a program as it takes them.
#[derive(Default)]
pub(super) struct Call<'a> {
    pub(super) flags: Vec<&'a str>,
    pub(super) operands: Vec<&'a str>,
    /// Files behind flags.
    pub(super) reads: Vec<&'a str>,
    pub(super) writes: Vec<&'a str>,
    /// The values of flags where one of them is not known: they may be anything.
    pub(super) doubtful: Vec<&'a str>,
    pub(super) understood: bool,
}

impl<'a> Call<'a> {
    /// `None` if nothing is known of the program.
    pub(super) fn of(name: &str, args: &'a [Word]) -> Option<Self> {
        let known = TABLE.iter().find(|it| it.programs.contains(&name))?;
        let letters = known.valued_letters();
        let words = args.iter().map(|word| word.text.as_str());
        let order = known.order();
        let options = options::parse(words.clone(), order, &letters, |flag| {
            known.takes_next(flag)
        });
        let mut call = Self::sorted(known, options);
        call.understood &= name != "tree" || !words.clone().any(|word| glues(word, &letters));
        call.understood &= name != "cp" || !call.copies_contents();
        // `@file` names more words.
        call.understood &= name != "strings" || !words.clone().any(|word| word.starts_with('@'));
        Some(call)
    }

    pub(super) fn has(&self, flags: &[&str]) -> bool {
        self.flags.iter().any(|flag| flags.contains(flag))
    }

    /// What a folder holds is copied under names that are not told: `cp -r sub/. .`, `cp -rT sub .`. To some programs
    /// a slash at the end means the same.
    fn copies_contents(&self) -> bool {
        if self.has(&NOT_INTO_FOLDER) && self.has(&["r", "R", "a", "--recursive", "--archive"]) {
            return true;
        }
        let target = usize::from(self.writes.is_empty());
        let mut sources = self.operands.iter().rev().skip(target);
        sources.any(|source| is_contents(source))
    }

    fn sorted(known: &Known, options: Options<'a>) -> Self {
        let mut call = Self {
            operands: options.operands,
            understood: true,
            ..Self::default()
        };
        let mut values = Vec::new();
        for (name, value) in options.given {
            let value = value.filter(|value| !value.is_empty());
            let takes = known.takes(name);
            match takes {
                Some(Takes::Read) => call.reads.extend(value.filter(|value| *value != "-")),
                // To `sort -o` a `-` is the name of a file.
                Some(Takes::Written) => call.writes.extend(value),
                None if known.may_write(name) => call.writes.extend(value),
                _ => values.extend(value),
            }
            call.understood &= takes.is_some();
            call.flags.push(name);
        }
        // Behind a letter that is not known, what seems to be another one may be its value.
        if !call.understood {
            call.doubtful = values;
        }
        call
    }
}

impl Known {
    fn order(&self) -> Order {
        if self.flags.starts_with('+') {
            Order::First
        } else {
            Order::Anywhere
        }
    }

    /// Each flag with what it takes.
    fn each(&self) -> impl Iterator<Item = (&'static str, Takes)> {
        let flags = self.flags.trim_start_matches('+');
        flags.split_ascii_whitespace().map(|flag| {
            let takes = match flag.as_bytes().last() {
                Some(b':') => Takes::Value,
                Some(b'<') => Takes::Read,
                Some(b'>') => Takes::Written,
                _ => return (flag, Takes::Nothing),
            };
            (flag.trim_end_matches([':', '<', '>']), takes)
        })
    }

    fn letters(&self) -> impl Iterator<Item = (&'static str, Takes)> {
        let letters = |(flag, takes): (&'static str, _)| {
            let letters = flag.strip_prefix('-')?;
            (!letters.starts_with('-')).then_some((letters, takes))
        };
        self.each().filter_map(letters)
    }

    fn valued_letters(&self) -> String {
        let valued = self.letters().filter(|(_, takes)| *takes != Takes::Nothing);
        valued.map(|(letters, _)| letters).collect()
    }

    /// `None` if the flag is not known. A long one is known only where it is written out.
    fn takes(&self, name: &str) -> Option<Takes> {
        let found = if name.starts_with("--") {
            self.each().find(|(flag, _)| *flag == name)
        } else {
            self.letters().find(|(letters, _)| letters.contains(name))
        };
        found.map(|(_, takes)| takes)
    }

    fn takes_next(&self, flag: &str) -> bool {
        let takes = self.takes(flag);
        takes.is_some_and(|takes| takes != Takes::Nothing)
            || (takes.is_none() && self.may_write(flag))
    }

    /// A flag that names a file to write, cut short.
    fn may_write(&self, name: &str) -> bool {
        self.each()
            .any(|(flag, takes)| takes == Takes::Written && is_long(name, flag))
    }
}

pub(super) fn is_contents(source: &str) -> bool {
    matches!(source.rsplit('/').next(), Some("" | "." | ".."))
}

/// A value that is glued on: to `tree` further letters stand there.
fn glues(word: &str, valued: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    let before = letters.char_indices().next_back();
    let before = before.and_then(|(at, _)| letters.get(..at));
    !letters.starts_with('-') && before.is_some_and(|it| it.contains(|c| valued.contains(c)))
}
