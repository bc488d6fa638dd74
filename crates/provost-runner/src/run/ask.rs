//! What the agent asks of us: permission, files, terminals. Each is a task; none holds up the reading.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json, value::RawValue};
use tokio::time::timeout;

use super::Run;
use crate::{
    acp::{self, RpcError},
    permission::{Judgement, Permission, Wish, cancelled},
};

/// A form, or a page to open.
const ELICITATION: &str = "elicitation/create";
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
/// The end of a turn does not wait for longer.
const WITHDRAWS: Duration = Duration::from_millis(500);
/// The protocol's, for a request that was cancelled.
const CANCELLED: i64 = -32800;

/// A request of the agent that is being answered.
pub(crate) struct Open {
    id: Box<RawValue>,
    /// Where it is a question of permission: which.
    pub(super) permission: Option<Arc<Permission>>,
    abort: tokio::task::AbortHandle,
}

pub(crate) enum Answered {
    Judged(Judgement),
    Served(Result<Value, RpcError>),
    /// Whoever looked for the answer broke.
    Broken,
}

impl Run {
    pub(super) fn requested(
        &mut self,
        id: Box<RawValue>,
        method: &str,
        params: Option<Box<RawValue>>,
    ) {
        if self.turn_over {
            return self.dismiss(&id, method, params);
        }
        let Some(params) = params else {
            return self.refuse(&id, RpcError::new(INVALID_PARAMS, "`params` is missing"));
        };
        match method {
            "session/request_permission" => self.permission(id, params),
            ELICITATION => self.decline(&id, &params),
            _ if method.starts_with("fs/") || method.starts_with("terminal/") => {
                self.serve(id, method.to_owned(), params);
            }
            _ => {
                let error = RpcError::new(METHOD_NOT_FOUND, format!("`{method}` is not served"));
                self.refuse(&id, error);
            }
        }
    }

    /// The turn is over, for its questions as well.
    fn dismiss(&self, id: &RawValue, method: &str, params: Option<Box<RawValue>>) {
        let result = match method {
            "session/request_permission" => {
                let asked = params.and_then(|raw| Permission::read(String::new(), raw).ok());
                if let Some(call) = asked.and_then(|asked| asked.tool_call) {
                    self.watched().rejected(&call);
                }
                Ok(cancelled())
            }
            ELICITATION => Ok(json!({"action": "cancel"})),
            _ => Err(over()),
        };
        self.say(acp::response(id, &result));
    }

    /// The agent asks for words, and nobody is there to write them.
    fn decline(&mut self, id: &RawValue, params: &RawValue) {
        self.asked += 1;
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let prompt = &self.config.identity.prompt_id;
        self.journal.decision(&json!({
            "elicitationId": format!("{prompt}:elicitation:{}", self.asked),
            "title": params.get("message"), "outcome": "declined", "by": "runner",
            "reason": "nobody can fill in a form or open a page in an unattended run",
        }));
        self.say(acp::response(id, &Ok(json!({"action": "decline"}))));
    }

    fn permission(&mut self, id: Box<RawValue>, params: Box<RawValue>) {
        self.asked += 1;
        self.answer.interrupt();
        let name = format!(
            "{}:permission:{}",
            self.config.identity.prompt_id, self.asked
        );
        let permission = match Permission::read(name, params) {
            // In whose name it is asked is not the agent's to say: what is granted is granted to a session.
            Ok(permission) => Arc::new(Permission {
                session: self.session.clone(),
                told: self.acts.with_kind(self.calls.completed(&permission.told)),
                ..permission
            }),
            Err(problem) => {
                let error = RpcError::new(INVALID_PARAMS, format!("cannot be read: {problem}"));
                return self.refuse(&id, error);
            }
        };
        let asked = self.judge.asked(&permission);
        let announced = self.judge.announces();
        self.reporter
            .permission_pending(&permission.id, &permission.raw, announced);
        let within = self.config.permissions.timeout;
        let about = Arc::clone(&permission);
        let abort = self
            .tasks
            .spawn(async move { Answered::Judged(asked.decided(&about, within).await) });
        self.wait_for(id, Some(permission), abort);
        self.rest();
    }

    fn serve(&mut self, id: Box<RawValue>, method: String, params: Box<RawValue>) {
        let workspace = Arc::clone(&self.workspace);
        let abort = self
            .tasks
            .spawn(async move { Answered::Served(workspace.serve(&method, &params).await) });
        self.wait_for(id, None, abort);
    }

    fn wait_for(
        &mut self,
        id: Box<RawValue>,
        permission: Option<Arc<Permission>>,
        abort: tokio::task::AbortHandle,
    ) {
        let open = Open {
            id,
            permission,
            abort,
        };
        self.open.insert(open.abort.id(), open);
    }

    pub(super) fn settle(&mut self, open: &Open, answered: Answered) {
        let answered = match (answered, &open.permission) {
            (Answered::Broken, Some(_)) => {
                let reason = "the decision could not be made";
                Answered::Judged(Judgement::new(Wish::Reject, "runner", reason))
            }
            (answered, _) => answered,
        };
        let result = match (answered, &open.permission) {
            (Answered::Judged(judgement), Some(permission)) => {
                let (answer, outcome) = permission.answer(&judgement.wish);
                self.acts.note_decider(judgement.by);
                let allowed = outcome == "allowed";
                match &permission.tool_call {
                    Some(call) if allowed => self.watched().allowed(call, &permission.told),
                    Some(call) => self.watched().rejected(call),
                    None => {}
                }
                if allowed {
                    self.acts.release(permission);
                }
                self.journal.decision(&json!({
                    "permissionId": permission.id, "title": permission.title, "outcome": outcome,
                    "by": judgement.by, "reason": judgement.reason,
                }));
                self.reporter.permission_settled(&permission.id, outcome);
                Ok(answer)
            }
            (Answered::Served(result), _) => {
                let terminal = result
                    .as_ref()
                    .ok()
                    .and_then(|answer| answer.get("terminalId"));
                if let Some(id) = terminal.and_then(Value::as_str) {
                    self.watched().opened(id);
                }
                result
            }
            (Answered::Judged(_) | Answered::Broken, _) => {
                Err(RpcError::new(INTERNAL, "this could not be done"))
            }
        };
        self.say(acp::response(&open.id, &result));
    }

    /// Answers everything that is open, because the turn is over: a cancelled prompt leaves no question.
    pub(super) async fn give_up_questions(&mut self) {
        let asked = self.open.values().any(|open| open.permission.is_some());
        let asked = asked || *self.acts_open.borrow() > 0;
        let asked = self.acts.take_timed_out() || asked;
        self.drop_questions();
        // Whoever looked for an answer has something to tidy up.
        while self.tasks.join_next().await.is_some() {}
        if asked {
            self.withdraw_questions().await;
        }
    }

    /// Whoever answered now would answer a later turn that asks the same.
    async fn withdraw_questions(&self) {
        let (Some(gateway), Some(session)) = (&self.gateway, &self.session) else {
            return;
        };
        let withdrawn = timeout(WITHDRAWS, gateway.withdraw(session)).await;
        let problem = match withdrawn {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it takes too long".to_owned(),
        };
        self.journal.warning(&format!(
            "what was asked in this turn stays in the inbox: {problem}"
        ));
    }

    fn drop_questions(&mut self) {
        self.acts.forget_released();
        for (_, open) in std::mem::take(&mut self.open) {
            open.abort.abort();
            let result = match &open.permission {
                Some(permission) => {
                    if let Some(call) = &permission.tool_call {
                        self.watched().rejected(call);
                    }
                    self.journal.decision(&json!({
                        "permissionId": permission.id, "title": permission.title, "outcome": "cancelled",
                        "by": "runner", "reason": "the turn is over",
                    }));
                    self.reporter
                        .permission_settled(&permission.id, "cancelled");
                    Ok(cancelled())
                }
                None => Err(over()),
            };
            self.say(acp::response(&open.id, &result));
        }
        self.rest();
    }

    /// The agent takes a request back.
    pub(super) fn cancel_asked(&mut self, params: Option<&RawValue>) {
        let params: Option<Value> = params.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(named) = params.as_ref().and_then(|params| params.get("requestId")) else {
            return;
        };
        let same =
            |open: &Open| serde_json::from_str::<Value>(open.id.get()).is_ok_and(|id| id == *named);
        let found = self.open.iter().find(|(_, open)| same(open));
        let Some(task) = found.map(|(task, _)| *task) else {
            return;
        };
        if let Some(open) = self.open.remove(&task) {
            open.abort.abort();
            if let Some(permission) = &open.permission {
                self.reporter
                    .permission_settled(&permission.id, "withdrawn");
            }
            self.refuse(&open.id, RpcError::new(CANCELLED, "taken back"));
        }
        self.rest();
    }

    fn refuse(&self, id: &RawValue, error: RpcError) {
        self.say(acp::response(id, &Err(error)));
    }
}

fn over() -> RpcError {
    RpcError::new(CANCELLED, "the prompt was cancelled")
}
