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
async fn gateway(answer: Value) -> (Value, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let keeping = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, answer.to_string(), Arc::clone(&keeping)));
        }
    });
    (json!({"url": url, "key": "k"}), asked)
}

async fn serve(mut stream: TcpStream, answer: String, asked: Arc<Mutex<Vec<Value>>>) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        if text.starts_with("GET ") && body.is_some() {
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
    let answer =
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{answer}");
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
