//! The e-mail channel against real servers: SMTP by aiosmtpd, IMAP by pymap.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod checking;
mod desk;
mod encrypted;
mod post;
mod refused;
mod replies;
mod sending;
mod site;
mod troubles;
mod unclear;
