//! Agents that declare themselves: for the first minutes, and from this machine alone.

use std::fs;

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{AGENT, Gateway, Site, eventually},
    replicas::Database,
};

const SERVE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];

fn declares(gateway: &Gateway) -> u16 {
    gateway
        .client()
        .agent("demo")
        .decide_async("files.delete", json!({}))
        .status
}

/// Without any word.
fn anonymous(gateway: &Gateway) -> u16 {
    gateway
        .client()
        .decide_async("files.delete", json!({}))
        .status
}

fn why(gateway: &Gateway) -> (bool, String) {
    let auth = &gateway.health()["auth"];
    let why = auth["declared_agents_because"].as_str().unwrap();
    (auth["declared_agents"].as_bool().unwrap(), why.to_owned())
}

fn err(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn p07_the_first_agent_key_ends_declaring_for_good() {
    let site = Site::empty();
    let gateway = site.start_with(&SERVE);
    assert_eq!((declares(&gateway), anonymous(&gateway)), (202, 202));
    for (role, name) in [("supervisor", "s"), ("human", "h"), ("inbox", "i")] {
        let made = site.provost(&["keys", "create", "--role", role, name]);
        assert!(made.status.success(), "{}", err(&made));
        assert!(!err(&made).contains("declare"), "{}", err(&made));
    }
    assert_eq!(declares(&gateway), 202, "keys of others do not count");
    let doctor = || String::from_utf8(site.provost(&["doctor"]).stdout).unwrap();
    assert!(
        doctor().contains("no agent key was made yet"),
        "{}",
        doctor()
    );

    let made = site.provost(&["keys", "create", "--role", "agent", "claude"]);
    assert!(made.status.success(), "nobody is asked without a terminal");
    let said = err(&made);
    for part in ["demo", "anonymous", "declared_agents: loopback"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!((declares(&gateway), anonymous(&gateway)), (401, 401));
    let key = String::from_utf8(made.stdout).unwrap();
    let keyed = gateway.client().key(key.trim());
    keyed.decide_async("files.delete", json!({})).is(202);
    assert!(doctor().contains("an agent key was made"), "{}", doctor());
    // Said once.
    let second = site.provost(&["keys", "create", "--role", "agent", "codex"]);
    assert!(!err(&second).contains("demo"), "{}", err(&second));

    // Whoever is locked out does not come back by its name, or by another.
    for name in ["claude", "codex"] {
        assert!(site.provost(&["keys", "remove", name]).status.success());
    }
    for name in ["claude", "demo"] {
        let asked = gateway.client().agent(name);
        asked.decide_async("files.delete", json!({})).is(401);
    }
    drop(gateway);
    let gateway = site.start_with(&SERVE);
    assert_eq!(declares(&gateway), 401, "after a restart");
    drop(gateway);
    let text = "listen: 127.0.0.1:0\ndata: data\nauth: {declared_agents: loopback}\n";
    fs::write(site.path("provost.yaml"), text).unwrap();
    let gateway = site.start();
    assert_eq!(declares(&gateway), 202, "as somebody says");
    assert_eq!(
        why(&gateway),
        (true, "`auth.declared_agents` is `loopback`".into())
    );
}

#[test]
fn p07_keys_of_the_file_count_too_and_take_effect_when_it_is_saved() {
    let echo = Echo::start();
    let rest = "auth: {keys: [{name: alice, role: human, key: alice-secret-0123456789}]}\n";
    let site = Site::new(&echo, rest);
    let gateway = site.start();
    assert_eq!(declares(&gateway), 202);
    let keyed = format!("auth: {{keys: [{{name: keyed, role: agent, key: {AGENT}}}]}}\n");
    site.configure(&crate::harness::configuration(&echo, &keyed));
    eventually("the end of declaring", || {
        (declares(&gateway) == 401).then_some(())
    });
    // Also when it is gone from the file.
    site.configure(&crate::harness::configuration(&echo, rest));
    eventually("the reload", || {
        let asked = gateway.client().key(AGENT);
        let asked = asked.decide_async("files.delete", json!({}));
        (asked.status == 401).then_some(())
    });
    assert_eq!(declares(&gateway), 401);
}

#[test]
fn p07_another_replica_ends_declaring_too() {
    let echo = Echo::start();
    let database = Database::create();
    let config = |site: &Site| {
        let rest = format!("auth: {{keys: []}}\ndatabase: '{}'\n", database.url());
        site.configure(&crate::harness::configuration(&echo, &rest));
    };
    let (one, other) = (Site::empty(), Site::empty());
    config(&one);
    config(&other);
    let (first, second) = (one.start(), other.start());
    assert_eq!((declares(&first), declares(&second)), (202, 202));
    let body = json!({"name": "claude", "role": "agent"});
    first.admin().post("/keys", &body).is(201);
    assert_eq!(declares(&first), 401);
    eventually("the other replica", || {
        (declares(&second) == 401).then_some(())
    });
}

#[test]
fn p07_a_public_name_or_a_foreign_host_ends_declaring() {
    let site = Site::empty();
    let gateway = site.start_with(&SERVE);
    for (name, value) in [
        ("host", "192.168.1.7:9090"),
        ("host", "0.0.0.0:9090"),
        ("x-forwarded-for", "10.0.0.1"),
        ("x-forwarded-proto", "https"),
        ("forwarded", "for=10.0.0.1"),
        ("via", "1.1 proxy"),
    ] {
        let client = gateway.client().agent("demo").with(name, value);
        let asked = client.decide_async("files.delete", json!({}));
        assert_eq!(asked.status, 401, "{name}: {value}");
    }
    drop(gateway);
    for public in [
        "hosts: [gate.example.org]\n",
        "public_url: https://gate.example.org\n",
    ] {
        let base = "listen: 127.0.0.1:0\ndata: data\n";
        fs::write(site.path("provost.yaml"), format!("{base}{public}")).unwrap();
        let gateway = site.start();
        assert_eq!(declares(&gateway), 401, "{public}");
        assert!(
            why(&gateway).1.contains("public name"),
            "{:?}",
            why(&gateway)
        );
        drop(gateway);
        let both = format!("{base}{public}auth: {{declared_agents: loopback}}\n");
        fs::write(site.path("provost.yaml"), both).unwrap();
        let check = site.provost(&["check"]);
        assert_eq!(check.status.code(), Some(0));
        let said = String::from_utf8_lossy(&check.stdout).into_owned();
        assert!(said.contains("has no effect"), "{said}");
    }
}

#[test]
fn p07_connecting_says_which_agents_will_stop() {
    let site = Site::empty();
    let gateway = site.start_with(&SERVE);
    assert_eq!(declares(&gateway), 202);
    let connect = ["connect", "codex", "--settings", "hooks.json"];
    let shown = site.provost_of_owner(&connect);
    assert_eq!(shown.status.code(), Some(1));
    assert!(err(&shown).contains("demo"), "{}", err(&shown));
    assert_eq!(declares(&gateway), 202, "nothing was made");
    let agreed = [&connect[..], &["--yes"]].concat();
    let made = site.provost_of_owner(&agreed);
    assert!(
        made.status.success() && err(&made).contains("demo"),
        "{made:?}"
    );
    assert_eq!(declares(&gateway), 401);
}
