//! Programs whose words say what is done, or to what.

use super::{seat::Seat, token::program as started_by};
use crate::review::summary::Outline;

/// Programs whose words are what they act on, or what they run. None of them takes a secret.
const ACTING: [&str; 56] = [
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "mv",
    "cp",
    "ln",
    "dd",
    "tee",
    "touch",
    "mkdir",
    "truncate",
    "install",
    "rsync",
    "chmod",
    "chown",
    "chgrp",
    "chattr",
    "mkfs",
    "mount",
    "umount",
    "kill",
    "pkill",
    "killall",
    "reboot",
    "shutdown",
    "systemctl",
    "service",
    "crontab",
    "at",
    "cat",
    "less",
    "head",
    "tail",
    "sed",
    "awk",
    "find",
    "grep",
    "xargs",
    "tar",
    "source",
    ".",
    "eval",
    "exec",
    "trap",
    "alias",
    "bind",
    "complete",
    "hash",
    "cd",
    "pushd",
    "ls",
    "test",
    "[",
    "[[",
    "patch",
];
/// Those that are looked for behind `sudo` and the like as well.
pub(super) const ACTING_ANYWHERE: [&str; 12] = [
    "rm", "rmdir", "unlink", "shred", "mv", "cp", "dd", "tee", "chmod", "chown", "xargs",
    "truncate",
];
/// Programs whose first word that is no flag is what they run.
const RUNNING: [&str; 16] = [
    "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node",
    "deno", "bun", "php", "lua", "pwsh",
];

/// What the word is to its command says what is done, or to what.
pub(super) fn acts(outline: &Outline, seat: Option<&Seat>, at: usize) -> bool {
    let (Some(program), Some(seat)) = (outline.before(at).next(), seat) else {
        return false;
    };
    let name = program.text.rsplit('/').next().unwrap_or_default();
    let name = name.to_lowercase();
    let runs = RUNNING.contains(&&*name) && seat.behind_flags;
    let starts_acting = started_by(outline, at).is_some_and(|it| ACTING.contains(&it));
    runs || ACTING.contains(&&*name) || starts_acting || seat.acted_on
}
