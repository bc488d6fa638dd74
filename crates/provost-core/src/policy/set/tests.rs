use serde_json::{Value, json};

use super::*;
use crate::policy::{Place, Rule};

fn policy(name: &str, agent: &str, rules: Value) -> Policy {
    Policy {
        name: name.into(),
        agent: agent.into(),
        rate_limit: None,
        rules: serde_json::from_value(rules).unwrap(),
    }
}

fn call(agent: &str, tool: &str, params: Value) -> Call {
    let Value::Object(params) = params else {
        panic!()
    };
    Call {
        agent: agent.into(),
        session: None,
        tool: tool.into(),
        params,
    }
}

fn ruled(set: &PolicySet, call: &Call) -> (Verdict, String) {
    let ruling = set.evaluate(call, Time::from_millis(0));
    (ruling.verdict, ruling.rule.to_string())
}

#[test]
fn the_most_specific_policy_is_asked_first_and_the_first_matching_rule_wins() {
    let set = PolicySet::compile(vec![
        policy("all", "*", json!([{"tools": ["*"], "action": "deny"}])),
        policy("globbed", "claude*", json!([{"tools": ["fs.*"], "action": "human_approval"}])),
        policy("exact", "claude", json!([
            {"tools": ["fs.read_*"], "action": "allow"},
            {"tools": ["fs.write"], "action": "supervisor", "when": "params.path WITHIN \"/srv\""},
            {"tools": ["pay.*"], "action": "allow", "condition": {"field": "params.amount", "operator": "<", "value": 100}},
        ])),
    ])
    .unwrap();
    for (agent, tool, params, verdict, rule) in [
        (
            "claude",
            "fs.read_file",
            json!({}),
            Verdict::Allow,
            "exact:rule-1",
        ),
        (
            "claude",
            "fs.write",
            json!({"path": "/srv/a"}),
            Verdict::Supervisor,
            "exact:rule-2",
        ),
        (
            "claude",
            "fs.write",
            json!({"path": "/srv/../etc"}),
            Verdict::HumanApproval,
            "globbed:rule-1",
        ),
        (
            "claude",
            "pay.send",
            json!({"amount": 99}),
            Verdict::Allow,
            "exact:rule-3",
        ),
        (
            "claude",
            "pay.send",
            json!({"amount": 100}),
            Verdict::Deny,
            "all:rule-1",
        ),
        (
            "claude-2",
            "fs.read_file",
            json!({}),
            Verdict::HumanApproval,
            "globbed:rule-1",
        ),
        (
            "other",
            "fs.read_file",
            json!({}),
            Verdict::Deny,
            "all:rule-1",
        ),
    ] {
        assert_eq!(
            ruled(&set, &call(agent, tool, params)),
            (verdict, rule.to_owned()),
            "{agent} {tool}"
        );
    }
}

#[test]
fn nothing_matching_is_denied() {
    let set = PolicySet::compile(vec![policy(
        "p",
        "a",
        json!([{"tools": ["x"], "action": "allow"}]),
    )])
    .unwrap();
    assert_eq!(
        ruled(&set, &call("a", "y", json!({}))),
        (Verdict::Deny, "default".into())
    );
    assert_eq!(
        ruled(&set, &call("b", "x", json!({}))),
        (Verdict::Deny, "default".into())
    );
}

#[test]
fn a_condition_that_cannot_be_judged_denies() {
    let rules = json!([
        {"tools": ["*"], "action": "allow", "when": "params.text matches params.pattern"},
        {"tools": ["*"], "action": "allow"},
    ]);
    let set = PolicySet::compile(vec![policy("p", "*", rules)]).unwrap();
    let ruling = set.evaluate(
        &call("a", "t", json!({"text": "x", "pattern": "("})),
        Time::default(),
    );
    assert_eq!(ruling.verdict, Verdict::Deny);
    assert!(
        ruling.reason.contains("cannot be judged"),
        "{}",
        ruling.reason
    );
}

/// The verdict of one rule on `when`, before a rule that says the opposite.
fn judged(action: &str, when: &str, params: &Value) -> (Verdict, String) {
    let otherwise = if action == "deny" {
        "allow"
    } else {
        "supervisor"
    };
    let rules = json!([
        {"tools": ["*"], "action": action, "when": when},
        {"tools": ["*"], "action": otherwise},
    ]);
    let set = PolicySet::compile(vec![policy("p", "*", rules)]).unwrap();
    let call = call("a", "t", params.clone());
    let ruling = set.evaluate(&call, Time::default());
    let explained = set.explain(&call, Time::default());
    assert_eq!(explained.verdict, ruling.verdict, "{when} {params}");
    (ruling.verdict, explained.to_string())
}

#[test]
fn arguments_of_the_wrong_type_slip_past_no_deny_and_into_no_allow() {
    for (when, params) in [
        ("params.c MATCHES /rm -rf/", json!({"c": ["rm -rf", "/"]})),
        ("params.c MATCHES /rm -rf/", json!({"c": {"cmd": "rm -rf"}})),
        ("params.c MATCHES /1/", json!({"c": 1})),
        (
            "LOWER(params.c) MATCHES /rm -rf/",
            json!({"c": ["rm", "-rf"]}),
        ),
        ("params.c.run MATCHES /rm -rf/", json!({"c": "rm -rf"})),
        (
            "params.files[0] WITHIN '/etc'",
            json!({"files": "/etc/passwd"}),
        ),
        (
            "params.path STARTS_WITH '/etc'",
            json!({"path": ["/etc/passwd"]}),
        ),
        ("params.path ENDS_WITH '.key'", json!({"path": ["a.key"]})),
        (
            "params.path WITHIN '/etc'",
            json!({"path": ["/etc/passwd"]}),
        ),
        ("params.amount > 100", json!({"amount": [1000]})),
        ("params.amount > 100", json!({"amount": {"value": 1000}})),
        ("params.amount > 100", json!({"amount": true})),
        ("params.amount > 100", json!({"amount": "1,000"})),
        ("params.amount < 100", json!({"amount": [1000]})),
        ("params.amount < 100", json!({"amount": true})),
        ("params.amount * 100 > 5", json!({"amount": 1e307})),
        ("params.amount * 2 < 100", json!({"amount": [1000]})),
    ] {
        for action in ["deny", "allow"] {
            for when in [when.to_owned(), format!("NOT ({when})")] {
                let (verdict, explained) = judged(action, &when, &params);
                assert_eq!(verdict, Verdict::Deny, "{action} {when} {params}");
                assert!(explained.contains("cannot be judged"), "{explained}");
                assert!(explained.contains("failed: expected"), "{explained}");
            }
        }
    }
}

#[test]
fn p1_a_list_around_a_value_slips_past_no_deny_and_into_no_allow() {
    for value in [
        json!(["prod"]),
        json!([["prod"]]),
        json!({"x": "prod"}),
        json!(true),
        json!([]),
    ] {
        let params = json!({"env": value, "list": [value]});
        for when in [
            "params.env == 'prod'",
            "params.env != 'prod'",
            "params.env IN ['prod', 'live']",
            "params.env NOT IN ['dev']",
            "'prod' IN params.list",
            "params.list CONTAINS 'prod'",
            "params.list[0] == 'prod'",
            "params.env == '1'",
        ] {
            for action in ["deny", "allow"] {
                let (verdict, explained) = judged(action, when, &params);
                assert_eq!(verdict, Verdict::Deny, "{action} {when} {params}");
                assert!(explained.contains("cannot be judged"), "{explained}");
            }
        }
        for operator in ["==", "!="] {
            let condition = json!({"field": "env", "operator": operator, "value": "prod"});
            let rules = json!([
                {"tools": ["*"], "action": "deny", "condition": condition},
                {"tools": ["*"], "action": "allow"},
            ]);
            let set = PolicySet::compile(vec![policy("p", "*", rules)]).unwrap();
            let ruled = ruled(&set, &call("a", "t", params.clone()));
            assert_eq!(
                ruled,
                (Verdict::Deny, "p:rule-1".into()),
                "{operator} {params}"
            );
        }
    }
}

#[test]
fn a_missing_amount_is_neither_small_nor_large() {
    for when in [
        "params.n < 100",
        "params.n <= 0",
        "params.n > 5",
        "params.n >= 0",
    ] {
        for params in [json!({}), json!({"n": null})] {
            assert_eq!(
                judged("allow", when, &params).0,
                Verdict::Supervisor,
                "{when}"
            );
        }
    }
}

#[test]
fn a_path_that_hides_dots_behind_backslashes_is_denied_either_way() {
    for (folder, path) in [
        ("/srv/p", "/srv/p/q\\r\\s\\t/../../../etc/passwd"),
        ("/etc", "/srv\\x/../etc/passwd"),
        ("/etc", "/etc/passwd\0.txt"),
        ("/etc", "//etc/passwd"),
    ] {
        for operator in ["WITHIN", "NOT WITHIN", "STARTS_WITH"] {
            let when = format!("params.path {operator} '{folder}'");
            for action in ["deny", "allow"] {
                let (verdict, explained) = judged(action, &when, &json!({"path": path}));
                assert_eq!(verdict, Verdict::Deny, "{action} {when} {path:?}");
                assert!(explained.contains("read in two ways"), "{explained}");
            }
        }
    }
}

#[test]
fn every_error_is_reported_with_its_place() {
    let mut bad = policy(
        "p",
        "[",
        json!([{"tools": ["ok", "["], "action": "allow", "when": "parms.x == 1"}]),
    );
    bad.rules.push(Rule {
        tools: vec!["*".into()],
        action: Verdict::Deny,
        when: Some("a = = b".into()),
        condition: None,
    });
    let errors = PolicySet::compile(vec![bad]).unwrap_err();
    let places: Vec<_> = errors.iter().map(|error| &error.place).collect();
    assert!(places.contains(&&Place::Agent { policy: 0 }), "{places:?}");
    assert!(
        places.contains(&&Place::Tool {
            policy: 0,
            rule: 0,
            tool: 1
        }),
        "{places:?}"
    );
    assert!(
        places.contains(&&Place::When { policy: 0, rule: 0 }),
        "{places:?}"
    );
    assert!(
        places.contains(&&Place::When { policy: 0, rule: 1 }),
        "{places:?}"
    );
}

#[test]
fn rules_that_can_never_match_are_found() {
    let set = PolicySet::compile(vec![
        policy(
            "p",
            "a*",
            json!([
                {"tools": ["fs.*"], "action": "deny"},
                {"tools": ["fs.read"], "action": "allow"},
                {"tools": ["web.get"], "action": "allow", "when": "params.x == 1"},
                {"tools": ["web.get"], "action": "allow"},
            ]),
        ),
        policy("empty", "b", json!([])),
    ])
    .unwrap();
    let messages: Vec<_> = set
        .lints(["a1", "nobody"])
        .into_iter()
        .map(|lint| lint.message)
        .collect();
    let text = messages.join("\n");
    assert!(
        text.contains("p:rule-2 can never match: p:rule-1"),
        "{text}"
    );
    assert!(!text.contains("p:rule-4 can never"), "{text}");
    assert!(text.contains("policy `empty` has no rules"), "{text}");
    assert!(text.contains("no policy matches agent `nobody`"), "{text}");
    assert!(!text.contains("`a1`"), "{text}");
}

#[test]
fn an_explanation_names_the_rules_that_were_looked_at() {
    let rules = json!([
        {"tools": ["pay"], "action": "allow", "condition": {"field": "amount", "operator": "<", "value": 10}},
        {"tools": ["*"], "action": "human_approval", "when": "params.amount > 5"},
    ]);
    let set = PolicySet::compile(vec![policy("p", "*", rules)]).unwrap();
    let explained = set
        .explain(&call("a", "pay", json!({"amount": 50})), Time::default())
        .to_string();
    assert!(
        explained.contains("p:rule-1 (allow) does not match"),
        "{explained}"
    );
    assert!(explained.contains("amount is 50"), "{explained}");
    assert!(
        explained.contains("p:rule-2 (human_approval) matches"),
        "{explained}"
    );
}

#[test]
fn what_could_be_permitted_is_known_without_arguments() {
    let set = PolicySet::compile(vec![policy(
        "p",
        "*",
        json!([
            {"tools": ["a"], "action": "deny"},
            {"tools": ["b"], "action": "deny", "when": "params.x == 1"},
            {"tools": ["b", "c"], "action": "human_approval"},
        ]),
    )])
    .unwrap();
    for (tool, expected) in [("a", false), ("b", true), ("c", true), ("d", false)] {
        assert_eq!(set.could_permit("x", tool), expected, "{tool}");
    }
}
