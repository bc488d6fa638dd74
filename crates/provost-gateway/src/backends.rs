//! The ways out: whatever executes a permitted call.
//!
//! Each kind of backend owns its configuration; this registry builds them all, tells every problem
//! at once, and finds the one that runs a tool. No decision is made here: a backend sees a call only
//! with its permit.

mod answer;
mod cli;
mod declared;
mod headers;
mod http;
pub mod mcp;
mod openapi;
mod schema;
#[cfg(test)]
mod testing;
mod url;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use provost_core::{
    approval::Question,
    call::is_name,
    ports::{Backend, ToolInfo},
    review,
};
use serde_json::{Map, Value};

pub use cli::{CliCommandConfig, CliToolConfig};
pub use http::HttpToolConfig;
pub use mcp::{McpServerConfig, McpTransport};
pub use openapi::{OpenApiConfig, OpenApiSource};
pub use schema::Schema;

use crate::web::{Outlets, Web};
use cli::{COMMAND, CliTool, DISPATCH};
use http::HttpTool;
use mcp::McpServers;

/// The largest answer of an HTTP backend, unless configured otherwise.
const MAX_ANSWER: u64 = 8 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub struct BackendsConfig {
    pub http_tools: Vec<HttpToolConfig>,
    pub openapi: Vec<OpenApiConfig>,
    pub cli_tools: Vec<CliToolConfig>,
    pub mcp_servers: Vec<McpServerConfig>,
    /// The largest answer taken from an HTTP backend or an MCP server, in bytes.
    pub max_answer: Option<u64>,
    /// How many files connections to backends and programs may take at a time; `None`: as many as there are.
    pub files: Option<usize>,
    /// How many bytes answers may take while they come in.
    pub held_bytes: Option<usize>,
}

/// What is wrong with a configured backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{backend}`: {problem}")]
pub struct BackendError {
    /// The tool, or the document that describes it.
    pub backend: String,
    pub problem: String,
    /// Whether the configuration itself is wrong. What is not fatal may heal without a change of it,
    /// and all other tools serve meanwhile.
    pub fatal: bool,
}

impl BackendError {
    fn fatal(backend: &str, problem: impl Into<String>) -> Self {
        Self {
            backend: backend.to_owned(),
            problem: problem.into(),
            fatal: true,
        }
    }

    fn warning(backend: &str, problem: impl Into<String>) -> Self {
        Self {
            fatal: false,
            ..Self::fatal(backend, problem)
        }
    }
}

#[derive(Default)]
pub struct Backends {
    by_tool: HashMap<Box<str>, Arc<dyn Backend>>,
    /// By what stands before the last dot of a tool's name.
    dispatchers: HashMap<Box<str>, Arc<dyn Backend>>,
    tools: BTreeMap<String, ToolInfo>,
    /// Whose tools come and go.
    mcp: Arc<McpServers>,
    warnings: Vec<BackendError>,
}

impl Backends {
    /// Builds everything that is configured; a description of tools given by URL is fetched here.
    /// When anything fatal is found all problems are returned, and none of the backends.
    pub async fn build(config: BackendsConfig) -> Result<Self, Vec<BackendError>> {
        let files = config.files.unwrap_or(usize::MAX);
        let outlets = Outlets::new(files, config.held_bytes.unwrap_or(usize::MAX) as u64);
        let web = Web::through(&outlets, config.max_answer.unwrap_or(MAX_ANSWER));
        let mut backends = Self::default();
        let mut problems = Vec::new();
        for tool in config.http_tools {
            match HttpTool::build(tool, &web) {
                Ok(tool) => backends
                    .add(Arc::new(tool))
                    .unwrap_or_else(|error| problems.extend(error)),
                Err(found) => problems.extend(found),
            }
        }
        for document in config.openapi {
            let (operations, found) = openapi::build(document, &web).await;
            problems.extend(found);
            for operation in operations {
                backends
                    .add(Arc::new(operation))
                    .unwrap_or_else(|error| problems.extend(error));
            }
        }
        for tool in config.cli_tools {
            let (tool, found) = CliTool::build(tool, &outlets);
            problems.extend(found);
            if let Some(tool) = tool {
                backends
                    .add(Arc::new(tool))
                    .unwrap_or_else(|error| problems.extend(error));
            }
        }
        let (servers, found) = McpServers::build(config.mcp_servers, &web);
        problems.extend(found);
        problems.extend(backends.taken_prefixes(&servers));
        backends.mcp = Arc::new(servers);
        if problems.iter().any(|problem| problem.fatal) {
            return Err(problems);
        }
        backends.warnings = problems;
        Ok(backends)
    }

    /// Adds a backend with all its tools, or says which of their names cannot be.
    pub fn add(&mut self, backend: Arc<dyn Backend>) -> Result<(), Vec<BackendError>> {
        let tools = backend.tools();
        let problems: Vec<BackendError> = tools
            .iter()
            .filter_map(|tool| {
                self.refuse(tool)
                    .map(|problem| BackendError::fatal(&tool.name, problem))
            })
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        for tool in &tools {
            self.by_tool
                .insert(tool.name.as_str().into(), backend.clone());
            if let Some((prefix, DISPATCH)) = tool.name.rsplit_once('.') {
                self.dispatchers.insert(prefix.into(), backend.clone());
            }
        }
        self.tools
            .extend(tools.into_iter().map(|tool| (tool.name.clone(), tool)));
        Ok(())
    }

    /// The backend that runs a tool.
    pub fn find(&self, tool: &str) -> Option<Arc<dyn Backend>> {
        if let Some(backend) = self.by_tool.get(tool) {
            return Some(backend.clone());
        }
        let (prefix, _) = tool.rsplit_once('.')?;
        let dispatcher = self.dispatchers.get(prefix).cloned();
        dispatcher
            .or_else(|| Some(self.mcp.of_tool(tool)?.clone()))
            .filter(|backend| backend.has(tool))
    }

    /// The MCP server that runs a tool, where it is one that does.
    pub fn upstream(&self, tool: &str) -> Option<&Arc<mcp::Upstream>> {
        let (prefix, _) = tool.rsplit_once('.')?;
        let ours = self.by_tool.contains_key(tool) || self.dispatchers.contains_key(prefix);
        self.mcp.of_tool(tool).filter(|_| !ours)
    }

    /// The upstream MCP servers. They run from [`McpServers::start`] on.
    pub fn mcp(&self) -> &Arc<McpServers> {
        &self.mcp
    }

    /// The name under which a call must be judged: `gh.__dispatch` with `command: pr` is `gh.pr`, so that a rule
    /// about `gh.pr` cannot be passed by. The name says it all then, and `command` is taken out: people and rules
    /// would take it for a command line. Apply it before the decision.
    pub fn judged<'t>(&self, tool: &'t str, params: &mut Map<String, Value>) -> Cow<'t, str> {
        let dispatched = tool
            .rsplit_once('.')
            .filter(|(prefix, last)| *last == DISPATCH && self.dispatchers.contains_key(*prefix));
        let Some((prefix, _)) = dispatched else {
            return Cow::Borrowed(tool);
        };
        let Some(command) = params.get(COMMAND).and_then(Value::as_str) else {
            return Cow::Borrowed(tool);
        };
        let name = format!("{prefix}.{command}");
        if command == DISPATCH || self.find(&name).is_none() {
            return Cow::Borrowed(tool);
        }
        params.remove(COMMAND);
        Cow::Owned(name)
    }

    /// All tools that have a name of their own, by name.
    pub fn tools(&self) -> Vec<ToolInfo> {
        let mut tools: Vec<_> = self.tools.values().cloned().collect();
        let of_servers = self.mcp.tools();
        if !of_servers.is_empty() {
            tools.extend(of_servers);
            tools.sort_by(|a, b| a.name.cmp(&b.name));
        }
        tools
    }

    /// Whether what a person made of a call's arguments fits its tool, where that is one of ours: if not, why.
    /// The person saw secrets masked: what is checked has them again.
    pub(crate) fn fits(
        &self,
        question: &Question,
        changed: &Map<String, Value>,
    ) -> Result<(), String> {
        // A mask that stands for nothing is the gate's to refuse.
        let whole = review::unmask(changed, &question.params);
        let mut whole = whole.unwrap_or_else(|| changed.clone());
        match self.misfit(&question.tool, &mut whole) {
            Some(why) => Err(why.into()),
            None => Ok(()),
        }
    }

    /// Why arguments do not fit the tool they are for, where it is one of ours.
    pub(crate) fn misfit(
        &self,
        tool: &str,
        arguments: &mut Map<String, Value>,
    ) -> Option<Box<str>> {
        misfit(&*self.find(tool)?, tool, arguments)
    }

    /// How many [`Backends::tools`] there are.
    pub fn count(&self) -> usize {
        self.tools.len() + self.mcp.count()
    }

    pub fn is_empty(&self) -> bool {
        self.by_tool.is_empty() && self.mcp.names().next().is_none()
    }

    /// What was found wrong with backends that were built all the same.
    pub fn warnings(&self) -> &[BackendError] {
        &self.warnings
    }

    /// An MCP server has all names that begin with its own for itself.
    fn taken_prefixes(&self, servers: &McpServers) -> Vec<BackendError> {
        let taken = |server: &&str| {
            let begins =
                |tool: &String| tool.split_once('.').map_or(&**tool, |(first, _)| first) == *server;
            self.tools.keys().any(begins)
        };
        let refuse = |server| {
            BackendError::fatal(server, "other tools begin with the name of this MCP server")
        };
        servers.names().filter(taken).map(refuse).collect()
    }

    fn refuse(&self, tool: &ToolInfo) -> Option<String> {
        if let Some(other) = self.tools.get(&tool.name) {
            return Some(format!(
                "this name is taken by another tool (of kind {})",
                other.source
            ));
        }
        (!is_name(&tool.name))
            .then(|| "the name of a tool must be short, printable and not empty".to_owned())
    }
}

/// Why arguments do not fit a tool of this backend. They are taken and put back, not copied.
pub(crate) fn misfit(
    backend: &dyn Backend,
    tool: &str,
    arguments: &mut Map<String, Value>,
) -> Option<Box<str>> {
    let whole = Value::Object(std::mem::take(arguments));
    let checked = backend.check(tool, &whole);
    if let Value::Object(whole) = whole {
        *arguments = whole;
    }
    let why = checked.err()?;
    Some(format!("the arguments do not fit `{tool}`: {why}").into())
}

impl fmt::Debug for Backends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.keys()).finish()
    }
}

#[cfg(test)]
mod tests;
