//! What is measured, one file each.

pub(crate) mod decisions;
pub(crate) mod forwarded;
pub(crate) mod listing;
pub(crate) mod policy;
pub(crate) mod start;
pub(crate) mod waiting;

use std::net::SocketAddr;

use crate::{
    Effort,
    load::{self, Connection, Request},
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

/// The medians of calls per second at two servers, measured in turns.
async fn compare(
    ours: (SocketAddr, Vec<Request>),
    bare: (SocketAddr, Vec<Request>),
    effort: Effort,
) -> anyhow::Result<(f64, f64)> {
    for (addr, requests) in [&ours, &bare] {
        load::run(*addr, requests.clone(), effort.warm_up).await?;
    }
    let (mut of_ours, mut of_bare) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let round = load::run(ours.0, ours.1.clone(), effort.round).await?;
        of_ours.push(round.per_second);
        let round = load::run(bare.0, bare.1.clone(), effort.round).await?;
        of_bare.push(round.per_second);
    }
    Ok((median(of_ours), median(of_bare)))
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
