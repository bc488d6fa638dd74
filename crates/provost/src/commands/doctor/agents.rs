//! Agents of this machine that were connected, as far as it is cheap to look at them.

use std::fs;

use super::findings::Findings;
use crate::commands::connect::claude_code::{self, FIRST_THAT_BLOCKS, Installed};

/// Claude Code asks over HTTP, and would go on if nobody answered.
pub(super) async fn claude_code(findings: &mut Findings) {
    let settings = claude_code::own_settings().ok();
    let settings = settings.and_then(|path| fs::read_to_string(path).ok());
    if !settings.is_some_and(|text| claude_code::asks_over_http(&text)) {
        return;
    }
    let (major, minor, patch) = FIRST_THAT_BLOCKS;
    match claude_code::installed().await {
        Installed::Version(version) if version < FIRST_THAT_BLOCKS => findings.warn(
            "claude code",
            format!(
                "before {major}.{minor}.{patch} it goes on when the gateway cannot be reached over HTTP"
            ),
            "update it, or run `provost connect claude-code` again",
        ),
        Installed::Version(_) => findings.ok("claude code", "asks before it acts"),
        Installed::Unknown | Installed::Missing => {}
    }
}
