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

/// The files that it reads, and whether these are all: a program may change its own list of them.
pub(super) fn files(args: &[Word]) -> (Vec<String>, bool) {
    let mut words = args.iter().map(|word| word.text.as_str());
    let program = next_program(&mut words);
    let sure = program.is_some_and(|text| !text.contains("ARG") && !text.contains("getline"));
    let files = match program {
        Some(_) => words.map(str::to_owned).collect(),
        None => args.iter().map(|word| word.text.clone()).collect(),
    };
    (files, sure)
}

fn program(args: &[Word]) -> Option<&str> {
    next_program(&mut args.iter().map(|word| word.text.as_str()))
}

/// The first word that is no flag. `None` behind a flag that is not known.
fn next_program<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
    // Statements go on over lines, so that any of these may be where it prints to.
    let Some((_, printed)) = program.split_once("print") else {
        return;
    };
    for target in printed.split('>').skip(1) {
        awk.risks.insert(Risk::Unreadable);
        let text = target.trim_start().strip_prefix('"');
        if let Some((file, _)) = text.and_then(|text| text.split_once('"')) {
            awk.writes.push(file.to_owned());
        }
    }
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
            &["$2 > 3 {print \"a\", $1; n++}", "x"],
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
            &["BEGIN{print 1,\n\"evil\" > \"/path\"}"],
            &["BEGIN{print 1 &&\n2 > \"/path\"}"],
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
