//! What upstream servers offer beside tools, put together. To read a resource or to get a prompt is an act
//! like a call: it passes the gate as `SERVER.resources.read` and `SERVER.prompts.get`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use provost_core::time::Time;
use rmcp::model::ServerCapabilities;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) use crate::backends::mcp::{COMPLETE, GET, LOG, READ};

use super::exchange::Exchange;
use crate::{
    access::Caller,
    backends::mcp::{AskError, Upstream},
};

const MOST_PAGES: usize = 50;
const MOST_ITEMS: usize = 10_000;
/// How long a list is remembered, to find out whose a resource is.
const REMEMBERED: Duration = Duration::from_secs(30);

/// A list that servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum List {
    Resources,
    Templates,
    Prompts,
}

/// What servers listed lately, by name.
#[derive(Default)]
pub(crate) struct Listed(Mutex<HashMap<(Arc<str>, List), Remembered>>);

struct Remembered {
    at: Time,
    items: Arc<Vec<Value>>,
}

/// Whether a remembered list will do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Fresh,
    Remembered,
}

impl List {
    fn method(self) -> &'static str {
        match self {
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    fn act(self) -> &'static str {
        match self {
            Self::Resources | Self::Templates => READ,
            Self::Prompts => GET,
        }
    }

    fn offered(self, capabilities: &ServerCapabilities) -> bool {
        match self {
            Self::Resources | Self::Templates => capabilities.resources.is_some(),
            Self::Prompts => capabilities.prompts.is_some(),
        }
    }
}

/// Whether policy could ever let the caller do this with the server. Those who decide do nothing.
pub(super) fn could(exchange: &Exchange, server: &str, act: &str) -> bool {
    let Caller::Agent(agent) = &exchange.caller else {
        return false;
    };
    let policy = exchange.app.gate.policy();
    policy.could_permit(agent, &format!("{server}.{act}"))
}

/// The items of every server that the caller could use, in the order of the servers' names.
pub(super) async fn all(
    exchange: &Exchange,
    list: List,
    age: Age,
) -> Vec<(Arc<Upstream>, Arc<Vec<Value>>)> {
    let servers = exchange.app.mcp.upstreams().filter(|server| {
        let capabilities = server.capabilities();
        capabilities.is_some_and(|capabilities| list.offered(&capabilities))
            && could(exchange, server.name(), list.act())
    });
    let asked = servers.map(|server| async {
        match items(exchange, server, list, age).await {
            Ok(items) => Some((server.clone(), items)),
            // One bad server takes nobody with it.
            Err(error) => {
                tracing::warn!(mcp.server = server.name(), %error, "a list cannot be read");
                None
            }
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

async fn items(
    exchange: &Exchange,
    server: &Upstream,
    list: List,
    age: Age,
) -> Result<Arc<Vec<Value>>, AskError> {
    let now = exchange.app.gate.now();
    let listed = &exchange.app.listed;
    if age == Age::Remembered
        && let Some(items) = listed.of(server.name(), list, now)
    {
        return Ok(items);
    }
    let items = Arc::new(read(exchange, server, list).await?);
    listed.remember(server.name(), list, now, items.clone());
    Ok(items)
}

#[derive(Deserialize)]
struct Page {
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
    #[serde(flatten)]
    members: Map<String, Value>,
}

async fn read(exchange: &Exchange, server: &Upstream, list: List) -> Result<Vec<Value>, AskError> {
    let (mut items, mut params) = (Vec::new(), Map::new());
    for _ in 0..MOST_PAGES {
        let page = server.ask(list.method(), params, &exchange.cancelled);
        let page = page.await?;
        let Ok(mut page) = serde_json::from_str::<Page>(page.get()) else {
            break;
        };
        if let Some(Value::Array(more)) = page.members.remove(list.member()) {
            items.extend(more);
        }
        let Some(next) = page.next.filter(|_| items.len() < MOST_ITEMS) else {
            break;
        };
        params = Map::from_iter([("cursor".to_owned(), next.into())]);
    }
    items.truncate(MOST_ITEMS);
    Ok(items)
}

impl Listed {
    fn of(&self, server: &str, list: List, now: Time) -> Option<Arc<Vec<Value>>> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = table.get(&(server.into(), list))?;
        (now.since(remembered.at) < REMEMBERED).then(|| remembered.items.clone())
    }

    fn remember(&self, server: &str, list: List, at: Time, items: Arc<Vec<Value>>) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert((server.into(), list), Remembered { at, items });
    }
}
