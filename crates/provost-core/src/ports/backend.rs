//! A way out: whatever executes a permitted call.

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::gate::Permit;

/// What a backend offers under one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolInfo {
    pub name: String,
    pub description: String,
    /// `http`, `openapi`, `cli`, `mcp`.
    pub source: &'static str,
    /// JSON schema of the arguments, where the backend knows it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input_schema: Value,
}

/// What the backend answered.
#[derive(Debug)]
pub struct Forwarded {
    pub status_code: u16,
    pub result: Box<RawValue>,
    /// Why an answer counts as a failure, in one line.
    pub error: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ForwardError {
    #[error("{0}")]
    Arguments(String),
    #[error("the backend cannot be reached: {0}")]
    Unreachable(String),
    #[error("the backend did not answer within {0}")]
    Timeout(String),
    #[error("the backend's answer is larger than {0} bytes")]
    TooLarge(u64),
    #[error("{0}")]
    Failed(String),
}

#[async_trait]
pub trait Backend: Send + Sync + 'static {
    fn tools(&self) -> Vec<ToolInfo>;

    /// Whether this backend runs the tool; a dispatching backend may answer for names it does not list.
    fn has(&self, tool: &str) -> bool;

    /// Whether arguments, an object, fit the tool: if not, why. Asked before anything is decided.
    fn check(&self, _tool: &str, _arguments: &Value) -> Result<(), String> {
        Ok(())
    }

    /// Executes a call. The permit is the proof that it was decided.
    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError>;
}
