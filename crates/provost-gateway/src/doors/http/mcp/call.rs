//! `tools/call`.

use std::sync::Arc;

use async_trait::async_trait;
use provost_core::{
    call::{Call, NOT_EXACT, is_exact, is_name},
    gate::{End, Executed, Permit},
    ports::{Backend, ForwardError, Forwarded, ToolInfo},
    trace::Answer,
};
use rmcp::model::ProgressNotificationParam;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    acts::{Act, Passed, pass},
    exchange::Exchange,
    message::{Fault, read_params},
    progress::Progress,
    virtual_tools, waiting, words,
};
use crate::{
    access::Caller,
    backends::mcp::{CallLine, Upstream},
    doors::http::calls::no_such_tool,
};

/// More than that at once, and some are missed.
const MOST_PROGRESS: usize = 64;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    name: String,
    arguments: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
    input_responses: Option<Map<String, Value>>,
    request_state: Option<Value>,
}

pub(super) async fn call(exchange: &Exchange, params: Map<String, Value>) -> Result<Value, Fault> {
    let mut params: Params = read_params(params)?;
    // What is no object fits no tool, and is recorded as every other misfit.
    let (mut arguments, shapeless) = match params.arguments.take() {
        None => (Map::new(), None),
        Some(Value::Object(arguments)) => (arguments, None),
        Some(_) => (Map::new(), Some("the arguments are no object")),
    };
    if let Some(tool) = virtual_tools::find(&params.name) {
        return match shapeless {
            Some(why) => Err(Fault::params(why)),
            None => Ok(tool.run(exchange, arguments).await),
        };
    }
    let Caller::Agent(agent) = &exchange.caller else {
        return Err(unknown(&params.name));
    };
    if !arguments.values().all(is_exact) {
        return Err(Fault::params(format!("{NOT_EXACT}: send it as text")));
    }
    let backends = &exchange.app.backends;
    if backends.find(&params.name).is_none() {
        // Its server may be starting.
        exchange.app.mcp.settled().await;
    }
    // A dispatcher's call is judged, and recorded, as the command it runs.
    let tool: Arc<str> = (*backends.judged(&params.name, &mut arguments)).into();
    let (heard, runner) = runner(exchange, &tool, params.meta.as_ref());
    let (backend, speaks_mcp) = match runner {
        Some(runner) => (Some(runner.backend), runner.speaks_mcp),
        None => match held(exchange, &tool) {
            Some(held) => return Ok(held),
            None if is_name(&tool) => (None, false),
            None => return Err(unknown(&tool)),
        },
    };
    let misfit = match &backend {
        None => Some(no_such_tool(&tool).into()),
        Some(_) => shapeless.map(Into::into),
    };
    let misfit = misfit.or_else(|| backends.misfit(&tool, &mut arguments));
    let call = Call {
        agent: agent.clone(),
        session: exchange.session.clone(),
        tool: tool.clone(),
        params: arguments,
    };
    waiting::check(exchange, params.request_state.as_ref(), &call).await?;
    let act = Act {
        call,
        backend,
        misfit,
        progress: Progress::new(params.meta.as_ref(), exchange.out.as_ref()),
        heard,
        chosen: waiting::chosen_before(params.input_responses.as_ref()),
    };
    Ok(match pass(exchange, act).await {
        Ok(Passed::Ran { executed, changed }) => {
            let note = changed.as_ref().map(words::changed);
            noted(ran(&executed, speaks_mcp), note)
        }
        Ok(Passed::Refused(refusal)) if refusal.answer == Answer::Invalid => {
            let trace = json!({"trace_id": refusal.trace_id});
            return Err(Fault::params(&*refusal.reason).with(trace));
        }
        Ok(Passed::Refused(refusal)) => failure(&words::refusal(&refusal, &tool)),
        Ok(Passed::Left(approval)) => failure(&words::left(&approval)),
        Ok(Passed::InputRequired(approval)) => waiting::input_required(&approval),
        Err(error) => failure(&words::undecided(&error, &tool)),
    })
}

/// What executes a tool.
struct Runner {
    backend: Arc<dyn Backend>,
    /// Its results are those of MCP.
    speaks_mcp: bool,
}

type Progresses = Option<mpsc::Receiver<ProgressNotificationParam>>;

fn runner(
    exchange: &Exchange,
    tool: &str,
    meta: Option<&Map<String, Value>>,
) -> (Progresses, Option<Runner>) {
    let Some(backend) = exchange.app.backends.find(tool) else {
        return (None, None);
    };
    let Some(upstream) = exchange.app.backends.upstream(tool) else {
        let speaks_mcp = false;
        return (
            None,
            Some(Runner {
                backend,
                speaks_mcp,
            }),
        );
    };
    let wanted = meta.is_some_and(|meta| meta.contains_key("progressToken"));
    let (told, heard) = mpsc::channel(MOST_PROGRESS);
    let line = Line {
        upstream: upstream.clone(),
        progress: wanted.then_some(told),
        cancelled: exchange.cancelled.clone(),
        meta: meta.cloned(),
    };
    let runner = Runner {
        backend: Arc::new(line),
        speaks_mcp: true,
    };
    (wanted.then_some(heard), Some(runner))
}

/// A tool that changed is there, and still not to be had.
fn held(exchange: &Exchange, tool: &str) -> Option<Value> {
    let upstream = exchange.app.backends.upstream(tool)?;
    let (_, name) = tool.split_once('.')?;
    upstream.is_held(name).then(|| {
        let why = upstream.held_back(name);
        failure(&format!(
            "Not run: {why} until a person accepts it. Go on without it, and tell the person you work for: \
             `provost mcp trust {}` shows what changed.",
            upstream.name()
        ))
    })
}

/// A call's way to an upstream server and back.
struct Line {
    upstream: Arc<Upstream>,
    progress: Option<mpsc::Sender<ProgressNotificationParam>>,
    cancelled: CancellationToken,
    meta: Option<Map<String, Value>>,
}

#[async_trait]
impl Backend for Line {
    fn tools(&self) -> Vec<ToolInfo> {
        self.upstream.tools()
    }

    fn has(&self, tool: &str) -> bool {
        self.upstream.has(tool)
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        let line = CallLine {
            progress: self.progress.clone(),
            cancelled: self.cancelled.clone(),
            meta: self.meta.clone(),
        };
        self.upstream.call(permit, line).await
    }
}

fn unknown(tool: &str) -> Fault {
    Fault::params(no_such_tool(tool))
}

/// What a server of MCP answered, as it is; what another backend answered, as text.
fn ran(executed: &Executed, speaks_mcp: bool) -> Value {
    match &executed.end {
        End::Answered { result, .. } if speaks_mcp => serde_json::from_str(result.get())
            .unwrap_or_else(|_| failure("The tool's answer cannot be read.")),
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
