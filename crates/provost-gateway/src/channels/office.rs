//! What channels see of this gateway: their deliveries, and the desk that decides what people reply.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use provost_core::{
    approval::Approval,
    card::Card,
    delivery::Delivery,
    gate::{Decider, GateError, Resolving},
    ids::{ApprovalId, DeliveryId},
    key::Role,
    menu::Reply,
    ports::StoreError,
};
use serde_json::Value;

use super::{Answered, Desk, Sender};
use crate::{
    app::App,
    desk::{self, Said},
};

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
        match desk::decide(&self.0, &decider, id, Said::reply(reply)).await {
            Ok(resolving) => Ok(answered(&self.0, resolving)),
            Err(GateError::Store(error)) => Err(error),
            Err(other) => Ok(Answered::AskAgain(other.to_string())),
        }
    }

    async fn card(&self, delivery: &Delivery) -> Result<Option<Card>, StoreError> {
        let (store, id) = (self.0.gate.store(), &delivery.approval_id);
        let approval = store.approval(id.as_str()).await?;
        Ok(approval.map(|approval| card(&self.0, &approval)))
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

/// As channels show it.
pub(crate) fn card(app: &App, approval: &Approval) -> Card {
    let (exposure, longest) = (app.live.load().exposure, app.gate.settings().max_grant);
    Card::of(approval, exposure, longest, app.gate.now())
}

/// Somebody whom a channel asked, in the role they have among `people`.
pub(crate) fn person(app: &App, name: Arc<str>, via: Arc<str>) -> Decider {
    let known = app.gate.people();
    let role = known.named(&name).map_or(Role::Human, |person| person.role);
    Decider::person(name, role, via)
}

fn answered(app: &App, resolving: Resolving) -> Answered {
    let shown = |approval: &Approval| Box::new(card(app, approval));
    let why = resolving.why().unwrap_or_default();
    match resolving {
        Resolving::Done(approval) => Answered::Decided(shown(&approval)),
        Resolving::Counted(approval) | Resolving::CountedBefore(approval) => {
            Answered::Counted(shown(&approval))
        }
        Resolving::Already(approval) => Answered::Already(shown(&approval)),
        Resolving::Unfit(_) | Resolving::Denied { .. } => Answered::AskAgain(why),
        Resolving::Forbidden(_) | Resolving::Held(_) => Answered::Refused(why),
        Resolving::NotFound => Answered::NotFound,
    }
}
