//! A request as its client sees it. What is absent is `null`.

use provost_core::{
    approval::{Approval, Decision, Status},
    menu::Code,
    time::Time,
};
use serde_json::{Value, json};

pub(super) fn view(approval: &Approval, now: Time) -> Value {
    let (question, state) = (&approval.question, &approval.state);
    let decision = state.decision.as_deref();
    json!({
        "approval_id": question.id,
        "status": state.status_at(now),
        "auto": decision.is_some_and(is_auto),
        "expires_at": seconds(state.expires_at),
        "created_at": seconds(question.created_at),
        "decision": decision.map(decision_view),
        "allow_rule_applied": decision.and_then(|decision| decision.grant_id.as_ref()),
        "session_id": question.session_id,
        "action_type": question.tool,
        "asked": state.asked,
    })
}

pub(super) fn seconds(time: Time) -> i64 {
    time.millis().div_euclid(1000)
}

fn is_auto(decision: &Decision) -> bool {
    decision.grant_id.is_some()
}

fn decision_view(decision: &Decision) -> Value {
    let by_person = decision.grant_id.is_none();
    let plain = Code::plain(decision.status == Status::Approved);
    let note = decision.reasoning.as_ref().filter(|_| by_person);
    json!({
        "code": decision.code.unwrap_or(plain),
        "note": note,
        "override": decision.replacement,
        "rule_id": decision.rule(),
        "decided_by": decision.by,
        "decided_at": seconds(decision.at),
        "via": decision.via,
    })
}
