//! Filters of system calls (seccomp), for what Landlock does not see. A filter sees numbers and no paths.
//!
//! - Unix sockets, on kernels whose Landlock cannot keep a process from the sockets of others by their path: every one
//!   but a pair of connected streams, which programs use for their own children.
//! - TCP by other names, where ports are limited: Landlock looks at `connect` of a plain TCP socket alone.
//! - What reaches other processes of the user: their limits, the keys of the kernel, and memory and queues that
//!   processes share by number (System V, POSIX queues).

use std::collections::BTreeMap;

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EPERM, EPROTONOSUPPORT, IPPROTO_TCP, MSG_FASTOPEN,
    SOCK_DGRAM, SOCK_RAW, SOCK_STREAM, SYS_add_key, SYS_io_uring_setup, SYS_keyctl, SYS_mq_open,
    SYS_msgget, SYS_prlimit64, SYS_request_key, SYS_semget, SYS_sendmmsg, SYS_sendmsg, SYS_sendto,
    SYS_shmat, SYS_shmget, SYS_socket, SYS_socketpair, c_int, c_long,
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

/// What is refused, besides what always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Refuse {
    pub(super) unix_sockets: bool,
    /// TCP that Landlock does not see.
    pub(super) hidden_tcp: bool,
    /// What processes share by number. One with a namespace of its own shares nothing.
    pub(super) shared_memory: bool,
}

/// Calls by their number, each with the rules of which one is enough.
type Calls = Vec<(c_long, Vec<SeccompRule>)>;

/// From now on, for this thread and all that it starts. Programs of another architecture are ended.
pub(super) fn refuse(what: Refuse) -> Result<(), Error> {
    apply_filter(&filter(not_permitted(what)?, EPERM)?)?;
    if what.hidden_tcp {
        // As on a kernel that has none of it: programs then use plain TCP.
        apply_filter(&filter(other_than_tcp()?, EPROTONOSUPPORT)?)?;
    }
    Ok(())
}

fn not_permitted(what: Refuse) -> Result<Calls, Error> {
    // The process that is named is another one, and it gets new limits.
    let other = vec![
        argument(0, SeccompCmpOp::Ne, 0)?,
        SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?,
    ];
    let mut calls = vec![
        (SYS_prlimit64, vec![SeccompRule::new(other)?]),
        (SYS_keyctl, Vec::new()),
        (SYS_add_key, Vec::new()),
        (SYS_request_key, Vec::new()),
    ];
    if what.shared_memory {
        let numbers = [SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open];
        calls.extend(numbers.map(|number| (number, Vec::new())));
    }
    if what.unix_sockets {
        // A datagram socket of a pair can still be sent from to any address, and a raw one is the same.
        calls.extend([
            (SYS_socket, vec![SeccompRule::new(vec![is_unix()?])?]),
            (SYS_socketpair, vec![pair(SOCK_DGRAM)?, pair(SOCK_RAW)?]),
        ]);
    }
    if what.unix_sockets || what.hidden_tcp {
        // It makes sockets past this filter.
        calls.push((SYS_io_uring_setup, Vec::new()));
    }
    Ok(calls)
}

/// Streams of other protocols (multipath TCP), other families that connect over TCP, and connecting by sending.
fn other_than_tcp() -> Result<Calls, Error> {
    let not = |index, value: c_int| argument(index, SeccompCmpOp::Ne, value);
    let stream = argument(1, SeccompCmpOp::MaskedEq(KIND), SOCK_STREAM)?;
    let protocol = vec![stream, not(0, AF_UNIX)?, not(2, 0)?, not(2, IPPROTO_TCP)?];
    let families = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];
    let families: Result<Vec<_>, _> = families.map(|family| not(0, family)).into_iter().collect();
    let fast_open = |index| -> Result<_, Error> {
        let flag = u64::from(MSG_FASTOPEN.cast_unsigned());
        let flag = argument(index, SeccompCmpOp::MaskedEq(flag), MSG_FASTOPEN)?;
        Ok(vec![SeccompRule::new(vec![flag])?])
    };
    Ok(vec![
        (
            SYS_socket,
            vec![SeccompRule::new(protocol)?, SeccompRule::new(families?)?],
        ),
        (SYS_sendto, fast_open(3)?),
        (SYS_sendmsg, fast_open(2)?),
        (SYS_sendmmsg, fast_open(3)?),
    ])
}

fn filter(calls: Calls, error: c_int) -> Result<BpfProgram, Error> {
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
        SeccompAction::Errno(error.cast_unsigned()),
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}

fn argument(index: u8, op: SeccompCmpOp, value: c_int) -> Result<SeccompCondition, Error> {
    let value = u64::from(value.cast_unsigned());
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, op, value);
    Ok(condition?)
}

fn is_unix() -> Result<SeccompCondition, Error> {
    argument(0, SeccompCmpOp::Eq, AF_UNIX)
}

fn pair(kind: c_int) -> Result<SeccompRule, Error> {
    let kind = argument(1, SeccompCmpOp::MaskedEq(KIND), kind)?;
    Ok(SeccompRule::new(vec![is_unix()?, kind])?)
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, UdpSocket},
        os::unix::net::{UnixDatagram, UnixListener, UnixStream},
        thread,
    };

    use super::*;

    /// On a thread of its own, which stays filtered until it ends.
    fn filtered(what: Refuse, then: impl FnOnce() + Send + 'static) {
        let filtered = thread::spawn(move || {
            refuse(what).unwrap();
            then();
        });
        filtered.join().unwrap();
    }

    #[test]
    fn only_pairs_of_streams_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let outside = UnixListener::bind(dir.path().join("socket")).unwrap();
        let path = dir.path().join("socket");
        let what = Refuse {
            unix_sockets: true,
            ..Refuse::default()
        };
        filtered(what, move || {
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
        drop(outside);
    }

    /// What it is for is tested with programs, in `tests/sandbox.rs`.
    #[test]
    fn plain_sockets_are_left_where_ports_are_limited() {
        let what = Refuse {
            hidden_tcp: true,
            shared_memory: true,
            ..Refuse::default()
        };
        filtered(what, || {
            TcpListener::bind("127.0.0.1:0").unwrap();
            UdpSocket::bind("127.0.0.1:0").unwrap();
            UnixDatagram::pair().unwrap();
        });
    }
}
