//! No Unix sockets, by a filter of system calls (seccomp), for kernels whose Landlock cannot keep a process from
//! the sockets of others by their path. A filter sees no paths, so it refuses every Unix socket but a pair of
//! connected streams, which programs use for their own children.

use std::collections::BTreeMap;

use libc::{
    AF_UNIX, EPERM, SOCK_DGRAM, SOCK_RAW, SYS_io_uring_setup, SYS_socket, SYS_socketpair, c_long,
};
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter,
};

/// The second set of numbers that calls of x86 have; a kernel may serve both.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: Option<c_long> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERS: Option<c_long> = None;

/// Whether the numbers of system calls are known for this architecture.
pub(super) const KNOWN_HERE: bool = cfg!(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
));

/// The kind of a socket, without the flags that are set beside it.
const KIND: u64 = 0xf;

/// From now on, for this thread and all that it starts. Programs of another architecture are ended.
pub(super) fn refuse() -> Result<(), Error> {
    apply_filter(&filter()?)
}

fn filter() -> Result<BpfProgram, Error> {
    let calls = [
        (SYS_socket, vec![SeccompRule::new(vec![is_unix()?])?]),
        // A datagram socket of a pair can still be sent from to any address, and a raw one is the same.
        (SYS_socketpair, vec![pair(SOCK_DGRAM)?, pair(SOCK_RAW)?]),
        // It makes sockets past this filter.
        (SYS_io_uring_setup, Vec::new()),
    ];
    let mut rules = BTreeMap::new();
    for (number, refused) in calls {
        if let Some(other) = OTHER_NUMBERS {
            rules.insert(number | other, refused.clone());
        }
        rules.insert(number, refused);
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(EPERM as u32),
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}

fn is_unix() -> Result<SeccompCondition, Error> {
    let family =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, AF_UNIX as u64);
    Ok(family?)
}

fn pair(kind: i32) -> Result<SeccompRule, Error> {
    let kind = SeccompCondition::new(
        1,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(KIND),
        kind as u64,
    );
    Ok(SeccompRule::new(vec![is_unix()?, kind?])?)
}

#[cfg(test)]
mod tests {
    use std::{
        net::TcpListener,
        os::unix::net::{UnixDatagram, UnixListener, UnixStream},
    };

    use super::*;

    /// On a thread of its own, which stays filtered until it ends.
    #[test]
    fn only_pairs_of_streams_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let outside = UnixListener::bind(dir.path().join("socket")).unwrap();
        let path = dir.path().join("socket");
        let filtered = std::thread::spawn(move || {
            refuse().unwrap();
            let refused = [
                UnixStream::connect(path).err(),
                UnixDatagram::unbound().err(),
                UnixDatagram::pair().err(),
            ];
            for error in refused {
                assert_eq!(error.unwrap().raw_os_error(), Some(EPERM));
            }
            UnixStream::pair().unwrap();
            TcpListener::bind("127.0.0.1:0").unwrap();
        });
        filtered.join().unwrap();
        drop(outside);
    }
}
