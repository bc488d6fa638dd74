//! Agents that are run by the gateway: from the request to the end, through its restarts.

mod refusals;
mod reports;
mod restarts;
mod sessions;

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::{
    chromium::Browser,
    console::pages::fit,
    console::sign_in,
    events_feed::Feed,
    harness::{ALICE, Gateway, KEYS, Site, eventually},
    http::Answer,
};

const ONE: &str = "concurrency: 1";

/// A folder in which agents may work, and a gateway that runs them.
struct Stage {
    site: Site,
    repo: PathBuf,
    /// It is the same after a restart: runs find the gateway there.
    port: u16,
    settings: String,
}

impl Stage {
    fn new(settings: &str, env: &str) -> Self {
        let site = Site::empty();
        let repo = site.path("projects/repo");
        fs::create_dir_all(&repo).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = port.local_addr().unwrap().port();
        let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/product/fleet_agent.py");
        let agent = format!(
            "{{command: python3 {}, unknown_agent: allow, env: {{{env}}}}}",
            agent.display()
        );
        let settings = format!(
            "{KEYS}runs:\n  {settings}\n  roots: [projects]\n  agents: {{scripted: {agent}}}\n"
        );
        let stage = Self {
            site,
            repo,
            port,
            settings,
        };
        stage.configure("");
        stage
    }

    fn configure(&self, more: &str) {
        let (port, settings) = (self.port, &self.settings);
        let config = format!("listen: 127.0.0.1:{port}\ndata: data\n{settings}{more}");
        self.site.configure(&config);
    }

    fn body(&self, prompt: &str) -> Value {
        json!({"prompt": prompt, "repoDir": self.repo})
    }

    fn runs(&self) -> PathBuf {
        self.site.data().join("runs")
    }

    fn journal(&self, id: &str) -> Vec<Value> {
        let text =
            fs::read_to_string(self.runs().join(id).join("journal.jsonl")).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        lines.collect()
    }

    /// Of the runner that was started last.
    fn pid(&self, id: &str) -> i64 {
        let journal = self.journal(id);
        let mut newest = journal.iter().rev();
        let pid = newest.find_map(|line| line["event"]["started"]["pid"].as_i64());
        pid.unwrap()
    }
}

/// What still runs when a test is over is nobody's.
impl Drop for Stage {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.runs()).into_iter().flatten().flatten() {
            let id = entry.file_name().into_string().unwrap();
            let ended = self
                .journal(&id)
                .iter()
                .any(|line| line["event"]["ended"].is_object());
            if !ended
                && self
                    .journal(&id)
                    .iter()
                    .any(|line| line["event"]["started"].is_object())
            {
                kill(self.pid(&id));
            }
        }
    }
}

fn kill(pid: i64) {
    let kill = format!("kill -KILL {pid}");
    Command::new("sh").args(["-c", &kill]).status().unwrap();
}

fn start(gateway: &Gateway, body: &Value) -> String {
    gateway.alice().post("/v1/runs", body).is(202).field("id")
}

fn get(gateway: &Gateway, id: &str) -> Value {
    gateway.alice().get(&format!("/v1/runs/{id}")).ok().json()
}

#[track_caller]
fn until(gateway: &Gateway, id: &str, state: &str) -> Value {
    let mut last = Value::Null;
    let last = &mut last;
    eventually(&format!("the state {state} of {id}"), || {
        *last = get(gateway, id);
        let ended = ["done", "failed", "cancelled"].contains(&last["state"].as_str().unwrap());
        assert!(!ended || last["state"] == state, "{last}");
        (last["state"] == state).then(|| last.clone())
    })
}

fn cancel(gateway: &Gateway, id: &str) -> Answer {
    gateway
        .alice()
        .post(&format!("/v1/runs/{id}/cancel"), &json!({}))
}

/// Its whole feed, from a place on, until it ends.
fn told(gateway: &Gateway, id: &str, after: Option<u64>) -> String {
    let target = format!("/v1/runs/{id}/events");
    Feed::open(&gateway.alice(), &target, after).rest()
}

#[test]
fn a_run_asks_the_gate_and_ends() {
    let stage = Stage::new("concurrency: 2", "SECRET: hunter2");
    let gateway = stage.site.start();
    let mut body = stage.body("ask me");
    body["taskId"] = json!("t-1");
    let id = start(&gateway, &body);
    let waiting = until(&gateway, &id, "waiting_permission");
    assert_eq!(waiting["agentName"], "run:scripted");
    let asked = gateway.one_pending();
    assert_eq!(asked["agent_id"], "run:scripted", "{asked}");
    assert_eq!(asked["session_id"], waiting["sessionId"], "{asked}");
    gateway.alice().approve(asked["id"].as_str().unwrap()).ok();
    let done = until(&gateway, &id, "done");
    assert_eq!(done["stopReason"], "end_turn");
    assert_eq!(
        (&done["taskId"], &done["createdBy"]),
        (&json!("t-1"), &json!("human:alice"))
    );
    assert_eq!(done["error"], Value::Null);
    assert!(done["spent"]["outputBytes"].as_u64().unwrap() > 0, "{done}");
    // What happened is told from beginning to end, and from any place on.
    let all = told(&gateway, &id, None);
    assert!(all.contains("chosen: allow"), "{all}");
    let mut feed = Feed::open(&gateway.alice(), &format!("/v1/runs/{id}/events"), None);
    let first = feed.next();
    assert_eq!(
        (&*first.name, &first.data["event"]["queued"]["agent"]),
        ("event", &json!("scripted"))
    );
    let rest = told(&gateway, &id, Some(first.id));
    assert!(all.ends_with(&rest) && rest.len() < all.len());
    let last = all.lines().rfind(|line| line.starts_with("id:")).unwrap();
    let end = gateway
        .alice()
        .with("last-event-id", last.trim_start_matches("id: "));
    end.get(&format!("/v1/runs/{id}/events")).is(204);
    // Nothing secret is left once its runner has gone, and nothing is others'.
    let folder = stage.runs().join(&id);
    eventually("the secrets' removal", || {
        let secret = ["run.json", "request.json"].map(|name| folder.join(name));
        (!secret.iter().any(|path| path.exists())).then_some(())
    });
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_file() {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{:?}", entry.path());
            let text = fs::read_to_string(entry.path()).unwrap();
            assert!(!text.contains("hunter2"), "{:?}", entry.path());
        }
    }
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    cancel(&gateway, &id).refused(409, "already_ended");
    let listed = gateway
        .alice()
        .get("/v1/runs?state=done&limit=1")
        .ok()
        .json();
    assert_eq!(listed["runs"][0]["id"], json!(id));
}

#[test]
fn what_a_run_does_unasked_is_told_in_its_name() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("unasked"));
    let failed = until(&gateway, &id, "failed");
    assert_eq!(failed["error"]["reason"], "unsupervised", "{failed}");
    let traces = gateway.traces();
    assert_eq!(traces[0]["verdict"], "unsupervised", "{traces:?}");
    assert_eq!(traces[0]["agent_id"], "run:scripted");
    assert_eq!(traces[0]["session_id"], failed["sessionId"]);
    assert_eq!(traces[0]["params"]["command"], "rm x");
    // The end of the run withdraws its questions, and leaves what was told.
    let settled = gateway.alice().get("/approvals?status=denied").ok().json();
    assert_eq!(settled[0]["kind"], "notice", "{settled}");
    let told = told(&gateway, &id, None);
    assert!(!told.contains("could not be told"), "{told}");
}

#[test]
fn one_at_a_time_and_the_rest_waits() {
    let stage = Stage::new("concurrency: 1\n  queue: 1\n  keep: 1", "");
    let gateway = stage.site.start();
    let first = start(&gateway, &stage.body("hang"));
    until(&gateway, &first, "running");
    let second = gateway
        .alice()
        .post("/v1/runs", &stage.body("second"))
        .is(202);
    assert_eq!(second.json()["state"], "queued");
    assert_eq!(second.json()["position"], 1);
    let second = second.field("id");
    let full = gateway.alice().post("/v1/runs", &stage.body("third"));
    full.refused(429, "queue_full");
    assert!(full.header("retry-after").is_some());
    let counts = gateway.alice().get("/v1/runs").ok().json();
    assert_eq!(
        (&counts["running"], &counts["queued"]),
        (&json!(1), &json!(1))
    );
    cancel(&gateway, &first).is(202);
    let cancelled = until(&gateway, &first, "cancelled");
    assert_eq!(cancelled["cancelledBy"], "human:alice");
    until(&gateway, &second, "done");
    // Only so many are kept.
    eventually("the end of the oldest", || {
        let gone = gateway.alice().get(&format!("/v1/runs/{first}"));
        (gone.status == 404).then_some(())
    });
    eventually("the end of its folder", || {
        (!stage.runs().join(&first).exists()).then_some(())
    });
}

#[test]
fn a_run_is_cancelled_wherever_it_stands() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let waiting = start(&gateway, &stage.body("ask"));
    let queued = start(&gateway, &stage.body("queued"));
    until(&gateway, &waiting, "waiting_permission");
    gateway.one_pending();
    let answer = cancel(&gateway, &queued).is(200).json();
    assert_eq!(answer["state"], "cancelled");
    assert_eq!(answer["error"]["message"], "cancelled by human:alice");
    cancel(&gateway, &waiting).is(202);
    let cancelled = until(&gateway, &waiting, "cancelled");
    assert_eq!(cancelled["cancelledBy"], "human:alice");
    assert!(!told(&gateway, &waiting, None).contains("chosen"));
    // It frees its place.
    let next = start(&gateway, &stage.body("next"));
    until(&gateway, &next, "done");
}

#[test]
fn a_stop_ends_runs_and_lets_none_begin() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hang"));
    let queued = start(&gateway, &stage.body("queued"));
    until(&gateway, &id, "running");
    let stop = json!({"agent": "run:scripted", "reasoning": "enough"});
    gateway.admin().post("/stop", &stop).ok();
    let stopped = until(&gateway, &id, "cancelled");
    let why = stopped["error"]["message"].as_str().unwrap();
    assert!(why.contains("enough"), "{stopped}");
    until(&gateway, &queued, "cancelled");
    let refused = gateway.alice().post("/v1/runs", &stage.body("more"));
    refused.refused(403, "forbidden");
    let resume = json!({"agent": "run:scripted"});
    gateway.admin().post("/resume", &resume).ok();
    let id = start(&gateway, &stage.body("more"));
    until(&gateway, &id, "done");
}

#[test]
fn a_person_starts_a_run_in_the_browser_and_sees_it_go_on() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let mut browser = Browser::start();
    browser.look(1100, 900, "light");
    sign_in(&mut browser, &gateway, ALICE);
    browser.click("nav a[href='/console/runs']");
    browser.until(
        "the form",
        "document.querySelector('textarea[name=prompt]')",
    );
    browser.click("input[name=repoDir]");
    browser.type_text(stage.repo.to_str().unwrap());
    browser.click("textarea[name=prompt]");
    browser.type_text("ask <b>me</b>");
    browser.click("main button.primary");
    browser.until("its page", "document.querySelector('[data-fresh] .badge')");
    browser.eval("window.marker = 'not reloaded'");
    // What it says, asks and is answered comes by itself.
    let shows =
        |text: &str| format!("document.querySelector('[data-fresh]').innerText.includes({text:?})");
    browser.until("its words", &shows("heard: ask <b>me</b>"));
    browser.until(
        "its question",
        "document.querySelector('a[href^=\"/console/approval/\"]')",
    );
    let asked = gateway.one_pending();
    gateway.alice().approve(asked["id"].as_str().unwrap()).ok();
    browser.until("its end", &shows("end_turn"));
    assert_eq!(browser.text("window.marker"), "not reloaded");
    // From the inbox to the run.
    let id = start(&gateway, &stage.body("ask again"));
    until(&gateway, &id, "waiting_permission");
    let pages = [
        ("runs", "/console/runs".to_owned()),
        ("run", format!("/console/runs/{id}")),
    ];
    fit(&mut browser, &gateway.url(), &pages);
    browser.look(1100, 900, "light");
    browser.go(&format!("{}/", gateway.url()));
    browser.click("a[href^='/console/runs?session=']");
    browser.until("the list", &shows("waits for permission"));
    browser.click("[data-fresh] button.no");
    browser.until("the cancelled run", &shows("cancelled"));
    until(&gateway, &id, "cancelled");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
