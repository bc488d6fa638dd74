//! The gateway's memory while ten thousand callers wait for a person.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{ARGUMENTS, agent};
use crate::{
    gateway::{self, Gateway, NOWHERE, Stage},
    load::{Connection, Request},
    report::{Report, Row, Target, Unit},
};

const CALLERS: usize = 10_000;
/// Files the gateway and this program need besides connections.
const OTHER_FILES: u64 = 200;
/// Opened at once, so that the gateway's queue of new connections does not overflow.
const WAVE: usize = 250;
/// Callers from one address: its ports do not suffice for all.
const FROM_ONE: usize = 5_000;
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn measure(report: &mut Report, stage: &Stage, files: u64) -> anyhow::Result<()> {
    let callers = CALLERS.min(files.saturating_sub(OTHER_FILES) as usize);
    if callers < CALLERS {
        report.note(format!(
            "only {callers} callers wait: the limit of open files is {files}"
        ));
    }
    let gateway = stage
        .gateway("waiting", &gateway::http_tools(NOWHERE))
        .await?;
    let body = format!(r#"{{"params":{ARGUMENTS}}}"#);
    let mut connections = Vec::with_capacity(callers);
    for first in (0..callers).step_by(WAVE) {
        for at in first..callers.min(first + WAVE) {
            let address = Ipv4Addr::new(127, 0, 0, 2 + (at / FROM_ONE) as u8);
            let from = SocketAddr::from((address, 0));
            let mut connection = Connection::open_from(from, gateway.server.addr).await?;
            let mut request = Request::post("/tool/shell.exec", &agent(at), &body);
            connection.send(&mut request).await?;
            connections.push(connection);
        }
        wait_for(&gateway, connections.len()).await?;
    }
    report.add(Row::new(
        format!("memory, {callers} callers waiting"),
        Unit::Bytes,
        gateway.server.memory()? as f64,
        None,
        Some(Target::AtMost(200e6)),
    ));
    drop(connections);
    gateway.server.end().await
}

async fn wait_for(gateway: &Gateway, callers: usize) -> anyhow::Result<()> {
    let mut connection = Connection::open(gateway.server.addr).await?;
    let began = Instant::now();
    loop {
        let health = connection.get("/health", "").await?;
        let health: Value = serde_json::from_slice(&health.body)?;
        let waiting = health.get("waiting").and_then(Value::as_u64).unwrap_or(0);
        if waiting >= callers as u64 {
            return Ok(());
        }
        anyhow::ensure!(
            began.elapsed() < PATIENCE,
            "only {waiting} of {callers} callers wait"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
