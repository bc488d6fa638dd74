//! The gate on a real store: what is decided, what runs, and what is written down.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "gate/approvals.rs"]
mod approvals;
#[path = "gate/bench.rs"]
mod bench;
#[path = "gate/bound.rs"]
mod bound;
#[path = "gate/control.rs"]
mod control;
#[path = "gate/decisions.rs"]
mod decisions;
#[path = "gate/exactly.rs"]
mod exactly;
#[path = "gate/keys.rs"]
mod keys;
#[path = "gate/long.rs"]
mod long;
#[path = "gate/races.rs"]
mod races;
#[path = "gate/remembering.rs"]
mod remembering;
