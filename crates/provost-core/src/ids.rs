//! Identifiers: random, opaque, and typed so that one cannot be passed for another.

use std::{
    cell::RefCell,
    fmt,
    sync::atomic::{AtomicU16, Ordering},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::time::Time;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into_boxed_str())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// 16 hex characters; `appr_` and 32 where an agent asks a person itself.
    ApprovalId
);
id!(
    /// 32 hex characters.
    DeliveryId
);
id!(
    /// 16 hex characters.
    GrantId
);
id!(
    /// 32 hex characters. Ours begin with the time and a count, so that the index of traces grows at its end.
    TraceId
);

impl ApprovalId {
    pub fn random() -> Self {
        Self(hex(&random_bytes::<8>()).into())
    }

    /// For a question that an agent puts to a person itself.
    pub fn requested() -> Self {
        Self(format!("appr_{}", hex(&random_bytes::<16>())).into())
    }

    pub fn is_requested(&self) -> bool {
        self.0.starts_with("appr_")
    }
}

impl DeliveryId {
    pub fn random() -> Self {
        Self(hex(&random_bytes::<16>()).into())
    }
}

impl GrantId {
    pub fn random() -> Self {
        Self(hex(&random_bytes::<8>()).into())
    }
}

impl TraceId {
    pub fn at(now: Time) -> Self {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        let mut bytes = unique_bytes::<16>();
        let millis = now.millis().to_be_bytes();
        let count = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let first = millis.iter().skip(2).chain(&count);
        for (to, from) in bytes.iter_mut().zip(first) {
            *to = *from;
        }
        Self(hex(&bytes).into())
    }

    /// The same for the same parts: what a caller names by ids of its own is found again.
    pub fn derived(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest = hash.finalize();
        Self(hex(digest.get(..16).unwrap_or_default()).into())
    }

    /// An id given by a caller: 32 hex characters (W3C), not all zero.
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text.len() == 32
            && text.bytes().all(|b| b.is_ascii_hexdigit())
            && text.bytes().any(|b| b != b'0');
        well_formed.then(|| Self(text.to_ascii_lowercase().into()))
    }
}

/// Bytes from the operating system. A machine that cannot give them must not go on making ids.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0_u8; N];
    #[expect(
        clippy::expect_used,
        reason = "without entropy no key, id or permit would be safe"
    )]
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// Bytes for ids, which must be unique but are no secret: taken from the system many at a time.
fn unique_bytes<const N: usize>() -> [u8; N] {
    const POOL: usize = 1024;
    thread_local! {
        static FRESH: RefCell<([u8; POOL], usize)> = const { RefCell::new(([0; POOL], POOL)) };
    }
    FRESH.with_borrow_mut(|(pool, used)| {
        if *used + N > POOL {
            (*pool, *used) = (random_bytes(), 0);
        }
        let mut bytes = [0; N];
        if let Some(fresh) = pool.get(*used..*used + N) {
            bytes.copy_from_slice(fresh);
        }
        *used += N;
        bytes
    })
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| {
        DIGITS
            .get(usize::from(nibble & 15))
            .copied()
            .unwrap_or(b'0')
    };
    // Every call has four of them: pairs in a row are quicker than digits one by one.
    let mut text = vec![b'0'; bytes.len() * 2];
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(*byte)];
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_lengths_of_the_protocol() {
        assert_eq!(ApprovalId::random().as_str().len(), 16);
        assert_eq!(GrantId::random().as_str().len(), 16);
        assert_eq!(TraceId::at(Time::from_millis(1)).as_str().len(), 32);
    }

    #[test]
    fn trace_ids_sort_by_time() {
        let early = TraceId::at(Time::from_millis(1_000_000));
        let late = TraceId::at(Time::from_millis(2_000_000));
        assert!(early < late);
    }

    #[test]
    fn callers_ids_are_checked() {
        for (text, ok) in [
            ("0af7651916cd43dd8448eb211c80319c", true),
            ("0AF7651916CD43DD8448EB211C80319C", true),
            ("00000000000000000000000000000000", false),
            ("0af7", false),
            ("zaf7651916cd43dd8448eb211c80319c", false),
        ] {
            assert_eq!(TraceId::parse(text).is_some(), ok, "{text}");
        }
    }
}
