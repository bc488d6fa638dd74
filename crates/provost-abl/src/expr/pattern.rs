//! Constant patterns of `matches`: compiled once, bounded in size. A match is a search: it is not
//! anchored unless the pattern says so with `^` and `$`.

use regex::{Regex, RegexBuilder};

/// Bounds the compiled form, so that `\w{1000}{1000}` is an error and not a gigabyte.
const COMPILED_BYTES: usize = 1 << 20;
const FLAGS: &str = "imsxug";

/// A compiled `"…"` or `/…/flags` on the right of `matches`.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: Box<str>,
    /// `None` for a pattern written as a string.
    flags: Option<Box<str>>,
    regex: Regex,
}

impl Pattern {
    pub(crate) fn quoted(source: &str) -> Result<Self, String> {
        Ok(Self {
            source: source.into(),
            flags: None,
            regex: compile(source, "")?,
        })
    }

    pub(crate) fn literal(source: &str, flags: &str) -> Result<Self, String> {
        Ok(Self {
            source: source.into(),
            flags: Some(flags.into()),
            regex: compile(source, flags)?,
        })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The flags of a `/…/` literal; `None` for a string.
    pub fn flags(&self) -> Option<&str> {
        self.flags.as_deref()
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// By what was written: a compiled regex has no equality of its own.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.flags == other.flags
    }
}

pub(crate) fn compile(source: &str, flags: &str) -> Result<Regex, String> {
    if let Some(flag) = flags.chars().find(|flag| !FLAGS.contains(*flag)) {
        return Err(format!("unknown flag `{flag}`"));
    }
    // `g` and `u` are habits from other languages that change nothing for a yes-or-no match.
    RegexBuilder::new(source)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .ignore_whitespace(flags.contains('x'))
        .size_limit(COMPILED_BYTES)
        .dfa_size_limit(COMPILED_BYTES)
        .build()
        .map_err(|error| reason(&error))
}

/// The regex crate draws a picture of the pattern; our diagnostics have a span for that.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    }
}
