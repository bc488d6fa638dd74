//! The errors that an agent is told when the client cannot or will not do what it asked.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::{acp::RpcError, json_error};

impl RpcError {
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    /// ACP's own code for a file, terminal or session that is not there.
    pub const NOT_FOUND: i64 = -32002;
    /// Free in ACP and MCP. ACP has no code for a refusal, and those it has would mislead: -32000 makes an
    /// agent log in, -32800 tells it that its turn was cancelled.
    pub const REFUSED: i64 = -32003;

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Self::INTERNAL, message)
    }

    pub fn method_not_found(method: &str) -> Self {
        let message = format!("`{method}` is not served by this client");
        Self::new(Self::METHOD_NOT_FOUND, message)
    }

    pub fn file_not_found(path: &Path) -> Self {
        let uri = path.display().to_string();
        Self {
            data: Some(json!({ "uri": uri })),
            ..Self::new(Self::NOT_FOUND, format!("`{uri}` does not exist"))
        }
    }

    pub fn terminal_not_found(id: &str) -> Self {
        Self {
            data: Some(json!({ "terminalId": id })),
            ..Self::new(
                Self::NOT_FOUND,
                format!("there is no terminal `{id}`; a released terminal is gone"),
            )
        }
    }

    pub fn refused(reason: &str) -> Self {
        Self {
            data: Some(json!({ "reason": reason })),
            ..Self::new(Self::REFUSED, format!("not permitted: {reason}"))
        }
    }
}

/// What a method was asked, or what is wrong with the question.
pub(super) fn parse<T: DeserializeOwned>(params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get())
        .map_err(|error| RpcError::invalid(format!("wrong params: {}", json_error::told(&error))))
}
