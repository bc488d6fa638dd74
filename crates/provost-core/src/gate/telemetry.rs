//! What the gate counts. Names are listed here so that the metrics page can be read beside the code.

use std::time::Duration;

use metrics::{counter, histogram};

use super::Decided;
use crate::ports::{ForwardError, Forwarded};

pub(super) fn decided(decided: &Decided, took: Duration) {
    let (verdict, _) = decided.summary();
    counter!("provost_decisions_total", "verdict" => verdict).increment(1);
    histogram!("provost_decision_seconds", "verdict" => verdict).record(took.as_secs_f64());
}

pub(super) fn forwarded(result: &Result<Forwarded, ForwardError>, took: Duration) {
    let outcome = match result {
        Ok(forwarded) if forwarded.error.is_none() => "ok",
        Ok(_) => "error",
        Err(_) => "failed",
    };
    counter!("provost_forwarded_total", "outcome" => outcome).increment(1);
    histogram!("provost_forward_seconds", "outcome" => outcome).record(took.as_secs_f64());
}

pub(super) fn resolved(status: &'static str, waited: Duration) {
    counter!("provost_approvals_resolved_total", "status" => status).increment(1);
    histogram!("provost_approval_wait_seconds", "status" => status).record(waited.as_secs_f64());
}
