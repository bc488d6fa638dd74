//! Channels: the ways to people.

mod desk;

pub use desk::{Answered, Desk, Sender};
