//! A gateway that says what a test has it say, and what runs make of it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{
    permissions::chosen,
    script::{question, request, step, turn, unanswered},
    trial::Trial,
};

/// Answers everything with the same, and keeps what it was asked.
pub(crate) async fn gateway(answer: Value) -> (Value, Arc<Mutex<Vec<Value>>>) {
    answering("200 OK", answer).await
}

async fn answering(status: &'static str, answer: Value) -> (Value, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let keeping = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.to_string();
            tokio::spawn(serve(stream, status, answer, Arc::clone(&keeping)));
        }
    });
    (json!({"url": url, "key": "k"}), asked)
}

async fn serve(mut stream: TcpStream, status: &str, answer: String, asked: Arc<Mutex<Vec<Value>>>) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        let mut line = text.split(' ');
        let (method, path) = (line.next(), line.next());
        if method == Some("GET") && body.is_some() {
            break;
        }
        if method == Some("DELETE") && body.is_some() {
            let taken_back = json!({"method": method, "path": path});
            asked.lock().unwrap().push(taken_back);
            break;
        }
        if let Some(body) = body.and_then(|body| serde_json::from_str(body).ok()) {
            asked.lock().unwrap().push(body);
            break;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let length = answer.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{answer}"
    );
    // Whoever went does not want to know.
    let _ = stream.write_all(answer.as_bytes()).await;
}

#[tokio::test]
async fn a_stop_reaches_an_agent_that_opens_no_session() {
    let (gateway, _) = gateway(json!({"stopped": true, "reason": "enough"})).await;
    let trial = Trial::new().await.set("gateway", gateway);
    let done = trial.on("initialize", unanswered(&[])).run().await;
    let end = done.failed("stopped");
    assert_eq!(end["error"]["message"], "stopped: enough");
    assert_eq!(end["snapshot"]["state"], "cancelled");
}

#[tokio::test]
async fn it_is_asked_in_the_runs_own_session_and_folder() {
    let (gateway, asked) = gateway(json!({"stopped": false, "action": "allow"})).await;
    let trial = Trial::new().await.set("gateway", gateway);
    let mut question = question();
    question["sessionId"] = "another".into();
    question["folder"] = "/elsewhere".into();
    let asks = request("a", "session/request_permission", &question);
    let done = trial.prompt(turn(&[asks, step("answers", 1)])).run().await;
    done.complete("end_turn");
    assert_eq!(chosen(done.answer("a")).1, "yes");
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["sessionId"], "s");
    assert_ne!(asked[0]["folder"], "/elsewhere");
    assert_eq!(asked[0]["toolCall"], question["toolCall"]);
}

#[tokio::test]
async fn a_question_that_is_given_up_is_taken_back() {
    // By its time, or with its turn; for the agent's own act, or for one of ours.
    let asks = || request("a", "session/request_permission", &question());
    let creates = || {
        let create = json!({"sessionId": "s", "command": "true"});
        request("a", "terminal/create", &create)
    };
    for (status, steps, withdrawn) in [
        ("202 Accepted", vec![asks(), step("answers", 1)], 1),
        ("202 Accepted", vec![asks()], 1),
        ("202 Accepted", vec![creates(), step("answers", 1)], 1),
        ("202 Accepted", vec![creates()], 1),
        ("403 Forbidden", vec![asks(), step("answers", 1)], 0),
    ] {
        let (gateway, asked) = answering(status, json!({"stopped": false})).await;
        let trial = Trial::new().await.set("gateway", gateway);
        let permissions = json!({"by": "gateway", "timeoutSeconds": 0.3});
        let trial = trial.set("permissions", permissions);
        trial.prompt(turn(&steps)).run().await.complete("end_turn");
        let asked = asked.lock().unwrap();
        let taken_back = asked.iter().filter(|asked| {
            asked["method"] == "DELETE" && asked["path"] == "/v1/permissions?session_id=s"
        });
        assert_eq!(taken_back.count(), withdrawn, "{status} {steps:?}");
    }
}

/// A command that ran, and nobody was asked about.
fn did() -> String {
    crate::script::update_of(
        &json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "touch x", "kind": "execute",
            "status": "completed", "rawInput": {"command": "touch x"}}),
    )
}

#[tokio::test]
async fn what_nobody_decided_is_told_to_the_gateway() {
    for (how, ends) in [("end", true), ("flag", false)] {
        let (gateway, asked) = gateway(json!({"stopped": false})).await;
        let trial = Trial::new().await.set("gateway", gateway);
        let trial = trial.set("unsupervised", how).prompt(turn(&[did()]));
        let done = trial.run().await;
        let message = "the agent did something that nobody decided (execute): touch x";
        if ends {
            assert_eq!(done.failed("unsupervised")["error"]["message"], message);
        } else {
            done.complete("end_turn");
            assert_eq!(done.ended.done.warnings, [message]);
            assert_eq!(done.terminal()["warnings"], json!([message]));
        }
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "{how}");
        assert_eq!(asked[0]["endsRun"], ends);
        assert_eq!(asked[0]["sessionId"], "s");
        assert_eq!(
            asked[0]["toolCall"]["rawInput"],
            json!({"command": "touch x"})
        );
        let told = done.of("agent_notification");
        assert_eq!(told[0]["method"], "_provost/unsupervised");
        // It follows what it is about.
        assert!(told[0]["sequence"].as_u64() > done.of("session_update")[0]["sequence"].as_u64());
    }
}

#[tokio::test]
async fn a_gateway_that_cannot_be_told_is_said_to_be() {
    let (gateway, _) = answering("404 Not Found", json!({})).await;
    let trial = Trial::new().await.set("gateway", gateway);
    let trial = trial.set("permissions", "deny").prompt(turn(&[did()]));
    let done = trial.run().await;
    done.failed("unsupervised");
    assert!(
        done.journal_text
            .contains("the gateway could not be told of what nobody decided"),
        "{}",
        done.journal_text
    );
}
