use serde_json::{Value, json, value::to_raw_value};

use super::*;
use crate::{
    acp::{SessionUpdate, Update},
    agents::named,
};

fn watching(agent: Option<&str>) -> ActWatch {
    ActWatch::new(agent.and_then(named), Path::new("/repo"))
}

fn seeing(watch: &mut ActWatch, update: Value) -> Option<Unseen> {
    let params = json!({"sessionId": "s", "update": update});
    match SessionUpdate::read(&to_raw_value(&params).unwrap()).update {
        Update::Tool(tool) => watch.update(&tool, Instant::now()),
        other => panic!("{other:?}"),
    }
}

fn call(id: &str, kind: &str, status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": kind, "title": "t", "status": status})
}

fn told(kind: &str, input: Value) -> Map<String, Value> {
    let call = json!({"kind": kind, "rawInput": input});
    call.as_object().unwrap().clone()
}

#[test]
fn what_nobody_decided_is_seen() {
    for (kind, agent, decided, seen) in [
        ("execute", None, None, true),
        ("edit", None, None, true),
        ("fetch", None, Some(false), true),
        ("execute", None, Some(true), false),
        ("read", None, None, false),
        ("other", None, None, false),
        // All that Goose does is of this kind.
        ("other", Some("goose"), None, true),
        // Codex runs commands in its own sandbox.
        ("execute", Some("codex"), None, false),
        ("edit", Some("codex"), None, true),
    ] {
        let mut watch = watching(agent);
        assert_eq!(seeing(&mut watch, call("1", kind, "in_progress")), None);
        match decided {
            Some(true) => watch.allowed("1", &told(kind, json!({}))),
            Some(false) => watch.rejected("1"),
            None => {}
        }
        let update =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"});
        let unseen = seeing(&mut watch, update.clone());
        assert_eq!(unseen.is_some(), seen, "{kind} {agent:?} {decided:?}");
        // Once is enough.
        assert_eq!(seeing(&mut watch, update), None);
    }
}

#[test]
fn a_yes_is_not_for_another_call_of_the_same_id() {
    let mut watch = watching(None);
    watch.allowed("1", &told("execute", json!({})));
    assert_eq!(seeing(&mut watch, call("1", "execute", "completed")), None);
    assert!(seeing(&mut watch, call("1", "execute", "completed")).is_some());
    // Some are decided before they are announced.
    watch.allowed("1", &told("execute", json!({})));
    assert_eq!(seeing(&mut watch, call("1", "execute", "completed")), None);
}

#[test]
fn a_call_that_failed_was_none() {
    let mut watch = watching(None);
    assert_eq!(seeing(&mut watch, call("1", "execute", "failed")), None);
}

#[test]
fn what_we_did_ourselves_was_decided() {
    let mut watch = watching(None);
    let edit = |id: &str| {
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "edit", "status": "completed",
            "locations": [{"path": "/a"}]})
    };
    watch.wrote("/a".into());
    assert_eq!(seeing(&mut watch, edit("1")), None);
    assert!(seeing(&mut watch, edit("2")).is_some(), "written once");
    let run = |id: &str, terminal: &str| {
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute", "status": "completed",
            "content": [{"type": "terminal", "terminalId": terminal}]})
    };
    watch.opened("t1");
    assert_eq!(seeing(&mut watch, run("3", "t1")), None);
    assert!(seeing(&mut watch, run("4", "t2")).is_some());
}

#[test]
fn a_call_may_be_in_progress_before_it_is_asked_about() {
    let mut watch = watching(None);
    let start = Instant::now();
    seeing(&mut watch, call("1", "execute", "in_progress"));
    let later = start + PATIENCE + Duration::from_secs(1);
    assert_eq!(watch.overdue(start, false), None);
    // Another question is open: it may wait its turn.
    assert_eq!(watch.overdue(later, true), None);
    assert_eq!(watch.overdue(later, false), None);
    let unseen = watch.overdue(later + PATIENCE + Duration::from_secs(1), false);
    assert_eq!(unseen.unwrap().status, "in_progress");
}

#[test]
fn a_call_that_is_begun_when_the_turn_ends_was_not_asked_about() {
    let mut watch = watching(None);
    for (id, kind) in [
        ("begun", "execute"),
        ("read", "read"),
        ("yes", "edit"),
        ("no", "edit"),
        ("failed", "execute"),
    ] {
        seeing(&mut watch, call(id, kind, "in_progress"));
    }
    watch.allowed("yes", &told("edit", json!({})));
    watch.rejected("no");
    seeing(&mut watch, call("failed", "execute", "failed"));
    // The agent goes on after the no.
    seeing(&mut watch, call("later", "execute", "in_progress"));
    let ids = |unseen: Vec<Unseen>| {
        let ids = unseen.into_iter().map(|unseen| unseen.tool_call_id);
        ids.collect::<Vec<_>>()
    };
    // Beside a call that was rejected nobody knows whether it was begun.
    assert_eq!(ids(watch.turn_ended()), ["later"]);
    assert_eq!(ids(watch.turn_ended()), [] as [String; 0]);
    // That it was done counts.
    assert!(seeing(&mut watch, call("begun", "execute", "completed")).is_some());
}

#[test]
fn whatever_else_it_is_called_an_act_is_an_act() {
    let mut watch = watching(None);
    seeing(&mut watch, call("1", "execute", "in_progress"));
    let unseen = seeing(&mut watch, call("1", "read", "completed"));
    assert_eq!(unseen.unwrap().kind, "execute");
    // A yes to a read is none to a command.
    watch.allowed("2", &told("read", json!({})));
    assert!(seeing(&mut watch, call("2", "execute", "completed")).is_some());
    // Whoever allowed a call that may be anything allowed this.
    watch.allowed("3", &told("other", json!({})));
    assert_eq!(seeing(&mut watch, call("3", "execute", "completed")), None);
    // One that said what it would do was no such call.
    for (id, asked, did) in [
        ("4", "other", "execute"),
        ("5", "", "delete"),
        ("6", "other", "edit"),
    ] {
        watch.allowed(id, &told(asked, json!({"query": "x"})));
        assert!(
            seeing(&mut watch, call(id, did, "completed")).is_some(),
            "{asked} {did}"
        );
    }
    watch.allowed(
        "7",
        &told("other", json!({"command": "ls", "why": "to see"})),
    );
    let mut done = call("7", "execute", "completed");
    done["rawInput"] = json!({"command": "ls"});
    assert_eq!(seeing(&mut watch, done), None);
    // However it is written.
    assert!(seeing(&mut watch, call("8", "Execute", "Completed")).is_some());
}

#[test]
fn a_yes_is_not_for_something_else_under_the_same_id() {
    let ls = json!({"command": "ls"});
    let file = json!({"file_path": "/repo/a"});
    for (kind, asked, did, same) in [
        ("execute", &ls, json!({"rawInput": {"command": "ls"}}), true),
        (
            "execute",
            &ls,
            json!({"rawInput": {"command": ["bash", "-lc", "ls"]}}),
            true,
        ),
        (
            "execute",
            &ls,
            json!({"rawInput": {"command": ["./x", "-c", "ls"]}}),
            false,
        ),
        (
            "execute",
            &ls,
            json!({"rawInput": {"command": "rm -rf x"}}),
            false,
        ),
        ("execute", &ls, json!({"title": "List files"}), true),
        // Nobody was told what it would do.
        (
            "execute",
            &json!({}),
            json!({"rawInput": {"command": "ls"}}),
            true,
        ),
        (
            "edit",
            &file,
            json!({"content": [{"type": "diff", "path": "a", "newText": "x"}]}),
            true,
        ),
        (
            "edit",
            &file,
            json!({"content": [{"type": "diff", "path": "/repo/b", "newText": "x"}]}),
            false,
        ),
        (
            "edit",
            &file,
            json!({"rawInput": {"file_path": "/repo/./b/../a"}}),
            true,
        ),
        // The end of a path is not the path.
        (
            "edit",
            &json!({"file_path": "config"}),
            json!({"rawInput": {"file_path": "/etc/ssh/config"}}),
            false,
        ),
        (
            "execute",
            &ls,
            json!({"rawInput": {"cmd": "rm -rf x"}}),
            false,
        ),
        (
            "execute",
            &json!({"command": "git", "args": ["status"]}),
            json!({"rawInput": {"command": "git", "args": ["push", "--force"]}}),
            false,
        ),
        (
            "execute",
            &json!({"command": "make clean", "cwd": "/repo"}),
            json!({"rawInput": {"command": "make clean", "cwd": "/etc"}}),
            false,
        ),
        (
            "execute",
            &json!({"command": "make clean", "cwd": "/repo/."}),
            json!({"rawInput": {"command": "make clean", "cwd": "/repo"}}),
            true,
        ),
    ] {
        let mut watch = watching(None);
        watch.allowed("1", &told(kind, asked.clone()));
        let mut update = call("1", kind, "completed");
        let said = did.as_object().unwrap().clone();
        update.as_object_mut().unwrap().extend(said);
        let unseen = seeing(&mut watch, update);
        assert_eq!(unseen.is_none(), same, "{asked} {did}");
    }
}

#[test]
fn every_question_about_a_call_counts() {
    let mut watch = watching(None);
    watch.allowed("1", &told("execute", json!({"command": "ls /"})));
    // Some ask about a folder as well.
    watch.allowed("1", &told("read", json!({"path": "/"})));
    let mut done = call("1", "execute", "completed");
    done["rawInput"] = json!({"command": "ls /"});
    assert_eq!(seeing(&mut watch, done), None);
}

/// An update need not repeat the kind that the question had.
#[test]
fn the_kind_of_the_question_counts() {
    let mut watch = watching(None);
    watch.allowed("1", &told("execute", json!({"command": "ls"})));
    let done = |command: &str| {
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed",
            "rawInput": {"command": command}})
    };
    assert!(seeing(&mut watch, done("rm -rf /")).is_some());
    let mut watch = watching(None);
    watch.allowed("1", &told("execute", json!({"command": "ls"})));
    assert_eq!(seeing(&mut watch, done("ls")), None);
    // The same once more, and then something else.
    assert_eq!(seeing(&mut watch, done("ls")), None);
    assert!(seeing(&mut watch, done("rm -rf /")).is_some());
}

#[test]
fn an_act_is_seen_whatever_its_kind_says() {
    let command = json!({"rawInput": {"command": "rm -rf /"}});
    let change = json!({"content": [{"type": "diff", "path": "/repo/a", "newText": "x"}]});
    let query = json!({"rawInput": {"query": "x"}});
    for (agent, kind, did, seen) in [
        (None, "other", &command, true),
        (None, "think", &command, true),
        (None, "bash", &command, true),
        (None, "other", &query, false),
        (None, "read", &change, true),
        (None, "read", &query, false),
        // Some look at files by commands.
        (None, "read", &command, false),
        (Some("codex"), "other", &command, false),
    ] {
        let mut watch = watching(agent);
        let mut update = call("1", kind, "completed");
        let more = did.as_object().unwrap().clone();
        update.as_object_mut().unwrap().extend(more);
        let unseen = seeing(&mut watch, update.clone());
        assert_eq!(unseen.is_some(), seen, "{agent:?} {kind} {did}");
        // What was asked about so was seen.
        watch.allowed("2", &told(kind, did["rawInput"].clone()));
        update["toolCallId"] = "2".into();
        let decided = seeing(&mut watch, update);
        assert_eq!(decided, None, "{agent:?} {kind} {did}");
    }
    // Without an id nobody can have been asked.
    let mut watch = watching(None);
    let mut nameless = call("", "execute", "completed");
    nameless["toolCallId"] = Value::Null;
    assert!(seeing(&mut watch, nameless).is_some());
}

#[test]
fn a_terminal_is_one_commands() {
    let mut watch = watching(None);
    watch.opened("t");
    let run = |id: &str| {
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute", "status": "completed",
            "content": [{"type": "terminal", "terminalId": "t"}]})
    };
    assert_eq!(seeing(&mut watch, run("1")), None);
    assert!(seeing(&mut watch, run("2")).is_some());
}
