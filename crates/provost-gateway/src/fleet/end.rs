//! The end of a run whose runner did not tell it, or not everybody: because it was lost, or never was. Whoever
//! receives its reports would wait for ever, so another runner is started that tells them and does nothing else.

use std::{io, sync::Arc};

use serde_json::{Map, Value, json};
use tokio::{process::Child, task::spawn_blocking};

use super::{
    Fleet,
    process::{self, Task},
    run::Run,
};

#[derive(Debug)]
pub(super) struct End {
    state: &'static str,
    reason: &'static str,
    message: String,
}

impl End {
    pub(super) fn failed(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            state: "failed",
            reason,
            message: message.into(),
        }
    }

    pub(super) fn cancelled(by: &str) -> Self {
        Self {
            state: "cancelled",
            reason: "cancelled",
            message: format!("cancelled by {by}"),
        }
    }

    pub(super) fn event(&self) -> Value {
        json!({"ended": {"state": self.state, "reason": self.reason, "message": self.message}})
    }
}

impl Fleet {
    /// Reports that it is over, where somebody receives reports, and then notes it: a gateway that goes down between
    /// the two does both again. `false`: it does so now.
    pub(super) async fn end(self: &Arc<Self>, run: &Arc<Run>, end: End) -> bool {
        let (fleet, ending) = (Arc::clone(self), Arc::clone(run));
        let (reason, message) = (end.reason, end.message.clone());
        let teller = spawn_blocking(move || fleet.start_teller(&ending, reason, &message)).await;
        match teller.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(Some(mut child)) => tokio::select! {
                _ = child.wait() => {}
                // The teller goes on, and the gateway that comes looks after it.
                () = self.stopping.cancelled() => return false,
            },
            Ok(None) => {}
            Err(error) => {
                tracing::error!(%error, run.id = %run.record.id, "nobody is told that a run is over");
            }
        }
        let (noting, now) = (Arc::clone(run), self.gate.now());
        let noted = spawn_blocking(move || noting.note(now, &end.event())).await;
        if let Err(error) = noted {
            tracing::error!(%error, "the end of a run could not be noted");
        }
        true
    }

    /// `None`: nobody waits to be told.
    fn start_teller(&self, run: &Run, reason: &str, message: &str) -> io::Result<Option<Child>> {
        let Some(mut request) = run.receiver() else {
            return Ok(None);
        };
        let story = run.story();
        let Some(open) = story.prompts.iter().find(|prompt| !prompt.state.is_end()) else {
            return Ok(None);
        };
        let record = &run.record;
        let keep = record.keep.map(|seconds| {
            json!({"promptsDir": run.folder.inbox().folder(), "taken": open.number, "idleSeconds": seconds})
        });
        let ours = json!({
            "runId": record.id, "taskId": record.task_id.as_deref().unwrap_or(&record.id),
            "sandboxId": "gateway", "promptId": open.prompt_id, "spoolDir": run.folder.spool(),
        });
        if let Value::Object(ours) = ours {
            request.extend(ours);
        }
        request.extend(keep.map(|keep| ("keep".to_owned(), keep)));
        run.folder.write("run.json", &Value::Object(request))?;
        self.launch(run, true, &Task::Over { reason, message })
            .map(Some)
    }

    /// Has the reports sent that its runner left on disk. `false`: the gateway goes, and the next one looks again.
    pub(super) async fn send_left(self: &Arc<Self>, run: &Arc<Run>) -> bool {
        let (fleet, sending) = (Arc::clone(self), Arc::clone(run));
        let sender = spawn_blocking(move || fleet.start_sender(&sending)).await;
        let sender = sender.unwrap_or_else(|error| Err(io::Error::other(error)));
        match sender {
            Ok(Some(mut child)) => {
                tokio::select! {
                    _ = child.wait() => {}
                    () = self.stopping.cancelled() => return false,
                }
                self.look(run).await;
                true
            }
            Ok(None) => true,
            Err(error) => {
                tracing::error!(%error, run.id = %run.record.id, "the reports that a run left are not sent");
                true
            }
        }
    }

    /// `None`: nothing is left.
    fn start_sender(&self, run: &Run) -> io::Result<Option<Child>> {
        let Some(mut request) = run.receiver().filter(|_| run.has_left_reports()) else {
            return Ok(None);
        };
        let record = &run.record;
        let ours = json!({
            "runId": record.id, "taskId": record.task_id.as_deref().unwrap_or(&record.id),
            "sandboxId": "gateway", "promptId": record.id, "spoolDir": run.folder.spool(),
        });
        if let Value::Object(ours) = ours {
            request.extend(ours);
        }
        run.folder.write("run.json", &Value::Object(request))?;
        self.launch(run, true, &Task::Reports).map(Some)
    }

    pub(super) fn launch(&self, run: &Run, calls_back: bool, task: &Task<'_>) -> io::Result<Child> {
        process::launch(
            &self.launcher,
            &run.record.id,
            &run.folder,
            calls_back,
            task,
        )
    }
}

impl Run {
    /// Whether its runner was lost before it had sent all that it had to tell. Reads the folder.
    pub(super) fn has_left_reports(&self) -> bool {
        !self.story().reported && self.folder.has_spooled()
    }

    /// Its request, if that names somebody who receives reports. Reads a file.
    pub(super) fn receiver(&self) -> Option<Map<String, Value>> {
        let request: Option<Map<String, Value>> = self.folder.read("request.json");
        request.filter(|request| request.contains_key("callbackUrl"))
    }
}
