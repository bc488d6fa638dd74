//! What may be run, and what may not.

use std::os::unix::fs::symlink;

use super::*;

fn settings(root: &Path) -> Settings {
    let agent = Agent {
        command: "agent --acp".to_owned(),
        env: vec![("TOKEN".to_owned(), "secret".into())],
        mode: Some("plan".to_owned()),
        sandbox: Sandbox::Off,
        profile: None,
        unknown: true,
        unsupervised: provost_runner::config::Unsupervised::End,
    };
    Settings {
        agents: [("claude".to_owned(), agent)].into(),
        roots: vec![root.to_owned()],
        limits: Limits {
            turns: Some(10),
            ..Limits::default()
        },
        ..Settings::default()
    }
}

fn asked(body: Value) -> Map<String, Value> {
    let Value::Object(body) = body else {
        panic!("{body} is no object")
    };
    body
}

#[test]
fn only_what_is_allowed_is_run() {
    let place = tempfile::tempdir().unwrap();
    let (root, data) = (place.path().join("root"), place.path().join("root/data"));
    let (repo, other) = (root.join("repo"), place.path().join("other"));
    for folder in [&repo, &other, &data] {
        std::fs::create_dir_all(folder).unwrap();
    }
    symlink(&other, root.join("out")).unwrap();
    symlink(&repo, other.join("in")).unwrap();
    let settings = settings(&root);
    let path = |path: PathBuf| path.display().to_string();
    let good = json!({"prompt": "do it", "repoDir": path(repo.clone())});
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    for (body, problem) in [
        (good.clone(), None),
        (with("agent", json!("claude")), None),
        (with("repoDir", json!(path(other.join("in")))), None),
        (with("limits", json!({"turns": 5})), None),
        (with("taskId", json!("t-1")), None),
        (with("prompt", json!([{"type": "text", "text": "a"}])), None),
        (with("agent", json!("codex")), Some("it has claude")),
        (with("repo", json!("x")), Some("unknown field `repo`")),
        (with("command", json!("rm")), Some("unknown field")),
        (with("env", json!({})), Some("unknown field")),
        (with("repoDir", json!("repo")), Some("absolute")),
        (with("repoDir", json!(path(other.clone()))), Some("allowed")),
        (
            with("repoDir", json!(path(root.join("out")))),
            Some("allowed"),
        ),
        (
            with("repoDir", json!(path(root.join("../other")))),
            Some("allowed"),
        ),
        (
            with("repoDir", json!(path(root.join("none")))),
            Some("allowed"),
        ),
        (
            with("repoDir", json!(path(root.clone()))),
            Some("data folder"),
        ),
        (
            with("repoDir", json!(path(data.clone()))),
            Some("data folder"),
        ),
        (with("prompt", json!("")), Some("`prompt` is a text")),
        (
            with("prompt", json!("x".repeat(300_000))),
            Some("more than"),
        ),
        (with("limits", json!({"turns": 11})), Some("more than")),
        (with("limits", json!({"turn": 1})), Some("limits.turn")),
        (with("taskId", json!("")), Some("taskId")),
        (with("callbackUrl", json!("ftp://x")), Some("callbackUrl")),
        (with("mode", json!("plan")), None),
        (with("mode", json!("yolo")), Some("`mode` is `plan`")),
        (with("mcpServers", json!({})), Some("mcpServers")),
    ] {
        let read = read(&settings, &data, asked(body.clone()));
        match (problem, read) {
            (None, Ok(wanted)) => assert_eq!(wanted.repo, repo.canonicalize().unwrap()),
            (Some(problem), Err(refused)) => {
                let told = refused.to_string();
                assert!(told.contains(problem), "{body}: {told}");
            }
            (problem, read) => panic!("{body}: {problem:?}, and {read:?}"),
        }
    }
}

#[test]
fn a_request_says_nothing_about_what_is_the_gateways() {
    let place = tempfile::tempdir().unwrap();
    let repo = place.path().join("repo");
    std::fs::create_dir(&repo).unwrap();
    let settings = settings(place.path());
    let data = place.path().join("data");
    let body = asked(json!({"prompt": "p", "repoDir": repo, "mode": "plan"}));
    let wanted = read(&settings, &data, body).unwrap();
    let given = Given {
        id: "run_1",
        prompt_id: "run_1".to_owned(),
        task_id: None,
        repo: &wanted.repo,
        agent: &settings.agents["claude"],
        limits: written(&wanted.limits),
        spent: None,
        url: "http://127.0.0.1:9",
        key: "k".to_owned(),
        spool: place.path().join("spool"),
        keep: None,
    };
    let composed = compose(wanted.request, given);
    let config = config::read(&composed.to_string(), &repo, Missing::Callback).unwrap();
    assert_eq!(config.mode.as_deref(), Some("plan"));
    assert_eq!(config.permissions.by, config::By::Gateway);
    assert_eq!(config.limits.turns, Some(10));
    assert_eq!(config.env["TOKEN"], "secret");
}

#[test]
fn a_session_stays_if_that_is_wanted() {
    let place = tempfile::tempdir().unwrap();
    let (root, data) = (place.path().join("root"), place.path().join("data"));
    for folder in [&root, &data] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let settings = settings(&root);
    let wanted = |more: Value| {
        let mut body = asked(json!({"prompt": "p", "repoDir": root}));
        body.extend(asked(more));
        read(&settings, &data, body)
    };
    for (more, keep, session) in [
        (json!({}), None, None),
        (json!({"keep": false}), None, None),
        (json!({"keep": true}), Some(600.0), None),
        (json!({"keep": {"idleSeconds": 30}}), Some(30.0), None),
        (json!({"session": "docs"}), Some(600.0), Some("docs")),
    ] {
        let wanted = wanted(more).unwrap();
        assert_eq!((wanted.keep, wanted.session.as_deref()), (keep, session));
        assert!(!wanted.request.contains_key("keep"));
    }
    for more in [
        json!({"keep": "yes"}),
        json!({"keep": {"idleSeconds": 0}}),
        json!({"keep": {"idle": 3}}),
        json!({"session": "a b"}),
        json!({"session": ""}),
        json!({"session": 7}),
        json!({"session": "a", "sessionId": "b"}),
    ] {
        assert!(
            matches!(wanted(more.clone()), Err(Refused::Bad(_))),
            "{more}"
        );
    }
}
