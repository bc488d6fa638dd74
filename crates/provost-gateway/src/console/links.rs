//! One-time links: a secret that signs in once, within a short time, on whichever replica. Opening the link
//! shows a button, and only the button uses it, so that whatever looks at links before people do cannot use
//! it up.

use provost_core::{
    key::{Key, KeyHash},
    ports::StoreError,
    sign_in::SignInLink,
};

use super::session::secret;
use crate::app::App;

/// Where somebody signs in with that key, once: the path and query of the address.
pub async fn one_time_link(app: &App, key: &Key) -> Result<String, StoreError> {
    let (token, now) = (secret(), app.gate.now());
    let link = SignInLink {
        secret: KeyHash::of(&token),
        key: key.hash,
        until: now.plus(SignInLink::LIFE),
    };
    app.gate.store().add_sign_in_link(link, now).await?;
    Ok(format!("/console/login?token={token}"))
}

/// Uses a link up: the key that it signs in with.
pub(super) async fn take(app: &App, token: &str) -> Result<Option<KeyHash>, StoreError> {
    let now = app.gate.now();
    let secret = KeyHash::of(token);
    app.gate.store().take_sign_in_link(&secret, now).await
}
