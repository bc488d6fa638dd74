//! What a supervisor may see: redaction, the risk that an argument tries to talk to its judge, and what a
//! command or a change would do.

mod hidden;
mod redact;
mod risk;
mod summary;

pub use hidden::hides;
pub use redact::{redact, redact_map};
pub use risk::{RiskReport, assess};
pub use summary::{
    Act, ChangeFacts, CommandFacts, Facts, Part, Program, Risk, Risks, Summary, Url, is_shell_tool,
    summarize,
};
