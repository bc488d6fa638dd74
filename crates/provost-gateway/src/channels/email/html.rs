//! The text of an HTML mail as a reader sees it, line by line. What stands in a quote gets the mark of one, so
//! that HTML and plain text are read by the same rules. Input that is no HTML gives some text, never an error.

mod entities;
mod tags;

use self::tags::{Tag, Token, tokens};

/// Put before what is quoted.
const MARK: &str = "> ";
/// Stands where everything below is the mail before.
const HISTORY: &str = "-----Original Message-----";
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
    /// The elements of a quote that are open: the name of each, and how many of that name stand in it.
    quotes: Vec<(String, usize)>,
    hidden: Option<(String, usize)>,
    pre: usize,
}

impl Page {
    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        for c in entities::decode(text).chars() {
            match c {
                '\n' if self.pre > 0 => self.break_line(),
                // Written for the eye: a program that reads a command wants a plain space.
                '\u{a0}' => self.push(' '),
                c if c.is_ascii_whitespace() && self.pre == 0 => self.gap = true,
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
        if let Some((name, depth)) = &mut self.hidden {
            *depth += usize::from(*name == tag.name && !tag.is_empty());
            return;
        }
        if tag.is_hidden() {
            self.hidden = (!tag.is_empty()).then(|| (tag.name.clone(), 1));
            return;
        }
        if tag.begins_history() {
            self.end_line();
            self.lines.push(HISTORY.to_owned());
        } else if tag.begins_signature() && self.quotes.is_empty() {
            self.end_line();
            self.lines.push(SIGNATURE.to_owned());
        }
        match tag.name.as_str() {
            "br" => self.break_line(),
            "pre" => self.pre += 1,
            _ => {}
        }
        if tag.is_block() {
            self.end_line();
        }
        if tag.is_paragraph() {
            self.blank_line();
        }
        self.track_quote(tag);
    }

    fn track_quote(&mut self, tag: &Tag) {
        if tag.is_empty() {
            return;
        }
        if tag.is_quote() {
            self.end_line();
            self.quotes.push((tag.name.clone(), 1));
        } else if let Some((name, depth)) = self.quotes.last_mut() {
            *depth += usize::from(*name == tag.name);
        }
    }

    fn close(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden == name {
                *depth -= 1;
                if *depth == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        if name == "pre" {
            self.pre = self.pre.saturating_sub(1);
        }
        if tags::is_block(name) {
            self.end_line();
        }
        let Some((quote, depth)) = self.quotes.last_mut() else {
            return;
        };
        *depth -= usize::from(quote == name);
        if *depth == 0 {
            self.end_line();
            self.quotes.pop();
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
        let mark = if self.quotes.is_empty() { "" } else { MARK };
        self.lines.push(format!("{mark}{}", line.trim_end()));
        self.gap = false;
    }

    fn blank_line(&mut self) {
        if self.quotes.is_empty() && self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn html_is_read_as_it_is_seen() {
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
            (
                "3<div id=\"divRplyFwdMsg\">From</div>",
                "3\n-----Original Message-----\nFrom",
            ),
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
