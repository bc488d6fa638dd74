//! A desk in memory: one question per delivery, decided as the menu says.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use async_trait::async_trait;
use provost_core::{
    approval::{Kind, Status},
    card::{Card, Claim, End, Exact},
    delivery::{Delivery, Plan, Purpose, Shown},
    ids::{ApprovalId, DeliveryId},
    menu::{Code, Reply},
    ports::StoreError,
    time::Time,
};
use provost_gateway::channels::{Answered, Desk, Sender};
use serde_json::{Value, json};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct MemoryDesk {
    papers: Arc<Mutex<Papers>>,
    changed: Arc<Notify>,
    /// Which of the replicas this is.
    who: &'static str,
}

#[derive(Default)]
pub(crate) struct Papers {
    pub(crate) people: Vec<(i64, &'static str)>,
    pub(crate) deliveries: HashMap<DeliveryId, (Delivery, Card)>,
    pub(crate) cursors: HashMap<String, String>,
    /// What was decided by whom.
    pub(crate) replies: Vec<(Sender, Reply)>,
    /// What was written, in its order.
    pub(crate) written: Vec<String>,
    /// How often deciding fails from now on.
    pub(crate) failures: usize,
    pub(crate) refusal: Option<&'static str>,
    /// Who has a turn, until when.
    pub(crate) turns: HashMap<String, (&'static str, Time)>,
    pub(crate) refused: HashMap<&'static str, usize>,
    pub(crate) now: Time,
}

impl Papers {
    pub(crate) fn take_turn(&mut self, name: &str, who: &'static str, time: Duration) -> bool {
        let another = |(has, until): &(&str, Time)| *has != who && *until > self.now;
        if self.turns.get(name).is_some_and(another) {
            *self.refused.entry(who).or_default() += 1;
            return false;
        }
        let until = self.now.plus(time);
        self.turns.insert(name.to_owned(), (who, until));
        true
    }

    pub(crate) fn end_turn(&mut self, name: &str, who: &'static str) {
        if self.turns.get(name).is_some_and(|(has, _)| *has == who) {
            self.turns.remove(name);
        }
    }
}

impl MemoryDesk {
    /// Of another process on the same store.
    pub(crate) fn replica(&self, who: &'static str) -> Arc<Self> {
        Arc::new(Self {
            papers: self.papers.clone(),
            changed: self.changed.clone(),
            who,
        })
    }

    pub(crate) fn papers(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap()
    }

    pub(crate) fn add(&self, delivery: &Delivery, card: &Card) {
        let row = (delivery.clone(), card.clone());
        self.papers().deliveries.insert(delivery.id.clone(), row);
    }

    pub(crate) fn set_shown(&self, id: &DeliveryId, shown: &Shown) {
        let mut papers = self.papers();
        papers.deliveries.get_mut(id).unwrap().0.shown = Some(shown.clone());
    }

    pub(crate) fn card(&self, id: &DeliveryId) -> Card {
        self.papers().deliveries[id].1.clone()
    }

    /// Waits for so many decisions.
    pub(crate) async fn until_decided(&self, times: usize) {
        self.until(|papers| papers.replies.len() >= times).await;
    }

    /// Waits until a replica has been refused the turn so often, from now on.
    pub(crate) async fn until_looked(&self, who: &'static str, times: usize) {
        self.papers().refused.remove(who);
        self.until(|papers| papers.refused.get(who).is_some_and(|count| *count >= times))
            .await;
    }

    pub(crate) async fn until_turn(&self, who: &'static str) {
        self.until(|papers| papers.turns.values().any(|(has, _)| *has == who))
            .await;
    }

    async fn until(&self, found: impl Fn(&Papers) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if found(&self.papers()) {
                    return;
                }
                changed.await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
        waited.expect("it did not happen in time");
    }

    pub(crate) fn codes(&self) -> Vec<Code> {
        let papers = self.papers();
        papers.replies.iter().map(|(_, reply)| reply.code).collect()
    }
}

#[async_trait]
impl Desk for MemoryDesk {
    fn person(&self, channel: &str, address: &Value) -> Option<Arc<str>> {
        assert_eq!(channel, "telegram");
        let id = address["tg_user_id"].as_i64().unwrap();
        let papers = self.papers();
        let person = papers.people.iter().find(|(user, _)| *user == id);
        person.map(|(_, name)| (*name).into())
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let papers = self.papers();
        Ok(papers
            .deliveries
            .get(id)
            .map(|(delivery, _)| delivery.clone()))
    }

    async fn card(&self, delivery: &Delivery) -> Result<Option<Card>, StoreError> {
        let papers = self.papers();
        let found = papers.deliveries.get(&delivery.id);
        Ok(found.map(|(_, card)| card.clone()))
    }

    async fn shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>, StoreError> {
        let papers = self.papers();
        let mut deliveries = papers.deliveries.values().map(|(delivery, _)| delivery);
        let found = deliveries.find(|delivery| {
            *delivery.plan.channel == *channel
                && delivery
                    .shown
                    .as_ref()
                    .is_some_and(|shown| shown.key == key)
        });
        Ok(found.cloned())
    }

    async fn deliveries_of(
        &self,
        channel: &str,
        approval: &ApprovalId,
    ) -> Result<Vec<Delivery>, StoreError> {
        let papers = self.papers();
        let all = papers.deliveries.values().map(|(delivery, _)| delivery);
        let of = |delivery: &&Delivery| {
            *delivery.plan.channel == *channel && delivery.approval_id == *approval
        };
        Ok(all.filter(of).cloned().collect())
    }

    async fn reply(
        &self,
        delivery: &Delivery,
        sender: &Sender,
        reply: Reply,
    ) -> Result<Answered, StoreError> {
        let mut papers = self.papers();
        if papers.failures > 0 {
            papers.failures -= 1;
            return Err(StoreError::Failed("the disk is full".into()));
        }
        if let Some(refusal) = papers.refusal {
            return Ok(Answered::Refused(refusal.into()));
        }
        let Some((_, card)) = papers.deliveries.get_mut(&delivery.id) else {
            return Ok(Answered::NotFound);
        };
        let answered = decide(card, sender, &reply);
        if matches!(answered, Answered::Decided(_) | Answered::Counted(_)) {
            papers.written.push("decision".into());
            papers.replies.push((sender.clone(), reply));
            self.changed.notify_waiters();
        }
        Ok(answered)
    }

    async fn cursor(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.papers().cursors.get(name).cloned())
    }

    async fn set_cursor(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let mut papers = self.papers();
        papers.written.push(format!("{name} = {value}"));
        papers.cursors.insert(name.into(), value.into());
        Ok(())
    }

    async fn take_turn(&self, name: &str, time: Duration) -> Result<bool, StoreError> {
        let taken = self.papers().take_turn(name, self.who, time);
        self.changed.notify_waiters();
        Ok(taken)
    }

    async fn end_turn(&self, name: &str) -> Result<(), StoreError> {
        self.papers().end_turn(name, self.who);
        Ok(())
    }

    async fn secret(&self, _name: &str) -> Result<[u8; 32], StoreError> {
        Ok([7; 32])
    }
}

fn decide(card: &mut Card, sender: &Sender, reply: &Reply) -> Answered {
    if card.end.is_some() {
        return Answered::Already(Box::new(card.clone()));
    }
    if !card.choices.contains(&reply.code) {
        return Answered::AskAgain("this cannot be chosen here".into());
    }
    let by = format!("human:{}", sender.name);
    if reply.code.allows() && !card.approved_by.contains(&by) {
        card.approved_by.push(by.clone());
    }
    if reply.code.allows() && card.approved_by.len() < usize::from(card.needed) {
        return Answered::Counted(Box::new(card.clone()));
    }
    let status = if reply.code.allows() {
        Status::Approved
    } else {
        Status::Denied
    };
    card.end = Some(End {
        status,
        by: Some(by),
        via: Some(sender.via.clone()),
        code: Some(reply.code),
        note: reply.text.clone(),
        replacement: None,
        rule_id: None,
        remembered: None,
        auto: false,
        at: card.created_at.plus(Duration::from_mins(1)),
    });
    Answered::Decided(Box::new(card.clone()))
}

pub(crate) fn delivery(chat: Value) -> Delivery {
    Delivery {
        id: DeliveryId::random(),
        approval_id: "00aa11bb22cc33dd".into(),
        plan: Plan {
            channel: "telegram".into(),
            address: json!({ "tg_chat_id": chat }),
            person: None,
            purpose: Purpose::Ask,
            after: Duration::ZERO,
        },
        shown: None,
        attempts: 0,
    }
}

pub(crate) fn card() -> Card {
    let created_at = Time::parse("2026-04-10T14:30:00Z").unwrap();
    Card {
        id: "00aa11bb22cc33dd".into(),
        kind: Kind::Call,
        agent: "claude".into(),
        session: Some("s-1".into()),
        tool: "shell.run".into(),
        exact: Exact::Arguments {
            json: "{\n  \"command\": \"ls <dir> & rm\"\n}".into(),
            more: 0,
        },
        other_arguments: None,
        claim: Some(Claim {
            title: Some("List files".into()),
            preview: None,
            more: 0,
        }),
        risks: vec![],
        withheld: false,
        asked: 1,
        denied_before: false,
        needed: 1,
        approved_by: vec![],
        voted: false,
        waiting: None,
        choices: Code::ALL.to_vec(),
        remember: Vec::new(),
        created_at,
        expires_at: created_at.plus(Duration::from_mins(5)),
        fallback: None,
        end: None,
    }
}
