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

/// Pages of the console are no part of the API, and have a router of their own.
#[test]
fn every_address_of_the_router_is_documented() {
    let document: Value =
        serde_json::from_str(include_str!("../../src/doors/http/openapi.json")).unwrap();
    let router = include_str!("../../src/doors/http/router.rs");
    let mut routes = 0;
    // Each link of the chain begins on a line of its own, as rustfmt writes it.
    for link in router.split("\n        .") {
        let Some(route) = link.strip_prefix("route(") else {
            assert!(
                !link.starts_with("merge(") || link.starts_with("merge(console::router())"),
                "these addresses are not looked at: {link}"
            );
            continue;
        };
        let path = route.split('"').nth(1).unwrap().replace("{*", "{");
        let mut methods = 0;
        for method in ["get", "post", "put", "patch", "delete"] {
            if route.contains(&format!("{method}(")) {
                let documented = &document["paths"][&path][method];
                assert!(documented.is_object(), "{method} {path} is not documented");
                methods += 1;
            }
        }
        assert!(methods > 0, "{path} takes nothing: {route}");
        routes += 1;
    }
    let documented = document["paths"].as_object().unwrap().len();
    assert_eq!(routes, documented, "the router and the document differ");
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

/// A client that is made from the document must not demand a key where none is needed, nor leave one out.
#[tokio::test]
async fn p18_a_key_is_demanded_where_it_is_needed_and_nowhere_else() {
    let app = TestApp::new().await;
    let document = app
        .ask(Who::Nobody, "GET", "/openapi.json", Value::Null)
        .await
        .body;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let for_all = operation["x-roles"] == json!(["anyone"]);
            let keyless = operation["security"] == json!([]);
            let by_secret = path == "/v1/telegram/webhook";
            assert_eq!(keyless, for_all || by_secret, "{method} {path}");
            if for_all {
                let answer = app.ask(Who::Nobody, "GET", path, Value::Null).await;
                assert_ne!(answer.status, 401, "{method} {path}");
            }
        }
    }
}
