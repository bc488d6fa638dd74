//! A command as it is shown where content is not: programs, flags, redirections and words without blanks stay. A word
//! or a value with blanks is a text, and so is a single word that is written, sent or said. What runs is no content. Like a mask, this covers what the reader of commands
//! finds to be literal text. A command that is not understood, or in which a text is not found, is not shown at all.

mod raw;

use std::{collections::HashSet, ops::Range};

use super::{
    secret::{CONTENT, Reading, Secret, Standing, program},
    summary::{Outline, Role, Spot},
};

/// Programs that say what they are given: their words are a text, one by one.
const SAYING: [&str; 7] = [
    "echo",
    "printf",
    "say",
    "wall",
    "logger",
    "notify-send",
    "print",
];
/// Programs that take their input for commands.
const RUNNING: [&str; 36] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "ssh",
    "su",
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "pwsh",
    "powershell",
    "osascript",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "mongosh",
    "redis-cli",
    "at",
    "batch",
    "crontab",
    "ed",
    "ex",
    "xargs",
    "parallel",
    "expect",
    "awk",
];
/// Flags of any program that a text follows, also if it is a single word.
const TEXT_FLAGS: [&str; 15] = [
    "--message",
    "--body",
    "--title",
    "--notes",
    "--note",
    "--description",
    "--subject",
    "--comment",
    "--caption",
    "--reason",
    "--text",
    "--data",
    "--post-data",
    "--form",
    "--json",
];
/// A program, its letters that a text follows, and its long flags.
const FLAGS: [(&str, &str, &[&str]); 11] = [
    ("git", "m", &[]),
    ("hg", "m", &[]),
    ("jj", "m", &[]),
    ("svn", "m", &[]),
    ("gh", "btn", &[]),
    ("glab", "dt", &[]),
    ("mail", "s", &[]),
    ("mutt", "s", &[]),
    (
        "curl",
        "dF",
        &[
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--data-ascii",
            "--form-string",
        ],
    ),
    ("wget", "", &["--body-data"]),
    ("slack", "m", &[]),
];

/// What they are given is a change, which is content.
const PATCHING: [&str; 2] = ["apply_patch", "applypatch"];
/// Programs that run others, with words that are not told apart here.
const FEEDING: [&str; 5] = ["xargs", "parallel", "find", "fd", "fdfind"];

/// What is not shown of a command where content is not, in order: its texts, and the secrets that stand elsewhere.
/// `None` where the command is not understood: which texts these are is not known.
pub(super) fn withhold(command: &str, secrets: Vec<Secret>) -> Option<Vec<Secret>> {
    let texts = texts(command)?.into_iter();
    let mut pieces: Vec<Secret> = texts
        .map(|place| Secret {
            place,
            kind: CONTENT,
        })
        .collect();
    for secret in secrets {
        let overlaps = |piece: &Secret| {
            piece.place.start < secret.place.end && secret.place.start < piece.place.end
        };
        if !pieces.iter().any(overlaps) {
            pieces.push(secret);
        }
    }
    pieces.sort_by_key(|piece| piece.place.start);
    Some(pieces)
}

fn texts(command: &str) -> Option<Vec<Range<usize>>> {
    let reading = Reading::of(command)?;
    let outline = &reading.outline;
    if outline.is_unsure() || feeds_texts(outline) || is_unclear(outline) {
        return None;
    }
    let bodies = raw::here_documents(command);
    let words = raw::words(command, 0..command.len(), &bodies);
    let wholes: Vec<Range<usize>> = bodies.into_iter().chain(words).collect();
    let pieces: Vec<Vec<Range<usize>>> = wholes
        .iter()
        .map(|whole| raw::literals(command, whole.clone()))
        .collect();
    let places = reading.places(&pieces, true);
    if misses_text(&reading.outline, &places) {
        return None;
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    for ((whole, pieces), place) in wholes.into_iter().zip(pieces).zip(places) {
        let start = place.and_then(|place| text_start(&reading, command, &whole, place));
        if let Some(start) = start {
            let pieces = pieces.into_iter().filter(|piece| piece.end > start);
            let pieces = pieces.map(|piece| piece.start.max(start)..piece.end);
            found.extend(pieces.map(|piece| inside(command, piece)));
        }
    }
    found.sort_by_key(|piece| piece.start);
    Some(joined(command, found))
}

/// From where on this word, or the body of a here-document, is a text.
fn text_start(
    reading: &Reading<'_>,
    command: &str,
    whole: &Range<usize>,
    place: Standing,
) -> Option<usize> {
    let Standing::Word(at) = place else {
        return Some(whole.start);
    };
    let raw = command.get(whole.clone())?;
    text_within(&reading.outline, at, raw).map(|from| whole.start + from)
}

/// A word that is a text stands nowhere in the command, as far as its places are known.
fn misses_text(outline: &Outline, places: &[Option<Standing>]) -> bool {
    let found: HashSet<usize> = places
        .iter()
        .filter_map(|place| match place {
            Some(Standing::Word(at)) => Some(*at),
            _ => None,
        })
        .collect();
    let mut spots = outline.spots.iter().enumerate();
    spots.any(|(at, spot)| {
        let text = &spot.text;
        let is_blank = |piece: &Range<usize>| {
            let piece = text.get(piece.clone());
            piece.is_none_or(|piece| piece.trim().is_empty())
        };
        let is_missed = |from| !raw::literals(text, from..text.len()).iter().all(is_blank);
        !found.contains(&at) && text_within(outline, at, text).is_some_and(is_missed)
    })
}

/// A value with blanks may be the text that is run, and a program with blanks the item of a list.
fn is_unclear(outline: &Outline) -> bool {
    let mut texts = outline.spots.iter().filter(|spot| has_blanks(spot));
    texts.any(|spot| match spot.role {
        Role::Assignment => outline.runs_text,
        Role::Program => !spot.text.contains('/'),
        _ => false,
    })
}

/// A program that takes texts is started in a way that is not read here.
fn feeds_texts(outline: &Outline) -> bool {
    let name = |spot: &Spot| spot.text.rsplit('/').next().unwrap_or_default().to_owned();
    let feeding = outline.spots.iter().enumerate();
    let mut feeding = feeding.filter(|(_, spot)| FEEDING.contains(&&*name(spot)));
    feeding.any(|(at, feeder)| {
        let is_its = |spot: &&Spot| spot.command == feeder.command;
        let words = outline.spots.iter().skip(at + 1).filter(is_its);
        let mut takers = Vec::new();
        for word in words {
            let takes = |taker: &String| {
                takes_text(taker, &word.text) || attached(taker, &word.text).is_some()
            };
            let name = name(word);
            if SAYING.contains(&&*name) || takers.iter().any(takes) {
                return true;
            }
            let is_taker = FLAGS.iter().any(|it| it.0 == name);
            if is_taker && !takers.contains(&name) {
                takers.push(name);
            }
        }
        false
    })
}

/// From where on a word is a text, as it is written or as it is read.
fn text_within(outline: &Outline, at: usize, word: &str) -> Option<usize> {
    let spot = outline.spots.get(at)?;
    let program = program(outline, at);
    let name = program.unwrap_or_default().to_lowercase();
    match spot.role {
        Role::Here => {
            let runs = program.is_none() || outline.before(at).any(runs_input);
            (!runs && !outline.pipes_text(at)).then_some(0)
        }
        Role::Argument if SAYING.contains(&&*name) => {
            let is_text = !is_option(&name, &spot.text) && !outline.pipes_text(at);
            is_text.then_some(0)
        }
        Role::Argument if PATCHING.contains(&&*name) => Some(0),
        Role::Argument => {
            if let Some(flag) = attached(&name, word) {
                return Some(flag);
            }
            let before = outline.before(at).last()?;
            let is_text = takes_text(&name, &before.text).then_some(0);
            is_text.or_else(|| {
                let is_text = has_blanks(spot) && !runs(outline, at) && !outline.pipes_text(at);
                is_text.then(|| named(word))
            })
        }
        Role::Assignment => has_blanks(spot).then(|| named(word)),
        _ => None,
    }
}

fn has_blanks(word: &Spot) -> bool {
    word.text.contains(char::is_whitespace)
}

/// How long the name and its `=` are that a word begins with.
fn named(word: &str) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.+[]".contains(c);
    let name = word.split_once('=').map(|(name, _)| name);
    let name = name.filter(|name| name.chars().all(is_name));
    name.map_or(0, |name| name.len() + 1)
}

/// Whether a program takes this word for what it runs: its first word, what follows a flag such as `-c`, or what `ssh`
/// hands on to another shell. Words behind a script's name are the script's.
fn runs(outline: &Outline, at: usize) -> bool {
    let words: Vec<&Spot> = outline.before(at).collect();
    let Some(runner) = words.iter().rposition(|word| runs_input(word)) else {
        return false;
    };
    let name = words.get(runner).map_or("", |word| &word.text);
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_program = program(outline, at) == Some(name);
    let behind = words.get(runner + 1..).unwrap_or_default();
    let own = Runner::of(&name.to_lowercase());
    let operands = own.operands(behind);
    let is_value = behind
        .last()
        .is_some_and(|last| own.takes_value(&last.text));
    if name == "ssh" {
        let is_said = behind.iter().any(|word| SAYING.contains(&&*word.text));
        // The other shell reads all words as one line.
        let signs = |spot: &Spot| {
            spot.text
                .contains([';', '|', '&', '<', '>', '$', '`', '(', '\n'])
        };
        return is_program
            && !is_said
            && (operands <= 1 || outline.spots.get(at).is_some_and(signs));
    }
    let is_code = |word: &&Spot| own.takes_code(&word.text);
    if operands == 0 && !is_value && (is_program || behind.iter().any(is_code)) {
        return true;
    }
    (operands == 0 || own.anywhere) && behind.last().is_some_and(is_code)
}

/// How a program is told what it runs.
struct Runner {
    /// Letters that a program's text follows.
    code: &'static str,
    /// Letters that another value follows.
    valued: &'static str,
    /// Its flags count behind its other words, too.
    anywhere: bool,
}

impl Runner {
    fn of(name: &str) -> Self {
        let (code, valued, anywhere) = match name {
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => ("c", "oO", false),
            "python" | "python2" | "python3" => ("c", "WXQ", false),
            "perl" => ("eE", "I", false),
            "ruby" => ("e", "CEIrX", false),
            "node" | "bun" | "deno" => ("ep", "rC", false),
            "php" => ("rBRE", "cdStz", false),
            "lua" => ("e", "l", false),
            "osascript" => ("e", "ls", false),
            "awk" => ("e", "vF", false),
            "ssh" => ("", "BbcDEeFIiJLlmOopQRSWw", false),
            "mysql" | "mariadb" => ("e", "", true),
            _ => ("c", "", true),
        };
        Self {
            code,
            valued,
            anywhere,
        }
    }

    fn takes_code(&self, flag: &str) -> bool {
        let long = ["--command", "--eval", "--execute", "--exec", "-Command"];
        let letters = flag.strip_prefix('-').unwrap_or_default();
        // Behind other flags of a shell its text comes later: `-cm`.
        let ends = if self.valued == "oO" {
            letters.contains('c')
        } else {
            letters.ends_with(|letter| self.code.contains(letter))
        };
        long.contains(&flag) || (!letters.starts_with('-') && ends)
    }

    fn takes_value(&self, flag: &str) -> bool {
        let letters = flag.strip_prefix('-').unwrap_or_default();
        !letters.starts_with('-') && letters.ends_with(|letter| self.valued.contains(letter))
    }

    /// How many of the words are neither flags nor their values.
    fn operands(&self, words: &[&Spot]) -> usize {
        let mut is_value = false;
        let operands = words.iter().filter(|word| {
            let is_operand = !is_value && !word.text.starts_with('-');
            is_value = !is_value && self.takes_value(&word.text);
            is_operand
        });
        operands.count()
    }
}

/// A program that takes its input for commands.
fn runs_input(word: &Spot) -> bool {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    RUNNING.contains(&&*name.to_lowercase())
}

/// The whole word is an option of a program that says its words.
fn is_option(program: &str, word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) else {
        return false;
    };
    match program {
        "echo" => letters.chars().all(|c| "neE".contains(c)),
        "printf" => matches!(letters, "v" | "-"),
        _ => letters.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
    }
}

/// The whole word before is a flag that a text follows.
fn takes_text(program: &str, flag: &str) -> bool {
    let known = FLAGS.iter().find(|(name, _, _)| *name == program);
    if flag.starts_with("--") {
        return TEXT_FLAGS.contains(&flag)
            || known.is_some_and(|(_, _, long)| long.contains(&flag));
    }
    let Some(letters) = flag.strip_prefix('-').filter(|it| !it.is_empty()) else {
        return false;
    };
    known
        .is_some_and(|(_, short, _)| letters.find(|c| short.contains(c)) == Some(letters.len() - 1))
}

/// How long the flag is that this word begins with, if a text follows in the same word.
fn attached(program: &str, word: &str) -> Option<usize> {
    if let Some((flag, _)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return takes_text(program, flag).then_some(flag.len() + 1);
    }
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
    let (_, short, _) = FLAGS.iter().find(|(name, _, _)| *name == program)?;
    let at = letters.find(|c: char| !c.is_ascii_alphabetic() || short.contains(c))?;
    let ends = letters.get(at..)?.chars().next()?;
    (short.contains(ends) && letters.len() > at + 1).then_some(at + 2)
}

/// Quotes around a text stay.
fn inside(command: &str, piece: Range<usize>) -> Range<usize> {
    let raw = command.get(piece.clone()).unwrap_or_default();
    for quote in ['\'', '"'] {
        let inner = raw
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if inner.is_some_and(|inner| !inner.contains(quote)) {
            return piece.start + 1..piece.end - 1;
        }
    }
    piece
}

/// Texts beside each other are one.
fn joined(command: &str, pieces: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        match joined.last_mut() {
            Some(last) if piece.start < last.end => {}
            Some(last)
                if command
                    .get(last.end..piece.start)
                    .is_some_and(|gap| gap.chars().all(|c| c == ' ')) =>
            {
                last.end = piece.end;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

#[cfg(test)]
mod tests;
