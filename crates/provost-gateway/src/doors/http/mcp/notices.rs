//! What happens beside requests: lists and resources that changed, and what servers log. In a session it goes
//! out on the stream that the client opened with GET; in the stateless protocol on `subscriptions/listen`.

use std::collections::HashSet;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};

use super::{
    exchange::{Exchange, Form},
    message::{Fault, Id, REFUSED, notification, read_params},
    resources,
    servers::LOG,
    session::Session,
};
use crate::{
    access::{Caller, Standing},
    app::App,
    backends::mcp::Notice,
};

const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const MESSAGE: &str = "notifications/message";

/// What there is to hear, from now on.
pub(super) struct Heard {
    servers: broadcast::Receiver<Notice>,
    policies: watch::Receiver<u64>,
}

/// What became of listening.
enum Next {
    Notice(Notice),
    /// What may be called has changed for everybody.
    Policies,
    /// Some were missed.
    Missed,
}

impl Heard {
    pub(super) fn of(app: &App) -> Self {
        Self {
            servers: app.mcp.notices(),
            policies: app.policies(),
        }
    }

    async fn next(&mut self) -> Next {
        tokio::select! {
            notice = self.servers.recv() => match notice {
                Ok(notice) => Next::Notice(notice),
                Err(broadcast::error::RecvError::Lagged(_)) => Next::Missed,
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            },
            changed = self.policies.changed() => match changed {
                Ok(()) => Next::Policies,
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// The next messages for a session; none for those who decide, for whom nothing of it is.
    pub(super) async fn for_session(
        &mut self,
        app: &App,
        caller: &Caller,
        session: &Session,
    ) -> Vec<Value> {
        let Caller::Agent(agent) = caller else {
            return std::future::pending().await;
        };
        let changed = |method: &str| notification(method, Value::Null);
        match self.next().await {
            Next::Policies | Next::Missed => [TOOLS, PROMPTS, RESOURCES]
                .into_iter()
                .map(changed)
                .collect(),
            Next::Notice(Notice::ToolsChanged { .. }) => vec![changed(TOOLS)],
            Next::Notice(Notice::PromptsChanged { .. }) => vec![changed(PROMPTS)],
            Next::Notice(Notice::ResourcesChanged { .. }) => vec![changed(RESOURCES)],
            Next::Notice(Notice::ResourceUpdated { uri, .. }) if session.subscribes(&uri) => {
                vec![notification(UPDATED, json!({"uri": uri}))]
            }
            Next::Notice(Notice::Log { server, params }) => {
                let shown = app
                    .gate
                    .policy()
                    .could_permit(agent, &format!("{server}.{LOG}"));
                let loud = session
                    .level()
                    .is_some_and(|least| level(&params) >= Some(least));
                let said = (shown && loud).then(|| notification(MESSAGE, from(&server, &params)));
                said.into_iter().collect()
            }
            Next::Notice(_) => Vec::new(),
        }
    }
}

/// The logger of a server's message says which server's it is.
fn from(server: &str, params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(params) = params.as_object_mut() {
        let logger = match params.get("logger").and_then(Value::as_str) {
            Some(logger) => format!("{server}.{logger}"),
            None => server.to_owned(),
        };
        params.insert("logger".into(), logger.into());
    }
    params
}

fn level(params: &Value) -> Option<u8> {
    let level = params.get("level")?.as_str()?;
    let at = LEVELS.iter().position(|known| *known == level)?;
    u8::try_from(at).ok()
}

/// Servers log as much as the session that wants most.
pub(super) async fn set_level(
    exchange: &Exchange,
    params: Map<String, Value>,
) -> Result<Value, Fault> {
    let params = Value::Object(params);
    let Some(wanted) = level(&params) else {
        let known = LEVELS.join(", ");
        return Err(Fault::params(format!("`level` is one of {known}")));
    };
    let Form::Session(session) = &exchange.form else {
        return Err(Fault::params("a level is of a session"));
    };
    session.set_level(wanted);
    let sessions = exchange.app.sessions.all();
    let least = sessions.iter().filter_map(|session| session.level()).min();
    let name = LEVELS.get(usize::from(least.unwrap_or(wanted)));
    let told = exchange.app.mcp.upstreams().map(|server| async {
        let logs = server
            .capabilities()
            .is_some_and(|can| can.logging.is_some());
        if logs {
            let params = Map::from_iter([("level".to_owned(), json!(name))]);
            let asked = server.ask("logging/setLevel", params, &exchange.cancelled);
            // A server that does not take it says what it likes.
            let _ = asked.await;
        }
    });
    join_all(told).await;
    Ok(json!({}))
}

#[derive(Deserialize)]
struct Listening {
    notifications: Filter,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

/// `subscriptions/listen`: until the client or the gateway goes away.
pub(super) async fn listen(
    exchange: &Exchange,
    id: &Id,
    params: Map<String, Value>,
) -> Result<Value, Fault> {
    let Listening { notifications } = read_params(params)?;
    let Some(out) = &exchange.out else {
        return Err(Fault::params("to listen, accept `text/event-stream`"));
    };
    let mut heard = Heard::of(&exchange.app);
    let standing = Standing::of(&exchange.caller, &exchange.app.gate.control());
    let filter = notifications.accepted(exchange).await;
    let tagged = |method: &str, mut params: Map<String, Value>| {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        params.insert("_meta".into(), meta);
        notification(method, Value::Object(params))
    };
    let accepted = Map::from_iter([("notifications".to_owned(), filter.shown())]);
    let acknowledged = tagged("notifications/subscriptions/acknowledged", accepted);
    let mut ready = vec![acknowledged];
    loop {
        for message in ready {
            if out.send(message).await.is_err() {
                return Ok(json!({}));
            }
        }
        let next = tokio::select! {
            next = heard.next() => next,
            () = exchange.app.stopping() => {
                return Ok(json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}}));
            }
        };
        if !standing.holds(
            &exchange.app.gate.control(),
            &exchange.app.live.load().access,
        ) {
            return Err(Fault::new(REFUSED, "the key of this stream was removed"));
        }
        let said = filter.messages(&next).into_iter();
        ready = said
            .map(|(method, params)| tagged(method, params))
            .collect();
    }
}

impl Filter {
    /// Those who decide have nothing to hear of.
    async fn accepted(self, exchange: &Exchange) -> Accepted {
        let agent = matches!(exchange.caller, Caller::Agent(_));
        Accepted {
            tools: self.tools_list_changed && agent,
            prompts: self.prompts_list_changed && agent,
            resources: self.resources_list_changed && agent,
            uris: resources::heard(exchange, self.resource_subscriptions).await,
        }
    }
}

struct Accepted {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: HashSet<String>,
}

impl Accepted {
    fn shown(&self) -> Value {
        let lists = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        let lists = lists.into_iter().filter(|(_, wanted)| *wanted);
        let mut shown: Map<_, _> = lists
            .map(|(name, _)| (name.to_owned(), true.into()))
            .collect();
        if !self.uris.is_empty() {
            shown.insert("resourceSubscriptions".into(), json!(self.uris));
        }
        Value::Object(shown)
    }

    fn messages(&self, next: &Next) -> Vec<(&'static str, Map<String, Value>)> {
        let lists = match next {
            Next::Policies | Next::Missed => {
                vec![
                    (TOOLS, self.tools),
                    (PROMPTS, self.prompts),
                    (RESOURCES, self.resources),
                ]
            }
            Next::Notice(Notice::ToolsChanged { .. }) => vec![(TOOLS, self.tools)],
            Next::Notice(Notice::PromptsChanged { .. }) => vec![(PROMPTS, self.prompts)],
            Next::Notice(Notice::ResourcesChanged { .. }) => vec![(RESOURCES, self.resources)],
            Next::Notice(Notice::ResourceUpdated { uri, .. }) => {
                let params = Map::from_iter([("uri".to_owned(), uri.as_str().into())]);
                let wanted = self.uris.contains(uri);
                return wanted.then_some((UPDATED, params)).into_iter().collect();
            }
            Next::Notice(Notice::Log { .. }) => Vec::new(),
        };
        let lists = lists.into_iter().filter(|(_, wanted)| *wanted);
        lists.map(|(method, _)| (method, Map::new())).collect()
    }
}
