//! Whether to wait: where the config says so and the client can show a form, its user may leave a call pending
//! instead of waiting. The form never approves: who asks does not decide.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use provost_core::{
    approval::Approval,
    call::{Call, Executor},
    ports::StoreError,
};
use serde_json::{Map, Value, json};

use super::{
    exchange::{Exchange, Form},
    message::{Fault, REFUSED, notification, request},
    session::Question,
    words,
};
use crate::app::Waiting;

/// The name of our one question.
const QUESTION: &str = "waiting";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Wait,
    Leave,
}

/// How a call goes on that is not decided yet.
pub(super) enum Offer {
    Wait,
    /// Waits while the user is asked.
    Form(Question),
    /// The user is asked by the answer, and the call made again.
    InputRequired,
    Leave,
}

/// `chosen` is what the user said when asked by an earlier answer.
pub(super) fn offer(exchange: &Exchange, approval: &Approval, chosen: Option<Choice>) -> Offer {
    match (&exchange.form, chosen) {
        (_, Some(Choice::Leave)) => return Offer::Leave,
        (_, Some(Choice::Wait)) => return Offer::Wait,
        _ if exchange.app.live.load().waiting == Waiting::Block => {}
        (Form::Stateless(client), None) if client.takes_forms => return Offer::InputRequired,
        (Form::Session(session), None) if session.takes_forms => {
            if let Some(question) = session.ask().filter(|q| put(exchange, q, approval)) {
                return Offer::Form(question);
            }
        }
        _ => {}
    }
    Offer::Wait
}

/// `false`: the client cannot be reached.
fn put(exchange: &Exchange, question: &Question, approval: &Approval) -> bool {
    let form = request(&question.id, "elicitation/create", form(approval));
    let out = exchange.out.as_ref();
    out.is_some_and(|out| out.try_send(form).is_ok())
}

/// The answer is not wanted any more.
pub(super) fn withdraw(exchange: &Exchange, question: &Question) {
    let params = json!({"requestId": question.id, "reason": "the call was decided"});
    if let Some(out) = &exchange.out {
        let _ = out.try_send(notification("notifications/cancelled", params));
    }
}

/// What a client answers to the form. An error is that it cannot show it: then there is nothing to do but
/// to wait.
pub(super) fn chosen(answer: Option<&Value>) -> Choice {
    let Some(answer) = answer else {
        return Choice::Wait;
    };
    let accepted = answer.get("action").and_then(Value::as_str) == Some("accept");
    let choice = answer.pointer("/content/choice").and_then(Value::as_str);
    if accepted && choice == Some("wait") {
        Choice::Wait
    } else {
        Choice::Leave
    }
}

/// What came with a call that is made again.
pub(super) fn chosen_before(responses: Option<&Map<String, Value>>) -> Option<Choice> {
    let answer = responses?.get(QUESTION)?;
    Some(chosen(Some(answer)))
}

/// The stateless way to ask: the call is made again with the state, and finds its decision by it.
pub(super) fn input_required(approval: &Approval) -> Value {
    let form = json!({"method": "elicitation/create", "params": form(approval)});
    json!({
        "resultType": "input_required",
        "inputRequests": {QUESTION: form},
        "requestState": state(approval),
    })
}

fn form(approval: &Approval) -> Value {
    let choice = json!({
        "type": "string",
        "title": "What now?",
        "enum": ["wait", "leave"],
        "enumNames": ["Keep waiting", "Leave it pending"],
        "default": "wait",
    });
    json!({
        "message": words::waits(approval),
        "requestedSchema": {
            "type": "object",
            "properties": {"choice": choice},
            "required": ["choice"],
        },
    })
}

/// A handle, and no secret: it is good only for the agent and the call of the approval it names, as the store
/// knows them. So it holds on every replica and over a restart.
fn state(approval: &Approval) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(approval.question.id.as_str())
}

/// A call that is made again with a state must be the call that the state is of.
pub(super) async fn check(
    exchange: &Exchange,
    state: Option<&Value>,
    call: &Call,
) -> Result<(), Fault> {
    let Some(state) = state else { return Ok(()) };
    match is_of(exchange, state.as_str().unwrap_or_default(), call).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Fault::params(
            "`requestState` is not of this call: make the call again without it",
        )),
        Err(error) => {
            let words = words::undecided(&error.into(), &call.tool);
            Err(Fault::new(REFUSED, words))
        }
    }
}

async fn is_of(exchange: &Exchange, state: &str, call: &Call) -> Result<bool, StoreError> {
    let id = BASE64_URL_SAFE_NO_PAD.decode(state).ok();
    let Some(id) = id.and_then(|id| String::from_utf8(id).ok()) else {
        return Ok(false);
    };
    let approval = exchange.app.gate.store().approval(&id).await?;
    Ok(approval.is_some_and(|approval| {
        // The whole id: the store also finds approvals by its beginning.
        let bound = call.digest().bound_to(Executor::Gateway, None);
        approval.question.id.as_str() == id && approval.question.bound() == bound
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_waits_on() {
        for (answer, expected) in [
            (None, Choice::Wait),
            (
                Some(json!({"action": "accept", "content": {"choice": "wait"}})),
                Choice::Wait,
            ),
            (
                Some(json!({"action": "accept", "content": {"choice": "leave"}})),
                Choice::Leave,
            ),
            (
                Some(json!({"action": "accept", "content": {"choice": "approve"}})),
                Choice::Leave,
            ),
            (Some(json!({"action": "decline"})), Choice::Leave),
            (Some(json!({"action": "cancel"})), Choice::Leave),
            (Some(json!({})), Choice::Leave),
        ] {
            assert_eq!(chosen(answer.as_ref()), expected, "{answer:?}");
        }
    }
}
