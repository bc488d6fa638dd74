//! Resources of all servers. A URI is passed as it is, so two servers may list the same one: it is then the
//! first server's, by name, among those that the agent could read from; the others' is not listed.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use provost_core::{call::Call, policy::Verdict};
use serde_json::{Map, Value, json};

use super::{
    exchange::{Exchange, Form},
    message::{Fault, NO_RESOURCE},
    pages::page,
    reading::{self, Reading},
    servers::{Age, List, READ, all},
};
use crate::{access::Caller, backends::mcp::Upstream};

const MOST_SUBSCRIPTIONS: usize = 1000;

pub(super) async fn list(
    exchange: &Exchange,
    list: List,
    params: &Map<String, Value>,
) -> Result<Value, Fault> {
    let name = if list == List::Templates {
        "uriTemplate"
    } else {
        "uri"
    };
    // A cursor goes on in the list that it is of.
    let age = if params.contains_key("cursor") {
        Age::Remembered
    } else {
        Age::Fresh
    };
    let mut items = BTreeMap::new();
    for (_, listed) in all(exchange, list, age).await {
        for item in &*listed {
            if let Some(uri) = item.get(name).and_then(Value::as_str) {
                items.entry(uri.to_owned()).or_insert_with(|| item.clone());
            }
        }
    }
    page(list.member(), items.into_iter().collect(), params)
}

pub(super) async fn read(exchange: &Exchange, params: Map<String, Value>) -> Result<Value, Fault> {
    let uri = uri(&params)?;
    let server = server_of(exchange, &uri)
        .await
        .ok_or_else(|| missing(&uri))?;
    let reading = Reading {
        server,
        act: READ,
        method: "resources/read",
        params,
        shown: uri,
    };
    reading::pass(exchange, reading).await
}

/// Whoever may read a resource may hear that it changed; nobody is asked about it.
pub(super) async fn subscribe(
    exchange: &Exchange,
    params: Map<String, Value>,
    wanted: Wanted,
) -> Result<Value, Fault> {
    let uri = uri(&params)?;
    let Form::Session(session) = &exchange.form else {
        return Err(Fault::params("a subscription is of a session"));
    };
    let server = server_of(exchange, &uri)
        .await
        .ok_or_else(|| missing(&uri))?;
    match wanted {
        Wanted::Yes if !readable(exchange, &server, &uri) => return Err(missing(&uri)),
        Wanted::Yes if session.subscriptions() >= MOST_SUBSCRIPTIONS => {
            return Err(Fault::params("too many subscriptions"));
        }
        Wanted::Yes => {
            ask(exchange, &server, "resources/subscribe", &uri).await?;
            session.subscribe(&uri);
        }
        Wanted::No => {
            session.unsubscribe(&uri);
            let sessions = exchange.app.sessions.all();
            if !sessions.iter().any(|session| session.subscribes(&uri)) {
                ask(exchange, &server, "resources/unsubscribe", &uri).await?;
            }
        }
    }
    Ok(json!({}))
}

#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Yes,
    No,
}

/// The resources of which a listener may hear; their servers are told that somebody wants to.
pub(super) async fn heard(exchange: &Exchange, uris: Vec<String>) -> HashSet<String> {
    let mut heard = HashSet::new();
    for uri in uris.into_iter().take(MOST_SUBSCRIPTIONS) {
        let Some(server) = server_of(exchange, &uri).await else {
            continue;
        };
        if readable(exchange, &server, &uri)
            && ask(exchange, &server, "resources/subscribe", &uri)
                .await
                .is_ok()
        {
            heard.insert(uri);
        }
    }
    heard
}

async fn ask(exchange: &Exchange, server: &Upstream, method: &str, uri: &str) -> Result<(), Fault> {
    let params = Map::from_iter([("uri".to_owned(), uri.into())]);
    let asked = server.ask(method, params, &exchange.cancelled).await;
    asked.map(|_| ()).map_err(reading::fault)
}

fn readable(exchange: &Exchange, server: &Upstream, uri: &str) -> bool {
    let Caller::Agent(agent) = &exchange.caller else {
        return false;
    };
    let call = Call {
        agent: agent.clone(),
        session: exchange.session.clone(),
        tool: format!("{}.{READ}", server.name()).into(),
        params: Map::from_iter([("uri".to_owned(), uri.into())]),
    };
    let gate = &exchange.app.gate;
    gate.policy().evaluate(&call, gate.now()).verdict != Verdict::Deny
}

/// The first server by name that lists the resource, else the first with a template for it.
pub(super) async fn server_of(exchange: &Exchange, uri: &str) -> Option<Arc<Upstream>> {
    for age in [Age::Remembered, Age::Fresh] {
        for (list, name) in [(List::Resources, "uri"), (List::Templates, "uriTemplate")] {
            for (server, items) in all(exchange, list, age).await {
                let named = items.iter().filter_map(|item| item.get(name)?.as_str());
                let mut named = named.filter(|named| match list {
                    List::Templates => *named == uri || fits(named, uri),
                    _ => *named == uri,
                });
                if named.next().is_some() {
                    return Some(server);
                }
            }
        }
    }
    None
}

/// Whether the URI may be of the template: what stands between its expressions is there, in order.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        parts.push(literal);
        let Some((_, after)) = after.split_once('}') else {
            return false;
        };
        rest = after;
    }
    let Some(mut left) = uri.strip_suffix(rest) else {
        return false;
    };
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else {
        return left.is_empty();
    };
    let Some(after) = left.strip_prefix(first) else {
        return false;
    };
    left = after;
    for part in parts {
        let Some((_, after)) = left.split_once(part) else {
            return false;
        };
        left = after;
    }
    true
}

fn uri(params: &Map<String, Value>) -> Result<String, Fault> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| Fault::params("`uri` is needed, as text"))?;
    Ok(uri.to_owned())
}

fn missing(uri: &str) -> Fault {
    Fault::new(NO_RESOURCE, "resource not found").with(json!({"uri": uri}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_found_by_their_templates() {
        for (template, uri, expected) in [
            ("file:///{path}", "file:///a", true),
            ("file:///{+path}", "file:///a/b/c", true),
            ("file:///{path}", "http://a", false),
            ("db://{table}/rows/{id}", "db://users/rows/7", true),
            ("db://{table}/rows/{id}", "db://users/columns/7", false),
            ("x://{a}.txt", "x://b.txt", true),
            ("x://{a}.txt", "x://b.md", false),
            ("x://plain", "x://plain", true),
            ("x://plain", "x://plainer", false),
            ("x://{broken", "x://y", false),
        ] {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }
}
