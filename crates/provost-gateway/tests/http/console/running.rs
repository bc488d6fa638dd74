//! Runs in the console: started, followed and cancelled by people; an agent's words stay words.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use provost_gateway::fleet::{Agent, Fleet, Parts, Sandbox, Settings, State};

use super::Tab;
use crate::app::TestApp;

/// In the place of a runner: it writes what a runner would, and ends, or waits until it is ended.
const RUNNER: &str = r#"#!/bin/sh
exec >> "$5"
echo '{"at":1,"event":{"started":{"pid":'$$'}}}'
echo '{"at":2,"event":{"session":"s-1"}}'
echo '{"at":3,"in":{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"<b>bold</b>"}}}}}'
echo '{"at":4,"in":{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"<i>tool</i>","status":"pending"}}}}'
echo '{"at":5,"in":{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}}}}'
if grep -q wait "$2"; then
  echo '{"at":6,"event":{"state":"running"}}'
  trap 'echo "{\"at\":7,\"event\":{\"ended\":{\"state\":\"failed\",\"reason\":\"stopped\",\"message\":\"asked to\"}}}"; exit' TERM
  while :; do sleep 0.05; done
fi
echo '{"at":6,"event":{"reported":{"refused":2,"warning":"the callback refused <b>every</b> report"}}}'
echo '{"at":6,"event":{"ended":{"state":"done","stopReason":"end_turn"},"spent":{"turns":3}}}'
"#;

async fn fleet(app: &TestApp, place: &Path) -> Arc<Fleet> {
    let launcher = place.join("runner");
    fs::write(&launcher, RUNNER).unwrap();
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(place.join("repo")).unwrap();
    fs::create_dir(place.join("data")).unwrap();
    let agent = Agent {
        command: "agent".to_owned(),
        env: Vec::new(),
        mode: None,
        sandbox: Sandbox::Off,
        profile: None,
        unknown: true,
        unsupervised: provost_runner::config::Unsupervised::End,
    };
    let fleet = Fleet::open(Parts {
        settings: Settings {
            agents: [("claude".to_owned(), agent)].into(),
            roots: vec![place.join("repo")],
            ..Settings::default()
        },
        gate: app.app.gate.clone(),
        data: place.join("data"),
        launcher,
        url: "http://127.0.0.1:9".to_owned(),
    })
    .await
    .unwrap();
    fleet.start();
    assert!(app.app.fleet.set(Arc::clone(&fleet)).is_ok());
    fleet
}

async fn until(fleet: &Fleet, state: State) {
    let mut changes = fleet.watch();
    while fleet.runs()[0].story().state != state {
        changes.changed().await.unwrap();
    }
}

#[tokio::test]
async fn people_start_and_follow_runs() {
    let (app, place) = (TestApp::new().await, tempfile::tempdir().unwrap());
    let alice = Tab::signed_in(&app, "human-key").await;
    alice.get("/console/runs").await.is(404);
    alice.get("/").await.is(200).says_not("/console/runs");
    let fleet = fleet(&app, place.path()).await;
    alice.get("/").await.is(200).says("/console/runs");
    alice
        .get("/console/runs")
        .await
        .is(200)
        .says("Nothing was run yet");
    let repo = place.path().join("repo");
    let repo = repo.to_str().unwrap();
    let form = [
        ("agent", "claude"),
        ("repoDir", repo),
        ("prompt", "<script>do</script>"),
    ];
    let started = alice.post("/console/runs", &form).await.is(303);
    let page = started.goes_to().to_owned();
    until(&fleet, State::Done).await;
    let story = alice.get(&page).await.is(200);
    for shown in [
        "end_turn",
        "bold",
        "tool",
        "completed",
        "3 turns",
        "s-1",
        "Warning: the callback refused",
    ] {
        story.says(shown);
    }
    for hostile in ["<script>do", "<b>bold", "<i>tool", "<b>every"] {
        story.says_not(hostile);
    }
    let list = alice.get("/console/fragment/runs/list").await.is(200);
    list.says("done");
    list.says_not("<script>do");
    let elsewhere = [("agent", "claude"), ("repoDir", "/"), ("prompt", "x")];
    alice
        .post("/console/runs", &elsewhere)
        .await
        .is(400)
        .says("Not started");
}

#[tokio::test]
async fn people_cancel_runs_and_supervisors_do_not_see_them() {
    let (app, place) = (TestApp::new().await, tempfile::tempdir().unwrap());
    let fleet = fleet(&app, place.path()).await;
    let alice = Tab::signed_in(&app, "human-key").await;
    let repo = place.path().join("repo");
    let form = [("repoDir", repo.to_str().unwrap()), ("prompt", "wait")];
    let started = alice.post("/console/runs", &form).await.is(303);
    let page = started.goes_to().to_owned();
    until(&fleet, State::Running).await;
    let bot = Tab::signed_in(&app, "supervisor-key").await;
    bot.get("/").await.says_not("/console/runs");
    for path in ["/console/runs", &page, "/console/fragment/runs/list"] {
        bot.get(path).await.is(403);
    }
    let cancel = format!("{page}/cancel");
    bot.post(&cancel, &[]).await.is(403);
    // Without the token of a page it is nobody's form.
    alice.send_form(&cancel, &[]).await.is(403);
    assert_eq!(fleet.runs()[0].story().state, State::Running);
    alice.post(&cancel, &[]).await.is(303);
    until(&fleet, State::Cancelled).await;
    alice
        .get(&page)
        .await
        .is(200)
        .says("human:alice wants it to end");
}
