//! What is printed: results on stdout, remarks on stderr, and nothing an agent wrote goes to a terminal
//! as it came.

mod safe;
mod wrap;

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

use serde::Serialize;

pub(crate) use self::{
    safe::{safe, safe_lines, shorten},
    wrap::wrapped,
};

/// One line of a result. A closed pipe is the caller's to pass on.
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

/// The question before an answer: no line break, and seen at once.
pub(crate) fn prompt(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// For programs, and still readable.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> anyhow::Result<()> {
    Ok(line(serde_json::to_string_pretty(value)?)?)
}

/// For programs that read a stream.
pub(crate) fn json_line(value: &(impl Serialize + ?Sized)) -> anyhow::Result<()> {
    Ok(line(serde_json::to_string(value)?)?)
}

/// A remark beside the result. If nobody hears it, nothing is lost.
/// `1 turn`, `2 turns`.
pub(crate) fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {what}{ending}")
}

pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Color {
    Green,
    Yellow,
    Red,
    Bold,
}

/// Whether stdout is looked at by a person who did not ask for plain text.
pub(crate) fn is_colored() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

pub(crate) fn paint(text: &str, color: Color) -> String {
    if !is_colored() {
        return text.to_owned();
    }
    let code = match color {
        Color::Green => "32",
        Color::Yellow => "33",
        Color::Red => "31",
        Color::Bold => "1",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn p17_one_is_no_plural() {
        for (count, told) in [(0, "0 turns"), (1, "1 turn"), (12, "12 turns")] {
            assert_eq!(counted(count, "turn"), told);
        }
    }
}
