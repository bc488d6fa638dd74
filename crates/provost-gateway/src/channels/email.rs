//! E-mail: questions go out by SMTP, answers come back over IMAP or by the inbound webhook.
//!
//! A question is a mail whose Message-ID is the key of what was shown; reminders, and the mail that tells how
//! it ended, stand in its thread. Whoever decided by replying gets no closing mail, unless something was remembered: they know. Everybody else
//! who was asked gets one, also when nobody decided in time.

mod address;
mod compose;
mod flowed;
mod handle;
mod html;
mod inbox;
mod incoming;
mod letter;
mod mailer;
mod patience;
mod quotes;
mod reply;
mod settings;
mod token;
mod visible;

use std::sync::Arc;

use async_trait::async_trait;
use provost_core::{
    card::{Card, End, who},
    delivery::{Delivery, Purpose, Shown},
    ids::{DeliveryId, random_bytes},
    ports::{Channel, StoreError, Undelivered},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::{
    address::{Address, BadAddress},
    handle::{Handled, Identity, Ignored, handle, sender},
    incoming::{Incoming, is_automatic_subject, read_reply, sender_named},
    reply::{Misread, approval_id_in, first_line, reply_in_text},
    settings::{BadSetting, Imap, LinkBase, Sender, Settings, Smtp},
    token::Tokens,
};
use self::{
    compose::Words, inbox::Inbox, letter::Letter, mailer::Mailer, patience::Patience, token::Mail,
};
use super::{Problem, desk::Desk};

/// The channel's name.
pub const CHANNEL: &str = "email";
/// The name of the secret that tokens are made with.
const SECRET: &str = "mail";
/// So many mails above are named: a thread with more is still one.
const MOST_ABOVE: usize = 10;

pub struct Email {
    settings: Settings,
    desk: Arc<dyn Desk>,
    identity: Identity,
    mailer: Mailer,
    inbox: Option<Inbox>,
    patience: Patience,
}

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the e-mail channel cannot start: {0}")]
    Tls(String),
}

impl Email {
    /// Connects to nothing yet. Needs a tokio runtime around it.
    pub async fn new(settings: Settings, desk: Arc<dyn Desk>) -> Result<Self, SetupError> {
        let address = settings.from.address.clone();
        let mailer = Mailer::new(&settings.smtp, address.domain()).map_err(SetupError::Tls)?;
        let inbox = settings
            .imap
            .clone()
            .map(Inbox::new)
            .transpose()
            .map_err(SetupError::Tls)?;
        let tokens = Tokens::new(desk.secret(SECRET).await?);
        Ok(Self {
            settings,
            desk,
            identity: Identity { address, tokens },
            mailer,
            inbox,
            patience: Patience::default(),
        })
    }

    /// Reads replies over IMAP until `stop`. Returns at once where no IMAP is configured.
    pub async fn receive(&self, stop: CancellationToken) {
        if let Some(inbox) = &self.inbox {
            inbox.run(self, stop).await;
        }
    }

    /// Whether mails could be sent. Sends none.
    pub async fn check(&self) -> Vec<Problem> {
        self.mailer.check().await.err().into_iter().collect()
    }

    /// Why replies cannot be read just now.
    pub fn reading_problem(&self) -> Option<Problem> {
        self.inbox.as_ref()?.problem()
    }

    /// Whether the mailbox has yet to say whether replies can be read.
    pub fn is_reading_unknown(&self) -> bool {
        self.inbox.as_ref().is_some_and(Inbox::is_unknown)
    }

    /// For [`handle`], where nobody is to be told.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Decides by a mail what it decides, and tells its sender when that is nothing.
    pub async fn take(&self, incoming: &Incoming) -> Result<Handled, StoreError> {
        let id = incoming.message_id.as_deref();
        if id.is_some_and(|id| self.patience.has_seen(id)) {
            return Ok(Handled::Ignored(Ignored::Replayed));
        }
        let handled = handle(&*self.desk, &self.identity, incoming).await?;
        match &handled {
            Handled::AskAgain { delivery, why } => self.tell(delivery, why, incoming).await,
            Handled::Unproven(delivery) => self.tell_unproven(delivery).await,
            _ => {}
        }
        if let Some(id) = id
            && !matches!(handled, Handled::Ignored(_))
        {
            self.patience.saw(id);
        }
        Ok(handled)
    }

    /// A few times for each delivery, and never twice for one mail.
    async fn tell(&self, delivery: &Delivery, why: &str, incoming: &Incoming) {
        if self.patience.may_tell(&delivery.id) {
            let mut above = incoming.references.clone();
            above.extend(incoming.message_id.clone());
            let skip = above.len().saturating_sub(MOST_ABOVE);
            let card = self.desk.card(delivery).await.ok().flatten();
            let words = compose::again(why, &incoming.subject, card.as_ref());
            self.say(delivery, above.split_off(skip), words).await;
        }
    }

    /// Once for each delivery, apart from what a person is told: whoever writes such mails must not use up
    /// the patience with the person, nor put words into our mails.
    async fn tell_unproven(&self, delivery: &Delivery) {
        if self.patience.may_warn(&delivery.id) {
            let above = delivery.shown.iter().map(|shown| shown.key.clone());
            let words = compose::unproven(&delivery.approval_id);
            self.say(delivery, above.collect(), words).await;
        }
    }

    /// Nothing depends on its arrival.
    async fn say(&self, delivery: &Delivery, above: Vec<String>, words: Words) {
        let sent = match self.message_id(Mail::Again(random_bytes()), &delivery.id) {
            Ok(message_id) => self.send(delivery, message_id, above, words).await,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            tracing::warn!(delivery.id = %delivery.id, %error, "cannot tell the sender of a reply that it decided nothing");
        }
    }

    async fn send(
        &self,
        delivery: &Delivery,
        message_id: String,
        above: Vec<String>,
        words: Words,
    ) -> Result<(), Undelivered> {
        let never = |why| Undelivered::Never { why };
        let to =
            Address::of_target(&delivery.plan.address).map_err(|why| never(why.to_string()))?;
        let letter = Letter {
            to,
            reply_to: self
                .identity
                .tokens
                .reply_to(&self.identity.address, &delivery.id),
            message_id,
            above,
            words,
        };
        let message = letter.message(&self.settings.from).map_err(never)?;
        self.mailer.send(message).await
    }

    fn message_id(&self, mail: Mail, id: &DeliveryId) -> Result<String, Undelivered> {
        let found = self
            .identity
            .tokens
            .message_id(mail, &self.identity.address, id);
        found.ok_or_else(|| Undelivered::Never {
            why: format!("`{id}` is not the id of a delivery"),
        })
    }

    /// The mail that asked this person first.
    async fn first_mail(&self, delivery: &Delivery) -> Result<Option<Shown>, Undelivered> {
        let all = self
            .desk
            .deliveries_of(CHANNEL, &delivery.approval_id)
            .await;
        let all = all.map_err(|error| Undelivered::Later {
            why: error.to_string(),
            after: None,
        })?;
        let first = all.into_iter().find(|other| {
            other.plan.purpose == Purpose::Ask && other.plan.address == delivery.plan.address
        });
        Ok(first.and_then(|first| first.shown))
    }

    /// Whether the person of this delivery ended it by a mail of theirs.
    fn ended_here(&self, delivery: &Delivery, end: &End) -> bool {
        let address = Address::of_target(&delivery.plan.address).ok();
        let name = address.map(|address| sender(&*self.desk, &address).name);
        end.via.as_deref() == Some(CHANNEL) && end.by.as_deref().map(who) == name.as_deref()
    }

    fn link(&self, id: &DeliveryId) -> Option<String> {
        let base = self.settings.link_base.as_ref()?;
        Some(format!("{}/a/{id}", base.as_str()))
    }
}

#[async_trait]
impl Channel for Email {
    async fn show(&self, delivery: &Delivery, card: &Card) -> Result<Shown, Undelivered> {
        let message_id = self.message_id(Mail::Ask, &delivery.id)?;
        let above = match delivery.plan.purpose {
            Purpose::Remind => self.first_mail(delivery).await?,
            _ => None,
        };
        let above = above.into_iter().map(|shown| shown.key).collect();
        let words = match &card.end {
            Some(end) => compose::ended(card, end),
            None => compose::ask(card, delivery.plan.purpose, self.link(&delivery.id)),
        };
        self.send(delivery, message_id.clone(), above, words)
            .await?;
        Ok(Shown {
            key: message_id,
            detail: Value::Null,
        })
    }

    async fn close(
        &self,
        delivery: &Delivery,
        shown: &Shown,
        card: &Card,
    ) -> Result<(), Undelivered> {
        let Some(end) = &card.end else {
            return Ok(());
        };
        // What is remembered is confirmed, with how to take it back.
        if self.ended_here(delivery, end) && end.remembered.is_none() {
            return Ok(());
        }
        // Whoever was reminded is told the end once, below the mail that asked.
        let reminder = delivery.plan.purpose == Purpose::Remind;
        if reminder && self.first_mail(delivery).await?.is_some() {
            return Ok(());
        }
        let message_id = self.message_id(Mail::End, &delivery.id)?;
        let above = vec![shown.key.clone()];
        self.send(delivery, message_id, above, compose::ended(card, end))
            .await
    }

    async fn digest(&self, one: &Delivery, waiting: usize) -> Result<(), Undelivered> {
        let message_id = self.message_id(Mail::Again(random_bytes()), &one.id)?;
        let words = compose::more_wait(waiting);
        self.send(one, message_id, Vec::new(), words).await
    }
}
