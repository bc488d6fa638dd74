//! Scripts of sed. What is read to its end is known to run nothing; anything else is not understood.

use super::{Risk, Risks, Word, options::Order};

/// What the words of a call of sed say.
#[derive(Debug, Default)]
pub(super) struct Sed {
    pub(super) risks: Risks,
    /// Files that its scripts write.
    pub(super) writes: Vec<String>,
    /// Files that it changes in place.
    pub(super) in_place: Vec<String>,
}

/// Flags without a value, and long ones.
const PLAIN: &str = "nErsuzba";
const LONG: [&str; 13] = [
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--separate",
    "--unbuffered",
    "--null-data",
    "--zero-terminated",
    "--posix",
    "--debug",
    "--sandbox",
    "--follow-symlinks",
    "--binary",
    "--version",
];

pub(super) fn read(args: &[Word]) -> Sed {
    let mut sed = Sed::default();
    for call in Call::readings(args) {
        sed.add(call);
    }
    sed
}

impl Sed {
    fn add(&mut self, call: Call<'_>) {
        if !call.understood {
            self.risks.insert(Risk::Unreadable);
        }
        let script = call.scripts.join("\n");
        let mut reader = Reader::new(&script);
        if reader.script().is_none() {
            self.risks.insert(Risk::Unreadable);
        }
        if reader.runs {
            self.risks.insert(Risk::RunsText);
        }
        self.writes.append(&mut reader.writes);
        if call.in_place {
            let backups = call.files.iter().map(|file| backup(file, call.suffix));
            let files = call.files.iter().map(|file| (*file).to_owned());
            for file in backups.chain(files) {
                if !self.in_place.contains(&file) {
                    self.in_place.push(file);
                }
            }
        }
    }
}

/// Where GNU's sed keeps the file as it was: the suffix stands behind its name, or its name where the suffix has a
/// `*`, and a suffix with a `/` leads into another folder.
fn backup(file: &str, suffix: &str) -> String {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let kept = if suffix.contains('*') {
        suffix.replace('*', name)
    } else {
        format!("{name}{suffix}")
    };
    if kept.contains('/') || !file.contains('/') {
        kept
    } else {
        format!("{folder}/{kept}")
    }
}

/// A word behind `-i` that BSD's sed takes for the suffix, and that is no script.
fn is_suffix(word: &str) -> bool {
    word.is_empty() || word.starts_with('.')
}

/// No script, or one only because a name may begin with the letter of a command that takes any text.
fn is_file_rather(word: &str) -> bool {
    let is_name = word.starts_with(['a', 'i', 'c']) && !word.contains(['\\', ' ', '\n']);
    is_name || Reader::new(word).script().is_none()
}

/// The files that it reads, and whether these are all.
pub(super) fn files(args: &[Word]) -> (Vec<String>, bool) {
    let (mut files, mut sure) = (Vec::new(), true);
    for call in Call::readings(args) {
        let script = call.scripts.join("\n");
        let mut reader = Reader::new(&script);
        sure &= reader.script().is_some() && call.understood;
        files.append(&mut reader.reads);
        for file in call.inputs {
            if !files.iter().any(|known| known == file) {
                files.push(file.to_owned());
            }
        }
    }
    (files, sure)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Call<'a> {
    scripts: Vec<&'a str>,
    /// Every word that may be a file to read.
    inputs: Vec<&'a str>,
    files: Vec<&'a str>,
    in_place: bool,
    /// Of the copies that it keeps of the files that it changes.
    suffix: &'a str,
    understood: bool,
}

impl<'a> Call<'a> {
    /// As one sed or another takes the words: to GNU's sed a flag may stand behind files, to BSD's it is a file there. The scripts of the readings are never joined: the text of `a\` in one
    /// would hide the commands of another.
    fn readings(args: &'a [Word]) -> Vec<Self> {
        let mut readings = vec![
            Self::of(args, Order::Anywhere),
            Self::of(args, Order::First),
        ];
        readings.dedup();
        readings
    }

    fn of(args: &'a [Word], order: Order) -> Self {
        let mut call = Self {
            understood: true,
            ..Self::default()
        };
        let (mut operands, mut given) = (Vec::new(), false);
        let mut words = args.iter().map(|word| word.text.as_str()).peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                operands.extend(words.by_ref());
            } else if let Some(flag) = word.strip_prefix("--") {
                given |= call.long(flag, &mut words);
            } else if word.len() > 1 && word.starts_with('-') {
                given |= call.short(word.get(1..).unwrap_or_default(), &mut words);
                if order == Order::First && call.takes_suffix(word) {
                    call.suffix = words.next_if(|word| is_suffix(word)).unwrap_or_default();
                }
            } else {
                operands.push(word);
                if order == Order::First {
                    operands.extend(words.by_ref());
                }
            }
        }
        if given {
            // BSD's `-i ''`, which is no file to GNU's sed.
            operands.retain(|word| !word.is_empty());
        }
        call.inputs.clone_from(&operands);
        if !given && !call.inputs.is_empty() {
            call.inputs.remove(0);
        }
        let begins_empty = operands.first().is_some_and(|word| word.is_empty());
        let mut operands = operands.into_iter();
        let mut script = None;
        if !given {
            // BSD's `-i ''`: the word behind it is no script yet.
            script = operands.find(|word| !(call.in_place && is_suffix(word)));
            call.scripts.extend(script);
        }
        call.files = operands.collect();
        // To GNU's sed the empty word is the script, and the one behind it a file.
        if call.in_place && begins_empty && order == Order::Anywhere {
            let alone = call.files.is_empty();
            let file = script.filter(|word| alone || is_file_rather(word));
            call.files.splice(..0, file);
        }
        call
    }

    /// No suffix is glued to this flag.
    fn takes_suffix(&self, flag: &str) -> bool {
        self.in_place && self.suffix.is_empty() && flag.ends_with('i')
    }

    /// Whether it brings a script.
    fn long(&mut self, flag: &'a str, words: &mut impl Iterator<Item = &'a str>) -> bool {
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        if !name.is_empty() && "expression".starts_with(name) {
            self.scripts.extend(value.or_else(|| words.next()));
            return true;
        }
        if !name.is_empty() && "in-place".starts_with(name) {
            self.in_place = true;
            self.suffix = value.unwrap_or_default();
            return false;
        }
        let known = |long: &&str| long.get(2..).is_some_and(|long| long.starts_with(name));
        self.understood &= !name.is_empty() && LONG.iter().any(known);
        false
    }

    fn short(&mut self, letters: &'a str, words: &mut impl Iterator<Item = &'a str>) -> bool {
        for (at, letter) in letters.char_indices() {
            let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            match letter {
                'e' => {
                    let next = if rest.is_empty() {
                        words.next()
                    } else {
                        Some(rest)
                    };
                    self.scripts.extend(next);
                    return true;
                }
                'i' => {
                    self.in_place = true;
                    self.suffix = rest;
                    return false;
                }
                _ if PLAIN.contains(letter) => {}
                // `-f file`: the script is not in the command.
                _ => {
                    self.understood = false;
                    return letter == 'f';
                }
            }
        }
        false
    }
}

struct Reader<'a> {
    rest: &'a str,
    reads: Vec<String>,
    writes: Vec<String>,
    runs: bool,
}

impl<'a> Reader<'a> {
    fn new(script: &'a str) -> Self {
        Self {
            rest: script,
            reads: Vec::new(),
            writes: Vec::new(),
            runs: false,
        }
    }

    /// `None` where it is not understood.
    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c.is_ascii_whitespace() || c == ';');
            if self.rest.is_empty() {
                return Some(());
            }
            self.address()?;
            self.command()?;
        }
    }

    fn address(&mut self) -> Option<()> {
        while let Some(c) = self.peek() {
            match c {
                '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' => {
                    self.next()?;
                }
                '/' => {
                    self.next()?;
                    self.delimited('/')?;
                    self.skip(|c| matches!(c, 'I' | 'M'));
                }
                '\\' => {
                    self.next()?;
                    let delimiter = self.next().filter(char::is_ascii_punctuation)?;
                    self.delimited(delimiter)?;
                    self.skip(|c| matches!(c, 'I' | 'M'));
                }
                _ => break,
            }
        }
        Some(())
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' | '}' => Some(()),
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' | 'F' => {
                self.end()
            }
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|c| c.is_ascii_digit() || c == ' ');
                self.end()
            }
            's' => self.substitution(),
            'y' => {
                let delimiter = self.next().filter(char::is_ascii_punctuation)?;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
                self.end()
            }
            'a' | 'i' | 'c' => {
                self.text();
                Some(())
            }
            'b' | 't' | 'T' | ':' => {
                self.skip(|c| c == ' ');
                self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            '#' => {
                self.line();
                Some(())
            }
            'r' | 'R' => {
                let file = self.line().trim();
                self.reads.push(file.to_owned());
                Some(())
            }
            'w' | 'W' => {
                self.written();
                Some(())
            }
            'e' => {
                self.runs = true;
                self.line();
                Some(())
            }
            _ => None,
        }
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.next().filter(char::is_ascii_punctuation)?;
        self.delimited(delimiter)?;
        self.delimited(delimiter)?;
        while let Some(c) = self.peek() {
            match c {
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                'e' => self.runs = true,
                'w' => {
                    self.next()?;
                    self.written();
                    return Some(());
                }
                _ => return self.end(),
            }
            self.next()?;
        }
        Some(())
    }

    /// Only what may end a command.
    fn end(&mut self) -> Option<()> {
        self.skip(|c| matches!(c, ' ' | '\t'));
        matches!(self.peek(), None | Some(';' | '\n' | '}' | '#')).then_some(())
    }

    /// Up to the delimiter. Brackets may hold it in some versions, and not in others.
    fn delimited(&mut self, delimiter: char) -> Option<()> {
        let mut bracket = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == delimiter => return (!bracket).then_some(()),
                '[' => bracket = true,
                ']' => bracket = false,
                '\n' => return None,
                _ => {}
            }
        }
    }

    /// The text of `a`, `i` or `c`: the rest of the line, and the next one where a backslash ends it that no
    /// other one escapes.
    fn text(&mut self) {
        loop {
            let line = self.line();
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            if backslashes.is_multiple_of(2) || self.rest.is_empty() {
                return;
            }
        }
    }

    fn written(&mut self) {
        let file = self.line().trim();
        self.writes.push(file.to_owned());
    }

    fn line(&mut self) -> &'a str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn skip(&mut self, which: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(which);
    }
}

#[cfg(test)]
mod tests;
