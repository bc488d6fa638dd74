//! Reading replies over IMAP: what is new is handled, then the server is asked to tell when more comes.
//!
//! How far it has read is kept by the desk and moves only after a mail was handled, so a restart loses none; a
//! mail that is handled twice decides once. Whoever reads the mailbox with another program changes nothing.

mod connect;
mod place;
mod session;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use provost_core::ports::StoreError;
use tokio_util::sync::CancellationToken;

use self::{connect::Connector, place::Stuck, session::Reader};
use super::{Email, settings::Imap, visible};
use crate::channels::Problem;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
const LONGEST_REASON: usize = 300;

pub(super) struct Inbox {
    imap: Imap,
    connector: Connector,
    reading: Mutex<Reading>,
}

/// Whether replies can be read.
#[derive(Clone, Default)]
enum Reading {
    /// The server has said nothing yet.
    #[default]
    Unknown,
    Works,
    /// It is tried again all the time. Troubles of the store have no words of ours.
    Fails(Option<Problem>),
}

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{}", visible::line(.0, LONGEST_REASON))]
    Server(String),
    #[error("the IMAP server refuses the login: {}", visible::line(.0, LONGEST_REASON))]
    Login(String),
    #[error("the mail server did not answer in time")]
    Slow,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Trouble {
    /// What is to be done about it. The store's troubles are told elsewhere.
    fn problem(&self) -> Option<Problem> {
        let help = match self {
            Self::Store(_) => return None,
            Self::Login(_) => {
                "check the user and the password in `channels.email.imap`; many providers want a password made for \
                 one app, and IMAP switched on"
            }
            Self::Server(_) | Self::Slow => {
                "check the host, the port and the mailbox in `channels.email.imap`"
            }
        };
        Some(Problem::of_channel(
            format!("replies cannot be read: {self}"),
            help,
        ))
    }
}

impl From<async_imap::error::Error> for Trouble {
    fn from(error: async_imap::error::Error) -> Self {
        Self::Server(error.to_string())
    }
}

impl Inbox {
    /// Loads the machine's root certificates where there is TLS.
    pub(super) fn new(imap: Imap) -> Result<Self, String> {
        let connector = Connector::new(imap.encrypted)?;
        Ok(Self {
            imap,
            connector,
            reading: Mutex::default(),
        })
    }

    /// Why it cannot read just now.
    pub(super) fn problem(&self) -> Option<Problem> {
        match self.reading() {
            Reading::Fails(problem) => problem,
            Reading::Unknown | Reading::Works => None,
        }
    }

    /// Whether the server has yet to say whether replies can be read.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self.reading(), Reading::Unknown)
    }

    fn reading(&self) -> Reading {
        let reading = self.reading.lock();
        reading.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, reading: Reading) {
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = reading;
    }

    pub(super) async fn run(&self, email: &Email, stop: CancellationToken) {
        let _ = stop.run_until_cancelled(self.read_for_ever(email)).await;
    }

    async fn read_for_ever(&self, email: &Email) {
        let mut pause = FIRST_PAUSE;
        let mut stuck = Stuck::default();
        loop {
            let mut worked = false;
            let Err(trouble) = self.read(email, &mut stuck, &mut worked).await;
            if worked {
                pause = FIRST_PAUSE;
            }
            self.set(Reading::Fails(trouble.problem()));
            tracing::warn!(mail.host = %self.imap.server.host, error = %trouble, "cannot read replies by e-mail for now");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Until the connection fails. `worked` says whether it did before.
    async fn read(
        &self,
        email: &Email,
        stuck: &mut Stuck,
        worked: &mut bool,
    ) -> Result<std::convert::Infallible, Trouble> {
        let session = self.connector.session(&self.imap).await?;
        let mut reader = Reader::open(session, &self.imap).await?;
        self.set(Reading::Works);
        loop {
            reader.handle_new(email, stuck).await?;
            *worked = true;
            reader = reader.wait().await?;
        }
    }
}
