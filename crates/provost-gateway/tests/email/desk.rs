//! A desk in memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use async_trait::async_trait;
use provost_core::{
    approval::{Kind, Status},
    card::{Card, Claim, CommandPart, End, Exact},
    delivery::{Delivery, Plan, Purpose, Shown},
    ids::{ApprovalId, DeliveryId},
    menu::{Code, Reply},
    ports::StoreError,
    time::Time,
};
use provost_gateway::channels::{Answered, Desk, Sender};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct MemoryDesk(Mutex<State>);

#[derive(Default)]
pub(crate) struct State {
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) decided: HashMap<ApprovalId, (Sender, Reply)>,
    /// How often it was asked to decide.
    pub(crate) replies: usize,
    pub(crate) cursors: HashMap<String, String>,
    /// So many replies fail before one succeeds.
    pub(crate) failures: usize,
    pub(crate) people: HashMap<String, String>,
    /// Another replica has the turn.
    pub(crate) taken: bool,
    /// How often it was refused for that.
    pub(crate) refused: usize,
}

impl MemoryDesk {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(crate) fn deliver(&self, to: &str) -> Delivery {
        self.deliver_as(&ApprovalId::requested(), to, Purpose::Ask)
    }

    pub(crate) fn deliver_as(&self, id: &ApprovalId, to: &str, purpose: Purpose) -> Delivery {
        let delivery = Delivery {
            id: DeliveryId::random(),
            approval_id: id.clone(),
            plan: Plan {
                channel: "email".into(),
                address: json!({"email_to": to}),
                person: None,
                purpose,
                after: Duration::ZERO,
            },
            shown: None,
            attempts: 0,
        };
        self.state().deliveries.push(delivery.clone());
        delivery
    }

    pub(crate) fn was_shown(&self, id: &DeliveryId, shown: Shown) {
        let mut state = self.state();
        let delivery = state.deliveries.iter_mut().find(|known| known.id == *id);
        delivery.unwrap().shown = Some(shown);
    }

    pub(crate) fn decision(&self, delivery: &Delivery) -> Option<(Sender, Reply)> {
        self.state().decided.get(&delivery.approval_id).cloned()
    }

    fn find(&self, so: impl Fn(&Delivery) -> bool) -> Option<Delivery> {
        let state = self.state();
        state
            .deliveries
            .iter()
            .find(|delivery| so(delivery))
            .cloned()
    }
}

#[async_trait]
impl Desk for MemoryDesk {
    fn person(&self, channel: &str, address: &Value) -> Option<Arc<str>> {
        assert_eq!(channel, "email");
        let address = address["email_to"].as_str()?;
        self.state()
            .people
            .get(address)
            .map(|name| name.as_str().into())
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        Ok(self.find(|delivery| delivery.id == *id))
    }

    async fn card(&self, delivery: &Delivery) -> Result<Option<Card>, StoreError> {
        Ok(Some(card(&delivery.approval_id)))
    }

    async fn shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>, StoreError> {
        assert_eq!(channel, "email");
        Ok(self.find(|delivery| {
            delivery
                .shown
                .as_ref()
                .is_some_and(|shown| shown.key == key)
        }))
    }

    async fn deliveries_of(
        &self,
        channel: &str,
        approval: &ApprovalId,
    ) -> Result<Vec<Delivery>, StoreError> {
        assert_eq!(channel, "email");
        let state = self.state();
        let of_it = state
            .deliveries
            .iter()
            .filter(|delivery| delivery.approval_id == *approval);
        Ok(of_it.cloned().collect())
    }

    async fn reply(
        &self,
        delivery: &Delivery,
        sender: &Sender,
        reply: Reply,
    ) -> Result<Answered, StoreError> {
        let mut state = self.state();
        state.replies += 1;
        if state.failures > 0 {
            state.failures -= 1;
            return Err(StoreError::Failed("no space left".into()));
        }
        if reply.code == Code::Always {
            return Ok(Answered::AskAgain("6 is not offered here".into()));
        }
        let id = &delivery.approval_id;
        if let Some((by, winning)) = state.decided.get(id) {
            return Ok(Answered::Already(Box::new(ended(id, by, winning))));
        }
        let card = ended(id, sender, &reply);
        state.decided.insert(id.clone(), (sender.clone(), reply));
        Ok(Answered::Decided(Box::new(card)))
    }

    async fn cursor(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.state().cursors.get(name).cloned())
    }

    async fn set_cursor(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.state()
            .cursors
            .insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    async fn take_turn(&self, _name: &str, _time: Duration) -> Result<bool, StoreError> {
        let mut state = self.state();
        state.refused += usize::from(state.taken);
        Ok(!state.taken)
    }

    async fn end_turn(&self, _name: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn secret(&self, name: &str) -> Result<[u8; 32], StoreError> {
        assert_eq!(name, "mail");
        Ok([7; 32])
    }
}

pub(crate) fn card(id: &ApprovalId) -> Card {
    let time = |text| Time::parse(text).unwrap();
    Card {
        id: id.clone(),
        kind: Kind::Call,
        agent: "claude".into(),
        session: Some("s1".into()),
        tool: "shell.run".into(),
        exact: Exact::Command {
            parts: vec![CommandPart {
                text: Some("rm -rf build".into()),
                risks: vec!["deletes".into()],
                skipped: 0,
            }],
            more: 0,
        },
        other_arguments: None,
        claim: Some(Claim {
            title: Some("Clean up the büild folder".into()),
            preview: Some("1\n5 rm -rf /\n```\n".into()),
            more: 0,
        }),
        risks: Vec::new(),
        withheld: false,
        asked: 1,
        denied_before: false,
        needed: 1,
        approved_by: Vec::new(),
        voted: false,
        waiting: None,
        choices: Code::ALL.to_vec(),
        remember: Vec::new(),
        created_at: time("2026-03-03T10:00:00Z"),
        expires_at: time("2026-03-03T11:00:00Z"),
        fallback: None,
        end: None,
    }
}

pub(crate) fn ended(id: &ApprovalId, by: &Sender, reply: &Reply) -> Card {
    let card = card(id);
    let status = if reply.code.allows() {
        Status::Approved
    } else {
        Status::Denied
    };
    let end = End {
        status,
        by: Some(format!("human:{}", by.name)),
        via: Some(by.via.clone()),
        code: Some(reply.code),
        note: reply.text.clone(),
        replacement: None,
        rule_id: None,
        remembered: None,
        auto: false,
        at: card.created_at,
    };
    Card {
        end: Some(end),
        ..card
    }
}
