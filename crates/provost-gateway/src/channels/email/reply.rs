//! What the text of a reply decides. Only the first line that its sender wrote counts; a text of several lines
//! stands between fences (```), so that nothing of the quoted mail can become part of it.

use provost_core::menu::{self, Code, Reply, Unclear};

use super::quotes::{Own, own_lines};

const FENCE: &str = "```";

/// Why a mail decides nothing: its sender is asked again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    #[error(transparent)]
    Menu(#[from] Unclear),
    #[error(
        "the text of {} seems to go on in the next line: write all of it in one line, or between two lines of ```", .0.as_str()
    )]
    GoesOn(Code),
    #[error("the text of {} begins with ``` and has no such line at its end", .0.as_str())]
    OpenFence(Code),
    #[error("your answer stands between quoted lines: write it at the top of your reply")]
    Mixed,
    #[error("the plain text and the HTML of your mail say different things: send it as plain text")]
    TwoReadings,
}

impl Misread {
    /// In the words that all channels have.
    pub fn unclear(self) -> Unclear {
        match self {
            Self::Menu(unclear) => unclear,
            Self::GoesOn(code) | Self::OpenFence(code) if code.needs_text() => {
                Unclear::TextNeeded(code)
            }
            _ => Unclear::NoCode,
        }
    }
}

/// Reads a reply that came as plain text, such as the body that a forwarding service posts.
pub fn reply_in_text(body: &str) -> Result<Reply, Unclear> {
    first_line(body).map_err(Misread::unclear)
}

/// Reads the first line that the sender wrote, and the fence that follows it.
pub fn first_line(text: &str) -> Result<Reply, Misread> {
    let text = text.replace('\u{a0}', " ");
    let lines: Vec<&str> = text.lines().map(without_marks).collect();
    let own = match own_lines(&lines) {
        Own::Lines(lines) => lines,
        Own::Nothing => return Err(Unclear::NoCode.into()),
        Own::Mixed => return Err(Misread::Mixed),
    };
    let (first, below) = own.split_first().ok_or(Unclear::NoCode)?;
    match fence(first, below) {
        Some((code, Some(text))) => Ok(menu::parse(&format!("{} {text}", code.as_str()))?),
        Some((code, None)) => Err(Misread::OpenFence(code)),
        None => one_line(first, below),
    }
}

/// Mail programs put marks of order and width before a text.
fn without_marks(line: &str) -> &str {
    line.trim_start_matches(|c| matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}'))
}

fn one_line(first: &str, below: &[&str]) -> Result<Reply, Misread> {
    let reply = menu::parse(first)?;
    let goes_on = below.first().is_some_and(|line| !line.trim().is_empty());
    // A no is a no, with half its reason too.
    if goes_on && reply.text.is_some() && reply.code != Code::Deny {
        return Err(Misread::GoesOn(reply.code));
    }
    Ok(reply)
}

/// The code and the lines between two fences, where the first one follows the code; `None` inside when it is
/// never closed.
fn fence(first: &str, below: &[&str]) -> Option<(Code, Option<String>)> {
    let first = first.trim();
    let (code, rest) = first.split_once(char::is_whitespace).unwrap_or((first, ""));
    let code = Code::parse(code)?;
    let mut below = below.iter();
    let opening = match rest.trim() {
        "" => below.find(|line| !line.trim().is_empty())?.trim(),
        rest => rest,
    };
    // A language may be named behind it, as in ```sh.
    let language = opening.strip_prefix(FENCE)?;
    if !language.chars().all(char::is_alphanumeric) {
        return Some((code, None));
    }
    let mut text = Vec::new();
    for line in below {
        if line.trim() == FENCE {
            return Some((code, Some(text.join("\n"))));
        }
        text.push(*line);
    }
    Some((code, None))
}

/// What a mail says that has a plain text, an HTML one, or both. Programs wrap the long lines of a plain text
/// and not those of HTML, so with both the HTML has the exact text, and the plain one must agree.
pub(super) fn read(plain: Option<&str>, html: Option<&str>) -> Result<Reply, Misread> {
    match (plain.filter(|text| !text.trim().is_empty()), html) {
        (Some(plain), Some(html)) => agreed(first_line(plain), first_line(html)),
        (Some(text), None) | (None, Some(text)) => first_line(text),
        (None, None) => Err(Unclear::NoCode.into()),
    }
}

fn agreed(plain: Result<Reply, Misread>, html: Result<Reply, Misread>) -> Result<Reply, Misread> {
    match (plain, html) {
        (Ok(plain), Ok(html)) if same(&plain, &html) => Ok(html),
        (Ok(_), Ok(_)) => Err(Misread::TwoReadings),
        (Err(Misread::GoesOn(code)), Ok(html)) if html.code == code => Ok(html),
        (Ok(plain), Err(_)) if plain.text.is_none() => Ok(plain),
        (Ok(_), Err(why)) | (Err(why), _) => Err(why),
    }
}

fn same(one: &Reply, other: &Reply) -> bool {
    let squeezed = |reply: &Reply| -> Option<String> {
        let text = reply.text.as_deref()?;
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
