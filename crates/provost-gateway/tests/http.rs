//! The HTTP door through its router, on a real store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "http/app.rs"]
mod app;
#[path = "http/console.rs"]
mod console;
#[path = "http/facts.rs"]
mod facts;
#[path = "http/hooks.rs"]
mod hooks;
#[path = "http/inbox.rs"]
mod inbox;
#[path = "http/long.rs"]
mod long;
#[path = "http/mcp.rs"]
mod mcp;
#[path = "http/openapi.rs"]
mod openapi;
#[path = "http/people.rs"]
mod people;
#[path = "http/permissions.rs"]
mod permissions;
#[path = "http/protocol.rs"]
mod protocol;
#[path = "http/remembering.rs"]
mod remembering;
#[path = "http/requests.rs"]
mod requests;
#[path = "http/roles.rs"]
mod roles;
#[path = "http/schemas.rs"]
mod schemas;
#[path = "http/secrets.rs"]
mod secrets;
#[path = "http/servers.rs"]
mod servers;
