//! A session whose runner was lost, in the hands of the next one: what it sets again, and what it tells.

use std::fmt::Write as _;

use provost_runner::{inbox::Inbox, leftovers, run::Brake};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    receiver::Act,
    script::{Reply, says, turn},
    trial::{Done, Trial},
};

/// A session that waited for a prompt when its runner was lost.
async fn lost(acts: Vec<Act>) -> Trial {
    let trial = Trial::with(acts).await;
    let prompts = trial.at("prompts");
    std::fs::create_dir(&prompts).unwrap();
    let keep = json!({"promptsDir": prompts, "taken": 1, "idleSeconds": 0.3});
    let can = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}});
    let repeats = Reply::default().steps(&[says("from before")]);
    let mut trial = trial
        .set("keep", keep)
        .set("sessionId", "s")
        .set("promptId", "nobody-sent-this")
        .on("initialize", Reply::default().result(&can.to_string()))
        .on("session/load", repeats.result("{}"));
    trial.config.as_object_mut().unwrap().remove("prompt");
    trial
}

fn follows(trial: &Trial, number: u64, file: &Value) {
    let path = trial.at("prompts").join(format!("{number:06}.json"));
    std::fs::write(path, file.to_string()).unwrap();
}

/// As a runner leaves the end of a prompt that it could not deliver.
fn left(trial: &Trial, run: &str, prompt: &str) -> String {
    let digest = Sha256::digest(prompt.as_bytes());
    let name = digest
        .iter()
        .take(12)
        .fold(String::new(), |mut name, byte| {
            write!(name, "{byte:02x}").unwrap();
            name
        });
    let folder = trial.at("spool").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let body = format!(
        r#"{{"kind":"prompt_complete","runId":"{run}","taskId":"task","sandboxId":"sandbox","promptId":"{prompt}","sequence":1,"stopReason":"end_turn","snapshot":{{"odd":1.50}}}}"#
    );
    let file = folder.join("00000000000000000001.prompt_complete.json");
    std::fs::write(file, &body).unwrap();
    body
}

fn prompts_told(done: &Done) -> Vec<&str> {
    let reports = done.reports.iter();
    let mut prompts: Vec<_> = reports
        .map(|one| one["promptId"].as_str().unwrap())
        .collect();
    prompts.dedup();
    prompts
}

#[tokio::test]
async fn what_is_told_is_told_of_prompts_that_somebody_sent() {
    let trial = lost(Vec::new()).await;
    follows(&trial, 2, &json!({"promptId": "second", "prompt": "go on"}));
    let trial = trial.prompt(turn(&[says("two")]));
    let done = trial.run().await;
    assert_eq!(done.ended.outcome.describe()["stopReason"], "end_turn");
    assert_eq!(prompts_told(&done), ["second"]);
    let beats = trial.receiver.heartbeats();
    assert!(beats.iter().all(|beat| beat["promptId"] == "second"));
    assert_eq!(done.of_prompt("second")[0]["sequence"], 1);
}

#[tokio::test]
async fn reports_that_were_left_go_before_the_next_prompt() {
    let later = std::iter::repeat_n(Act::Status(503), 3).collect();
    let trial = lost(later).await;
    let trial = trial.set("spoolDir", "spool");
    left(&trial, "run", "first");
    left(&trial, "another", "not-ours");
    follows(&trial, 2, &json!({"promptId": "second", "prompt": "go on"}));
    let trial = trial.prompt(turn(&[says("two")]));
    let done = trial.run().await;
    assert_eq!(prompts_told(&done), ["first", "second"]);
    assert_eq!(done.reports[0]["snapshot"]["odd"], 1.5);
    assert_eq!(done.ended.drained.left, 0);
    // What another run left is for another receiver.
    assert_eq!(std::fs::read_dir(trial.at("spool")).unwrap().count(), 1);
}

#[tokio::test]
async fn reports_that_were_left_by_a_run_that_is_over_are_sent_as_they_were() {
    let trial = Trial::with([Act::Status(503)]).await;
    let trial = trial.set("spoolDir", "spool");
    let body = left(&trial, "run", "prompt");
    left(&trial, "run", "second");
    leftovers::send(&trial.read(), &Brake::default()).await;
    let reports = trial.receiver.taken();
    let ids: Vec<_> = reports.iter().map(|one| &one["promptId"]).collect();
    assert_eq!(ids, ["prompt", "second"]);
    assert_eq!(reports[0], serde_json::from_str::<Value>(&body).unwrap());
    assert_eq!(trial.receiver.beats(), 0);
    assert_eq!(std::fs::read_dir(trial.at("spool")).unwrap().count(), 0);
    let journal = std::fs::read_to_string(trial.at("journal")).unwrap();
    let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    let expected = json!({"delivered": 2, "refused": 0, "left": 0, "over": true, "warning": null});
    assert_eq!(last["event"]["reported"], expected);
}

#[tokio::test]
async fn what_was_set_is_set_again() {
    let option = |id: &str, category: &str| {
        json!({"id": id, "category": category, "currentValue": "a",
            "options": [{"value": "a"}, {"value": "b"}]})
    };
    let options = [option("model", "model"), option("thought", "thought_level")];
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "plan"}]});
    let opened = json!({"modes": modes, "configOptions": options});
    let trial = lost(Vec::new()).await;
    let trial = trial
        .set("mode", "plan")
        .set("modelId", "b")
        .set("options", json!({"thought": "b"}))
        .on("session/load", Reply::default().result(&opened.to_string()))
        .on("session/set_mode", Reply::default().result("{}"))
        .on("session/set_config_option", Reply::default().result("{}"))
        .on("session/set_config_option#2", Reply::default().result("{}"));
    follows(&trial, 2, &json!({"promptId": "second", "prompt": "go on"}));
    let done = trial.run().await;
    assert_eq!(done.told("session/set_mode")[0]["params"]["modeId"], "plan");
    let set = done.told("session/set_config_option");
    let set: Vec<_> = set.iter().map(|one| &one["params"]["configId"]).collect();
    assert_eq!(set, ["model", "thought"]);
    assert_eq!(
        done.of_prompt("second").last().unwrap()["stopReason"],
        "end_turn"
    );
}

#[tokio::test]
async fn what_was_spent_before_counts() {
    let trial = lost(Vec::new()).await;
    let trial = trial
        .limit("turns", 2)
        .set("spent", json!({"turns": 2, "tokens": 7}))
        .prompt(turn(&[says("two")]));
    follows(&trial, 2, &json!({"promptId": "second", "prompt": "go on"}));
    let done = trial.run().await;
    let end = done.of_prompt("second");
    let message = &end.last().unwrap()["error"]["message"];
    assert_eq!(message, "the limit `turns` of 2 is exceeded: 3");
    assert_eq!(done.ended.done.spent.tokens, 7);
}

#[tokio::test]
async fn a_prompt_that_cannot_be_read_fails_and_the_session_stays() {
    let trial = lost(Vec::new()).await;
    follows(
        &trial,
        2,
        &json!({"promptId": "odd", "prompt": "x", "model": "m"}),
    );
    follows(&trial, 3, &json!({"promptId": "empty", "prompt": ""}));
    follows(&trial, 4, &json!({"prompt": "whose?"}));
    follows(&trial, 5, &json!({"promptId": "last", "prompt": "go on"}));
    let done = trial.run().await;
    assert_eq!(prompts_told(&done), ["odd", "empty", "last"]);
    for (prompt, problem) in [
        ("odd", "unknown field `model`"),
        ("empty", "`prompt` is a text"),
    ] {
        let [end] = done.of_prompt(prompt)[..] else {
            panic!("{prompt}")
        };
        assert_eq!(end["error"]["data"]["reason"], "prompt_unreadable");
        let message = end["error"]["message"].as_str().unwrap();
        assert!(message.contains(problem), "{message}");
    }
    assert_eq!(
        done.of_prompt("last").last().unwrap()["stopReason"],
        "end_turn"
    );
    assert_eq!(done.told("session/prompt").len(), 1);
    let [warning] = &done.ended.done.warnings[..] else {
        panic!("{:?}", done.ended.done.warnings)
    };
    assert!(warning.contains("prompt 4 was skipped"), "{warning}");
}

#[tokio::test]
async fn a_prompt_that_cannot_be_read_does_not_hide_those_behind_it() {
    let trial = lost(Vec::new()).await;
    let trial = trial.on("session/load", Reply::default().error("gone"));
    follows(&trial, 2, &json!({"promptId": "odd", "prompt": 7}));
    follows(&trial, 3, &json!({"prompt": "whose?"}));
    follows(&trial, 4, &json!({"promptId": "last", "prompt": "go on"}));
    let done = trial.run().await;
    let reasons: Vec<_> = done
        .reports
        .iter()
        .map(|one| &one["error"]["data"]["reason"])
        .collect();
    assert_eq!(reasons, ["prompt_unreadable", "not_begun"]);
    assert!(Inbox::at(trial.at("prompts")).is_closed());
}

#[tokio::test]
async fn nothing_is_posted_after_a_401() {
    for answered in [0, 1] {
        let mut acts: Vec<_> = std::iter::repeat_n(Act::Take, answered).collect();
        acts.extend(std::iter::repeat_n(Act::Status(401), 9));
        let trial = lost(acts).await;
        for number in 2..=5 {
            let file = json!({"promptId": format!("p{number}"), "prompt": "go on"});
            follows(&trial, number, &file);
        }
        let trial = trial.prompt(turn(&[says("two")]));
        let done = trial.run().await;
        let outcome = done.ended.outcome.describe();
        assert_eq!(outcome["reason"], "unauthorized");
        assert!(outcome["message"].as_str().unwrap().contains("401"));
        assert_eq!(trial.receiver.attempts(), answered + 1);
    }
}
