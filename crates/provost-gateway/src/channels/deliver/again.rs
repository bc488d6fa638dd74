//! What is done about a delivery that did not succeed: it is tried again, and in the end given up.

use std::time::Duration;

use provost_core::{delivery::Delivery, ports::Undelivered};

use super::{DISTURBING, POLL};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(10);
/// After that many failures, in a row and over hours, a delivery is given up.
const MOST_ATTEMPTS: u32 = 30;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Telegram or the mail server said when: that is no failure, however often they say so.
    Wait(Duration),
    Again(Duration),
    GiveUp,
}

pub(super) fn next(delivery: &Delivery, why: &Undelivered) -> Next {
    let attempts = delivery.attempts;
    let disturbs = DISTURBING.contains(&&*delivery.plan.channel);
    match why {
        Undelivered::Later {
            after: Some(after), ..
        } if disturbs => Next::Wait((*after).max(POLL)),
        // A receiver is whoever an agent names: it may ask for patience, and not for ever.
        Undelivered::Later { after, .. } if attempts < MOST_ATTEMPTS => {
            Next::Again(pause(attempts).max(after.unwrap_or_default()))
        }
        Undelivered::Later { .. } | Undelivered::Never { .. } => Next::GiveUp,
    }
}

fn pause(attempts: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(1 << attempts.min(16))
        .min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use provost_core::{
        delivery::{Plan, Purpose},
        ids::DeliveryId,
    };
    use serde_json::Value;

    use super::*;

    fn delivery(channel: &str, attempts: u32) -> Delivery {
        Delivery {
            id: DeliveryId::random(),
            approval_id: "a".into(),
            plan: Plan {
                channel: channel.into(),
                address: Value::Null,
                person: None,
                purpose: Purpose::Ask,
                after: Duration::ZERO,
            },
            shown: None,
            attempts,
        }
    }

    #[test]
    fn what_fails_is_tried_again_but_not_for_ever() {
        let later = |after: Option<u64>| Undelivered::Later {
            why: "429".to_owned(),
            after: after.map(Duration::from_secs),
        };
        let never = || Undelivered::Never {
            why: "410".to_owned(),
        };
        let seconds = Duration::from_secs;
        for (channel, attempts, why, expected) in [
            ("telegram", 0, later(Some(30)), Next::Wait(seconds(30))),
            ("telegram", 0, later(Some(0)), Next::Wait(POLL)),
            (
                "email",
                MOST_ATTEMPTS,
                later(Some(30)),
                Next::Wait(seconds(30)),
            ),
            (
                "telegram",
                u32::MAX,
                later(Some(30)),
                Next::Wait(seconds(30)),
            ),
            ("telegram", 0, later(None), Next::Again(FIRST_PAUSE)),
            ("telegram", 1, later(None), Next::Again(seconds(2))),
            (
                "email",
                MOST_ATTEMPTS - 1,
                later(None),
                Next::Again(LONGEST_PAUSE),
            ),
            ("email", MOST_ATTEMPTS, later(None), Next::GiveUp),
            ("telegram", 0, never(), Next::GiveUp),
            ("callback", 0, later(Some(30)), Next::Again(seconds(30))),
            ("callback", 6, later(Some(0)), Next::Again(seconds(64))),
            ("callback", MOST_ATTEMPTS, later(Some(1)), Next::GiveUp),
            ("webhook", MOST_ATTEMPTS, later(Some(1)), Next::GiveUp),
        ] {
            let delivery = delivery(channel, attempts);
            let found = next(&delivery, &why);
            assert_eq!(found, expected, "{channel} {attempts} {why:?}");
        }
    }
}
