//! What the agent asks of us: permission, files, terminals. Each is a task; none holds up the reading.

use std::sync::Arc;

use serde_json::{Value, json, value::RawValue};

use super::Run;
use crate::{
    acp::{self, RpcError},
    permission::{Judgement, Permission, cancelled},
};

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

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
}

impl Run {
    pub(super) fn requested(
        &mut self,
        id: Box<RawValue>,
        method: &str,
        params: Option<Box<RawValue>>,
    ) {
        let Some(params) = params else {
            return self.refuse(&id, RpcError::new(INVALID_PARAMS, "`params` is missing"));
        };
        match method {
            "session/request_permission" => self.permission(id, params),
            _ if method.starts_with("fs/") || method.starts_with("terminal/") => {
                self.serve(id, method.to_owned(), params);
            }
            _ => {
                let error = RpcError::new(METHOD_NOT_FOUND, format!("`{method}` is not served"));
                self.refuse(&id, error);
            }
        }
    }

    fn permission(&mut self, id: Box<RawValue>, params: Box<RawValue>) {
        self.asked += 1;
        let name = format!(
            "{}:permission:{}",
            self.config.identity.prompt_id, self.asked
        );
        let permission = match Permission::read(name, params) {
            Ok(permission) => Arc::new(permission),
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
        let result = match (answered, &open.permission) {
            (Answered::Judged(judgement), Some(permission)) => {
                let (answer, outcome) = permission.answer(&judgement.wish);
                self.journal.decision(&json!({
                    "permissionId": permission.id, "title": permission.title, "outcome": outcome,
                    "by": judgement.by, "reason": judgement.reason,
                }));
                self.reporter.permission_settled(&permission.id, outcome);
                Ok(answer)
            }
            (Answered::Served(result), _) => result,
            (Answered::Judged(_), None) => Ok(Value::Null),
        };
        self.say(acp::response(&open.id, &result));
    }

    /// Answers everything that is open, because the turn is over: a cancelled prompt leaves no question.
    pub(super) fn drop_questions(&mut self) {
        for (_, open) in std::mem::take(&mut self.open) {
            open.abort.abort();
            let result = match &open.permission {
                Some(permission) => {
                    self.reporter
                        .permission_settled(&permission.id, "cancelled");
                    Ok(cancelled())
                }
                None => Err(RpcError::new(-32800, "the prompt was cancelled")),
            };
            self.say(acp::response(&open.id, &result));
        }
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
            self.refuse(&open.id, RpcError::new(-32800, "taken back"));
        }
        self.rest();
    }

    fn refuse(&self, id: &RawValue, error: RpcError) {
        self.say(acp::response(id, &Err(error)));
    }
}
