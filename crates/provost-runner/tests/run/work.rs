//! What the agent has us do: files and commands, asked about like everything else.

use serde_json::{Value, json};

use crate::{
    receiver::Act,
    script::{request, says, step, turn, unanswered},
    trial::{Trial, until},
};

fn write(trial: &Trial, id: &str) -> String {
    let path = trial.at("repo").join(id);
    let params = json!({"sessionId": "s", "path": path, "content": "text\n"});
    request(id, "fs/write_text_file", &params)
}

#[tokio::test]
async fn files_and_commands_are_served() {
    let trial = Trial::new().await;
    let read = json!({"sessionId": "s", "path": trial.at("repo/f")});
    let outside = json!({"sessionId": "s", "path": trial.at("config.json")});
    let create = json!({"sessionId": "s", "command": "cat", "args": ["f"]});
    let of = json!({"sessionId": "s", "terminalId": "term-1"});
    let steps = [
        write(&trial, "f"),
        step("answers", 1),
        request("r", "fs/read_text_file", &read),
        request("o", "fs/read_text_file", &outside),
        request("c", "terminal/create", &create),
        step("answers", 4),
        request("e", "terminal/wait_for_exit", &of),
        step("answers", 5),
        request("p", "terminal/output", &of),
        step("answers", 6),
    ];
    let done = trial.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    assert_eq!(done.answer("r")["result"]["content"], "text\n");
    assert_eq!(done.answer("e")["result"]["exitCode"], 0);
    assert_eq!(done.answer("p")["result"]["output"], "text\n");
    // The run's own files are not the agent's.
    assert!(done.answer("o").get("error").is_some());
}

#[tokio::test]
async fn where_nothing_is_allowed_nothing_is_written() {
    let trial = Trial::new().await.set("permissions", "deny");
    let steps = [write(&trial, "f"), step("answers", 1), says("well")];
    let trial = trial.prompt(turn(&steps));
    let done = trial.run().await;
    done.complete("end_turn");
    assert!(done.answer("f").get("error").is_some());
    assert!(!trial.at("repo/f").exists());
}

#[tokio::test]
async fn a_write_waits_for_its_permission_like_any_other() {
    let allow = json!({"permission": {"permissionId": "prompt:act:1", "kind": "allow_once"}});
    let trial = Trial::new().await.set("permissions", "callback");
    let steps = [write(&trial, "f"), says("meanwhile"), step("answers", 1)];
    let trial = trial.prompt(turn(&steps));
    let running = trial.start();
    until(|| {
        let beats = trial.receiver.heartbeats();
        beats.iter().any(|beat| {
            beat["state"] == "waiting_permission"
                && beat["pendingPermissions"][0]["permissionId"] == "prompt:act:1"
        })
    })
    .await;
    assert!(!trial.at("repo/f").exists());
    trial.receiver.answer_heartbeats(&allow.to_string());
    let done = trial.end(running).await;
    done.complete("end_turn");
    done.parity();
    assert!(trial.at("repo/f").exists());
    let asked = done.of("permission_request")[0];
    assert_eq!(asked["request"]["toolCall"]["kind"], "edit");
    let decision = done
        .journal
        .iter()
        .find(|line| line.get("decision").is_some());
    assert_eq!(decision.unwrap()["decision"]["outcome"], "allowed");
}

#[tokio::test]
async fn a_write_that_is_given_up_is_not_pending_any_more() {
    let trial = Trial::with([]).await.set("permissions", "callback");
    let trial = trial.prompt(unanswered(&[]));
    let steps = [write(&trial, "f"), says("meanwhile")];
    let trial = trial.prompt(unanswered(&steps));
    let running = trial.start();
    let asked = |reports: &[Value]| {
        reports
            .iter()
            .any(|one| one["kind"] == "permission_request")
    };
    trial.taken(asked).await;
    trial.brake.pull("stop");
    let done = trial.end(running).await;
    let end = done.failed("stopped");
    assert_eq!(end["snapshot"]["pendingPermissions"], json!([]));
    assert_eq!(done.answer("f")["error"]["code"], -32800);
    assert!(!trial.at("repo/f").exists());
}

#[tokio::test]
async fn commands_end_with_the_run() {
    let trial = Trial::with(Vec::<Act>::new()).await;
    let line = format!(
        "echo $$ > {}; trap '' TERM; while :; do sleep 1; done",
        trial.at("pid").display()
    );
    let create = json!({"sessionId": "s", "command": "/bin/sh", "args": ["-c", line]});
    let steps = [
        request("c", "terminal/create", &create),
        step("answers", 1),
        crate::script::file(&trial.at("pid")),
    ];
    let trial = trial.prompt(turn(&steps));
    let done = trial.run().await;
    done.complete("end_turn");
    let pid = trial.appears("pid").await;
    until(|| !crate::trial::alive(&pid)).await;
}

#[tokio::test]
async fn a_confined_agent_works_and_its_commands_are_confined() {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let trial = Trial::new().await.set("sandbox", true);
    let home = trial.at("repo");
    let trial = trial.set("env", json!({"HOME": home, "PROVOST_TEST": "1"}));
    let create = json!({"sessionId": "s", "command": "cat", "args": [secret]});
    let stolen = trial.at("stolen");
    let line = format!(
        "cat {} > {}; echo $? > {}",
        secret.display(),
        stolen.display(),
        trial.at("tried").display()
    );
    let steps = [
        crate::script::child(&line, &trial.at("child")),
        crate::script::file(&trial.at("tried")),
        write(&trial, "f"),
        request("c", "terminal/create", &create),
        step("answers", 2),
        request(
            "e",
            "terminal/wait_for_exit",
            &json!({"sessionId": "s", "terminalId": "term-1"}),
        ),
        step("answers", 3),
    ];
    let trial = trial.prompt(turn(&steps));
    let done = trial.run().await;
    done.complete("end_turn");
    assert_eq!(trial.appears("tried").await, "1\n");
    assert_eq!(std::fs::read_to_string(stolen).unwrap(), "");
    assert!(trial.at("repo/f").exists());
    assert_eq!(done.answer("e")["result"]["exitCode"], 1);
}
