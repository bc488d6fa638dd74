//! What is measured, one file each.

pub(crate) mod approvals;
pub(crate) mod decisions;
pub(crate) mod forwarded;
pub(crate) mod listing;
pub(crate) mod mcp;
pub(crate) mod policy;
pub(crate) mod runs;
pub(crate) mod start;
pub(crate) mod waiting;

use std::{net::SocketAddr, time::Duration};

use crate::{
    Effort,
    load::{self, Connection, Request},
    process::Server,
    report::{Report, Row, Target, Unit},
};

/// As many agents as make calls at the same time in a busy team; connections share them.
const AGENTS: usize = 16;

/// Arguments as agents send them. The number makes each call another one.
const ARGUMENTS: &str = r#"{"path":"/srv/project/src/module-############.rs","offset":0,"limit":2000,"reason":"look at the failing test"}"#;

fn agent(at: usize) -> String {
    format!("authorization: Bearer agent:worker-{:02}\r\n", at % AGENTS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// One of two servers that are compared, the calls to it, and what was measured.
struct Side<'a> {
    server: &'a Server,
    requests: Vec<Request>,
    per_second: Vec<f64>,
    answered: f64,
    processor_time: Duration,
}

impl<'a> Side<'a> {
    fn new(server: &'a Server, connections: usize, request: fn(usize) -> Request) -> Self {
        Self {
            server,
            requests: (0..connections).map(request).collect(),
            per_second: Vec::new(),
            answered: 0.0,
            processor_time: Duration::ZERO,
        }
    }

    async fn round(&mut self, duration: Duration) -> anyhow::Result<()> {
        let before = self.server.processor_time()?;
        let round = load::run(self.server.addr, self.requests.clone(), duration).await?;
        self.processor_time += self.server.processor_time()?.saturating_sub(before);
        self.answered += round.answered;
        self.per_second.push(round.per_second);
        Ok(())
    }

    fn nanoseconds_of_one(&self) -> f64 {
        self.processor_time.as_nanos() as f64 / self.answered
    }
}

/// Calls per second at two servers, measured in turns, and what one call costs each of them. The second
/// is the steadier number: it hardly depends on what else the machine does.
async fn compare(
    report: &mut Report,
    name: &str,
    (server, bare): (&Server, &Server),
    request: fn(usize) -> Request,
    (effort, least): (Effort, Option<f64>),
) -> anyhow::Result<()> {
    for server in [server, bare] {
        let mut side = Side::new(server, effort.connections, request);
        side.round(effort.warm_up).await?;
    }
    let mut ours = Side::new(server, effort.connections, request);
    let mut theirs = Side::new(bare, effort.connections, request);
    for _ in 0..effort.rounds {
        ours.round(effort.round).await?;
        theirs.round(effort.round).await?;
    }
    let costs = (ours.nanoseconds_of_one(), theirs.nanoseconds_of_one());
    report.add(Row::new(
        name,
        Unit::PerSecond,
        median(ours.per_second),
        Some(median(theirs.per_second)),
        least.map(Target::RatioAtLeast),
    ));
    let name = "  processor time of one";
    report.add(Row::new(
        name,
        Unit::Microseconds,
        costs.0 / 1e3,
        Some(costs.1 / 1e3),
        None,
    ));
    Ok(())
}

/// One call, to see that the two sides do the same work: the sizes of their answers.
async fn answer_size(addr: SocketAddr, request: &Request) -> anyhow::Result<usize> {
    let mut connection = Connection::open(addr).await?;
    let answer = connection.ask(&mut request.clone()).await?;
    let text = String::from_utf8_lossy(&answer.body);
    anyhow::ensure!(
        answer.status == 200,
        "the answer is {}: {text}",
        answer.status
    );
    Ok(answer.body.len())
}
