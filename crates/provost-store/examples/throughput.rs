//! How many decisions a second the store records durably: `throughput <file or postgres://…> [callers]
//! [seconds]`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use provost_core::{
    ids::TraceId,
    ports::{Clock as _, Record, Recorded, Store, SystemClock},
    trace::{RecordKind, TraceRow},
};
use provost_store::{StoreConfig, open};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments
        .next()
        .ok_or("which store? a file, or postgres://…")?;
    let callers: usize = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let config = if place.starts_with("postgres") {
        StoreConfig::Postgres { url: place }
    } else {
        StoreConfig::Sqlite { path: place.into() }
    };
    let store = open(&config).await?;
    let version = store.control().await?.version;
    let written = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let until = began + Duration::from_secs(seconds);
    let callers: Vec<_> = (0..callers)
        .map(|caller| tokio::spawn(call(store.clone(), caller, version, until, written.clone())))
        .collect();
    for caller in callers {
        caller.await?;
    }
    let rows = written.load(Ordering::Relaxed);
    println!(
        "{rows} rows, {:.0} a second",
        rows as f64 / began.elapsed().as_secs_f64()
    );
    store.close().await;
    Ok(())
}

async fn call(
    store: Arc<dyn Store>,
    caller: usize,
    version: u64,
    until: Instant,
    written: Arc<AtomicU64>,
) {
    let agent: Arc<str> = format!("agent-{}", caller % 8).into();
    let session: Arc<str> = format!("session-{caller}").into();
    let tool: Arc<str> = format!("filesystem.read_{}", caller % 20).into();
    let body = format!("{{\"text\":\"{}\"}}", "x".repeat(400));
    while Instant::now() < until {
        let at = SystemClock.now();
        let row = TraceRow {
            trace_id: TraceId::at(at),
            kind: RecordKind::Decision,
            at,
            agent: agent.clone(),
            session: Some(session.clone()),
            tool: tool.clone(),
            verdict: "allow",
            forwarded: std::env::var_os("FORWARDED").is_some(),
            body: body.clone(),
        };
        let record = Record {
            row,
            version: Some(version),
            grant: None,
            key: None,
            max_total: None,
        };
        if !matches!(store.record(record).await, Ok(Recorded::Done)) {
            return;
        }
        written.fetch_add(1, Ordering::Relaxed);
    }
}
