//! One connection to a mailbox: handling what is new, and waiting for more.

use std::time::Duration;

use async_imap::types::{Fetch, UnsolicitedResponse};
use futures_util::TryStreamExt as _;
use provost_core::ports::StoreError;

use super::{
    Trouble,
    connect::ImapSession,
    place::{self, Place, Stuck},
};
use crate::channels::email::{
    Email,
    handle::{Handled, Ignored},
    incoming::read_reply,
    settings::Imap,
};

/// Servers may end an IDLE after 30 minutes (RFC 2177), firewalls forget a silent connection long before, and
/// some servers do not tell what came just before they began to wait. So it is short after each mail, when more
/// is likely, and then longer and longer.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_IDLE: Duration = Duration::from_mins(5);
/// Where the server cannot tell.
const LONGEST_POLL: Duration = Duration::from_secs(15);
const TIMEOUT: Duration = Duration::from_mins(1);
/// Longer than handling one mail takes.
const TURN: Duration = Duration::from_mins(4);
/// Of a longer mail only the head is read.
const LARGEST: u32 = 2 * 1024 * 1024;
pub(super) struct Reader {
    session: ImapSession,
    cursor: String,
    validity: u32,
    next: Option<u32>,
    can_idle: bool,
    wait: Duration,
}

/// A mail as it lies in the mailbox.
struct Raw {
    bytes: Vec<u8>,
    whole: bool,
}

impl Reader {
    pub(super) async fn open(mut session: ImapSession, imap: &Imap) -> Result<Self, Trouble> {
        let can_idle = within(session.capabilities()).await?.has_str("IDLE");
        let mailbox = within(session.select(&imap.mailbox)).await?;
        let user = imap.server.login.as_ref().map_or("", |login| &login.user);
        Ok(Self {
            session,
            cursor: format!("email:{user}@{}/{}", imap.server.host, imap.mailbox),
            validity: mailbox.uid_validity.unwrap_or(0),
            // Not every server tells it. An empty mailbox begins at its first mail.
            next: mailbox
                .uid_next
                .or_else(|| (mailbox.exists == 0).then_some(1)),
            can_idle,
            wait: SHORTEST_WAIT,
        })
    }

    /// Handles what came since the place where the last one was handled. Replicas take turns: whoever does not
    /// have it looks again soon, and finds what is left.
    pub(super) async fn handle_new(
        &mut self,
        email: &Email,
        stuck: &mut Stuck,
    ) -> Result<(), Trouble> {
        self.forget_notices();
        if !email.desk.take_turn(&self.cursor, TURN).await? {
            self.wait = SHORTEST_WAIT;
            return Ok(());
        }
        let handled = self.handle_since(email, stuck).await;
        email.desk.end_turn(&self.cursor).await?;
        handled
    }

    async fn handle_since(&mut self, email: &Email, stuck: &mut Stuck) -> Result<(), Trouble> {
        let place = email.desk.cursor(&self.cursor).await?;
        let place = place.as_deref().and_then(Place::parse);
        let place = place.filter(|place| place.validity == self.validity);
        for uid in self.unhandled(place).await? {
            if !email.desk.take_turn(&self.cursor, TURN).await? {
                return Ok(());
            }
            self.handle_one(email, uid, stuck).await?;
            self.wait = SHORTEST_WAIT;
        }
        if place.is_none() {
            self.mark_start(email).await?;
        }
        Ok(())
    }

    async fn unhandled(&mut self, place: Option<Place>) -> Result<Vec<u32>, Trouble> {
        let query = match place {
            Some(place) => format!("UID {}:*", place.uid.saturating_add(1)),
            None => "UNSEEN".to_owned(),
        };
        let found = within(self.session.uid_search(query)).await?;
        // A range that begins behind the last mail means the last mail.
        let after = place.map_or(0, |place| place.uid);
        let mut uids: Vec<u32> = found.into_iter().filter(|uid| *uid > after).collect();
        uids.sort_unstable();
        Ok(match place {
            Some(_) => uids,
            None => place::at_first(uids, self.next),
        })
    }

    /// A mailbox that held nothing to handle is read from here on, an empty one from its first mail.
    async fn mark_start(&mut self, email: &Email) -> Result<(), Trouble> {
        let Some(start) = Place::before(self.validity, self.next) else {
            return Ok(());
        };
        let handled = email.desk.cursor(&self.cursor).await?;
        let handled = handled.as_deref().and_then(Place::parse);
        if handled.is_some_and(|place| place.is_beyond(start)) {
            return Ok(());
        }
        Ok(email
            .desk
            .set_cursor(&self.cursor, &start.to_string())
            .await?)
    }

    async fn handle_one(
        &mut self,
        email: &Email,
        uid: u32,
        stuck: &mut Stuck,
    ) -> Result<(), Trouble> {
        let handled = if stuck.is_hopeless(uid) {
            tracing::error!(
                mail.uid = uid,
                "a mail that the server cannot give was passed over"
            );
            Handled::Ignored(Ignored::Unreadable)
        } else {
            let raw = self.fetch(uid).await?;
            stuck.is_over();
            taken(email, uid, raw).await?
        };
        let place = Place {
            validity: self.validity,
            uid,
        };
        let place = place.to_string();
        email.desk.set_cursor(&self.cursor, &place).await?;
        // The mailbox may be a person's own: what is not for us stays unread.
        match handled {
            Handled::Ignored(_) => Ok(()),
            _ => self.mark_seen(uid).await,
        }
    }

    /// `None` when it is gone.
    async fn fetch(&mut self, uid: u32) -> Result<Option<Raw>, Trouble> {
        let Some(size) = self.fetch_item(uid, "(UID RFC822.SIZE)").await? else {
            return Ok(None);
        };
        let whole = size.size.is_none_or(|size| size <= LARGEST);
        let item = if whole {
            "(UID BODY.PEEK[])"
        } else {
            "(UID BODY.PEEK[HEADER])"
        };
        let fetched = self.fetch_item(uid, item).await?;
        let bytes = fetched.and_then(|fetched| {
            let bytes = if whole {
                fetched.body()
            } else {
                fetched.header()
            };
            bytes.map(<[u8]>::to_vec)
        });
        Ok(bytes.map(|bytes| Raw { bytes, whole }))
    }

    async fn fetch_item(&mut self, uid: u32, item: &str) -> Result<Option<Fetch>, Trouble> {
        let session = &mut self.session;
        let fetched = within(async {
            let stream = session.uid_fetch(uid.to_string(), item).await?;
            stream.try_collect::<Vec<Fetch>>().await
        });
        let found = fetched
            .await?
            .into_iter()
            .find(|fetched| fetched.uid == Some(uid));
        Ok(found)
    }

    async fn mark_seen(&mut self, uid: u32) -> Result<(), Trouble> {
        let session = &mut self.session;
        within(async {
            let stream = session
                .uid_store(uid.to_string(), "+FLAGS.SILENT (\\Seen)")
                .await?;
            stream.try_collect::<Vec<Fetch>>().await
        })
        .await?;
        Ok(())
    }

    /// Until there may be something new, or it is time to look.
    pub(super) async fn wait(mut self) -> Result<Self, Trouble> {
        let wait = self.wait;
        self.wait = (2 * wait).min(LONGEST_IDLE);
        if !self.can_idle {
            tokio::time::sleep(wait.min(LONGEST_POLL)).await;
            within(self.session.noop()).await?;
            return Ok(self);
        }
        let notices = self.session.unsolicited_responses.clone();
        let mut idle = self.session.idle();
        within(idle.init()).await?;
        // What came between looking and waiting was told before the server began to wait.
        let came =
            std::iter::from_fn(|| notices.try_recv().ok()).any(|notice| is_new_mail(&notice));
        if !came {
            let (told, _keep) = idle.wait_with_timeout(wait);
            // The inner time begins anew with each sign of life.
            if let Ok(told) = tokio::time::timeout(wait, told).await {
                told?;
            }
        }
        let session = within(idle.done()).await?;
        Ok(Self { session, ..self })
    }

    fn forget_notices(&self) {
        while self.session.unsolicited_responses.try_recv().is_ok() {}
    }
}

fn is_new_mail(notice: &UnsolicitedResponse) -> bool {
    matches!(notice, UnsolicitedResponse::Exists(_))
}

async fn within<T>(
    command: impl Future<Output = async_imap::error::Result<T>>,
) -> Result<T, Trouble> {
    let answer = tokio::time::timeout(TIMEOUT, command).await;
    Ok(answer.map_err(|_| Trouble::Slow)??)
}

/// What became of a mail. Only a store that may come back keeps the others waiting.
async fn taken(email: &Email, uid: u32, raw: Option<Raw>) -> Result<Handled, StoreError> {
    let Some(raw) = raw else {
        return Ok(Handled::Ignored(Ignored::Unreadable));
    };
    match take(email, raw).await {
        Ok(handled) => {
            tracing::debug!(mail.uid = uid, handled = name(&handled), "a mail was read");
            Ok(handled)
        }
        Err(StoreError::Corrupt(why)) => {
            tracing::error!(mail.uid = uid, error = %why, "a reply was dropped");
            Ok(Handled::Ignored(Ignored::Unreadable))
        }
        Err(error) => Err(error),
    }
}

/// Reading a mail takes time, and strangers wrote it: a thread of its own may take long or fail.
async fn take(email: &Email, raw: Raw) -> Result<Handled, StoreError> {
    let whole = raw.whole;
    let read = tokio::task::spawn_blocking(move || read_reply(&raw.bytes)).await;
    let Ok(Some(mut incoming)) = read else {
        return Ok(Handled::Ignored(Ignored::Unreadable));
    };
    if !whole {
        (incoming.plain, incoming.html) = (None, None);
    }
    email.take(&incoming).await
}

fn name(handled: &Handled) -> &'static str {
    match handled {
        Handled::Decided(_) => "decided",
        Handled::Counted(_) => "counted",
        Handled::Already(_) => "already",
        Handled::AskAgain { .. } => "ask_again",
        Handled::Unproven(_) => "unproven",
        Handled::Ignored(_) => "ignored",
    }
}
