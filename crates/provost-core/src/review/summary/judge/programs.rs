//! What single programs risk, by their name and flags.

use super::{
    Risk, Risks, Word,
    args::{first_operand, has, has_long, has_short, operands},
    flags, git,
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
const INSTALLERS: [(&str, &[&str]); 31] = [
    ("npm", &["install", "i", "add", "ci", "exec", "x"]),
    ("pnpm", &["install", "i", "add", "dlx"]),
    ("yarn", &["install", "add", "global", "dlx"]),
    ("bun", &["install", "i", "add", "x"]),
    ("npx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("pip", &["install"]),
    ("pipx", &["install", "run"]),
    ("uv", &["install", "add", "sync"]),
    ("poetry", &["install", "add"]),
    ("conda", &["install", "create"]),
    ("mamba", &["install", "create"]),
    ("gem", &["install"]),
    ("bundle", &["install"]),
    ("cargo", &["install"]),
    ("go", &["install", "get"]),
    ("composer", &["install", "require", "global"]),
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
    ("brew", &["install", "upgrade", "uninstall"]),
    ("port", &["install"]),
    ("snap", &["install", "remove"]),
    ("flatpak", &["install"]),
];

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
    ];
    risks.extend(
        found
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, risk)| risk),
    );
    if name == "git" {
        risks.append(&mut git::risks(args));
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
    let starts = |prefixes: &[&str]| {
        args.iter()
            .any(|word| prefixes.iter().any(|prefix| word.text.starts_with(prefix)))
    };
    match name {
        "curl" => starts(&[
            "-d",
            "--data",
            "-F",
            "--form",
            "-T",
            "--upload-file",
            "--json",
        ]),
        "wget" => starts(&["--post-", "--body-"]),
        _ => false,
    }
}

fn talks(name: &str, args: &[Word]) -> bool {
    TALKING.contains(&name)
        || (name == "rsync" && operands(args).any(|word| word.text.contains(':')))
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
    let forced = [
        "-9", "-KILL", "-SIGKILL", "-kill", "KILL", "SIGKILL", "9", "-1",
    ];
    KILLING.contains(&name) || (name == "kill" && has(args, &forced))
}

fn installs(name: &str, args: &[Word]) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if bare == "python" {
        return has(args, &["pip"]) && has(args, &["install"]);
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

/// Where the program writes, as far as its arguments tell.
pub(super) fn written(name: &str, args: &[Word]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut write = |path: &str| paths.push(path.to_owned());
    match name {
        "tee" | "touch" | "truncate" | "mkdir" => operands(args).for_each(|word| write(&word.text)),
        // What it takes away cannot be told of a computed name, which is marked as such.
        "rm" | "rmdir" | "unlink" => operands(args)
            .filter(|word| !word.computed && !word.pattern)
            .for_each(|word| write(&word.text)),
        "cp" | "mv" | "ln" | "install" => {
            operands(args)
                .last()
                .into_iter()
                .for_each(|word| write(&word.text));
            values(args, &["-t", "--target-directory"]).for_each(&mut write);
        }
        "sed" | "perl" if has_short(args, "i") || has_long(args, "--in-place") => {
            operands(args).skip(1).for_each(|word| write(&word.text));
        }
        "curl" => values(args, &["-o", "--output", "--output-dir"]).for_each(&mut write),
        "sort" => values(args, &["-o", "--output"]).for_each(&mut write),
        "tar" | "bsdtar" => values(args, &["-C", "--directory"]).for_each(&mut write),
        "unzip" => values(args, &["-d"]).for_each(&mut write),
        "find" => values(args, &["-fprintf", "-fprint0", "-fprint", "-fls"]).for_each(&mut write),
        "wget" => values(args, &["-O", "--output-document", "-P"]).for_each(&mut write),
        "git" => git::written(args).into_iter().for_each(write),
        "dd" => args
            .iter()
            .filter_map(|word| word.text.strip_prefix("of="))
            .for_each(&mut write),
        _ => {}
    }
    paths
}

/// The values of these flags, apart or glued on.
fn values<'a>(args: &'a [Word], flags: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let next = args.iter().skip(1).map(|word| word.text.as_str());
    let next = next.chain([""]);
    args.iter().zip(next).filter_map(|(word, next)| {
        let value = flags.iter().find_map(|flag| word.text.strip_prefix(flag))?;
        match value.strip_prefix('=').unwrap_or(value) {
            "" => Some(next).filter(|next| !next.is_empty() && *next != "-"),
            value => Some(value),
        }
    })
}
