//! Where something went wrong in the source, and what: parse errors and evaluation errors.

/// A range of bytes in the source of the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The text under this span, or `""` when the span is of another source.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }
}

/// One problem found while reading an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    pub message: String,
    pub span: Span,
    /// What to write instead, where we know it.
    pub help: Option<String>,
}

impl ExprError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            span,
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// An evaluation that had to stop. A gate that sees one should fail closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    #[error("the result is longer than {limit} characters")]
    TooLong { limit: usize, span: Span },
    #[error("the pattern does not compile: {message}")]
    Pattern { message: String, span: Span },
    /// Not the same on every system: `/srv\x` is one folder here and two there.
    #[error("the path can be read in two ways")]
    Ambiguous { span: Span },
    /// Something that the host computes is known in part only, and the rest matters.
    #[error("the call could not be read in full")]
    Unreadable { span: Span },
    #[error("more than {limit} members of lists were looked at")]
    TooMany { limit: usize, span: Span },
    /// Only in [strict](super::Typing::Strict) programs.
    #[error("expected {expected}, found {found}")]
    WrongType {
        expected: &'static str,
        found: &'static str,
        span: Span,
    },
}

impl EvalError {
    pub fn span(&self) -> Span {
        match self {
            Self::TooLong { span, .. }
            | Self::Pattern { span, .. }
            | Self::Ambiguous { span }
            | Self::Unreadable { span }
            | Self::TooMany { span, .. }
            | Self::WrongType { span, .. } => *span,
        }
    }
}
