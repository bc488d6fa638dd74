//! Signatures of Standard Webhooks: who receives a request can tell that it is ours, and not an old one.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderName, HeaderValue, Request, header, request::Builder};
use provost_core::time::Time;
use sha2::Sha256;

const PREFIX: &str = "whsec_";
const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// What a receiver shares with us.
#[derive(Clone)]
pub struct SigningKey(Vec<u8>);

impl SigningKey {
    /// `whsec_` and base64, as the standard writes it; another text is taken as it is.
    pub fn read(text: &str) -> Self {
        let coded = text
            .strip_prefix(PREFIX)
            .map(|coded| STANDARD.decode(coded));
        match coded {
            Some(Ok(bytes)) => Self(bytes),
            _ => Self(text.as_bytes().to_vec()),
        }
    }

    /// One for each client, from a secret of ours.
    pub fn derived(secret: &[u8; 32], client: &str) -> Self {
        Self(mac(secret, &[b"callback:", client.as_bytes()]))
    }

    /// As the standard writes it.
    pub fn text(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let seconds = seconds.to_string();
        let signed = [id, ".", &seconds, ".", body].map(str::as_bytes);
        format!("v1,{}", STANDARD.encode(mac(&self.0, &signed)))
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

/// A signed POST of JSON. The same message has the same id however often it is sent.
pub(super) fn post(
    url: &str,
    id: &str,
    key: Option<&SigningKey>,
    body: &str,
    now: Time,
) -> Builder {
    let seconds = now.millis().div_euclid(1000);
    let mut request = Request::post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "provost")
        .header(ID, id)
        .header(TIMESTAMP, HeaderValue::from(seconds));
    if let Some(key) = key {
        request = request.header(SIGNATURE, key.sign(id, seconds, body));
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard's specification.
    #[test]
    fn the_signature_is_the_standards() {
        let key = SigningKey::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signed = key.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(key.text(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }
}
