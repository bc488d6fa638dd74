//! Reading what tools a server has, all pages of it and no more than is sensible.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use provost_core::{
    call::{Digest, canonical_json, is_name},
    ports::ToolInfo,
};
use rmcp::{
    Peer, RoleClient,
    model::{
        ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam,
    },
    service::{PeerRequestOptions, ServiceError},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ACTS, tap::Wanted, trouble};
use crate::backends::schema::Schema;

const MAX_TOOLS: usize = 1000;
const MAX_PAGES: usize = 100;
/// The longest definition of one tool.
const MAX_DEFINITION: usize = 64 * 1024;
/// All definitions of a server.
const MAX_LISTING: usize = 8 * 1024 * 1024;
/// How long one page may take.
const PAGE_TIME: Duration = Duration::from_secs(30);
/// The longest mark of a place in the list.
const MAX_CURSOR: usize = 4096;
/// Regular expressions in the schemas of one server: each takes room.
const MAX_PATTERNS: usize = 1000;
/// How many problems of one listing are told.
const MAX_WARNINGS: usize = 20;
/// What a tool says of itself: whatever changes in it may change the tool's meaning.
const PINNED: [&str; 6] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
];

/// A tool as its server describes it.
#[derive(Debug)]
pub struct Definition {
    /// `server.tool`
    pub name: String,
    /// The name its server knows it by.
    pub tool: String,
    /// Of what it says of itself, see [`Definition::pinned`].
    pub digest: Digest,
    /// As the server gave it, every field.
    pub definition: Arc<Value>,
    /// What its arguments are held against; none where its schema cannot be read.
    pub(super) schema: Option<Schema>,
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.definition) == (&other.name, &other.definition)
    }
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Arc<Definition>>,
    /// What of it cannot be served, and why.
    pub(super) warnings: Vec<String>,
}

/// Why a list could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The server took its time.
    Late,
    /// It was read, and could not be remembered: the store's trouble, not the server's.
    NotRemembered(String),
    Failed(String),
}

#[derive(Deserialize)]
struct Page {
    tools: Vec<Value>,
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => f.write_str("it does not answer"),
            Self::NotRemembered(why) => write!(f, "its tools cannot be remembered: {why}"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl Definition {
    fn read(server: &str, definition: Value) -> Result<Self, String> {
        let tool = definition.get("name").and_then(Value::as_str);
        let tool = tool.ok_or("a tool has no name")?.to_owned();
        let name = format!("{server}.{tool}");
        let plain = |c: char| c.is_ascii_graphic() || c.is_alphanumeric() || c == ' ';
        if tool.is_empty() || !is_name(&name) || tool.trim() != tool || !tool.chars().all(plain) {
            return Err("the name of a tool is not usable".to_owned());
        }
        if ACTS.contains(&tool.as_str()) {
            return Err(format!("`{tool}` is the name of an act that is no call"));
        }
        if !definition.get("inputSchema").is_some_and(Value::is_object) {
            return Err(format!("`{tool}` has no schema of its arguments"));
        }
        let description = definition.get("description");
        if description.is_some_and(|text| !text.is_string() && !text.is_null()) {
            return Err(format!("`{tool}` has a description that is no text"));
        }
        let pinned = pinned(&definition);
        Ok(Self {
            name,
            tool,
            digest: Digest::of(&pinned),
            definition: Arc::new(definition),
            schema: None,
        })
    }

    /// Why its schema cannot be read: it is served all the same, and its arguments are not checked.
    fn read_schema(&mut self) -> Result<(), String> {
        let schema = self.definition.get("inputSchema").unwrap_or(&Value::Null);
        let schema = Schema::compile(schema).map_err(|why| {
            let tool = &self.tool;
            format!("the arguments of `{tool}` are not checked: its schema cannot be read: {why}")
        })?;
        self.schema = schema;
        Ok(())
    }

    /// What the tool says of itself, and what is remembered of it.
    pub fn pinned(&self) -> Value {
        pinned(&self.definition)
    }

    pub fn description(&self) -> &str {
        let description = self.definition.get("description");
        description.and_then(Value::as_str).unwrap_or_default()
    }

    pub fn info(&self) -> ToolInfo {
        let schema = self.definition.get("inputSchema");
        ToolInfo {
            name: self.name.clone(),
            description: self.description().to_owned(),
            source: "mcp",
            input_schema: schema.cloned().unwrap_or_default(),
        }
    }
}

fn pinned(definition: &Value) -> Value {
    let field = |name: &str| Some((name.to_owned(), definition.get(name)?.clone()));
    Value::Object(PINNED.into_iter().filter_map(field).collect::<Map<_, _>>())
}

/// A server that has no tools at all has an empty list.
pub(super) async fn read(peer: &Peer<RoleClient>, server: &str) -> Result<Listing, Unread> {
    let mut gathered = Gathered::default();
    let (mut cursor, mut seen) = (None, HashSet::new());
    for _ in 0..MAX_PAGES {
        let Some(page) = page(peer, cursor.take()).await? else {
            break;
        };
        for tool in page.tools {
            gathered.take(server, tool);
        }
        match page.next {
            Some(_) if gathered.full => {}
            Some(next) if next.len() > MAX_CURSOR || !seen.insert(next.clone()) => {
                gathered.warn("its list of tools has no end".to_owned());
            }
            Some(next) => {
                cursor = Some(next);
                continue;
            }
            None => {}
        }
        return Ok(gathered.listing());
    }
    if cursor.is_some() {
        gathered.warn(format!("only {MAX_PAGES} pages of its tools are read"));
    }
    Ok(gathered.listing())
}

async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<Option<Page>, Unread> {
    let wanted = Wanted::list();
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let mut request = ListToolsRequest {
        params,
        ..RequestOptionalParam::default()
    };
    request.extensions.insert(wanted.clone());
    let asked = peer.send_cancellable_request(
        ClientRequest::ListToolsRequest(request),
        PeerRequestOptions::with_timeout(PAGE_TIME),
    );
    let answered = match asked.await {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    match answered {
        Ok(_) => {}
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
            return Ok(None);
        }
        Err(ServiceError::Timeout { .. }) => return Err(Unread::Late),
        Err(error) => {
            let why = format!("its tools cannot be read: {}", trouble::service(&error));
            return Err(Unread::Failed(why));
        }
    }
    let answer = wanted.take();
    let page = answer.and_then(|answer| serde_json::from_str(answer.get()).ok());
    page.map(Some).ok_or_else(|| {
        let why = "its list of tools is not what the protocol says";
        Unread::Failed(why.to_owned())
    })
}

#[derive(Default)]
struct Gathered {
    tools: HashMap<String, Arc<Definition>>,
    /// In the order they came.
    order: Vec<String>,
    twice: HashSet<String>,
    size: usize,
    full: bool,
    /// Regular expressions in all schemas.
    patterns: usize,
    warnings: Vec<String>,
}

impl Gathered {
    fn take(&mut self, server: &str, tool: Value) {
        if self.order.len() >= MAX_TOOLS || self.size >= MAX_LISTING {
            self.full = true;
            self.warn(format!(
                "only its first {} tools are served",
                self.order.len()
            ));
            return;
        }
        let size = canonical_json(&tool).len();
        if size > MAX_DEFINITION {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let name: String = name.chars().take(100).collect();
            self.warn(format!(
                "`{name}` is described by more than {MAX_DEFINITION} bytes"
            ));
            return;
        }
        match Definition::read(server, tool) {
            Ok(mut definition) => {
                self.size += size;
                self.read_schema(&mut definition);
                let name = definition.tool.clone();
                if self
                    .tools
                    .insert(name.clone(), Arc::new(definition))
                    .is_none()
                {
                    self.order.push(name);
                } else {
                    self.twice.insert(name);
                }
            }
            Err(why) => self.warn(why),
        }
    }

    fn read_schema(&mut self, definition: &mut Definition) {
        if let Err(why) = definition.read_schema() {
            self.warn(why);
        }
        self.patterns += definition.schema.as_ref().map_or(0, Schema::patterns);
        if self.patterns > MAX_PATTERNS && definition.schema.take().is_some() {
            let tool = &definition.tool;
            self.warn(format!(
                "the arguments of `{tool}` are not checked: this server has more than {MAX_PATTERNS} patterns"
            ));
        }
    }

    fn warn(&mut self, what: String) {
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&what) {
            self.warnings.push(what);
        }
    }

    /// Of two tools with one name, it cannot be told which one is meant: neither is served.
    fn listing(mut self) -> Listing {
        let twice: Vec<_> = self.twice.drain().collect();
        for name in twice {
            self.tools.remove(&name);
            self.warn(format!("`{name}` is there twice: neither is served"));
        }
        let tools = self.order.iter().filter_map(|name| self.tools.remove(name));
        Listing {
            tools: tools.collect(),
            warnings: self.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Value {
        json!({"name": name, "description": description, "inputSchema": {"type": "object"}, "x": 1})
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.tools.iter().map(|tool| &*tool.name).collect()
    }

    #[test]
    fn the_digest_covers_what_a_tool_says_of_itself() {
        let read = |value: Value| Definition::read("s", value).unwrap().digest;
        let plain = read(tool("a", "d"));
        for (field, value) in [
            ("description", json!("other")),
            ("title", json!("T")),
            ("inputSchema", json!({"type": "object", "required": ["x"]})),
            ("outputSchema", json!({"type": "object"})),
            ("annotations", json!({"readOnlyHint": true})),
            ("name", json!("b")),
        ] {
            let mut changed = tool("a", "d");
            changed[field] = value;
            assert_ne!(read(changed), plain, "{field}");
        }
        for field in ["x", "_meta", "icons"] {
            let mut same = tool("a", "d");
            same[field] = json!({"other": true});
            assert_eq!(read(same), plain, "{field}");
        }
    }

    #[test]
    fn unusable_and_doubled_tools_are_left_out_and_told() {
        let mut gathered = Gathered::default();
        for value in [
            tool("ok", "d"),
            tool("twice", "a"),
            tool("twice", "b"),
            tool("", "d"),
            tool("a\nb", "d"),
            tool("resources.read", "d"),
            tool("zero\u{200b}width", "d"),
            tool(&"n".repeat(300), "d"),
            tool("long", &"d".repeat(MAX_DEFINITION)),
            json!({"name": "no_schema"}),
            json!({"name": 7, "inputSchema": {}}),
            json!("text"),
            tool("dotted.name", "d"),
        ] {
            gathered.take("s", value);
        }
        let listing = gathered.listing();
        assert_eq!(names(&listing), ["s.ok", "s.dotted.name"]);
        assert!(listing.warnings.len() >= 4, "{:?}", listing.warnings);
    }

    #[test]
    fn there_is_a_limit_to_tools() {
        let mut gathered = Gathered::default();
        for at in 0..MAX_TOOLS + 5 {
            gathered.take("s", tool(&format!("t{at}"), "d"));
        }
        let listing = gathered.listing();
        assert_eq!(listing.tools.len(), MAX_TOOLS);
        assert_eq!(listing.warnings.len(), 1);
    }
}
