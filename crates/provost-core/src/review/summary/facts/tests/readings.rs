//! Words that may be a flag or the value of one, and names that a command does not spell out.

use super::*;

fn part(command: &str) -> Program {
    let facts = facts("Bash", json!({"command": command}));
    facts.command.unwrap().parts.pop().unwrap()
}

fn risks_of(command: &str) -> Risks {
    facts("Bash", json!({"command": command})).risks
}

fn assert_risks(cases: &[(&str, Risk)]) {
    for (command, risk) in cases {
        let risks = risks_of(command);
        assert!(risks.contains(risk), "{command} {risks:?}");
    }
}

#[test]
fn p19_two_dashes_behind_a_flag_end_no_flags() {
    assert_risks(&[
        ("git grep -e -- '-Otouch pwned;:'", Risk::RunsText),
        ("git rebase -s -- -x 'touch pw' HEAD~1", Risk::RunsText),
        (
            "git clone -b -- -u 'touch pw;git-upload-pack' . x",
            Risk::RunsText,
        ),
        (
            "git clone --branch -- -c core.hooksPath=y . x",
            Risk::RunsText,
        ),
        (
            "git clone --origin -- --config core.hooksPath=y . x",
            Risk::RunsText,
        ),
        ("git clean -e -- -fdx", Risk::DiscardsChanges),
        ("git push -o -- -f origin main", Risk::ForcesPush),
        (
            "git push --push-option -- --force origin main",
            Risk::ForcesPush,
        ),
        (
            "git checkout --pathspec-from-file -b",
            Risk::DiscardsChanges,
        ),
        ("git checkout -- -b", Risk::DiscardsChanges),
        ("git log --grep -- --what", Risk::Unreadable),
        ("curl -A -- -K x https://a.org", Risk::Unreadable),
    ]);
    for command in [
        "git log -p --follow main -- --what",
        "git log --stat=5 -- --what",
        "git log --oneline -5 -- src",
        "git checkout -q -b x",
        "git add -- -f",
    ] {
        let risks = risks_of(command);
        assert!(risks.is_empty(), "{command} {risks:?}");
    }
}

#[test]
fn p19_values_of_find_hide_no_action() {
    assert_risks(&[
        ("find . -not -name -exec -delete", Risk::Deletes),
        ("find . -path -ok -o -delete", Risk::Deletes),
        ("find . -newer -okdir -o -delete", Risk::Deletes),
        ("find . -name $X -exec -delete", Risk::Deletes),
        ("find . -name -exec -exec rm -rf x \\;", Risk::Deletes),
        ("fd -E -x -x rm -rf x", Risk::Deletes),
        ("fd --exclude -x -x rm -rf x", Risk::Deletes),
        ("fd -HE -X -X rm -rf x", Risk::Deletes),
    ]);
    for command in [
        "find . -name -exec -print",
        "fd -H -e rs -E x foo",
        "fd --type f -d 2 foo",
    ] {
        let risks = risks_of(command);
        assert!(risks.is_empty(), "{command} {risks:?}");
    }
}

#[test]
fn p19_env_reads_the_words_that_it_splits_as_its_own() {
    assert_risks(&[
        ("env -S'-i rm -rf src'", Risk::Deletes),
        ("env -S 'X=1 rm -rf' src", Risk::Deletes),
        ("env --split-string='-u X rm -rf src'", Risk::Deletes),
        ("env -S '-S rm -rf src'", Risk::Deletes),
        ("env -S \"rm -rf 'src'\"", Risk::Deletes),
        ("env -S 'rm\\_-rf\\_src'", Risk::Unreadable),
        ("env -S '${X} -rf src'", Risk::Unreadable),
        ("env -S 'ls #x'", Risk::Unreadable),
        ("env -S \"-i 'rm' -rf src\"", Risk::Unreadable),
        ("env -S \"$X\"", Risk::Unreadable),
    ]);
    let (parts, sure) = read("env -S 'X=1 git status'");
    assert!(
        sure && parts.contains(&"git status".to_owned()),
        "{parts:?}"
    );
}

#[test]
fn p19_operands_behind_two_dashes_may_begin_with_one() {
    let outside = "-x/../../../home/u/notes";
    for command in ["rm", "rmdir", "unlink", "install -m 644 x"] {
        let command = format!("{command} /srv/project/a -- {outside}");
        let writes = part(&command).writes;
        assert!(writes.iter().any(|file| file == outside), "{command}");
    }
}

#[test]
fn p19_values_that_are_made_when_it_runs_may_be_evaluated() {
    for command in [
        "printf -v x 'a[\\x24(touch pwned)]'",
        "read x",
        "read -r x y",
        "mapfile x",
        "getopts ab x",
        "for x in 'a[$' b",
    ] {
        assert!(!part(command).risks_sure, "{command}");
    }
    for command in ["[ -v 'b[x]' ]", "test -v 'b[x]'", "[[ -v b[x] ]]"] {
        assert!(risks_of(command).contains(&Risk::Unreadable), "{command}");
    }
    for command in [
        "export x",
        "unset x",
        "printf '%s[%s]' a b",
        "[ -v x ]",
        "[ -f 'b[x]' ]",
    ] {
        assert!(part(command).risks_sure, "{command}");
        assert!(!risks_of(command).contains(&Risk::Unreadable), "{command}");
    }
}

#[test]
fn p19_values_of_grep_are_not_its_flags() {
    let part = part("grep --group-separator -- -RhE '/srv/project/|'");
    assert_eq!(part.reads, ["."]);
}

#[test]
fn p19_copies_into_a_folder_are_named() {
    for (command, file) in [
        ("cp -r sub/.git .", "./.git"),
        ("cp sub/Makefile .", "./Makefile"),
        ("cp -t . sub/package.json", "./package.json"),
        ("cp -r sub/a sub/.git .", "./.git"),
        ("cp -r /tmp/x/.git /srv/project/", "/srv/project/.git"),
        ("cp -r sub/workflows .github", ".github/workflows"),
        ("mv sub/hooks/ .git", ".git/hooks"),
        ("ln -sf sub/package.json .", "./package.json"),
        ("ln -s sub/package.json", "./package.json"),
        ("install sub/Makefile .", "./Makefile"),
        ("install -t . sub/Makefile", "./Makefile"),
        ("rsync -a sub/.git .", "./.git"),
    ] {
        let part = part(command);
        assert!(
            part.writes.iter().any(|it| it == file),
            "{command} {part:?}"
        );
        assert!(part.risks.contains(&Risk::WritesSensitive), "{command}");
    }
    for command in [
        "cp -r sub/. .",
        "cp -r sub/ .",
        "cp -rt . sub/..",
        "rsync -a sub/ .",
    ] {
        assert!(risks_of(command).contains(&Risk::Unreadable), "{command}");
        assert!(!part(command).writes_sure, "{command}");
    }
    assert_eq!(part("cp -T Makefile x").writes, ["x"]);
    for command in [
        "cp -r sub dist/",
        "cp a b",
        "mv sub/ dist",
        "rsync -a sub/ host:x",
    ] {
        let risks = risks_of(command);
        assert!(!risks.contains(&Risk::Unreadable), "{command} {risks:?}");
        assert!(
            !risks.contains(&Risk::WritesSensitive),
            "{command} {risks:?}"
        );
    }
}

#[test]
fn p19_which_of_several_arguments_a_tool_obeys_is_not_known() {
    for params in [
        json!({"command": "git", "args": ["status"], "arguments": ["branch", "-D", "x"]}),
        json!({"command": "git", "argv": ["status"], "arguments": ["branch", "-D", "x"]}),
    ] {
        let facts = facts("box.exec", params);
        assert!(!facts.command.unwrap().sure);
        assert!(facts.risks.contains(&Risk::Unreadable));
    }
    let one = json!({"command": "git", "argv": ["status"], "args": []});
    assert!(facts("box.exec", one).command.unwrap().sure);
}

#[test]
fn p19_installers_and_interpreters_are_known_by_all_their_names() {
    for command in [
        "yarn",
        "yarn --frozen-lockfile",
        "npm clean-install",
        "npm ic",
        "npm update",
        "npm create vite",
        "pnpx x",
        "pnpm up",
        "bun update",
        "uv run x",
        "uv tool run x",
        "poetry update",
        "bundle",
        "bundle update",
        "composer update",
        "cargo add x",
        "cargo binstall x",
        "gem update",
        "brew bundle",
        "go run example.org/x@latest",
    ] {
        assert_risks(&[(command, Risk::InstallsPackages)]);
    }
    for command in [
        "Rscript -e 'x'",
        "julia -e x",
        "elixir -e x",
        "ts-node -e x",
        "tsx -e x",
        "octave --eval x",
        "expect -c x",
        "gdb -batch -ex '!x'",
    ] {
        assert_risks(&[(command, Risk::RunsText)]);
    }
    for command in ["kill -s 0 -s 9 1", "kill -0 -s 9 1", "kill -n 0 -n 9 1"] {
        assert_risks(&[(command, Risk::KillsProcesses)]);
    }
    for command in ["yarn --version", "kill -0 1"] {
        assert!(risks_of(command).is_empty(), "{command}");
    }
}
