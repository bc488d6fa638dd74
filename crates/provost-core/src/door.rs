//! The ways in.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// `POST /tool/{name}`: decided here and executed by a backend of ours.
    Http,
    /// `POST /decide`: decided here, executed by the agent itself.
    Decide,
    /// `POST /hooks/{agent}`: a coding agent asks by its hooks, and executes itself.
    Hook,
    /// `POST /v1/permissions`: a runner passes on what its agent asks over ACP; the agent executes itself.
    Acp,
    /// `POST /mcp`: an MCP client's call, decided here and executed by a backend of ours; and
    /// `POST /v1/mcp-calls`: one to a server that `provost mcp -- COMMAND` wraps, which tells its outcome.
    Mcp,
    /// `POST /v1/approvals`: an agent asks a person itself, and executes itself.
    Request,
}

impl Door {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Decide => "decide",
            Self::Hook => "hook",
            Self::Acp => "acp",
            Self::Mcp => "mcp",
            Self::Request => "request",
        }
    }

    /// Whether an outcome must follow a permitted call.
    pub fn forwards(self) -> bool {
        matches!(self, Self::Http | Self::Mcp)
    }
}
