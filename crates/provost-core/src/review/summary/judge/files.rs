//! The files that the words of a program name: those it reads. What a program reads beyond its words is not
//! known.

/// Every word that is no flag is a file.
const READERS: [&str; 30] = [
    "cat",
    "tac",
    "head",
    "tail",
    "less",
    "more",
    "wc",
    "nl",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "base64",
    "sort",
    "uniq",
    "cut",
    "diff",
    "cmp",
    "file",
    "stat",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "source",
    ".",
    "bat",
    "zcat",
    "paste",
    "comm",
];
/// The first word is what they look for or do.
const SEARCHERS: [&str; 10] = [
    "grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "gawk", "jq", "yq",
];

pub(super) fn read(name: &str, args: &[String]) -> Vec<String> {
    let operands = || {
        args.iter()
            .filter(|word| !word.starts_with('-') || *word == "-")
    };
    let files: Vec<&String> = match name {
        _ if READERS.contains(&name) => operands().collect(),
        _ if SEARCHERS.contains(&name) => operands().skip(1).collect(),
        "cp" | "mv" | "ln" | "install" | "scp" | "rsync" => {
            let count = operands().count();
            operands().take(count.saturating_sub(1)).collect()
        }
        "curl" => return uploaded(args),
        _ => Vec::new(),
    };
    files.into_iter().cloned().collect()
}

/// `-d @file`, `-F x=@file`, `-T file`.
fn uploaded(args: &[String]) -> Vec<String> {
    let mut files: Vec<String> = args
        .iter()
        .filter_map(|word| word.split_once('@'))
        .filter(|(before, file)| {
            let flag = before.is_empty() || before.ends_with('=') || before.starts_with('-');
            flag && !file.is_empty()
        })
        .map(|(_, file)| file.to_owned())
        .collect();
    for (flag, file) in args.iter().zip(args.iter().skip(1)) {
        if matches!(flag.as_str(), "-T" | "--upload-file") {
            files.push(file.clone());
        }
    }
    files
}
