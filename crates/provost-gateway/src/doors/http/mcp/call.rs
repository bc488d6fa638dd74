//! `tools/call`.

use std::sync::Arc;

use provost_core::{
    call::{Call, NOT_EXACT, is_exact},
    gate::{End, Executed},
    ports::Backend,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    acts::{Act, Passed, pass},
    exchange::Exchange,
    message::{Fault, read_params},
    progress::Progress,
    virtual_tools, waiting, words,
};
use crate::access::Caller;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    name: String,
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
    input_responses: Option<Map<String, Value>>,
    request_state: Option<String>,
}

pub(super) async fn call(exchange: &Exchange, params: Map<String, Value>) -> Result<Value, Fault> {
    let mut params: Params = read_params(params)?;
    let arguments = params.arguments.take().unwrap_or_default();
    if let Some(tool) = virtual_tools::find(&params.name, &exchange.caller) {
        return Ok(tool.run(exchange, arguments).await);
    }
    let Caller::Agent(agent) = &exchange.caller else {
        return Err(unknown(&params.name));
    };
    if !arguments.values().all(is_exact) {
        return Err(Fault::params(format!("{NOT_EXACT}: send it as text")));
    }
    // A dispatcher's call is judged, and recorded, as the command it runs.
    let backends = &exchange.app.backends;
    let tool: Arc<str> = (*backends.judged_name(&params.name, &arguments)).into();
    let backend = find(exchange, &tool).ok_or_else(|| unknown(&params.name))?;
    let call = Call {
        agent: agent.clone(),
        session: exchange.session.clone(),
        tool: tool.clone(),
        params: arguments,
    };
    if let Some(state) = &params.request_state {
        let ours = waiting::is_ours(exchange, state, &call).await;
        match ours.map_err(Into::into) {
            Ok(true) => {}
            Ok(false) => return Err(stale()),
            Err(error) => return Ok(failure(&words::undecided(&error, &tool))),
        }
    }
    let act = Act {
        call,
        backend,
        progress: Progress::new(params.meta.as_ref(), exchange.out.as_ref()),
        chosen: waiting::chosen_before(params.input_responses.as_ref()),
    };
    Ok(match pass(exchange, act).await {
        Ok(Passed::Ran { executed, changed }) => {
            let note = changed.as_ref().map(words::changed);
            noted(ran(&executed), note)
        }
        Ok(Passed::Refused(refusal)) => failure(&words::refusal(&refusal, &tool)),
        Ok(Passed::Left(approval)) => failure(&words::left(&approval)),
        Ok(Passed::InputRequired(approval)) => waiting::input_required(&approval),
        Err(error) => failure(&words::undecided(&error, &tool)),
    })
}

fn find(exchange: &Exchange, tool: &str) -> Option<Arc<dyn Backend>> {
    exchange.app.backends.find(tool)
}

fn unknown(tool: &str) -> Fault {
    Fault::params(format!("unknown tool `{tool}`"))
}

fn stale() -> Fault {
    Fault::params("`requestState` is not of this call: make the call again without it")
}

/// What a backend that knows no MCP answered.
fn ran(executed: &Executed) -> Value {
    match &executed.end {
        End::Answered {
            status_code,
            result,
            error,
        } => {
            let text = match serde_json::from_str(result.get()) {
                Ok(Value::String(text)) => text,
                _ => result.get().to_owned(),
            };
            match error {
                Some(error) => failure(&format!("{error}\n{text}")),
                None if *status_code >= 400 => failure(&text),
                None => success(&text),
            }
        }
        End::Permitted { .. } => success(""),
        End::BadArguments(message) => failure(&format!("The arguments do not fit: {message}")),
        End::Failed(message) => failure(&format!("The tool failed: {message}")),
    }
}

fn noted(mut result: Value, note: Option<String>) -> Value {
    let content = result.get_mut("content").and_then(Value::as_array_mut);
    if let (Some(note), Some(content)) = (note, content) {
        content.push(text(&note));
    }
    result
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(super) fn success(said: &str) -> Value {
    json!({"content": [text(said)], "isError": false})
}

pub(super) fn failure(said: &str) -> Value {
    json!({"content": [text(said)], "isError": true})
}
