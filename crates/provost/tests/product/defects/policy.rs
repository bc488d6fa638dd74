//! What the rules mean: 1, 2, 3, 8, 11, 12, 13.

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{POLICY, Site, eventually},
};

#[test]
fn defect_01_a_misspelled_action_is_a_load_error_with_its_place() {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        "policies:
  - name: wrong
    agent: '*'
    rules:
      - {tools: [notes.add], action: dney}
      - {tools: ['['], action: allow}
      - {tools: ['*'], action: allow, wehn: 'true'}
",
    );
    let check = site.provost(&["check"]);
    let said = String::from_utf8_lossy(&check.stdout);
    assert_eq!(check.status.code(), Some(1), "{said}");
    for expected in [
        "provost.yaml:13",
        "`dney`",
        "`deny`",
        "`[`",
        "`wehn`",
        "3 errors",
    ] {
        assert!(
            said.contains(expected),
            "`{expected}` is missing in\n{said}"
        );
    }
    let Err((status, log)) = site.try_start() else {
        panic!("it started all the same");
    };
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(
        log.contains("`dney`") && log.contains("provost.yaml:13"),
        "{log}"
    );
    assert!(!site.database().exists(), "a database was made");
}

#[test]
fn defect_02_both_spellings_of_a_field_match() {
    let echo = Echo::start();
    for (field, id) in [("params.amount", "long"), ("amount", "short")] {
        let site = Site::new(
            &echo,
            &format!(
                "policies:
  - name: pay
    agent: '*'
    rules:
      - {{tools: [payments.send], condition: {{field: {field}, operator: '<', value: 100}}, action: allow}}
"
            ),
        );
        let gateway = site.start();
        let pay = |amount| {
            gateway
                .agent()
                .tool("payments.send", json!({"id": id, "amount": amount}))
        };
        assert_eq!(pay(50).ok().json()["policy"], "allow");
        pay(100).refused(403, "denied");
        pay(5000).refused(403, "denied");
        assert_eq!(echo.executions(id), 1, "{field}");
    }
}

/// The doors there are: `/tool` and `/decide`. The MCP door joins this test when it is built.
#[test]
fn defect_03_one_pipeline_for_every_door() {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        "policies:
  - name: limited
    agent: 'limited-*'
    rate_limit: {max_per_minute: 3}
    rules: [{tools: ['*'], action: allow}]
  - name: total
    agent: 'total-*'
    rate_limit: {max_total: 3}
    rules: [{tools: ['*'], action: allow}]
  - name: asks
    agent: '*'
    rules: [{tools: ['*'], action: human_approval}]
",
    );
    let gateway = site.start();
    for kind in ["limited", "total"] {
        for (name, doors) in [("a", ["tool", "decide"]), ("b", ["decide", "tool"])] {
            let agent = gateway.client().agent(&format!("{kind}-{name}"));
            let call = |door: &str, n: usize| match door {
                "tool" => agent.tool("notes.add", json!({"n": n})),
                _ => agent.decide("notes.add", json!({"n": n})),
            };
            for n in 0..3 {
                call(doors[n % 2], n).ok();
            }
            for door in doors {
                let refused = call(door, 3);
                refused.refused(429, "rate_limited");
                assert!(refused.header("retry-after").is_some());
            }
        }
    }

    let body = json!({"agent": "claude", "tools": "notes.*", "duration": "1h", "max_uses": 2});
    gateway.admin().post("/grants", &body).is(201);
    let agent = gateway.agent();
    agent.tool("notes.add", json!({"id": "granted"})).ok();
    agent.decide("notes.add", json!({"id": "granted"})).ok();
    agent.decide_async("notes.add", json!({"n": 1})).is(202);
    agent.tool_async("notes.add", json!({"n": 2})).is(202);
    assert_eq!(echo.executions("granted"), 1);
}

#[test]
fn defect_08_grants_have_a_longest_time_conditions_and_uses() {
    let echo = Echo::start();
    let site = Site::new(&echo, &format!("grants: {{max_duration: 2h}}\n{POLICY}"));
    let gateway = site.start();
    let grant = |body| gateway.admin().post("/grants", &body);
    let base = json!({"agent": "claude", "tools": "payments.*", "duration": "1h"});
    let with = |name: &str, value: serde_json::Value| {
        let mut body = base.clone();
        body[name] = value;
        body
    };
    for bad in [
        with("duration", json!("2h1s")),
        with("duration", json!("8760h")),
        with("duration", json!("0s")),
        with("duration", json!("forever")),
        with("max_uses", json!(0)),
        with("when", json!("params.amount <")),
        with("when", json!("parms.amount < 1")),
        with("tools", json!("[")),
    ] {
        let answer = grant(bad.clone());
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text());
        answer.refused(400, "bad_request");
    }
    assert_eq!(gateway.admin().get("/grants").json(), json!([]));

    let mut narrow = with("when", json!("params.amount < 100"));
    narrow["max_uses"] = json!(2);
    let made = grant(narrow).is(201).json();
    let pay = |amount: u64, n: u64| {
        let params = json!({"id": "paid", "amount": amount, "n": n});
        gateway.agent().tool_async("payments.send", params)
    };
    pay(99, 1).ok();
    // Outside the condition the grant says nothing, and is not used up.
    pay(100, 2).is(202);
    pay(99, 3).ok();
    pay(99, 4).is(202);
    assert_eq!(echo.executions("paid"), 2);

    grant(base.clone()).is(201);
    // A new grant answers what is open already.
    assert_eq!(gateway.health()["pending"], 0);
    let id = made["id"].as_str().unwrap();
    gateway.admin().delete(&format!("/grants/{id}")).ok();
    gateway.agent().tool_async("payments.send", json!({})).ok();
    // A deny rule always beats a grant.
    grant(with("tools", json!("*"))).is(201);
    gateway
        .agent()
        .tool("filesystem.delete_file", json!({}))
        .refused(403, "denied");
}

/// As HTTP says no. The MCP form, `isError`, comes with its door.
#[test]
fn defect_11_a_denied_call_is_an_error() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    for denied in [
        agent.tool("filesystem.delete_file", json!({"id": "no"})),
        agent.decide("filesystem.delete_file", json!({"id": "no"})),
    ] {
        denied.refused(403, "denied");
        let body = denied.json();
        assert_eq!(body["action"], "deny", "{body}");
        assert_eq!(body["rule"], "all:rule-2", "{body}");
        assert!(body.get("result").is_none(), "{body}");
        let trace = gateway.trace(&denied.trace_id());
        assert_eq!(
            (&trace["verdict"], &trace["status_code"]),
            (&json!("deny"), &json!(403))
        );
    }
    let asked = agent.tool_waiting("payments.send", json!({"id": "no"}));
    let id = gateway.one_pending()["id"].clone();
    gateway
        .alice()
        .post(
            &format!("/approvals/{}/deny", id.as_str().unwrap()),
            &json!({"reasoning": "not today"}),
        )
        .ok();
    let denied = asked.join().unwrap();
    denied.refused(403, "denied");
    let body = denied.json();
    assert_eq!(body["approval_id"], id, "{body}");
    assert!(denied.text().contains("not today"), "{body}");
    assert!(body.get("result").is_none(), "{body}");
    assert_eq!(echo.executions("no"), 0);
}

#[test]
fn defect_12_paths_are_normalised_and_compared_by_component() {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        "policies:
  - name: paths
    agent: '*'
    rules:
      - {tools: [filesystem.write_file], when: 'params.path STARTS_WITH \"/proj\"', action: allow}
      - {tools: [filesystem.read_file], when: 'params.path WITHIN \"/proj\"', action: allow}
",
    );
    let gateway = site.start();
    let agent = gateway.agent();
    for (path, allowed) in [
        ("/proj/a", true),
        ("/proj", true),
        ("/proj/./a/../b", true),
        // Two slashes at the start are another machine to some: what can be read in two ways is no.
        ("//proj//a", false),
        ("/proj//a", true),
        ("/proj/q\\r\\s/../../../etc/passwd", false),
        ("/proj/../etc", false),
        ("/proj/a/../../etc/passwd", false),
        ("/project-evil", false),
        ("/project-evil/a", false),
        ("/proj\\..\\..\\etc", false),
        ("proj/a", false),
        ("/etc", false),
    ] {
        for tool in ["filesystem.write_file", "filesystem.read_file"] {
            let status = agent.tool(tool, json!({"id": path, "path": path})).status;
            assert_eq!(status == 200, allowed, "{tool} {path}: {status}");
        }
        assert_eq!(echo.executions(path), if allowed { 2 } else { 0 }, "{path}");
    }
}

#[test]
fn defect_13_nothing_is_learned_from_approvals() {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        &format!("supervisor: {{auto_approve: true, min_approvals: 3}}\n{POLICY}"),
    );
    let gateway = site.start();
    let write = |path: &str| json!({"path": path, "id": path});
    for n in 1..=3 {
        let waiting = gateway
            .agent()
            .tool_waiting("filesystem.write_file", write("/a"));
        let id = gateway.one_pending()["id"].clone();
        gateway.fs_bot().approve(id.as_str().unwrap()).ok();
        waiting.join().unwrap().ok();
        assert_eq!(echo.executions("/a"), n);
    }
    for path in ["/b", "/a", "/a/b"] {
        let asked = gateway
            .agent()
            .tool_async("filesystem.write_file", write(path))
            .is(202);
        let id = asked.approval_id();
        let state = gateway.alice().get(&format!("/approvals/{id}")).ok();
        assert_eq!(state.json()["status"], "pending");
    }
    assert_eq!((echo.executions("/a"), echo.executions("/b")), (3, 0));
    let warned = eventually("the warning", || {
        Some(gateway.log()).filter(|log| log.contains("nothing is approved by what was approved"))
    });
    assert!(warned.contains("auto_approve"), "{warned}");
}
