//! The agent, who asks, and the supervisor, a program that decides what it is sure of and hands the
//! rest to people. Each has its own key; neither could do the other's part.

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    client::{Client, ClientError, Target},
    commands::view::{items, text},
};

pub(super) const AGENT: &str = "demo-agent";
pub(super) const SUPERVISOR: &str = "demo-bot";

/// What the agent was answered.
pub(super) enum Told {
    Done(Value),
    No(Value),
}

/// The agent calls a tool, and waits for as long as it takes.
pub(super) async fn call(agent: &Client, tool: &str, params: &Value) -> Result<Told, ClientError> {
    match agent
        .post(Target::new("/tool").step(tool), &json!({"params": params}))
        .await
    {
        Ok(answer) => Ok(Told::Done(answer.body)),
        Err(ClientError::Refused(refusal)) => Ok(Told::No(refusal.body)),
        Err(error) => Err(error),
    }
}

pub(super) struct Supervisor(JoinHandle<()>);

impl Supervisor {
    pub(super) fn start(client: Client) -> Self {
        Self(tokio::spawn(async move {
            // Ends when the gateway does.
            while supervise(&client).await.is_ok() {}
        }))
    }

    pub(super) fn stop(&self) {
        self.0.abort();
    }
}

/// Waits for something to judge, and judges it.
async fn supervise(client: &Client) -> Result<(), ClientError> {
    let target = Target::new("/approvals")
        .query("status", "pending")
        .query("wait", "30s");
    let pending = client.get(target).await?.body;
    for approval in items(&pending) {
        let (verb, opinion) = judge(approval);
        let target = Target::new("/approvals")
            .step(text(approval, "id"))
            .step(verb);
        match client.post(target, &opinion).await {
            // Somebody else was quicker.
            Ok(_) | Err(ClientError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn judge(approval: &Value) -> (&'static str, Value) {
    let path = approval
        .pointer("/params/path")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let inside = path.starts_with("/srv/project/") && !path.contains("..");
    if inside {
        (
            "approve",
            json!({"reasoning": "a file of the project, nothing special", "confidence": 0.97}),
        )
    } else {
        (
            "escalate",
            json!({"reasoning": "outside the project: a person should look at this", "confidence": 0.4}),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_supervisor_decides_only_what_it_is_sure_of() {
        for (path, verb) in [
            ("/srv/project/a.txt", "approve"),
            ("/srv/project/../../etc/passwd", "escalate"),
            ("/etc/cron.d/job", "escalate"),
        ] {
            assert_eq!(judge(&json!({"params": {"path": path}})).0, verb, "{path}");
        }
        assert_eq!(judge(&json!({})).0, "escalate");
    }
}
