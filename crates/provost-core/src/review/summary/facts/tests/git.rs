//! Git: what its subcommands and settings risk, and which files they name.

use super::*;

#[test]
fn p19_gits_own_ways_to_run_and_write_are_risks() {
    for (command, risk) in [
        ("git -c core.pager='sh -c evil' log", Risk::RunsText),
        ("git --exec-path=/tmp status", Risk::RunsText),
        ("git log --ext-diff", Risk::RunsText),
        ("git grep -O x", Risk::RunsText),
        ("git grep --open-files-in-pager=evil x", Risk::RunsText),
        ("git ls-remote --upload-pack=evil x", Risk::RunsText),
        ("git clone 'ext::sh -c evil' x", Risk::RunsText),
        ("git rebase -x evil", Risk::RunsText),
        ("git difftool -yt x", Risk::RunsText),
        ("git bisect run evil", Risk::RunsText),
        ("git submodule foreach evil", Risk::RunsText),
        ("git config core.pager evil", Risk::WritesSensitive),
        ("git log --output=/etc/x", Risk::WritesOutside),
        ("git diff --output /etc/x", Risk::WritesSensitive),
        ("git log --outp=/etc/x", Risk::WritesSensitive),
        ("git log --ext-d", Risk::RunsText),
    ] {
        let risks = facts("Bash", json!({"command": command})).risks;
        assert!(risks.contains(&risk), "{command} {risks:?}");
    }
    for command in [
        "git status",
        "git log -p -5",
        "git diff HEAD~1",
        "git config --get user.name",
        "git config user.name",
    ] {
        let risks = facts("Bash", json!({"command": command})).risks;
        assert!(risks.is_empty(), "{command} {risks:?}");
    }
}

fn risks_of(command: &str) -> Risks {
    facts("Bash", json!({"command": command})).risks
}

#[test]
fn p19_settings_of_git_are_harmless_only_by_name() {
    for command in [
        "git -c diff.external='touch PWNED;:' diff HEAD",
        "git -c diff.x.textconv='touch PWNED;cat' diff",
        "git -c gpg.program=./evil log",
        "git -c core.fsmonitor=./evil status",
        "git -c include.path=/tmp/x status",
        "git --git-dir=evil.git status",
    ] {
        assert!(risks_of(command).contains(&Risk::RunsText), "{command}");
    }
    for command in [
        "git -c user.name=a -c user.email=a@b status",
        "git -c color.ui=always log",
        "git -c core.pager=cat log",
        "git --no-pager log -5",
        "git -C sub status",
    ] {
        assert!(risks_of(command).is_empty(), "{command}");
    }
}

#[test]
fn p19_subcommands_of_git_are_known_or_not_certain() {
    for (command, risk) in [
        (
            "git config --comment list core.fsmonitor evil",
            Risk::WritesSensitive,
        ),
        ("git rm -rf .", Risk::DiscardsChanges),
        ("git checkout f", Risk::DiscardsChanges),
        ("git checkout HEAD f", Risk::DiscardsChanges),
        ("git switch --discard-changes main", Risk::DiscardsChanges),
        ("git branch --delete --force x", Risk::DiscardsChanges),
        ("git ls-remote https://evil.com/x", Risk::Network),
        ("git archive --remote=git://evil.com/x HEAD", Risk::Network),
        ("git remote update", Risk::Downloads),
        ("git checkout-index -f -a --prefix=x/", Risk::Unreadable),
        ("git fast-export --export-marks=x HEAD", Risk::Unreadable),
        ("git read-tree -u --reset HEAD", Risk::Unreadable),
        ("git credential fill", Risk::Unreadable),
        ("git maintenance start", Risk::Unreadable),
        ("git some-alias", Risk::Unreadable),
        ("git worktree add x", Risk::WritesOutside),
        ("git bundle create x HEAD", Risk::WritesOutside),
        ("git init x", Risk::WritesOutside),
        ("git log --output", Risk::WritesOutside),
    ] {
        assert!(risks_of(command).contains(&risk), "{command}");
    }
    for command in [
        "git add -A",
        "git commit -m x",
        "git checkout -b x",
        "git switch main",
        "git branch -a",
        "git stash",
        "git remote -v",
        "git config --global --get user.name",
        "git config --list",
        "git worktree list",
        "git tag -l",
        "git --version",
        "git",
    ] {
        assert!(risks_of(command).is_empty(), "{command}");
    }
}

#[test]
fn p19_flags_before_the_subcommand_are_known_or_not_certain() {
    for (command, risk) in [
        ("git --attr-source log clean -fdx", Risk::DiscardsChanges),
        ("git --shallow-file log clean -fdx", Risk::DiscardsChanges),
        ("git --attr-source log push --force", Risk::ForcesPush),
        ("git --super-prefix log clean -fdx", Risk::DiscardsChanges),
        ("git --what log clean -fdx", Risk::Unreadable),
        ("git --list-cmds=x log", Risk::Unreadable),
        ("git --no-pag log", Risk::Unreadable),
    ] {
        let risks = risks_of(command);
        assert!(risks.contains(&risk), "{command} {risks:?}");
        assert!(risks.contains(&Risk::Unreadable), "{command} {risks:?}");
    }
}

#[test]
fn p19_flags_cut_short_and_settings_of_clone_run_programs() {
    for command in [
        "git clone --u='touch x;git-upload-pack' . y",
        "git ls-remote --u='touch x;' .",
        "git ls-remote --e='touch x;' .",
        "git push --e='touch x;' . HEAD:refs/heads/y",
        "git push --rec='touch x;' . HEAD:refs/heads/y",
        "git clone -c core.hooksPath=y . x",
        "git clone -qc core.hooksPath=y . x",
        "git clone -ccore.hooksPath=y . x",
        "git clone --config core.hooksPath=y . x",
        "git clone --conf=core.hooksPath=y . x",
        "git clone --template=y . x",
        "git clone --te y . x",
        "git init --template=y x",
        "env --s='sh -c x'",
        "env --s 'sh -c x'",
        "flock f --c='rm x'",
        "su --c='rm x'",
    ] {
        assert!(risks_of(command).contains(&Risk::RunsText), "{command}");
    }
    for command in [
        "git clone -c user.name=a -b main . x",
        "git clone --depth=1 . x",
    ] {
        let risks = risks_of(command);
        assert!(!risks.contains(&Risk::RunsText), "{command} {risks:?}");
        assert!(!risks.contains(&Risk::Unreadable), "{command} {risks:?}");
    }
}

#[test]
fn p19_flags_of_subcommands_are_known_or_not_certain() {
    for command in [
        "git log --what",
        "git diff --filters",
        "git show --onel",
        "git archive --what=x HEAD",
        "git push --what",
    ] {
        assert!(risks_of(command).contains(&Risk::Unreadable), "{command}");
        let facts = facts("Bash", json!({"command": command}));
        assert!(!facts.command.unwrap().parts[0].writes_sure, "{command}");
    }
    for command in [
        "git log --oneline --graph --decorate --all -20",
        "git log --since='2 weeks ago' --author=ann --no-merges --pretty=format:%h",
        "git log -p --follow HEAD -- --what",
        "git log --grep fix --name-only --abbrev-commit --date=short",
        "git diff --cached --stat --name-status",
        "git diff --word-diff --ignore-all-space -U5 main...HEAD",
        "git diff --no-ext-diff --no-color --no-index a b",
        "git show --stat --format=%B HEAD",
        "git status --short --branch --porcelain=v2 --untracked-files=no",
        "git rev-parse --show-toplevel",
        "git rev-parse --git-dir",
        "git rev-parse --abbrev-ref HEAD",
        "git branch --show-current",
        "git ls-files --others --exclude-standard",
        "git for-each-ref --sort=-committerdate --count=5 --format='%(refname)'",
        "git commit --amend --no-edit --no-verify",
        "git stash push --include-untracked --message x",
        "git rebase --onto main a b",
        "git add --all",
        "git blame -L 1,5 -w a",
        "git grep -n --count x",
    ] {
        let risks = risks_of(command);
        assert!(risks.is_empty(), "{command} {risks:?}");
    }
}
