//! A run as callers see it.

use std::sync::Arc;

use provost_core::time::Time;
use serde_json::{Value, json};

use crate::fleet::{Fleet, Run};

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
        "cancelledBy": story.cancelled_by,
        "resumed": story.resumed,
        "spent": story.spent,
        "limits": record.limits,
    })
}

/// With all of its prompt.
pub(super) fn whole(fleet: &Fleet, run: &Arc<Run>) -> Value {
    let mut view = view(fleet, run);
    if let Some(fields) = view.as_object_mut() {
        fields.insert("prompt".to_owned(), run.prompt().into());
    }
    view
}
