//! What the text of a reply decides. Only the lines that its sender wrote count, and they are read by the menu.

mod formatting;

use provost_core::menu::{self, LineBreaks, Reply, Unclear};

use super::quotes::{Own, marks_history, own_lines};

/// Why a mail decides nothing: its sender is asked again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    #[error(transparent)]
    Menu(#[from] Unclear),
    #[error("your answer stands between quoted lines: write it at the top of your reply")]
    Mixed,
    #[error(
        "your answer stands below the quoted mail, where only 1, 2, 3 or 6 alone on a line is taken: write it at the top of your reply"
    )]
    BelowQuote,
    #[error("the plain text and the HTML of your mail say different things: send it as plain text")]
    TwoReadings,
}

impl Misread {
    /// In the words that all channels have.
    pub fn unclear(self) -> Unclear {
        match self {
            Self::Menu(unclear) => unclear,
            Self::Mixed | Self::BelowQuote | Self::TwoReadings => Unclear::NoCode,
        }
    }
}

/// Reads a reply that came as plain text, such as the body that a forwarding service posts.
pub fn reply_in_text(body: &str) -> Result<Reply, Unclear> {
    first_line(body).map_err(Misread::unclear)
}

/// Reads the lines that the sender of a plain text wrote.
pub fn first_line(text: &str) -> Result<Reply, Misread> {
    own_reply(text, LineBreaks::Wrapped, Below::Read)
}

/// Whether what stands below an attribution may be the sender's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Read,
    /// Another part of the mail says that it is history.
    History,
}

fn own_reply(text: &str, breaks: LineBreaks, below: Below) -> Result<Reply, Misread> {
    let text = text.replace('\u{a0}', " ");
    let lines: Vec<&str> = menu::lines(&text).into_iter().map(without_marks).collect();
    let (own, others, below_quote, cut) = match own_lines(&lines) {
        Own::Lines {
            own,
            mut others,
            above_attribution,
            below_quote,
            cut,
        } => {
            if below == Below::History {
                others.truncate(above_attribution);
            }
            (own, others, below_quote, cut)
        }
        Own::Nothing => return Err(Unclear::NoCode.into()),
        Own::Mixed => return Err(Misread::Mixed),
    };
    let reply = menu::parse_lines(&own, breaks);
    if below_quote && matches!(reply, Err(Unclear::Unmarked(..) | Unclear::Prose(_))) {
        return Err(Misread::BelowQuote);
    }
    let reply = reply?;
    // "4 Privet Drive" may be the footer of a server.
    if below_quote && (reply.text.is_some() || reply.code.needs_text()) {
        return Err(Misread::BelowQuote);
    }
    if cut && reply.code.needs_text() {
        return Err(Unclear::GoesOn(reply.code).into());
    }
    if others.iter().any(|line| line.contains(menu::UNREADABLE)) {
        return Err(Unclear::Unreadable.into());
    }
    match menu::contradiction(&reply, &others) {
        Some(line) => Err(Unclear::several(line).into()),
        None => Ok(reply),
    }
}

/// Mail programs put marks of order and width before a text, where they would hide the mark of a quote.
fn without_marks(line: &str) -> &str {
    line.trim_start_matches(|c| matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}'))
}

/// What a mail says that has a plain text, an HTML one, or both. Programs wrap the long lines of a plain text
/// and not those of HTML, so with both the HTML has the exact text, and the plain one must agree.
pub(super) fn read(plain: Option<&str>, html: Option<&str>) -> Result<Reply, Misread> {
    match (plain.filter(|text| !text.trim().is_empty()), html) {
        (Some(plain), Some(html)) => {
            // Yahoo marks its quotes in the HTML only.
            let marked = marks_history(&menu::lines(html));
            let below = if marked { Below::History } else { Below::Read };
            agreed(unformatted(plain, below), seen(html))
        }
        (Some(plain), None) => first_line(plain),
        (None, Some(html)) => seen(html),
        (None, None) => Err(Unclear::NoCode.into()),
    }
}

fn seen(html: &str) -> Result<Reply, Misread> {
    own_reply(html, LineBreaks::Seen, Below::Read)
}

/// Programs make `*1*` of a bold 1 where they write the plain text for an HTML one.
fn unformatted(plain: &str, below: Below) -> Result<Reply, Misread> {
    match own_reply(plain, LineBreaks::Wrapped, below) {
        Err(Misread::Menu(Unclear::NoCode)) => {
            let lines = menu::lines(plain).into_iter().map(formatting::without);
            let plain = lines.collect::<Vec<_>>().join("\n");
            own_reply(&plain, LineBreaks::Wrapped, below)
        }
        read => read,
    }
}

fn agreed(plain: Result<Reply, Misread>, html: Result<Reply, Misread>) -> Result<Reply, Misread> {
    match (plain, html) {
        (Ok(plain), Ok(html)) if same(&plain, &html) => Ok(html),
        (Err(Misread::Menu(Unclear::GoesOn(code))), Ok(html)) if html.code == code => Ok(html),
        // What is hidden in the HTML may stand in the plain text.
        (Ok(_), Ok(_) | Err(Misread::Menu(Unclear::NoCode))) => Err(Misread::TwoReadings),
        (Ok(_), Err(why)) | (Err(why), _) => Err(why),
    }
}

fn same(one: &Reply, other: &Reply) -> bool {
    let squeezed = |reply: &Reply| -> Option<String> {
        let text = formatting::without(reply.text.as_deref()?);
        Some(text.chars().filter(|c| !c.is_whitespace()).collect())
    };
    one.code == other.code && squeezed(one) == squeezed(other)
}

/// The approval that a mail names: in brackets in its subject, where ours is the last; else the first in its
/// text. Ids are `appr_` and hex, or 16 hex characters.
pub fn approval_id_in(subject: &str, body: &str) -> Option<String> {
    let in_brackets = |text: &str| {
        let parts = text.rsplit('[').filter_map(|part| part.split_once(']'));
        parts
            .map(|(id, _)| id.trim().to_owned())
            .find(|id| is_approval_id(id))
    };
    in_brackets(subject).or_else(|| {
        let words = body.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut ids = words.filter(|word| word.starts_with("appr_") && is_approval_id(word));
        let first = ids.next()?;
        // Two of them leave open which one is meant.
        ids.all(|other| other == first).then(|| first.to_owned())
    })
}

fn is_approval_id(text: &str) -> bool {
    let is_hex = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    match text.strip_prefix("appr_") {
        Some(rest) => {
            (1..=64).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        }
        None => text.len() == 16 && is_hex(text),
    }
}

#[cfg(test)]
mod tests;
