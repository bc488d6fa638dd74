//! `tools/list`: what the caller could ever call.

use std::collections::BTreeMap;

use provost_core::ports::ToolInfo;
use serde_json::{Map, Value, json};

use super::{exchange::Exchange, message::Fault, pages::page, virtual_tools};
use crate::{access::Caller, backends::mcp::Definition};

pub(super) fn list(exchange: &Exchange, params: &Map<String, Value>) -> Result<Value, Fault> {
    let mut tools = offered(exchange);
    for tool in virtual_tools::of(&exchange.caller) {
        tools.insert(tool.name.to_owned(), tool.definition());
    }
    page("tools", tools.into_iter().collect(), params)
}

/// What backends run, by name. Those who decide call nothing.
fn offered(exchange: &Exchange) -> BTreeMap<String, Value> {
    let Caller::Agent(agent) = &exchange.caller else {
        return BTreeMap::new();
    };
    let (app, policy) = (&exchange.app, exchange.app.gate.policy());
    let tools = app.backends.tools().into_iter();
    let mut offered: BTreeMap<_, _> = tools
        .filter(|tool| policy.could_permit(agent, &tool.name))
        .map(|tool| (tool.name.clone(), definition(tool)))
        .collect();
    let upstreams = app.mcp.upstreams();
    for tool in upstreams.flat_map(|upstream| upstream.definitions()) {
        if app.backends.upstream(&tool.name).is_none() {
            continue;
        }
        match offered.get_mut(&tool.name) {
            Some(_) if needs_tasks(&tool) => drop(offered.remove(&tool.name)),
            Some(offered) => *offered = renamed(&tool),
            None => {}
        }
    }
    offered
}

/// Tasks are not served here: a tool that can only be called as one cannot be called.
fn needs_tasks(tool: &Definition) -> bool {
    let support = tool.definition.pointer("/execution/taskSupport");
    support.and_then(Value::as_str) == Some("required")
}

/// As its server describes it, but for the name.
fn renamed(tool: &Definition) -> Value {
    let mut definition = (*tool.definition).clone();
    if let Some(definition) = definition.as_object_mut() {
        definition.insert("name".into(), tool.name.as_str().into());
        if let Some(Value::Object(execution)) = definition.get_mut("execution")
            && execution
                .get("taskSupport")
                .is_some_and(|it| it == "optional")
        {
            execution.insert("taskSupport".into(), "forbidden".into());
        }
    }
    definition
}

fn definition(tool: ToolInfo) -> Value {
    let schema = match tool.input_schema {
        Value::Object(schema) if schema.contains_key("type") => Value::Object(schema),
        Value::Object(mut schema) => {
            schema.insert("type".into(), "object".into());
            Value::Object(schema)
        }
        _ => json!({"type": "object"}),
    };
    json!({"name": tool.name, "description": tool.description, "inputSchema": schema})
}
