//! Acts that nobody decided, whenever the agent tells of them, and yeses that are for something else.

use std::collections::BTreeMap;

use provost_runner::inbox::{Followup, Inbox};
use serde_json::{Value, json, value::to_raw_value};

use crate::{
    gateway::gateway,
    script::{END_TURN, Reply, question, request, says, step, turn, update_of},
    trial::{Done, Trial},
};

fn call(id: &str, kind: &str, status: &str) -> String {
    update_of(
        &json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "touch x", "kind": kind, "status": status}),
    )
}

async fn denied(reply: Reply) -> Done {
    let trial = Trial::new().await.set("permissions", "deny");
    trial.prompt(reply).run().await
}

#[tokio::test]
async fn what_is_done_after_the_answer_counts() {
    let late = Reply::default()
        .result(END_TURN)
        .after(&[call("1", "execute", "completed")]);
    let end = denied(late.clone()).await;
    let end = end.failed("unsupervised");
    assert_eq!(end["snapshot"]["state"], "failed");
    // Where the session would stay, it does not.
    let trial = Trial::new().await.set("permissions", "deny");
    let prompts = trial.at("prompts");
    let trial = trial.set("keep", json!({"promptsDir": prompts, "idleSeconds": 30}));
    trial.prompt(late).run().await.failed("unsupervised");
}

#[tokio::test]
async fn what_is_begun_when_the_turn_ends_counts() {
    let done = denied(turn(&[call("1", "execute", "in_progress")])).await;
    let end = done.failed("unsupervised");
    assert_eq!(end["error"]["data"]["status"], "in_progress");
    let told = done.of("agent_notification");
    assert_eq!(told[0]["method"], "_provost/unsupervised");
    // That it says so itself makes no difference.
    let cancelled = Reply::default().steps(&[call("1", "execute", "in_progress")]);
    denied(cancelled.result(r#"{"stopReason":"cancelled"}"#))
        .await
        .failed("unsupervised");
}

#[tokio::test]
async fn what_was_asked_about_and_not_allowed_was_not_done() {
    let asks = |id: &str, tool: &str| {
        let mut question = question();
        question["toolCall"]["toolCallId"] = tool.into();
        request(id, "session/request_permission", &question)
    };
    let no = [
        call("1", "execute", "in_progress"),
        call("2", "execute", "in_progress"),
        asks("a", "1"),
        step("answers", 1),
    ];
    denied(turn(&no)).await.complete("end_turn");
    // The question outlives the turn, or comes after it.
    let trial = Trial::new().await.set("permissions", "deny");
    let late = Reply::default()
        .steps(&[call("1", "execute", "in_progress")])
        .result(END_TURN)
        .after(&[asks("a", "1"), says("late")]);
    trial.prompt(late).run().await.complete("end_turn");
}

#[tokio::test]
async fn an_act_that_is_called_something_else_afterwards_counts() {
    let steps = [
        call("1", "execute", "in_progress"),
        update_of(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "kind": "read", "status": "completed"}),
        ),
    ];
    denied(turn(&steps)).await.failed("unsupervised");
}

/// A question about a call, and what the agent then says or has done.
async fn allowed(tool_call: &Value, then: &[String]) -> (Done, Vec<Value>) {
    let (gateway, asked) = gateway(json!({"stopped": false, "action": "allow"})).await;
    let trial = Trial::new().await.set("gateway", gateway);
    let mut question = question();
    question["toolCall"] = tool_call.clone();
    let mut steps = vec![
        request("a", "session/request_permission", &question),
        step("answers", 1),
    ];
    steps.extend_from_slice(then);
    let done = trial.prompt(turn(&steps)).run().await;
    let asked = asked.lock().unwrap();
    let calls = asked.iter().filter_map(|asked| asked.get("toolCall"));
    (done, calls.cloned().collect())
}

fn kinds(asked: &[Value]) -> Vec<&Value> {
    asked.iter().map(|call| &call["kind"]).collect()
}

#[tokio::test]
async fn a_yes_to_a_read_runs_no_command() {
    let create = json!({"sessionId": "s", "command": "true"});
    let create = [request("t", "terminal/create", &create), step("answers", 2)];
    for (kind, asked_as) in [
        // It is asked about again, as what it is.
        ("read", vec!["read", "execute"]),
        ("search", vec!["search", "execute"]),
        ("edit", vec!["edit", "execute"]),
        ("execute", vec!["execute"]),
        // Goose calls everything so: the one question is about a command.
        ("other", vec!["execute"]),
    ] {
        let call =
            json!({"toolCallId": "1", "kind": kind, "title": "x", "rawInput": {"command": "true"}});
        let (done, asked) = allowed(&call, &create).await;
        done.complete("end_turn");
        assert_eq!(kinds(&asked), asked_as, "{kind}");
    }
}

#[tokio::test]
async fn a_yes_that_was_not_used_ends_with_its_turn() {
    let (gateway, asked) = gateway(json!({"stopped": false, "action": "allow"})).await;
    let trial = Trial::new().await.set("gateway", gateway);
    let prompts = trial.at("prompts");
    let trial = trial.set("keep", json!({"promptsDir": prompts, "idleSeconds": 0.3}));
    let mut question = question();
    question["toolCall"]["rawInput"]["command"] = "true".into();
    let asks = request("a", "session/request_permission", &question);
    let create = json!({"sessionId": "s", "command": "true"});
    let create = request("t", "terminal/create", &create);
    let trial = trial
        .prompt(turn(&[asks, step("answers", 1)]))
        .on("session/prompt#2", turn(&[create, step("answers", 2)]));
    let next = Followup {
        prompt_id: "second".to_owned(),
        prompt: to_raw_value("go on").unwrap(),
        mode: None,
        model_id: None,
        options: BTreeMap::new(),
    };
    Inbox::at(prompts).add(2, &next).unwrap();
    let done = trial.run().await;
    assert_eq!(
        done.of_prompt("second").last().unwrap()["stopReason"],
        "end_turn"
    );
    let asked = asked.lock().unwrap();
    let titles = asked.iter().map(|asked| &asked["toolCall"]["title"]);
    assert_eq!(titles.collect::<Vec<_>>(), ["rm -rf build", "true"]);
}

#[tokio::test]
async fn what_is_done_under_the_id_of_a_yes_is_what_was_allowed() {
    let call =
        json!({"toolCallId": "1", "kind": "execute", "title": "ls", "rawInput": {"command": "ls"}});
    for (command, same) in [("ls", true), ("rm -rf x", false)] {
        let did = update_of(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "kind": "execute",
                "rawInput": {"command": command}, "status": "completed"}),
        );
        let (done, _) = allowed(&call, &[did]).await;
        if same {
            done.complete("end_turn");
        } else {
            done.failed("unsupervised");
        }
    }
    let read = json!({"toolCallId": "1", "kind": "read", "title": "a", "rawInput": {"path": "a"}});
    let (done, _) = allowed(&read, &[self::call("1", "execute", "completed")]).await;
    done.failed("unsupervised");
}
