//! What single programs risk, by their name and flags.

use super::{
    Risk, Risks, Word,
    args::{first_operand, has, has_long, has_short, operands},
    awk, curl, flags, git, known,
    outputs::written,
    sed,
};
use crate::review::summary::place::Place;

const DOWNLOADING: [&str; 7] = ["curl", "wget", "aria2c", "axel", "lynx", "http", "https"];
const TALKING: [&str; 12] = [
    "nc", "ncat", "netcat", "socat", "telnet", "ssh", "scp", "sftp", "ftp", "tftp", "rclone",
    "ngrok",
];
const KILLING: [&str; 6] = ["pkill", "killall", "shutdown", "reboot", "halt", "poweroff"];
const DISK_TOOLS: [&str; 7] = [
    "fdisk",
    "sfdisk",
    "parted",
    "wipefs",
    "mkswap",
    "blkdiscard",
    "diskutil",
];
/// Name and the words with which it installs; none means always.
const INSTALLERS: [(&str, &[&str]); 32] = [
    (
        "npm",
        &[
            "install",
            "i",
            "in",
            "ins",
            "inst",
            "isntall",
            "add",
            "ci",
            "ic",
            "clean-install",
            "install-clean",
            "it",
            "cit",
            "install-test",
            "install-ci-test",
            "update",
            "up",
            "upgrade",
            "udpate",
            "exec",
            "x",
            "create",
            "init",
            "innit",
        ],
    ),
    (
        "pnpm",
        &[
            "install", "i", "add", "dlx", "update", "up", "upgrade", "create",
        ],
    ),
    (
        "yarn",
        &[
            "install", "add", "global", "dlx", "up", "upgrade", "create", "import",
        ],
    ),
    (
        "bun",
        &[
            "install", "i", "add", "a", "x", "update", "create", "c", "upgrade",
        ],
    ),
    ("npx", &[]),
    ("pnpx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("pip", &["install"]),
    ("pipx", &["install", "run"]),
    ("uv", &["install", "add", "sync", "run", "tool", "lock"]),
    ("poetry", &["install", "add", "update", "sync", "lock"]),
    ("conda", &["install", "create"]),
    ("mamba", &["install", "create"]),
    ("gem", &["install", "update"]),
    ("bundle", &["install", "update", "add"]),
    ("cargo", &["install", "add", "binstall", "update"]),
    ("go", &["install", "get"]),
    (
        "composer",
        &["install", "require", "global", "update", "upgrade"],
    ),
    (
        "apt",
        &["install", "upgrade", "full-upgrade", "remove", "purge"],
    ),
    (
        "apt-get",
        &["install", "upgrade", "dist-upgrade", "remove", "purge"],
    ),
    ("dpkg", &["-i", "--install"]),
    ("rpm", &["-i", "-U", "-ivh", "-Uvh", "--install"]),
    ("yum", &["install", "update", "remove"]),
    ("dnf", &["install", "update", "remove"]),
    ("zypper", &["install", "in"]),
    ("apk", &["add", "del"]),
    ("pacman", &["-S", "-Syu", "-Sy", "-U", "-R"]),
    (
        "brew",
        &["install", "upgrade", "uninstall", "bundle", "reinstall"],
    ),
    ("port", &["install"]),
    ("snap", &["install", "remove"]),
    ("flatpak", &["install"]),
];

/// Without a subcommand they install.
const INSTALLING_ALONE: [&str; 2] = ["yarn", "bundle"];

pub(super) fn risks(name: &str, args: &[Word], place: &Place) -> Risks {
    let written = written(name, args);
    let mut risks: Risks = written
        .iter()
        .flat_map(|path| place.writing(path))
        .collect();
    let found = [
        (deletes(name, args), Risk::Deletes),
        (DOWNLOADING.contains(&name), Risk::Downloads),
        (uploads(name, args), Risk::Uploads),
        (talks(name, args), Risk::Network),
        (opens_up(name, args), Risk::ChangesPermissions),
        (writes_disk(name, args), Risk::WritesDisk),
        (kills(name, args), Risk::KillsProcesses),
        (installs(name, args), Risk::InstallsPackages),
        (schedules(name, args), Risk::WritesSensitive),
        (flags::run_programs(name, args), Risk::RunsText),
        (decides(name, args), Risk::RaisesPrivilege),
        (reads_arguments(name, args), Risk::Unreadable),
    ];
    risks.extend(
        found
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, risk)| risk),
    );
    match name {
        "git" => risks.append(&mut git::risks(args)),
        "sed" | "gsed" => risks.append(&mut sed::read(args).risks),
        "awk" | "gawk" | "mawk" | "nawk" => risks.append(&mut awk::read(args).risks),
        "docker" | "podman" => risks.append(&mut container(args)),
        // What it changes stands in its input.
        "apply_patch" | "applypatch" => risks.extend([Risk::WritesOutside]),
        // More arguments stand in a file.
        "curl" if has_short(args, "K") || has_long(args, "--config") => {
            risks.insert(Risk::Unreadable);
        }
        "rsync" if copies_contents(args) => {
            risks.insert(Risk::Unreadable);
        }
        _ if known::Call::of(name, args).is_some_and(|call| !call.understood) => {
            risks.insert(Risk::Unreadable);
        }
        _ => {}
    }
    risks
}

/// Whether it changes what this gateway permits, or may: an agent that runs it approves itself.
fn decides(name: &str, args: &[Word]) -> bool {
    const LOOKING: [&str; 17] = [
        "",
        "check",
        "doctor",
        "version",
        "completions",
        "help",
        "policy",
        "approvals list",
        "approvals show",
        "approvals watch",
        "grants list",
        "keys list",
        "people list",
        "traces list",
        "traces show",
        "traces verify",
        "traces export",
    ];
    let mut words = args.iter();
    let first = words.next().map_or("", |word| &word.text);
    let second = words.next().map_or("", |word| &word.text);
    let looks = |known: &&str| match known.split_once(' ') {
        Some(known) => known == (first, second),
        None => *known == first,
    };
    let asks_help = matches!(first, "--help" | "-h" | "--version" | "-V");
    name == "provost"
        && !asks_help
        && (args.iter().any(|word| word.computed) || !LOOKING.iter().any(looks))
}

/// Programs that take more arguments from a file: `pytest @file`.
fn reads_arguments(name: &str, args: &[Word]) -> bool {
    const READING: [&str; 25] = [
        "pytest", "py.test", "python", "python3", "mypy", "ruff", "pylint", "tsc", "dotnet", "gcc",
        "g++", "cc", "c++", "clang", "clang++", "ld", "ar", "rustc", "javac", "java", "jar",
        "kotlinc", "msbuild", "cl", "swiftc",
    ];
    let is_file = |word: &Word| word.text.len() > 1 && word.text.starts_with('@');
    READING.contains(&name) && args.iter().any(is_file)
}

/// Folders of this machine that a container may write, and rights by which it leaves its walls.
fn container(args: &[Word]) -> Risks {
    const RAISING: [&str; 7] = [
        "--privileged",
        "--cap-add",
        "--device",
        "--pid",
        "--userns",
        "--security-opt",
        "--network=host",
    ];
    let begins = |flags: &[&str]| {
        args.iter()
            .any(|word| flags.iter().any(|flag| word.text.starts_with(flag)))
    };
    let mut risks = Risks::new();
    if begins(&["-v", "--volume", "--mount"]) {
        risks.insert(Risk::WritesOutside);
    }
    if begins(&RAISING) {
        risks.insert(Risk::RaisesPrivilege);
    }
    risks
}

fn deletes(name: &str, args: &[Word]) -> bool {
    match name {
        // What is computed may be a flag, or everything.
        "rm" => {
            has_short(args, "rRf")
                || has_long(args, "--recursive")
                || has_long(args, "--force")
                || args.iter().any(|word| word.computed || word.pattern)
        }
        "shred" | "srm" => true,
        "rsync" => args.iter().any(|word| word.text.starts_with("--del")),
        _ => false,
    }
}

fn uploads(name: &str, args: &[Word]) -> bool {
    match name {
        "curl" => curl::Call::of(args).uploads(),
        "wget" => args
            .iter()
            .any(|word| word.text.starts_with("--post-") || word.text.starts_with("--body-")),
        _ => false,
    }
}

fn talks(name: &str, args: &[Word]) -> bool {
    TALKING.contains(&name)
        || (name == "rsync" && operands(args).any(|word| word.text.contains(':')))
}

/// What a folder holds is copied to this machine, under names that are not told.
fn copies_contents(args: &[Word]) -> bool {
    let words: Vec<&str> = operands(args).map(|word| &*word.text).collect();
    words.split_last().is_some_and(|(target, sources)| {
        !target.contains(':') && sources.iter().any(|source| known::is_contents(source))
    })
}

/// Recursive changes, and modes by which everybody may write or a program takes its owner's rights.
fn opens_up(name: &str, args: &[Word]) -> bool {
    let recursive = has_short(args, "R") || has_long(args, "--recursive");
    match name {
        "chmod" => recursive || opening_mode(first_operand(args)),
        "chown" | "chgrp" => recursive,
        "setfacl" | "chattr" | "visudo" => true,
        _ => false,
    }
}

fn opening_mode(mode: &str) -> bool {
    if mode.chars().all(|c| c.is_digit(8)) {
        let special = mode.len() >= 4 && !mode.starts_with('0');
        return special || mode.ends_with(['2', '3', '6', '7']);
    }
    mode.split(',').any(|clause| {
        let Some((who, rights)) = clause.split_once(['+', '=']) else {
            return false;
        };
        rights.contains('s') || (rights.contains('w') && who.contains(['o', 'a']))
    })
}

fn writes_disk(name: &str, args: &[Word]) -> bool {
    name.starts_with("mkfs")
        || DISK_TOOLS.contains(&name)
        || (name == "dd" && args.iter().any(|word| word.text.starts_with("of=")))
}

/// By force, or everything at once.
fn kills(name: &str, args: &[Word]) -> bool {
    KILLING.contains(&name) || (name == "kill" && !sends_nothing(args))
}

/// `kill` that lists the signals, or only asks whether a process is there.
fn sends_nothing(args: &[Word]) -> bool {
    let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
    let processes = match words.as_slice() {
        []
        | [
            "-l" | "-L" | "--list" | "--table" | "--help" | "--version",
            ..,
        ] => return true,
        ["-0", processes @ ..] | ["-s" | "-n" | "--signal", "0", processes @ ..] => processes,
        _ => return false,
    };
    // A second signal counts instead.
    processes.iter().all(|word| !word.starts_with('-'))
}

fn installs(name: &str, args: &[Word]) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if bare == "python" {
        return has(args, &["pip"]) && has(args, &["install"]);
    }
    let is_alone = args.iter().all(|word| word.text.starts_with('-'));
    if INSTALLING_ALONE.contains(&bare)
        && is_alone
        && !has(args, &["--version", "-v", "--help", "-h"])
    {
        return true;
    }
    // `go run module@version` fetches it.
    if bare == "go" && has(args, &["run"]) {
        return args.iter().any(|word| word.text.contains('@'));
    }
    INSTALLERS
        .iter()
        .find(|(installer, _)| *installer == bare)
        .is_some_and(|(_, words)| words.is_empty() || has(args, words))
}

fn schedules(name: &str, args: &[Word]) -> bool {
    match name {
        "crontab" => !has(args, &["-l"]),
        "at" | "batch" => true,
        "systemctl" | "launchctl" => has(args, &["enable", "load", "bootstrap"]),
        _ => false,
    }
}
