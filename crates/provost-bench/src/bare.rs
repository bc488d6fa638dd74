//! The baselines: servers that do the same work without the gateway, each run as a process of its own.

mod agent;
mod echo;
mod json;
mod list;
mod mcp;
mod proxy;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use axum::{Router, serve::ListenerExt as _};
use clap::Subcommand;
use tokio::net::TcpListener;

#[derive(Debug, Subcommand)]
pub(crate) enum Bare {
    /// An axum endpoint that reads and writes the JSON of a decision
    #[command(name = "bare-json", hide = true)]
    Json,
    /// An axum endpoint that writes the values of a page
    #[command(name = "bare-list", hide = true)]
    List { page: PathBuf },
    /// An MCP server
    #[command(name = "bare-mcp", hide = true)]
    Mcp,
    /// A hyper reverse proxy
    #[command(name = "bare-proxy", hide = true)]
    Proxy { backend: SocketAddr },
    /// A coding agent that writes so many updates
    #[command(name = "bare-agent", hide = true)]
    Agent { updates: u64 },
    /// A copy of its input
    #[command(name = "bare-copy", hide = true)]
    Copy,
    /// The backend behind gateway and proxy
    #[command(name = "bare-echo", hide = true)]
    Echo,
}

pub(crate) fn run(bare: Bare) -> anyhow::Result<()> {
    match bare {
        Bare::Agent { updates } => agent::flood(updates),
        Bare::Copy => agent::copy(),
        server => listen(server),
    }
}

/// On a runtime like the gateway's.
#[tokio::main]
async fn listen(bare: Bare) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    eprintln!("listens on http://{}", listener.local_addr()?);
    match bare {
        Bare::Json => serve(listener, json::router()).await,
        Bare::List { page } => serve(listener, list::router(&page)?).await,
        Bare::Mcp => serve(listener, mcp::router()).await,
        Bare::Proxy { backend } => proxy::serve(listener, backend).await,
        Bare::Echo => echo::serve(listener).await,
        Bare::Agent { .. } | Bare::Copy => Ok(()),
    }
}

async fn serve(listener: TcpListener, router: Router) -> anyhow::Result<()> {
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}
