//! Terminals of a confined process's own. The machine's are not shared: whoever may open `/dev/pts` can read what
//! is typed into every terminal of the same user.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    process::{getegid, geteuid},
    thread::{CapabilitySet, capabilities},
};

const FOLDER: &str = "/dev/pts";
const MAKER: &str = "/dev/ptmx";
const SHARED_MEMORY: &str = "/dev/shm";
/// The terminal that a process belongs to.
const OWN: &str = "/dev/tty";

/// Whether user namespaces had to be used, in which this process has no privileges that count outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    AsRoot,
    InUserNamespace,
}

/// What a process has of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Namespaces {
    pub(super) made: Made,
    /// Memory and queues that processes share by number; not every kernel has a namespace for these.
    pub(super) own_memory: bool,
}

/// Gives this process, and all that it starts, a `/dev/pts` and a `/dev/shm` that are empty and nobody else's. If
/// this fails, the process may be left without its user's rights, and has to end.
pub(super) fn make_own() -> io::Result<Namespaces> {
    let made = private_mounts()?;
    // What is mounted outside later is seen here, and nothing the other way.
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", downstream)?;
    let quiet = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount(
        "devpts",
        FOLDER,
        "devpts",
        quiet,
        c"newinstance,ptmxmode=0666,mode=0600",
    )?;
    if Path::new(SHARED_MEMORY).is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", SHARED_MEMORY, "tmpfs", flags, c"mode=1777")?;
    }
    File::options().read(true).write(true).open(MAKER)?;
    Ok(Namespaces {
        made,
        own_memory: unshare(CloneFlags::CLONE_NEWIPC).is_ok(),
    })
}

/// What a process with terminals of its own opens. A process that belongs to a terminal outside must not open it:
/// it could put words into the mouth of whoever sits there.
pub(super) fn paths() -> Vec<PathBuf> {
    let mut paths = vec![MAKER.into(), FOLDER.into(), SHARED_MEMORY.into()];
    if File::open(OWN).is_err() {
        paths.push(OWN.into());
    }
    paths
}

fn private_mounts() -> io::Result<Made> {
    if capabilities(None)?
        .effective
        .contains(CapabilitySet::SYS_ADMIN)
    {
        unshare(CloneFlags::CLONE_NEWNS)?;
        return Ok(Made::AsRoot);
    }
    let (user, group) = (geteuid(), getegid());
    // In a namespace of its own it would lose its power over the files of others, and those are what root is for.
    if user.is_root() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    fs::write("/proc/self/setgroups", "deny")?;
    let (user, group) = (user.as_raw(), group.as_raw());
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(Made::InUserNamespace)
}
