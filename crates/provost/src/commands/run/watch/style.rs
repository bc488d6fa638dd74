//! How lines look: colours where they are wanted, and widths that are never too small.

#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Style {
    pub(in super::super) colored: bool,
    /// Columns; `None` where nothing is wrapped or cut to fit.
    pub(in super::super) width: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Dim,
    Bold,
    Green,
    Red,
    Yellow,
    Cyan,
}

impl Style {
    /// The text must be safe already.
    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        if !self.colored || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Dim => "2",
            Ink::Bold => "1",
            Ink::Green => "32",
            Ink::Red => "31",
            Ink::Yellow => "33",
            Ink::Cyan => "36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Cuts what is safe already to the columns that are left beside `taken`.
    pub(super) fn fit(self, text: &str, taken: usize) -> String {
        let most = self.width.map(|width| width.saturating_sub(taken + 1));
        match most {
            Some(most) if columns(text) > most => {
                let (kept, _) = split(text, most.saturating_sub(1));
                format!("{kept}…")
            }
            _ => text.to_owned(),
        }
    }

    /// What is safe already, in lines that leave `taken` columns free: a terminal that wraps by itself would
    /// begin them where only our own lines begin.
    pub(super) fn folded(self, ink: Option<Ink>, text: &str, taken: usize) -> Vec<String> {
        let most = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(taken + 1).max(8));
        let mut lines = Vec::new();
        let mut left = text;
        while !left.is_empty() {
            let (line, rest) = split(left, most);
            lines.push(ink.map_or_else(|| line.to_owned(), |ink| self.paint(ink, line)));
            left = rest;
        }
        lines
    }
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().map(wide).sum()
}

/// The most that is not wider than `most`, and the rest. At least one character, so that cutting ends.
pub(super) fn split(text: &str, most: usize) -> (&str, &str) {
    let mut taken = 0;
    for (place, c) in text.char_indices() {
        taken += wide(c);
        if taken > most && place > 0 {
            return text.split_at_checked(place).unwrap_or((text, ""));
        }
    }
    (text, "")
}

/// Never less than a terminal takes: symbols and scripts that may be wide count as wide.
fn wide(c: char) -> usize {
    match u32::from(c) {
        ..0x1100 | 0x2000..0x2300 | 0x2500..0x2600 => 1,
        _ => 2,
    }
}

/// `1.2 MB`
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
