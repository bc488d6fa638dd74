//! A gateway proves that it is the one of a data folder: it knows the admin key in it, and shows that without
//! telling the key. The command line asks for the proof before it sends a key to an address that nobody gave it.

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
    port: u16,
}

impl Instance {
    pub fn new(admin_key: &str, port: u16) -> Self {
        Self {
            admin_key: admin_key.into(),
            port,
        }
    }

    pub fn prove(&self, challenge: &str) -> String {
        proof(self.admin_key.expose(), challenge, self.port)
    }
}

/// The port is part of it: a program on another port that passes the challenge on to the real gateway gains
/// nothing.
pub fn proof(admin_key: &str, challenge: &str, port: u16) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(admin_key.as_bytes()) else {
        return String::new();
    };
    mac.update(format!("provost instance\n{port}\n{challenge}").as_bytes());
    hex(&mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p6_a_proof_is_of_one_key_one_challenge_and_one_port() {
        let ours = Instance::new("pvk_1", 9090).prove("c1");
        assert_eq!(ours, proof("pvk_1", "c1", 9090));
        for other in [
            proof("pvk_2", "c1", 9090),
            proof("pvk_1", "c2", 9090),
            proof("pvk_1", "c1", 9091),
        ] {
            assert_ne!(ours, other);
        }
        assert!(!format!("{:?}", Instance::new("pvk_1", 1)).contains("pvk_1"));
    }
}
