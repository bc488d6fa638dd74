//! What a run is told: who it is, what to do, whom to report to, and how far it may go.

use std::fmt;

/// Which run this is, in the words of whoever started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub run_id: String,
    pub task_id: String,
    pub sandbox_id: String,
    pub prompt_id: String,
}

/// A text that is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
