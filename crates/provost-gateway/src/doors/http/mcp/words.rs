//! What a model is told when it does not get what it called for: what happened, why, and what to do now.

use std::time::Duration;

use provost_core::{
    approval::Approval,
    gate::{GateError, Refusal},
    time::format_duration,
    trace::Answer,
};
use serde_json::{Map, Value, json};

pub(super) fn refusal(refusal: &Refusal, tool: &str) -> String {
    let (reason, rule, trace) = (&refusal.reason, &refusal.rule, &refusal.trace_id);
    match refusal.answer {
        Answer::Deny | Answer::Allow if refusal.approval_id.is_some() => format!(
            "Not permitted: `{tool}` was {reason}. It was not run. Do not make this call again and do not \
             look for a way around it; go on without it, or ask the person you work for. (trace {trace})"
        ),
        Answer::Deny | Answer::Allow | Answer::Unsupervised => format!(
            "Not permitted: policy denies `{tool}` with these arguments ({rule}: {reason}). It was not run. \
             Do not make this call again and do not look for a way around it; go on without it, or tell the \
             person you work for that policy stands in the way. (trace {trace})"
        ),
        Answer::Expired => format!(
            "Not permitted: {reason} whether `{tool}` may run. It was not run. Tell the person you work for \
             that it waits for approval; if you repeat the call, a person is asked again. (trace {trace})"
        ),
        Answer::RateLimited => format!(
            "Not run: {reason}. {} (trace {trace})",
            wait(refusal.retry_after)
        ),
        Answer::Invalid => format!(
            "Not run: {reason}. Look at the schema of the tool and make the call again with arguments that \
             fit. (trace {trace})"
        ),
        Answer::Stopped => format!(
            "Not run: {reason}. Stop working and tell the person you work for; only an admin can lift this. \
             (trace {trace})"
        ),
    }
}

fn wait(after: Option<Duration>) -> String {
    match after {
        Some(after) => {
            let seconds = after.as_millis().div_ceil(1000).max(1) as u64;
            let after = format_duration(Duration::from_secs(seconds));
            format!("Wait {after} before you call anything again.")
        }
        None => "It does not pass by waiting: tell the person you work for.".to_owned(),
    }
}

/// The user would not wait.
pub(super) fn left(approval: &Approval) -> String {
    let (tool, id) = (&approval.question.tool, &approval.question.id);
    format!(
        "Not run yet: `{tool}` waits for approval {id}, and the user chose not to wait for it. Go on with \
         something else. Repeat the call with the same arguments to collect the answer."
    )
}

/// Nothing was decided.
pub(super) fn undecided(error: &GateError, tool: &str) -> String {
    let why = match error {
        GateError::Store(error) => {
            tracing::error!(%error, "the store failed a request");
            "the store of the gateway does not answer".to_owned()
        }
        other => other.to_string(),
    };
    format!("Not run: `{tool}` could not be decided, because {why}. Try again in a few seconds.")
}

/// What a person made of the call.
pub(super) fn changed(arguments: &Map<String, Value>) -> String {
    let arguments = json!(arguments);
    format!(
        "Note: the person who approved this call changed its arguments. It was run with {arguments}, and \
         the result is that of the changed call."
    )
}

/// What the form says that offers not to wait.
pub(super) fn waits(approval: &Approval) -> String {
    let question = &approval.question;
    format!(
        "`{}` needs an approval that is not yours to give (approval {}, {}). Keep waiting for it?",
        question.tool, question.id, question.policy_rule
    )
}
