//! A mail that is ready but for its encoding: whom it goes to, what it belongs to, what it says.

use lettre::{
    Message,
    message::{
        Mailbox, MultiPart,
        header::{HeaderName, HeaderValue},
    },
};

use super::{address::Address, compose::Words, settings::Sender};

#[derive(Debug)]
pub(super) struct Letter {
    pub(super) to: Address,
    /// Where a reply goes: with the token that finds the delivery.
    pub(super) reply_to: Option<Address>,
    /// Without brackets, as all ids.
    pub(super) message_id: String,
    /// The mails above it in the thread, the first one first.
    pub(super) above: Vec<String>,
    pub(super) words: Words,
}

impl Letter {
    /// The error says what of our own making no mail can hold.
    pub(super) fn message(&self, from: &Sender) -> Result<Message, String> {
        let broken = |why: &dyn std::fmt::Display| format!("the mail cannot be written: {why}");
        let mut builder = Message::builder()
            .from(mailbox(from.name.clone(), &from.address)?)
            .to(mailbox(None, &self.to)?)
            .subject(self.words.subject.clone())
            .message_id(Some(format!("<{}>", self.message_id)));
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(mailbox(from.name.clone(), reply_to)?);
        }
        if let Some(last) = self.above.last() {
            let all = self.above.iter().map(|id| format!("<{id}>"));
            builder = builder
                .in_reply_to(format!("<{last}>"))
                .references(all.collect::<Vec<_>>().join(" "));
        }
        for (name, value) in [
            ("Auto-Submitted", "auto-generated"),
            ("X-Auto-Response-Suppress", "OOF, AutoReply"),
        ] {
            let name = HeaderName::new_from_ascii(name.to_owned()).map_err(|why| broken(&why))?;
            builder = builder.raw_header(HeaderValue::new(name, value.to_owned()));
        }
        let body =
            MultiPart::alternative_plain_html(self.words.page.plain(), self.words.page.html());
        builder.multipart(body).map_err(|why| broken(&why))
    }
}

fn mailbox(name: Option<String>, address: &Address) -> Result<Mailbox, String> {
    let address = lettre::Address::new(address.local(), address.domain())
        .map_err(|why| format!("`{address}` is not an address: {why}"))?;
    Ok(Mailbox::new(name, address))
}
