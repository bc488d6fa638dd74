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

use serde_json::{Map, Value};

pub use excerpt::{Excerpt, more_lines};
pub use hidden::hides;
pub use mask::{
    hides_secret, mask_map, mask_some, mask_value, redact, redact_all, redact_map, redact_some,
    unmask,
};
pub(crate) use obeyed::is_obeyed;
pub use risk::{RiskReport, assess};
pub(crate) use secret::mask_place;
pub use secret::mask_text;
pub use summary::{
    Act, ChangeFacts, CommandFacts, Facts, Part, Program, Risk, Risks, Summary, Url, is_shell_tool,
    not_shown, summarize, summarize_whole,
};
pub(crate) use summary::{one_file, plain_command, quoted};

/// What a question says of its call beside the call itself.
#[derive(Clone, Debug)]
pub struct Review {
    pub summary: Option<Summary>,
    pub hides_secret: bool,
    pub injection: RiskReport,
}

impl Review {
    /// `folder`: where the agent works, if the door knows it.
    pub fn of(tool: &str, params: &Map<String, Value>, folder: Option<&str>) -> Self {
        let hides_secret = hides_secret(params);
        let mut summary = summarize(tool, params, folder);
        if let Some(summary) = summary.as_mut().filter(|_| hides_secret) {
            summary.risks.insert(Risk::HidesSecret);
        }
        Self {
            summary,
            hides_secret,
            injection: assess(params),
        }
    }
}
