//! What is decided, and nothing else: calls, policy, grants, approvals, the gate, traces.
//!
//! This crate knows no HTTP and no SQL. All it asks of the outside stands in [`ports`].

pub mod approval;
pub mod call;
pub mod card;
pub mod control;
pub mod delivery;
pub mod door;
pub mod event;
pub mod gate;
pub mod glob;
pub mod grant;
pub mod heavy;
pub mod ids;
pub mod json;
pub mod key;
pub mod limits;
pub mod menu;
pub mod people;
pub mod policy;
pub mod ports;
pub mod review;
pub mod sign_in;
pub mod time;
pub mod trace;
