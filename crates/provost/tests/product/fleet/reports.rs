//! What a receiver is told of runs whose runners are lost, and what people are told of receivers that take nothing.

use std::net::{SocketAddr, TcpListener};

use serde_json::{Value, json};

use super::{
    ONE, Stage, get, kill,
    restarts::{last_report, reported_at, reported_to},
    sessions::{kept, prompt_is, send},
    start, until,
};
use crate::{
    harness::eventually,
    receiver::{Receiver, answering},
};

/// An address at which nobody listens yet.
fn nobody() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap()
}

fn prompts_told(receiver: &Receiver) -> Vec<String> {
    let told = receiver.told(1).into_iter();
    let told = told.map(|told| serde_json::from_str::<Value>(&told.body).unwrap());
    let mut prompts: Vec<_> = told
        .map(|report| report["promptId"].as_str().unwrap().to_owned())
        .collect();
    prompts.dedup();
    prompts
}

/// The runner waits for its receiver when it is lost, under the eyes of the gateway and together with it.
#[test]
fn the_end_that_a_lost_runner_left_is_sent() {
    for with_gateway in [false, true] {
        let (addr, stage) = (nobody(), Stage::new(ONE, ""));
        let mut gateway = stage.site.start();
        let id = start(&gateway, &reported_at(addr, stage.body("first")));
        until(&gateway, &id, "done");
        if with_gateway {
            gateway.kill();
            kill(stage.pid(&id));
            gateway = stage.site.start();
        } else {
            kill(stage.pid(&id));
        }
        let receiver = Receiver::at(addr);
        assert_eq!(last_report(&receiver, &id)["kind"], "prompt_complete");
        // Then nobody needs its token any more.
        let folder = stage.runs().join(&id);
        eventually("the secrets' removal", || {
            let secret = ["run.json", "request.json"].map(|name| folder.join(name));
            (!secret.iter().any(|path| path.exists())).then_some(())
        });
        assert_eq!(get(&gateway, &id)["warnings"], json!([]));
    }
}

#[test]
fn a_session_whose_runner_was_lost_tells_all_of_its_prompts_and_no_other() {
    let (addr, stage) = (nobody(), Stage::new(ONE, "CAN_LOAD: 'yes'"));
    let gateway = stage.site.start();
    let id = start(&gateway, &reported_at(addr, kept(&stage, "first")));
    until(&gateway, &id, "idle");
    gateway.kill();
    kill(stage.pid(&id));
    let gateway = stage.site.start();
    let second = json!({"prompt": "second", "promptId": "mine"});
    send(&gateway, &id, &second).is(202);
    let receiver = Receiver::at(addr);
    assert_eq!(last_report(&receiver, "mine")["kind"], "prompt_complete");
    last_report(&receiver, &id);
    assert_eq!(prompts_told(&receiver), [id.as_str(), "mine"]);
}

#[test]
fn what_was_set_and_spent_outlives_the_runner() {
    let (receiver, stage) = (Receiver::start(0), Stage::new(ONE, "CAN_LOAD: 'yes'"));
    let gateway = stage.site.start();
    let mut body = reported_to(&receiver, kept(&stage, "first"));
    body["keep"] = json!({"idleSeconds": 600});
    let id = start(&gateway, &body);
    until(&gateway, &id, "idle");
    // A model that there is none of fails its prompt, and not the session.
    let wrong = json!({"prompt": "x", "modelId": "m9", "promptId": "wrong"});
    send(&gateway, &id, &wrong).is(202);
    let failed = prompt_is(&gateway, &id, 2, "failed");
    assert_eq!(failed["error"]["reason"], "model_not_available", "{failed}");
    send(&gateway, &id, &json!({"prompt": "second", "modelId": "m2"})).is(202);
    prompt_is(&gateway, &id, 3, "done");
    until(&gateway, &id, "idle");
    let spent = get(&gateway, &id)["spent"].clone();
    assert_eq!(spent["turns"], 2, "{spent}");
    kill(stage.pid(&id));
    send(&gateway, &id, &json!({"prompt": "which model"})).is(202);
    let answered = prompt_is(&gateway, &id, 4, "done");
    assert_eq!(answered["answer"], "model: m2", "{answered}");
    let now = get(&gateway, &id);
    assert_eq!(
        (&now["resumed"], &now["spent"]["turns"]),
        (&json!(1), &json!(3))
    );
    let bytes = |spent: &Value| spent["outputBytes"].as_u64().unwrap();
    assert!(bytes(&now["spent"]) > bytes(&spent), "{now}");
}

#[test]
fn a_session_that_was_resumed_and_had_no_prompt_ends_as_its_last_one() {
    let stage = Stage::new(ONE, "CAN_LOAD: 'yes'");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "first"));
    until(&gateway, &id, "idle");
    kill(stage.pid(&id));
    eventually("its resumption", || {
        let run = get(&gateway, &id);
        (run["resumed"] == 1 && run["state"] == "idle").then_some(())
    });
    super::cancel(&gateway, &id).is(202);
    let done = until(&gateway, &id, "done");
    assert_eq!(done["stopReason"], "end_turn", "{done}");
}

#[test]
fn a_receiver_that_takes_nothing_is_a_warning_of_the_run() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let gone = answering("410 Gone");
    let id = start(&gateway, &reported_at(gone, stage.body("first")));
    until(&gateway, &id, "done");
    let warned = eventually("the warning", || {
        let warnings = get(&gateway, &id)["warnings"].clone();
        warnings[0].as_str().map(str::to_owned)
    });
    assert!(warned.contains("refused every report"), "{warned}");
    let shown = stage.site.provost(&["runs", "show", &id]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("refused every report"), "{shown}");
    // One that does not know the token fails the run, which says so.
    let stranger = answering("401 Unauthorized");
    let id = start(&gateway, &reported_at(stranger, kept(&stage, "first")));
    let failed = until(&gateway, &id, "failed");
    assert_eq!(failed["error"]["reason"], "unauthorized", "{failed}");
    let why = failed["error"]["message"].as_str().unwrap();
    assert!(why.contains("does not know the token"), "{failed}");
}
