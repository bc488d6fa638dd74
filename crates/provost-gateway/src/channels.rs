//! Channels: the ways to people.

mod address;
mod allowed;
mod brake;
mod check;
mod deliver;
mod desk;
pub mod email;
mod office;
mod signed;
mod standing;
pub mod telegram;
pub mod webhook;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use http::Uri;
use provost_core::ports::Channel;

pub(crate) use address::CallbackAddress;
pub use allowed::{Allowed, AllowedUrl, BadAllowed};
pub use check::check;
pub(crate) use deliver::Prospects;
pub use deliver::deliver;
pub use desk::{Answered, Desk, Sender};
pub use office::Office;
pub(crate) use office::person;
pub use signed::SigningKey;

use email::Email;
pub use standing::Problem;
pub(crate) use standing::Standing;
use standing::Standings;
use telegram::Telegram;

/// The channel that tells a client the end of its own request.
pub const CALLBACK: &str = "callback";

/// What somebody is told for whom more waits than is sent at once.
fn more_wait(waiting: usize) -> String {
    let wait = match waiting {
        1 => "1 more question waits".to_owned(),
        more => format!("{more} more questions wait"),
    };
    format!(
        "{wait} for you. They come a few at a time; the console and `provost approvals watch` show all of them."
    )
}

/// Nobody decides blind without knowing it.
const WITHHELD: &str = "The content is withheld here: what you see is its structure alone. Read it in the \
     console, where `Show it` shows it, before you decide.";

/// The channels that are configured.
#[derive(Clone, Default)]
pub struct Channels {
    by_name: HashMap<&'static str, Arc<dyn Channel>>,
    telegram: Option<Arc<Telegram>>,
    email: Option<Arc<Email>>,
    callback_secret: Option<[u8; 32]>,
    allowed_callbacks: Allowed,
    standings: Arc<Standings>,
    /// A mail that somebody brings must say who sent it, and what it replies to.
    require_from: bool,
}

impl Channels {
    #[must_use]
    pub fn with(mut self, name: &'static str, channel: Arc<dyn Channel>) -> Self {
        self.by_name.insert(name, channel);
        self
    }

    #[must_use]
    pub fn with_telegram(mut self, telegram: Arc<Telegram>) -> Self {
        self.telegram = Some(telegram.clone());
        self.with("telegram", telegram)
    }

    #[must_use]
    pub fn with_email(mut self, email: Arc<Email>) -> Self {
        self.email = Some(email.clone());
        self.with(email::CHANNEL, email)
    }

    /// What the keys are made from by which callbacks are signed.
    #[must_use]
    pub fn signing_callbacks(mut self, secret: [u8; 32]) -> Self {
        self.callback_secret = Some(secret);
        self
    }

    #[must_use]
    pub fn allowing_callbacks(mut self, allowed: Allowed) -> Self {
        self.allowed_callbacks = allowed;
        self
    }

    pub(crate) fn may_call_back(&self, uri: &Uri) -> bool {
        self.allowed_callbacks.permits(uri)
    }

    /// Whether the operator listed what may be called back.
    pub(crate) fn lists_callbacks(&self) -> bool {
        self.allowed_callbacks.is_list()
    }

    /// How a client verifies what it is called back with.
    pub(crate) fn callback_key(&self, client: &str) -> Option<SigningKey> {
        let secret = self.callback_secret.as_ref()?;
        Some(SigningKey::derived(secret, client))
    }

    /// A changed configuration says who may decide on Telegram.
    pub fn allow_on_telegram(&self, allow: Vec<i64>) {
        if let Some(telegram) = &self.telegram {
            telegram.set_allow(allow);
        }
    }

    pub(crate) fn telegram(&self) -> Option<&Arc<Telegram>> {
        self.telegram.as_ref()
    }

    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Each by its name, and how it has fared lately. Callbacks are the clients' own.
    pub(crate) fn standings(&self) -> BTreeMap<&'static str, Standing> {
        let names = self.by_name.keys().filter(|name| **name != CALLBACK);
        names.map(|name| (*name, self.standing(name))).collect()
    }

    /// With what the reader of replies says, which tries all the time.
    fn standing(&self, name: &str) -> Standing {
        let mut standing = self.standings.of(name);
        let (mail, bot) = (self.email.as_ref(), self.telegram.as_ref());
        let reading = match name {
            email::CHANNEL => mail.and_then(|email| email.reading_problem()),
            "telegram" => bot.and_then(|telegram| telegram.reading_problem()),
            _ => None,
        };
        standing.problems.extend(reading);
        // The others cannot be tried without anybody being asked.
        standing.await_check([email::CHANNEL, "telegram"].contains(&name));
        // Mails that go out say nothing about those that come back.
        let unread = mail.filter(|_| name == email::CHANNEL);
        standing.unchecked |= unread.is_some_and(|email| email.is_reading_unknown());
        standing
    }

    #[must_use]
    pub fn requiring_sender(mut self, require_from: bool) -> Self {
        self.require_from = require_from;
        self
    }

    pub(crate) fn requires_sender(&self) -> bool {
        self.require_from
    }

    fn get(&self, name: &str) -> Option<&Arc<dyn Channel>> {
        self.by_name.get(name)
    }
}
