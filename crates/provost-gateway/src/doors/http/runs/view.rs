//! A run as callers see it.

use std::sync::Arc;

use provost_core::time::Time;
use serde_json::{Value, json};

use crate::fleet::{Fleet, Prompt, Run};

pub(super) fn view(fleet: &Fleet, run: &Arc<Run>) -> Value {
    let (record, story) = (&run.record, run.story());
    json!({
        "id": record.id,
        "state": story.state,
        "position": fleet.position(&record.id),
        "agent": record.agent,
        "agentName": run.agent_name(),
        "prompt": record.prompt,
        "repoDir": record.repo_dir,
        "taskId": record.task_id,
        "sessionId": story.session_id,
        "createdAt": record.created_at,
        "createdBy": record.created_by,
        "startedAt": story.started_at.map(Time::from_millis),
        "endedAt": story.ended_at.map(Time::from_millis),
        "stopReason": story.stop_reason,
        "error": story.error,
        "warnings": story.warnings,
        "cancelledBy": story.cancelled_by,
        "resumed": story.resumed,
        "spent": story.spent,
        "limits": record.limits,
        "session": record.session,
        "keep": record.keep.map(|seconds| json!({"idleSeconds": seconds})),
        "waiting": story.waiting(),
    })
}

/// With all of its prompt, those that followed, and what the agent answered last.
pub(super) async fn whole(fleet: &Fleet, run: &Arc<Run>) -> Value {
    let mut view = view(fleet, run);
    let prompts = prompts(run).await;
    let answers = prompts.iter().rev().filter_map(|one| one.get("answer"));
    let answer = answers.into_iter().find(|answer| !answer.is_null());
    let answer = answer.cloned().unwrap_or_default();
    let reading = Arc::clone(run);
    let text = tokio::task::spawn_blocking(move || reading.prompt()).await;
    if let Some(fields) = view.as_object_mut() {
        if let Ok(text) = text {
            fields.insert("prompt".to_owned(), text.into());
        }
        fields.insert("answer".to_owned(), answer);
        fields.insert("prompts".to_owned(), prompts.into());
    }
    view
}

/// What its session was asked and answered.
pub(super) async fn prompts(run: &Arc<Run>) -> Vec<Value> {
    let reading = Arc::clone(run);
    let prompts = tokio::task::spawn_blocking(move || reading.prompts()).await;
    let prompts = prompts.unwrap_or_default().into_iter();
    let prompts = prompts.map(|one| {
        let mut view = prompt(&one.prompt);
        if let Some(fields) = view.as_object_mut() {
            fields.insert("prompt".to_owned(), one.text.into());
            fields.insert("by".to_owned(), one.by.into());
            // The words of the agent, and null where it said none.
            fields.insert("answer".to_owned(), one.answer.into());
        }
        view
    });
    prompts.collect()
}

pub(super) fn prompt(prompt: &Prompt) -> Value {
    json!({
        "promptId": prompt.prompt_id,
        "number": prompt.number,
        "state": prompt.state,
        "startedAt": prompt.started_at.map(Time::from_millis),
        "endedAt": prompt.ended_at.map(Time::from_millis),
        "stopReason": prompt.stop_reason,
        "error": prompt.error,
        "cancelledBy": prompt.cancelled_by,
    })
}
