//! The chain of hashes: each record's hash covers the one before, its own place, its kind and its bytes.

use sha2::{Digest as _, Sha256};

use super::RecordKind;
use crate::ids::hex;

pub type Hash = [u8; 32];

/// The hash before the first record of a chain. It names the chain, so that records of one chain
/// cannot be passed off as another's.
pub fn genesis(chain: &str) -> Hash {
    Sha256::new()
        .chain_update(b"provost trace chain\0")
        .chain_update(chain.as_bytes())
        .finalize()
        .into()
}

pub fn next(previous: &Hash, seq: u64, kind: RecordKind, body: &str) -> Hash {
    Sha256::new()
        .chain_update(previous)
        .chain_update(seq.to_be_bytes())
        .chain_update(kind.as_str())
        .chain_update(b"\0")
        .chain_update(body.as_bytes())
        .finalize()
        .into()
}

pub fn text(hash: &Hash) -> String {
    hex(hash)
}

/// The inverse of [`text`].
pub fn parse(text: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    if text.len() != hash.len() * 2 {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        let digits = text.get(at * 2..at * 2 + 2)?;
        // `from_str_radix` would take a sign.
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_counts() {
        let start = genesis("main");
        let base = next(&start, 1, RecordKind::Note, "a");
        assert_ne!(genesis("other"), start);
        assert_ne!(next(&genesis("other"), 1, RecordKind::Note, "a"), base);
        assert_ne!(next(&start, 2, RecordKind::Note, "a"), base);
        assert_ne!(next(&start, 1, RecordKind::Outcome, "a"), base);
        assert_ne!(next(&start, 1, RecordKind::Note, "b"), base);
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = genesis("main");
        assert_eq!(parse(&text(&hash)), Some(hash));
        for bad in ["", "ab", &"+1".repeat(32), &"é".repeat(32)] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
