//! Upstream MCP servers, and what MCP clients are offered.

use provost_gateway::{
    app::Waiting,
    backends::{BackendsConfig, McpServerConfig, McpTransport, mcp::RESERVED},
};

use super::{
    fields::{Field, Map},
    reader::Reader,
    tools::Names,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Stdio,
    Sse,
    Http,
}

impl Reader<'_> {
    pub(super) fn read_waiting(&mut self, top: &Map<'_>) -> Waiting {
        const CHOICES: [(&str, Waiting); 2] = [("block", Waiting::Block), ("ask", Waiting::Ask)];
        let map = top
            .get("mcp")
            .and_then(|field| self.map(field, &["waiting"]));
        let field = map.and_then(|map| map.filled("waiting"));
        let waiting = field.and_then(|field| self.choice(field, &CHOICES));
        waiting.unwrap_or_default()
    }

    /// After all other backends: their names are taken.
    pub(super) fn read_mcp_servers(
        &mut self,
        top: &Map<'_>,
        others: &BackendsConfig,
    ) -> Vec<McpServerConfig> {
        let mut names = Names::default();
        let mut servers = Vec::new();
        let Some(field) = top.get("mcp_servers") else {
            return servers;
        };
        for item in self.items(field) {
            servers.extend(self.read_mcp_server(item, &mut names, others));
        }
        servers
    }

    fn read_mcp_server(
        &mut self,
        item: Field<'_>,
        names: &mut Names,
        others: &BackendsConfig,
    ) -> Option<McpServerConfig> {
        const KEYS: [&str; 8] = [
            "name",
            "transport",
            "command",
            "args",
            "env",
            "url",
            "headers",
            "timeout",
        ];
        let map = self.map(item, &KEYS)?;
        let name = self
            .require(&map, "name", "an MCP server")
            .and_then(|field| self.server_name(field, names, others));
        let timeout = map.filled("timeout").and_then(|field| self.duration(field));
        let by = self.read_by(&map);
        self.check_unused(&map, by);
        let args = map
            .get("args")
            .map(|field| self.strings(field))
            .unwrap_or_default();
        let env = map
            .get("env")
            .map(|field| self.secret_pairs(field))
            .unwrap_or_default();
        let headers = map
            .get("headers")
            .map(|field| self.secret_pairs(field))
            .unwrap_or_default();
        let transport = match by? {
            By::Stdio => {
                let command = self.require(&map, "command", "an MCP server over stdio");
                let command = command.and_then(|field| self.text(field))?.to_owned();
                McpTransport::Stdio { command, args, env }
            }
            by => {
                let url = self.require(&map, "url", "an MCP server over HTTP");
                let url = url.and_then(|field| self.secret_url(field))?;
                if by == By::Sse {
                    McpTransport::Sse { url, headers }
                } else {
                    McpTransport::Http { url, headers }
                }
            }
        };
        Some(McpServerConfig {
            name: name?,
            transport,
            timeout,
        })
    }

    /// What is written for another transport would be thought to hold.
    fn check_unused(&mut self, map: &Map<'_>, by: Option<By>) {
        let (unused, transport): (&[_], _) = match by {
            Some(By::Stdio) => (&["url", "headers"], "a server that is a program"),
            Some(_) => (&["command", "args", "env"], "a server over HTTP"),
            None => return,
        };
        for name in unused {
            if let (Some(_), Some(span)) = (map.filled(name), map.key_span(name)) {
                let message = format!("`{name}` has no use with {transport}");
                self.warn(span, message, "remove it, or set `transport`");
            }
        }
    }

    /// It stands before the dot in the names of its tools, and nothing else may.
    fn server_name(
        &mut self,
        field: Field<'_>,
        names: &mut Names,
        others: &BackendsConfig,
    ) -> Option<String> {
        let name = self.unique_name(field, names)?;
        let problem = if name.contains('.') {
            "the name of an MCP server has no dot"
        } else if RESERVED.contains(&&*name) {
            "this name is the prefix of tools that are not an MCP server's"
        } else if prefixes(others).any(|taken| taken == name) {
            "the names of other tools begin with this name"
        } else {
            return Some(name);
        };
        let help = "its tools are called `name.tool`: give it a name of its own";
        self.error(field.node.span, format!("`{name}`: {problem}"), help);
        None
    }

    /// Where it is not written, it is told by what is.
    fn read_by(&mut self, map: &Map<'_>) -> Option<By> {
        match map.filled("transport") {
            Some(field) => self.choice(
                field,
                &[("stdio", By::Stdio), ("sse", By::Sse), ("http", By::Http)],
            ),
            None if map.filled("command").is_none() && map.filled("url").is_some() => {
                Some(By::Http)
            }
            None => Some(By::Stdio),
        }
    }
}

fn prefixes(others: &BackendsConfig) -> impl Iterator<Item = &str> {
    let http = others.http_tools.iter().map(|tool| tool.name.as_str());
    let cli = others.cli_tools.iter().map(|tool| tool.name.as_str());
    let openapi = others.openapi.iter().filter_map(|api| api.name.as_deref());
    http.chain(cli)
        .chain(openapi)
        .map(|name| name.split_once('.').map_or(name, |(first, _)| first))
}
