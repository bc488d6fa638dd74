//! Programs that run another program, named in their arguments.

use super::{
    Judge, Risk, Risks, Word,
    args::{is_assignment, is_flag},
    interpreter::joined,
    name_of,
};

/// Name, the short flags that take a value, and how many words come before the program.
const WRAPPERS: [(&str, &str, usize); 48] = [
    ("sudo", "CDghpRrTtUu", 0),
    ("doas", "Cu", 0),
    ("pkexec", "", 0),
    ("runuser", "ug", 0),
    ("env", "uCS", 0),
    ("nohup", "", 0),
    ("noglob", "", 0),
    ("nocorrect", "", 0),
    ("repeat", "", 1),
    ("time", "fo", 0),
    ("command", "", 0),
    ("builtin", "", 0),
    ("exec", "a", 0),
    ("coproc", "", 0),
    ("nice", "n", 0),
    ("ionice", "cnpPu", 0),
    ("chrt", "TPD", 1),
    ("taskset", "", 1),
    ("timeout", "ks", 1),
    ("stdbuf", "ioe", 0),
    ("setsid", "", 0),
    ("unbuffer", "", 0),
    ("caffeinate", "tw", 0),
    ("chroot", "", 1),
    ("unshare", "SGR", 0),
    ("nsenter", "tSGrw", 0),
    ("flock", "wE", 1),
    ("strace", "eopuEsXaIPSb", 0),
    ("systemd-run", "puEHM", 0),
    ("busybox", "", 0),
    ("toybox", "", 0),
    ("xargs", "IELnPsad", 0),
    ("parallel", "jIna", 0),
    ("ssh", "BbcDEeFIiJLlmOopQRSWw", 1),
    ("watch", "n", 0),
    ("valgrind", "", 0),
    ("ltrace", "eopu", 0),
    ("firejail", "", 0),
    ("setpriv", "", 0),
    ("prlimit", "", 0),
    ("setarch", "", 1),
    ("xvfb-run", "", 0),
    ("proxychains", "f", 0),
    ("proxychains4", "f", 0),
    ("torsocks", "", 0),
    ("chronic", "", 0),
    ("entr", "", 0),
    ("dbus-run-session", "", 0),
];
const RAISING: [&str; 5] = ["sudo", "doas", "pkexec", "runuser", "su"];
const DELETING: [&str; 4] = ["rm", "rmdir", "unlink", "shred"];

pub(super) fn risks(judge: &Judge, name: &str, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    if RAISING.contains(&name) {
        risks.insert(Risk::RaisesPrivilege);
    }
    if name == "find" || name == "fd" {
        risks.append(&mut find(judge, args));
    }
    if let Some((_, valued, skipped)) = WRAPPERS.iter().find(|wrapper| wrapper.0 == name) {
        for words in programs(args, valued, *skipped) {
            if matches!(name, "ssh" | "watch") {
                risks.append(&mut joined(judge, words));
            } else if matches!(name, "xargs" | "parallel") {
                risks.append(&mut judge.inner_fed(words));
            } else {
                risks.append(&mut judge.inner(words));
            }
            if matches!(name, "xargs" | "parallel") {
                risks.append(&mut fed(words));
            }
        }
    }
    risks
}

/// What deletes whatever it is handed.
fn fed(words: &[Word]) -> Risks {
    match words.first() {
        Some(name) if DELETING.contains(&name_of(name).as_str()) => Risks::from([Risk::Deletes]),
        _ => Risks::new(),
    }
}

/// Where the program may begin. After a long flag of which it is not known whether the next word is its
/// value, both readings count.
fn programs<'a>(args: &'a [Word], valued: &str, skipped: usize) -> Vec<&'a [Word]> {
    let (mut at, mut unsure) = (0, false);
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            unsure = false;
            break;
        }
        if is_flag(text) {
            unsure = text.starts_with("--") && !text.contains('=');
            at += 1 + usize::from(takes_next(text, valued));
        } else if is_assignment(text) {
            at += 1;
        } else {
            break;
        }
    }
    let starts = [at + skipped, at + skipped + 1];
    let readings = if unsure { 2 } else { 1 };
    let starts = starts.into_iter().take(readings);
    starts.filter_map(|start| args.get(start..)).collect()
}

/// `-u name`, but not `-uname`.
fn takes_next(flag: &str, valued: &str) -> bool {
    !flag.starts_with("--")
        && flag
            .find(|c| valued.contains(c))
            .is_some_and(|at| at + 1 == flag.len())
}

fn find(judge: &Judge, args: &[Word]) -> Risks {
    let mut risks = Risks::new();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text.as_str() {
            "-delete" => {
                risks.insert(Risk::Deletes);
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch" => {
                let end = after
                    .iter()
                    .position(|word| matches!(word.text.as_str(), ";" | "+"));
                let (words, after) = after.split_at(end.unwrap_or(after.len()));
                risks.append(&mut judge.inner(words));
                risks.append(&mut fed(words));
                rest = after;
            }
            _ => {}
        }
    }
    risks
}
