//! What a supervisor may see: redaction, and the risk that an argument tries to talk to its judge.

mod redact;
mod risk;

pub use redact::{redact, redact_map};
pub use risk::{RiskReport, assess};
