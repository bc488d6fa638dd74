//! A gate with its mail servers, its desk, and people to ask.

use std::sync::Arc;

use provost_core::{
    delivery::Delivery,
    menu::{Code, Reply},
    ports::Channel as _,
};
use provost_gateway::channels::email::{
    Email, Imap as ImapSettings, LinkBase, Sender, Settings, Smtp as SmtpSettings,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    desk::{MemoryDesk, card},
    post::{Imap, Mail, Smtp, eventually},
};

pub(crate) const YOU: &str = "you@domain.com";

pub(crate) struct Site {
    pub(crate) smtp: Smtp,
    pub(crate) imap: Option<Imap>,
    pub(crate) desk: Arc<MemoryDesk>,
    pub(crate) email: Arc<Email>,
    reading: Option<(CancellationToken, JoinHandle<()>)>,
}

/// A question that lies in somebody's mailbox.
pub(crate) struct Asked {
    pub(crate) delivery: Delivery,
    pub(crate) mail: Mail,
}

impl Site {
    /// Only sends.
    pub(crate) async fn sending() -> Self {
        Self::new(None).await
    }

    /// Sends, and reads replies.
    pub(crate) async fn reading() -> Self {
        Self::reading_from(Imap::start().await).await
    }

    pub(crate) async fn reading_from(imap: Imap) -> Self {
        let mut site = Self::new(Some(imap)).await;
        site.read();
        site
    }

    async fn new(imap: Option<Imap>) -> Self {
        let smtp = Smtp::start();
        let desk = Arc::new(MemoryDesk::default());
        let settings = settings(&smtp.url(), imap.as_ref().map(Imap::url).as_deref());
        let email = Email::new(settings, desk.clone()).await.unwrap();
        Self {
            smtp,
            imap,
            desk,
            email: Arc::new(email),
            reading: None,
        }
    }

    pub(crate) fn read(&mut self) {
        let (email, stop) = (self.email.clone(), CancellationToken::new());
        let token = stop.clone();
        let reading = tokio::spawn(async move { email.receive(token).await });
        self.reading = Some((stop, reading));
    }

    /// Ends the reader as a shutdown does, and waits for it.
    pub(crate) async fn stop_reading(&mut self) {
        let (stop, reading) = self.reading.take().unwrap();
        stop.cancel();
        reading.await.unwrap();
    }

    /// A gate on the same desk that was started anew.
    pub(crate) async fn restart(&mut self) {
        let settings = settings(
            &self.smtp.url(),
            self.imap.as_ref().map(Imap::url).as_deref(),
        );
        self.email = Arc::new(Email::new(settings, self.desk.clone()).await.unwrap());
        self.read();
    }

    pub(crate) fn imap(&self) -> &Imap {
        self.imap.as_ref().unwrap()
    }

    pub(crate) async fn ask(&self, to: &str) -> Asked {
        let delivery = self.desk.deliver(to);
        self.show(delivery).await
    }

    pub(crate) async fn show(&self, delivery: Delivery) -> Asked {
        let shown = self
            .email
            .show(&delivery, &card(&delivery.approval_id))
            .await
            .unwrap();
        self.desk.was_shown(&delivery.id, shown);
        let mail = self.smtp.mails().pop().unwrap();
        Asked { delivery, mail }
    }

    /// What the desk decided, as soon as it did.
    pub(crate) async fn decision(&self, asked: &Asked, what: &str) -> Reply {
        let decided = eventually(what, async || self.desk.decision(&asked.delivery));
        decided.await.1
    }

    /// When this returns, every mail that came before was handled.
    pub(crate) async fn all_handled(&self) {
        let asked = self.ask("barrier@domain.com").await;
        self.imap()
            .put(asked.mail.reply("barrier@domain.com", "\n1\n"))
            .await;
        assert_eq!(
            self.decision(&asked, "the last mail").await,
            Reply::bare(Code::Once)
        );
    }
}

pub(crate) fn settings(smtp: &str, imap: Option<&str>) -> Settings {
    Settings {
        smtp: SmtpSettings::parse(smtp).unwrap(),
        from: Sender::parse("Provost <gate@example.com>").unwrap(),
        imap: imap.map(|url| ImapSettings::parse(url).unwrap()),
        require_from: false,
        link_base: Some(LinkBase::parse("https://gate.example.com/").unwrap()),
    }
}
