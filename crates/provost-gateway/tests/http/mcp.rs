//! The MCP door over real connections: by raw messages, and by a client of the official library.

#[path = "mcp/behind.rs"]
mod behind;
#[path = "mcp/lists.rs"]
mod lists;
#[path = "mcp/messages.rs"]
mod messages;
#[path = "mcp/roles.rs"]
mod roles;
#[path = "mcp/sessions.rs"]
mod sessions;
#[path = "mcp/stateless.rs"]
mod stateless;
#[path = "mcp/upstream.rs"]
mod upstream;
#[path = "mcp/waiting.rs"]
mod waiting;
#[path = "mcp/wire.rs"]
mod wire;
