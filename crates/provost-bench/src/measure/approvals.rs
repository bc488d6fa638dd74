//! Approvals made and decided, durably, over HTTP, against the store alone doing the same two writes: how much
//! of what the store can take in its batches reaches people and agents.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use provost_core::{
    approval::{Approval, Decision, Kind, Level, Question, State, Status},
    call::{Call, Executor},
    door::Door,
    ids::{ApprovalId, TraceId},
    policy::Verdict,
    ports::{Clock as _, NewApproval, Opened, Resolve, Resolved, Store, SystemClock},
    trace::{RecordKind, TraceRow},
};
use serde_json::{Value, json};

use super::{ARGUMENTS, agent, median};
use crate::{
    Effort,
    gateway::{self, Gateway, NOWHERE, Stage},
    load::{Connection, Request},
    report::{Report, Row, Unit},
};

const NAME: &str = "approvals made and decided, against the store alone";
/// One key decides, and one person may have 128 requests in progress.
const MOST_DECIDING: usize = 100;

pub(crate) async fn measure(
    report: &mut Report,
    stage: &Stage,
    effort: Effort,
) -> anyhow::Result<()> {
    let effort = Effort {
        connections: effort.connections.min(MOST_DECIDING),
        ..effort
    };
    let gateway = stage
        .gateway("approvals", &gateway::http_tools(NOWHERE))
        .await?;
    let path = stage.path("approvals-store.db");
    let store = provost_store::open(&provost_store::StoreConfig::Sqlite { path }).await?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        ours.push(over_http(&gateway, effort).await?);
        alone.push(in_store(&store, effort).await?);
    }
    report.add(Row::new(
        NAME,
        Unit::PerSecond,
        median(ours),
        Some(median(alone)),
        None,
    ));
    store.close().await;
    gateway.server.end().await
}

/// Counts what is done until the time is over.
struct Clocked {
    until: Instant,
    done: AtomicU64,
}

impl Clocked {
    fn begin(duration: Duration) -> Arc<Self> {
        Arc::new(Self {
            until: Instant::now() + duration,
            done: AtomicU64::new(0),
        })
    }

    fn goes_on(&self) -> bool {
        Instant::now() < self.until
    }

    fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn per_second(&self, duration: Duration) -> f64 {
        self.done.load(Ordering::Relaxed) as f64 / duration.as_secs_f64()
    }
}

async fn over_http(gateway: &Gateway, effort: Effort) -> anyhow::Result<f64> {
    let (addr, admin) = (gateway.server.addr, gateway.admin()?);
    let mut connections = Vec::new();
    for _ in 0..effort.connections {
        connections.push(Connection::open(addr).await?);
    }
    let clocked = Clocked::begin(effort.round);
    let callers: Vec<_> = connections
        .into_iter()
        .enumerate()
        .map(|(at, connection)| {
            tokio::spawn(ask_and_decide(
                connection,
                at,
                admin.clone(),
                clocked.clone(),
            ))
        })
        .collect();
    for caller in callers {
        caller.await??;
    }
    Ok(clocked.per_second(effort.round))
}

async fn ask_and_decide(
    mut connection: Connection,
    at: usize,
    admin: String,
    clocked: Arc<Clocked>,
) -> anyhow::Result<()> {
    let body = format!(r#"{{"tool":"mail.send","arguments":{ARGUMENTS}}}"#);
    let headers = format!("{}prefer: respond-async\r\n", agent(at));
    let mut ask = Request::post("/decide", &headers, &body);
    while clocked.goes_on() {
        let asked = connection.ask(&mut ask).await?;
        anyhow::ensure!(asked.status == 202, "asking is answered {}", asked.status);
        let asked: Value = serde_json::from_slice(&asked.body)?;
        let id = asked.get("approval_id").and_then(Value::as_str);
        let id = id.context("no approval")?;
        let path = format!("/approvals/{id}/approve");
        let decided = connection
            .ask(&mut Request::post(&path, &admin, "{}"))
            .await?;
        anyhow::ensure!(
            decided.status == 200,
            "deciding is answered {}",
            decided.status
        );
        clocked.count();
    }
    Ok(())
}

async fn in_store(store: &Arc<dyn Store>, effort: Effort) -> anyhow::Result<f64> {
    let version = store.control().await?.version;
    let clocked = Clocked::begin(effort.round);
    let callers: Vec<_> = (0..effort.connections)
        .map(|_| tokio::spawn(open_and_resolve(store.clone(), version, clocked.clone())))
        .collect();
    for caller in callers {
        caller.await??;
    }
    Ok(clocked.per_second(effort.round))
}

async fn open_and_resolve(
    store: Arc<dyn Store>,
    version: u64,
    clocked: Arc<Clocked>,
) -> anyhow::Result<()> {
    while clocked.goes_on() {
        let new = question(version)?;
        let now = new.question.created_at;
        let Opened::Approval(approval) = store.open_approval(new, now).await? else {
            anyhow::bail!("the question was not opened");
        };
        let resolved = store.resolve(answer(&approval)).await?;
        anyhow::ensure!(matches!(resolved, Resolved::Won(_)), "it was not decided");
        clocked.count();
    }
    Ok(())
}

fn question(version: u64) -> anyhow::Result<NewApproval> {
    let (now, id) = (SystemClock.now(), ApprovalId::random());
    let arguments = ARGUMENTS.replace("############", id.as_str());
    let Value::Object(params) = serde_json::from_str(&arguments)? else {
        anyhow::bail!("arguments are an object");
    };
    let call = Call {
        agent: "worker-01".into(),
        session: None,
        tool: "mail.send".into(),
        params,
    };
    let question = Question {
        id,
        kind: Kind::Call,
        agent_id: call.agent.clone(),
        session_id: None,
        tool: call.tool.clone(),
        digest: call.digest(),
        params: call.params,
        policy_rule: "bench:rule-8".into(),
        policy: Verdict::HumanApproval,
        created_at: now,
        injection_risk: false,
        risk_reasons: Vec::new(),
        summary: None,
        trace_id: TraceId::at(now),
        door: Door::Decide,
        executor: Executor::Caller,
        works_in: None,
        request: None,
        needed: 1,
        denied_before: None,
        hides_secret: false,
    };
    Ok(NewApproval {
        question,
        state: State::pending(Level::Human, now.plus(Duration::from_mins(5)), None),
        version,
        plans: Vec::new(),
        key: None,
        granted: None,
        most_pending: None,
        max_total: None,
    })
}

fn answer(approval: &Approval) -> Resolve {
    let (question, now) = (&approval.question, SystemClock.now());
    let row = TraceRow {
        trace_id: question.trace_id.clone(),
        kind: RecordKind::Decision,
        at: now,
        agent: question.agent_id.clone(),
        session: None,
        tool: question.tool.clone(),
        verdict: "allow",
        forwarded: false,
        body: json!({"params": question.params, "policy_rule": question.policy_rule}).to_string(),
    };
    Resolve {
        id: question.id.clone(),
        decision: Decision::new(Status::Approved, "human:alice", now),
        only_supervisor_level: false,
        permit_until: Some(now.plus(Duration::from_mins(5))),
        grant: None,
        needed: 1,
        vote: None,
        new_grant: None,
        row,
    }
}
