//! Updates by webhook: Telegram posts them, and shows that it is Telegram by a secret in a header.

use subtle::ConstantTimeEq as _;

use super::{Mode, Telegram, trouble::Trouble};
use crate::secret::Secret;

/// The header that carries the secret.
pub const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";

impl Telegram {
    /// Whether a request to the webhook's door comes from Telegram. Never, where there is no webhook.
    pub fn verify_webhook_secret(&self, header: Option<&[u8]>) -> bool {
        match (&self.mode, header) {
            (Mode::Webhook { secret }, Some(given)) => {
                secret.expose().as_bytes().ct_eq(given).into()
            }
            _ => false,
        }
    }

    /// Tells Telegram where the door is. Does nothing where updates are polled.
    pub async fn set_webhook(&self, url: &str) -> Result<(), Trouble> {
        match &self.mode {
            Mode::Webhook { secret } => self.api.set_webhook(url, secret).await,
            Mode::Poll => Ok(()),
        }
    }
}

/// As Telegram wants it. An empty one would let everybody in.
pub(super) fn check_secret(secret: &Secret) -> Result<(), String> {
    let secret = secret.expose();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=256).contains(&secret.len()) && secret.bytes().all(allowed) {
        return Ok(());
    }
    Err("`webhook_secret` must be 1 to 256 letters, digits, `_` or `-`".into())
}
