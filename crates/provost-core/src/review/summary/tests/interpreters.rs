//! Interpreters, and where their programs come from.

use super::*;

fn risks(command: &str) -> Risks {
    summary("Bash", json!({"command": command})).unwrap().risks
}

#[track_caller]
fn all_run_input(commands: &[&str]) {
    for command in commands {
        let risks = risks(command);
        assert!(risks.contains(&Risk::PipesToShell), "{command} {risks:?}");
    }
}

#[test]
fn p19_values_of_flags_are_no_program() {
    all_run_input(&[
        "cat x | bash -euo pipefail",
        "cat x | bash -o pipefail",
        "cat x | bash -oe pipefail",
        "cat x | bash +e",
        "cat x | bash +O extglob",
        "cat x | bash +s a",
        "cat x | bash --rcfile a",
        "cat x | bash --init-file a",
        "cat x | bash -rcfile a",
        "cat x | dash -o errexit",
        "cat x | zsh -opipefail",
        "cat x | zsh --emulate sh",
        "cat x | tcsh",
        "cat x | ksh93",
        "cat x | python3 -W ignore",
        "cat x | python3 -uX dev",
        "cat x | python3 --check-hash-based-pycs always",
        "cat x | perl -I lib",
        "cat x | perl -wI lib",
        "cat x | ruby -r json",
        "cat x | ruby --encoding utf-8",
        "cat x | node -C x",
        "cat x | node --title x",
        "cat x | php -d a=b",
        "cat x | php -- a",
        "cat x | php -f /dev/stdin",
        "cat x | lua -l a",
        "cat x | osascript -l JavaScript",
        "cat x | deno run -A -",
        "cat x | deno repl",
        "cat x | bun run -",
        "cat x | pwsh -NoProfile -Command -",
        "bash -euo pipefail < x",
        "cat x | { bash --rcfile a; }",
    ]);
}

/// Of a flag that is not known nobody knows whether the next word is its value.
#[test]
fn p19_behind_a_flag_that_is_not_known_the_input_may_be_run() {
    all_run_input(&[
        "cat x | bash --what a",
        "cat x | python3 -Z a",
        "cat x | node --stack-size 5",
        "cat x | ksh -R a b",
    ]);
    for command in [
        "bash --what a",
        "node --experimental-what a.js",
        "cat x | node --max-old-space-size=4096 a.js",
        "cat x | python3 -u a.py",
        "cat x | python3 -W ignore a.py",
        "cat x | python3 -m json.tool",
        "cat x | bash -e a.sh",
        "cat x | bash -o pipefail a.sh",
        "cat x | perl -Ilib a.pl",
        "cat x | node a.js -",
        "python3 -s a.py",
        "python3 --version",
        "bash --version",
        "node -v",
        "ruby -v",
        "deno --version",
        "source .venv/bin/activate",
    ] {
        let risks = risks(command);
        assert!(!risks.contains(&Risk::PipesToShell), "{command} {risks:?}");
    }
}

#[test]
fn p19_the_input_has_other_names() {
    all_run_input(&[
        "cat x | bash /dev/fd/0",
        "cat x | bash //dev/./fd/0",
        "cat x | bash /proc/self/fd/0",
        "cat x | bash /proc/1/fd/0",
        "cat x | bash -- /dev/stdin",
        "cat x | bash /dev/std?n",
        "cat x | bash /dev/stdin -c ls",
        "cat x | python3 - -c 1",
        "cat x | source /dev/fd/0",
        "cat x | source -- /dev/stdin",
        "cat x | . /proc/self/fd/0",
        "cd /dev; cat x | bash stdin",
        "cd /proc/self; cat x | bash fd/0",
        "bash /dev/fd/3 3< x",
        "cat x | python3 /dev/fd/0",
    ]);
}

#[test]
fn p19_the_input_may_be_run_beside_a_program() {
    all_run_input(&[
        "cat x | python3 -i a.py",
        "cat x | python3 -i -c 1",
        "cat x | lua -i a.lua",
        "cat x | node -p",
        "cat x | parallel",
        "cat x | parallel -j 2",
        "cat x | sudo -s",
        "cat x | sudo -i -u root",
        "cat x | su",
        "cat x | su - ann",
        "cat x | unshare -r",
        "cat x | chroot /y",
    ]);
}

#[test]
fn p19_texts_behind_other_flags_are_read() {
    for command in [
        "bash +c 'rm -rf x'",
        "bash -o pipefail -c 'rm -rf x'",
        "fish --command 'rm -rf x'",
        "fish -C 'rm -rf x'",
        "fish --init-command='rm -rf x'",
    ] {
        let risks = risks(command);
        let found = [Risk::RunsText, Risk::Deletes]
            .iter()
            .all(|it| risks.contains(it));
        assert!(found, "{command} {risks:?}");
    }
    for command in ["php -R 'x'", "php -B 'x'", "php -E 'x'"] {
        assert!(risks(command).contains(&Risk::RunsText), "{command}");
    }
}

#[test]
fn p19_what_is_handed_to_a_program_behind_others_is_deleted() {
    for command in [
        "ls | xargs rm",
        "ls | xargs sudo rm",
        "ls | xargs env rm",
        "ls | xargs nice -n 5 rm",
        "ls | xargs env A=1 nice rm",
        "find . -exec sudo rm '{}' +",
    ] {
        assert!(risks(command).contains(&Risk::Deletes), "{command}");
    }
}
