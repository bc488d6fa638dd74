//! The official MCP servers behind a gateway (`mcp_servers`), called by the clients of others: over HTTP at
//! `/mcp` with a key, and over stdio by `provost mcp`.

mod calls;
mod desk;
mod lost;
mod offers;
mod remote;
mod versions;
