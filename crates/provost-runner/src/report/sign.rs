//! The proof that a report is ours and not an old one, in two forms over the same bytes: the supervisor's own
//! headers and those of Standard Webhooks.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use sha2::Sha256;

use crate::{
    config::{Callback, Secret},
    web,
};

const PREFIX: &str = "whsec_";
const TIMESTAMP: HeaderName = HeaderName::from_static("x-supervisor-timestamp");
const NONCE: HeaderName = HeaderName::from_static("x-supervisor-nonce");
const SIGNATURE: HeaderName = HeaderName::from_static("x-supervisor-signature");
const HOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const HOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const HOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// What makes one attempt different from the next: taken anew for each.
pub(super) struct Stamp {
    pub(super) millis: i64,
    pub(super) nonce: String,
}

impl Stamp {
    pub(super) fn new(millis: i64) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let nonce = uuid(bytes);
        Ok(Self { millis, nonce })
    }
}

/// The keys of one callback.
pub(super) struct Signer {
    bearer: HeaderValue,
    token: Secret,
    hook: Vec<u8>,
}

impl Signer {
    /// `None`: the token cannot stand in a header.
    pub(super) fn new(callback: &Callback) -> Option<Self> {
        let token = callback.token.clone();
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.reveal())).ok()?;
        bearer.set_sensitive(true);
        let hook = hook_key(callback.signing_secret.as_ref().unwrap_or(&token).reveal());
        Some(Self {
            bearer,
            token,
            hook,
        })
    }

    /// The headers of one attempt to send exactly these bytes.
    pub(super) fn headers(&self, id: &str, stamp: &Stamp, body: &[u8]) -> HeaderMap {
        let seconds = stamp.millis.div_euclid(1000);
        let proof = self.proof(stamp, body);
        let hook = self.hook(id, seconds, body);
        let mut headers = HeaderMap::with_capacity(9);
        headers.insert(header::AUTHORIZATION, self.bearer.clone());
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(
            header::USER_AGENT,
            HeaderValue::from_static("provost-runner"),
        );
        headers.insert(TIMESTAMP, HeaderValue::from(stamp.millis));
        headers.insert(HOOK_TIMESTAMP, HeaderValue::from(seconds));
        let texts = [
            (NONCE, stamp.nonce.as_str()),
            (SIGNATURE, &proof),
            (HOOK_ID, id),
            (HOOK_SIGNATURE, &hook),
        ];
        for (name, text) in texts {
            // All of them are made of visible ASCII here, see `hook_id`.
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(name, value);
            }
        }
        headers
    }

    fn proof(&self, stamp: &Stamp, body: &[u8]) -> String {
        let millis = stamp.millis.to_string();
        let parts = [millis.as_bytes(), b".", stamp.nonce.as_bytes(), b".", body];
        let mut text = String::from("sha256=");
        for byte in mac(self.token.reveal().as_bytes(), &parts) {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    fn hook(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        let seconds = seconds.to_string();
        let parts = [id.as_bytes(), b".", seconds.as_bytes(), b".", body];
        format!("v1,{}", STANDARD.encode(mac(&self.hook, &parts)))
    }
}

/// The prompt's id as a header can carry it: what is not visible ASCII is percent-encoded.
pub(super) fn hook_id(prompt: &str) -> String {
    web::quoted(prompt, |byte| byte.is_ascii_graphic())
}

/// `whsec_` and base64, as the standard writes it; another text is taken as it is.
fn hook_key(text: &str) -> Vec<u8> {
    let coded = text
        .strip_prefix(PREFIX)
        .map(|coded| STANDARD.decode(coded));
    match coded {
        Some(Ok(bytes)) => bytes,
        _ => text.as_bytes().to_vec(),
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Version 4, variant 1: RFC 9562.
fn uuid(bytes: [u8; 16]) -> String {
    let mut number = u128::from_be_bytes(bytes);
    number &= !(0xf000 << 64 | 0xc000 << 48);
    number |= 0x4000 << 64 | 0x8000 << 48;
    let hex = format!("{number:032x}");
    let mut text = String::with_capacity(36);
    for (place, digit) in hex.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"kind":"session_update","n":"é"}"#;

    fn signer(signing_secret: Option<&str>) -> Signer {
        Signer::new(&Callback {
            url: "http://127.0.0.1/".to_owned(),
            token: Secret::new("tok-123"),
            signing_secret: signing_secret.map(Secret::new),
        })
        .unwrap()
    }

    /// Computed with Python's standard library:
    /// `hmac.new(b"tok-123", b"1700000000123.6f1c…." + body, "sha256").hexdigest()` and
    /// `base64.b64encode(hmac.new(key, b"p-1:7.1700000000." + body, "sha256").digest())`, where `key` is the
    /// token or `base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")`.
    #[test]
    fn the_signatures_are_those_of_another_implementation() {
        let stamp = Stamp {
            millis: 1_700_000_000_123,
            nonce: "6f1c2a9e-7b3d-4e5f-8a9b-0c1d2e3f4a5b".to_owned(),
        };
        let secret = Some("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        for (secret, hook) in [
            (None, "v1,/96ryPsCy/dTqEX4r10q+Cm9IQHp8QW1S01H+Kb6U9s="),
            (secret, "v1,OQqwQ+yIUn085SCTwFub6NjEogk4pA0jSjsTn/Im56s="),
        ] {
            let headers = signer(secret).headers("p-1:7", &stamp, BODY.as_bytes());
            for (name, value) in [
                ("authorization", "Bearer tok-123"),
                ("x-supervisor-timestamp", "1700000000123"),
                ("x-supervisor-nonce", "6f1c2a9e-7b3d-4e5f-8a9b-0c1d2e3f4a5b"),
                (
                    "x-supervisor-signature",
                    "sha256=9e7eb03ec05e841efd6ceacf411fe0331e9733280e3beec8024d8f144cb54a80",
                ),
                ("webhook-id", "p-1:7"),
                ("webhook-timestamp", "1700000000"),
                ("webhook-signature", hook),
            ] {
                assert_eq!(headers[name], value, "{name}");
            }
            assert!(!format!("{headers:?}").contains("tok-123"));
        }
    }

    #[test]
    fn a_nonce_is_a_uuid_of_version_four() {
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
        let [one, other] = [0, 0].map(|now| Stamp::new(now).unwrap().nonce);
        assert_ne!(one, other);
    }

    #[test]
    fn any_prompt_can_be_named_in_a_header() {
        for (prompt, id) in [("p-1:é\n", "p-1:%C3%A9%0A"), ("a b", "a%20b"), ("", "")] {
            assert_eq!(hook_id(prompt), id);
            assert!(HeaderValue::from_str(&hook_id(prompt)).is_ok());
        }
    }

    #[test]
    fn a_token_of_two_lines_is_none() {
        let callback = Callback {
            url: String::new(),
            token: Secret::new("a\nb"),
            signing_secret: None,
        };
        assert!(Signer::new(&callback).is_none());
    }
}
