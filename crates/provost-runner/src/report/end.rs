//! How a prompt ended, as its terminal report says it.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::value::RawValue;

use super::fold::cut;

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum End {
    /// The agent answered the prompt.
    #[serde(rename_all = "camelCase")]
    Complete {
        stop_reason: String,
        /// As the agent wrote it.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Box<RawValue>>,
    },
    Failed(Failure),
}

/// Why there is no answer.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    pub code: i64,
    pub message: String,
    pub data: Option<Box<RawValue>>,
    /// Of the agent's process, if it ended.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// The last that the agent wrote to its standard error.
    pub stderr_tail: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Fault<'a> {
    code: i64,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
}

impl Failure {
    /// Without the data, and not longer than a snapshot bears.
    pub(super) fn in_short(&self) -> Fault<'_> {
        Fault {
            code: self.code,
            message: cut(&self.message, 1024),
            data: None,
        }
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_struct("Failure", 4)?;
        let fault = Fault {
            code: self.code,
            message: &self.message,
            data: self.data.as_deref(),
        };
        map.serialize_field("error", &fault)?;
        if let Some(code) = self.exit_code {
            map.serialize_field("exitCode", &code)?;
        }
        if let Some(signal) = self.signal {
            map.serialize_field("signal", &signal)?;
        }
        if let Some(tail) = &self.stderr_tail {
            map.serialize_field("stderrTail", tail)?;
        }
        map.end()
    }
}
