//! Writes what the screen shows. Where it is a terminal, the last lines are rewritten in place.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
};

use super::style::Style;
use crate::output;

/// Where a terminal does not say.
const WIDTH: usize = 80;

pub(in super::super) struct Pen {
    is_terminal: bool,
    /// How many lines are to be rewritten; the cursor is at the end of the last.
    rows: usize,
    bottom: Vec<String>,
}

impl Pen {
    pub(in super::super) fn new() -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            rows: 0,
            bottom: Vec::new(),
        }
    }

    pub(in super::super) fn style(&self) -> Style {
        Style {
            colored: output::is_colored(),
            width: self.width(),
        }
    }

    pub(in super::super) fn width(&self) -> Option<usize> {
        let size = || rustix::termios::tcgetwinsize(io::stdout()).ok();
        let columns = || {
            size()
                .map(|size| usize::from(size.ws_col))
                .filter(|columns| *columns > 0)
        };
        self.is_terminal.then(|| columns().unwrap_or(WIDTH))
    }

    /// Lines that stay, and below them those that do not.
    pub(in super::super) fn write(
        &mut self,
        lines: &[String],
        bottom: &[String],
    ) -> io::Result<()> {
        let is_same = self.rows == bottom.len() && self.bottom == bottom;
        if lines.is_empty() && (is_same || !self.is_terminal) {
            return Ok(());
        }
        let mut text = self.erased();
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        if self.is_terminal {
            text.push_str(&bottom.join("\n"));
            self.rows = bottom.len();
            self.bottom = bottom.to_vec();
        }
        put(&text)
    }

    /// Somebody pressed enter: the cursor is a line further down.
    pub(super) fn entered(&mut self) {
        self.rows += usize::from(self.rows > 0);
    }

    /// What takes the bottom's place in one go: nothing, if there is none.
    fn erased(&mut self) -> String {
        let rows = std::mem::take(&mut self.rows);
        match rows {
            0 => String::new(),
            1 => "\r\u{1b}[J".to_owned(),
            rows => format!("\r\u{1b}[{}A\u{1b}[J", rows - 1),
        }
    }
}

/// A JSON line as it is, and harmless where a terminal shows it: JSON knows escapes, too.
pub(in super::super) fn json(line: &str) -> io::Result<()> {
    let harmless = |c: char| !provost_core::review::hides(c);
    if !io::stdout().is_terminal() || line.chars().all(harmless) {
        return output::line(line);
    }
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        if harmless(c) {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    output::line(text)
}

fn put(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
