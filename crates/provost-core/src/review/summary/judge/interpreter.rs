//! Shells and other interpreters: what they run comes from an argument, a file or their input.

mod start;

use super::{
    Judge, Risk, Risks, Word,
    args::{is_flag, is_long},
};
use start::{Input, SHELLS, Start};

/// Name and the flags after which a program's text stands.
const LANGUAGES: [(&str, &[&str]); 26] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("php", &["-r", "-B", "-R", "-E"]),
    ("lua", &["-e"]),
    ("osascript", &["-e"]),
    ("pwsh", &["-c", "-command", "-encodedcommand", "-enc", "-e"]),
    (
        "powershell",
        &["-c", "-command", "-encodedcommand", "-enc", "-e"],
    ),
    ("tclsh", &[]),
    ("rscript", &["-e"]),
    ("r", &["-e"]),
    ("julia", &["-e", "-E", "--eval"]),
    ("elixir", &["-e", "--eval"]),
    ("groovy", &["-e"]),
    ("scala", &["-e"]),
    ("ghc", &["-e"]),
    ("ts-node", &["-e", "--eval", "-p", "-pe"]),
    ("tsx", &["-e", "--eval", "-p"]),
    ("octave", &["--eval"]),
    ("expect", &["-c"]),
    ("gdb", &["-ex", "-eval-command", "--eval-command"]),
];
/// Their first word is a subcommand.
const COMMANDED: [&str; 2] = ["deno", "bun"];

fn is_shell(name: &str) -> bool {
    SHELLS.contains(&without_version(name))
}

fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// Whether its input is taken for shell commands.
pub(super) fn reads_commands(name: &str) -> bool {
    is_shell(name) || matches!(name, "ssh" | "su")
}

pub(super) fn risks(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    match name {
        _ if is_shell(name) => shell(judge, without_version(name), args),
        "su" => su(judge, args),
        "env" => split_strings(judge, args),
        "eval" => joined(judge, args),
        "trap" | "alias" => aliased(judge, args),
        "source" | "." => args.iter().flat_map(|word| sourced(judge, word)).collect(),
        _ => language(judge, without_version(name), args),
    }
}

/// `sh -c text`, `sh file`, or `sh` that reads its input.
fn shell(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let mut risks = started(judge, name, args);
    let is_command = |word: &Word| {
        let text = word.text.as_str();
        let letters = text.strip_prefix('+').or_else(|| text.strip_prefix('-'));
        letters.is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
    };
    if let Some(at) = args.iter().position(is_command) {
        let rest = args.get(at + 1..).unwrap_or_default();
        risks.append(&mut shell_texts(judge, rest));
    }
    if name == "fish" {
        let flags = ["-C", "--command", "--init-command"];
        risks.append(&mut texts_after(judge, args, &flags));
    }
    risks
}

/// Without a text it reads commands.
fn su(judge: &Judge, args: &[Word]) -> Risks {
    let flags = ["-c", "--command", "--session-command"];
    let mut risks = texts_after(judge, args, &flags);
    if risks.is_empty() && judge.piped {
        risks.append(&mut input(judge));
    }
    risks
}

/// What an interpreter risks by the place that its program comes from.
fn started(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let Some(start) = Start::of(name, args) else {
        return Risks::new();
    };
    let mut risks = Risks::new();
    let fed = judge.piped && (start.reads || !start.known);
    if start.reads_input() || fed {
        risks.append(&mut input(judge));
    }
    if let Some(file) = start.file {
        risks.append(&mut sourced(judge, file));
    }
    risks
}

/// What it reads is in the command, and then it is a text like another; or it comes from elsewhere.
pub(super) fn input(judge: &Judge) -> Risks {
    Risks::from([if judge.told {
        Risk::RunsText
    } else {
        Risk::PipesToShell
    }])
}

/// The first word after `-c` is the text; if flags stand between, any of the words may be.
fn shell_texts(judge: &Judge, args: &[Word]) -> Risks {
    let sure = args.first().is_some_and(|word| !is_flag(&word.text));
    let readings = if sure { 1 } else { args.len() };
    let texts: Vec<&Word> = args
        .iter()
        .filter(|word| !is_flag(&word.text))
        .take(readings)
        .collect();
    if texts.is_empty() {
        return Risks::from([Risk::Unreadable]);
    }
    texts
        .into_iter()
        .flat_map(|text| judge.text(text))
        .collect()
}

fn language(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let mut risks = started(judge, name, args);
    if COMMANDED.contains(&name) && runs_input(args) {
        risks.append(&mut input(judge));
    }
    let Some((_, flags)) = LANGUAGES.iter().find(|language| language.0 == name) else {
        return risks;
    };
    let mut leading = args.iter().take_while(|word| is_flag(&word.text));
    let exact = |word: &Word| flags.contains(&word.text.to_lowercase().as_str());
    if args.iter().any(exact) || leading.any(|word| glued(&word.text, flags)) {
        risks.insert(Risk::RunsText);
    }
    // Its flags have too many spellings: `-f -`, `-NoP`.
    let odd = matches!(name, "pwsh" | "powershell");
    if odd && (judge.piped || args.is_empty()) {
        risks.append(&mut input(judge));
    }
    risks
}

/// `deno`, `deno repl`, `bun run -`.
fn runs_input(args: &[Word]) -> bool {
    let mut operands = args.iter().filter(|word| !is_flag(&word.text));
    let is_repl = |word: &Word| word.text == "repl" || start::input(&word.text).is_some();
    match args.first() {
        Some(word)
            if matches!(
                word.text.as_str(),
                "--version" | "--help" | "-V" | "-v" | "-h"
            ) =>
        {
            false
        }
        _ => operands.clone().next().is_none() || operands.any(is_repl),
    }
}

/// `-ccode` and `-ne code`: the flag among others, or with its value.
fn glued(word: &str, flags: &[&str]) -> bool {
    let mut letters = flags.iter().filter_map(|flag| flag.strip_prefix('-'));
    !word.starts_with("--") && letters.any(|letter| letter.len() == 1 && word.contains(letter))
}

/// A file that a command writes as it is read: `bash <(curl …)`. Its name may turn out to be the input.
fn sourced(judge: &Judge, file: &Word) -> Risks {
    let is_open = judge.piped && (file.computed || file.pattern);
    match start::input(&file.text) {
        Some(Input::Own) => input(judge),
        Some(Input::Other) => Risks::from([Risk::PipesToShell]),
        None if !file.inner.is_empty() || is_open => Risks::from([Risk::PipesToShell]),
        None => Risks::new(),
    }
}

/// The texts behind these flags are commands for a shell.
pub(super) fn texts_after(judge: &Judge, args: &[Word], flags: &[&str]) -> Risks {
    let texts = values_of(args, flags).into_iter();
    texts
        .flat_map(|(text, computed, _)| {
            judge.text(&Word {
                computed,
                ..Word::literal(text)
            })
        })
        .collect()
}

/// What may be the values of these flags: the text, whether it is computed, and the words behind it.
fn values_of<'a>(args: &'a [Word], flags: &[&str]) -> Vec<(&'a str, bool, &'a [Word])> {
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let after = args.get(at + 1..).unwrap_or_default();
        let asked = flags.iter().any(|name| asks_for(&word.text, name));
        if let Some((text, after)) = after.split_first().filter(|_| asked) {
            found.push((text.text.as_str(), text.computed, after));
        }
        let glued = flags.iter().find_map(|flag| glued_value(&word.text, flag));
        if let Some(text) = glued.filter(|text| !text.is_empty()) {
            found.push((text, word.computed, after));
        }
    }
    found
}

/// `env -S text`: the words of the text stand before the others, and are flags, variables and a program as those are.
fn split_strings(judge: &Judge, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    for (text, computed, after) in values_of(args, &["-S", "--split-string"]) {
        risks.insert(Risk::RunsText);
        let Some(words) = split(text).filter(|_| !computed) else {
            risks.insert(Risk::Unreadable);
            risks.append(&mut judge.text(&Word::literal(text)));
            continue;
        };
        let words = ["env"].into_iter().chain(words).map(Word::literal);
        let words: Vec<Word> = words.chain(after.iter().map(Word::unread)).collect();
        risks.append(&mut judge.inner(&words));
    }
    risks
}

/// The words as `env` tells them apart. `None` where it reads more than blanks: quotes, escapes, variables, comments.
fn split(text: &str) -> Option<Vec<&str>> {
    let is_plain = !text.contains(['\\', '$', '\'', '"', '#']);
    let words = text.split([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    is_plain.then(|| words.filter(|word| !word.is_empty()).collect())
}

/// The flag alone, cut short, or as the last of several letters: `-lc`.
fn asks_for(word: &str, flag: &str) -> bool {
    if flag.starts_with("--") {
        return is_long(word, flag);
    }
    let letter = flag.strip_prefix('-').unwrap_or(flag);
    is_flag(word) && !word.starts_with("--") && word.ends_with(letter)
}

/// `-ctext`, `-lctext`, `--command=text`, `--comm=text`.
fn glued_value<'a>(word: &'a str, flag: &str) -> Option<&'a str> {
    if flag.starts_with("--") {
        let (name, value) = word.split_once('=')?;
        return is_long(name, flag).then_some(value);
    }
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
    let (_, value) = letters.split_once(flag.strip_prefix('-')?)?;
    Some(value.trim_start_matches('='))
}

/// All the words are one text.
pub(super) fn joined(judge: &Judge, args: &[Word]) -> Risks {
    if args.is_empty() {
        return Risks::new();
    }
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    judge.text(&Word {
        text: texts.join(" "),
        computed: args.iter().any(|word| word.computed),
        ..Word::default()
    })
}

/// `trap text SIGNAL`, `alias name=text`.
fn aliased(judge: &Judge, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    for word in args {
        let text = word
            .text
            .split_once('=')
            .map_or(word.text.as_str(), |(_, text)| text);
        let text = Word {
            text: text.to_owned(),
            computed: word.computed,
            ..Word::default()
        };
        risks.append(&mut judge.text(&text));
    }
    risks
}
