//! The chain of hashes: each record's hash covers the one before, its own place and its bytes.

use sha2::{Digest as _, Sha256};

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

pub fn next(previous: &Hash, seq: u64, body: &str) -> Hash {
    Sha256::new()
        .chain_update(previous)
        .chain_update(seq.to_be_bytes())
        .chain_update(body.as_bytes())
        .finalize()
        .into()
}

pub fn text(hash: &Hash) -> String {
    hex(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_counts() {
        let start = genesis("main");
        let base = next(&start, 1, "a");
        assert_ne!(genesis("other"), start);
        assert_ne!(next(&genesis("other"), 1, "a"), base);
        assert_ne!(next(&start, 2, "a"), base);
        assert_ne!(next(&start, 1, "b"), base);
    }
}
