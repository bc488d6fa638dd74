//! What we say of ourselves.

use serde::Deserialize;
use serde_json::{Value, json};

use super::version;
use crate::app::App;

/// `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hello {
    pub(super) protocol_version: String,
    pub(super) capabilities: Option<Value>,
}

const INSTRUCTIONS: &str = "\
Everything you call here is decided first: by policy, by a supervisor or by a person. A call may take a \
while, because somebody is asked. A call that is not permitted was not run, and its result says why and \
what to do instead: do not try to get the same thing done in another way. `mesh.catalog` lists the tools \
and what policy says of each.";

pub(super) fn initialized(app: &App, version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(app),
        "serverInfo": ourselves(app),
        "instructions": INSTRUCTIONS,
    })
}

pub(super) fn discovered(app: &App) -> Value {
    json!({
        "supportedVersions": version::supported(),
        "capabilities": capabilities(app),
        "instructions": INSTRUCTIONS,
        "_meta": {"io.modelcontextprotocol/serverInfo": ourselves(app)},
    })
}

/// What only servers behind us can do is not promised where there are none.
fn capabilities(app: &App) -> Value {
    let tools = json!({"listChanged": true});
    if app.mcp.names().next().is_none() {
        return json!({"tools": tools});
    }
    json!({
        "tools": tools,
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    })
}

fn ourselves(app: &App) -> Value {
    json!({"name": "provost", "title": "Provost", "version": app.version})
}
