//! Channels: the ways to people.

mod desk;
pub mod telegram;

pub use desk::{Answered, Desk, Sender};
