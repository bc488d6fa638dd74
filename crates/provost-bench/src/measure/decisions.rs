//! Durable decisions per second over HTTP, against an endpoint that only reads and writes the JSON.

use super::{ARGUMENTS, agent, answer_size, compare};
use crate::{
    Effort,
    gateway::{self, NOWHERE, Stage},
    load::Request,
    process::Server,
    report::Report,
};

const NAME: &str = "durable decisions, against bare axum JSON";
const LEAST: f64 = 0.6;

pub(crate) async fn measure(
    report: &mut Report,
    stage: &Stage,
    effort: Effort,
) -> anyhow::Result<()> {
    let gateway = stage
        .gateway("decisions", &gateway::http_tools(NOWHERE))
        .await?;
    let bare = Server::bare("bare-json", "").await?;
    let ours = answer_size(gateway.server.addr, &request(0)).await?;
    let theirs = answer_size(bare.addr, &request(0)).await?;
    anyhow::ensure!(
        ours.abs_diff(theirs) <= 16,
        "the answers differ in size: {ours} and {theirs} bytes"
    );
    let servers = (&gateway.server, &bare);
    compare(report, NAME, servers, request, (effort, Some(LEAST))).await?;
    gateway.server.end().await
}

fn request(at: usize) -> Request {
    let body = format!(
        r#"{{"tool":"fs.read_file","arguments":{ARGUMENTS},"session_id":"session-{:02}"}}"#,
        at % super::AGENTS
    );
    Request::post("/decide", &agent(at), &body)
}
