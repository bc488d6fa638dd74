//! What a model is told when it does not get what it called for: what happened, why, and what to do now, as
//! at the gateway's own `/mcp`.

use provost_core::time::format_duration;
use serde_json::Value;

use crate::client::{ClientError, Refusal};

pub(super) fn refused(error: &ClientError, tool: &str) -> String {
    match error.refusal() {
        Some(refusal) if refusal.body.get("trace_id").is_some() => decided(refusal, tool),
        // Nothing was decided.
        _ => match error {
            ClientError::Slow { patience, .. } => format!(
                "Not permitted: nobody decided within {} whether `{tool}` may run. It was not run. Tell the \
                 person you work for that it waits for approval; the same call, made again, asks again.",
                format_duration(*patience)
            ),
            error => undecided(&error.to_string(), tool),
        },
    }
}

pub(super) fn undecided(why: &str, tool: &str) -> String {
    format!(
        "Not permitted: `{tool}` could not be decided, because {why}. It was not run. Try again in a few \
         seconds; if it stays so, tell the person you work for."
    )
}

fn decided(refusal: &Refusal, tool: &str) -> String {
    let text = |place: &str| {
        let found = refusal.body.pointer(place);
        found.and_then(Value::as_str).unwrap_or_default()
    };
    let (reason, rule) = (&refusal.message, text("/rule"));
    let ids = match (text("/approval_id"), text("/trace_id")) {
        ("", trace) => format!("(trace {trace})"),
        (approval, trace) => format!("(approval {approval}, trace {trace})"),
    };
    match text("/error/code") {
        "approval_timeout" => format!(
            "Not permitted: {reason} whether `{tool}` may run. It was not run. Tell the person you work for \
             that it waits for approval; the same call, made again, asks again. {ids}"
        ),
        "rate_limited" => format!(
            "Not run: {reason}. Wait before you call anything again; if it does not pass, tell the person \
             you work for. {ids}"
        ),
        "invalid_arguments" => format!(
            "Not run: {reason}. Look at the schema of the tool and make the call again with arguments that \
             fit. {ids}"
        ),
        "stopped" => format!(
            "Not run: {reason}. Stop working and tell the person you work for; only an admin can lift this. \
             {ids}"
        ),
        _ if !text("/approval_id").is_empty() => format!(
            "Not permitted: `{tool}` was {reason}. It was not run. Do not make this call again and do not \
             look for a way around it; go on without it, or ask the person you work for. {ids}"
        ),
        _ => format!(
            "Not permitted: policy denies `{tool}` with these arguments ({rule}: {reason}). It was not run. \
             Do not make this call again and do not look for a way around it; go on without it, or tell the \
             person you work for that policy stands in the way. {ids}"
        ),
    }
}
