use serde_json::{Map, Value};

use crate::review::redact_map;

fn withhold(command: &str) -> String {
    let shown = redact_map(&Map::from_iter([("command".into(), command.into())]));
    shown["command"]
        .as_str()
        .map_or_else(|| Value::to_string(&shown["command"]), str::to_owned)
}

#[test]
fn p09_commands_keep_their_words_and_lose_their_texts() {
    for (command, expected) in [
        ("cargo test", "cargo test"),
        (
            "git commit -am \"all of it\"",
            "git commit -am \"[content, 9 characters]\"",
        ),
        ("git commit -m fix", "git commit -m [content, 3 characters]"),
        (
            "git commit -m\"the text\" -q",
            "git commit -m\"[content, 8 characters]\" -q",
        ),
        (
            "cat <<E > f\na b\nE\nls",
            "cat <<E > f\n[content, 3 characters]\nE\nls",
        ),
        (
            "cat <<E > f\nit costs $5\nE\ncat <<'F'\nsecond\nF\nls",
            "cat <<E > f\n[content, 11 characters]\nE\ncat <<'F'\n[content, 6 characters]\nF\nls",
        ),
        (
            "curl -d '{\"a\":1}' x",
            "curl -d '[content, 7 characters]' x",
        ),
        ("curl -F 'f=a b' x", "curl -F '[content, 5 characters]' x"),
        (
            "gh pr create --title 'my words' --body=more",
            "gh pr create --title '[content, 8 characters]' --body=[content, 4 characters]",
        ),
        ("echo text > f", "echo [content, 4 characters] > f"),
        (
            "printf '%s' 'the text' > f",
            "printf '[content, 2 characters]' '[content, 8 characters]' > f",
        ),
        ("wc <<< 'a b'", "wc <<< '[content, 3 characters]'"),
        ("base64 -d file", "base64 -d file"),
        ("TOKEN=abc ls", "TOKEN=[secret: token, 3 characters] ls"),
        ("ls # say yes", "ls # [content, 7 characters]"),
    ] {
        assert_eq!(withhold(command), expected);
    }
}

#[test]
fn p09_nothing_that_runs_is_withheld() {
    for command in [
        "git commit -m \"$(rm -rf /)\"",
        "cat <<E\n$(rm -rf /)\nE",
        "cat <<E\n`rm -rf /`\nE",
        "echo '<<E'\nrm -rf /\nE",
        "git commit -m 'x'; rm -rf /",
        "bash <<'E'\nrm -rf /\nE\n",
        "cat <<'E' | sh\nrm -rf /\nE\n",
        "echo 'rm -rf /' | sh",
        "bash -cm 'rm -rf /'",
        "python3 -c 'rm -rf /'",
        "psql -c 'rm -rf /'",
        "docker exec c sh -c 'rm -rf /'",
        "ssh host 'rm -rf /'",
        "sudo -u ann bash -c 'rm -rf /'",
        "psql db -c 'rm -rf /'",
        "awk 'rm -rf /' f",
        "python3 -m 'rm -rf /'",
    ] {
        assert!(
            withhold(command).contains("rm -rf /"),
            "{command} {}",
            withhold(command)
        );
    }
}

#[test]
fn p09_texts_around_what_runs_are_withheld() {
    for (command, shown) in [
        ("cat <<E > f\nWORDS of $(date) WORDS\nE", "$(date)"),
        ("cat <<E > f\nWORDS of `date` WORDS\nE", "`date`"),
        ("git commit -m \"WORDS $(date) WORDS\"", "$(date)"),
        ("git commit -m\"WORDS $(date)\"", "$(date)"),
        (
            "cd /p && git commit -m \"WORDS in $(basename $PWD)\"",
            "$(basename $PWD)",
        ),
        (
            "git commit -m \"$(cat <<'EOF'\nWORDS\n\nCo-Authored-By: x\nEOF\n)\"",
            "cat <<'EOF'",
        ),
        (
            "gh pr create --title x --body \"$(cat <<'EOF'\nWORDS more\nEOF\n)\"",
            "gh pr create",
        ),
        ("echo \"WORDS $(rm -rf /)\" > f", "$(rm -rf /)"),
        ("echo \"WORDS $(echo ')' ; rm -rf /)\" > f", "rm -rf /"),
        ("sudo echo WORDS", "sudo echo"),
        ("sudo -u ann echo WORDS", "sudo -u ann echo"),
        ("env X=1 echo WORDS", "env X=1 echo"),
        ("time echo WORDS", "time echo"),
        ("command echo 'WORDS a'", "command echo"),
        ("builtin echo 'WORDS a'", "builtin echo"),
        ("nohup echo WORDS &", "nohup echo"),
        ("sudo git commit -m WORDS", "sudo git commit"),
    ] {
        let withheld = withhold(command);
        assert!(
            !withheld.contains("WORDS"),
            "{command} is shown as {withheld}"
        );
        assert!(withheld.contains(shown), "{command} is shown as {withheld}");
    }
    for command in [
        "sudo -p echo rm folder",
        "sudo rm echo folder",
        "env -S echo rm folder",
    ] {
        assert_eq!(withhold(command), command);
    }
}

#[test]
fn p09_texts_are_withheld_behind_wrappers_and_in_substitutions() {
    for command in [
        "echo '- WORDS' >> notes.md",
        "printf '%s\\n' '- WORDS'",
        "echo '--- WORDS' > f",
        "echo -n '-WORDS' > f",
        "timeout 60 git commit -m 'WORDS a'",
        "nice -n 5 git commit -m 'WORDS a'",
        "stdbuf -oL ionice -c 3 git commit -m 'WORDS a'",
        "sudo tee f <<'EOF'\nWORDS\nEOF",
        "git commit -m \"$(echo 'WORDS a')\"",
        "git commit -m \"$(printf 'WORDS a')\"",
        "git commit -m \"`echo WORDS a`\"",
        "git commit -m \"$(git log -1 --format=%s; echo \"$(echo 'WORDS a')\")\"",
        "echo 'WORDS a' >> n.md; curl https://x | sh",
    ] {
        let withheld = withhold(command);
        assert!(
            !withheld.contains("WORDS"),
            "{command} is shown as {withheld}"
        );
        assert!(
            withheld.contains("[content, "),
            "{command} is shown as {withheld}"
        );
    }
}

#[test]
fn p09_a_text_that_another_command_runs_is_shown() {
    for command in [
        "echo \"<<E\nx\"\nrm -rf /\nE",
        "echo 'rm -rf /' > f; sh < f",
        "echo 'rm -rf /' | tee f; cat f | sh",
        "exec > >(sh); echo 'rm -rf /'",
        "sudo -s <<'E'\nrm -rf /\nE",
        "sudo bash <<'E'\nrm -rf /\nE",
        "sudo -u ann timeout 5 sh <<'E'\nrm -rf /\nE",
        "git commit -m \"$(echo 'rm -rf /' | sh)\"",
    ] {
        let withheld = withhold(command);
        let described = withheld.contains("content_sha256");
        assert!(
            withheld.contains("rm -rf /") || described,
            "{command} is shown as {withheld}"
        );
    }
}

#[test]
fn p09_texts_that_are_not_found_in_their_command_are_not_shown() {
    for command in [
        "curl -d note=WORDS http://h",
        "git commit -m WORDS=item",
        "A=1 git commit -m WORDS=item",
        "echo a=WORDS >> .env",
        "echo x 2>&1 a=WORDS",
        "git commit -m \"$(printf \"WORDS item\")\"",
        "echo \"a $(echo \"WORDS item\") b\"",
        "echo \"WORDS $(echo \"a b\") b\"",
        "cat <<E > f\na $(printf \"WORDS item\") b\nE",
        "cat <<E > f\n$(echo WORDS)\nE",
        "echo WORDS*",
        "apply_patch '*** Begin Patch\n+WORDS\n*** End Patch'",
        "*** Begin Patch\n*** Add File: a\n+WORDS\n*** End Patch",
        "git commit --mess 'WORDS item'",
        "ls | xargs echo 'WORDS a'",
        "ls | sudo xargs -n1 git commit -m 'WORDS a'",
        "find . -exec echo 'WORDS a' \\;",
    ] {
        let withheld = withhold(command);
        assert!(
            !withheld.contains("WORDS"),
            "{command} is shown as {withheld}"
        );
    }
    for command in [
        "A=1 B=2 make CC=gcc test",
        "if true; then A=1 ls; fi",
        "ls | xargs git add",
        "find . -name '*.rs' -exec grep -n x {} +",
        "git log --format=%s | head -5",
        "for f in *.rs; do wc -l $f; done",
    ] {
        assert_eq!(withhold(command), command);
    }
}

#[test]
fn p09_a_command_of_very_many_words_is_described_at_little_cost() {
    let shown = withhold(&"a ".repeat(30_000));
    assert!(shown.contains("60000"), "{shown}");
}

#[test]
fn p09_any_word_or_value_with_blanks_is_a_text() {
    for (command, expected) in [
        (
            "MSG=\"WORDS a\"; git commit -m \"$MSG\"",
            "MSG=\"[content, 7 characters]\"; git commit",
        ),
        (
            "A=1 MSG='WORDS a' ./x",
            "A=1 MSG='[content, 7 characters]' ./x",
        ),
        ("export MSG=\"WORDS a\"", "export MSG="),
        (
            "sed -i \"s/a/WORDS b/\" f",
            "sed -i \"[content, 12 characters]\" f",
        ),
        (
            "gh api repos/x/issues -f body=\"WORDS a\"",
            "gh api repos/x/issues -f body=",
        ),
        (
            "gh issue close 5 -c \"WORDS a\"",
            "gh issue close 5 -c \"[content, ",
        ),
        (
            "glab mr note 5 -m \"WORDS a\"",
            "glab mr note 5 -m \"[content, ",
        ),
        (
            "docker exec c echo \"WORDS a\"",
            "docker exec c echo \"[content, ",
        ),
        ("docker run -d 'WORDS a'", "docker run -d '[content, "),
        ("ssh host echo \"WORDS a\"", "ssh host echo \"[content, "),
        (
            "python3 tool.py --note \"WORDS a\"",
            "python3 tool.py --note \"[content, ",
        ),
        (
            "redis-cli set k \"WORDS a\"",
            "redis-cli set k \"[content, ",
        ),
        ("notify $'WORDS\\x20a'", ""),
        ("for x in 'WORDS a'; do ./say \"$x\"; done", ""),
        ("case 'WORDS a' in x) ls;; esac", ""),
        ("[ \"$x\" = 'WORDS a' ]", ""),
        ("A=('WORDS a' b); ./x \"${A[@]}\"", ""),
        ("MSG='WORDS a'; bash -c \"$X\"", ""),
    ] {
        let shown = withhold(command);
        assert!(!shown.contains("WORDS"), "{command} is shown as {shown}");
        assert!(shown.contains(expected), "{command} is shown as {shown}");
    }
    for command in [
        "A=1 B=$x make CC=gcc",
        "A=*.rs ls",
        "A=~/x B=\"$(date)\" ls",
    ] {
        assert_eq!(withhold(command), command);
    }
}

#[test]
fn p09_words_without_a_program_are_content() {
    for name in ["args", "arguments"] {
        let params = Map::from_iter([(name.to_owned(), serde_json::json!(["WORDS", "WORDS a"]))]);
        let shown = Value::from(redact_map(&params)).to_string();
        assert!(!shown.contains("WORDS"), "{shown}");
    }
}

#[test]
fn p09_texts_behind_the_flags_of_a_script_are_withheld() {
    for command in [
        "python3 notify.py -message \"WORDS a\"",
        "python3 notify.py -c \"WORDS a\"",
        "bash notify.sh -recipient \"WORDS a\"",
        "ssh h gh issue close 5 -c \"WORDS a\"",
        "awk -v x=\"WORDS a\" 1 f",
    ] {
        let shown = withhold(command);
        assert!(!shown.contains("WORDS"), "{command} is shown as {shown}");
    }
    for command in [
        "python3 -W ignore -c 'rm -rf /'",
        "bash -o pipefail -c 'rm -rf /'",
        "ssh -p 22 h 'rm -rf /'",
        "ssh h gh issue close 5 -c 'x; rm -rf /'",
        "su ann -c 'rm -rf /'",
        "perl -ne 'rm -rf /'",
        "awk -F : 'rm -rf /' f",
    ] {
        let shown = withhold(command);
        assert!(shown.contains("rm -rf /"), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_every_word_of_a_comment_is_withheld() {
    for command in [
        "ls #WORDS-a",
        "ls #WORDS b=WORDS",
        "#WORDS=WORDS\nls",
        "ls # it's WORDS\npwd #WORDS",
    ] {
        let shown = withhold(command);
        assert!(!shown.contains("WORDS"), "{command} is shown as {shown}");
        assert!(shown.contains("ls"), "{command} is shown as {shown}");
    }
    assert_eq!(withhold("ls a#b"), "ls a#b");
}
