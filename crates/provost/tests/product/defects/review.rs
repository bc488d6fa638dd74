//! What a supervisor may see: 6.

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    events_feed::Feed,
    harness::{POLICY, Site, eventually},
};

/// What must not be seen, wherever it stands.
const SECRET: &str = "correct horse battery staple";

fn params() -> Value {
    json!({
        "id": "hidden",
        "path": "/srv/project/notes.txt",
        "content": SECRET,
        "Body": {"deep": [SECRET, {"deeper": SECRET}]},
        "files": [{"name": "a", "content": SECRET}, {"data": [SECRET]}, [[{"TEXT": SECRET}]]],
        "note": format!("{SECRET} {}", "x".repeat(300)),
        "list": [format!("{SECRET} {}", "y".repeat(300))],
    })
}

#[test]
fn defect_06_content_is_never_shown_where_it_is_not_exposed() {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        &format!("supervisor: {{expose_content: false}}\n{POLICY}"),
    );
    let gateway = site.start();
    let agent = gateway.agent().with("x-session-id", "s1");
    let bot = gateway.fs_bot();
    let mut feed = Feed::open(&bot, "/events?after=0", None);
    // One that ran, for the recent traces; one that was decided; one that waits.
    let ran = agent.tool("filesystem.read_file", params()).ok();
    eventually("the outcome", || {
        (gateway.trace(&ran.trace_id())["outcome"] == "done").then_some(())
    });
    let decided = agent.tool_waiting("filesystem.write_file", params());
    let first = gateway.one_pending()["id"].as_str().unwrap().to_owned();
    bot.approve(&first).ok();
    decided.join().unwrap().ok();
    let mut another = params();
    another["n"] = json!(2);
    let waiting = agent.tool_async("filesystem.write_file", another).is(202);
    let second = waiting.approval_id();

    let detail = bot.get(&format!("/approvals/{second}")).ok();
    let shown = detail.json();
    assert_eq!(shown["params"]["path"], "/srv/project/notes.txt");
    assert_eq!(shown["params"]["content"]["content_length"], SECRET.len());
    assert_eq!(
        shown["params"]["content"]["content_type_detected"],
        "text/plain"
    );
    let sha256 = shown["params"]["content"]["content_sha256"].as_str();
    assert_eq!(sha256.unwrap().len(), 64);
    assert_eq!(
        shown["params"]["files"][0]["content"]["content_length"],
        SECRET.len()
    );
    let recent = shown["recent_traces"].as_array().unwrap();
    assert_eq!(recent.len(), 2, "{shown:#}");

    let traces = [ran.trace_id(), waiting.trace_id()];
    for client in [&bot, &gateway.alice()] {
        for target in [
            "/approvals".to_owned(),
            "/approvals?status=pending".to_owned(),
            "/approvals?status=approved".to_owned(),
            format!("/approvals/{first}"),
            format!("/approvals/{second}"),
            "/traces".to_owned(),
            format!("/traces/{}", traces[0]),
            "/sessions".to_owned(),
            "/sessions/s1".to_owned(),
        ] {
            let answer = client.get(&target).ok();
            assert!(answer.body.len() > 2, "{target} shows nothing");
            let text = answer.text();
            assert!(!text.contains(SECRET), "{target} shows the content: {text}");
        }
    }
    for conflict in [
        bot.approve(&first),
        bot.deny(&first),
        gateway.alice().deny(&first),
    ] {
        conflict.refused(409, "already_resolved");
        assert!(!conflict.text().contains(SECRET), "{}", conflict.text());
    }
    for _ in 0..3 {
        let event = feed.next();
        assert!(!event.data.to_string().contains(SECRET), "{event:?}");
    }

    // No way round: not by asking for it, not by the export.
    for target in [
        "/approvals?content=full".to_owned(),
        format!("/approvals/{second}?content=full"),
        "/traces?content=full".to_owned(),
        format!("/traces/{}?content=full", traces[0]),
        "/sessions/s1?content=full".to_owned(),
        "/traces/export".to_owned(),
    ] {
        let answer = bot.get(&target);
        assert_eq!(answer.status, 403, "{target}: {}", answer.text());
        assert!(!answer.text().contains(SECRET), "{target}");
    }
    // A person may ask for it.
    let full = gateway
        .alice()
        .get(&format!("/approvals/{second}?content=full"))
        .ok();
    assert_eq!(full.json()["params"]["content"], SECRET);
    assert!(!gateway.log().contains(SECRET), "the log holds the content");
}
