//! What the agent says of it.

use provost_core::card::Claim;

use super::Block;
use crate::channels::telegram::visible;

/// At the beginning of every line, so that none passes for ours, not even where marks are not drawn.
const MARK: &str = "│ ";
const MOST_LINES: usize = 20;

pub(super) fn claimed(claim: &Claim) -> Block {
    let words = [&claim.title, &claim.preview];
    let lines = words
        .into_iter()
        .flatten()
        .filter(|words| !words.is_empty())
        .map(|words| visible::prose(words))
        .map(|words| format!("{MARK}{}", words.replace('\n', &format!("\n{MARK}"))));
    Block {
        heading: "💬 What the agent says, which nobody checked",
        remark: String::new(),
        language: None,
        body: lines.collect::<Vec<_>>().join(&format!("\n{MARK}\n")),
        most_lines: MOST_LINES,
        more: claim.more,
    }
}
