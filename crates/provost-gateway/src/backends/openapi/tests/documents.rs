//! The forms of a document, where it comes from, and what is wrong with it.

use super::*;

const SWAGGER: &str = include_str!("../fixtures/swagger.json");

#[tokio::test]
async fn swagger_is_understood() {
    let server = Loopback::start(ok).await;
    let (operations, problems) = load(SWAGGER, &server, Vec::new()).await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].problem.contains("files cannot be sent"),
        "{problems:?}"
    );
    for (tool, arguments, line, content_type, body) in [
        (
            "add_pet",
            json!({"name": "Rex"}),
            "POST /api/pets",
            Some("application/json"),
            r#"{"name":"Rex"}"#,
        ),
        (
            "rename",
            json!({"id": 1, "name": "a b", "loud": true}),
            "POST /api/pets/1",
            Some("application/x-www-form-urlencoded"),
            "loud=true&name=a%20b",
        ),
        (
            "find",
            json!({"status": ["a,b", "c"], "tags": ["d", "e f"]}),
            "GET /api/pets?status=a%2Cb&status=c&tags=d,e%20f",
            None,
            "",
        ),
    ] {
        named(&operations, tool)
            .execute(&params(&arguments.to_string()), &trace())
            .await
            .unwrap();
        let seen = server.last();
        let seen_type = seen
            .headers
            .get("content-type")
            .map(|value| value.to_str().unwrap());
        assert_eq!(
            (seen.line.as_str(), seen_type, seen.body.as_str()),
            (line, content_type, body),
            "{tool}"
        );
    }
    let error = named(&operations, "rename")
        .execute(&params(r#"{"id":1}"#), &trace())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "missing `name`");
}

#[tokio::test]
async fn a_document_is_fetched_and_its_servers_are_relative_to_it() {
    fn behaviour(seen: &Seen) -> Option<http::Response<http_body_util::Full<bytes::Bytes>>> {
        match seen.line.as_str() {
            "GET /docs/openapi.yaml?key=k" => answer(200, "text/yaml", PETS),
            "GET /moved" => answer(301, "text/plain", ""),
            "GET /large" => answer(200, "text/yaml", vec![b' '; 17 * 1024 * 1024]),
            _ => ok(seen),
        }
    }
    let server = Loopback::start(behaviour).await;
    let headers = vec![("x-key".to_owned(), Secret::from("hunter2"))];
    let source = OpenApiSource::Url(server.url("/docs/openapi.yaml?key=k"));
    let (operations, _) = build(
        OpenApiConfig {
            headers,
            name: Some("shop".into()),
            ..config(source, None)
        },
        &Web::new(1024),
    )
    .await;
    assert!(!server.last().headers.contains_key("x-key"));
    named(&operations, "shop.get_pet")
        .execute(&params(r#"{"petId":1}"#), &trace())
        .await
        .unwrap();
    assert_eq!(server.last().line, "GET /v2/pets/1");
    assert_eq!(server.last().headers.get("x-key").unwrap(), "hunter2");

    for (path, fatal, expected) in [
        (
            "/moved",
            true,
            "the document has moved (status 301): give the URL it has moved to",
        ),
        (
            "/large",
            false,
            "cannot fetch the document: the backend's answer is larger than 16777216 bytes",
        ),
        (
            "/nothing",
            true,
            "the document has neither `openapi` nor `swagger` with a version as text",
        ),
    ] {
        let source = OpenApiSource::Url(server.url(path));
        let (_, problems) = build(config(source, None), &Web::new(1024)).await;
        assert_eq!(problems.len(), 1);
        assert_eq!(
            (problems[0].problem.as_str(), problems[0].fatal),
            (expected, fatal)
        );
    }
}

#[tokio::test]
async fn broken_documents_are_errors() {
    let server = Loopback::start(ok).await;
    for text in [
        "{",
        "",
        "[1]",
        "openapi: 3.0.0",
        "openapi: 3.0\npaths: {}",
        "swagger: '1.2'\npaths: {}",
        "\u{0}",
    ] {
        let (operations, problems) = load(text, &server, Vec::new()).await;
        assert!(
            operations.is_empty() && problems.iter().any(|problem| problem.fatal),
            "{text:?} {problems:?}"
        );
    }
    let missing = config(OpenApiSource::File("/does/not/exist.yaml".into()), None);
    let (_, problems) = build(missing, &Web::new(1)).await;
    assert!(
        problems[0].fatal && problems[0].to_string().contains("/does/not/exist.yaml"),
        "{problems:?}"
    );
}

#[test]
fn names_are_the_ancestors() {
    for (method, path, id, expected) in [
        ("get", "/pets", Some("listPets"), "list_pets"),
        ("get", "/pets", Some("GetHTTPThing"), "get_h_t_t_p_thing"),
        ("get", "/pets", Some("repos/get"), "repos/get"),
        (
            "post",
            "/pets/{petId}/open-hours/",
            None,
            "post_pets_petId_open_hours",
        ),
        ("get", "/", None, "get_"),
    ] {
        assert_eq!(tool_name(method, path, id), expected);
    }
}
