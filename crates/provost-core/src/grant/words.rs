//! How a command may go on behind the words that somebody approved. It stays the same command: it starts no other
//! program, takes no other subcommand, and writes nothing where the approved words only looked.

use serde_json::{Map, Value};

use crate::review::{self, Facts, Program};

/// Behind these words a word that is no flag is a file, a test or a package, and never another subcommand. Programs
/// that only look at files are known to the reader of commands. What `unittest` is named, it calls, and `mocha init`
/// writes.
const TAKING_TARGETS: [&str; 53] = [
    "npm test",
    "npm run test",
    "npm run lint",
    "pnpm test",
    "pnpm run test",
    "pnpm run lint",
    "yarn test",
    "yarn run test",
    "yarn run lint",
    "bun test",
    "cargo test",
    "cargo nextest run",
    "cargo check",
    "cargo build",
    "cargo clippy",
    "cargo fmt",
    "cargo doc",
    "cargo bench",
    "go test",
    "go build",
    "go vet",
    "go fmt",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "jest",
    "vitest run",
    "eslint",
    "prettier",
    "tsc",
    "mypy",
    "pyright",
    "ruff check",
    "ruff format",
    "black",
    "flake8",
    "pylint",
    "rspec",
    "bundle exec rspec",
    "rubocop",
    "phpunit",
    "dotnet test",
    "dotnet build",
    "git status",
    "git diff",
    "git log",
    "git show",
    "git blame",
    "git grep",
    "git ls-files",
    "git shortlog",
    "git add",
    "git rev-list",
];

/// Flags that choose what is done less of, or how it is told: none of them names something to run, to write or to
/// take away. Behind other flags a program may do anything (`pytest --basetemp=src` empties a folder), so they are
/// asked about. They are known by subcommand: `--bin x` is less to build, and something else to run. A `#` stands for
/// a number that is glued on, and a `*` for any word that is no flag.
const FLAGS: [(&[&str], &str); 19] = [
    (
        &[
            "npm test",
            "npm run *",
            "pnpm test",
            "pnpm run *",
            "yarn test",
            "yarn run *",
            "bun test",
        ],
        "-s --silent",
    ),
    (
        &[
            "cargo test",
            "cargo nextest run",
            "cargo check",
            "cargo build",
            "cargo clippy",
            "cargo fmt",
            "cargo doc",
            "cargo bench",
        ],
        "-q -v -vv -p -j -j# -- --quiet --verbose \
         --no-default-features --features --release --lib --bins --bin --tests --test --examples --example \
         --benches --bench --doc --locked --offline --frozen --no-run --no-fail-fast --keep-going --package --jobs \
         --exact --nocapture --show-output --test-threads --check --no-deps",
    ),
    (
        &["go test", "go vet", "go build", "go fmt"],
        "-v -race -short -run -count -cover -bench -benchtime -timeout -failfast -parallel -skip",
    ),
    (
        &["pytest", "python -m pytest", "python3 -m pytest"],
        "-q -qq -v -vv -vvv -x -s -l -k -m -n -ra -rA -rs -rf --quiet --verbose --exitfirst --maxfail --lf --ff \
         --last-failed --failed-first --sw --stepwise --tb --durations --no-header --no-summary --co \
         --collect-only --showlocals --color",
    ),
    (
        &["python -m unittest", "python3 -m unittest"],
        "-v -q -f -b -k --verbose --quiet --failfast --buffer --locals",
    ),
    (
        &["jest", "vitest run"],
        "-t -i -b --ci --silent --verbose --runInBand --bail --testNamePattern --onlyChanged",
    ),
    (
        &["mocha"],
        "-b -g -f --bail --grep --fgrep --forbid-only --forbid-pending",
    ),
    (
        &["eslint"],
        "--quiet --max-warnings --color --no-color --ext",
    ),
    (&["prettier"], "-c -l --check --list-different --no-color"),
    (&["tsc"], "--noEmit --pretty --strict --skipLibCheck"),
    (
        &["mypy", "pyright"],
        "--strict --pretty --show-error-codes --no-error-summary --ignore-missing-imports --stats --verbose \
         --warnings --outputjson",
    ),
    (
        &["ruff check", "ruff format", "black"],
        "-q -v --quiet --verbose --check --diff --statistics --show-files --select --ignore --no-cache",
    ),
    (
        &["flake8", "pylint"],
        "-E -q -v --count --statistics --show-source --max-line-length --errors-only --disable --enable",
    ),
    (
        &["rspec", "bundle exec rspec"],
        "-b -e -t --fail-fast --profile --backtrace --example --tag --color --no-color",
    ),
    (
        &["rubocop"],
        "--parallel --fail-fast --only --except --display-cop-names --lint",
    ),
    (
        &["phpunit"],
        "--filter --group --testdox --stop-on-failure --stop-on-error --colors",
    ),
    (
        &["dotnet test", "dotnet build"],
        "-c --configuration --no-build --no-restore --nologo --filter",
    ),
    (&["git add"], "-n -v --dry-run --verbose"),
    (
        &["make"],
        "-j -j# -k -s -n --jobs --keep-going --silent --quiet --dry-run",
    ),
];

/// Whether `more` may stand behind the approved words. Both are commands of this tool.
pub(super) fn may_follow(
    tool: &str,
    params: &Map<String, Value>,
    approved: &[String],
    more: &[String],
) -> bool {
    let Some(now) = parts(tool, params) else {
        return false;
    };
    let words: Vec<String> = approved.iter().map(|word| review::quoted(word)).collect();
    let mut before = params.clone();
    for name in ["command", "cmd"] {
        if let Some(command) = before.get_mut(name) {
            *command = Value::String(words.join(" "));
        }
    }
    let Some(before) = parts(tool, &before) else {
        return false;
    };
    let alike = |(before, now): (&Program, &Program)| {
        before.program == now.program && (!only_looks(before) || only_looks(now))
    };
    let has_targets = more.iter().any(|word| !word.starts_with('-'));
    if more.iter().any(|word| is_no_target(word)) {
        return false;
    }
    // The flags of programs that only look were all understood.
    let mut flags = more.iter().filter(|word| word.starts_with('-'));
    let flags_known = now.iter().all(only_looks) || flags.all(|flag| is_known(approved, flag));
    before.len() == now.len()
        && before.iter().zip(&now).all(alike)
        && flags_known
        && (!has_targets || takes_targets(approved, &before))
}

/// `@file` is more arguments, `false` the value of the flag before it, and what only a shell understands may reach one
/// through the program.
fn is_no_target(word: &str) -> bool {
    word.starts_with('@')
        || says_yes_or_no(word)
        || word.contains(['$', '`', ';', '|', '&', '<', '>', '"', '\'', '\\', '\n'])
}

/// A flag with such a value may mean the opposite.
fn says_yes_or_no(value: &str) -> bool {
    const WORDS: [&str; 10] = [
        "true", "false", "null", "none", "yes", "no", "on", "off", "t", "f",
    ];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

fn is_known(approved: &[String], flag: &str) -> bool {
    let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
    let mut entries = FLAGS.iter().filter(|(programs, _)| {
        let mut programs = programs.iter();
        programs.any(|words| begin(approved, words))
    });
    let matches = |known: &str| match known.strip_suffix('#') {
        Some(letter) => name
            .strip_prefix(letter)
            .is_some_and(|number| number.parse::<u16>().is_ok()),
        None => name == known,
    };
    !value.contains(char::is_whitespace)
        && !says_yes_or_no(value)
        && value != "0"
        && entries.any(|(_, flags)| flags.split_ascii_whitespace().any(matches))
}

/// The programs of a command that was read in full. `None` if it was not.
pub(super) fn parts(tool: &str, params: &Map<String, Value>) -> Option<Vec<Program>> {
    let facts = Facts::of(tool, params);
    let command = facts.command.filter(|_| facts.change.is_none())?;
    let certain = command.sure && command.parts.iter().all(|part| part.risks_sure);
    certain.then_some(command.parts)
}

fn only_looks(part: &Program) -> bool {
    part.writes_sure && part.writes.is_empty()
}

fn takes_targets(approved: &[String], parts: &[Program]) -> bool {
    let is_reader = |part: &Program| review::reads_files(&part.program) && only_looks(part);
    matches!(parts, [part] if is_reader(part))
        || TAKING_TARGETS.iter().any(|words| begin(approved, words))
}

/// Whether the approved words begin with these.
fn begin(approved: &[String], words: &str) -> bool {
    let mut words = words.split(' ').enumerate();
    words.all(|(at, word)| {
        let given = approved.get(at).map_or("", String::as_str);
        given == word || (word == "*" && !given.is_empty() && !given.starts_with('-'))
    })
}
