//! Tags: cutting a page into them, and what those of mail programs mean.

use super::style::Style;

pub(super) enum Token<'t> {
    Text(&'t str),
    Open(Tag),
    /// What a style sheet says.
    Sheet(&'t str),
    Close(String),
}

pub(super) struct Tag {
    /// In lower case, as everything here.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    closed: bool,
}

const QUOTES: &[&str] = &[
    "gmail_quote",
    "gmail_quote_container",
    "gmail_extra",
    "gmail_attr",
    "yahoo_quoted",
    "moz-cite-prefix",
    "protonmail_quote",
    "tutanota_quote",
    "zmail_extra",
    "emailquote",
];
/// What Outlook puts before the mail that is answered.
const HISTORY: &[&str] = &[
    "divrplyfwdmsg",
    "appendonsend",
    "stopspelling",
    "mail-editor-reference-message-container",
    "olk_src_body_section",
    "zwchr",
];
/// Classes and ids of what programs add below what was written.
const SIGNATURES: &[&str] = &[
    "gmail_signature",
    "gmail_signature_prefix",
    "moz-signature",
    "applemailsignature",
    "linebreakatbeginningofsignature",
    "ms-outlook-mobile-signature",
    "ms-outlook-ios-signature",
    "protonmail_signature_block",
    "signature",
    "x_signature",
];
const BLOCKS: &[&str] = &[
    "div",
    "p",
    "table",
    "tr",
    "ul",
    "ol",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "blockquote",
    "pre",
    "section",
    "article",
    "header",
    "footer",
    "body",
    "center",
    "dl",
    "dt",
    "dd",
    "form",
    "fieldset",
    "address",
    "td",
    "th",
    "caption",
    "main",
    "aside",
    "nav",
    "figure",
    "figcaption",
    "details",
    "summary",
    "dialog",
    "legend",
];
const HIDDEN: &[&str] = &[
    "style", "script", "head", "title", "template", "noscript", "svg",
];
/// Elements that hold text for programs, in which a `<` begins nothing.
const RAW: &[&str] = &["style", "script"];
const STRUCK: &[&str] = &["s", "strike", "del"];
const EMPTY: &[&str] = &[
    "br", "hr", "img", "input", "meta", "link", "wbr", "base", "col", "area",
];

impl Tag {
    pub(super) fn is_empty(&self) -> bool {
        self.closed || EMPTY.contains(&self.name.as_str())
    }

    pub(super) fn is_block(&self) -> bool {
        let shown_as_block = self.style().has("display", |kind| {
            matches!(kind, "block" | "flex" | "table" | "list-item")
        });
        (is_block(&self.name) || shown_as_block) && !self.style().stands_beside() && !self.floats()
    }

    pub(super) fn is_cell(&self) -> bool {
        matches!(self.name.as_str(), "td" | "th")
    }

    /// A table floats by its alignment as well, unless it leaves no room beside it.
    pub(super) fn floats(&self) -> bool {
        let aligned = self.name == "table"
            && matches!(self.attribute("align"), Some("left" | "right"))
            && self.attribute("width") != Some("100%")
            && !self.style().has("width", |width| width == "100%");
        aligned || self.style().floats()
    }

    pub(super) fn is_flex(&self) -> bool {
        self.style().is_row()
    }

    /// What a picture says to those who do not see it. The smallest ones only count who reads a mail.
    pub(super) fn shown_text(&self) -> Option<&str> {
        let tiny = ["width", "height"]
            .iter()
            .any(|name| matches!(self.attribute(name), Some("0" | "1")));
        let alt = self.attribute("alt");
        alt.filter(|_| self.name == "img" && !tiny)
    }

    /// Its line breaks are kept.
    pub(super) fn is_preformatted(&self) -> bool {
        let kept = self.style().has("white-space", |it| it.starts_with("pre"));
        self.name == "pre" || kept
    }

    /// What it holds may be crossed out, or so that nobody sees it.
    pub(super) fn is_doubtful(&self) -> bool {
        STRUCK.contains(&self.name.as_str()) || self.style().makes_doubtful()
    }

    /// The names by which a style sheet speaks of it.
    pub(super) fn selectors(&self) -> impl Iterator<Item = String> {
        let id = self.attribute("id").map(|id| format!("#{id}"));
        let classes = self.classes().map(|class| format!(".{class}"));
        let names = [self.name.clone(), "*".to_owned()];
        classes
            .chain(id)
            .chain(names)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn style(&self) -> Style<'_> {
        Style(self.attribute("style").unwrap_or_default())
    }

    /// Outlook writes each line as a paragraph of that class, without space around it.
    pub(super) fn is_paragraph(&self) -> bool {
        self.name == "p" && !self.classes().any(|class| class.starts_with("mso"))
    }

    pub(super) fn is_quote(&self) -> bool {
        // Gmail indents with a quote that has no border.
        let style = self.style();
        let indented = style.has("border", |it| it == "none" || it == "0")
            && !style.has("border-left", |_| true);
        // Outlook and GMX draw a line beside what they quote.
        let lined = style.has("border-left", |it| it.contains("solid"));
        (self.name == "blockquote" && !indented)
            || (self.name == "div" && lined)
            // Yahoo puts letters before its own.
            || self
                .classes()
                .any(|class| QUOTES.contains(&class) || class.ends_with("yahoo_quoted"))
    }

    pub(super) fn begins_history(&self) -> bool {
        let named = self
            .attribute("id")
            .is_some_and(|id| HISTORY.iter().any(|known| id.ends_with(known)));
        let style = self.attribute("style").unwrap_or_default().replace(' ', "");
        named || style.contains("border:none;border-top:solid")
    }

    pub(super) fn begins_signature(&self) -> bool {
        let id = self.attribute("id").unwrap_or_default();
        SIGNATURES.contains(&id) || self.classes().any(|class| SIGNATURES.contains(&class))
    }

    /// It ends with this element. The mark before Gmail's stands above it.
    pub(super) fn holds_signature(&self) -> bool {
        let is_prefix = self.classes().any(|class| class.ends_with("_prefix"));
        self.begins_signature() && !is_prefix
    }

    pub(super) fn is_hidden(&self) -> bool {
        HIDDEN.contains(&self.name.as_str())
            || self.attribute("hidden").is_some()
            || self.style().hides()
    }

    fn classes(&self) -> impl Iterator<Item = &str> {
        self.attribute("class")
            .unwrap_or_default()
            .split_whitespace()
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// The tags and texts of a page, in order.
pub(super) fn tokens(html: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = html;
    while let Some(at) = next_tag(rest) {
        let (text, tag) = rest.split_at_checked(at).unwrap_or((rest, ""));
        if !text.is_empty() {
            tokens.push(Token::Text(text));
        }
        let (token, after) = one(tag);
        rest = match &token {
            Some(Token::Open(tag)) if RAW.contains(&tag.name.as_str()) => {
                let (inside, after) = raw(after, &tag.name);
                if tag.name == "style" {
                    tokens.push(Token::Sheet(inside));
                }
                after
            }
            _ => {
                tokens.extend(token);
                after
            }
        };
    }
    if !rest.is_empty() {
        tokens.push(Token::Text(rest));
    }
    tokens
}

/// What stands before the end of an element that holds no tags, and what follows that end.
fn raw<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let ends = |at: &usize| {
        let tag = text.get(at + 2..at + 2 + name.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name))
    };
    let end = text.match_indices("</").map(|(at, _)| at).find(ends);
    let (inside, tag) = text
        .split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, ""));
    (inside, tag.split_once('>').map_or("", |(_, after)| after))
}

/// A `<` that begins a tag, and not a comparison.
fn next_tag(text: &str) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|at| {
        let next = text.get(at + 1..).and_then(|after| after.chars().next());
        next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
    })
}

/// The tag at the start of the text, if it is more than a comment, and what follows it.
fn one(text: &str) -> (Option<Token<'static>>, &str) {
    if let Some(comment) = text.strip_prefix("<!--") {
        let after = comment.split_once("-->").map_or("", |(_, after)| after);
        return (None, after);
    }
    let (inside, after) = split_tag(text.get(1..).unwrap_or_default());
    if inside.starts_with(['!', '?']) {
        return (None, after);
    }
    if let Some(name) = inside.strip_prefix('/') {
        return (Some(Token::Close(name.trim().to_ascii_lowercase())), after);
    }
    (Some(Token::Open(tag(inside))), after)
}

/// Up to the `>` that stands in no quotes. A tag that never ends swallows the rest.
fn split_tag(text: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => {
                let inside = text.get(..at).unwrap_or_default();
                return (inside, text.get(at + 1..).unwrap_or_default());
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    (text, "")
}

fn tag(inside: &str) -> Tag {
    let end = inside
        .find(|c: char| c.is_whitespace() || c == '/')
        .unwrap_or(inside.len());
    let (name, rest) = inside.split_at_checked(end).unwrap_or((inside, ""));
    Tag {
        name: name.to_ascii_lowercase(),
        attributes: attributes(rest),
        closed: rest.trim_end().ends_with('/'),
    }
}

fn attributes(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(is_between);
    while !rest.is_empty() {
        let end = rest
            .find(|c| is_between(c) || c == '=')
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (value, after) = match after.trim_start().strip_prefix('=') {
            Some(after) => value(after.trim_start()),
            None => ("", after),
        };
        found.push((name.to_ascii_lowercase(), value.to_ascii_lowercase()));
        rest = after.trim_start_matches(is_between);
    }
    found
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || c == '/'
}

fn value(text: &str) -> (&str, &str) {
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inside = text.get(1..).unwrap_or_default();
            inside.split_once(quote).unwrap_or((inside, ""))
        }
        _ => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    }
}
