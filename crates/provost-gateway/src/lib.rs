//! The gateway: the doors through which agents, supervisors and people come in, and the backends
//! through which permitted calls go out.

pub mod access;
mod acp;
pub mod admission;
pub mod app;
pub mod backends;
pub mod channels;
pub mod console;
mod desk;
pub mod doors;
pub mod fleet;
pub mod hooks;
pub mod instance;
pub mod notify;
pub mod record;
pub mod secret;
mod seen;
pub mod server;
mod store_probe;
pub mod telemetry;
pub mod web;
pub mod yaml;
