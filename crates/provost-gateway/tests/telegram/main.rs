//! The Telegram channel against a strict Bot API made for it, and against a lax one made by others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod checking;
mod desk;
mod fake;
mod lax;
mod polling;
mod replies;
mod scene;
mod showing;
mod strictness;
mod taps;
mod troubles;
mod webhook;
