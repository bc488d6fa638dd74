//! What a run may spend really ends it: the agent is told, then asked, then forced, with all that it started.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    script::{Reply, asks, bytes, child, flood, request, says, step, turn, unanswered, update_of},
    trial::{Done, Trial, alive, until},
};

const STUBBORN: &str = "trap '' TERM; while :; do sleep 1; done";

/// Runs into the limit, with a child that must go along.
async fn exceeds(limit: &str, value: impl Into<Value>, steps: &[String]) -> Done {
    let trial = Trial::new().await;
    let mut all = vec![child(STUBBORN, &trial.at("child"))];
    all.extend_from_slice(steps);
    let trial = trial
        .limit(limit, value)
        .prompt(unanswered(&all))
        .flag("ignoreCancel");
    let done = trial.run().await;
    let end = done.failed("limit_exceeded");
    let data = &end["error"]["data"];
    assert_eq!(data["limit"], limit);
    assert!(data["used"].as_f64() > data["allowed"].as_f64(), "{data}");
    assert!(end["error"]["message"].as_str().unwrap().contains(limit));
    assert_eq!(end["snapshot"]["state"], "failed");
    assert_eq!(done.told("session/cancel").len(), 1);
    let pid = trial.appears("child").await;
    until(|| !alive(&pid)).await;
    done.parity();
    done
}

fn tool(id: &str, status: &str) -> String {
    update_of(&json!({"sessionUpdate": "tool_call", "toolCallId": id, "status": status}))
}

#[tokio::test]
async fn time() {
    exceeds("wallSeconds", 0.5, &[]).await;
}

#[tokio::test]
async fn time_while_it_never_pauses() {
    let trial = Trial::new().await.limit("wallSeconds", 0.5);
    let trial = trial.prompt(unanswered(&[flood(1_000_000_000, 100)]));
    let done = trial.run().await;
    done.failed("limit_exceeded");
    // What it had not yet written when it was killed is in its log alone.
    assert!(done.raw.len() > 100 && done.log.starts_with(&done.raw));
}

#[tokio::test]
async fn silence() {
    exceeds("idleSeconds", 0.5, &[says("hello")]).await;
}

#[tokio::test]
async fn turns() {
    let steps = [
        says("1"),
        tool("a", "completed"),
        says("2"),
        tool("b", "failed"),
        says("3"),
    ];
    exceeds("turns", 2, &steps).await;
}

#[tokio::test]
async fn tool_calls() {
    let steps = ["a", "b", "a", "c"].map(|id| tool(id, "pending"));
    exceeds("toolCalls", 2, &steps).await;
}

#[tokio::test]
async fn tool_calls_that_name_themselves_twice() {
    let twice = |id: &str| {
        format!(
            r#"{{"update":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"x","toolCallId":"{id}"}}}}}}"#
        )
    };
    exceeds("toolCalls", 2, &["a", "b", "c"].map(twice)).await;
}

#[tokio::test]
async fn tokens() {
    let used = |used: u64| {
        update_of(&json!({"sessionUpdate": "usage_update", "used": used, "size": 9000}))
    };
    exceeds("tokens", 1000, &[used(1000), used(1001)]).await;
}

#[tokio::test]
async fn cost() {
    let cost = |amount: f64| {
        update_of(
            &json!({"sessionUpdate": "usage_update", "used": 1, "cost": {"amount": amount, "currency": "USD"}}),
        )
    };
    exceeds("cost", 0.5, &[cost(0.5), cost(0.51)]).await;
}

#[tokio::test]
async fn output() {
    exceeds("outputBytes", 100_000, &[flood(20, 10_000)]).await;
}

#[tokio::test]
async fn output_that_is_no_message() {
    let noise = [b"x".repeat(200_000), b"\n".to_vec()].concat();
    exceeds("outputBytes", 100_000, &[bytes("bytes", &noise)]).await;
}

#[tokio::test]
async fn files_that_it_says_it_changed() {
    let edit = |path: &str| {
        update_of(
            &json!({"sessionUpdate": "tool_call", "toolCallId": path, "kind": "edit", "locations": [{"path": path}]}),
        )
    };
    exceeds("filesChanged", 2, &["/a", "/b", "/b", "/c"].map(edit)).await;
}

#[tokio::test]
async fn files_that_we_wrote_for_it() {
    let trial = Trial::new().await;
    let write = |name: &str| {
        let path = trial.at("repo").join(name);
        request(
            name,
            "fs/write_text_file",
            &json!({"sessionId": "s", "path": path, "content": "x"}),
        )
    };
    let steps = [
        write("a"),
        step("answers", 1),
        write("b"),
        step("answers", 2),
    ];
    let reply = turn(&steps).after(&[]);
    let trial = trial.limit("filesChanged", 1).prompt(reply);
    let done = trial.run().await;
    assert_eq!(
        done.failed("limit_exceeded")["error"]["data"]["limit"],
        "filesChanged"
    );
    assert_eq!(done.ended.done.spent.files_changed, 2);
}

#[tokio::test]
async fn an_agent_that_listens_has_not_to_be_waited_for() {
    let trial = Trial::new()
        .await
        .limit("graceSeconds", 60)
        .limit("toolCalls", 1);
    let trial = trial.prompt(unanswered(&["a", "b"].map(|id| tool(id, "pending"))));
    let began = Instant::now();
    let done = trial.run().await;
    done.failed("limit_exceeded");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "its answer was not heard"
    );
}

#[tokio::test]
async fn while_a_person_thinks_nobody_is_idle() {
    let trial = Trial::new().await.limit("idleSeconds", 0.6);
    let trial = trial.set(
        "permissions",
        json!({"by": "callback", "timeoutSeconds": 1.5}),
    );
    let steps = [asks(1), step("answers", 1), says("thanks")];
    let done = trial.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    done.parity();
}

#[tokio::test]
async fn while_a_command_runs_nobody_is_idle() {
    let trial = Trial::new().await.limit("idleSeconds", 0.6);
    let create = json!({"sessionId": "s", "command": "sleep", "args": ["1.5"]});
    let wait = json!({"sessionId": "s", "terminalId": "term-1"});
    let steps = [
        request("c", "terminal/create", &create),
        step("answers", 1),
        request("w", "terminal/wait_for_exit", &wait),
        step("answers", 2),
        says("done"),
    ];
    let done = trial.prompt(turn(&steps)).run().await;
    let waited = done.answer("w");
    assert_eq!(waited["result"]["exitCode"], 0, "{waited}");
    done.complete("end_turn");
}

#[tokio::test]
async fn what_it_spent_is_told() {
    let steps = [says("1"), tool("a", "completed"), says("2")];
    let done = Trial::new().await.prompt(turn(&steps)).run().await;
    let spent = done.ended.done.spent;
    assert_eq!((spent.turns, spent.tool_calls), (2, 1));
    assert!(spent.output_bytes > 300);
}

#[tokio::test]
async fn a_limit_that_is_passed_after_the_answer_loses_nothing() {
    let trial = Trial::new().await.limit("idleSeconds", 0.2);
    let late = [step("pause", json!({"millis": 500})), says("late")];
    let done = trial.prompt(turn(&[says("1")]).after(&late)).run().await;
    done.complete("end_turn");
    done.parity();
    assert_eq!(done.last()["kind"], "prompt_complete");
}

#[tokio::test]
async fn what_an_earlier_run_did_is_not_counted_again() {
    let can = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}});
    let told = ["a", "b", "c"].map(|id| tool(id, "completed"));
    let trial = Trial::new()
        .await
        .limit("toolCalls", 2)
        .set("sessionId", "s");
    let trial = trial
        .on("initialize", Reply::default().result(&can.to_string()))
        .on("session/load", unanswered(&told).result("{}"))
        .prompt(turn(&[tool("d", "completed"), tool("e", "completed")]));
    let done = trial.run().await;
    done.complete("end_turn");
    done.parity();
    assert_eq!(done.ended.done.spent.tool_calls, 2);
}
