//! The key by which a run asks the gate: made from a secret of the store and the run's id, so that nothing is
//! kept and a restart changes nothing. It is good for as long as the run is.

use hmac::{Hmac, KeyInit as _, Mac as _};
use provost_core::ids::hex;
use sha2::Sha256;

/// Agents that are run here are called so at the gate; nobody else may.
pub const PREFIX: &str = "run:";

pub(super) struct Keys {
    secret: [u8; 32],
}

impl Keys {
    pub(super) fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    pub(super) fn of(&self, run: &str) -> Option<String> {
        let seal = self.seal(run)?.finalize().into_bytes();
        Some(format!("{PREFIX}{run}:{}", hex(&seal)))
    }

    /// The run whose key it is.
    pub(super) fn run<'k>(&self, key: &'k str) -> Option<&'k str> {
        let (run, seal) = key.strip_prefix(PREFIX)?.rsplit_once(':')?;
        let seal = unhex(seal)?;
        self.seal(run)?.verify_slice(&seal).ok()?;
        Some(run)
    }

    fn seal(&self, run: &str) -> Option<Hmac<Sha256>> {
        let mut seal = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        seal.update(b"run\0");
        seal.update(run.as_bytes());
        Some(seal)
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_its_own_run() {
        let keys = Keys::new([7; 32]);
        let key = keys.of("run_1").unwrap();
        assert_eq!(keys.run(&key), Some("run_1"));
        assert_eq!(Keys::new([8; 32]).run(&key), None);
        for other in [
            key.replace("run_1", "run_2"),
            key.get(..key.len() - 2).unwrap().to_owned(),
            format!("{key}00"),
            "run:run_1:".to_owned(),
            "run:".to_owned(),
            "run:run_1:zz".to_owned(),
        ] {
            assert_eq!(keys.run(&other), None, "{other}");
        }
    }
}
