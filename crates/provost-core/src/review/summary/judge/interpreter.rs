//! Shells and other interpreters: what they run comes from an argument, a file or their input.

use super::{
    Judge, Risk, Risks, Word,
    args::{is_flag, is_long},
};

const SHELLS: [&str; 9] = [
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash",
];
/// Name and the flags after which a program's text stands.
const LANGUAGES: [(&str, &[&str]); 14] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("osascript", &["-e"]),
    ("pwsh", &["-c", "-command", "-encodedcommand", "-enc", "-e"]),
    (
        "powershell",
        &["-c", "-command", "-encodedcommand", "-enc", "-e"],
    ),
    ("tclsh", &[]),
];
/// Flags with which an interpreter only tells about itself.
const TELLING: [&str; 2] = ["--version", "--help"];
/// The same, or a module to run, for other interpreters than shells.
const TELLING_OR_MODULE: [&str; 4] = ["-V", "-h", "-m", "-version"];

fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Whether its input is taken for shell commands.
pub(super) fn reads_commands(name: &str) -> bool {
    is_shell(name) || matches!(name, "ssh" | "su")
}

pub(super) fn risks(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    match name {
        _ if is_shell(name) => shell(judge, args),
        "su" => texts_after(judge, args, &["-c", "--command", "--session-command"]),
        "env" => split_strings(judge, args),
        "eval" => joined(judge, args),
        "trap" | "alias" => aliased(judge, args),
        "source" | "." => sourced(args),
        _ => language(judge, name, args),
    }
}

/// `sh -c text`, `sh file`, or `sh` that reads its input.
fn shell(judge: &Judge, args: &[Word]) -> Risks {
    let command = args.iter().position(|word| {
        is_flag(&word.text) && !word.text.starts_with("--") && word.text.contains('c')
    });
    if let Some(at) = command {
        return shell_texts(judge, args.get(at + 1..).unwrap_or_default());
    }
    if reads_input(args, &TELLING) {
        return input(judge);
    }
    sourced(args)
}

/// What it reads is in the command, and then it is a text like another; or it comes from elsewhere.
fn input(judge: &Judge) -> Risks {
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
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let Some((_, flags)) = LANGUAGES.iter().find(|language| language.0 == bare) else {
        return Risks::new();
    };
    let leading = args.iter().take_while(|word| is_flag(&word.text));
    let exact = |word: &Word| flags.contains(&word.text.to_lowercase().as_str());
    if args.iter().any(exact) || leading.clone().any(|word| glued(&word.text, flags)) {
        return Risks::from([Risk::RunsText]);
    }
    let telling = [TELLING.as_slice(), &TELLING_OR_MODULE].concat();
    // For Python `-v` says more while it reads its input.
    let version = bare != "python" && leading.clone().any(|word| word.text == "-v");
    if !version && reads_input(args, &telling) {
        return input(judge);
    }
    sourced(args)
}

/// `-ccode` and `-ne code`: the flag among others, or with its value.
fn glued(word: &str, flags: &[&str]) -> bool {
    let mut letters = flags.iter().filter_map(|flag| flag.strip_prefix('-'));
    !word.starts_with("--") && letters.any(|letter| letter.len() == 1 && word.contains(letter))
}

/// No file to run is named.
fn reads_input(args: &[Word], telling: &[&str]) -> bool {
    let leading = args.iter().take_while(|word| is_flag(&word.text));
    let mut flags = leading.map(|word| word.text.as_str());
    if flags.clone().any(|flag| telling.contains(&flag)) {
        return false;
    }
    let program = args.iter().find(|word| !is_flag(&word.text));
    program.is_none_or(|word| matches!(word.text.as_str(), "-" | "/dev/stdin"))
        || flags.any(|flag| flag == "-s")
}

/// A file that a command writes as it is read: `bash <(curl …)`.
fn sourced(args: &[Word]) -> Risks {
    match args.iter().find(|word| !is_flag(&word.text)) {
        Some(file) if !file.inner.is_empty() => Risks::from([Risk::PipesToShell]),
        Some(file) if file.text == "/dev/stdin" => Risks::from([Risk::PipesToShell]),
        _ => Risks::new(),
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
