//! The document served at `/openapi.json` says what the router does.

use serde_json::{Value, json};

use crate::app::{TestApp, Who};

#[tokio::test]
async fn every_documented_address_takes_its_methods_and_no_others() {
    let app = TestApp::new().await;
    let document = app
        .ask(Who::Nobody, "GET", "/openapi.json", Value::Null)
        .await
        .body;
    for (path, documented) in document["paths"].as_object().unwrap() {
        let address = path
            .replace("{id}", "0000000000000000")
            .replace("{name}", "x");
        for method in ["GET", "POST", "DELETE"] {
            let answer = app.ask(Who::Admin, method, &address, json!({})).await;
            let taken = answer.status != 405;
            let expected = documented.get(method.to_lowercase()).is_some();
            assert_eq!(taken, expected, "{method} {path}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn an_unknown_address_is_a_json_error() {
    let app = TestApp::new().await;
    let answer = app
        .ask(Who::Admin, "GET", "/nothing/here", Value::Null)
        .await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.body["error"]["code"], "not_found");
}
