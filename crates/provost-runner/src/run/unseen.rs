//! What follows from an act that nobody decided: it is recorded, told to whoever receives the reports and to the
//! gateway, and ends the run unless the configuration lets it go on.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json, value::to_raw_value};
use tokio::time::timeout;

use super::{Run, ending::UNSUPERVISED, stop::Stop};
use crate::{config::Unsupervised, unsupervised::Unseen};

/// How long the gateway is tried.
const PATIENCE: Duration = Duration::from_secs(10);
/// An agent that does everything unasked is told of often enough.
const MOST_TOLD: usize = 20;

impl Run {
    pub(super) fn unsupervised(&mut self, unseen: &Unseen) -> Result<(), Stop> {
        if !self.config.permissions.by.is_strict() {
            return Ok(());
        }
        let act = json!({
            "toolCallId": unseen.tool_call_id, "kind": unseen.kind, "title": unseen.title, "status": unseen.status,
        });
        self.journal.event(&json!({ "unsupervised": act }));
        if let Ok(told) = to_raw_value(&act) {
            let method = "_provost/unsupervised";
            self.reporter.agent_notification(method, Some(told));
        }
        let message = format!(
            "the agent did something that nobody decided ({}): {}",
            unseen.kind, unseen.title
        );
        let ends = self.config.unsupervised == Unsupervised::End;
        self.unseen += 1;
        if self.unseen <= MOST_TOLD {
            self.tell_gateway(&act, ends);
        }
        if ends {
            return Err(Stop::Failed {
                code: UNSUPERVISED,
                message,
                data: act,
            });
        }
        if self.unseen <= MOST_TOLD {
            self.reporter.warn(&message);
            self.warnings.push(message);
        }
        Ok(())
    }

    /// People are told by the gateway, which has the ways to them.
    fn tell_gateway(&mut self, act: &Value, ends: bool) {
        let Some(gateway) = self.gateway.clone() else {
            return;
        };
        let seen: Map<String, Value> = act.as_object().cloned().unwrap_or_default();
        let told = json!({
            "sessionId": self.session, "folder": self.config.repo, "endsRun": ends,
            "toolCall": self.calls.ended(&seen),
        });
        let journal = Arc::clone(&self.journal);
        self.telling.spawn(async move {
            if let Err(error) = gateway.tell_unsupervised(&told, PATIENCE).await {
                journal.warning(&format!(
                    "the gateway could not be told of what nobody decided, so it tells nobody: {error}"
                ));
            }
        });
    }

    /// Waits until the gateway was told: once the run has ended, its key is good for nothing.
    pub(super) async fn gateway_told(&mut self) {
        let telling = async { while self.telling.join_next().await.is_some() {} };
        // Each of them gives up by itself.
        let _ = timeout(PATIENCE + PATIENCE, telling).await;
    }
}
