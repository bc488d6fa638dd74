//! Acts that are no calls of tools, through the gate and to the server: what comes back is the server's
//! answer or its error; a no is an error, because such a result has no place to say it.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use provost_core::{
    call::{Call, NOT_EXACT, is_exact},
    gate::{End, Permit},
    ports::{Backend, ForwardError, Forwarded, ToolInfo},
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    acts::{self, Act, Passed},
    exchange::Exchange,
    message::{Fault, INTERNAL, REFUSED},
    progress::Progress,
    waiting, words,
};
use crate::{
    access::Caller,
    backends::mcp::{AskError, Upstream},
};

pub(super) struct Reading {
    pub(super) server: Arc<Upstream>,
    /// What policy knows it by, after the server's name.
    pub(super) act: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    /// What it is about, for those who are told no.
    pub(super) shown: String,
}

pub(super) async fn pass(exchange: &Exchange, reading: Reading) -> Result<Value, Fault> {
    let Reading {
        server,
        mut params,
        shown,
        ..
    } = reading;
    let Caller::Agent(agent) = &exchange.caller else {
        return Err(Fault::new(REFUSED, "who decides does not act"));
    };
    let meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => Some(meta),
        _ => None,
    };
    let (responses, state) = (
        params.remove("inputResponses"),
        params.remove("requestState"),
    );
    if !params.values().all(is_exact) {
        return Err(Fault::params(NOT_EXACT));
    }
    let call = Call {
        agent: agent.clone(),
        session: exchange.session.clone(),
        tool: format!("{}.{}", server.name(), reading.act).into(),
        params,
    };
    waiting::check(exchange, state.as_ref(), &call).await?;
    let refused = Arc::new(Mutex::new(None));
    let backend = Asking {
        server,
        method: reading.method,
        meta: meta.clone(),
        cancelled: exchange.cancelled.clone(),
        refused: refused.clone(),
    };
    let act = Act {
        call,
        backend: Some(Arc::new(backend)),
        misfit: None,
        progress: Progress::new(meta.as_ref(), exchange.out.as_ref()),
        heard: None,
        chosen: waiting::chosen_before(responses.as_ref().and_then(Value::as_object)),
    };
    let told = |words: String| Err(Fault::new(REFUSED, words));
    match acts::pass(exchange, act).await {
        Ok(Passed::Ran { executed, .. }) => match executed.end {
            End::Answered { result, .. } => serde_json::from_str(result.get())
                .map_err(|_| Fault::new(INTERNAL, "the server's answer cannot be read")),
            End::Failed(why) | End::BadArguments(why) => {
                let refused = refused
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                Err(refused.unwrap_or_else(|| Fault::new(INTERNAL, why)))
            }
            End::Permitted { .. } => Ok(json!({})),
        },
        Ok(Passed::Refused(refusal)) => {
            let data = json!({"rule": refusal.rule, "reason": refusal.reason,
                "trace_id": refusal.trace_id, "approval_id": refusal.approval_id});
            Err(Fault::new(REFUSED, words::refusal(&refusal, &shown)).with(data))
        }
        Ok(Passed::Left(approval)) => told(words::left(&approval)),
        Ok(Passed::InputRequired(approval)) => Ok(waiting::input_required(&approval)),
        Err(error) => told(words::undecided(&error, &shown)),
    }
}

pub(super) fn fault(error: AskError) -> Fault {
    match error {
        AskError::Refused {
            code,
            message,
            data,
        } => {
            let fault = Fault::new(code, message);
            match data {
                Some(data) => fault.with(data),
                None => fault,
            }
        }
        AskError::Failed(error) => Fault::new(INTERNAL, error.to_string()),
    }
}

struct Asking {
    server: Arc<Upstream>,
    method: &'static str,
    meta: Option<Map<String, Value>>,
    cancelled: CancellationToken,
    /// The server's own error.
    refused: Arc<Mutex<Option<Fault>>>,
}

#[async_trait]
impl Backend for Asking {
    fn tools(&self) -> Vec<ToolInfo> {
        Vec::new()
    }

    fn has(&self, _: &str) -> bool {
        false
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        let mut params = permit.call().params.clone();
        if let Some(meta) = &self.meta {
            params.insert("_meta".into(), Value::Object(meta.clone()));
        }
        match self.server.ask(self.method, params, &self.cancelled).await {
            Ok(result) => Ok(Forwarded {
                status_code: 200,
                result,
                error: None,
            }),
            Err(AskError::Failed(error)) => Err(error),
            Err(error) => {
                let why = error.to_string();
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                *refused = Some(fault(error));
                Err(ForwardError::Failed(why))
            }
        }
    }
}
