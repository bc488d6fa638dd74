//! Flags by which programs that look harmless run others.

use super::{Word, args::is_long};

/// A program, and the flags by which it runs another, or takes its own code from elsewhere.
struct Running {
    programs: &'static [&'static str],
    /// Letters, alone, among others, or with a value glued on.
    short: &'static str,
    /// Letters behind which a value stands, and no further letters.
    valued: &'static str,
    /// Long flags, which may be cut short; flags with one dash; and `NAME=` with its value.
    long: &'static [&'static str],
}

const fn running(
    programs: &'static [&'static str],
    short: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> Running {
    Running {
        programs,
        short,
        valued,
        long,
    }
}

const RUNNING: [Running; 20] = [
    running(&["rg"], "", "", &["--pre", "--hostname-bin"]),
    running(&["sort"], "", "", &["--compress-program"]),
    running(
        &["tar", "bsdtar", "gtar"],
        "IF",
        "fCTXbgHKLNV",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    running(&["split"], "", "", &["--filter"]),
    running(&["rsync"], "e", "BfMT", &["--rsh", "--rsync-path"]),
    running(&["scp", "sftp"], "SoF", "cDiJlPX", &[]),
    running(&["ssh"], "oF", "BbcDEeIiJLlmOpQRSWw", &[]),
    running(&["zip"], "", "", &["-TT", "--unzip-command"]),
    running(&["man"], "PH", "CmMSeEL", &["--pager", "--html"]),
    running(&["vim", "vi", "nvim", "ex", "view"], "cSu", "", &["--cmd"]),
    running(
        &["wget"],
        "e",
        "OPoatTUQwiB",
        &["--use-askpass", "--execute"],
    ),
    running(
        &["make", "gmake"],
        "fCEI",
        "jloW",
        &[
            "--eval",
            "--file",
            "--makefile",
            "--directory",
            "--include-dir",
            "SHELL=",
            ".SHELLFLAGS=",
            "MAKEFLAGS=",
        ],
    ),
    running(
        &["go"],
        "",
        "",
        &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
            "-overlay",
            "--overlay",
            "-modfile",
            "--modfile",
        ],
    ),
    running(
        &["npm", "pnpm", "yarn", "bun"],
        "C",
        "w",
        &[
            "--script-shell",
            "--node-options",
            "--prefix",
            "--dir",
            "--cwd",
            "--userconfig",
            "--globalconfig",
        ],
    ),
    running(&["cargo"], "CZ", "jpF", &["--config", "--manifest-path"]),
    running(
        &["pytest", "py.test"],
        "pco",
        "kmnrW",
        &[
            "--rootdir",
            "--override-ini",
            "--confcutdir",
            "--config-file",
        ],
    ),
    running(
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        "B",
        "DILUWOfmdghlosxXTuwnepritEScMv",
        &[
            "-wrapper", "-specs", "--specs", "-fplugin", "--plugin", "--prefix", "-load",
        ],
    ),
    running(&["sqlite3"], "", "", &["-cmd", "--cmd", "-init", "--init"]),
    running(&["psql"], "f", "cdhpUvFPRToL", &["--file"]),
    running(
        &["node", "nodejs"],
        "r",
        "",
        &["--require", "--import", "--loader"],
    ),
];

pub(super) fn run_programs(name: &str, args: &[Word]) -> bool {
    let flags = RUNNING.iter().find(|it| it.programs.contains(&name));
    let flagged = flags.is_some_and(|flags| args.iter().any(|word| flags.begin(&word.text)));
    flagged || words_run_programs(name, args)
}

impl Running {
    fn begin(&self, word: &str) -> bool {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let long = |long: &&str| match long.strip_suffix('=') {
            Some(variable) => defines(word).is_some_and(|(name, _)| name == variable),
            // npm takes off as many dashes as there are, and takes the beginning of a name.
            None if self.programs.contains(&"npm") => {
                let bare = name.trim_start_matches('-');
                bare.len() < name.len()
                    && bare.len() > 1
                    && long.trim_start_matches('-').starts_with(bare)
            }
            // `-fplugin=…`: what stands behind one dash is not cut short.
            None => is_long(name, long),
        };
        if self.long.iter().any(long) {
            return true;
        }
        let Some(letters) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
            return false;
        };
        let letters = letters.split(|c| self.valued.contains(c)).next();
        letters.is_some_and(|letters| letters.contains(|c| self.short.contains(c)))
    }
}

/// What make takes for a definition: `X=1`, `X := 1`, `X != date`. Its name, and its operator with its value.
fn defines(word: &str) -> Option<(&str, &str)> {
    let (name, _) = word.split_once('=').filter(|_| !word.starts_with('-'))?;
    let bare = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    Some((
        bare.trim_start(),
        word.get(bare.len()..).unwrap_or_default(),
    ))
}

/// A definition whose value make runs, or expands.
fn runs_definition(word: &str) -> bool {
    defines(word).is_some_and(|(_, rest)| rest.contains(['$', '`']) || rest.contains("!="))
}

/// Words in which a program takes commands of its own language.
fn words_run_programs(name: &str, args: &[Word]) -> bool {
    let any = |is: &dyn Fn(&str) -> bool| args.iter().any(|word| is(&word.text));
    match name {
        "make" | "gmake" => any(&runs_definition),
        // A bundle of letters without a dash.
        "tar" | "bsdtar" | "gtar" => args.first().is_some_and(|word| {
            !word.text.contains(['/', '-', '.']) && word.text.contains(['I', 'F'])
        }),
        "vim" | "vi" | "nvim" | "ex" | "view" | "less" | "more" => {
            any(&|word| word.starts_with('+'))
        }
        "sqlite3" => any(&|word| {
            let word = word.trim_start().to_lowercase();
            word.starts_with('.')
                || word.contains("\n.")
                || ["load_extension", "writefile", "edit("]
                    .iter()
                    .any(|it| word.contains(it))
        }),
        "psql" | "mysql" | "mariadb" => {
            any(&|word| word.contains('\\') || word.to_lowercase().contains("program"))
        }
        "rustc" => any(&|word| word.contains("linker=") || word.starts_with("-Z")),
        _ if name.starts_with("python") => {
            let module = args.iter().position(|word| word.text == "-m");
            let module = module.and_then(|at| args.get(at + 1..)).unwrap_or_default();
            module
                .split_first()
                .is_some_and(|(name, args)| run_programs(&name.text, args))
        }
        _ => false,
    }
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
            "vim +!evil",
            "rsync -ae evil a b",
            "tar -F evil -cf x y",
            "tar -cIevil -f x y",
            "tar xIf evil x",
            "go test -exec evil",
            "go test -toolexec=evil ./...",
            "go vet -vettool=evil",
            "npm test --script-shell=evil",
            "npm test --script-s evil",
            "npm --prefix /tmp/evil test",
            "npm test -script-shell=evil",
            "npm test ---node-options=--require=evil",
            "npm test -script-s=evil",
            "make SHELL=/tmp/evil test",
            "make X!=evil",
            "gcc -c x.c --plugin=./evil.so",
            "gcc -c x.c --prefix=./pre/",
            "make -f evil.mk",
            "make -sC /tmp/evil",
            "cargo test --config evil",
            "cargo --manifest-path=/tmp/x test",
            "pytest -p evil",
            "pytest -qc evil",
            "python3 -m pytest -p evil",
            "gcc -fplugin=evil x.c",
            "gcc -wrapper evil x.c",
            "sqlite3 x .shell",
            "psql -c \\!evil",
        ] {
            assert!(runs(command), "{command}");
        }
        for command in [
            "rg -n x",
            "sort -n x",
            "tar -czf x y",
            "rsync -av a b",
            "ls -e",
            "make -j4 test",
            "make test CFLAGS=-O2",
            "go test -run X ./...",
            "npm test -- --watch",
            "cargo test -p x --lib",
            "pytest -q -k x",
            "gcc -O2 -c x.c",
            "psql -c SELECT",
            "tar xzf x",
        ] {
            assert!(!runs(command), "{command}");
        }
    }
}
