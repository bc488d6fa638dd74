//! What the agent has the client do for it is asked about like what it does itself.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use serde_json::{Map, Value, json, value::to_raw_value};

use tokio::sync::watch;

use super::{
    Judge, Permission, TIMED_OUT,
    released::{Released, kind_of},
};
use crate::{
    journal::Journal,
    report::Reporter,
    workspace::{Act, Gate, Old},
};

pub struct ActGate {
    judge: Arc<Judge>,
    asking: Mutex<Asking>,
    within: std::time::Duration,
    asked: AtomicU64,
    session: Mutex<String>,
    journal: Arc<Journal>,
    open: watch::Sender<usize>,
    /// Where the agent works.
    repo: PathBuf,
    released: Mutex<Released>,
    /// A question of this turn was not answered in time. Whoever is asked may not know that yet.
    timed_out: AtomicBool,
}

/// In whose name it is asked.
#[derive(Clone)]
struct Asking {
    reporter: Reporter,
    prompt: String,
}

/// A question that is open. One that is given up is settled, too.
struct Pending<'a> {
    gate: &'a ActGate,
    /// Of the prompt that it was asked in.
    reporter: Reporter,
    permission: &'a Permission,
    outcome: &'static str,
    by: &'static str,
}

impl ActGate {
    pub fn new(
        judge: Arc<Judge>,
        reporter: Reporter,
        within: std::time::Duration,
        prompt: &str,
        journal: Arc<Journal>,
        repo: &Path,
    ) -> Self {
        Self {
            judge,
            // As the run's own questions: what an earlier process asked is not asked again.
            asked: AtomicU64::new(reporter.counts().last_sequence),
            asking: Mutex::new(Asking {
                reporter,
                prompt: prompt.to_owned(),
            }),
            within,
            session: Mutex::default(),
            journal,
            open: watch::Sender::default(),
            repo: repo.to_owned(),
            released: Mutex::default(),
            timed_out: AtomicBool::new(false),
        }
    }

    /// How many questions are open.
    pub fn open(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    pub fn session(&self, id: &str) {
        id.clone_into(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What is asked from now on is asked in another prompt.
    pub fn prompt(&self, id: &str, reporter: Reporter) {
        *self.asking.lock().unwrap_or_else(PoisonError::into_inner) = Asking {
            reporter,
            prompt: id.to_owned(),
        };
    }

    fn asking(&self) -> Asking {
        let asking = self.asking.lock();
        asking.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The call as it is decided: what it would release has its own kind, so that policy for commands decides
    /// about every command.
    pub fn with_kind(&self, mut tool_call: Map<String, Value>) -> Map<String, Value> {
        if let Some(kind) = kind_of(&tool_call, &self.repo) {
            tool_call.insert("kind".to_owned(), kind.into());
        }
        tool_call
    }

    /// A permission was given: if the agent has us do the same, it was asked about.
    pub fn release(&self, permission: &Permission) {
        self.released().allow(&permission.told, &self.repo);
    }

    /// Somebody decided, or nobody did in time.
    pub fn note_decider(&self, by: &str) {
        self.timed_out.fetch_or(by == TIMED_OUT, Ordering::Relaxed);
    }

    /// Whether a question was not answered in time, since this was last asked.
    pub fn take_timed_out(&self) -> bool {
        self.timed_out.swap(false, Ordering::Relaxed)
    }

    /// The turn is over: what was allowed in it and not done is not allowed any more.
    pub fn forget_released(&self) {
        *self.released() = Released::default();
    }

    fn released(&self) -> MutexGuard<'_, Released> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permission(&self, tool_call: Value) -> Result<Permission, String> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("{}:act:{number}", self.asking().prompt);
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = json!({
            "sessionId": *session,
            "toolCall": tool_call,
            "options": [
                {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
            ],
        });
        let raw = to_raw_value(&asked).map_err(|error| error.to_string())?;
        Permission::read(id, raw)
    }
}

#[async_trait]
impl Gate for ActGate {
    async fn may(&self, act: Act) -> Result<(), String> {
        if self.released().take(&act) {
            let what = described(act).and_then(|call| call.get("title").cloned());
            let reason = "allowed when the agent asked for permission";
            self.journal.decision(&json!({
                "title": what, "outcome": "allowed", "by": "permission", "reason": reason,
            }));
            return Ok(());
        }
        // Everything in its repository is the agent's to read.
        let Some(tool_call) = described(act) else {
            return Ok(());
        };
        if matches!(*self.judge, Judge::Auto) {
            return Ok(());
        }
        let permission = self.permission(tool_call)?;
        let asked = self.judge.asked(&permission);
        let mut pending = Pending::new(self, &permission);
        let judgement = asked.decided(&permission, self.within).await;
        pending.outcome = permission.answer(&judgement.wish).1;
        pending.by = judgement.by;
        self.note_decider(judgement.by);
        match pending.outcome {
            "allowed" => Ok(()),
            _ => Err(judgement.reason),
        }
    }
}

impl<'a> Pending<'a> {
    fn new(gate: &'a ActGate, permission: &'a Permission) -> Self {
        let announced = gate.judge.announces();
        let reporter = gate.asking().reporter;
        reporter.permission_pending(&permission.id, &permission.raw, announced);
        gate.open.send_modify(|open| *open += 1);
        Self {
            gate,
            reporter,
            permission,
            outcome: "cancelled",
            by: "runner",
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let (id, outcome) = (&self.permission.id, self.outcome);
        self.gate.journal.decision(&json!({
            "permissionId": id, "title": self.permission.title, "outcome": outcome, "by": self.by,
        }));
        self.reporter.permission_settled(id, outcome);
        self.gate.open.send_modify(|open| *open -= 1);
    }
}

/// As an agent would describe it in ACP. `None` for what needs no permission.
fn described(act: Act) -> Option<Value> {
    Some(match act {
        Act::Read { .. } => return None,
        Act::Write { path, old, new } => {
            let old = match old {
                Old::Missing => Value::Null,
                Old::Text(text) => text.into(),
                Old::Opaque { bytes } => format!("({bytes} bytes that cannot be shown)").into(),
            };
            let change = json!({"type": "diff", "path": path, "oldText": old, "newText": new});
            json!({
                "toolCallId": "fs/write_text_file", "kind": "edit", "title": format!("write {}", path.display()),
                "locations": [{ "path": path }], "content": [change],
            })
        }
        Act::Run {
            command,
            args,
            cwd,
            env,
        } => {
            let mut words = vec![command.clone()];
            words.extend(args);
            // A line for a shell is a line; words are words.
            let command = match &*words {
                [line] => line.as_str().into(),
                _ => json!(words),
            };
            let env: serde_json::Map<_, _> = env
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            json!({
                "toolCallId": "terminal/create", "kind": "execute", "title": words.join(" "),
                "rawInput": {"command": command, "cwd": cwd, "env": env},
            })
        }
    })
}
