//! Getting to know the agent, and the session, mode and model that are wanted.

use serde_json::{Value, json};

use crate::{
    script::{Reply, says, turn, unanswered, update_of},
    trial::{Done, Trial},
};

fn result(value: &Value) -> Reply {
    Reply::default().result(&value.to_string())
}

fn able(capabilities: &Value) -> Reply {
    result(&json!({"protocolVersion": 1, "agentCapabilities": capabilities}))
}

fn modes(current: &str) -> Value {
    let modes = ["ask", "code"].map(|id| json!({"id": id, "name": id}));
    json!({"sessionId": "s", "modes": {"currentModeId": current, "availableModes": modes}})
}

fn options(category: &str, current: &str) -> Value {
    let values = ["small", "large"].map(|value| json!({"value": value, "name": value}));
    json!([{"id": "it", "category": category, "type": "select", "currentValue": current, "options": values}])
}

fn now_in(mode: &str) -> String {
    update_of(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}))
}

/// Nothing was prompted.
fn refused(done: &Done, reason: &str) {
    done.failed(reason);
    assert!(done.told("session/prompt").is_empty());
    done.parity();
}

#[tokio::test]
async fn exactly_version_one_is_spoken() {
    for answer in [
        json!({"protocolVersion": 2}),
        json!({"protocolVersion": 0}),
        json!({"protocolVersion": "1"}),
        json!({}),
        json!(null),
    ] {
        let trial = Trial::new().await.on("initialize", result(&answer));
        let done = trial.run().await;
        refused(&done, "protocol_version");
        assert_eq!(done.told("initialize")[0]["params"]["protocolVersion"], 1);
        assert_eq!(done.heard.len(), 1, "{answer}");
    }
}

#[tokio::test]
async fn the_prompt_and_the_servers_reach_the_agent() {
    let servers = json!([{"name": "m", "command": "/bin/m", "args": [], "env": []}]);
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "resource_link", "uri": "file:///x", "name": "x"}]);
    let trial = Trial::new().await.set("mcpServers", servers.clone());
    let trial = trial.set("prompt", blocks.clone());
    let done = trial.run().await;
    done.complete("end_turn");
    let opened = &done.told("session/new")[0]["params"];
    assert_eq!(opened["mcpServers"], servers);
    assert_eq!(
        opened["cwd"],
        json!(trial.at("repo").canonicalize().unwrap())
    );
    let prompted = &done.told("session/prompt")[0]["params"];
    assert_eq!(prompted, &json!({"sessionId": "s", "prompt": blocks}));
}

#[tokio::test]
async fn a_session_without_a_name_is_none() {
    let done = Trial::new()
        .await
        .on("session/new", result(&json!({})))
        .run()
        .await;
    refused(&done, "protocol_error");
    let done = Trial::new()
        .await
        .on("session/new", Reply::default().error("log in first"))
        .run()
        .await;
    refused(&done, "auth_required");
}

#[tokio::test]
async fn a_mode_is_set() {
    // What was said before, or never, does not count.
    let before = unanswered(&[now_in("ask")]).result(&modes("ask").to_string());
    for set in [result(&json!({})), turn(&[now_in("code")])] {
        let trial = Trial::new().await.set("mode", "code");
        let trial = trial
            .on("session/new", before.clone())
            .on("session/set_mode", set);
        let done = trial.run().await;
        done.complete("end_turn");
        assert_eq!(done.told("session/set_mode")[0]["params"]["modeId"], "code");
    }
    let trial = Trial::new()
        .await
        .set("mode", "ask")
        .on("session/new", before);
    let done = trial.run().await;
    done.complete("end_turn");
    assert!(done.told("session/set_mode").is_empty());
}

#[tokio::test]
async fn a_mode_that_is_not_taken_stops_everything() {
    let opened = result(&modes("ask"));
    let trial = Trial::new()
        .await
        .on("session/new", opened.clone())
        .set("mode", "yolo");
    refused(&trial.run().await, "mode_not_available");
    let trial = Trial::new().await.set("mode", "code");
    refused(&trial.run().await, "mode_not_available");
    let no = Reply::default().error("not today");
    let trial = Trial::new()
        .await
        .on("session/new", opened.clone())
        .set("mode", "code");
    refused(&trial.on("session/set_mode", no).run().await, "agent_error");
    let stays = turn(&[now_in("ask")]);
    let trial = Trial::new()
        .await
        .on("session/new", opened)
        .set("mode", "code");
    refused(
        &trial.on("session/set_mode", stays).run().await,
        "mode_not_set",
    );
}

#[tokio::test]
async fn a_mode_may_be_an_option() {
    let opened = json!({"sessionId": "s", "configOptions": options("mode", "small")});
    let set = json!({"configOptions": options("mode", "large")});
    let trial = Trial::new()
        .await
        .set("mode", "large")
        .on("session/new", result(&opened));
    let done = trial
        .on("session/set_config_option", result(&set))
        .run()
        .await;
    done.complete("end_turn");
}

#[tokio::test]
async fn a_model_is_set_or_nothing_is_done() {
    let opened = json!({"sessionId": "s", "configOptions": options("model", "small")});
    let set = |current: &str| result(&json!({"configOptions": options("model", current)}));
    let asking = async |reply: Reply| {
        let trial = Trial::new().await.set("modelId", "large");
        let trial = trial.on("session/new", result(&opened));
        trial.on("session/set_config_option", reply).run().await
    };
    let done = asking(set("large")).await;
    done.complete("end_turn");
    let params = &done.told("session/set_config_option")[0]["params"];
    assert_eq!(
        params,
        &json!({"sessionId": "s", "configId": "it", "value": "large"})
    );
    refused(&asking(set("small")).await, "model_not_available");
    refused(
        &asking(Reply::default().error("no such model")).await,
        "model_not_available",
    );
    let done = Trial::new().await.set("modelId", "large").run().await;
    refused(&done, "model_not_available");
}

#[tokio::test]
async fn codex_is_kept_from_asking_itself() {
    let hello = json!({"protocolVersion": 1, "agentInfo": {"name": "codex-acp", "version": "2"}});
    let trial = Trial::new()
        .await
        .on("initialize", result(&hello))
        .set("permissions", "deny");
    refused(&trial.run().await, "mode_not_available");
    let trial = Trial::new()
        .await
        .on("initialize", result(&hello))
        .set("permissions", "auto");
    trial.run().await.complete("end_turn");
}

#[tokio::test]
async fn a_session_is_loaded_and_what_it_replays_is_marked() {
    let trial = Trial::new().await.set("sessionId", "s");
    let load = unanswered(&[says("old 1"), says("old 2")]).result("{}");
    let trial = trial
        .on("initialize", able(&json!({"loadSession": true})))
        .on("session/load", load)
        .prompt(turn(&[says("new")]));
    let done = trial.run().await;
    done.complete("end_turn");
    done.parity();
    assert!(done.told("session/new").is_empty());
    let updates = done.of("session_update");
    let phases: Vec<_> = updates
        .iter()
        .map(|one| {
            (
                one["phase"].as_str(),
                one["notifications"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(phases, [(Some("replay"), 2), (None, 1)]);
}

/// Gemini CLI answers before it has told all of it.
#[tokio::test]
async fn what_is_replayed_after_the_answer_is_the_past_too() {
    let did = json!({"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "execute", "title": "t",
        "status": "completed"});
    let load = unanswered(&[says("old 1")])
        .result("{}")
        .after(&[update_of(&did), says("old 2")]);
    let trial = Trial::new().await.set("sessionId", "s");
    let trial = trial
        .set("permissions", "deny")
        .set("unknownAgent", "allow")
        .on("initialize", able(&json!({"loadSession": true})))
        .on("session/load", load)
        .prompt(turn(&[says("new")]));
    let done = trial.run().await;
    done.complete("end_turn");
    let updates = done.of("session_update");
    let told = |phase: Option<&str>| {
        let told = updates.iter().filter(|one| one["phase"].as_str() == phase);
        told.map(|one| one["notifications"].as_array().unwrap().len())
            .sum::<usize>()
    };
    assert_eq!((told(Some("replay")), told(None)), (3, 1));
}

#[tokio::test]
async fn a_session_is_resumed_rather_than_loaded() {
    let both = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let trial = Trial::new()
        .await
        .set("sessionId", "s")
        .on("initialize", able(&both));
    let done = trial.on("session/resume", result(&json!({}))).run().await;
    done.complete("end_turn");
    assert!(done.told("session/load").is_empty());
    assert_eq!(done.told("session/prompt")[0]["params"]["sessionId"], "s");
    // Loaded where it cannot be resumed.
    let trial = Trial::new()
        .await
        .set("sessionId", "s")
        .on("initialize", able(&both));
    let trial = trial.on("session/resume", Reply::default().error("gone"));
    let done = trial.on("session/load", result(&json!(null))).run().await;
    done.complete("end_turn");
}

#[tokio::test]
async fn a_session_that_cannot_be_gone_on_with_is_not_begun_anew() {
    for can in [
        json!({}),
        json!({"loadSession": false}),
        json!({"sessionCapabilities": {"resume": null}}),
    ] {
        let trial = Trial::new()
            .await
            .set("sessionId", "s")
            .on("initialize", able(&can));
        let done = trial.run().await;
        refused(&done, "session_not_resumable");
        assert!(done.told("session/new").is_empty());
    }
    let trial = Trial::new().await.set("sessionId", "s");
    let trial = trial.on("initialize", able(&json!({"loadSession": true})));
    let done = trial
        .on("session/load", Reply::default().error("unknown session"))
        .run()
        .await;
    refused(&done, "session_not_resumable");
}

#[tokio::test]
async fn a_resumed_session_gets_the_mode_that_is_wanted() {
    let resume = json!({"sessionCapabilities": {"resume": {}}});
    let trial = Trial::new().await.set("sessionId", "s").set("mode", "ask");
    let trial = trial
        .on("initialize", able(&resume))
        .on("session/resume", result(&modes("code")))
        .on("session/set_mode", result(&json!({})));
    let done = trial.run().await;
    done.complete("end_turn");
    assert_eq!(done.told("session/set_mode").len(), 1);
}

#[tokio::test]
async fn an_agent_that_does_not_open_runs_into_its_limit() {
    for method in ["initialize", "session/new"] {
        let trial = Trial::new().await.limit("idleSeconds", 0.4);
        let done = trial.on(method, unanswered(&[])).run().await;
        refused(&done, "limit_exceeded");
        // There is no prompt to cancel.
        assert!(done.told("session/cancel").is_empty());
    }
}

#[tokio::test]
async fn a_mode_is_stayed_in() {
    let elsewhere = r#"{"sessionId":"t","update":{"sessionUpdate":"current_mode_update","currentModeId":"code"}}"#;
    let opened = result(&modes("ask"));
    for (steps, reason) in [
        (vec![now_in("ask"), crate::script::update(elsewhere)], None),
        (vec![now_in("code"), says("at last")], Some("mode_changed")),
    ] {
        let trial = Trial::new().await.set("mode", "ask");
        let trial = trial.on("session/new", opened.clone());
        let done = trial.prompt(turn(&steps)).run().await;
        match reason {
            Some(reason) => drop(done.failed(reason)),
            None => done.complete("end_turn"),
        }
    }
    // Whoever wants none is content with any.
    let trial = Trial::new().await.on("session/new", opened);
    let done = trial.prompt(turn(&[now_in("code")])).run().await;
    done.complete("end_turn");
}

fn offering(methods: &Value) -> Reply {
    result(&json!({"protocolVersion": 1, "authMethods": methods}))
}

fn login_missing() -> Reply {
    Reply::default().error("Authentication required")
}

#[tokio::test]
async fn a_login_that_is_needed_is_told_with_the_ways_to_it() {
    let methods = json!([
        {"id": "chat", "name": "Chat", "description": "Open a browser"},
        {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "PROVOST_TEST_NO_SUCH_KEY"}]},
        {"odd": 1}, 7,
    ]);
    let trial = Trial::new()
        .await
        .on("initialize", offering(&methods))
        .on("session/new", login_missing());
    let done = trial.run().await;
    refused(&done, "auth_required");
    let error = &done.terminal()["error"];
    assert_eq!(
        error["message"],
        "the agent needs a login (Authentication required): log in with the agent's own program, and then run this \
         again. It offers: Chat (`chat`): Open a browser; Key (`key`): set PROVOST_TEST_NO_SUCH_KEY"
    );
    assert!(done.told("authenticate").is_empty());
}

#[tokio::test]
async fn an_agent_whose_key_is_set_is_told_to_take_it() {
    let methods = json!([
        {"id": "chat", "name": "Chat"},
        {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "THE_KEY"}]},
    ]);
    let with_key = async |answer: Reply| {
        let trial = Trial::new()
            .await
            .set("env", json!({"THE_KEY": "very-secret"}))
            .on("initialize", offering(&methods))
            .on("session/new", login_missing())
            .on("authenticate", answer);
        trial.run().await
    };
    let done = with_key(result(&json!({}))).await;
    done.complete("end_turn");
    let told = done.told("authenticate");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["params"], json!({"methodId": "key"}));
    assert_eq!(done.told("session/new").len(), 2);
    done.no_journal_of("very-secret");

    let done = with_key(Reply::default().error("expired")).await;
    refused(&done, "auth_required");
    let message = done.terminal()["error"]["message"].as_str().unwrap();
    assert!(message.contains("expired"), "{message}");
}

#[tokio::test]
async fn a_login_may_be_missed_with_the_prompt() {
    let trial = Trial::new().await.prompt(login_missing());
    let done = trial.run().await;
    done.failed("auth_required");
}

#[tokio::test]
async fn a_form_is_declined_and_recorded() {
    let form = json!({"sessionId": "s", "mode": "form", "message": "Which colour?",
        "requestedSchema": {"type": "object", "properties": {}}});
    let steps = [
        crate::script::request("e", "elicitation/create", &form),
        crate::script::step("answers", 1),
        says("then red"),
    ];
    let done = Trial::new().await.prompt(turn(&steps)).run().await;
    done.complete("end_turn");
    assert_eq!(done.answer("e")["result"], json!({"action": "decline"}));
    let decision = &done.ended.decisions[0];
    assert_eq!(decision["outcome"], "declined");
    assert_eq!(decision["title"], "Which colour?");
    assert!(done.journal_text.contains("Which colour?"));
}
