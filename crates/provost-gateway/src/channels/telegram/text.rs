//! A message in the making: Telegram's HTML, everything escaped, and its length as Telegram counts it (UTF-16
//! units of what is left when the marks are taken away).

use std::fmt::Write as _;

/// Of one message.
pub(super) const LIMIT: usize = 4096;

#[derive(Default)]
pub(super) struct Text {
    html: String,
    units: usize,
}

impl Text {
    pub(super) fn plain(&mut self, text: &str) -> &mut Self {
        self.units += units(text);
        for c in text.chars() {
            match c {
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '&' => self.html.push_str("&amp;"),
                '"' => self.html.push_str("&quot;"),
                c => self.html.push(c),
            }
        }
        self
    }

    pub(super) fn bold(&mut self, text: &str) -> &mut Self {
        self.marked("b", text)
    }

    /// Neither links nor names nor commands are made of what stands in it.
    pub(super) fn code(&mut self, text: &str) -> &mut Self {
        self.marked("code", text)
    }

    /// A block of lines, to be coloured as that language.
    pub(super) fn block(&mut self, language: Option<&'static str>, text: &str) -> &mut Self {
        let Some(language) = language else {
            return self.marked("pre", text);
        };
        let _ = write!(self.html, "<pre><code class=\"language-{language}\">");
        self.plain(text);
        self.html.push_str("</code></pre>");
        self
    }

    pub(super) fn append(&mut self, other: &Self) -> &mut Self {
        self.html.push_str(&other.html);
        self.units += other.units;
        self
    }

    pub(super) fn units(&self) -> usize {
        self.units
    }

    pub(super) fn into_html(self) -> String {
        self.html
    }

    fn marked(&mut self, tag: &'static str, text: &str) -> &mut Self {
        if text.is_empty() {
            return self;
        }
        let _ = write!(self.html, "<{tag}>");
        self.plain(text);
        let _ = write!(self.html, "</{tag}>");
        self
    }
}

pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The beginning that has at most `most` units, in whole characters.
pub(super) fn head(text: &str, most: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        used += c.len_utf16();
        (used > most).then_some(at)
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_as_telegram_does() {
        let mut text = Text::default();
        text.bold("a<b").plain("👍&").block(Some("json"), "{}");
        assert_eq!(text.units(), 3 + 3 + 2);
        assert_eq!(
            text.into_html(),
            "<b>a&lt;b</b>👍&amp;<pre><code class=\"language-json\">{}</code></pre>"
        );
    }

    #[test]
    fn texts_are_cut_between_characters() {
        for (most, expected) in [
            (0, ""),
            (1, "a"),
            (2, "a"),
            (3, "a👍"),
            (4, "a👍b"),
            (9, "a👍b"),
        ] {
            assert_eq!(head("a👍b", most), expected, "{most}");
        }
    }
}
