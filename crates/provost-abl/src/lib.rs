//! The Provost languages: expressions now, ABL documents later. Pure: no I/O, no clock.

pub mod expr;
