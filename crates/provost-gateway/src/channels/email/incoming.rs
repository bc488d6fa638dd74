//! A mail as it came, reduced to what a reply may be recognised and read by.

mod automatic;

use mail_parser::{
    Address as Addresses, HeaderName, HeaderValue, Message, MessageParser, MessagePart,
    MimeHeaders as _, PartType,
};

use super::{address::Address, flowed, html};

/// So many recipients and earlier mails are looked at.
const MOST: usize = 32;
const LONGEST_ID: usize = 500;
/// What a person writes fits; what is longer is history.
const LONGEST_TEXT: usize = 64 * 1024;
/// Programs put long styles before the text.
const LONGEST_HTML: usize = 512 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// Whom it says it is from, when it says exactly one.
    pub from: Option<Address>,
    /// Without brackets, as all ids here.
    pub message_id: Option<String>,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub subject: String,
    /// Every address of ours that it may have been sent to.
    pub to: Vec<Address>,
    /// Sent by a program: an absence note, a bounce, a mailing list.
    pub automatic: bool,
    pub plain: Option<String>,
    /// The HTML as text, what is quoted marked with `>`.
    pub html: Option<String>,
}

/// Whom a `From` names, as a forwarding service tells it: as in a mail, with a name or without.
pub fn sender_named(from: &str) -> Option<Address> {
    if from.contains(['\r', '\n']) {
        return None;
    }
    read_reply(format!("From: {from}\r\n\r\n").as_bytes())?.from
}

/// Whether a subject is that of a mail that no person wrote, as far as a subject tells.
pub fn is_automatic_subject(subject: &str) -> bool {
    automatic::is_automatic_subject(subject)
}

/// Reads the bytes of a mail. `None` when they are none.
pub fn read_reply(raw: &[u8]) -> Option<Incoming> {
    let message = MessageParser::default().parse(raw)?;
    let from = sender(&message);
    Some(Incoming {
        automatic: automatic::is_automatic(&message, from.as_ref()),
        from,
        message_id: ids(message.header(HeaderName::MessageId)).pop(),
        in_reply_to: ids(message.header(HeaderName::InReplyTo)),
        references: ids(message.header(HeaderName::References)),
        subject: message.subject().unwrap_or_default().to_owned(),
        to: recipients(&message),
        plain: plain(&message),
        html: html_text(&message),
    })
}

/// One header with one address in it, or nobody: with several, programs disagree on whom they show.
fn sender(message: &Message<'_>) -> Option<Address> {
    let mut headers = message
        .headers()
        .iter()
        .filter(|header| header.name == HeaderName::From);
    let (Some(header), None) = (headers.next(), headers.next()) else {
        return None;
    };
    let Some(Addresses::List(list)) = header.value.as_address() else {
        return None;
    };
    let [only] = list.as_slice() else {
        return None;
    };
    Address::parse(only.address.as_deref()?).ok()
}

fn recipients(message: &Message<'_>) -> Vec<Address> {
    const HEADERS: [HeaderName<'static>; 2] = [HeaderName::To, HeaderName::Cc];
    const ENVELOPE: [&str; 4] = [
        "Delivered-To",
        "X-Original-To",
        "Envelope-To",
        "X-Forwarded-To",
    ];
    let mut found: Vec<Address> = Vec::new();
    for header in message.headers() {
        if HEADERS.contains(&header.name) {
            let addresses = header
                .value
                .as_address()
                .into_iter()
                .flat_map(Addresses::iter);
            let addresses =
                addresses.filter_map(|one| Address::parse(one.address.as_deref()?).ok());
            found.extend(addresses.take(MOST));
        } else if ENVELOPE
            .iter()
            .any(|name| header.name.as_str().eq_ignore_ascii_case(name))
        {
            let text = header.value.as_text().unwrap_or_default();
            found.extend(Address::parse(text.trim().trim_matches(['<', '>'])));
        }
    }
    found.truncate(MOST);
    found
}

fn ids(value: Option<&HeaderValue<'_>>) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Some(HeaderValue::Text(text)) => vec![text],
        Some(HeaderValue::TextList(list)) => list.iter().map(AsRef::as_ref).collect(),
        _ => Vec::new(),
    };
    let ids: Vec<&str> = texts
        .into_iter()
        .map(str::trim)
        .filter(|id| is_id(id))
        .collect();
    let skip = ids.len().saturating_sub(MOST);
    ids.into_iter().skip(skip).map(str::to_owned).collect()
}

/// What fits into a header again.
fn is_id(text: &str) -> bool {
    let sound = |b: u8| b.is_ascii_graphic() && !b"<>".contains(&b);
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(sound)
}

/// Everything that a reader sees as plain text: a picture in between makes several parts of it.
fn plain(message: &Message<'_>) -> Option<String> {
    joined(message.text_bodies(), |body| {
        matches!(body, PartType::Text(_))
    })
}

fn html_text(message: &Message<'_>) -> Option<String> {
    joined(message.html_bodies(), |body| {
        matches!(body, PartType::Html(_))
    })
}

/// The texts of all parts, if one of them is of the kind that is looked for.
fn joined<'m>(
    parts: impl Iterator<Item = &'m MessagePart<'m>>,
    is_kind: fn(&PartType<'_>) -> bool,
) -> Option<String> {
    let parts: Vec<&MessagePart<'_>> = parts.take(MOST).collect();
    if !parts.iter().any(|part| is_kind(&part.body)) {
        return None;
    }
    let texts: Vec<String> = parts.into_iter().filter_map(text_of).collect();
    Some(bounded(&texts.join("\n\n"), LONGEST_TEXT).to_owned())
}

fn text_of(part: &MessagePart<'_>) -> Option<String> {
    match &part.body {
        PartType::Text(text) if has_parameter(part, "format", "flowed") => {
            let text = bounded(text, LONGEST_TEXT);
            Some(flowed::unflow(text, has_parameter(part, "delsp", "yes")))
        }
        PartType::Text(text) => Some(bounded(text, LONGEST_TEXT).to_owned()),
        PartType::Html(text) => Some(html::text_of(bounded(text, LONGEST_HTML))),
        _ => None,
    }
}

fn has_parameter(part: &MessagePart<'_>, name: &str, value: &str) -> bool {
    let found = part.content_type().and_then(|kind| kind.attribute(name));
    found.is_some_and(|found| found.eq_ignore_ascii_case(value))
}

fn bounded(text: &str, longest: usize) -> &str {
    let end = text.floor_char_boundary(longest);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
