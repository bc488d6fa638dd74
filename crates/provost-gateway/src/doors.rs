//! The ways in. Every door hands its calls to the one gate.

pub mod http;
