//! What a supervisor or a person may see: redaction of content, masking of secrets, the risk that an argument
//! tries to talk to its judge, and what a command or a change would do.

mod excerpt;
mod hidden;
mod mask;
mod names;
mod obeyed;
mod risk;
mod secret;
mod summary;
mod withhold;
mod work;

use serde_json::{Map, Value};

pub use excerpt::{Excerpt, more_lines};
pub use hidden::hides;
pub use mask::{
    described, hides_secret, mask_map, mask_some, mask_value, redact, redact_all, redact_map,
    redact_some, unmask,
};
pub(crate) use obeyed::is_obeyed;
pub use risk::{RiskReport, assess};
pub(crate) use secret::mask_place;
pub use secret::mask_text;
pub use summary::{
    Act, ChangeFacts, CommandFacts, Facts, Part, Program, Risk, Risks, Summary, Url, is_shell_tool,
    not_shown, summarize, summarize_whole,
};
pub(crate) use summary::{one_file, plain_command, quoted, reads_files};

/// Under `acp` of a call: that its agent does not tell the arguments, so that nobody knows what would run.
pub const ARGUMENTS: &str = "arguments";
pub const NOT_TOLD: &str = "not told";

pub fn arguments_not_told(params: &Map<String, Value>) -> bool {
    let said = params.get("acp").and_then(|acp| acp.get(ARGUMENTS));
    said.and_then(Value::as_str) == Some(NOT_TOLD)
}

/// A pattern whose words end where ASCII's do. With other ends of words, a text in another script is searched a hundred
/// times as slowly.
fn with_ascii_words(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

/// What a question says of its call beside the call itself.
#[derive(Clone, Debug)]
pub struct Review {
    pub summary: Option<Summary>,
    pub injection: RiskReport,
}

impl Review {
    /// `folder`: where the agent works, if the door knows it.
    pub fn of(tool: &str, params: &Map<String, Value>, folder: Option<&str>) -> Self {
        Self {
            summary: summarize(tool, params, folder),
            injection: assess(params),
        }
    }
}
