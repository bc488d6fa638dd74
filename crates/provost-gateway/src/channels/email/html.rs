//! The text of an HTML mail as a reader sees it, line by line. What stands in a quote gets the mark of one, so
//! that HTML and plain text are read by the same rules. Input that is no HTML gives some text, never an error.

mod entities;
mod rows;
mod style;
mod tags;

use provost_core::menu;

use self::{
    style::Says,
    tags::{Tag, Token, tokens},
};
use super::quotes::{HISTORY, SIGNATURE_END};

/// Put before what is quoted.
const MARK: &str = "> ";
/// Stands before a signature.
const SIGNATURE: &str = "-- ";

pub(super) fn text_of(html: &str) -> String {
    let tokens = tokens(html);
    let mut page = Page::styled(&tokens);
    for token in tokens {
        match token {
            Token::Text(text) => page.text(text),
            Token::Open(tag) => page.open(&tag),
            Token::Sheet(_) => {}
            Token::Close(name) => page.close(&name),
        }
    }
    page.end_line();
    page.close_down_to(0);
    page.lines.join("\n").trim_end_matches('\n').to_owned()
}

#[derive(Default)]
struct Page {
    lines: Vec<String>,
    line: String,
    /// A space is due before the next word.
    gap: bool,
    open: Vec<Element>,
    /// The elements of which a style sheet says that they are not seen as they stand.
    doubtful: Vec<String>,
    /// The elements of which a style sheet says that they stand beside others.
    inline: Vec<String>,
    /// What a picture at the start of the line shows, as far as it is text.
    picture: String,
    /// What floats has just ended: the next block stands beside it.
    beside: bool,
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
    signature: bool,
    /// It floats, and begins at this line.
    floats: Option<usize>,
    /// What it holds stands side by side.
    flex: bool,
    /// The lines at which the cells of a row begin.
    cells: Vec<usize>,
}

impl Page {
    /// With what all style sheets say: one that stands below holds for what is above it as well.
    fn styled(tokens: &[Token<'_>]) -> Self {
        let sheets = tokens.iter().filter_map(|token| match token {
            Token::Sheet(text) => Some(*text),
            _ => None,
        });
        let sheet = sheets.collect::<Vec<_>>().join("\n");
        Self {
            doubtful: style::selectors(&sheet, Says::Doubtful),
            inline: style::selectors(&sheet, Says::Beside),
            ..Self::default()
        }
    }

    fn inside(&self, holds: fn(&Element) -> bool) -> bool {
        self.open.iter().any(holds)
    }

    fn in_quote(&self) -> bool {
        self.inside(|element| element.quote)
    }

    fn text(&mut self, text: &str) {
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

    /// No reader of HTML begins a line at a character: those at which the menu does are blanks.
    fn push(&mut self, c: char) {
        if menu::is_line_break(c) {
            self.gap = true;
            return;
        }
        if self.line.is_empty() && !self.picture.is_empty() {
            self.line = std::mem::take(&mut self.picture);
            self.gap = true;
        }
        if self.gap && !self.line.is_empty() {
            self.line.push(' ');
        }
        (self.gap, self.beside) = (false, false);
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
            // A quote that is seen as one is no text that was wrapped before a `>`.
            self.blank_line();
        }
        if tag.is_cell() {
            self.begin_cell();
        }
        self.open.push(Element {
            name: tag.name.clone(),
            block: self.is_block(tag),
            quote,
            hidden,
            preformatted: tag.is_preformatted(),
            doubtful: tag.is_doubtful() || tag.selectors().any(|it| self.doubtful.contains(&it)),
            signature: tag.holds_signature() && !hidden && !self.in_quote(),
            floats: tag.floats().then_some(self.lines.len()),
            flex: tag.is_flex(),
            cells: Vec::new(),
        });
    }

    /// Whether a new line begins with it. What stands beside something else begins none.
    fn is_block(&self, tag: &Tag) -> bool {
        let in_row = self.open.last().is_some_and(|parent| parent.flex);
        let inline = || tag.selectors().any(|it| self.inline.contains(&it));
        tag.is_block() && !in_row && !inline()
    }

    fn begin_cell(&mut self) {
        self.end_line();
        let begins = self.lines.len();
        let row = self.open.iter_mut().rfind(|element| element.name == "tr");
        if let Some(row) = row {
            row.cells.push(begins);
        }
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
        if let Some(alt) = tag.shown_text() {
            self.show_picture(&entities::decode(alt));
        }
        if !self.is_block(tag) {
            return;
        }
        if std::mem::take(&mut self.beside) {
            self.gap = true;
            return;
        }
        self.end_line();
        if tag.is_paragraph() {
            self.blank_line();
        }
    }

    /// A picture in a line of text is part of it, such as a cross behind a code. One that stands alone, such as a
    /// logo, is not.
    fn show_picture(&mut self, alt: &str) {
        let alt = alt.replace(menu::is_line_break, " ");
        let alt = alt.trim();
        if self.line.is_empty() {
            alt.clone_into(&mut self.picture);
        } else if !alt.is_empty() {
            self.gap = true;
            alt.chars().for_each(|c| self.push(c));
            self.gap = true;
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
        self.close_down_to(found);
    }

    /// Closes what is open, the innermost first, until so many elements are left.
    fn close_down_to(&mut self, left: usize) {
        while self.open.len() > left {
            let is_hidden = self.inside(|element| element.hidden);
            let ends = self.open.last().is_some_and(|it| it.block || it.quote);
            if ends && !is_hidden {
                self.end_line();
            }
            let Some(closed) = self.open.pop() else {
                return;
            };
            self.beside = closed.floats.is_some();
            if let Some(begins) = closed.floats.filter(|_| !self.in_quote() && !closed.quote) {
                self.line = rows::taken_back(&mut self.lines, begins, &self.line);
                self.gap = true;
            }
            if closed.quote {
                self.lines.push(String::new());
            }
            if closed.cells.len() > 1 {
                self.end_line();
                rows::join(&mut self.lines, &closed.cells);
            }
            if closed.signature {
                self.end_line();
                self.lines.push(SIGNATURE_END.to_owned());
            }
        }
    }

    /// Ends the line that was begun, if one was. Outlook writes an empty line as a paragraph with a space that
    /// does not break.
    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.break_line();
        }
        self.line.clear();
        self.picture.clear();
        self.gap = false;
    }

    fn break_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mark = if self.in_quote() { MARK } else { "" };
        self.lines.push(format!("{mark}{}", line.trim_end()));
        self.picture.clear();
        self.gap = false;
        self.beside = false;
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
                "<div>1</div><div class=\"gmail_signature\">Bob<br>5 Main Street</div><div>3 no</div>",
                "1\n-- \nBob\n5 Main Street\n\u{fdd1}\n3 no",
            ),
            (
                "<div style=\"white-space:pre-wrap\">5 npm test\n\nBob Smith\nACME</div>",
                "5 npm test\n\nBob Smith\nACME",
            ),
            ("5 npm test<address>Bob</address>", "5 npm test\nBob"),
            (
                "<table><tr><td>4 a</td><td>Bob</td></tr><tr><td>b</td></tr></table>",
                "4 a Bob\nb",
            ),
            (
                "<table><tr><td><p class=MsoNormal>1</p></td><td><p class=MsoNormal>Which<br>one?</p></td></tr></table>",
                "1 Which\none?",
            ),
            (
                "<table><tr><td>1</td><td><table><tr><td>a</td><td>b</td></tr></table></table>",
                "1 a b",
            ),
            (
                "<div style=\"display:inline\">6</div><div style=\"display: inline-block\">&nbsp;PM</div>",
                "6 PM",
            ),
            (
                "<style>.a{display:inline}</style><p class=\"a\">6</p> <p class=\"a\">PM</p>",
                "6 PM",
            ),
            (
                "<div style=\"float:left\">6</div><div>PM</div><div>b</div>",
                "6 PM\nb",
            ),
            (
                "<div style=\"display:flex\"><div>6</div><div> PM</div></div>b",
                "6 PM\nb",
            ),
            (
                "<div style=\"display:flex;flex-direction:column\"><div>1</div><div>b</div></div>",
                "1\nb",
            ),
            ("1 <img alt=\"❌\" src=x>", "1 ❌"),
            ("<img alt=\"❌\" src=x>1", "❌ 1"),
            (
                "<p class=MsoNormal>4 a</p><img alt=\"A logo\" src=x><p class=MsoNormal>Bob</p>",
                "4 a\nBob",
            ),
            ("1<img alt=\"seen\" width=1 height=1>", "1"),
            ("<p>1&#133; what</p>", "1… what"),
            ("<p>1&#x85;what</p>", "1…what"),
            ("<p>6\u{b}PM</p>", "6 PM"),
            ("<p>6&#11;PM &#x2028;now\u{85}ok</p>", "6 PM now ok"),
            ("1 <img alt=\"not&#10;now\" src=x>", "1 not now"),
            (
                "<style><!-- .st{text-decoration:line-through} --></style><p><span class=st>1</span></p>",
                "\u{fffd}1",
            ),
            (
                "<p><span class=st>1</span></p><style>/* a */.st{text-decoration:line-through}</style>",
                "\u{fffd}1",
            ),
            ("<script>if (a < b) { x(\"<p>1</p>\") }</script>3", "3"),
            ("<style/>.a{color:red}</style>3", "3"),
            (
                "<table align=left><tr><td>6</td></tr></table><p>PM would be better</p>",
                "6 PM would be better",
            ),
            (
                "<div style=\"float:left\"><div>6</div></div><div>PM</div>",
                "6 PM",
            ),
            (
                "<table align=left width=\"100%\"><tr><td>External</td></tr></table><p>1</p>",
                "External\n\n1",
            ),
            (
                "<div style=\"display:contents\">6</div><div style=\"display:contents\"> PM</div>",
                "6 PM",
            ),
            ("<div>5: a</div><blockquote>b</blockquote>", "5: a\n\n> b"),
            (
                "<p style=\"color:#fff;background:#fff\">1</p>no",
                "\u{fffd}1\nno",
            ),
            (
                "<div style=\"border-left:2px solid blue\"><div>1</div></div>no",
                "> 1\n\nno",
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
