//! SIGKILL under load: what was answered is on the record, and nothing runs twice.

use std::{
    collections::{HashMap, HashSet},
    sync::{Condvar, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{ALICE, Gateway, POLICY, Site, eventually},
    http::{Answer, Client},
};

const KILLS: usize = 100;
/// A gateway is killed after so many answers at most: 5 to 150 ms of its life.
const MOST_ANSWERS: usize = 40;
const PATIENCE: Duration = Duration::from_secs(30);
const SEED: u64 = 0x5eed_cafe;

/// What the clients of the test know, for comparison with the record at the end.
#[derive(Default)]
struct Known {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Trace ids of answers that came whole, and what the answer was.
    answered: HashMap<String, &'static str>,
    /// Where the gateway of the moment is, if there is one.
    client: Option<Client>,
    ending: bool,
}

impl Known {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn wait(&self, until: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.state.lock().unwrap();
        let (state, waited) = self
            .changed
            .wait_timeout_while(state, PATIENCE, |state| !until(state))
            .unwrap();
        assert!(!waited.timed_out(), "nothing is answered any more");
        state
    }

    fn note(&self, answer: &Answer) {
        let verdict = match answer.status {
            200 => "allow",
            403 => "deny",
            _ => return,
        };
        let trace_id = answer.trace_id();
        self.change(|state| {
            state.answered.insert(trace_id, verdict);
        });
    }

    fn is_ending(&self) -> bool {
        self.state.lock().unwrap().ending
    }

    /// One request to whichever gateway there is. No answer: it was killed.
    fn send(&self, who: &str, key: Option<&str>, target: &str, body: &Value) -> Option<Answer> {
        let client = self
            .wait(|state| state.client.is_some() || state.ending)
            .client
            .clone()?;
        let mut client = client.key(who);
        if let Some(key) = key {
            client = client.with("idempotency-key", key);
        }
        let body = body.to_string();
        client.try_send("POST", target, body.as_bytes()).ok()
    }
}

/// Lets the clients end even where the test fails, so that it does.
struct Ending<'a>(&'a Known);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.ending = true);
    }
}

/// Small, and the same on every run: the moments are random, the test is not.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// Asks, allowed and denied in turn.
fn decide(known: &Known, worker: usize) {
    for n in 0.. {
        if known.is_ending() {
            return;
        }
        let tool = if n % 4 == 3 {
            "filesystem.delete_file"
        } else {
            "notes.add"
        };
        let body = json!({"tool": tool, "arguments": {"worker": worker, "n": n}});
        if let Some(answer) = known.send("agent:decider", None, "/decide", &body) {
            assert!(matches!(answer.status, 200 | 403), "{}", answer.text());
            known.note(&answer);
        }
    }
}

/// Calls once, and never again: who gets no answer does not know whether it ran.
fn call(known: &Known, worker: usize) {
    for n in 0.. {
        if known.is_ending() {
            return;
        }
        let body = json!({"params": {"id": format!("plain-{worker}-{n}")}});
        if let Some(answer) = known.send("agent:caller", None, "/tool/slow.call", &body) {
            assert_eq!(answer.status, 200, "{}", answer.text());
            known.note(&answer);
        }
    }
}

/// Calls under a key, again and again until there is an answer.
fn call_with_key(known: &Known, worker: usize) {
    for n in 0.. {
        let id = format!("keyed-{worker}-{n}");
        let body = json!({"params": {"id": id}});
        loop {
            if known.is_ending() {
                return;
            }
            let Some(answer) = known.send("agent:keyer", Some(&id), "/tool/slow.call", &body)
            else {
                continue;
            };
            match answer.status {
                200 => known.note(&answer),
                // Let through before a kill: whether it ran is not known, and it does not run again.
                409 => answer.refused(409, "outcome_unknown"),
                _ => panic!("{} {}", answer.status, answer.text()),
            }
            break;
        }
    }
}

/// Calls that a person must approve, made again until there is an answer. Each is approved once.
fn call_for_approval(known: &Known, worker: usize) {
    for n in 0.. {
        let id = format!("approved-{worker}-{n}");
        let body = json!({"params": {"id": id}});
        let mut approval: Option<String> = None;
        let mut approved = false;
        loop {
            if known.is_ending() {
                return;
            }
            let asked = known.send("agent:asker", None, "/tool/payments.send?wait=0s", &body);
            let Some(answer) = asked else { continue };
            if answer.status == 200 {
                known.note(&answer);
                break;
            }
            assert_eq!(answer.status, 202, "{}", answer.text());
            let open = answer.approval_id();
            // The permit was taken and the answer lost: asked anew, and not approved anew.
            if approval.as_ref().is_some_and(|first| *first != open) {
                break;
            }
            let target = format!("/approvals/{open}/approve");
            approval = Some(open);
            if let Some(answer) = known.send(ALICE, None, &target, &json!({})) {
                // Decided before the last kill, and only the answer was lost.
                assert!(
                    answer.status == 200 || (answer.status == 409 && !approved),
                    "{}",
                    answer.text()
                );
                approved = true;
            }
        }
    }
}

/// The record as an export has it: decisions and outcomes, by trace.
#[derive(Default)]
struct Record {
    decisions: HashMap<String, Value>,
    outcomes: HashMap<String, Value>,
}

fn export(site: &Site, gateway: &Gateway) -> Record {
    let output = site.provost(&["traces", "export", "--url", &gateway.url()]);
    assert!(output.status.success(), "{output:?}");
    let mut record = Record::default();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let body = line["record"].take();
        let id = body["trace_id"].as_str().unwrap_or_default().to_owned();
        let into = match line["kind"].as_str() {
            Some("decision") => &mut record.decisions,
            Some("outcome") => &mut record.outcomes,
            _ => continue,
        };
        assert!(
            into.insert(id.clone(), body).is_none(),
            "{id} is recorded twice"
        );
    }
    record
}

#[test]
fn sigkill_at_random_moments_loses_nothing_that_was_answered() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let known = Known::default();
    let mut random = Random(SEED);
    thread::scope(|scope| {
        for worker in 0..2 {
            let known = &known;
            scope.spawn(move || decide(known, worker));
            scope.spawn(move || call(known, worker));
            scope.spawn(move || call_with_key(known, worker));
            scope.spawn(move || call_for_approval(known, worker));
        }
        let ended = Ending(&known);
        for _ in 0..KILLS {
            let gateway = site.start();
            let mut goal = random.below(MOST_ANSWERS);
            known.change(|state| {
                goal += state.answered.len();
                state.client = Some(gateway.client());
            });
            drop(known.wait(|state| state.answered.len() >= goal));
            gateway.kill();
            known.change(|state| state.client = None);
        }
        drop(ended);
    });

    site.verify_chain(None);
    let gateway = site.start();
    site.verify_chain(Some(&gateway));
    let record = export(&site, &gateway);
    let answered = known.state.into_inner().unwrap().answered;
    assert!(answered.len() > KILLS, "only {} answers", answered.len());
    for (id, verdict) in &answered {
        let decision = record.decisions.get(id);
        let decision = decision.unwrap_or_else(|| panic!("the answered {id} is not on record"));
        assert_eq!(decision["verdict"], *verdict, "{decision}");
    }
    let executed = echo.all_executions();
    let twice: Vec<_> = executed.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "executed twice: {twice:?}");

    // Every call that was let through has an outcome, if only that it is not known; and nothing was
    // executed that was not let through.
    let mut let_through = HashSet::new();
    let mut unknown = 0;
    for (trace_id, decision) in &record.decisions {
        let forwarded = decision["door"] == "http" && decision["verdict"] == "allow";
        let Some(id) = decision["params"]["id"].as_str().filter(|_| forwarded) else {
            continue;
        };
        let_through.insert(id);
        match record.outcomes.get(trace_id) {
            Some(outcome) if outcome["outcome"] == "unknown" => unknown += 1,
            Some(_) => assert!(
                executed.contains_key(id),
                "{id} has an outcome and did not run"
            ),
            // Approved, and nobody came to take it.
            None => assert_eq!(decision["approval_status"], "approved", "{decision}"),
        }
    }
    for id in executed.keys() {
        assert!(
            let_through.contains(id.as_str()),
            "{id} ran without a record"
        );
    }
    println!(
        "{KILLS} kills, {} answers, {} executions, {unknown} unknown outcomes",
        answered.len(),
        executed.len()
    );
}

#[test]
fn a_call_in_flight_at_the_kill_has_an_unknown_outcome() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let (plain, keyed) = (
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "5bf92f3577b34da6a3ce929d0e0e4736",
    );
    let body = |id: &str| json!({"params": {"id": id}}).to_string();
    let agent = gateway.agent();
    let _first =
        agent
            .with("x-trace-id", plain)
            .open("POST", "/tool/held.call", body("plain").as_bytes());
    let _second = agent
        .with("x-trace-id", keyed)
        .with("idempotency-key", "k1")
        .open("POST", "/tool/held.call", body("keyed").as_bytes());
    eventually("the calls at the backend", || {
        (echo.executions("plain") + echo.executions("keyed") == 2).then_some(())
    });
    assert_eq!(gateway.trace(plain)["outcome"], "pending");
    gateway.kill();
    echo.release();

    let gateway = site.start();
    for id in [plain, keyed] {
        assert_eq!(gateway.trace(id)["outcome"], "unknown");
    }
    // The key stands for a call that may have run: it is not made again.
    let again = gateway
        .agent()
        .with("idempotency-key", "k1")
        .tool("held.call", json!({"id": "keyed"}));
    again.refused(409, "outcome_unknown");
    assert_eq!(again.trace_id(), keyed);
    assert_eq!(echo.executions("keyed"), 1);
    site.verify_chain(Some(&gateway));
}
