//! Prompts of all servers, named `server.prompt`, and what completes their arguments.

use std::{collections::BTreeMap, sync::Arc};

use provost_core::{call::Call, policy::Verdict};
use serde_json::{Map, Value, json};

use super::{
    exchange::Exchange,
    message::Fault,
    pages::page,
    reading::{self, Reading},
    resources,
    servers::{Age, COMPLETE, GET, List, all},
};
use crate::{access::Caller, backends::mcp::Upstream};

pub(super) async fn list(exchange: &Exchange, params: &Map<String, Value>) -> Result<Value, Fault> {
    let age = if params.contains_key("cursor") {
        Age::Remembered
    } else {
        Age::Fresh
    };
    let mut items = BTreeMap::new();
    for (server, listed) in all(exchange, List::Prompts, age).await {
        for item in &*listed {
            let Some(name) = item.get("name").and_then(Value::as_str) else {
                continue;
            };
            let name = format!("{}.{name}", server.name());
            let mut item = item.clone();
            if let Some(item) = item.as_object_mut() {
                item.insert("name".into(), name.as_str().into());
            }
            items.insert(name, item);
        }
    }
    page("prompts", items.into_iter().collect(), params)
}

pub(super) async fn get(
    exchange: &Exchange,
    mut params: Map<String, Value>,
) -> Result<Value, Fault> {
    let name = params.get("name").and_then(Value::as_str);
    let name = name
        .ok_or_else(|| Fault::params("`name` is needed, as text"))?
        .to_owned();
    let (server, prompt) = server_of(exchange, &name).ok_or_else(|| unknown(&name))?;
    params.insert("name".into(), prompt.into());
    let reading = Reading {
        server,
        act: GET,
        method: "prompts/get",
        params,
        shown: name,
    };
    reading::pass(exchange, reading).await
}

/// Asked while somebody types: where policy does not say yes at once, nothing is offered and nobody asked.
pub(super) async fn complete(
    exchange: &Exchange,
    mut params: Map<String, Value>,
) -> Result<Value, Fault> {
    let reference = params.get_mut("ref").and_then(Value::as_object_mut);
    let reference = reference.ok_or_else(|| Fault::params("`ref` is needed"))?;
    let text = |name: &str| {
        reference
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let (server, shown) = match (text("name"), text("uri")) {
        (Some(name), None) => {
            let (server, prompt) = server_of(exchange, &name).ok_or_else(|| unknown(&name))?;
            reference.insert("name".into(), prompt.into());
            (server, name)
        }
        (None, Some(uri)) => {
            let server = resources::server_of(exchange, &uri).await;
            let missing = || Fault::params(format!("unknown resource `{uri}`"));
            (server.ok_or_else(missing)?, uri)
        }
        _ => return Err(Fault::params("`ref` names a prompt or a resource")),
    };
    if !allowed(exchange, &server, &params) {
        return Ok(json!({"completion": {"values": [], "total": 0, "hasMore": false}}));
    }
    let reading = Reading {
        server,
        act: COMPLETE,
        method: "completion/complete",
        params,
        shown,
    };
    reading::pass(exchange, reading).await
}

fn allowed(exchange: &Exchange, server: &Upstream, params: &Map<String, Value>) -> bool {
    let Caller::Agent(agent) = &exchange.caller else {
        return false;
    };
    let mut params = params.clone();
    params.remove("_meta");
    let call = Call {
        agent: agent.clone(),
        session: exchange.session.clone(),
        tool: format!("{}.{COMPLETE}", server.name()).into(),
        params,
    };
    let gate = &exchange.app.gate;
    gate.policy().evaluate(&call, gate.now()).verdict == Verdict::Allow
}

fn server_of<'n>(exchange: &Exchange, name: &'n str) -> Option<(Arc<Upstream>, &'n str)> {
    let (server, prompt) = name.split_once('.')?;
    Some((exchange.app.mcp.get(server)?.clone(), prompt))
}

fn unknown(prompt: &str) -> Fault {
    Fault::params(format!("unknown prompt `{prompt}`"))
}
