//! Flags by which programs that look harmless run others.

use super::{Word, args::is_flag};

/// The program, and the flags after which, or glued to which, the name of another stands.
const RUNNING: [(&str, &[&str]); 18] = [
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "--rsh-command",
        ],
    ),
    ("bsdtar", &["--use-compress-program"]),
    ("split", &["--filter"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o"]),
    ("sftp", &["-S", "-o"]),
    ("ssh", &["-o"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("vim", &["-c", "--cmd", "-S", "+"]),
    ("vi", &["-c", "-S", "+"]),
    ("nvim", &["-c", "--cmd", "-S", "+"]),
    ("ex", &["-c", "-S", "+"]),
    ("less", &["+"]),
    ("wget", &["--use-askpass", "--execute", "-e"]),
    ("make", &["--eval"]),
];

pub(super) fn run_programs(name: &str, args: &[Word]) -> bool {
    let flags = RUNNING.iter().find(|(program, _)| *program == name);
    let flagged = flags.is_some_and(|(_, flags)| {
        let begins = |word: &Word| flags.iter().any(|flag| begins(&word.text, flag));
        args.iter().any(begins)
    });
    flagged || (matches!(name, "sed" | "gsed") && args.iter().any(|word| runs_in_sed(&word.text)))
}

fn begins(word: &str, flag: &str) -> bool {
    if flag.starts_with("--") {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        return name.len() > 4 && name.starts_with("--") && flag.starts_with(name);
    }
    word.starts_with(flag)
}

/// GNU's `e`: alone, after an address, or as a flag of `s///`. Rather too often than too rarely.
fn runs_in_sed(script: &str) -> bool {
    if is_flag(script) {
        return script.starts_with("-e") && runs_in_sed(script.get(2..).unwrap_or_default())
            || script.starts_with("--expression=")
                && runs_in_sed(script.get(13..).unwrap_or_default());
    }
    let command = |text: &str| {
        let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || " \t$,!{".contains(c));
        let rest = text.strip_prefix('e');
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.'))
    };
    let flagged = |text: &str| {
        let substitutes = text.contains('s') && text.len() > 3;
        let flags = text.trim_end().trim_end_matches('}');
        let kept = flags.trim_end_matches(|c: char| c.is_ascii_digit() || "gpIiMmew".contains(c));
        let flags = flags.get(kept.len()..).unwrap_or_default();
        substitutes && flags.contains('e') && kept.ends_with(|c: char| c.is_ascii_punctuation())
    };
    script
        .split([';', '\n', '}'])
        .any(|text| command(text) || flagged(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p19_flags_that_run_programs_are_known() {
        let runs = |command: &str| {
            let mut words = command.split(' ').map(Word::literal);
            let name = words.next().unwrap().text;
            run_programs(&name, &words.collect::<Vec<_>>())
        };
        for command in [
            "rg --pre evil x",
            "rg --pre=evil x",
            "sort --compress-program=evil x",
            "sort --compress-p evil x",
            "tar --checkpoint-action=exec=evil -cf x y",
            "tar -Ievil -cf x y",
            "rsync -e evil a b",
            "ssh -oProxyCommand=evil host",
            "sed 1e x",
            "sed s/a/b/e x",
            "sed -e s/a/b/ge x",
            "vim +!evil",
        ] {
            assert!(runs(command), "{command}");
        }
        for command in [
            "rg -n x",
            "sort -n x",
            "tar -czf x y",
            "rsync -av a b",
            "sed s/a/b/g x",
            "sed -n 1,5p x",
            "sed s/one/three/ x",
            "sed -i s/a/e/ x",
            "ls -e",
        ] {
            assert!(!runs(command), "{command}");
        }
    }
}
