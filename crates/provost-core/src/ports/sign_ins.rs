//! Who is signed in to the console, as every replica knows it.

use async_trait::async_trait;

use super::store::Result;
use crate::{
    key::KeyHash,
    sign_in::{SignIn, SignInLink},
    time::Time,
};

#[async_trait]
pub trait SignIns {
    /// Keeps a sign-in, and forgets what is over and the idlest of the same key beyond [`SignIn::MOST`].
    async fn sign_in(&self, new: SignIn) -> Result<()>;

    /// What was signed out is not found; what is over may be.
    async fn signed_in(&self, secret: &KeyHash) -> Result<Option<SignIn>>;

    /// Somebody was there. What was signed out meanwhile stays so.
    async fn sign_in_seen(&self, secret: &KeyHash, at: Time) -> Result<()>;

    async fn sign_out(&self, secret: &KeyHash) -> Result<()>;

    /// Keeps a link, and forgets those that are over and the oldest of the same key beyond
    /// [`SignInLink::MOST`].
    async fn add_sign_in_link(&self, link: SignInLink, now: Time) -> Result<()>;

    /// Uses a link up: the key that it signs in with, for one of all who try.
    async fn take_sign_in_link(&self, secret: &KeyHash, now: Time) -> Result<Option<KeyHash>>;
}
