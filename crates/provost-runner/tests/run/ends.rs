//! Runs that end before their time: crashes, brakes, a receiver that does not know us.

use std::time::{Duration, Instant};

use provost_runner::{run::Outcome, unbegun::Unbegun};
use serde_json::{Value, json};

use crate::{
    receiver::Act,
    script::{child, flood, says, step, turn, unanswered},
    trial::{Trial, alive, until},
};

/// Hears no request to end, and has the agent's output open.
const STUBBORN: &str = "trap '' TERM; while :; do sleep 1; done";

#[tokio::test]
async fn a_crash_is_told_with_everything_before_it() {
    let steps = [
        flood(500, 100),
        step("stderr", "thread 'main' panicked\nit is broken\n"),
        step("exit", 101),
    ];
    let done = Trial::new().await.prompt(unanswered(&steps)).run().await;
    let end = done.failed("agent_exited");
    assert_eq!(end["exitCode"], 101);
    assert_eq!(end["stderrTail"], "thread 'main' panicked\nit is broken\n");
    assert_eq!(end["snapshot"]["state"], "failed");
    done.parity();
    assert_eq!(done.raw.len(), 500);
    assert_eq!(done.last()["kind"], "prompt_failed");
}

#[tokio::test]
async fn an_agent_that_complains_without_end_is_not_held_up() {
    let steps = [
        step("complain", 70_000_000),
        says("and on"),
        step("stderr", "the last word"),
        step("exit", 1),
    ];
    let done = Trial::new().await.prompt(unanswered(&steps)).run().await;
    let end = done.failed("agent_exited");
    let tail = end["stderrTail"].as_str().unwrap();
    assert!(tail.len() < 10_000 && tail.ends_with("the last word"));
    done.parity();
}

#[tokio::test]
async fn a_crash_by_a_signal_is_told() {
    for signal in [9, 6] {
        let steps = [says("hello"), step("signal", signal)];
        let done = Trial::new().await.prompt(unanswered(&steps)).run().await;
        let end = done.failed("agent_exited");
        assert_eq!(end["signal"], signal);
        assert!(end.get("exitCode").is_none());
        done.parity();
    }
}

#[tokio::test]
async fn an_agent_that_ends_without_an_answer_did_not_do_it() {
    let steps = [says("hello"), step("exit", 0)];
    let done = Trial::new().await.prompt(unanswered(&steps)).run().await;
    assert_eq!(done.failed("agent_exited")["exitCode"], 0);
}

#[tokio::test]
async fn a_crash_is_noticed_while_a_child_holds_the_output() {
    let trial = Trial::new().await;
    let steps = [
        child(STUBBORN, &trial.at("child")),
        says("hello"),
        step("exit", 7),
    ];
    let done = trial.prompt(unanswered(&steps));
    let trial = done;
    let done = trial.run().await;
    assert_eq!(done.failed("agent_exited")["exitCode"], 7);
    done.parity();
    let pid = trial.appears("child").await;
    until(|| !alive(&pid)).await;
}

#[tokio::test]
async fn a_crash_is_told_at_once_whoever_holds_the_streams() {
    // Its outputs or one of them, in its group or outside of it.
    for line in [
        "sleep 60",
        "sleep 60 2>/dev/null",
        "sleep 60 >/dev/null",
        "setsid sleep 60",
        "setsid sleep 60 >/dev/null",
        "while :; do echo noise; done",
    ] {
        let trial = Trial::new().await.limit("graceSeconds", 30);
        let steps = [
            child(line, &trial.at("child")),
            says("hello"),
            step("stderr", "broken\n"),
            step("exit", 7),
        ];
        let trial = trial.prompt(unanswered(&steps));
        let running = trial.start();
        trial.appears("child").await;
        let crashed = Instant::now();
        let done = trial.end(running).await;
        // A second where nothing else is to be done; never a grace.
        let took = crashed.elapsed();
        assert!(took < Duration::from_secs(8), "{line}: {took:?}");
        let end = done.failed("agent_exited");
        assert_eq!(end["exitCode"], 7, "{line}");
        assert_eq!(end["stderrTail"], "broken\n", "{line}");
        done.parity();
    }
}

#[tokio::test]
async fn a_crash_with_a_permission_open_is_told() {
    let steps = [crate::script::asks(1), step("exit", 4)];
    let trial = Trial::new().await.set("permissions", "callback");
    let done = trial.prompt(unanswered(&steps)).run().await;
    let end = done.failed("agent_exited");
    assert_eq!(end["snapshot"]["pendingPermissions"], json!([]));
    assert_eq!(end["snapshot"]["state"], "failed");
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_told() {
    let trial = Trial::new().await.set("command", json!(["/no/such/agent"]));
    let done = trial.run().await;
    let end = done.failed("spawn_failed");
    assert_eq!(
        (&end["sequence"], &end["sessionId"]),
        (&json!(1), &json!(null))
    );
    assert_eq!(done.reports.len(), 1);
}

#[tokio::test]
async fn an_error_instead_of_an_answer_is_the_agents_own() {
    let reply = unanswered(&[says("hm")]).error("out of credit");
    let done = Trial::new().await.prompt(reply).run().await;
    let end = done.failed("agent_error");
    assert_eq!(end["error"]["code"], -32000);
    assert!(
        end["error"]["message"]
            .as_str()
            .unwrap()
            .contains("out of credit")
    );
    done.parity();
}

#[tokio::test]
async fn a_brake_stops_it_at_once_where_the_agent_listens() {
    let trial = Trial::new().await.limit("graceSeconds", 60);
    let trial = trial.prompt(unanswered(&[says("working")]));
    let running = trial.start();
    trial.taken(|reports| !reports.is_empty()).await;
    let pulled = Instant::now();
    trial.brake.pull("SIGTERM");
    trial.brake.pull("again");
    let done = trial.end(running).await;
    assert!(pulled.elapsed() < Duration::from_secs(20));
    let end = done.failed("stopped");
    assert_eq!(end["error"]["message"], "SIGTERM");
    assert_eq!(end["snapshot"]["state"], "cancelled");
    assert_eq!(done.told("session/cancel")[0]["params"]["sessionId"], "s");
    done.parity();
}

#[tokio::test]
async fn a_brake_takes_the_whole_group_of_an_agent_that_does_not_listen() {
    let trial = Trial::new().await;
    let steps = [child(STUBBORN, &trial.at("child")), says("working")];
    let trial = trial
        .prompt(unanswered(&steps))
        .flag("ignoreCancel")
        .flag("ignoreEnd");
    let deaf = json!([
        "/bin/sh",
        "-c",
        "trap '' TERM; exec \"$0\" \"$1\"",
        trial.config["command"][0],
        trial.config["command"][1]
    ]);
    let trial = trial.set("command", deaf);
    let running = trial.start();
    let pid = trial.appears("child").await;
    trial.taken(|reports| !reports.is_empty()).await;
    trial.brake.pull("enough");
    let done = trial.end(running).await;
    assert_eq!(done.failed("stopped")["signal"], 9);
    assert_eq!(done.told("session/cancel").len(), 1);
    until(|| !alive(&pid)).await;
    done.parity();
}

#[tokio::test]
async fn a_brake_before_the_prompt_stops_it() {
    let trial = Trial::new().await.on("session/new", unanswered(&[]));
    let running = trial.start();
    trial.appears("heard").await;
    trial.brake.pull("early");
    let done = trial.end(running).await;
    done.failed("stopped");
    assert!(done.told("session/prompt").is_empty());
}

#[tokio::test]
async fn a_brake_does_not_wait_for_a_receiver_that_is_away() {
    let away = std::iter::repeat_n(Act::Status(503), 1000);
    let trial = Trial::with(away).await.set("spoolDir", "spool");
    let trial = trial.prompt(turn(&[says("hello")]));
    let running = trial.start();
    until(|| {
        let journal = std::fs::read_to_string(trial.at("journal"));
        journal.is_ok_and(|text| text.contains("prompt_complete"))
    })
    .await;
    let pulled = Instant::now();
    trial.brake.pull("SIGTERM");
    let done = trial.end(running).await;
    assert!(pulled.elapsed() < Duration::from_secs(30));
    // It had ended well before, and what is owed is on disk.
    assert!(matches!(done.ended.outcome, Outcome::Complete { .. }));
    assert_eq!((done.ended.drained.left, done.ended.drained.kept), (2, 2));
}

#[tokio::test]
async fn a_receiver_that_does_not_know_us_ends_the_run() {
    let trial = Trial::with([Act::Take, Act::Status(401)]).await;
    let next = trial.at("next");
    let steps = [
        says("1"),
        crate::script::file(&next),
        child(STUBBORN, &trial.at("child")),
        says("2"),
    ];
    let trial = trial.prompt(unanswered(&steps)).flag("ignoreCancel");
    let running = trial.start();
    trial.taken(|reports| reports.len() == 1).await;
    std::fs::write(next, "").unwrap();
    let done = trial.end(running).await;
    assert_eq!(done.ended.outcome, Outcome::Unauthorized);
    assert!(done.ended.drained.unauthorized);
    assert_eq!(done.told("session/cancel").len(), 1);
    let pid = trial.appears("child").await;
    until(|| !alive(&pid)).await;
    // Nothing more is posted, neither an end nor a sign of life.
    assert_eq!(trial.receiver.attempts(), 2);
    let beats = trial.receiver.beats();
    let another = trial.receiver.until(|receiver| receiver.beats() > beats);
    let another = tokio::time::timeout(Duration::from_millis(200), another).await;
    assert!(another.is_err());
    // The journal has what the receiver does not want.
    assert!(done.journal_text.contains("\"text\":\"2\""));
}

#[tokio::test]
async fn a_receiver_that_does_not_know_us_fails_a_run_that_has_ended_by_then() {
    let trial = Trial::with(std::iter::repeat_n(Act::Status(401), 10)).await;
    // Its first report is its last.
    let trial = trial.on("session/prompt", turn(&[]));
    let done = trial.run().await;
    assert!(done.ended.drained.unauthorized);
    assert_eq!(done.ended.outcome, Outcome::Unauthorized);
}

#[tokio::test]
async fn one_that_cannot_begin_is_told_as_one_that_failed() {
    let trial = Trial::new().await;
    for sequence in 1..=2 {
        let unbegun = Unbegun::of(&trial.read());
        unbegun
            .tell("cannot_start", "there is no such folder")
            .await;
        let reports = trial.receiver.taken();
        assert_eq!(reports.len(), sequence);
        let end = reports.last().unwrap();
        assert_eq!(end["kind"], "prompt_failed");
        assert_eq!(end["sequence"], sequence as u64);
        assert_eq!(end["error"]["data"]["reason"], "cannot_start");
        assert_eq!(end["error"]["message"], "there is no such folder");
        assert_eq!(end["snapshot"]["state"], "failed");
    }
    let journal = std::fs::read_to_string(trial.at("journal")).unwrap();
    let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"]["ended"]["reason"], "cannot_start");
}
