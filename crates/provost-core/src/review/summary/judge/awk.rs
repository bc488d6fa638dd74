//! Programs of awk. It starts other programs and writes files; what may do so is marked, and flags that are not
//! known are not understood.

use super::{Risk, Risks, Word};

#[derive(Debug, Default)]
pub(super) struct Awk {
    pub(super) risks: Risks,
    /// Files that its program writes, where they are plain to see.
    pub(super) writes: Vec<String>,
}

const VALUED: &str = "Fv";
const PLAIN: &str = "bcCgkMnNOPrsStV";
const LONG: [&str; 6] = [
    "--field-separator",
    "--assign",
    "--posix",
    "--csv",
    "--version",
    "--sandbox",
];

pub(super) fn read(args: &[Word]) -> Awk {
    let mut awk = Awk::default();
    if let Some(text) = program(args) {
        judge(text, &mut awk);
    } else {
        awk.risks.insert(Risk::Unreadable);
        // Where the program stands is not known, so any word may be it.
        for word in args {
            judge(&word.text, &mut awk);
        }
    }
    awk
}

/// The first word that is no flag. `None` behind a flag that is not known.
fn program(args: &[Word]) -> Option<&str> {
    let mut words = args.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        if word == "--" {
            return words.next();
        }
        let Some(flag) = word.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            return Some(word);
        };
        if flag.starts_with('-') {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            let valued = matches!(name, "--field-separator" | "--assign");
            if !LONG.contains(&name) {
                return None;
            }
            if valued && !word.contains('=') {
                words.next();
            }
            continue;
        }
        let value = flag.find(|c| !PLAIN.contains(c));
        match value.and_then(|at| flag.get(at..)) {
            Some(rest) if !rest.starts_with(|c| VALUED.contains(c)) => return None,
            Some(rest) if rest.len() == 1 => {
                words.next();
            }
            _ => {}
        }
    }
    // It only tells about itself.
    Some("")
}

fn judge(program: &str, awk: &mut Awk) {
    // An `@` calls a function by a name that is computed, or loads code.
    let runs = ["system", "getline", "@", "\\\n"]
        .iter()
        .any(|it| program.contains(it))
        || program.replace("||", "").contains('|');
    if runs {
        awk.risks.insert(Risk::RunsText);
    }
    let mut rest = program;
    while let Some((_, after)) = rest.split_once("print") {
        rest = after;
        let Some((_, target)) = statement(after).split_once('>') else {
            continue;
        };
        awk.risks.insert(Risk::Unreadable);
        let target = target.trim_start_matches(['>', ' ']);
        if let Some((file, _)) = target.strip_prefix('"').and_then(|it| it.split_once('"')) {
            awk.writes.push(file.to_owned());
        }
    }
}

/// Up to where the statement ends; in what may be a text or a pattern that is not to be seen.
fn statement(text: &str) -> &str {
    let end = text.find([';', '}', '\n']).unwrap_or(text.len());
    let statement = text.get(..end).unwrap_or_default();
    if statement.contains(['"', '/']) {
        // Texts that hold no end of a statement, and close, change nothing.
        let even = |c: char| statement.matches(c).count().is_multiple_of(2);
        if even('"') && !statement.contains('/') && !statement.contains('\\') {
            return statement;
        }
        return text;
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awk(words: &[&str]) -> Awk {
        let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
        read(&words)
    }

    #[test]
    fn p19_programs_that_only_print_are_plain() {
        for words in [
            &["{print $1}", "x"][..],
            &["-F:", "{ print $1 }", "x"],
            &["-F", ":", "-v", "x=1", "{ if ($1 > 2) print $2 }", "x"],
            &["$1 > 2 || $2", "x"],
            &["{print \"a\", $1; n++} $2 > 3 {print}", "x"],
            &["--version"],
        ] {
            let found = awk(words);
            assert!(
                found.risks.is_empty() && found.writes.is_empty(),
                "{words:?} {found:?}"
            );
        }
        for words in [
            &["BEGIN{print 1 > \"/path\"}"][..],
            &["BEGIN{print \";\" > \"/path\"}"],
            &["BEGIN{printf \"x\" >> \"/path\"}"],
        ] {
            assert_eq!(awk(words).writes, ["/path"], "{words:?}");
            assert!(awk(words).risks.contains(&Risk::Unreadable), "{words:?}");
        }
        for words in [
            &["BEGIN{f=\"sys\" \"tem\"; @f(\"evil\")}"][..],
            &["@load \"x\""],
            &["{print | \"sh\"}"],
            &["BEGIN{\"evil\" | getline}"],
        ] {
            assert!(awk(words).risks.contains(&Risk::RunsText), "{words:?}");
        }
        for words in [
            &["-f", "x"][..],
            &["-e", "{print}"],
            &["-i", "x", "{print}"],
            &["--load=x", "{print}"],
            &["-W", "exec", "x"],
            &["-o/etc/x", "{print}"],
        ] {
            assert!(awk(words).risks.contains(&Risk::Unreadable), "{words:?}");
        }
    }
}
