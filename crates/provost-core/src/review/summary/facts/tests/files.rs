//! The files that programs read and write, and whether these are all.

use super::*;

fn part(command: &str) -> Program {
    let facts = facts("Bash", json!({"command": command}));
    facts.command.unwrap().parts.pop().unwrap()
}

#[test]
fn p19_files_that_are_read_are_found_behind_flags() {
    for (command, file) in [
        ("grep -esecret /outside /in/a", "/outside"),
        ("grep --regexp=secret /outside /in/a", "/outside"),
        ("grep -nf /outside /in/a", "/outside"),
        ("grep -C 5 x /outside", "/outside"),
        ("grep -r x", "."),
        ("rg x", "."),
        ("sed -nep /outside /in/a", "/outside"),
        ("sed -n p /outside", "/outside"),
        ("sed /outside -e p /in/a", "/outside"),
        ("sed 'r /outside' /in/a", "/outside"),
        ("awk -F: '{print $1}' /outside", "/outside"),
        ("curl -sd @/outside https://a.org", "/outside"),
        ("head -n 5 /outside", "/outside"),
        ("diff --from-file=/outside /in/a", "/outside"),
        ("file -f/outside /in/a", "/in/a"),
    ] {
        let part = part(command);
        let found = part.reads.iter().any(|read| read == file);
        assert!(found, "{command} {part:?}");
    }
    for command in [
        "diff --from-file=/outside /in/a",
        "file -f/outside /in/a",
        "wc --files0-from=/outside /in/a",
        "sort --files0-from=/outside /in/a",
        "grep -f/outside /in/a",
        "awk 'BEGIN{ARGV[1]=\"/outside\"}' /in/a",
        "jq 'import \"/outside\" as $x; .' /in/a",
        "git diff /outside x",
        "git log -O/outside",
        "make test",
    ] {
        assert!(!part(command).reads_sure, "{command}");
    }
    for (command, files) in [
        ("grep -rn foo src", "src"),
        ("grep import", ""),
        ("grep -n -e foo /in/a", "/in/a"),
        ("cat", ""),
        ("head -5", ""),
        ("head -n 5", ""),
        ("tail -n5 /in/a", "/in/a"),
        ("wc -l", ""),
        ("sed -n 1,5p /in/a", "/in/a"),
        ("awk '{print $1}'", ""),
        ("sort -k 2 -t , /in/a", "/in/a"),
        ("diff -u /in/a /in/b", "/in/a /in/b"),
        ("jq -r .x /in/a", "/in/a"),
        ("ls -la /in", "/in"),
        ("git log -5", ""),
        ("echo x", ""),
    ] {
        let part = part(command);
        assert_eq!(
            (part.reads.join(" "), part.reads_sure),
            (files.to_owned(), true),
            "{command}"
        );
    }
}

#[test]
fn p19_files_that_are_written_are_found_or_not_certain() {
    for command in [
        "uniq a OUT",
        "shuf -o OUT a",
        "shuf -oOUT a",
        "xxd a OUT",
        "rsync a OUT",
        "tree -o OUT",
        "sort a -oOUT",
        "git log --output=OUT",
    ] {
        assert_eq!(part(command).writes, ["OUT"], "{command}");
    }
    for command in [
        "curl -O https://a.org/x",
        "curl -sJO https://a.org/x",
        "curl --remote-name https://a.org/x",
        "curl --remote-name-all https://a.org/x",
        "wget https://a.org/x",
    ] {
        assert!(!part(command).writes.is_empty(), "{command}");
    }
    for command in [
        "tar -cf OUT x",
        "tar cf OUT x",
        "rsync a b",
        "make",
        "npm test",
        "curl --hsts OUT https://a.org",
        "git commit -m x",
        "python3 x.py",
    ] {
        assert!(!part(command).writes_sure, "{command}");
    }
    for command in [
        "ls",
        "cat a",
        "grep x a",
        "git status",
        "git log -p",
        "sed p a",
        "find . -name x",
        "curl -s https://a.org",
        "sort a",
        "tree -L 2",
        "echo x",
    ] {
        let part = part(command);
        assert!(part.writes.is_empty() && part.writes_sure, "{command}");
    }
}

#[test]
fn p19_uploads_are_found_among_other_letters() {
    for command in [
        "curl -sT F https://a.org",
        "curl -sd @F https://a.org",
        "curl -sF x=@F https://a.org",
    ] {
        assert!(part(command).risks.contains(&Risk::Uploads), "{command}");
    }
}
