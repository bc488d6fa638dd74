//! Words as they come: the pieces of one message, joined, wrapped and bounded.

use super::style::{Ink, Style, columns, size, split};
use crate::output;

/// Of one message. More is read elsewhere than in passing.
const MOST_BYTES: usize = 32 * 1024;
const MOST_LINES: usize = 400;
const TAB: &str = "    ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Agent,
    Thought,
    User,
    Summary,
}

/// One message, as long as it goes on.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) voice: Voice,
    pub(super) id: Option<String>,
    style: Style,
    /// What is not a whole line yet, safe.
    open: String,
    bytes: usize,
    lines: usize,
    hidden: usize,
}

impl Voice {
    /// What stands before its lines: it is told apart without colours, too, and never looks like ours.
    fn gutter(self) -> &'static str {
        match self {
            Self::Agent => "  ",
            Self::Thought => "┊ ",
            Self::User => "> ",
            Self::Summary => "≡ ",
        }
    }

    fn ink(self) -> Option<Ink> {
        match self {
            Self::Agent => None,
            Self::Thought | Self::Summary => Some(Ink::Dim),
            Self::User => Some(Ink::Cyan),
        }
    }
}

impl Flow {
    pub(super) fn new(voice: Voice, id: Option<String>, style: Style) -> Self {
        Self {
            voice,
            id,
            style,
            open: String::new(),
            bytes: 0,
            lines: 0,
            hidden: 0,
        }
    }

    pub(super) fn resize(&mut self, width: Option<usize>) {
        self.style.width = width;
    }

    /// The lines that are whole with this.
    pub(super) fn push(&mut self, text: &str) -> Vec<String> {
        let room = MOST_BYTES.saturating_sub(self.bytes);
        let shown = text.floor_char_boundary(room);
        let (text, hidden) = text.split_at_checked(shown).unwrap_or((text, ""));
        self.bytes += text.len();
        self.hidden += hidden.len();
        let text = text.replace("\r\n", "\n").replace('\t', TAB);
        let mut out = Vec::new();
        for (place, piece) in output::safe_lines(&text).split('\n').enumerate() {
            if place > 0 {
                let line = std::mem::take(&mut self.open);
                self.emit(&line, &mut out);
            }
            self.add(piece, &mut out);
        }
        out
    }

    /// What is left, and how much was not shown.
    pub(super) fn end(mut self) -> Vec<String> {
        let mut out = Vec::new();
        if !self.open.trim().is_empty() {
            let line = std::mem::take(&mut self.open);
            self.emit(&line, &mut out);
        }
        if self.hidden > 0 {
            let more = format!("… {} more", size(self.hidden));
            out.push(self.style.paint(Ink::Dim, &more));
        }
        out
    }

    /// The line that is being written.
    pub(super) fn open(&self) -> Option<String> {
        let is_hidden = self.open.is_empty() || self.lines >= MOST_LINES;
        let taken = columns(self.voice.gutter());
        (!is_hidden).then(|| self.paint(&self.style.fit(&self.open, taken)))
    }

    fn add(&mut self, piece: &str, out: &mut Vec<String>) {
        self.open.push_str(piece);
        let Some(width) = self.style.width else {
            return;
        };
        let room = width
            .saturating_sub(columns(self.voice.gutter()) + 1)
            .max(8);
        let open = std::mem::take(&mut self.open);
        let mut left = open.as_str();
        while !split(left, room).1.is_empty() {
            let (line, rest) = wrap(left, room);
            self.emit(line, out);
            left = rest;
        }
        left.clone_into(&mut self.open);
    }

    fn emit(&mut self, line: &str, out: &mut Vec<String>) {
        self.lines += 1;
        if self.lines > MOST_LINES {
            self.hidden += line.len() + 1;
            return;
        }
        out.push(self.paint(line.trim_end()));
    }

    fn paint(&self, line: &str) -> String {
        let line = format!("{}{line}", self.voice.gutter());
        let line = line.trim_end();
        match self.voice.ink() {
            Some(ink) => self.style.paint(ink, line),
            None => line.to_owned(),
        }
    }
}

/// Between two words where there are two.
fn wrap(text: &str, room: usize) -> (&str, &str) {
    let (line, rest) = split(text, room);
    let at_space = line.trim_start().contains(' ') && !rest.starts_with(' ');
    match line.rsplit_once(' ').filter(|_| at_space) {
        Some((line, _)) => {
            let rest = text.get(line.len()..).unwrap_or_default();
            (line, rest.trim_start())
        }
        None => (line, rest.trim_start_matches(' ')),
    }
}
