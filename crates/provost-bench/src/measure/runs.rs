//! Notifications from an agent to a callback, through `provost run`, against a bare copy of the agent's output
//! from one pipe to another.

use std::{
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use axum::{Router, body::Bytes, extract::State, routing::post};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    process::{Child, Command},
};

use super::median;
use crate::{
    Effort,
    gateway::Stage,
    process::{self, Usage},
    report::{Report, Row, Unit},
};

const UPDATES: u64 = 100_000;
const LOOK: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_mins(2);

/// What one way of carrying everything cost.
#[derive(Clone, Copy, Default)]
struct Cost {
    per_second: f64,
    /// Processor time of one notification, in microseconds.
    processor: f64,
    memory: f64,
}

/// When updates came in.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Option<(Instant, Instant)>>>);

pub(crate) async fn measure(
    report: &mut Report,
    stage: &Stage,
    effort: Effort,
) -> anyhow::Result<()> {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..effort.rounds {
        ours.push(run(stage, round).await?);
        bare.push(copied().await?);
    }
    let of = |costs: &[Cost], what: fn(&Cost) -> f64| median(costs.iter().map(what).collect());
    let mut row = |name: &str, unit, what: fn(&Cost) -> f64| {
        let (ours, bare) = (of(&ours, what), of(&bare, what));
        report.add(Row::new(name, unit, ours, Some(bare), None));
    };
    row(
        "100,000 notifications, agent to callback, against a pipe copy",
        Unit::PerSecond,
        |cost| cost.per_second,
    );
    row(
        "processor time of one notification",
        Unit::Microseconds,
        |cost| cost.processor,
    );
    row("peak memory of the runner", Unit::Bytes, |cost| cost.memory);
    Ok(())
}

async fn run(stage: &Stage, round: usize) -> anyhow::Result<Cost> {
    let heard = Heard::default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let callback = format!("http://{}/", listener.local_addr()?);
    let router = Router::new()
        .route("/", post(hear))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(heard.clone());
    let sink = tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = stage.path(&format!("run-{round}"));
    std::fs::create_dir_all(&folder)?;
    let config = folder.join("run.json");
    let program = std::env::current_exe()?;
    let text = json!({
        "runId": "bench", "taskId": "bench", "sandboxId": "bench", "promptId": "bench", "prompt": "go",
        "callbackUrl": callback, "token": "bench-token", "repoDir": folder,
        "command": [program, "bare-agent", UPDATES.to_string()],
    });
    std::fs::write(&config, text.to_string())?;
    let mut runner = Command::new(stage.binary())
        .arg("run")
        .arg("--config")
        .arg(&config)
        .arg("--data")
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let usage = watched(&mut runner).await?;
    sink.abort();
    let (first, last) = heard.span().context("the callback heard nothing")?;
    Ok(Cost::of(last - first, usage))
}

async fn hear(State(heard): State<Heard>, body: Bytes) -> &'static str {
    // The kind comes first; what tells of the end is not what is measured.
    if body.starts_with(br#"{"kind":"session_update""#) {
        heard.note();
    }
    "{}"
}

async fn copied() -> anyhow::Result<Cost> {
    let program = std::env::current_exe()?;
    let mut agent = Command::new(&program)
        .args(["bare-agent", &UPDATES.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let out: Stdio = agent.stdout.take().context("stdout is piped")?.try_into()?;
    let mut copy = Command::new(&program)
        .arg("bare-copy")
        .stdin(out)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut from = copy.stdout.take().context("stdout is piped")?;
    let mut to = agent.stdin.take().context("stdin is piped")?;
    let began = Instant::now();
    to.write_all(b"{\"id\":1,\"method\":\"session/prompt\"}\n")
        .await?;
    drop(to);
    let reading = tokio::spawn(async move {
        let mut buffer = vec![0; 64 * 1024];
        while from.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    });
    let usage = watched(&mut copy).await?;
    reading.await?;
    Ok(Cost::of(began.elapsed(), usage))
}

/// Until it has ended: what it used, as it was last seen.
async fn watched(child: &mut Child) -> anyhow::Result<Usage> {
    let id = child.id().context("the process has ended")?;
    let deadline = Instant::now() + LONGEST;
    let mut usage = Usage::default();
    loop {
        if let Some(status) = child.try_wait()? {
            anyhow::ensure!(status.success(), "a run ended with {status}");
            return Ok(usage);
        }
        usage = process::usage(id).unwrap_or(usage);
        anyhow::ensure!(Instant::now() < deadline, "a run does not end");
        tokio::time::sleep(LOOK).await;
    }
}

impl Cost {
    fn of(time: Duration, usage: Usage) -> Self {
        let updates = UPDATES as f64;
        Self {
            per_second: updates / time.as_secs_f64(),
            processor: usage.processor.as_secs_f64() * 1e6 / updates,
            memory: usage.peak_memory as f64,
        }
    }
}

impl Heard {
    fn note(&self) {
        let now = Instant::now();
        let mut span = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *span = Some((span.map_or(now, |(first, _)| first), now));
    }

    fn span(&self) -> Option<(Instant, Instant)> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
