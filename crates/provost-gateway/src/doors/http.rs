//! The HTTP door: the supervisor protocol for agents, supervisors, people and operators.

mod approvals;
mod caller;
mod calls;
mod declared;
mod error;
mod events;
mod grants;
mod guard;
mod hooks;
pub(crate) mod input;
mod keys;
mod lasting;
mod links;
mod mcp;
mod operations;
mod people;
mod permissions;
mod policies;
mod router;
mod runs;
mod servers;
mod stops;
mod tools;
mod traces;
mod v1;
mod who;
mod wrapped;

pub(crate) use events::feed;
pub(crate) use grants::{make_by_form as make_grant, revoke_by_form as revoke_grant};
pub use guard::{handle, handle_on};
pub(crate) use mcp::{Listed, Sessions};
pub use router::router;
