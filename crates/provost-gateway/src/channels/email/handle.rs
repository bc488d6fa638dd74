//! Whose answer a mail is, and to what.
//!
//! A mail decides only when three things hold. It says that it is from the address that was asked. It was sent
//! by somebody who has our mail: it carries the token of its Reply-To or names its Message-ID, which nobody
//! else knows (an agent knows the approval's id, so that alone proves nothing). And what it says is clear.

use provost_core::{
    card::Card,
    delivery::{Delivery, Purpose},
    ids::ApprovalId,
    ports::StoreError,
};

use super::{CHANNEL, address::Address, compose, incoming::Incoming, reply, token::Tokens};
use crate::channels::desk::{Answered, Desk, Sender};

/// Who we are to the mails that come in.
pub struct Identity {
    pub(super) address: Address,
    pub(super) tokens: Tokens,
}

/// What became of a mail.
#[derive(Clone, Debug, PartialEq)]
pub enum Handled {
    Decided(Box<Card>),
    /// A yes, and more people are needed.
    Counted(Box<Card>),
    /// Somebody was first, or its time is over. Whoever was asked is told by the closing mail.
    Already(Box<Card>),
    /// It decided nothing: what its sender is to be told.
    AskAgain {
        delivery: Box<Delivery>,
        why: String,
    },
    /// It names the approval and the address that was asked, and shows neither token nor Message-ID: anybody
    /// may have written it. Whoever has that address is told, in no words of the mail.
    Unproven(Box<Delivery>),
    Ignored(Ignored),
}

/// Why a mail is not answered either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// Sent by a program, or by us.
    Automatic,
    /// It does not say whom it is from, or says several.
    NoSender,
    /// It is about nothing that we asked.
    NoQuestion,
    /// It is from somebody else than was asked.
    NotTheTarget,
    /// Somebody of `people` was asked there, and the address is nobody's of them any more.
    NoLongerTheirs,
    /// It was handled before.
    Replayed,
    /// It is no mail.
    Unreadable,
}

/// Decides by a mail what it decides, durably.
pub async fn handle(
    desk: &dyn Desk,
    identity: &Identity,
    incoming: &Incoming,
) -> Result<Handled, StoreError> {
    let own = incoming
        .message_id
        .as_deref()
        .is_some_and(|id| identity.tokens.is_own(id));
    if incoming.automatic || own {
        return Ok(Handled::Ignored(Ignored::Automatic));
    }
    let Some(from) = &incoming.from else {
        return Ok(Handled::Ignored(Ignored::NoSender));
    };
    let shown = match by_token(desk, identity, incoming).await? {
        Some(delivery) => Some(delivery),
        None => by_thread(desk, incoming).await?,
    };
    if let Some(delivery) = shown {
        return answer(desk, delivery, from, incoming).await;
    }
    Ok(match by_name(desk, from, incoming).await? {
        Some(delivery) => Handled::Unproven(Box::new(delivery)),
        None => Handled::Ignored(Ignored::NoQuestion),
    })
}

/// Who answers from an address.
pub fn sender(desk: &dyn Desk, address: &Address) -> Sender {
    let person = desk.person(CHANNEL, &address.to_target());
    Sender {
        name: person.unwrap_or_else(|| format!("{CHANNEL}:{}", address.folded()).into()),
        via: CHANNEL.into(),
    }
}

async fn by_token(
    desk: &dyn Desk,
    identity: &Identity,
    incoming: &Incoming,
) -> Result<Option<Delivery>, StoreError> {
    for to in &incoming.to {
        let Some(id) = identity.tokens.replied_to(&identity.address, to) else {
            continue;
        };
        if let Some(delivery) = desk.delivery(&id).await? {
            return Ok(Some(delivery));
        }
    }
    Ok(None)
}

/// By the mails that it says it answers, the nearest one first.
async fn by_thread(desk: &dyn Desk, incoming: &Incoming) -> Result<Option<Delivery>, StoreError> {
    let above = incoming
        .in_reply_to
        .iter()
        .chain(incoming.references.iter().rev());
    for id in above {
        if let Some(delivery) = desk.shown_as(CHANNEL, id).await? {
            return Ok(Some(delivery));
        }
    }
    Ok(None)
}

/// By the approval that it names, where its sender was asked about that.
async fn by_name(
    desk: &dyn Desk,
    from: &Address,
    incoming: &Incoming,
) -> Result<Option<Delivery>, StoreError> {
    let body = incoming.plain.as_deref().or(incoming.html.as_deref());
    let Some(id) = reply::approval_id_in(&incoming.subject, body.unwrap_or_default()) else {
        return Ok(None);
    };
    let mut deliveries = desk
        .deliveries_of(CHANNEL, &ApprovalId::from(id))
        .await?
        .into_iter();
    Ok(deliveries.find(|delivery| is_for(delivery, from)))
}

fn is_for(delivery: &Delivery, address: &Address) -> bool {
    let plan = &delivery.plan;
    let asked = Address::of_target(&plan.address).is_ok_and(|asked| asked == *address);
    asked && &*plan.channel == CHANNEL && plan.purpose != Purpose::Callback
}

async fn answer(
    desk: &dyn Desk,
    delivery: Delivery,
    from: &Address,
    incoming: &Incoming,
) -> Result<Handled, StoreError> {
    if !is_for(&delivery, from) {
        return Ok(Handled::Ignored(Ignored::NotTheTarget));
    }
    let is_anybodys = || desk.person(CHANNEL, &from.to_target()).is_some();
    if delivery.plan.person.is_some() && !is_anybodys() {
        return Ok(Handled::Ignored(Ignored::NoLongerTheirs));
    }
    let again = |delivery, why| Handled::AskAgain {
        delivery: Box::new(delivery),
        why,
    };
    let reply = match reply::read(incoming.plain.as_deref(), incoming.html.as_deref()) {
        Ok(reply) => reply,
        Err(why) => return Ok(again(delivery, compose::misread(&why))),
    };
    Ok(
        match desk.reply(&delivery, &sender(desk, from), reply).await? {
            Answered::Decided(card) => Handled::Decided(card),
            Answered::Counted(card) => Handled::Counted(card),
            Answered::Already(card) => Handled::Already(card),
            Answered::AskAgain(why) | Answered::Refused(why) => again(delivery, why),
            Answered::NotFound => Handled::Ignored(Ignored::NoQuestion),
        },
    )
}
