//! Who calls `/v1`: always by a key, never by its word.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use provost_core::{
    ids::hex,
    key::{Key, Role},
};

use crate::{
    app::App,
    doors::http::{caller, error::ApiError},
};

/// How many characters of a key's hash name its owner.
const CLIENT_ID: usize = 12;

/// An agent, by its key: may ask.
pub(in crate::doors::http) struct Client(pub(super) Arc<Key>);

/// Whoever may bring a reply that was sent by mail: a forwarding service, a person, an admin.
pub(in crate::doors::http) struct Forwarder(pub(super) Arc<Key>);

/// An agent about its own, or a person about all.
pub(in crate::doors::http) struct Owner(pub(super) Arc<Key>);

/// The beginning of SHA-256 of the key.
pub(super) fn client_id(key: &Key) -> String {
    let mut id = hex(&key.hash.0);
    id.truncate(CLIENT_ID);
    id
}

impl Owner {
    pub(super) fn is_person(&self) -> bool {
        self.0.role != Role::Agent
    }

    pub(super) fn owns(&self, client: &str) -> bool {
        self.is_person() || client_id(&self.0) == client
    }
}

impl FromRequestParts<Arc<App>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let key = caller::keyed(parts, app)?;
        caller::require(key, &[Role::Agent]).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for Forwarder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let key = caller::keyed(parts, app)?;
        caller::require(key, &[Role::Inbox, Role::Human, Role::Admin]).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let key = caller::keyed(parts, app)?;
        caller::require(key, &[Role::Agent, Role::Human, Role::Admin]).map(Self)
    }
}
