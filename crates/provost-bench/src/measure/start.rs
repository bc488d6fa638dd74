//! From the start of the process to the first healthy answer, and what it then holds while idle.

use std::time::Duration;

use super::median;
use crate::{
    gateway::{self, NOWHERE, Stage},
    report::{Report, Row, Target, Unit},
};

const STARTS: usize = 5;
const IDLE: Duration = Duration::from_millis(1200);

pub(crate) async fn measure(report: &mut Report, stage: &Stage) -> anyhow::Result<()> {
    // The data folder of the decisions, where they were measured: one that has grown.
    let begin = async || {
        stage
            .gateway("decisions", &gateway::http_tools(NOWHERE))
            .await
    };
    begin().await?.server.end().await?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let gateway = begin().await?;
        times.push(gateway.started_in.as_secs_f64() * 1000.0);
        tokio::time::sleep(IDLE).await;
        memory.push(gateway.server.memory()? as f64);
        gateway.server.end().await?;
    }
    report.add(Row::new(
        "start, until healthy",
        Unit::Milliseconds,
        median(times),
        None,
        Some(Target::AtMost(100.0)),
    ));
    report.add(Row::new(
        "memory, idle",
        Unit::Bytes,
        median(memory),
        None,
        Some(Target::AtMost(25e6)),
    ));
    Ok(())
}
