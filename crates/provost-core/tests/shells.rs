//! The reader of commands against real shells: whatever a shell starts or writes for a command that was read
//! in full must be among its parts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use proptest::prelude::*;
use provost_core::review::Facts;
use serde_json::json;

const PROGRAMS: [&str; 8] = ["git", "evil", "a", "b", "status", "log", "cat", "EOF"];

/// Programs that only say how they were started, and a folder to run in.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).unwrap();
        // One write for each, so that those that run at once do not mix.
        let stub = format!(
            "#!/bin/sh\ns=\"${{0##*/}}\"\nfor w; do s=\"$s\u{1f}$w\"; done\nprintf '%s\\036' \"$s\" >> {}\n",
            log.display()
        );
        for name in PROGRAMS {
            let path = programs.join(name);
            fs::write(&path, &stub).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for shell in ["sh", "bash"] {
            std::os::unix::fs::symlink(Path::new("/bin").join(shell), programs.join(shell))
                .unwrap();
        }
        Self { folder }
    }

    /// What the shell started, and the files that it left.
    fn run(&self, shell: &str, command: &str) -> (Vec<Vec<String>>, BTreeSet<String>) {
        let log = self.folder.path().join("log");
        fs::write(&log, "").unwrap();
        let work: PathBuf = self.folder.path().join("work");
        fs::create_dir(&work).unwrap();
        let _ = Command::new(shell)
            .args(["-c", command])
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            // Zsh shows what `< file` without a program opens.
            .envs([("NULLCMD", ":"), ("READNULLCMD", ":")])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let started = fs::read_to_string(&log).unwrap();
        let started = started.split_terminator('\u{1e}');
        let started = started.map(|words| words.split('\u{1f}').map(str::to_owned).collect());
        let left = fs::read_dir(&work).unwrap();
        let left = left.map(|file| file.unwrap().file_name().into_string().unwrap());
        let seen = (started.collect(), left.collect());
        fs::remove_dir_all(&work).unwrap();
        seen
    }
}

/// Those that are here.
fn shells() -> impl Iterator<Item = &'static str> {
    ["/bin/sh", "/bin/bash", "/bin/zsh", "/bin/dash"]
        .into_iter()
        .filter(|shell| Path::new(shell).exists())
}

#[track_caller]
fn holds(stage: &Stage, text: &str) -> Result<(), TestCaseError> {
    let params = json!({ "command": text });
    let facts = Facts::of("Bash", params.as_object().unwrap());
    let command = facts.command.unwrap();
    if !command.sure {
        return Ok(());
    }
    for shell in shells() {
        let (started, left) = stage.run(shell, text);
        for words in started {
            let known = command.parts.iter().any(|part| part.words == words);
            prop_assert!(
                known,
                "{shell} {text:?} started {words:?}: {:?}",
                command.parts
            );
        }
        for file in left {
            let known = command.parts.iter().any(|part| part.writes.contains(&file));
            prop_assert!(
                known,
                "{shell} {text:?} wrote {file:?}: {:?}",
                command.parts
            );
        }
    }
    Ok(())
}

#[test]
fn p19_spellings_that_shells_read_differently_are_not_certain() {
    let stage = Stage::new();
    for text in [
        "git status &>f evil",
        "git <&-x status",
        "$'git' status",
        "git status $\"x\"",
        "git status $\\\n(evil)",
        "git status \"$\\\n(evil)\"",
        "cat <<EOF\nE\\\nOF\nevil\nEOF",
        "cat <<EOF; evil\n$(a)\nEOF\nb",
        "cat <<'EOF'\n$(evil)\nEOF\ngit status",
        "git status \"2\">f",
        "git status 2>f",
        "git() { evil; }; git status",
        "case a in a) evil;; esac",
        "X=`evil` git status",
        "! git status || evil",
        "git status # ; evil\nb",
        "sh -c 'git status; evil'",
        "eval \"git status; evil\"",
        "git log '\\' '; evil #'",
        "a | b | (evil > f)",
        "if git status; then evil; else b; fi > f",
        "git log <<E\\\nOF\n$(evil)\nEOF",
        "git log <<E\\\nOF\n`evil`\nEOF",
        "git log <<-E\\\nOF\n$(evil)\nEOF",
        "git log <<A <<B\\\nC\nA\n$(evil)\nBC",
        "git log <<E \\\nE\ngit log <<'X'\nE\nevil\nX",
        "git log <<E|git log \\\nE\ngit log <<'X'\nE\nevil\nX",
        "git log <<E 2>&1 \\\nE\ngit log <<'X'\nE\nevil\nX",
        "git log <<\\\n-E\n\tE\nevil\n-E",
        "git log <<$'X'\n$X\nevil\nX",
        "git log <<E $(b\nE\nevil)",
        "git log $(b <<E)\nE\nevil",
        "x$(evil) () { git log; }",
        "$(evil)() { git log; }",
        "git log ${X-'}' $(evil) 'a'} # '",
        "{ git log } always { evil }",
        "\"if\" git status; 'X=1' git status",
        "git log 2\\\n>f",
        "cd /dev/fd/nope; git log > f",
        "x='a[$(evil)]'; [[ x -eq 0 ]]",
        "printf -v 'a[$(evil)]' x",
        "test -v 'a[$(evil)]'",
        "export PATH=.; git log",
        "git status <<EOF\n${x:=a[\\$(evil)]}$((x))\nEOF\n",
        "git status <<< \"`git log \\\"'\\\" ; evil ; \\\"'\\\"`\"",
        "git status <<EOF\n`git log \\\"'\\\" ; evil ; \\\"'\\\"`\nEOF\n",
        "git status <<< \"$(git log <<E\nE)\"; evil #\nE\n)\"",
        "git log > >(git status <<E\nE); evil #\nE\n)",
        "(git status <<E\nE); evil #\nE\n)",
        "git status <<< \"${x:=\\$(evil)}${x@P}\"",
        "a 10>f",
        "a 99999999999>f",
        "a {fd}>f",
        "a() { evil | b; }; a",
        "git show HEAD@{1} stash@{0} HEAD^{b}",
        "git log a{b}c{d} x{1}",
        "{ git log c} always { evil; }",
        "{ git log HEAD@{1}} always { evil; }",
    ] {
        holds(&stage, text).unwrap();
    }
}

/// Loops and jobs in the background are left out: a test must end, and know when.
fn soup() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "git",
        "evil",
        "a",
        "b",
        "status",
        " ",
        " ",
        ";",
        "&&",
        "||",
        "|",
        "\n",
        "(",
        ")",
        "{ ",
        "; }",
        "$(",
        "`",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$",
        "$X",
        "${X:-",
        "}",
        "$'",
        "<<EOF\n",
        "<<'EOF'\n",
        "<<EOF",
        "<<-E\\\nOF",
        "EOF",
        "\nEOF\n",
        ">f",
        ">>f",
        "2>&1",
        "<&-",
        "#",
        " #",
        "=",
        "X=1 ",
        "if ",
        "then ",
        "fi",
        "case a in ",
        "a) ",
        ";; ",
        "esac",
        "!",
        "eval ",
        "command ",
        "function ",
        "()",
        "[",
        "*",
        "&>f",
        "10>f",
        "@{1}",
        "<f",
        ">(",
        "<<<",
        "sh -c ",
        "\t",
        "\r",
    ]);
    prop::collection::vec(token, 1..10).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn p19_what_a_shell_starts_is_among_the_parts(
        before in prop::sample::select(vec!["", "git status ", "git log '", "cat <<EOF\n", "(", "git log $("]),
        soup in soup(),
        after in prop::sample::select(vec!["", " evil", "'", "\nEOF\n", ")", "; evil", "\nevil"]),
    ) {
        holds(&Stage::new(), &format!("{before}{soup}{after}"))?;
    }
}
