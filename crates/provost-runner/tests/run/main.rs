//! Whole runs: an agent that does what a script says, the runner, and a receiver that checks everything.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should say so and stop"
)]

mod answers;
mod ends;
mod flood;
mod gateway;
mod limits;
mod metering;
mod opening;
mod parity;
mod peer;
mod permissions;
#[path = "../report/proof.rs"]
mod proof;
#[path = "../report/receiver.rs"]
#[allow(dead_code, reason = "the reporter's own tests use the rest")]
mod receiver;
mod resumed;
mod script;
mod sessions;
mod trial;
mod watch;
mod work;
