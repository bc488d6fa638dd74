//! How a question ended, in words.

use provost_core::{
    approval::Status,
    card::{End, who},
    menu::Code,
    time::Time,
};

use super::visible;

const LONGEST_NAME: usize = 60;

pub(super) fn sign(end: &End) -> &'static str {
    match end.status {
        Status::Approved => "✅",
        Status::Denied => "⛔",
        Status::Expired | Status::Pending => "⌛",
    }
}

pub(super) fn outcome(end: &End) -> &'static str {
    match (end.status, end.code) {
        (Status::Denied, _) => "Denied",
        (Status::Expired, _) => "Expired: nobody decided in time",
        (Status::Pending, _) => "Still open",
        (Status::Approved, Some(Code::Once)) => "Allowed once",
        (Status::Approved, Some(Code::Session)) => "Allowed for this session",
        (Status::Approved, Some(Code::Note)) => "Allowed once, with a note",
        (Status::Approved, Some(Code::Change)) => "Changed, then allowed",
        (Status::Approved, Some(Code::Always)) if end.remembered.is_some() => "Allowed for longer",
        (Status::Approved, Some(Code::Always)) => "Allowed from now on",
        (Status::Approved, Some(Code::Deny) | None) => "Allowed",
    }
}

/// ` by alice via email`, as far as it is known.
pub(super) fn by_whom(end: &End) -> String {
    let by = end.by.as_deref().map(name);
    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
    let via = end.via.as_deref();
    let via = via.map(|via| format!(" via {}", visible::line(via, LONGEST_NAME)));
    by + &via.unwrap_or_default()
}

/// A person goes without the role before their name.
pub(super) fn name(by: &str) -> String {
    visible::line(who(by), LONGEST_NAME)
}

pub(super) fn moment(time: Time) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(clock)) => format!("{day} {clock} UTC"),
        _ => text,
    }
}
