//! The brake: nobody is sent more than a few messages in a minute. What is held back comes later, one by one,
//! and one message in between says how much there is.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use provost_core::{delivery::Delivery, ids::DeliveryId, time::Time};

/// To one address in one [`WINDOW`].
const MOST: usize = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// What comes in a burst is counted when all of it is there.
const BURST: Duration = Duration::from_secs(3);

#[derive(Default)]
pub(super) struct Brake {
    addresses: HashMap<String, Lately>,
}

#[derive(Default)]
struct Lately {
    sent: VecDeque<Time>,
    held: HashSet<DeliveryId>,
    /// Since when something is, of which nobody was told.
    held_at: Option<Time>,
    /// One of those that are held.
    last: Option<Delivery>,
    told_at: Option<Time>,
}

/// What somebody is told of in one message.
pub(super) struct Digest {
    /// One of what waits: its address is whose.
    pub(super) delivery: Delivery,
    pub(super) waiting: usize,
}

impl Brake {
    /// `None`: it may go. Else until when it is held back.
    pub(super) fn hold(&mut self, delivery: &Delivery, now: Time) -> Option<Time> {
        let lately = self.addresses.entry(address(delivery)).or_default();
        while lately.sent.front().is_some_and(|at| at.plus(WINDOW) <= now) {
            lately.sent.pop_front();
        }
        if lately.sent.len() < MOST {
            lately.sent.push_back(now);
            lately.held.remove(&delivery.id);
            return None;
        }
        lately.held.insert(delivery.id.clone());
        lately.held_at.get_or_insert(now);
        lately.last = Some(delivery.clone());
        lately.sent.front().map(|at| at.plus(WINDOW))
    }

    /// Who is to be told how much waits for them, at most once in a [`WINDOW`].
    pub(super) fn digests(&mut self, now: Time) -> Vec<Digest> {
        let mut digests = Vec::new();
        for lately in self.addresses.values_mut() {
            let told_lately = lately.told_at.is_some_and(|at| now < at.plus(WINDOW));
            let still_coming = lately.held_at.is_some_and(|at| now < at.plus(BURST));
            if lately.held.is_empty() || told_lately || still_coming {
                continue;
            }
            lately.held_at = None;
            let waiting = std::mem::take(&mut lately.held).len();
            lately.told_at = Some(now);
            digests.extend(
                lately
                    .last
                    .take()
                    .map(|delivery| Digest { delivery, waiting }),
            );
        }
        self.addresses.retain(|_, lately| lately.matters(now));
        digests
    }
}

impl Lately {
    fn matters(&self, now: Time) -> bool {
        let lately = |at: Time| now < at.plus(WINDOW);
        !self.held.is_empty()
            || self.sent.back().is_some_and(|at| lately(*at))
            || self.told_at.is_some_and(lately)
    }
}

fn address(delivery: &Delivery) -> String {
    format!("{}:{}", delivery.plan.channel, delivery.plan.address)
}

#[cfg(test)]
mod tests {
    use provost_core::delivery::{Plan, Purpose};
    use serde_json::json;

    use super::*;

    fn delivery(chat: u64) -> Delivery {
        Delivery {
            id: DeliveryId::random(),
            approval_id: "a".into(),
            plan: Plan {
                channel: "telegram".into(),
                address: json!({"tg_chat_id": chat}),
                person: None,
                purpose: Purpose::Ask,
                after: Duration::ZERO,
            },
            shown: None,
            attempts: 0,
        }
    }

    #[test]
    fn few_go_at_once_and_the_rest_is_told_of_in_one_message() {
        let mut brake = Brake::default();
        let at = |seconds: u64| Time::from_millis(0).plus(Duration::from_secs(seconds));
        let all: Vec<Delivery> = (0..25).map(|_| delivery(42)).collect();
        let held: Vec<_> = all
            .iter()
            .filter(|one| brake.hold(one, at(0)).is_some())
            .collect();
        assert_eq!(held.len(), 15);
        assert_eq!(
            brake.hold(&delivery(43), at(0)),
            None,
            "others are not held"
        );
        assert!(brake.digests(at(0)).is_empty(), "more may be coming");
        let digests = brake.digests(at(3));
        assert_eq!(digests.len(), 1);
        assert_eq!(digests[0].waiting, 15);
        assert!(brake.digests(at(4)).is_empty(), "told once");
        assert_eq!(brake.hold(held[0], at(30)), Some(at(60)));
        assert!(brake.digests(at(30)).is_empty(), "not again so soon");
        let still: Vec<_> = held
            .iter()
            .filter(|one| brake.hold(one, at(60)).is_some())
            .collect();
        assert_eq!(still.len(), 5);
        assert_eq!(brake.digests(at(63))[0].waiting, 5);
        assert!(brake.digests(at(500)).is_empty());
        assert!(brake.addresses.is_empty(), "nothing is kept of those days");
    }
}
