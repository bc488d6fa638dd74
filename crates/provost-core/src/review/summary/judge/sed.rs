//! Scripts of sed. What is read to its end is known to run nothing; anything else is not understood.

use super::{Risk, Risks, Word};

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
    let call = Call::of(args);
    if !call.understood {
        sed.risks.insert(Risk::Unreadable);
    }
    let script = call.scripts.join("\n");
    let mut reader = Reader::new(&script);
    if reader.script().is_none() {
        sed.risks.insert(Risk::Unreadable);
    }
    if reader.runs {
        sed.risks.insert(Risk::RunsText);
    }
    sed.writes = reader.writes;
    if call.in_place {
        let backups = call.files.iter().map(|file| backup(file, call.suffix));
        sed.in_place = backups.collect();
        sed.in_place
            .extend(call.files.into_iter().map(str::to_owned));
        sed.in_place.dedup();
    }
    sed
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

/// The files that it reads, and whether these are all.
pub(super) fn files(args: &[Word]) -> (Vec<String>, bool) {
    let call = Call::of(args);
    let script = call.scripts.join("\n");
    let mut reader = Reader::new(&script);
    let sure = reader.script().is_some() && call.understood;
    let mut files = reader.reads;
    files.extend(call.inputs.into_iter().map(str::to_owned));
    (files, sure)
}

#[derive(Debug, Default)]
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
    fn of(args: &'a [Word]) -> Self {
        let mut call = Self {
            understood: true,
            ..Self::default()
        };
        let (mut operands, mut given) = (Vec::new(), false);
        let mut words = args.iter().map(|word| word.text.as_str());
        while let Some(word) = words.next() {
            if word == "--" {
                let rest: Vec<&str> = words.by_ref().collect();
                call.inputs.extend(&rest);
                operands.extend(rest);
            } else if let Some(flag) = word.strip_prefix("--") {
                given |= call.long(flag, &mut words);
            } else if word.len() > 1 && word.starts_with('-') {
                // Some take what stands first for the script even so, and the script for a file.
                call.scripts.append(&mut operands);
                given |= call.short(word.get(1..).unwrap_or_default(), &mut words);
            } else {
                operands.push(word);
                call.inputs.push(word);
            }
        }
        if !given && !call.inputs.is_empty() {
            call.inputs.remove(0);
        }
        let mut operands = operands.into_iter();
        // BSD's `-i ''`: the word behind it is no script yet.
        let suffix = call.in_place && !given;
        if !given {
            let first = operands.next();
            call.scripts.extend(first);
            if suffix && first.is_some_and(|text| text.is_empty() || text.starts_with('.')) {
                call.scripts.retain(|text| Some(*text) != first);
                call.scripts.extend(operands.next());
            }
        }
        call.files = operands.collect();
        call
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
mod tests {
    use super::*;

    fn sed(words: &[&str]) -> Sed {
        let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
        read(&words)
    }

    #[test]
    fn p19_only_scripts_that_are_read_to_their_end_are_plain() {
        for words in [
            &["s/a/b/g", "x"][..],
            &["-n", "1,5p", "x"],
            &["s/one/three/", "x"],
            &["-i", "s/a/e/", "x"],
            &["-i", "", "s/a/b/", "x"],
            &["-ne", "/re/I,/[x]y/{=;p}", "x"],
            &["--expr=s|a|b|", "x"],
            &["-E", "s/(a|b)/[\\1]/2;y/ab/cd/;$!N;ba", "x"],
            &["/x/a some text; e evil", "x"],
            &["1~2d;\\,x,d", "x"],
            &["/^$/d", "x"],
            &["a foo\\\ne evil", "x"],
        ] {
            let found = sed(words);
            assert!(
                found.risks.is_empty() && found.writes.is_empty(),
                "{words:?} {found:?}"
            );
        }
        for words in [
            &["1e", "x"][..],
            &["s/a/b/e", "x"],
            &["-e", "s/a/b/ge", "x"],
            &["/x/e evil", "x"],
            &["1~2e evil", "x"],
            &["\\,x,e", "x"],
            &["--exp=e evil", "x"],
            &["-n", "p", "-e", "e evil"],
            &["e evil", "-n", "x"],
            &["-i", "", "e evil", "x"],
            &["{;e evil\n}", "x"],
            &["a foo\\\\\ne evil", "x"],
        ] {
            assert!(sed(words).risks.contains(&Risk::RunsText), "{words:?}");
        }
        for words in [
            &["-f", "x"][..],
            &["-nf", "x"],
            &["--file=x"],
            &["--what", "p"],
            &["-l", "p", "e evil", "x"],
            &["--line-length", "p", "e evil", "x"],
            &["s/a/b", "x"],
            &["v;p", "x"],
            &["s/[/]/b/;e evil #/", "x"],
        ] {
            assert!(sed(words).risks.contains(&Risk::Unreadable), "{words:?}");
        }
        for words in [
            &["s/x/y/w/etc/x"][..],
            &["w /etc/x"],
            &["-n", "p", "-e", "w/etc/x"],
        ] {
            assert_eq!(sed(words).writes, ["/etc/x"], "{words:?}");
        }
    }
}
