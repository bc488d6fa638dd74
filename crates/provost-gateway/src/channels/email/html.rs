//! The text of an HTML mail as a reader sees it, line by line. What stands in a quote gets the mark of one, so
//! that HTML and plain text are read by the same rules. Input that is no HTML gives some text, never an error.

mod entities;
mod style;
mod tags;

use provost_core::menu;

use self::tags::{Tag, Token, tokens};
use super::quotes::HISTORY;

/// Put before what is quoted.
const MARK: &str = "> ";
/// Stands before a signature.
const SIGNATURE: &str = "-- ";

pub(super) fn text_of(html: &str) -> String {
    let mut page = Page::default();
    for token in tokens(html) {
        match token {
            Token::Text(text) => page.text(text),
            Token::Open(tag) => page.open(&tag),
            Token::Close(name) => page.close(&name),
        }
    }
    page.end_line();
    page.lines.join("\n")
}

#[derive(Default)]
struct Page {
    lines: Vec<String>,
    line: String,
    /// A space is due before the next word.
    gap: bool,
    open: Vec<Element>,
    sheet: String,
    /// The elements of which a style sheet says that they are not seen as they stand.
    doubtful: Vec<String>,
}

/// What holds for everything inside an element that is open.
#[derive(Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each holds by itself, in any combination"
)]
struct Element {
    name: String,
    block: bool,
    quote: bool,
    hidden: bool,
    preformatted: bool,
    doubtful: bool,
}

impl Page {
    fn inside(&self, holds: fn(&Element) -> bool) -> bool {
        self.open.iter().any(holds)
    }

    fn in_quote(&self) -> bool {
        self.inside(|element| element.quote)
    }

    fn text(&mut self, text: &str) {
        if self.open.last().is_some_and(|last| last.name == "style") {
            self.sheet.push_str(text);
            self.doubtful = style::doubtful_selectors(&self.sheet);
        }
        if self.inside(|element| element.hidden) {
            return;
        }
        let text = entities::decode(text);
        let doubtful = self.inside(|element| element.doubtful) && !self.in_quote();
        if doubtful && !text.trim().is_empty() {
            self.push(menu::UNREADABLE);
        }
        let preformatted = self.inside(|element| element.preformatted);
        for c in text.chars() {
            match c {
                '\n' if preformatted => self.break_line(),
                // Written for the eye: a program that reads a command wants a plain space.
                '\u{a0}' => self.push(' '),
                c if c.is_ascii_whitespace() && !preformatted => self.gap = true,
                c => self.push(c),
            }
        }
    }

    fn push(&mut self, c: char) {
        if self.gap && !self.line.is_empty() {
            self.line.push(' ');
        }
        self.gap = false;
        self.line.push(c);
    }

    fn open(&mut self, tag: &Tag) {
        let hidden = tag.is_hidden();
        if !hidden && !self.inside(|element| element.hidden) {
            self.show(tag);
        }
        if tag.is_empty() {
            return;
        }
        let quote = tag.is_quote();
        if quote {
            self.end_line();
        }
        self.open.push(Element {
            name: tag.name.clone(),
            block: tag.is_block(),
            quote,
            hidden,
            preformatted: tag.is_preformatted(),
            doubtful: tag.is_doubtful() || tag.selectors().any(|it| self.doubtful.contains(&it)),
        });
    }

    fn show(&mut self, tag: &Tag) {
        if tag.begins_history() {
            self.end_line();
            self.lines.push(HISTORY.to_owned());
        } else if tag.begins_signature() && !self.in_quote() {
            self.end_line();
            self.lines.push(SIGNATURE.to_owned());
        }
        if tag.name == "br" {
            self.break_line();
        }
        if tag.is_block() {
            self.end_line();
        }
        if tag.is_paragraph() {
            self.blank_line();
        }
    }

    /// Closes the element, and what was left open in it. As in a browser, the end of a mere style closes no
    /// block, and nothing in a cell of a table closes what is around it.
    fn close(&mut self, name: &str) {
        let is_block = tags::is_block(name);
        let of_table = matches!(name, "table" | "tr" | "td" | "th" | "tbody" | "thead");
        let found = self.open.iter().rposition(|element| element.name == name);
        let Some(found) = found.filter(|found| {
            let mut inner = self.open.iter().skip(found + 1);
            inner.all(|element| {
                let walled = matches!(element.name.as_str(), "table" | "td" | "th") && !of_table;
                !walled && (is_block || !tags::is_block(&element.name))
            })
        }) else {
            if is_block && !self.inside(|element| element.hidden) {
                self.end_line();
            }
            return;
        };
        let closed = self.open.get(found..).unwrap_or_default().to_vec();
        if !self.inside(|element| element.hidden) && closed.iter().any(|it| it.block || it.quote) {
            self.end_line();
        }
        self.open.truncate(found);
        if closed.iter().any(|element| element.quote) {
            self.lines.push(String::new());
        }
    }

    /// Ends the line that was begun, if one was. Outlook writes an empty line as a paragraph with a space that
    /// does not break.
    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.break_line();
        }
        self.line.clear();
        self.gap = false;
    }

    fn break_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mark = if self.in_quote() { MARK } else { "" };
        self.lines.push(format!("{mark}{}", line.trim_end()));
        self.gap = false;
    }

    fn blank_line(&mut self) {
        if !self.in_quote() && self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn p13_html_is_read_as_it_is_seen() {
        for (html, expected) in [
            ("<div dir=\"ltr\">1</div>", "1"),
            (
                "<div>4 add\n  logs</div><div><br></div><div>Bob</div>",
                "4 add logs\n\nBob",
            ),
            ("5 a &amp;&amp; b &lt; c&nbsp;d", "5 a && b < c d"),
            ("<p>1</p><p>2</p>", "1\n\n2"),
            (
                "<p class=MsoNormal>4 a<o:p></o:p></p><p class=MsoNormal>b</p>",
                "4 a\nb",
            ),
            (
                "<style>1</style><head><title>2</title></head><script>3</script>4 x",
                "4 x",
            ),
            ("<!-- 1 --><b>3</b> no", "3 no"),
            ("1<br>Bob<br/>Smith", "1\nBob\nSmith"),
            ("<blockquote>1</blockquote>3", "> 1\n\n3"),
            (
                "<div class=\"gmail_quote\"><div>1</div><div>2</div></div><div>3</div>",
                "> 1\n> 2\n\n3",
            ),
            (
                "<blockquote type=\"cite\">1<blockquote>2</blockquote>3",
                "> 1\n> 2\n\n> 3",
            ),
            ("3<div id=\"divRplyFwdMsg\">From</div>", "3\n\u{fdd0}\nFrom"),
            ("<pre>5\n```\n a  b\n```</pre>", "5\n```\n a  b\n```"),
            ("<span style=\"display:none\">1</span>3", "3"),
            (
                "<p class=MsoNormal>4 a</p><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoNormal>b</p>",
                "4 a\n\nb",
            ),
            ("<p>4 a</p><p>&nbsp;</p><p>b</p>", "4 a\n\n\nb"),
            (
                "<div>1</div><div class=\"gmail_signature\">Bob<br>5 Main Street</div>",
                "1\n-- \nBob\n5 Main Street",
            ),
            (
                "<div style=\"white-space:pre-wrap\">5 npm test\n\nBob Smith\nACME</div>",
                "5 npm test\n\nBob Smith\nACME",
            ),
            ("5 npm test<address>Bob</address>", "5 npm test\nBob"),
            (
                "<table><tr><td>4 a</td><td>Bob</td></tr></table>",
                "4 a\nBob",
            ),
            ("<span style=\"display:block\">4 a</span>Bob", "4 a\nBob"),
            ("<div hidden>1</div><div>no</div>", "no"),
            ("<input disabled><div hidden class=x>1</div>no", "no"),
            ("<div><s>1</s></div>no", "\u{fffd}1\nno"),
            ("<blockquote><s>1</s></blockquote>no", "> 1\n\nno"),
            (
                "<style>.x{display:none}</style><div class=\"x\">1</div>no",
                "\u{fffd}1\nno",
            ),
            (
                "1<blockquote style=\"margin:0 0 0 40px;border:none;padding:0px\">3</blockquote>",
                "1\n3",
            ),
            ("a < b", "a < b"),
            ("1 <", "1 <"),
            ("<div", ""),
        ] {
            assert_eq!(text_of(html), expected, "{html}");
        }
    }

    #[test]
    fn what_is_quoted_never_stands_unmarked() {
        let html = "<blockquote>1<br>2<div>3</div><p>4</p><pre>5\n6</pre></blockquote>";
        for line in text_of(html).lines() {
            assert!(line.is_empty() || line.starts_with(MARK), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn no_html_breaks_it(html in "(<|>|/|\"|'|=|&|;|#|x|div|br|pre|blockquote|style|!--|--| |\n|é|1){0,40}") {
            let _ = text_of(&html);
        }
    }
}
