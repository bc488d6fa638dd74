//! Who answers when the agent asks, and that nothing waits meanwhile.

use serde_json::{Value, json};

use crate::{
    receiver::Act,
    script::{asks, file, question, request, says, step, turn, unanswered},
    trial::{Trial, until},
};

pub(crate) fn chosen(answer: &Value) -> (&Value, &Value) {
    let outcome = &answer["result"]["outcome"];
    (&outcome["outcome"], &outcome["optionId"])
}

fn storm(count: usize) -> String {
    step("storm", json!({"count": count, "params": question()}))
}

/// What a receiver that allows the first of them says to everything.
pub(crate) fn allows(kind: &str) -> String {
    json!({"permission": {"permissionId": "prompt:permission:1", "kind": kind}}).to_string()
}

#[tokio::test]
async fn one_who_answers_for_everybody() {
    for (by, option) in [("auto", "yes"), ("deny", "no")] {
        let trial = Trial::new().await.set("permissions", by);
        let steps = [asks("a"), step("answers", 1), says("on")];
        let done = trial.prompt(turn(&steps)).run().await;
        done.complete("end_turn");
        assert_eq!(
            chosen(done.answer("a")),
            (&json!("selected"), &json!(option))
        );
        // Nobody else is asked.
        assert!(done.of("permission_request").is_empty());
        let decision = done
            .journal
            .iter()
            .find(|line| line.get("decision").is_some());
        assert_eq!(decision.unwrap()["decision"]["by"], by);
    }
}

#[tokio::test]
async fn two_hundred_at_once_are_all_answered() {
    for (by, option) in [("auto", "yes"), ("deny", "no")] {
        let trial = Trial::new().await.set("permissions", by);
        let steps = [storm(200), says("meanwhile"), step("answers", 200)];
        let done = trial.prompt(turn(&steps)).run().await;
        done.complete("end_turn");
        done.parity();
        for id in 1000..1200 {
            assert_eq!(chosen(done.answer(id)).1, option, "{id}");
        }
    }
}

#[tokio::test]
async fn two_thousand_are_answered_by_the_callback() {
    // More than are looked after at once.
    let all = (1..=2000)
        .map(|n| json!({"permissionId": format!("prompt:permission:{n}"), "kind": "allow_once"}));
    let all = json!({"permissions": all.collect::<Vec<_>>()}).to_string();
    let trial = Trial::new().await.set("permissions", "callback");
    trial.receiver.answer_heartbeats(&all);
    let steps = [storm(2000), step("answers", 2000)];
    let done = trial.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    for id in 1000..3000 {
        assert_eq!(chosen(done.answer(id)).1, "yes", "{id}");
    }
    assert_eq!(done.of("permission_request").len(), 2000);
}

#[tokio::test]
async fn an_answer_comes_with_the_answer_to_a_report() {
    for (kind, option) in [
        ("allow_once", "yes"),
        ("allow_always", "always"),
        ("reject_once", "no"),
        // It was not offered: a no is a no.
        ("reject_always", "no"),
    ] {
        let acts = std::iter::repeat_n(Act::Say(allows(kind)), 10);
        let trial = Trial::with(acts).await.set("permissions", "callback");
        let steps = [asks("a"), step("answers", 1), says("on")];
        let done = trial.prompt(turn(&steps)).run().await;
        done.complete("end_turn");
        assert_eq!(
            chosen(done.answer("a")),
            (&json!("selected"), &json!(option))
        );
        let asked = done.of("permission_request");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0]["permissionId"], "prompt:permission:1");
        assert_eq!(asked[0]["request"], question());
        assert!(asked[0].get("answerUrl").is_none());
        let settled = &done.last()["snapshot"]["settledPermissions"][0];
        let outcome = if option == "no" {
            "rejected"
        } else {
            "allowed"
        };
        assert_eq!(settled["outcome"], outcome);
    }
}

#[tokio::test]
async fn updates_flow_on_while_it_waits_and_a_heartbeat_brings_the_answer() {
    let trial = Trial::new().await.set("permissions", "callback");
    let go = trial.at("go");
    let steps = [
        says("1"),
        asks(7),
        says("2"),
        file(&go),
        says("3"),
        step("answers", 1),
    ];
    let trial = trial.prompt(turn(&steps));
    let running = trial.start();
    let waiting = |report: &Value| {
        report["snapshot"]["state"] == "waiting_permission"
            && report["snapshot"]["pendingPermissions"][0]["title"] == "rm -rf build"
    };
    // What it says while it waits is not held up, and says that it waits.
    trial.taken(|reports| reports.iter().any(waiting)).await;
    std::fs::write(go, "").unwrap();
    trial.taken(|_| trial.receiver.raw().len() == 3).await;
    until(|| {
        let beats = trial.receiver.heartbeats();
        let named = |beat: &Value| beat["pendingPermissions"][0]["permissionId"].clone();
        beats.iter().any(|beat| {
            beat["state"] == "waiting_permission" && named(beat) == "prompt:permission:1"
        })
    })
    .await;
    trial.receiver.answer_heartbeats(&allows("allow_once"));
    let done = trial.end(running).await;
    done.complete("end_turn");
    done.parity();
    assert_eq!(chosen(done.answer(7)), (&json!("selected"), &json!("yes")));
    assert_eq!(done.last()["snapshot"]["pendingPermissions"], json!([]));
    assert_eq!(done.last()["snapshot"]["state"], "done");
}

#[tokio::test]
async fn nobodys_answer_is_a_no_and_never_cancelled() {
    let trial = Trial::new().await;
    let trial = trial.set(
        "permissions",
        json!({"by": "callback", "timeoutSeconds": 0.3}),
    );
    let steps = [asks("a"), step("answers", 1), says("then not")];
    let done = trial.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    assert_eq!(chosen(done.answer("a")), (&json!("selected"), &json!("no")));
    let decision = done
        .journal
        .iter()
        .find(|line| line.get("decision").is_some());
    assert_eq!(decision.unwrap()["decision"]["by"], "timeout");
}

#[tokio::test]
async fn a_cancelled_prompt_leaves_no_question() {
    let trial = Trial::new().await.set("permissions", "callback");
    let trial = trial.prompt(unanswered(&[storm(20), says("waiting")]));
    let running = trial.start();
    let asked = |reports: &[Value]| {
        let asked = reports
            .iter()
            .filter(|one| one["kind"] == "permission_request");
        asked.count() == 20
    };
    trial.taken(asked).await;
    trial.brake.pull("never mind");
    let done = trial.end(running).await;
    done.failed("stopped");
    for id in 1000..1020 {
        assert_eq!(chosen(done.answer(id)).0, "cancelled");
    }
    // The agent hears of the end before it hears of its questions.
    let methods: Vec<_> = done.heard.iter().map(|line| &line["method"]).collect();
    let cancel = methods
        .iter()
        .position(|method| *method == "session/cancel");
    assert_eq!(cancel, Some(methods.len() - 21));
    assert_eq!(done.last()["snapshot"]["pendingPermissions"], json!([]));
}

#[tokio::test]
async fn what_it_asks_after_the_cancel_is_not_done() {
    let trial = Trial::new().await.limit("toolCalls", 1);
    let path = trial.at("repo/late");
    let write = json!({"sessionId": "s", "path": path, "content": "x"});
    let tool = |id: &str| {
        crate::script::update_of(&json!({"sessionUpdate": "tool_call", "toolCallId": id}))
    };
    let steps = [
        tool("1"),
        tool("2"),
        request("w", "fs/write_text_file", &write),
        asks("p"),
        step("answers", 2),
    ];
    let done = trial.prompt(turn(&steps)).run().await;
    done.failed("limit_exceeded");
    assert_eq!(done.answer("w")["error"]["code"], -32800);
    assert_eq!(chosen(done.answer("p")).0, "cancelled");
    assert!(!path.exists());
}

#[tokio::test]
async fn the_agent_takes_a_question_back() {
    let trial = Trial::new().await.set("permissions", "callback");
    let back = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}"#;
    let steps = [
        asks("a"),
        step("line", back),
        step("answers", 1),
        says("on"),
    ];
    let done = trial.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    assert_eq!(done.answer("a")["error"]["code"], -32800);
    let settled = &done.last()["snapshot"]["settledPermissions"][0];
    assert_eq!(settled["outcome"], "withdrawn");
}

#[tokio::test]
async fn odd_questions_are_refused_or_answered_and_stop_nothing() {
    let ask = "session/request_permission";
    let steps = [
        request("no options", ask, &json!({"sessionId": "s"})),
        request("none", ask, &json!({"sessionId": "s", "options": []})),
        request("list", ask, &json!([1])),
        request("method", "session/delete_all", &json!({})),
        request("elicit", "elicitation/create", &json!({})),
        step(
            "line",
            r#"{"jsonrpc":"2.0","id":"bare","method":"fs/read_text_file"}"#,
        ),
        step(
            "line",
            r#"{"jsonrpc":"2.0","id":{"odd":[1.50]},"method":"x/y","params":{}}"#,
        ),
        step("answers", 7),
        says("on"),
    ];
    let done = Trial::new().await.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    done.parity();
    for (id, code) in [
        ("no options", -32602),
        ("list", -32602),
        ("method", -32601),
        ("bare", -32602),
    ] {
        assert_eq!(done.answer(id)["error"]["code"], code, "{id}");
    }
    assert_eq!(done.answer("elicit")["result"]["action"], "decline");
    assert_eq!(chosen(done.answer("none")).0, "cancelled");
}

#[tokio::test]
async fn a_question_that_outlives_its_turn_is_cancelled() {
    let trial = Trial::new().await.set("permissions", "callback");
    let done = trial.prompt(turn(&[asks("a"), says("done")])).run().await;
    done.complete("end_turn");
    assert_eq!(chosen(done.answer("a")).0, "cancelled");
    assert_eq!(done.last()["snapshot"]["state"], "done");
    assert_eq!(done.last()["snapshot"]["pendingPermissions"], json!([]));
}

#[tokio::test]
async fn an_answer_to_an_earlier_process_is_none_to_this_one() {
    let trial = Trial::new().await;
    let trial = trial.set(
        "permissions",
        json!({"by": "callback", "timeoutSeconds": 1}),
    );
    // It says so to everything, for ever.
    trial.receiver.answer_heartbeats(&allows("allow_once"));
    let trial = trial.prompt(turn(&[asks("a"), step("answers", 1)]));
    let outcome = |done: &crate::trial::Done| {
        done.last()["snapshot"]["settledPermissions"][0]["outcome"].clone()
    };
    assert_eq!(outcome(&trial.run().await), "allowed");
    let again = trial.run().await;
    assert_eq!(outcome(&again), "rejected");
    let asked = again.of("permission_request");
    assert_ne!(asked[0]["permissionId"], asked[1]["permissionId"]);
}
