//! Programs inside other words: what `find` runs, and the bodies of functions and coprocesses.

use super::*;

fn of(command: &str) -> Facts {
    facts("Bash", json!({"command": command}))
}

fn shown(command: &str) -> Risks {
    let params = json!({"command": command});
    let summary = crate::review::summarize("Bash", params.as_object().unwrap(), None);
    summary.unwrap().risks
}

#[test]
fn p19_a_plus_ends_what_find_runs_only_behind_braces() {
    for command in [
        "find . -exec sort -t + -o /home/u/.bashrc payload \\;",
        "find . -exec awk -F + 'BEGIN{system(\"x\")}' \\;",
        "find . -exec awk -F + 'BEGIN{system(\"x\")}' '{}' +",
        "fd . -x sort -t {} + -o /home/u/.bashrc",
    ] {
        let risks = [of(command).risks, shown(command)];
        let seen = |risks: &Risks| {
            risks.contains(&Risk::RunsText) || risks.contains(&Risk::WritesSensitive)
        };
        assert!(risks.iter().all(seen), "{command} {risks:?}");
    }
    let parts = read("find . -exec grep -n x {} + -exec evil x \\;").0;
    assert_eq!(parts[1..], ["grep -n x", "evil x"]);
}

#[test]
fn p19_the_name_of_a_file_in_a_word_is_known_only_when_it_runs() {
    for command in [
        "find 'system(\"x\")' -exec awk 'BEGIN{{}}' \\;",
        "find 'ut=' -type f -exec sort payload '--outp{}' \\;",
        "find . -exec awk {} \\;",
        "find . -exec sed -n {} x \\;",
        "fd -x sort '--outp{}'",
        "fd -xrm",
        "fd --what x",
        "find . -what x",
        "find . -files0-from x",
    ] {
        assert!(shown(command).contains(&Risk::Unreadable), "{command}");
        assert!(!of(command).is_sure(), "{command}");
    }
    assert_eq!(read("find . -exec sort '--outp{}' \\;").0[1], "sort");
    for command in [
        "find . -name '*.rs' -exec grep -n x {} +",
        "find . -maxdepth 2 -type f -mtime -7 -size +10k -not -path './target/*' -print0",
        "find src \\( -name a -o -iname b \\) -newermt 2024-01-01 -printf '%p\\n'",
        "fd -e rs -H pattern src",
        "fd --extension=rs --type f -x wc -l",
    ] {
        assert_eq!(shown(command), Risks::new(), "{command}");
    }
}

#[test]
fn p19_bodies_behind_a_name_are_read_or_not_certain() {
    for command in [
        "coproc ls while rm -rf src; do break; done",
        "coproc ls until rm -rf src; do break; done",
        "coproc ls if rm -rf src; then :; fi",
        "coproc while rm -rf src; do break; done",
        "function ls if rm -rf src; then :; fi; ls",
        "function ls while rm -rf src; do :; done; ls",
        "function ls { rm -rf src; }",
        "if function ls while rm -rf src; do :; done; then ls; fi",
    ] {
        let facts = of(command);
        assert!(facts.risks.contains(&Risk::Deletes), "{command}");
        let parts = facts.command.unwrap().parts;
        assert!(parts.iter().any(|part| part.name == "rm"), "{command}");
        assert!(shown(command).contains(&Risk::Deletes), "{command}");
    }
    for command in [
        "function ls for x in a; do rm -rf src; done; ls",
        "function ls [[ 'a' -eq 0 ]]",
        "function ls\nwhile ls; do ls; done",
        "function a b { ls; }",
        "coproc ls [[ 'a' -eq 0 ]]",
        "coproc ls for PATH in .; do ls; done",
        "function",
    ] {
        assert!(!of(command).is_sure(), "{command}");
        assert!(shown(command).contains(&Risk::Unreadable), "{command}");
    }
    let quoted = "'function' ls; 'coproc' x";
    assert!(shown(quoted).contains(&Risk::Unreadable));
}
