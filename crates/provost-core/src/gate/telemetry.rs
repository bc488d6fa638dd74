//! What the gate counts. Names are listed here so that the metrics page can be read beside the code.

use std::{sync::OnceLock, time::Duration};

use metrics::{Counter, Histogram, counter, histogram};

use super::Decided;
use crate::ports::{ForwardError, Forwarded};

/// A counter and a histogram, looked up once: the look-up would cost more than the counting.
struct Meter(OnceLock<(Counter, Histogram)>);

impl Meter {
    const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn record(&self, took: Duration, find: impl FnOnce() -> (Counter, Histogram)) {
        let (counter, histogram) = self.0.get_or_init(find);
        counter.increment(1);
        histogram.record(took.as_secs_f64());
    }
}

pub(super) fn decided(decided: &Decided, took: Duration) {
    static ALLOWED: Meter = Meter::new();
    let (verdict, _) = decided.summary();
    let find = || {
        (
            counter!("provost_decisions_total", "verdict" => verdict),
            histogram!("provost_decision_seconds", "verdict" => verdict),
        )
    };
    match verdict {
        "allow" => ALLOWED.record(took, find),
        _ => Meter::new().record(took, find),
    }
}

pub(super) fn forwarded(result: &Result<Forwarded, ForwardError>, took: Duration) {
    static OK: Meter = Meter::new();
    let outcome = match result {
        Ok(forwarded) if forwarded.error.is_none() => "ok",
        Ok(_) => "error",
        Err(_) => "failed",
    };
    let find = || {
        (
            counter!("provost_forwarded_total", "outcome" => outcome),
            histogram!("provost_forward_seconds", "outcome" => outcome),
        )
    };
    match outcome {
        "ok" => OK.record(took, find),
        _ => Meter::new().record(took, find),
    }
}

pub(super) fn resolved(status: &'static str, waited: Duration) {
    counter!("provost_approvals_resolved_total", "status" => status).increment(1);
    histogram!("provost_approval_wait_seconds", "status" => status).record(waited.as_secs_f64());
}
