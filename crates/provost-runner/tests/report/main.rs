//! The reporter against receivers of ours over real connections: strict ones, broken ones, and the examples.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test both are assertions"
)]

mod attacks;
mod encrypted;
mod examples;
mod proof;
#[allow(dead_code, reason = "whole runs use the rest")]
mod receiver;
mod setup;
