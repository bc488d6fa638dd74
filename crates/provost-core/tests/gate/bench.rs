//! A gate on a store of its own, a clock that stands still, and a backend that counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use provost_core::{
    approval::Approval,
    call::Call,
    door::Door,
    gate::{Ask, Decided, Decider, Gate, Permit, Settings, Wait},
    glob::Glob,
    ids::{ApprovalId, TraceId},
    key::{Key, KeyHash, Role},
    policy::{Policy, PolicySet},
    ports::{ApprovalFilter, Backend, ForwardError, Forwarded, ManualClock, ToolInfo, TraceFilter},
    time::Time,
    trace::view::{Exposure, trace_view},
};
use provost_store::StoreConfig;
use serde_json::{Map, Value, json};
use tokio::{sync::broadcast, task::JoinHandle};

pub(crate) struct Bench {
    pub(crate) gate: Arc<Gate>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) backend: Arc<Counting>,
    _folder: tempfile::TempDir,
}

#[derive(Default)]
pub(crate) struct Counting(AtomicUsize);

#[async_trait]
impl Backend for Counting {
    fn tools(&self) -> Vec<ToolInfo> {
        Vec::new()
    }

    fn has(&self, _: &str) -> bool {
        true
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let result = serde_json::value::to_raw_value(&permit.call().params).unwrap();
        Ok(Forwarded {
            status_code: 200,
            result,
            error: None,
        })
    }
}

/// `allow.*` and `claude.*` are allowed, `deny.*` denied, `l1.*` for supervisors, `l2.*` for people.
fn rules() -> PolicySet {
    let rules = json!([
        {"tools": ["allow.*", "claude.*"], "action": "allow"},
        {"tools": ["deny.*"], "action": "deny"},
        {"tools": ["l1.*"], "action": "supervisor"},
        {"tools": ["l2.*", "filesystem.*"], "action": "human_approval"},
    ]);
    let rules = serde_json::from_value(rules).unwrap();
    PolicySet::compile(vec![Policy {
        name: "p".into(),
        agent: "*".into(),
        rate_limit: None,
        rules,
    }])
    .unwrap()
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = StoreConfig::Sqlite {
            path: folder.path().join("provost.db"),
        };
        let store = provost_store::open(&config).await.unwrap();
        let clock = Arc::new(ManualClock::at(
            Time::parse("2026-04-10T14:30:00Z").unwrap(),
        ));
        let gate = Gate::open(store, clock.clone(), rules(), settings, Vec::new())
            .await
            .unwrap();
        tokio::spawn(gate.clone().pump(broadcast::channel(64).0));
        Self {
            gate,
            clock,
            backend: Arc::default(),
            _folder: folder,
        }
    }

    /// Another gate on the same store, as another process has it.
    pub(crate) async fn replica(&self) -> Arc<Gate> {
        let (store, clock) = (self.gate.store().clone(), self.clock.clone());
        let gate = Gate::open(store, clock, rules(), Settings::default(), Vec::new());
        let gate = gate.await.unwrap();
        tokio::spawn(gate.clone().pump(broadcast::channel(64).0));
        gate
    }

    pub(crate) async fn approval(&self, id: &ApprovalId) -> Approval {
        let found = self.gate.store().approval(id.as_str()).await.unwrap();
        found.expect("it is kept")
    }

    pub(crate) fn ask(&self, tool: &str, params: Value) -> Ask {
        let Value::Object(params) = params else {
            panic!("arguments are an object")
        };
        let call = Call {
            agent: "bot".into(),
            session: None,
            tool: tool.into(),
            params,
        };
        let trace_id = TraceId::at(self.gate.now());
        Ask {
            call,
            trace_id,
            door: Door::Http,
            wait: Wait::UntilDecided,
            idempotency_key: None,
            folder: None,
            misfit: None,
        }
    }

    pub(crate) async fn run(&self, ask: Ask) -> Decided {
        self.gate
            .walk(ask, Some(self.backend.clone()))
            .await
            .unwrap()
    }

    /// Runs in the background, like a caller that waits.
    pub(crate) fn start(&self, ask: Ask) -> JoinHandle<Decided> {
        let (gate, backend) = (self.gate.clone(), self.backend.clone());
        tokio::spawn(async move { gate.walk(ask, Some(backend)).await.unwrap() })
    }

    pub(crate) async fn ask_and_leave(&self, mut ask: Ask) -> Approval {
        ask.wait = Wait::AtMost(Duration::ZERO);
        match self.run(ask).await {
            Decided::Waiting(approval) => *approval,
            other => panic!("not waiting: {other:?}"),
        }
    }

    /// The first pending approval there is, as soon as there is one.
    pub(crate) async fn pending(&self) -> Approval {
        let mut wake = self.gate.store().wake();
        let filter = ApprovalFilter {
            status: Some(provost_core::approval::Status::Pending),
            limit: 1,
            ..Default::default()
        };
        loop {
            let page = self
                .gate
                .store()
                .approvals(&filter, self.gate.now())
                .await
                .unwrap();
            if let Some(row) = page.rows().next() {
                return Approval {
                    question: serde_json::from_slice(row.question).unwrap(),
                    state: row.state.clone(),
                };
            }
            wake.recv().await.unwrap();
        }
    }

    pub(crate) fn ran(&self) -> usize {
        self.backend.0.load(Ordering::SeqCst)
    }

    pub(crate) async fn traces(&self) -> Vec<Map<String, Value>> {
        let filter = TraceFilter {
            limit: 100,
            ..Default::default()
        };
        let entries = self.gate.store().traces(&filter).await.unwrap();
        entries
            .iter()
            .map(|entry| trace_view(entry, Exposure::Everything))
            .collect()
    }

    pub(crate) async fn verify(&self) {
        self.gate.drain().await;
        let reports = provost_core::trace::verify::verify(&**self.gate.store(), |_| {})
            .await
            .unwrap();
        assert!(
            reports.iter().all(|report| report.broken.is_none()),
            "{reports:?}"
        );
    }
}

pub(crate) fn decider(name: &str, role: Role, tools: &[&str]) -> Decider {
    let tools = tools.iter().map(|glob| Glob::new(glob).unwrap()).collect();
    let key = Key {
        name: name.into(),
        role,
        tools,
        person: None,
        hash: KeyHash::default(),
        created_at: Time::default(),
    };
    Decider::of(&key)
}

pub(crate) fn human() -> Decider {
    decider("alice", Role::Human, &[])
}
