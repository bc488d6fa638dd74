//! What is wrong with a configuration, and where: for a terminal, for logs and for programs.

use std::{fmt, ops::Range, path::PathBuf, sync::Arc};

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// The configuration is not used.
    Error,
    /// It is used, but probably does not do what was meant.
    Warning,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) severity: Severity,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    pub(crate) file: PathBuf,
    /// `None` where the file as a whole is meant: it cannot be read, for example.
    #[serde(flatten)]
    pub(crate) at: Option<At>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct At {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    /// In bytes.
    pub(crate) span: Range<usize>,
    /// The file's text, its secrets covered.
    #[serde(skip)]
    pub(super) source: Arc<Source>,
}

/// The text of a file as it may be shown.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

impl Problem {
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line, as compilers write them.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(at) = &self.at {
            write!(f, ":{}:{}", at.line, at.column)?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, ": {severity}: {}", self.message)?;
        self.help
            .as_ref()
            .map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
