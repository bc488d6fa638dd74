//! Calls per second through to a backend, against a reverse proxy that decides and records nothing.

use super::{ARGUMENTS, agent, answer_size, compare};
use crate::{
    Effort,
    gateway::{self, Stage},
    load::Request,
    process::Server,
    report::Report,
};

const NAME: &str = "forwarded calls, against a bare hyper proxy";
const LEAST: f64 = 0.7;

pub(crate) async fn measure(
    report: &mut Report,
    stage: &Stage,
    effort: Effort,
) -> anyhow::Result<()> {
    let echo = Server::bare("bare-echo", "").await?;
    let backend = echo.addr.to_string();
    let gateway = stage
        .gateway("forwarded", &gateway::http_tools(&backend))
        .await?;
    let proxy = Server::bare("bare-proxy", &backend).await?;
    answer_size(gateway.server.addr, &request(0)).await?;
    answer_size(proxy.addr, &request(0)).await?;
    let servers = (&gateway.server, &proxy);
    compare(report, NAME, servers, request, (effort, Some(LEAST))).await?;
    gateway.server.end().await
}

fn request(at: usize) -> Request {
    let body = format!(r#"{{"params":{ARGUMENTS}}}"#);
    let headers = format!(
        "{}x-session-id: session-{:02}\r\n",
        agent(at),
        at % super::AGENTS
    );
    Request::post("/tool/echo", &headers, &body)
}
