//! Upstream MCP servers: checked and kept. Serving them is a later version's part.

use super::{
    fields::{Field, Map},
    reader::Reader,
    secret::Secret,
    tools::Names,
};

/// An upstream MCP server, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct McpServer {
    pub(crate) name: String,
    pub(crate) transport: McpTransport,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum McpTransport {
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<(String, Secret)>,
    },
    Sse {
        url: Secret,
        headers: Vec<(String, Secret)>,
    },
    Http {
        url: Secret,
        headers: Vec<(String, Secret)>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Stdio,
    Sse,
    Http,
}

impl Reader<'_> {
    pub(super) fn read_mcp_servers(&mut self, top: &Map<'_>) -> Vec<McpServer> {
        let mut names = Names::default();
        let mut servers = Vec::new();
        let Some(field) = top.get("mcp_servers") else {
            return servers;
        };
        for item in self.items(field) {
            servers.extend(self.read_mcp_server(item, &mut names));
        }
        if let (false, Some(span)) = (servers.is_empty(), top.key_span("mcp_servers")) {
            let all: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
            let message = format!("MCP servers are not served yet: {}", all.join(", "));
            self.warn(
                span,
                message,
                "their tools do not exist until a later version; all else runs",
            );
        }
        servers
    }

    fn read_mcp_server(&mut self, item: Field<'_>, names: &mut Names) -> Option<McpServer> {
        const KEYS: [&str; 7] = [
            "name",
            "transport",
            "command",
            "args",
            "env",
            "url",
            "headers",
        ];
        let map = self.map(item, &KEYS)?;
        let name = self
            .require(&map, "name", "an MCP server")
            .and_then(|field| self.unique_name(field, names));
        let by = self.read_by(&map);
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
        Some(McpServer {
            name: name?,
            transport,
        })
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
