//! A gateway proves that it is the one of a data folder: it knows the admin key in it, and shows that without
//! telling the key. The command line asks for the proof before it sends a key to an address that nobody gave it.

use std::net::SocketAddr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use provost_core::ids::hex;
use sha2::Sha256;

use crate::secret::Secret;

/// How long a challenge may be, in characters.
pub const LONGEST_CHALLENGE: usize = 128;

/// What this gateway can prove.
#[derive(Debug)]
pub struct Instance {
    admin_key: Secret,
    listen: SocketAddr,
}

impl Instance {
    pub fn new(admin_key: &str, listen: SocketAddr) -> Self {
        Self {
            admin_key: admin_key.into(),
            listen,
        }
    }

    pub fn prove(&self, challenge: &str) -> String {
        proof(self.admin_key.expose(), challenge, self.listen)
    }
}

/// The address that it listens on is part of it: a program on another port, or on another address of this machine,
/// that passes the challenge on to the real gateway gains nothing.
pub fn proof(admin_key: &str, challenge: &str, listen: SocketAddr) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(admin_key.as_bytes()) else {
        return String::new();
    };
    mac.update(format!("provost instance\n{listen}\n{challenge}").as_bytes());
    hex(&mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p06_a_proof_is_of_one_key_one_challenge_and_one_address() {
        let at = |text: &str| text.parse().unwrap();
        let here = at("127.0.0.1:9090");
        let ours = Instance::new("pvk_1", here).prove("c1");
        assert_eq!(ours, proof("pvk_1", "c1", here));
        for other in [
            proof("pvk_2", "c1", here),
            proof("pvk_1", "c2", here),
            proof("pvk_1", "c1", at("127.0.0.1:9091")),
            proof("pvk_1", "c1", at("[::1]:9090")),
            proof("pvk_1", "c1", at("0.0.0.0:9090")),
        ] {
            assert_ne!(ours, other);
        }
        assert!(!format!("{:?}", Instance::new("pvk_1", here)).contains("pvk_1"));
    }
}
