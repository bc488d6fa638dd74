//! How the reports of a run reach their receiver in the end: the prompts one after another, and not for ever.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    brake::Brake,
    report::{Counts, Drained},
    setup::Untold,
};

/// How long delivery is tried after the end. What is left then stays on disk.
const DELIVERY: Duration = Duration::from_mins(10);
/// And how long once it was told to stop: whoever pulls the brake does not wait for a receiver that is away.
const HURRY: Duration = Duration::from_secs(5);

/// What became of reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) drained: Drained,
    pub(crate) counts: Counts,
}

impl std::ops::AddAssign for Delivery {
    fn add_assign(&mut self, other: Self) {
        self.drained += other.drained;
        self.counts += other.counts;
    }
}

impl Delivery {
    /// As the journal has it. `over`: nothing of the run is sent any more.
    pub(crate) fn event(&self, over: bool) -> Value {
        let Self { drained, counts } = self;
        json!({"reported": {
            "delivered": counts.delivered, "refused": counts.refused, "left": drained.left, "over": over,
            "warning": self.trouble(),
        }})
    }

    /// What whoever started the run should know of it.
    pub(crate) fn trouble(&self) -> Option<String> {
        if self.drained.unauthorized {
            return Some(super::UNAUTHORIZED.to_owned());
        }
        let left = match self.drained.left {
            0 => None,
            1 => Some("1 report was not delivered".to_owned()),
            left => Some(format!("{left} reports were not delivered")),
        };
        self.counts.refusals().or(left)
    }
}

/// Sends what they have, in their order, until all is delivered, the patience is over, or the receiver does not know
/// the token.
pub(crate) async fn deliver(untold: &[Untold], brake: &Brake) -> Delivery {
    let all = async {
        for one in untold {
            one.turn.cancel();
            one.reporter.drained(DELIVERY).await;
        }
    };
    let hurry = async {
        brake.pulled().await;
        sleep(HURRY).await;
    };
    tokio::select! {
        () = all => {}
        () = hurry => {}
        () = sleep(DELIVERY) => {}
    }
    let mut delivery = Delivery::default();
    for one in untold {
        delivery += Delivery {
            drained: one.reporter.drained(Duration::ZERO).await,
            counts: one.reporter.counts(),
        };
    }
    delivery
}
