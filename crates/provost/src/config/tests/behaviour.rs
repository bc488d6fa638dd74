//! What must hold of single settings, as tables.

use std::{fs, path::Path};

use provost_core::{call::Call, key::Role, policy::Verdict, time::Time};
use serde_json::json;

use super::{environment, load_text, messages};
use provost_gateway::access::DeclaredAgents;

use crate::config::{Config, Database, Loaded, load_with, render};

fn verdict(loaded: &mut Loaded, tool: &str, params: serde_json::Value) -> Verdict {
    let serde_json::Value::Object(params) = params else {
        panic!()
    };
    let set = loaded.policy_set().unwrap();
    set.evaluate(
        &Call {
            agent: "agent".into(),
            session: None,
            tool: tool.into(),
            params,
        },
        Time::default(),
    )
    .verdict
}

#[test]
fn defect_01_misspelled_action_is_a_load_error() {
    for action in [
        "dney", "Allow", "ALLOW", "allow ed", "true", "[allow]", "\"\"",
    ] {
        let loaded = load_text(format!(
            "policies: [{{name: a, rules: [{{tools: ['*'], action: {action}}}]}}]"
        ));
        assert!(
            loaded.config.is_none() && !loaded.problems.is_empty(),
            "{action}"
        );
    }
    let loaded = load_text("policies: [{name: a, rules: [{tools: ['*'], action: dney}]}]");
    assert_eq!(messages(&loaded), ["unknown action `dney`"]);
    assert!(loaded.problems[0].help.as_ref().unwrap().contains("`deny`"));
}

#[test]
fn p07_a_key_is_not_called_as_runs_are() {
    for (name, loads) in [("run:claude", false), ("run:", false), ("runner", true)] {
        let loaded = load_text(format!(
            "auth: {{keys: [{{name: '{name}', role: agent, key: 0123456789abcdef}}]}}"
        ));
        assert_eq!(loaded.config.is_some(), loads, "{name}");
        let told = messages(&loaded).concat();
        assert_eq!(told.contains("cannot begin with `run:`"), !loads, "{told}");
    }
}

#[test]
fn p17_keys_that_are_short_or_not_set_are_told_with_what_to_do() {
    let keys = |key: &str| {
        let loaded = load_text(format!(
            "auth: {{keys: [{{name: a, role: human, key: '{key}'}}]}}"
        ));
        let told = loaded.problems.iter().map(|problem| {
            let help = problem.help.as_deref().unwrap_or_default();
            format!("{}; {help}", problem.message)
        });
        (loaded.config.is_some(), told.collect::<String>())
    };
    let (loads, told) = keys("secretkey6");
    assert!(loads && told.contains("fewer than 16"), "{told}");
    let (loads, told) = keys("0123456789abcdef");
    assert!(loads && told.is_empty(), "{told}");
    let (loads, told) = keys("env:NOT_SET_ANYWHERE");
    assert!(
        !loads && told.contains("`export NOT_SET_ANYWHERE=…`"),
        "{told}"
    );
}

#[test]
fn p18_the_ancestors_files_of_spans_load_with_a_warning() {
    for endpoint in ["stdout", "file", "file:spans.jsonl", "file:///tmp/x"] {
        let loaded = load_text(format!("otel_endpoint: '{endpoint}'"));
        assert!(loaded.config.is_some(), "{endpoint}");
        let told = messages(&loaded).join(" ");
        assert!(told.contains("has no effect"), "{endpoint}: {told}");
    }
}

#[test]
fn defect_01_unknown_fields_operators_and_globs_are_load_errors_all_at_once() {
    let loaded = load_text(
        "policies: [{name: a, agent: 'x[', rules: [
            {tools: ['y['], action: dney, wen: 1},
            {tools: ['*'], action: allow, condition: {field: amount, operator: '=<', value: 1}},
            {tools: ['*'], action: allow, when: 'parms.a == 1'}]}]",
    );
    let found = messages(&loaded).join("\n");
    for expected in ["`dney`", "`wen`", "`=<`", "`parms`", "`x[`", "`y[`"] {
        assert!(found.contains(expected), "{expected} in\n{found}");
    }
}

#[test]
fn defect_02_both_spellings_of_a_field_load_and_match() {
    for field in ["params.amount", "amount"] {
        let text = format!(
            "policies: [{{name: a, rules: [
                {{tools: [pay], condition: {{field: {field}, operator: '<', value: 100}}, action: allow}}]}}]"
        );
        assert_eq!(
            verdict(&mut load_text(&text), "pay", json!({"amount": 50})),
            Verdict::Allow,
            "{field}"
        );
        assert_eq!(
            verdict(&mut load_text(&text), "pay", json!({"amount": 500})),
            Verdict::Deny,
            "{field}"
        );
    }
}

#[test]
fn defect_07_an_open_gateway_stays_on_this_machine() {
    for (listen, loads) in [
        ("127.0.0.1:1", true),
        ("'[::1]:1'", true),
        ("localhost:1", true),
        ("0.0.0.0:1", false),
        ("10.0.0.1:1", false),
    ] {
        let loaded = load_text(format!("listen: {listen}\nauth: {{open: true}}"));
        assert_eq!(loaded.config.is_some(), loads, "{listen}");
    }
    let mut config = Config::default();
    config.auth.open = true;
    assert!(!config.is_open_to_others());
    config.listen = "0.0.0.0:1".parse().unwrap();
    assert!(config.is_open_to_others());
}

#[test]
fn defect_08_grants_have_a_maximum() {
    let loaded = load_text("grants: {max_duration: 2h}");
    assert_eq!(loaded.config.unwrap().gate.max_grant.as_secs(), 7200);
    assert_eq!(Config::default().gate.max_grant.as_secs(), 30 * 86_400);
}

#[test]
fn an_empty_file_is_the_defaults_and_asks_a_person() {
    for text in ["", "# only this\n", "---\n", "\u{feff}", "{}", "port: 9090"] {
        let mut loaded = load_text(text);
        assert!(loaded.problems.is_empty(), "{text:?} {:?}", loaded.problems);
        let (config, defaults) = (loaded.config.clone().unwrap(), Config::default());
        assert_eq!(
            (config.listen, &config.policies),
            (defaults.listen, &defaults.policies)
        );
        assert_eq!(
            verdict(&mut loaded, "anything", json!({})),
            Verdict::HumanApproval
        );
    }
}

#[test]
fn the_default_action_of_a_cli_tool_is_asked_last() {
    let tool = |action: &str| format!("cli_tools: [{{name: gh, bin: gh{action}}}]\n");
    let rules = "policies: [{name: a, rules: [{tools: [gh.pr], action: supervisor}]}]";
    for (text, call, expected) in [
        (tool(", default_action: allow"), "gh.issue", Verdict::Allow),
        (
            tool(", default_action: allow"),
            "other",
            Verdict::HumanApproval,
        ),
        (tool(""), "gh.issue", Verdict::Deny),
        (
            tool(", default_action: allow") + rules,
            "gh.pr",
            Verdict::Supervisor,
        ),
        (
            tool(", default_action: allow") + rules,
            "gh.issue",
            Verdict::Allow,
        ),
        (
            tool(", default_action: allow") + rules,
            "other",
            Verdict::Deny,
        ),
    ] {
        assert_eq!(
            verdict(&mut load_text(&text), call, json!({})),
            expected,
            "{text} {call}"
        );
    }
}

#[test]
fn paths_are_relative_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provost.yaml");
    for (text, data, database) in [
        ("", "provost-data", None),
        ("data: state\ndatabase: sqlite:a.db", "state", Some("a.db")),
        (
            "data: /var/lib/provost\ndatabase: /srv/a.db",
            "/var/lib/provost",
            Some("/srv/a.db"),
        ),
        ("database: b/c.db", "provost-data", Some("b/c.db")),
        (
            "database: sqlite:///srv/a.db",
            "provost-data",
            Some("/srv/a.db"),
        ),
    ] {
        fs::write(&path, text).unwrap();
        let config = load_with(&path, &environment).config.unwrap();
        assert_eq!(config.data, folder.path().join(data), "{text}");
        let expected = database.map_or(Database::DataFolder, |name| {
            Database::Sqlite(folder.path().join(name))
        });
        assert_eq!(config.database, expected, "{text}");
    }
}

#[test]
fn secrets_are_written_out_or_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provost.yaml");
    fs::write(folder.path().join("key"), "from-file\r\n").unwrap();
    fs::write(folder.path().join("empty"), "\n").unwrap();
    fs::write(folder.path().join("huge"), "x".repeat(70_000)).unwrap();
    fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
    let look_up = |name: &str| (name == "SET").then(|| "from-env".to_owned());
    for (written, expected) in [
        ("plain", Some("plain")),
        ("123", Some("123")),
        ("env:SET", Some("from-env")),
        ("env:UNSET", None),
        ("file:key", Some("from-file")),
        ("file:empty", None),
        ("file:huge", None),
        ("file:binary", None),
        ("file:missing", None),
        ("file:.", None),
        ("''", None),
        ("[a]", None),
    ] {
        fs::write(
            &path,
            format!("auth: {{keys: [{{name: a, role: human, key: {written}}}]}}"),
        )
        .unwrap();
        let loaded = load_with(&path, &look_up);
        let hash = loaded.config.map(|config| config.auth.keys[0].hash);
        assert_eq!(
            hash,
            expected.map(provost_core::key::KeyHash::of),
            "{written}"
        );
    }
}

#[test]
fn the_ancestors_ways_in_are_kept() {
    let loaded = load_text("auth: {admin_token: hunter2, require_authentication: true}");
    let auth = loaded.config.unwrap().auth;
    assert_eq!(
        (&*auth.keys[0].name, auth.keys[0].role),
        ("admin-token", Role::Admin)
    );
    assert_eq!(auth.declared_agents, DeclaredAgents::Never);
}

#[test]
fn a_short_timeout_leaves_time_for_people() {
    for (text, supervisor) in [
        ("approval: {timeout_seconds: 30}", 15),
        ("approval: {timeout_seconds: 0}", 60),
        ("approval: {timeout_seconds: 600}", 60),
        (
            "approval: {timeout_seconds: 30, supervisor_seconds: 20}",
            20,
        ),
    ] {
        assert_eq!(
            load_text(text)
                .config
                .unwrap()
                .gate
                .supervisor_time
                .as_secs(),
            supervisor,
            "{text}"
        );
    }
}

#[test]
fn p02_a_number_that_would_be_rounded_is_an_error() {
    let loaded = |operator: &str, value: &str| {
        load_text(format!(
            "policies:\n  - name: a\n    agent: '*'\n    rules:\n      - tools: ['*']\n        action: deny\n        condition: {{field: params.n, operator: '{operator}', value: {value}}}\n"
        ))
    };
    for operator in ["==", "!=", "<", ">="] {
        for value in [
            "9007199254740993.0",
            "+9007199254740993.0",
            "9007199254740993e0",
            "-9007199254740992.5",
            "100000000000000016383",
            "18446744073709551617",
            "0.10000000000000000001",
            "1e-400",
        ] {
            let found = loaded(operator, value);
            assert!(found.has_errors(), "{operator} {value}");
            let told = messages(&found);
            assert!(told[0].contains("cannot be kept as a number"), "{told:?}");
            let text = loaded(operator, &format!("'{value}'"));
            assert!(
                !text.has_errors(),
                "{operator} {value} {:?}",
                messages(&text)
            );
        }
        for value in [
            "5",
            "0.1",
            "9007199254740993",
            "18446744073709551615",
            "1e3",
        ] {
            let found = loaded(operator, value);
            assert!(!found.has_errors(), "{operator} {value}");
        }
    }
    let schema = "http_tools:\n  - name: pay\n    url: http://127.0.0.1:1/\n    input_schema: {type: object, properties: {n: {enum: [9007199254740993.0]}}}\n";
    assert!(load_text(schema).has_errors());
}

#[test]
fn carets_stand_under_the_mistake() {
    for (text, line, column, under) in [
        (
            "policies:\n  - name: a\n    rules:\n      - tools: [x]\n        action: dney",
            5,
            17,
            "dney",
        ),
        ("# é\nlistén: 1", 2, 1, "listén"),
        (
            "policies: [{name: a, rules: [{tools: ['*'], action: deny, when: 'nmae == 1'}]}]",
            1,
            66,
            "nmae",
        ),
        (
            "policies: [{name: é, rules: [{tools: ['*'], action: deny, when: \"\\u0061gent == nmae\"}]}]",
            1,
            80,
            "nmae",
        ),
    ] {
        let loaded = load_text(text);
        let at = loaded.problems[0].at.as_ref().unwrap();
        assert_eq!(
            (at.line, at.column, &text[at.span.clone()]),
            (line, column, under),
            "{text}"
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("missing.yaml"), folder.path().to_owned()] {
        let loaded = load_with(&path, &environment);
        assert!(loaded.config.is_none());
        assert!(render(&loaded.problems, false).contains("cannot be read"));
        assert_eq!(loaded.watched_files(), [path]);
    }
}

#[test]
fn too_large_files_and_too_many_problems_are_bounded() {
    let loaded = load_text("# ".repeat(600 * 1024));
    assert_eq!(messages(&loaded), ["the file is larger than 1024 KiB"]);

    let loaded = load_text(
        (0..5000)
            .map(|n| format!("unknown{n}: 1"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    assert_eq!(loaded.problems.len(), 100);
    assert!(
        loaded.problems[99]
            .message
            .ends_with("4900 more problems are not shown")
    );
    assert!(loaded.config.is_none());
}

#[test]
fn the_files_of_a_policy_folder_are_watched() {
    let path = Path::new(super::TESTDATA).join("good/policy_dir.yaml");
    let watched = load_with(&path, &environment).watched_files();
    let names: Vec<_> = watched
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "policies",
            "10-reader.yaml",
            "20-worker.yaml",
            "policy_dir.yaml"
        ]
    );
}
