//! The text of a mail as blocks, written once and sent as plain text and as HTML.

use provost_core::menu::Code;

#[derive(Debug, Default)]
pub(in crate::channels::email) struct Page(Vec<Block>);

#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    Heading(&'static str),
    /// What others wrote. In plain text a bar stands before each line, which replies are never read from.
    Quoted(String),
    /// Each code with what it says.
    Menu(Vec<(Code, String)>),
    Link(String),
}

impl Page {
    pub(super) fn push(&mut self, block: Block) {
        self.0.push(block);
    }

    pub(super) fn text(&mut self, text: impl Into<String>) {
        self.push(Block::Text(text.into()));
    }

    pub(super) fn heading(&mut self, text: &'static str) {
        self.push(Block::Heading(text));
    }

    pub(in crate::channels::email) fn plain(&self) -> String {
        let blocks = self.0.iter().map(Block::plain);
        blocks.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    pub(in crate::channels::email) fn html(&self) -> String {
        let blocks: String = self.0.iter().map(Block::html).collect();
        format!(
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head>\n\
             <body style=\"font-family:sans-serif;max-width:44em\">\n{blocks}</body></html>\n"
        )
    }
}

impl Block {
    fn plain(&self) -> String {
        match self {
            Self::Text(text) | Self::Link(text) => text.clone(),
            Self::Heading(text) => format!("{text}:"),
            Self::Quoted(text) => {
                let lines = text.split('\n').map(|line| format!("| {line}"));
                lines.collect::<Vec<_>>().join("\n")
            }
            Self::Menu(codes) => {
                let lines = codes.iter().map(|(code, label)| choice(*code, label));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn html(&self) -> String {
        match self {
            Self::Text(text) => format!("<p>{}</p>\n", escape(text)),
            Self::Heading(text) => format!("<p><b>{}</b></p>\n", escape(text)),
            Self::Quoted(text) => format!(
                "<pre style=\"background:#f2f2f2;color:#111;padding:8px;white-space:pre-wrap\">{}</pre>\n",
                escape(text)
            ),
            Self::Menu(codes) => {
                let lines = codes
                    .iter()
                    .map(|(code, label)| escape(&choice(*code, label)));
                format!("<p>{}</p>\n", lines.collect::<Vec<_>>().join("<br>\n"))
            }
            Self::Link(url) => format!("<p><a href=\"{0}\">{0}</a></p>\n", escape(url)),
        }
    }
}

/// In brackets, so that a line of the menu is no answer where a program quotes it without a mark.
fn choice(code: Code, label: &str) -> String {
    let how = match code {
        Code::Note => " (reply: 4: your note)",
        Code::Change => " (reply: 5: what to do instead)",
        _ => "",
    };
    format!("[{}] {label}{how}", code.as_str())
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
