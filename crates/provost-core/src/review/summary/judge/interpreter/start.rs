//! How an interpreter is started: which of its words is the program, and whether it reads one from its input. A flag
//! whose value is not known to be one hides that.

use super::super::Word;

/// The flags of an interpreter. Long ones are separated by spaces.
struct Flags {
    names: &'static [&'static str],
    /// Letters without a value.
    plain: &'static str,
    /// Letters with a value, glued on or in the next word.
    valued: &'static str,
    /// Letters whose value is glued on, or not there.
    attached: &'static str,
    /// Letters whose value is the program's text.
    code: &'static str,
    /// Letters whose value is a module or a file to run.
    runs: &'static str,
    /// Letters with which it only tells about itself, unless a file is named.
    tells: &'static str,
    /// Letters with which it reads its input, whatever else it runs.
    reads: &'static str,
    long: &'static str,
    long_valued: &'static str,
}

impl Flags {
    const NONE: Self = Self {
        names: &[],
        plain: "",
        valued: "",
        attached: "",
        code: "",
        runs: "",
        tells: "",
        reads: "",
        long: "",
        long_valued: "",
    };
    /// Each `o` of a shell takes one of the next words, and the letters behind it are flags.
    const SHELL: Self = Self {
        plain: "abBCdDeEfFhHiIklLmnpPqrtuvVwxy",
        valued: "oO",
        code: "c",
        reads: "s",
        long: "--login --noprofile --norc --posix --restricted --verbose --noediting --debugger --no-rcs \
               --no-globalrcs --interactive --no-execute --no-config --private",
        long_valued: "--rcfile --init-file --emulate --debug --debug-output --profile --profile-startup --features",
        ..Self::NONE
    };
}

impl Flags {
    /// To some a long flag may have one dash.
    fn is_long(&self, text: &str) -> bool {
        text.starts_with('-') && (is_in(self.long, text) || is_in(self.long_valued, text))
    }
}

/// The flag is in the list, with one dash or with two.
fn is_in(list: &str, flag: &str) -> bool {
    let name = flag.trim_start_matches('-');
    list.split_ascii_whitespace()
        .any(|it| it.trim_start_matches('-') == name)
}

pub(super) const SHELLS: [&str; 20] = [
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash",
    "lksh", "oksh", "rksh", "pdksh", "posh", "hush", "nu", "xonsh",
];
const FLAGS: [Flags; 9] = [
    Flags {
        names: &["python", "pypy", "ipython"],
        plain: "bBdEIOPqRsStuvx",
        valued: "WXQ",
        code: "c",
        runs: "m",
        tells: "hV?",
        reads: "i",
        long_valued: "--check-hash-based-pycs",
        ..Flags::NONE
    },
    Flags {
        names: &["perl"],
        plain: "acfnpsStTuUwWX",
        valued: "I",
        attached: "0CDFilmMx",
        code: "eE",
        tells: "hvV",
        reads: "d",
        ..Flags::NONE
    },
    Flags {
        names: &["ruby"],
        plain: "acdnpsSlwyU",
        valued: "CEIrX",
        attached: "0FKTWix",
        code: "e",
        tells: "hv",
        long: "--debug --verbose --jit --yjit --copyright",
        long_valued: "--encoding --external-encoding --internal-encoding --disable --enable --dump --parser",
        ..Flags::NONE
    },
    Flags {
        names: &["node", "nodejs"],
        plain: "c",
        valued: "rC",
        code: "ep",
        tells: "hv",
        reads: "i",
        long: "--check --no-warnings --enable-source-maps --trace-warnings --experimental-vm-modules --expose-gc \
               --inspect --inspect-brk --watch --test --experimental-strip-types --trace-deprecation",
        long_valued: "--require --import --loader --experimental-loader --conditions --input-type --env-file --title",
        ..Flags::NONE
    },
    Flags {
        names: &["php"],
        plain: "CelnqswH",
        valued: "cdStz",
        code: "rBRE",
        runs: "fF",
        tells: "himv",
        reads: "a",
        ..Flags::NONE
    },
    Flags {
        names: &["lua", "luajit"],
        plain: "EW",
        valued: "l",
        code: "e",
        tells: "v",
        reads: "i",
        ..Flags::NONE
    },
    Flags {
        names: &["osascript"],
        valued: "ls",
        code: "e",
        reads: "i",
        ..Flags::NONE
    },
    Flags {
        names: &["tclsh"],
        ..Flags::NONE
    },
    Flags {
        names: &["irb", "rscript", "julia", "elixir", "iex", "tsx", "ts-node"],
        tells: "hv",
        ..Flags::NONE
    },
];

/// What the words of an interpreter say about where its program is.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is said by flags of its own"
)]
pub(super) struct Start<'a> {
    /// The file that it runs.
    pub(super) file: Option<&'a Word>,
    /// A text or a module that it runs instead.
    runs: bool,
    tells: bool,
    /// It reads its input as well.
    pub(super) reads: bool,
    /// Every flag is known. If not, what seems to be a file may be a flag's value.
    pub(super) known: bool,
}

impl<'a> Start<'a> {
    /// `None` if it is no interpreter. The name is without a version.
    pub(super) fn of(name: &str, args: &'a [Word]) -> Option<Self> {
        let is_shell = SHELLS.contains(&name);
        let flags = FLAGS.iter().find(|flags| flags.names.contains(&name));
        let flags = flags.or(is_shell.then_some(&Flags::SHELL))?;
        let mut start = Self {
            known: true,
            ..Self::default()
        };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let letters = text.strip_prefix('-');
            let letters = letters.or_else(|| text.strip_prefix('+').filter(|_| is_shell));
            match letters {
                // To PHP everything behind it is for the program.
                Some("-") if name == "php" => break,
                Some("-") => {
                    start.file = words.next();
                    break;
                }
                Some("") | None => {
                    start.file = Some(word);
                    break;
                }
                Some(_) if text.starts_with("--") || flags.is_long(text) => {
                    let skipped = start.long(flags, text);
                    words.by_ref().take(skipped).for_each(drop);
                }
                Some(letters) => {
                    let skipped = start.letters(flags, letters, is_shell);
                    let mut values = words.by_ref().take(skipped);
                    let value = values.next();
                    values.for_each(drop);
                    // Without a text behind its flag it may read one.
                    start.runs &= skipped == 0 || value.is_some();
                    if start.runs {
                        start.file =
                            value.filter(|_| letters.ends_with(|c| flags.runs.contains(c)));
                        break;
                    }
                }
            }
        }
        Some(start)
    }

    /// No program is named but its input.
    pub(super) fn reads_input(&self) -> bool {
        let named = self.runs || self.tells;
        self.file
            .map_or(!named, |file| matches!(input(&file.text), Some(Input::Own)))
    }

    /// How many of the next words are its value.
    fn long(&mut self, flags: &Flags, text: &str) -> usize {
        if matches!(text, "--version" | "--help") {
            self.tells = true;
        } else if is_in(flags.long_valued, text) {
            return 1;
        } else {
            // What has a value behind `=` takes no other.
            self.known &= text.contains('=') || is_in(flags.long, text);
        }
        0
    }

    fn letters(&mut self, flags: &Flags, letters: &str, is_shell: bool) -> usize {
        let mut skipped = 0;
        for (at, letter) in letters.char_indices() {
            let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            if flags.code.contains(letter) || flags.runs.contains(letter) {
                self.runs = true;
                self.reads |= flags.runs.contains(letter) && input(rest).is_some();
                // Behind other flags of a shell its text comes later.
                return if is_shell {
                    0
                } else {
                    usize::from(rest.is_empty())
                };
            }
            if flags.valued.contains(letter) && is_shell {
                skipped += 1;
                // `-opipefail` to zsh.
                self.known &= rest.is_empty();
            } else if flags.valued.contains(letter) {
                return usize::from(rest.is_empty());
            }
            self.tells |= flags.tells.contains(letter);
            self.reads |= flags.reads.contains(letter);
            if flags.attached.contains(letter) {
                return 0;
            }
            let lists = [flags.plain, flags.valued, flags.tells, flags.reads];
            self.known &= lists.iter().any(|list| list.contains(letter));
        }
        skipped
    }
}

/// An open file that a path stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Own,
    Other,
}

/// `-`, `/dev/stdin`, `/dev/fd/3`, `/proc/self/fd/0`, also from inside those folders.
pub(super) fn input(path: &str) -> Option<Input> {
    if path == "-" {
        return Some(Input::Own);
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    let (last, before) = steps.split_last()?;
    match *last {
        "stdin" => Some(Input::Own),
        number if before.last() == Some(&"fd") && number.bytes().all(|it| it.is_ascii_digit()) => {
            Some(if number == "0" {
                Input::Own
            } else {
                Input::Other
            })
        }
        _ => None,
    }
}
