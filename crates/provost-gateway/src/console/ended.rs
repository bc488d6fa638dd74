//! How an approval ended, as the templates show it.

use std::sync::Arc;

use provost_core::{
    approval::{Kind, Status},
    card::End,
    menu::Code,
    time::Time,
};

use super::moment::Moment;

pub(super) struct Ended {
    pub(super) word: &'static str,
    pub(super) kind: &'static str,
    pub(super) by: Option<String>,
    pub(super) via: Option<Arc<str>>,
    pub(super) choice: Option<&'static str>,
    pub(super) note: Option<String>,
    /// What is to be done instead.
    pub(super) instead: Option<String>,
    pub(super) remembered: Option<Kept>,
    pub(super) at: Moment,
}

/// What is allowed without asking since the decision.
pub(super) struct Kept {
    pub(super) words: String,
    pub(super) until: Moment,
    pub(super) grant: String,
}

impl Ended {
    pub(super) fn new(end: End, of: Kind, instead: Option<String>, now: Time) -> Self {
        let (word, kind) = match of {
            Kind::Notice => ("Done without asking, noticed", "no"),
            _ => status_words(end.status),
        };
        let remembered = end.remembered.zip(end.rule_id);
        let remembered = remembered.map(|(remembered, grant)| Kept {
            words: remembered.words,
            until: Moment::new(remembered.until, now),
            grant: grant.to_string(),
        });
        Self {
            remembered,
            word,
            kind,
            by: end.by,
            via: end.via,
            choice: end.code.map(Code::label),
            note: end.note,
            instead,
            at: Moment::new(end.at, now),
        }
    }
}

fn status_words(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Pending => ("Pending", "wait"),
        Status::Approved => ("Approved", "yes"),
        Status::Denied => ("Denied", "no"),
        Status::Expired => ("Expired", "late"),
    }
}
