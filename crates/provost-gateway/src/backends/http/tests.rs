use std::time::Instant;

use http_body_util::Full;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{
    super::testing::{Loopback, Seen, TRACE, answer, ok, params, trace},
    *,
};

fn config(url: &str, method: &str) -> HttpToolConfig {
    HttpToolConfig {
        name: "tool".into(),
        url: url.into(),
        method: method.into(),
        headers: Vec::new(),
        timeout: None,
        description: "does".into(),
        input_schema: Value::Null,
    }
}

fn tool(config: HttpToolConfig) -> HttpTool {
    HttpTool::build(config, &Web::new(1024)).unwrap_or_else(|problems| panic!("{problems:?}"))
}

async fn call(tool: &HttpTool, arguments: &str) -> Result<Forwarded, ForwardError> {
    tool.execute(&params(arguments), &trace()).await
}

#[tokio::test]
async fn arguments_go_where_the_method_takes_them() {
    let server = Loopback::start(ok).await;
    for (method, path, arguments, line, body) in [
        ("", "/e", r#"{"a":[1,"x"]}"#, "POST /e", r#"{"a":[1,"x"]}"#),
        ("put", "/e?k=v", "{}", "PUT /e?k=v", "{}"),
        (
            "PATCH",
            "/u/{id}",
            r#"{"id":7,"a":null}"#,
            "PATCH /u/7",
            r#"{"a":null}"#,
        ),
        ("GET", "/e", "{}", "GET /e", ""),
        (
            "GET",
            "/e",
            r#"{"q":"a b&c","n":1.5,"t":["x",2],"o":{"k":1},"z":null}"#,
            "GET /e?n=1.5&o=%7B%22k%22%3A1%7D&q=a%20b%26c&t=x&t=2",
            "",
        ),
        (
            "DELETE",
            "/u/{id}?f=1",
            r#"{"id":"a/b?c","force":true}"#,
            "DELETE /u/a%2Fb%3Fc?f=1&force=true",
            "",
        ),
    ] {
        let input_schema = json!({"properties": {
            "t": {"type": "array"}, "o": {"type": "object"}, "force": {"type": "boolean"},
        }});
        let tool = tool(HttpToolConfig {
            input_schema,
            ..config(&server.url(path), method)
        });
        let forwarded = call(&tool, arguments).await.unwrap();
        assert_eq!(
            (
                forwarded.status_code,
                forwarded.result.get(),
                forwarded.error
            ),
            (200, r#"{"ok":true}"#, None)
        );
        let seen = server.last();
        assert_eq!((seen.line.as_str(), seen.body.as_str()), (line, body));
        assert_eq!(seen.headers.contains_key("content-type"), !body.is_empty());
    }
}

#[tokio::test]
async fn p01_only_declared_lists_objects_and_booleans_become_part_of_a_url() {
    let server = Loopback::start(ok).await;
    let declaring = json!({"properties": {"env": {"type": "string"}, "id": {"type": "string"}}});
    for schema in [Value::Null, json!({}), declaring] {
        for (method, path) in [("GET", "/e"), ("DELETE", "/u/{id}"), ("POST", "/e?q={env}")] {
            let tool = tool(HttpToolConfig {
                input_schema: schema.clone(),
                ..config(&server.url(path), method)
            });
            for value in [
                json!(["prod"]),
                json!([]),
                json!({"a": "prod"}),
                json!(true),
                json!([["prod"]]),
            ] {
                let arguments = json!({"env": value, "id": value});
                assert!(
                    tool.check("tool", &arguments).is_err(),
                    "{method} {arguments}"
                );
                let sent = call(&tool, &arguments.to_string()).await;
                assert!(matches!(sent, Err(ForwardError::Arguments(_))), "{sent:?}");
            }
        }
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn p01_an_input_schema_that_cannot_be_read_is_an_error() {
    let config = HttpToolConfig {
        input_schema: json!({"type": 7}),
        ..config("http://127.0.0.1:1/", "POST")
    };
    let problems = HttpTool::build(config, &Web::new(1024)).err().unwrap();
    assert!(problems.iter().all(|problem| problem.fatal), "{problems:?}");
    assert!(problems[0].problem.contains("input_schema"), "{problems:?}");
}

#[tokio::test]
async fn the_trace_and_the_configured_headers_are_sent() {
    let server = Loopback::start(ok).await;
    let headers = vec![
        ("X-Api-Key".into(), Secret::from("hunter2")),
        ("content-type".into(), Secret::from("a/b")),
    ];
    let configured = HttpToolConfig {
        headers,
        ..config(&server.url("/"), "POST")
    };
    assert!(!format!("{configured:?}").contains("hunter2"));
    call(&tool(configured), "{}").await.unwrap();
    let seen = server.last().headers;
    assert_eq!(seen.get("x-trace-id").unwrap(), TRACE);
    assert_eq!(
        seen.get("traceparent").unwrap(),
        &format!("00-{TRACE}-8448eb211c80319c-01")
    );
    assert_eq!(seen.get("x-api-key").unwrap(), "hunter2");
    assert_eq!(
        seen.get_all("content-type").iter().collect::<Vec<_>>(),
        ["a/b"]
    );
}

#[tokio::test]
async fn connections_are_kept() {
    let server = Loopback::start(ok).await;
    let web = Web::new(1024);
    for path in ["/a", "/b"] {
        let tool = HttpTool::build(config(&server.url(path), "POST"), &web)
            .ok()
            .unwrap();
        for _ in 0..20 {
            call(&tool, r#"{"a":1}"#).await.unwrap();
        }
    }
    assert_eq!((server.requests(), server.connections()), (40, 1));
}

/// The server promises to keep the connection, and closes it after the answer.
#[tokio::test]
async fn a_connection_closed_while_it_rested_is_replaced() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (closed, mut is_closed) = tokio::sync::mpsc::unbounded_channel();
    let server = tokio::spawn(async move {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            stream.write_all(answer.as_bytes()).await.unwrap();
            drop(stream);
            closed.send(()).unwrap();
        }
    });
    let tool = tool(config(&url, "POST"));
    for _ in 0..3 {
        assert_eq!(call(&tool, "{}").await.unwrap().status_code, 200);
        is_closed.recv().await.unwrap();
    }
    server.await.unwrap();
}

#[tokio::test]
async fn the_status_reaches_the_caller() {
    fn behaviour(seen: &Seen) -> Option<http::Response<Full<Bytes>>> {
        match seen.line.as_str() {
            "GET /gone" => answer(410, "application/json", r#"{"why":"gone"}"#),
            "GET /moved" => {
                let moved = http::Response::builder()
                    .status(307)
                    .header("location", "/elsewhere");
                moved.body(Full::default()).ok()
            }
            _ => answer(503, "text/plain", "try later"),
        }
    }
    let server = Loopback::start(behaviour).await;
    for (path, status, result, error) in [
        (
            "/gone",
            410,
            r#"{"why":"gone"}"#,
            "the backend answered 410 Gone",
        ),
        (
            "/busy",
            503,
            r#""try later""#,
            "the backend answered 503 Service Unavailable",
        ),
        (
            "/moved",
            307,
            "null",
            "the backend answered 307 Temporary Redirect, and redirects are not followed",
        ),
    ] {
        let forwarded = call(&tool(config(&server.url(path), "GET")), "{}")
            .await
            .unwrap();
        assert_eq!(forwarded.status_code, status);
        assert_eq!(forwarded.result.get(), result);
        assert_eq!(forwarded.error.as_deref(), Some(error));
    }
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn answers_are_bounded() {
    fn behaviour(seen: &Seen) -> Option<http::Response<Full<Bytes>>> {
        let length = if seen.line.ends_with("/fits") {
            1024
        } else {
            1025
        };
        answer(200, "text/plain", "x".repeat(length))
    }
    let server = Loopback::start(behaviour).await;
    let fits = call(&tool(config(&server.url("/fits"), "GET")), "{}")
        .await
        .unwrap();
    assert_eq!(fits.result.get().len(), 1026);
    let error = call(&tool(config(&server.url("/large"), "GET")), "{}")
        .await
        .unwrap_err();
    assert!(matches!(error, ForwardError::TooLarge(1024)), "{error}");
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(b"5\r\nxxxxx\r\n").await.is_ok() {}
    });
    let error = call(&tool(config(&url, "GET")), "{}").await.unwrap_err();
    assert!(matches!(error, ForwardError::TooLarge(1024)), "{error}");
}

#[tokio::test]
async fn a_silent_backend_is_left_in_time() {
    let server = Loopback::start(|_| None).await;
    let impatient = HttpToolConfig {
        timeout: Some(Duration::from_millis(50)),
        ..config(&server.url("/"), "POST")
    };
    let started = Instant::now();
    let error = call(&tool(impatient), "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "the backend did not answer within 50ms");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn calls_on_one_connection_have_each_their_own_time() {
    let server = Loopback::start(|seen| (seen.body != "{}").then(|| ok(seen))?).await;
    let web = Web::new(1024);
    let [patient, impatient] =
        [Some(Duration::MAX), Some(Duration::from_millis(50))].map(|timeout| {
            let config = HttpToolConfig {
                timeout,
                ..config(&server.url("/"), "POST")
            };
            HttpTool::build(config, &web).unwrap_or_else(|problems| panic!("{problems:?}"))
        });
    assert!(call(&impatient, r#"{"a":1}"#).await.is_ok());
    assert!(call(&patient, r#"{"a":1}"#).await.is_ok());
    let error = call(&impatient, "{}").await.unwrap_err();
    assert!(matches!(error, ForwardError::Timeout(_)), "{error}");
    assert_eq!(server.connections(), 1, "it was used again");
    assert!(call(&patient, r#"{"a":1}"#).await.is_ok());
    assert_eq!(server.connections(), 2, "a late answer is nobody's");
}

#[tokio::test]
async fn an_answer_that_stalls_is_left_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        let begun = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[1,";
        stream.write_all(begun).await.unwrap();
        // Until it is left.
        stream.read(&mut [0; 1]).await
    });
    let impatient = HttpToolConfig {
        timeout: Some(Duration::from_millis(50)),
        ..config(&url, "POST")
    };
    let error = call(&tool(impatient), "{}").await.unwrap_err();
    assert!(matches!(error, ForwardError::Timeout(_)), "{error}");
    assert!(matches!(server.await.unwrap(), Ok(0) | Err(_)));
}

#[tokio::test]
async fn a_backend_that_is_not_there_is_named_without_its_secrets() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let headers = vec![("authorization".to_owned(), Secret::from("Bearer hunter2"))];
    let configured = HttpToolConfig {
        headers,
        ..config(&format!("http://{address}/?key=hunter2"), "POST")
    };
    let error = call(&tool(configured), "{}").await.unwrap_err();
    assert!(matches!(error, ForwardError::Unreachable(_)), "{error}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
}

#[tokio::test]
async fn arguments_of_the_url_are_checked_before_anything_is_sent() {
    let server = Loopback::start(ok).await;
    let tool = tool(config(&server.url("/u/{id}/{part}"), "DELETE"));
    for (arguments, expected) in [
        ("{}", "`id` is missing; `part` is missing"),
        (
            r#"{"id":"..","part":"x"}"#,
            "`id` must not be empty nor hold a `.` or `..` segment",
        ),
        (
            r#"{"id":"a/../b","part":""}"#,
            "`id` must not be empty nor hold a `.` or `..` segment; `part` must not be empty nor hold a `.` or `..` segment",
        ),
        (
            r#"{"id":["x"],"part":"x"}"#,
            "`id` is or holds a list, and the tool does not declare it so: give text or a number",
        ),
    ] {
        let error = call(&tool, arguments).await.unwrap_err();
        assert!(matches!(error, ForwardError::Arguments(_)), "{error}");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn all_problems_of_a_configuration_are_told_at_once() {
    let wrong = HttpToolConfig {
        method: "BREW".into(),
        headers: vec![("content-length".into(), Secret::from("1"))],
        input_schema: json!({}),
        ..config("ftp://hunter2@x/", "")
    };
    let problems = HttpTool::build(wrong, &Web::new(1)).err().unwrap();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(
        problems
            .iter()
            .all(|problem| problem.fatal && problem.backend == "tool")
    );
    assert!(!format!("{problems:?}").contains("hunter2"), "{problems:?}");
}
