//! Tools that the gateway itself answers: what there is, what is permitted for a while, and, for those who
//! decide, the desk. They do what the HTTP routes do, by the same functions and for the same roles.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use provost_core::{
    approval::Status,
    call::Call,
    gate::Decider,
    key::{Key, Role},
};
use provost_runner::json_error;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    call::{failure, success},
    exchange::Exchange,
};
use crate::{
    access::Caller,
    doors::http::{
        approvals::{self, ResolveBody},
        caller::require,
        error::{ApiError, ApiResult},
        grants::{self, GrantBody},
        input::Params,
    },
};

pub(super) struct VirtualTool {
    pub(super) name: &'static str,
    description: &'static str,
    roles: &'static [Role],
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Catalog,
    Grants,
    Pending,
    Resolve,
    Grant,
    Revoke,
}

const EVERYBODY: [Role; 4] = [Role::Agent, Role::Supervisor, Role::Human, Role::Admin];

const TOOLS: [VirtualTool; 6] = [
    VirtualTool {
        name: "mesh.catalog",
        description: "List the tools there are, by where they come from, with what policy says of each",
        roles: &EVERYBODY,
        what: What::Catalog,
    },
    VirtualTool {
        name: "grant.list",
        description: "List the standing permissions in force",
        roles: &EVERYBODY,
        what: What::Grants,
    },
    VirtualTool {
        name: "approval.pending",
        description: "List the approvals that wait for a decision, oldest first. For people, `remember` says in words \
                      what an approval could allow from then on",
        roles: &[Role::Supervisor, Role::Human, Role::Admin],
        what: What::Pending,
    },
    VirtualTool {
        name: "approval.resolve",
        description: "Approve or deny a pending approval, or hand it to a person",
        roles: &[Role::Supervisor, Role::Human, Role::Admin],
        what: What::Resolve,
    },
    VirtualTool {
        name: "grant.create",
        description: "Permit an agent some tools for a while, without asking",
        roles: &[Role::Admin],
        what: What::Grant,
    },
    VirtualTool {
        name: "grant.revoke",
        description: "Take a standing permission back: your own, or as an admin any",
        roles: &[Role::Human, Role::Admin],
        what: What::Revoke,
    },
];

/// Those of the caller's role.
pub(super) fn of(caller: &Caller) -> impl Iterator<Item = &'static VirtualTool> {
    let role = role(caller);
    TOOLS.iter().filter(move |tool| tool.roles.contains(&role))
}

/// Of whatever role: an attempt that is forbidden is noted, too.
pub(super) fn find(name: &str) -> Option<&'static VirtualTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

fn role(caller: &Caller) -> Role {
    match caller {
        Caller::Agent(_) => Role::Agent,
        Caller::Decider(key) => key.role,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogArguments {
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokeArguments {
    id: String,
}

impl VirtualTool {
    pub(super) fn definition(&self) -> Value {
        let (properties, required) = self.what.schema();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let reads = matches!(self.what, What::Catalog | What::Grants | What::Pending);
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": schema,
            "annotations": {"readOnlyHint": reads, "openWorldHint": false},
        })
    }

    pub(super) async fn run(&self, exchange: &Exchange, arguments: Map<String, Value>) -> Value {
        match self.answer(exchange, arguments).await {
            Ok(answer) => {
                let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
                success(&text)
            }
            Err(error) => failure(&error.words()),
        }
    }

    /// Noted first: what cannot be recorded is not done.
    async fn answer(&self, exchange: &Exchange, arguments: Map<String, Value>) -> ApiResult<Value> {
        let (by, agent) = match &exchange.caller {
            Caller::Agent(agent) => (format!("agent:{agent}"), Some(agent.clone())),
            Caller::Decider(key) => (key.identity(), None),
        };
        let detail = json!({"door": "mcp", "arguments": self.what.noted(&arguments)});
        let gate = &exchange.app.gate;
        gate.note_by(by, agent, exchange.session.clone(), self.name, detail)
            .await?;
        if !self.roles.contains(&role(&exchange.caller)) {
            return Err(self.forbidden());
        }
        match (self.what, &exchange.caller) {
            (What::Catalog, caller) => {
                exchange.app.mcp.settled().await;
                Ok(catalog(exchange, caller, read(arguments)?))
            }
            (What::Grants, Caller::Agent(agent)) => {
                grants::active(&exchange.app, |grant| grant.agent.matches(agent)).await
            }
            (What::Grants, Caller::Decider(key)) => {
                grants::active(&exchange.app, |grant| grants::seen_by(key, grant)).await
            }
            (what, Caller::Decider(key)) => decide(exchange, key, what, arguments).await,
            (_, Caller::Agent(_)) => Err(ApiError::forbidden("an agent asks, and never decides")),
        }
    }

    fn forbidden(&self) -> ApiError {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.as_str()).collect();
        ApiError::forbidden(format!(
            "`{}` is for keys of the role {}",
            self.name,
            roles.join(" or ")
        ))
    }
}

async fn decide(
    exchange: &Exchange,
    key: &Arc<Key>,
    what: What,
    arguments: Map<String, Value>,
) -> ApiResult<Value> {
    let app = &exchange.app;
    match what {
        What::Pending => pending(exchange, key, arguments).await,
        What::Resolve => resolve(exchange, key, arguments).await,
        What::Grant => {
            let admin = require(key.clone(), &[Role::Admin])?;
            grants::make(app, &admin, read::<GrantBody>(arguments)?).await
        }
        What::Revoke => {
            let person = require(key.clone(), &[Role::Human, Role::Admin])?;
            grants::unmake(app, &person, read::<RevokeArguments>(arguments)?.id).await
        }
        What::Catalog | What::Grants => Ok(Value::Null),
    }
}

async fn pending(
    exchange: &Exchange,
    key: &Key,
    mut arguments: Map<String, Value>,
) -> ApiResult<Value> {
    if let Some(Value::String(id)) = arguments.remove("id") {
        let params = Params::of(arguments).known(&["content"])?;
        let whole = approvals::whole(&exchange.app, key, &id, &params).await?;
        return Ok(json!({"approvals": [whole], "next_after": null}));
    }
    arguments.insert("status".into(), "pending".into());
    let known = [
        "status", "tool", "level", "agent", "session", "after", "limit", "content",
    ];
    let params = Params::of(arguments).known(&known)?;
    let queue = approvals::queue(&exchange.app, key, &params, Duration::ZERO).await?;
    let mut found: Vec<Map<String, Value>> =
        serde_json::from_slice(&queue.body).unwrap_or_default();
    for one in &mut found {
        if let Some(offered) = offered(exchange, key, one).await? {
            one.insert("remember".into(), offered);
        }
    }
    Ok(json!({"approvals": found, "next_after": queue.next_after}))
}

/// What a person may have remembered of it, in words: who chooses a scope has read it.
async fn offered(
    exchange: &Exchange,
    key: &Key,
    shown: &Map<String, Value>,
) -> ApiResult<Option<Value>> {
    if !key.role.is_person() {
        return Ok(None);
    }
    let id = shown.get("id").and_then(Value::as_str).unwrap_or_default();
    let approval = exchange.app.gate.store().approval(id).await?;
    let Some(approval) = approval else {
        return Ok(None);
    };
    Ok(approvals::remember(&exchange.app, key, &approval).await)
}

async fn resolve(
    exchange: &Exchange,
    key: &Arc<Key>,
    mut arguments: Map<String, Value>,
) -> ApiResult<Value> {
    let mut take = |name: &str| match arguments.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(ApiError::bad_request(format!(
            "`{name}` is needed, as text"
        ))),
    };
    let (id, decision) = (take("id")?, take("decision")?);
    let (app, decider) = (&exchange.app, Decider::of(key));
    let body: ResolveBody = read(arguments)?;
    match &*decision {
        "approve" => approvals::resolve(app, &decider, &id, Status::Approved, body).await,
        "deny" => approvals::resolve(app, &decider, &id, Status::Denied, body).await,
        "escalate" => approvals::hand_up(app, &decider, &id, body).await,
        _ => Err(ApiError::bad_request(
            "`decision` is `approve`, `deny` or `escalate`",
        )),
    }
}

/// An agent sees what it could call, and what policy says if nothing of the arguments matters.
fn catalog(exchange: &Exchange, caller: &Caller, asked: CatalogArguments) -> Value {
    let (policy, now) = (exchange.app.gate.policy(), exchange.app.gate.now());
    let mut groups: BTreeMap<String, (&'static str, Vec<Value>)> = BTreeMap::new();
    for tool in exchange.app.backends.tools() {
        let source = tool.name.split('.').next().unwrap_or_default().to_owned();
        let mut entry = json!({"name": tool.name, "description": tool.description});
        if let (Caller::Agent(agent), Some(entry)) = (caller, entry.as_object_mut()) {
            if !policy.could_permit(agent, &tool.name) {
                continue;
            }
            let call = Call {
                agent: agent.clone(),
                session: exchange.session.clone(),
                tool: tool.name.as_str().into(),
                params: Map::new(),
            };
            entry.insert("action".into(), json!(policy.evaluate(&call, now).verdict));
        }
        let group = groups.entry(source).or_insert((tool.source, Vec::new()));
        group.1.push(entry);
    }
    let virtual_tools = of(caller)
        .map(|tool| json!({"name": tool.name, "description": tool.description, "action": "allow"}));
    groups.insert("mesh".into(), ("virtual", virtual_tools.collect()));
    if let Some(source) = asked.source {
        groups.retain(|name, _| name.eq_ignore_ascii_case(&source));
    }
    let count: usize = groups.values().map(|(_, tools)| tools.len()).sum();
    let summary = format!("{count} tools across {} sources", groups.len());
    let groups: Map<String, Value> = groups
        .into_iter()
        .map(|(name, (source, tools))| {
            let group = json!({"source": source, "count": tools.len(), "tools": tools});
            (name, group)
        })
        .collect();
    json!({"summary": summary, "groups": groups})
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> ApiResult<T> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let why = json_error::told(&error);
        ApiError::bad_request(format!("the arguments do not fit: {why}"))
    })
}

impl What {
    /// The arguments as they are recorded: those that a person gives a call belong to its approval alone.
    fn noted(self, arguments: &Map<String, Value>) -> Value {
        let mut noted = arguments.clone();
        if matches!(self, Self::Resolve) {
            noted.remove("arguments");
        }
        Value::Object(noted)
    }

    fn schema(self) -> (Value, &'static [&'static str]) {
        let text = |description: &str| json!({"type": "string", "description": description});
        match self {
            Self::Catalog => (
                json!({"source": text("Only the tools of this source, such as `filesystem`")}),
                &[],
            ),
            Self::Grants => (json!({}), &[]),
            Self::Pending => (
                json!({
                    "id": text("Only this one, with all of its arguments: long ones are `cut` in the list"),
                    "tool": text("Only tools that match this glob"),
                    "agent": text("Only this agent's"),
                    "session": text("Only this session's"),
                    "level": {"type": "string", "enum": ["supervisor", "human"]},
                    "after": {"type": "integer", "description": "`next_after` of the page before"},
                    "limit": {"type": "integer", "minimum": 1},
                    "content": {"type": "string", "enum": ["full", "structure"]},
                }),
                &[],
            ),
            Self::Resolve => (
                json!({
                    "id": text("The id of the approval, or a unique beginning of it"),
                    "decision": {"type": "string", "enum": ["approve", "deny", "escalate"]},
                    "reasoning": text("Why; the agent is told"),
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    "resolved_by": text("What you call yourself, kept beside the name of your key"),
                    "arguments": {"type": "object", "description": "Permit these arguments instead; people only"},
                    "remember": {"type": "string", "enum": ["session", "always"], "description": "Do not ask again about the same, in this session or beyond it; people only. `remember` of the approval says what that opens"},
                    "scope": {"type": "string", "enum": ["narrow", "words", "any"], "description": "A wider scope than the usual one, if the approval offers it"},
                    "confirm": text("The words of that wider scope"),
                }),
                &["id", "decision"],
            ),
            Self::Grant => (
                json!({
                    "agent": text("A glob of agents, such as `worker-*`"),
                    "tools": text("A glob of tools, such as `filesystem.write_*`"),
                    "duration": text("For how long, such as `30m`"),
                    "when": text("Only when this holds, such as `params.path WITHIN \"/srv\"`"),
                    "max_uses": {"type": "integer", "minimum": 1},
                    "session_id": text("Only in this session"),
                    "reasoning": text("Why"),
                }),
                &["agent", "tools", "duration"],
            ),
            Self::Revoke => (json!({"id": text("The id of the grant")}), &["id"]),
        }
    }
}
