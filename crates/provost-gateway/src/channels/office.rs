//! The desk of this gateway: replies go to the gate.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use provost_core::{
    approval::{Approval, Kind, Status},
    card::{self, Card},
    delivery::Delivery,
    gate::{Decider, GateError, Resolution, Resolving},
    ids::{ApprovalId, DeliveryId},
    key::Role,
    menu::{Code, Reply},
    ports::StoreError,
};
use serde_json::Value;

use super::{Answered, Desk, Sender, change};
use crate::app::App;

pub struct Office(pub Arc<App>);

#[async_trait]
impl Desk for Office {
    fn person(&self, channel: &str, address: &Value) -> Option<Arc<str>> {
        let people = self.0.gate.people();
        let person = people.person(channel, address);
        person.map(|person| person.name.clone())
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        self.0.gate.store().delivery(id).await
    }

    async fn shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>, StoreError> {
        self.0.gate.store().delivery_shown_as(channel, key).await
    }

    async fn deliveries_of(
        &self,
        channel: &str,
        approval: &ApprovalId,
    ) -> Result<Vec<Delivery>, StoreError> {
        let all = self.0.gate.store().deliveries(approval).await?;
        let of_channel = all.into_iter().map(|delivered| delivered.delivery);
        Ok(of_channel
            .filter(|delivery| &*delivery.plan.channel == channel)
            .collect())
    }

    async fn reply(
        &self,
        delivery: &Delivery,
        sender: &Sender,
        reply: Reply,
    ) -> Result<Answered, StoreError> {
        let decider = person(&self.0, sender.name.clone(), sender.via.clone());
        let id = delivery.approval_id.as_str();
        match decide(&self.0, id, &decider, reply).await {
            Ok(resolving) => Ok(answered(&self.0, resolving)),
            Err(GateError::Store(error)) => Err(error),
            Err(other) => Ok(Answered::AskAgain(other.to_string())),
        }
    }

    async fn choices(&self, delivery: &Delivery) -> Result<Vec<Code>, StoreError> {
        let approval = self
            .0
            .gate
            .store()
            .approval(delivery.approval_id.as_str())
            .await?;
        Ok(approval.as_ref().map(card::choices).unwrap_or_default())
    }

    async fn cursor(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.0.gate.store().cursor(name).await
    }

    async fn set_cursor(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.0.gate.store().set_cursor(name, value).await
    }

    async fn take_turn(&self, name: &str, time: Duration) -> Result<bool, StoreError> {
        let (store, now) = (self.0.gate.store(), self.0.gate.now());
        store.lease(name, &self.0.run, now, now.plus(time)).await
    }

    async fn end_turn(&self, name: &str) -> Result<(), StoreError> {
        self.0.gate.store().release(name, &self.0.run).await
    }

    async fn secret(&self, name: &str) -> Result<[u8; 32], StoreError> {
        self.0.gate.store().secret(name).await
    }
}

/// Somebody whom a channel asked, in the role they have among `people`.
pub(crate) fn person(app: &App, name: Arc<str>, via: Arc<str>) -> Decider {
    let known = app.gate.people();
    let role = known.named(&name).map_or(Role::Human, |person| person.role);
    Decider::person(name, role, via)
}

/// What a choice from the menu decides, whichever way it came.
pub(crate) async fn decide(
    app: &App,
    id: &str,
    decider: &Decider,
    reply: Reply,
) -> Result<Resolving, GateError> {
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Ok(Resolving::NotFound);
    };
    let resolution = match resolution(app, &approval, reply) {
        Ok(resolution) => resolution,
        Err(why) => return Ok(Resolving::Unfit(why.into())),
    };
    let status = if resolution.code == Some(Code::Deny) {
        Status::Denied
    } else {
        Status::Approved
    };
    app.gate.resolve(id, decider, status, resolution).await
}

/// A text with 5 is the new call, or what is done instead of what was asked; with any other code it is a note.
fn resolution(app: &App, approval: &Approval, reply: Reply) -> Result<Resolution, String> {
    let Reply { code, text } = reply;
    let mut resolution = Resolution {
        code: Some(code),
        ..Resolution::default()
    };
    if code != Code::Change {
        resolution.reasoning = text;
    } else if approval.question.kind == Kind::Call {
        let text = text.unwrap_or_default();
        resolution.arguments = Some(change::arguments(app, &approval.question, &text)?);
    } else {
        resolution.replacement = text;
    }
    Ok(resolution)
}

fn answered(app: &App, resolving: Resolving) -> Answered {
    let card = |approval: &Approval| {
        let exposure = app.live.load().exposure;
        Box::new(Card::of(approval, exposure, app.gate.now()))
    };
    match resolving {
        Resolving::Done(approval) => Answered::Decided(card(&approval)),
        Resolving::Counted(approval) => Answered::Counted(card(&approval)),
        Resolving::Already(approval) => Answered::Already(card(&approval)),
        Resolving::Unfit(why) => Answered::AskAgain(why.into_owned()),
        Resolving::Forbidden(why) => Answered::Refused(why.to_owned()),
        Resolving::Denied { reason, .. } => {
            Answered::AskAgain(format!("policy denies the changed call: {reason}"))
        }
        Resolving::Held(claim) => Answered::Refused(format!("claimed by {}", claim.by)),
        Resolving::NotFound => Answered::NotFound,
    }
}
