//! Sessions that stay: prompt after prompt in one process, each with its own reports.

use std::{collections::BTreeMap, time::Duration};

use provost_runner::{
    inbox::{Followup, Inbox, NotAdded},
    unbegun::Unbegun,
};
use serde_json::{Value, json, value::to_raw_value};

use crate::{
    script::{Reply, asks, request, says, step, turn, unanswered, update_of},
    trial::{Done, Trial, until},
};

/// A trial whose session stays for so many seconds without a prompt.
async fn kept(idle: f64) -> (Trial, Inbox) {
    let trial = Trial::new().await;
    let prompts = trial.at("prompts");
    let keep = json!({"promptsDir": prompts, "idleSeconds": idle});
    (trial.set("keep", keep), Inbox::at(prompts))
}

fn followup(id: &str, prompt: &str) -> Followup {
    Followup {
        prompt_id: id.to_owned(),
        prompt: to_raw_value(prompt).unwrap(),
        mode: None,
        model_id: None,
        options: BTreeMap::new(),
    }
}

fn is_end(report: &Value) -> bool {
    ["prompt_complete", "prompt_failed"].contains(&report["kind"].as_str().unwrap())
}

/// The contract of a prompt: numbers from 1 on without a gap, one end, and nothing after it.
fn contract<'a>(done: &'a Done, prompt: &str) -> &'a Value {
    let reports = done.of_prompt(prompt);
    let numbers: Vec<_> = reports.iter().map(|report| &report["sequence"]).collect();
    let expected: Vec<_> = (1..=reports.len()).map(|number| json!(number)).collect();
    assert_eq!(
        numbers,
        expected.iter().collect::<Vec<_>>(),
        "{prompt}: {reports:?}"
    );
    let ends = reports.iter().filter(|report| is_end(report)).count();
    assert_eq!(ends, 1, "{prompt}: {reports:?}");
    let end = reports.last().unwrap();
    assert!(is_end(end), "{prompt}: {end}");
    end
}

fn prompts_of(done: &Done) -> Vec<(String, String)> {
    let events = done.journal.iter().map(|line| &line["event"]["prompt"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    events
        .filter(|event| event.is_object())
        .map(|event| (text(&event["promptId"]), text(&event["state"])))
        .collect()
}

#[tokio::test]
async fn prompts_follow_in_one_session_each_with_its_own_reports() {
    let (trial, inbox) = kept(0.3).await;
    let trial = trial.prompt(turn(&[says("first words")])).on(
        "session/prompt#2",
        turn(&[says("two"), asks(7), step("answers", 1)]),
    );
    inbox.add(2, &followup("second", "go on")).unwrap();
    let done = trial.run().await;
    let first = contract(&done, "prompt");
    let second = contract(&done, "second");
    for end in [first, second] {
        assert_eq!(end["stopReason"], "end_turn");
        assert_eq!(end["sessionId"], "s");
        assert_eq!(end["runId"], "run");
    }
    // A snapshot is of its prompt alone.
    assert!(first["snapshot"].to_string().contains("first words"));
    assert!(
        !second["snapshot"].to_string().contains("first words"),
        "{second}"
    );
    done.parity();
    // Nothing of the second before the end of the first.
    let at = |id: &str, number: usize| {
        let wanted = done.of_prompt(id)[number];
        done.reports.iter().position(|one| one == wanted).unwrap()
    };
    assert!(at("prompt", done.of_prompt("prompt").len() - 1) < at("second", 0));
    // One process, one session.
    assert_eq!(done.told("initialize").len(), 1);
    assert_eq!(done.told("session/new").len(), 1);
    let told = done.told("session/prompt");
    assert_eq!(told[1]["params"]["prompt"][0]["text"], "go on");
    assert_eq!(
        prompts_of(&done),
        [
            ("prompt", "running"),
            ("prompt", "done"),
            ("second", "running"),
            ("second", "done")
        ]
        .map(|(id, state)| (id.to_owned(), state.to_owned()))
    );
    assert_eq!(done.ended.done.answer, "two");
    assert_eq!(done.ended.drained.left, 0);
    let refused = inbox.add(3, &followup("third", "too late"));
    assert!(matches!(refused, Err(NotAdded::Closed)));
}

#[tokio::test]
async fn a_session_waits_for_a_prompt_and_its_limits_do_not_run() {
    let (trial, inbox) = kept(20.0).await;
    // The agent is silent for longer than this while it waits.
    let trial = trial
        .limit("idleSeconds", 0.5)
        .prompt(turn(&[says("first words")]));
    let running = trial.start();
    trial.taken(|reports| reports.iter().any(is_end)).await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    inbox.add(2, &followup("second", "go on")).unwrap();
    trial
        .taken(|reports| reports.iter().filter(|report| is_end(report)).count() == 2)
        .await;
    trial.brake.pull("enough");
    let done = trial.end(running).await;
    contract(&done, "second");
    // It was stopped while it waited: its prompts had been answered.
    assert_eq!(done.ended.outcome.describe()["state"], "done");
}

#[tokio::test]
async fn a_turn_is_cancelled_and_the_session_stays() {
    let (trial, inbox) = kept(0.3).await;
    let trial = trial
        .set("permissions", "callback")
        .prompt(unanswered(&[asks(5)]));
    let running = trial.start();
    trial
        .taken(|reports| {
            reports
                .iter()
                .any(|one| one["kind"] == "permission_request")
        })
        .await;
    inbox.add(2, &followup("second", "taken back")).unwrap();
    inbox.cancel(2).unwrap();
    inbox.add(3, &followup("third", "go on")).unwrap();
    inbox.cancel(1).unwrap();
    let done = trial.end(running).await;
    assert_eq!(contract(&done, "prompt")["stopReason"], "cancelled");
    assert_eq!(done.answer(5)["result"]["outcome"]["outcome"], "cancelled");
    // One that was taken back is told as cancelled, and the agent never hears of it.
    assert_eq!(contract(&done, "second")["stopReason"], "cancelled");
    assert_eq!(contract(&done, "third")["stopReason"], "end_turn");
    assert_eq!(done.told("session/prompt").len(), 2);
    assert_eq!(done.told("session/cancel").len(), 1);
}

#[tokio::test]
async fn an_agent_that_does_not_end_its_turn_is_ended() {
    let (trial, inbox) = kept(20.0).await;
    let trial = trial.flag("ignoreCancel").prompt(unanswered(&[says("on")]));
    let running = trial.start();
    inbox.add(2, &followup("second", "waits")).unwrap();
    until(|| trial.at("heard").exists() && trial.receiver.raw().len() == 1).await;
    inbox.cancel(1).unwrap();
    let done = trial.end(running).await;
    let end = contract(&done, "prompt");
    assert_eq!(end["error"]["data"]["reason"], "cancel_ignored", "{end}");
    // Whoever waits for the second is told that it never began.
    let end = contract(&done, "second");
    assert_eq!(end["error"]["data"]["reason"], "not_begun", "{end}");
    assert!(end["error"]["message"].as_str().unwrap().contains("turn"));
}

#[tokio::test]
async fn an_error_of_the_agent_ends_its_prompt_and_not_the_session() {
    let (trial, inbox) = kept(0.3).await;
    let trial = trial.prompt(Reply::default().error("out of credit"));
    inbox.add(2, &followup("second", "try again")).unwrap();
    let done = trial.run().await;
    let end = contract(&done, "prompt");
    assert_eq!(end["error"]["data"]["reason"], "agent_error");
    assert_eq!(contract(&done, "second")["stopReason"], "end_turn");
}

#[tokio::test]
async fn an_agent_that_ends_while_it_waits_is_told() {
    let (trial, inbox) = kept(20.0).await;
    let gone = Reply::default()
        .result(r#"{"stopReason":"end_turn"}"#)
        .after(&[step("pause", json!({"millis": 1200})), step("exit", 3)]);
    let trial = trial.prompt(gone);
    let done = trial.run().await;
    contract(&done, "prompt");
    assert_eq!(done.ended.outcome.describe()["reason"], "agent_exited");
    assert!(inbox.is_closed());
}

/// A session with a mode, an option of a model and one that may be about anything.
fn opened() -> Reply {
    let option = |id: &str, category: &str| {
        json!({"id": id, "category": category, "currentValue": "a",
            "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]})
    };
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "free"}]});
    let options = [option("model", "model"), option("approve", "_custom")];
    let opened = json!({"sessionId": "s", "modes": modes, "configOptions": options});
    Reply::default().result(&opened.to_string())
}

#[tokio::test]
async fn mode_and_options_are_set_between_prompts() {
    let (trial, inbox) = kept(0.3).await;
    let trial = trial
        .on("session/new", opened())
        .on("session/set_mode", Reply::default().result("{}"))
        .on("session/set_config_option", Reply::default().result("{}"));
    let set = Followup {
        mode: Some("free".to_owned()),
        options: BTreeMap::from([("approve".to_owned(), "b".to_owned())]),
        ..followup("second", "go on")
    };
    inbox.add(2, &set).unwrap();
    let wrong = Followup {
        options: BTreeMap::from([("approve".to_owned(), "c".to_owned())]),
        ..followup("third", "go on")
    };
    inbox.add(3, &wrong).unwrap();
    inbox.add(4, &followup("fourth", "go on")).unwrap();
    let done = trial.run().await;
    assert_eq!(contract(&done, "second")["stopReason"], "end_turn");
    assert_eq!(done.told("session/set_mode")[0]["params"]["modeId"], "free");
    let options = done.told("session/set_config_option");
    assert_eq!(options[0]["params"]["value"], "b");
    // What cannot be set fails its prompt, and nothing is sent.
    let end = contract(&done, "third");
    assert_eq!(end["error"]["data"]["reason"], "option_not_available");
    assert!(end["error"]["message"].as_str().unwrap().contains("a, b"));
    assert_eq!(contract(&done, "fourth")["stopReason"], "end_turn");
    assert_eq!(done.told("session/prompt").len(), 3);
}

#[tokio::test]
async fn what_the_agent_refuses_to_set_fails_its_prompt_and_the_session_stays() {
    let (trial, inbox) = kept(0.3).await;
    let trial = trial
        .on("session/new", opened())
        .on("session/set_mode", Reply::default().error("not now"))
        .on("session/set_config_option", Reply::default().error("no"));
    let option = BTreeMap::from([("approve".to_owned(), "b".to_owned())]);
    let refused = [
        Followup {
            model_id: Some("unknown".to_owned()),
            ..followup("model", "go on")
        },
        Followup {
            options: option,
            ..followup("option", "go on")
        },
        Followup {
            mode: Some("free".to_owned()),
            ..followup("mode", "go on")
        },
    ];
    for (number, followup) in (2..).zip(&refused) {
        inbox.add(number, followup).unwrap();
    }
    inbox.add(5, &followup("last", "go on")).unwrap();
    let done = trial.run().await;
    for (prompt, reason) in [
        ("model", "model_not_available"),
        ("option", "option_not_available"),
        ("mode", "agent_error"),
    ] {
        let end = contract(&done, prompt);
        assert_eq!(end["error"]["data"]["reason"], reason, "{end}");
    }
    assert_eq!(contract(&done, "last")["stopReason"], "end_turn");
    assert_eq!(done.told("session/prompt").len(), 2);
    assert_eq!(done.ended.outcome.describe()["state"], "done");
}

#[tokio::test]
async fn an_agent_that_goes_into_a_mode_nobody_wanted_is_ended() {
    let (trial, inbox) = kept(0.3).await;
    let elsewhere = json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"});
    let trial = trial.on("session/new", opened()).on(
        "session/set_mode",
        unanswered(&[update_of(&elsewhere)]).result("{}"),
    );
    let set = Followup {
        mode: Some("free".to_owned()),
        ..followup("second", "go on")
    };
    inbox.add(2, &set).unwrap();
    inbox.add(3, &followup("third", "go on")).unwrap();
    let done = trial.run().await;
    let end = contract(&done, "second");
    assert_eq!(end["error"]["data"]["reason"], "mode_not_set", "{end}");
    let end = contract(&done, "third");
    assert_eq!(end["error"]["data"]["reason"], "not_begun", "{end}");
}

#[tokio::test]
async fn where_nobody_may_act_undecided_only_what_keeps_it_asking_is_set() {
    let (trial, inbox) = kept(0.3).await;
    let trial = trial
        .set("permissions", "deny")
        .on("session/new", opened())
        .on("session/set_config_option", Reply::default().result("{}"));
    let with = |id: &str, mode: Option<&str>, option: Option<(&str, &str)>| Followup {
        mode: mode.map(str::to_owned),
        options: option
            .map(|(id, value)| (id.to_owned(), value.to_owned()))
            .into_iter()
            .collect(),
        ..followup(id, "go on")
    };
    inbox.add(2, &with("mode", Some("free"), None)).unwrap();
    inbox
        .add(3, &with("option", None, Some(("approve", "b"))))
        .unwrap();
    inbox
        .add(4, &with("model", None, Some(("model", "b"))))
        .unwrap();
    let done = trial.run().await;
    for (prompt, reason) in [
        ("mode", "mode_not_available"),
        ("option", "option_not_available"),
    ] {
        let end = contract(&done, prompt);
        assert_eq!(end["error"]["data"]["reason"], reason, "{end}");
    }
    assert_eq!(contract(&done, "model")["stopReason"], "end_turn");
    assert_eq!(done.told("session/set_mode").len(), 0);
    assert_eq!(done.told("session/set_config_option").len(), 1);
}

#[tokio::test]
async fn what_is_asked_between_prompts_is_of_no_turn() {
    let (trial, _inbox) = kept(1.2).await;
    let late = Reply::default()
        .result(r#"{"stopReason":"end_turn"}"#)
        .after(&[
            step("pause", json!({"millis": 1000})),
            asks(9),
            request(
                10,
                "terminal/create",
                &json!({"sessionId": "s", "command": "true"}),
            ),
            step("answers", 2),
        ]);
    let done = trial.prompt(late).run().await;
    assert_eq!(done.answer(9)["result"]["outcome"]["outcome"], "cancelled");
    assert!(done.answer(10)["error"].is_object());
}

#[tokio::test]
async fn a_session_that_cannot_begin_tells_all_that_wait() {
    let (trial, inbox) = kept(20.0).await;
    let tell = async || {
        let unbegun = Unbegun::of(&trial.read());
        unbegun.tell("cannot_start", "no such folder").await;
        assert!(inbox.is_closed());
    };
    // An earlier process told its prompt something: that is of no other prompt.
    tell().await;
    inbox.reopen().unwrap();
    inbox.add(2, &followup("second", "waits")).unwrap();
    tell().await;
    let reports = trial.receiver.taken();
    let told: Vec<_> = reports
        .iter()
        .map(|one| (one["promptId"].as_str().unwrap(), &one["sequence"]))
        .collect();
    let (one, two) = (json!(1), json!(2));
    assert_eq!(told, [("prompt", &one), ("prompt", &two), ("second", &one)]);
    assert_eq!(reports[2]["error"]["data"]["reason"], "not_begun");
}
