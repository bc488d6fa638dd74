//! Two gateways on one PostgreSQL.

use std::net::{SocketAddr, ToSocketAddrs as _};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Gateway, POLICY, Site, eventually},
};

/// A database of its own on the server of the tests, dropped at the end.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(crate) fn create() -> Self {
        let server = std::env::var("PROVOST_TEST_POSTGRES").expect(
            "PROVOST_TEST_POSTGRES is not set: it names a PostgreSQL server where tests may create \
             databases, as postgres://user@host:port/postgres. Run ./test.sh, which starts one",
        );
        let random = provost_core::ids::hex(&provost_core::ids::random_bytes::<6>());
        let database = Self {
            server,
            name: format!("provost_product_{random}"),
        };
        run(
            &database.server,
            &format!("CREATE DATABASE {}", database.name),
        );
        database
    }

    pub(crate) fn url(&self) -> String {
        let (before, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let (before, _) = before.rsplit_once('/').expect("the URL names a database");
        format!("{before}/{}?{query}", self.name)
    }

    /// Where the server listens.
    pub(crate) fn server_address(&self) -> SocketAddr {
        let (_, rest) = self.server.split_once("://").unwrap();
        let authority = rest.split('/').next().unwrap();
        let address = authority.rsplit('@').next().unwrap();
        address.to_socket_addrs().unwrap().next().unwrap()
    }

    /// A replica that reaches the server by another address.
    pub(crate) fn site_through(&self, echo: &Echo, addr: SocketAddr) -> Site {
        let url = self.url();
        let (_, rest) = url.split_once("://").unwrap();
        let (authority, path) = rest.split_once('/').unwrap();
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        let url = format!("postgres://{user}@{addr}/{path}");
        Site::new(echo, &format!("database: '{url}'\n{POLICY}"))
    }

    /// Runs SQL behind the gateways' back.
    pub(crate) fn intrude(&self, sql: &str) {
        run(&self.url(), sql);
    }

    /// A replica: a folder of its own, and this database.
    pub(crate) fn site(&self, echo: &Echo) -> Site {
        Site::new(echo, &format!("database: '{}'\n{POLICY}", self.url()))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        run(
            &self.server,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}

fn run(url: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
            .await
            .unwrap();
        let driver = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        driver.await.unwrap().unwrap();
    });
}

/// Dropped in the order of its fields: the gateways go before their database.
struct Pair {
    echo: Echo,
    a: Option<Gateway>,
    b: Gateway,
    sites: [Site; 2],
    _database: Database,
}

impl Pair {
    fn start() -> Self {
        let echo = Echo::start();
        let database = Database::create();
        let sites = [database.site(&echo), database.site(&echo)];
        let (a, b) = (sites[0].start(), sites[1].start());
        assert_eq!(a.health()["store"], "postgres");
        Self {
            echo,
            a: Some(a),
            b,
            sites,
            _database: database,
        }
    }

    fn a(&self) -> &Gateway {
        self.a.as_ref().unwrap()
    }

    fn kill_a(&mut self) {
        self.a.take().unwrap().kill();
    }
}

#[test]
fn a_call_waiting_on_one_replica_is_released_by_a_decision_on_the_other() {
    let pair = Pair::start();
    let (a, b) = (pair.a(), &pair.b);
    let approved = a
        .agent()
        .tool_waiting("payments.send", json!({"id": "yes"}));
    a.until_waiting(1);
    assert_eq!(b.health()["waiting"], 0);
    let id = b.one_pending()["id"].clone();
    b.alice().approve(id.as_str().unwrap()).ok();
    approved.join().unwrap().ok();
    assert_eq!(pair.echo.executions("yes"), 1);
    a.alice()
        .deny(id.as_str().unwrap())
        .refused(409, "already_resolved");

    // And the other way round; a no as well as a yes, a listener as well as a caller.
    let denied = b.agent().tool_waiting("payments.send", json!({"id": "no"}));
    let id = a.one_pending()["id"].clone();
    a.alice().deny(id.as_str().unwrap()).ok();
    denied.join().unwrap().refused(403, "denied");
    assert_eq!(pair.echo.executions("no"), 0);
    let listener = a.alice();
    let polling = std::thread::spawn(move || {
        listener
            .get("/approvals?status=pending&wait=60s")
            .ok()
            .json()
    });
    b.agent()
        .decide_async("payments.send", json!({"n": 3}))
        .is(202);
    assert_eq!(polling.join().unwrap()[0]["params"]["n"], 3);
    // Each writes a chain of its own, and either proves both.
    for (site, gateway) in [(&pair.sites[0], a), (&pair.sites[1], b)] {
        site.verify_chain(Some(gateway));
    }
    let verified = a.admin().get("/traces/verify").ok().json();
    assert_eq!(
        verified["chains"].as_array().unwrap().len(),
        2,
        "{verified}"
    );
}

#[test]
fn killing_a_replica_loses_nothing() {
    let mut pair = Pair::start();
    let pay = json!({"id": "survives"});
    let ran = pair
        .a()
        .agent()
        .tool("notes.add", json!({"id": "ran"}))
        .ok();
    let decided = pair.a().agent().decide("notes.add", json!({})).ok();
    let waiting = pair.a().agent().tool_waiting("payments.send", pay.clone());
    pair.a().until_waiting(1);
    let keyed = pair
        .a()
        .agent()
        .with("idempotency-key", "once")
        .tool("notes.add", json!({"id": "keyed"}))
        .ok();
    let id = pair.b.one_pending()["id"].clone();
    pair.kill_a_while(waiting);

    let b = &pair.b;
    assert_eq!(b.one_pending()["id"], id);
    b.alice().approve(id.as_str().unwrap()).ok();
    assert_eq!(pair.echo.executions("survives"), 0);
    b.agent().tool_async("payments.send", pay.clone()).ok();
    assert_eq!(pair.echo.executions("survives"), 1);
    b.agent().tool_async("payments.send", pay).is(202);
    assert_eq!(pair.echo.executions("survives"), 1);

    for answer in [&ran, &decided, &keyed] {
        assert_eq!(b.trace(&answer.trace_id())["verdict"], "allow");
    }
    let replayed = b
        .agent()
        .with("idempotency-key", "once")
        .tool("notes.add", json!({"id": "keyed"}))
        .ok();
    assert_eq!(replayed.trace_id(), keyed.trace_id());
    assert_eq!(pair.echo.executions("keyed"), 1);
    pair.sites[1].verify_chain(Some(b));
    let verified = b.admin().get("/traces/verify").ok().json();
    let chains = verified["chains"].as_array().unwrap();
    assert!(chains.len() >= 2, "{verified}");
    assert!(
        chains.iter().all(|chain| chain.get("broken").is_none()),
        "{verified}"
    );

    // It comes back, and takes its part.
    let a = pair.sites[0].start();
    let asked = b
        .agent()
        .tool_waiting("payments.send", json!({"id": "again"}));
    let id = eventually("the new approval", || {
        let pending = a.alice().pending();
        let found = pending.iter().find(|row| row["params"]["id"] == "again");
        found.map(|row| row["id"].as_str().unwrap().to_owned())
    });
    a.alice().approve(&id).ok();
    asked.join().unwrap().ok();
}

impl Pair {
    /// The caller of the killed replica gets no answer.
    fn kill_a_while(&mut self, waiting: std::thread::JoinHandle<crate::http::Answer>) {
        self.kill_a();
        assert!(waiting.join().is_err(), "an answer came from the dead");
    }
}

#[test]
fn a_stop_on_one_replica_holds_on_the_other() {
    let pair = Pair::start();
    let (a, b) = (pair.a(), &pair.b);
    let waiting = b
        .agent()
        .tool_waiting("payments.send", json!({"id": "waits"}));
    b.until_waiting(1);
    b.agent().tool("notes.add", json!({"id": "before"})).ok();
    a.admin()
        .post("/stop", &json!({"agent": "claude", "reasoning": "enough"}))
        .ok();
    // From the moment the stop is answered, nothing more is let through anywhere.
    for n in 0..5 {
        let after = b.agent().tool("notes.add", json!({"id": "after", "n": n}));
        after.refused(403, "stopped");
        assert!(after.text().contains("enough"), "{}", after.text());
    }
    assert_eq!(pair.echo.executions("after"), 0);
    assert_eq!(waiting.join().unwrap().status, 403);
    assert_eq!(pair.echo.executions("waits"), 0);
    b.client().agent("other").tool("notes.add", json!({})).ok();
    assert_eq!(b.alice().pending(), Vec::<Value>::new());

    b.admin().post("/resume", &json!({"agent": "claude"})).ok();
    eventually("the end of the stop", || {
        let status = a.agent().tool("notes.add", json!({"id": "resumed"})).status;
        (status == 200).then_some(())
    });
}

/// A yes that one replica gave is taken back by a stop on the other, also under its key.
#[test]
fn p03_a_key_does_not_bring_back_a_yes_that_another_replica_stopped() {
    let pair = Pair::start();
    let (a, b) = (pair.a(), &pair.b);
    let keyed = |gateway: &Gateway| {
        let agent = gateway.agent().with("idempotency-key", "k1");
        agent.decide("notes.add", json!({"id": "once"}))
    };
    let first = keyed(a).ok();
    let again = keyed(b).ok();
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.trace_id(), first.trace_id());
    b.admin().post("/stop", &json!({"agent": "claude"})).ok();
    keyed(a).refused(403, "stopped");
    keyed(b).refused(403, "stopped");
    a.admin().post("/resume", &json!({"agent": "claude"})).ok();
    assert_eq!(keyed(b).ok().trace_id(), first.trace_id());
}
