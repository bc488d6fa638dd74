//! MCP `tools/call` per second through the gateway, against the same server called directly.

use std::time::{Duration, Instant};

use super::{ARGUMENTS, agent, answer_size, compare};
use crate::{
    Effort,
    gateway::{self, Gateway, Stage},
    load::{Connection, Request},
    process::Server,
    report::Report,
};

const NAME: &str = "MCP tools/call, against its server called directly";
const CONNECTING: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub(crate) async fn measure(
    report: &mut Report,
    stage: &Stage,
    effort: Effort,
) -> anyhow::Result<()> {
    let upstream = Server::bare("bare-mcp", "").await?;
    let gateway = stage
        .gateway("mcp", &gateway::mcp_server(upstream.addr))
        .await?;
    connected(&gateway).await?;
    answer_size(gateway.server.addr, &request(0)).await?;
    answer_size(upstream.addr, &request(0)).await?;
    let servers = (&gateway.server, &upstream);
    compare(report, NAME, servers, request, (effort, None)).await?;
    gateway.server.end().await
}

/// A gateway does not wait for its MCP servers when it starts.
async fn connected(gateway: &Gateway) -> anyhow::Result<()> {
    let mut connection = Connection::open(gateway.server.addr).await?;
    let admin = gateway.admin()?;
    let began = Instant::now();
    loop {
        let tools = connection.get("/tools", &admin).await?;
        if String::from_utf8_lossy(&tools.body).contains("fs.read_file") {
            return Ok(());
        }
        anyhow::ensure!(
            began.elapsed() < CONNECTING,
            "the gateway did not reach its MCP server"
        );
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// The upstream takes any name, so the same request goes to both.
fn request(at: usize) -> Request {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"fs.read_file","arguments":{ARGUMENTS}}}}}"#
    );
    let headers = format!(
        "{}accept: application/json\r\nmcp-protocol-version: 2025-11-25\r\n",
        agent(at)
    );
    Request::post("/mcp", &headers, &body)
}
