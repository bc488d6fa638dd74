//! Channels: the ways to people.

mod desk;
pub mod email;

pub use desk::{Answered, Desk, Sender};
