mod checks;
mod documents;

use serde_json::json;

use super::{
    super::testing::{Loopback, Seen, TRACE, answer, ok, params, trace},
    *,
};

const PETS: &str = include_str!("fixtures/pets.yaml");

fn config(source: OpenApiSource, backend_url: Option<String>) -> OpenApiConfig {
    OpenApiConfig {
        source,
        backend_url,
        headers: Vec::new(),
        name: None,
        timeout: None,
    }
}

/// The operations of a document whose backend is the server.
async fn load(
    text: &str,
    server: &Loopback,
    headers: Vec<(String, Secret)>,
) -> (Vec<Operation>, Vec<BackendError>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let source = OpenApiSource::File(file.path().to_owned());
    build(
        OpenApiConfig {
            headers,
            ..config(source, Some(server.url("/api/")))
        },
        &Web::new(1024 * 1024),
    )
    .await
}

fn named<'o>(operations: &'o [Operation], name: &str) -> &'o Operation {
    let names: Vec<_> = operations
        .iter()
        .map(|operation| &operation.info.name)
        .collect();
    operations
        .iter()
        .find(|operation| operation.info.name == name)
        .unwrap_or_else(|| panic!("{name} in {names:?}"))
}

#[tokio::test]
async fn operations_become_tools_with_the_ancestors_names() {
    let server = Loopback::start(ok).await;
    let (operations, problems) = load(PETS, &server, Vec::new()).await;
    let mut names: Vec<_> = operations
        .iter()
        .map(|operation| operation.info.name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "add_pet",
            "find_pets",
            "get_pet",
            "get_stores_id_open_hours",
            "tag_pet",
            "tree",
            "update_pet"
        ]
    );
    let told: Vec<_> = problems
        .iter()
        .map(|problem| problem.problem.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "operation `put /pets/{petId}/photo` is not served: its body must be `image/png`, and only JSON and forms can be sent",
            "operation `get /session` is not served: it requires the cookie `sid`, and cookies are not sent",
            "the arguments of `tree` are checked in part: `$ref` `#/components/schemas/Loop` leads nowhere in this document",
        ]
    );
    assert!(problems.iter().all(|problem| !problem.fatal));
}

#[tokio::test]
async fn arguments_become_requests() {
    let server = Loopback::start(ok).await;
    let (operations, _) = load(PETS, &server, Vec::new()).await;
    for (tool, arguments, line, body) in [
        (
            "find_pets",
            json!({"tags": ["a b", "c&d"], "limit": 5}),
            "GET /api/pets?tags=a%20b&tags=c%26d&limit=5",
            "",
        ),
        (
            "find_pets",
            json!({"ids": [1, 2], "where": {"age": 3}}),
            "GET /api/pets?ids=1,2&where%5Bage%5D=3",
            "",
        ),
        (
            "get_pet",
            json!({"petId": "a/b?x=1#y"}),
            "GET /api/pets/a%2Fb%3Fx%3D1%23y",
            "",
        ),
        (
            "get_pet",
            json!({"petId": 7, "verbose": null}),
            "GET /api/pets/7",
            "",
        ),
        (
            "add_pet",
            json!({"name": "Rex", "tag": null}),
            "POST /api/pets",
            r#"{"name":"Rex","tag":null}"#,
        ),
        (
            "update_pet",
            json!({"petId": 7, "body": {"petId": 8}}),
            "PATCH /api/pets/7",
            r#"{"petId":8}"#,
        ),
        (
            "tag_pet",
            json!({"petId": 7, "tags": ["x y", "z"]}),
            "POST /api/pets/7/tags",
            "tags=x%20y&tags=z",
        ),
        (
            "tree",
            json!({"body": [1, {"a": 2}]}),
            "POST /api/tree",
            r#"[1,{"a":2}]"#,
        ),
        ("tree", json!({}), "POST /api/tree", ""),
        (
            "get_stores_id_open_hours",
            json!({"id": "é"}),
            "GET /api/stores/%C3%A9/open-hours",
            "",
        ),
    ] {
        let forwarded = named(&operations, tool)
            .execute(&params(&arguments.to_string()), &trace())
            .await;
        assert_eq!(
            forwarded
                .unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
                .status_code,
            200
        );
        let seen = server.last();
        assert_eq!(
            (seen.line.as_str(), seen.body.as_str()),
            (line, body),
            "{tool} {arguments}"
        );
        assert_eq!(seen.headers.get("x-trace-id").unwrap(), TRACE);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_all_told_and_nothing_is_sent() {
    let server = Loopback::start(ok).await;
    let (operations, _) = load(PETS, &server, Vec::new()).await;
    for (tool, arguments, expected) in [
        ("get_pet", json!({}), "missing `petId`"),
        (
            "get_pet",
            json!({"petid": 1}),
            "unknown argument `petid`, did you mean `petId`?; missing `petId`",
        ),
        (
            "get_pet",
            json!({"petId": "../admin"}),
            "`petId` must not be empty nor hold a `.` or `..` segment",
        ),
        (
            "get_pet",
            json!({"petId": ".."}),
            "`petId` must not be empty nor hold a `.` or `..` segment",
        ),
        (
            "get_pet",
            json!({"petId": {"a": 1}}),
            "`petId` is or holds an object, and the tool does not declare it so: give text or a number",
        ),
        ("add_pet", json!({"tag": "x"}), "missing `name`"),
        ("add_pet", json!({}), "missing `name`"),
        (
            "add_pet",
            json!({"body": {"name": "x"}}),
            "unknown argument `body`; missing `name`",
        ),
        (
            "add_pet",
            json!({"name": "x", "colour": "y"}),
            "unknown argument `colour`",
        ),
        ("update_pet", json!({"petId": 1}), "missing `body`"),
        (
            "find_pets",
            json!({"X-Note": "a\r\nevil: 1"}),
            "`X-Note` is sent as a header and must be printable ASCII in one line, without blanks around it",
        ),
        (
            "find_pets",
            json!({"Authorization": "x"}),
            "unknown argument `Authorization`",
        ),
        (
            "tag_pet",
            json!({"petId": 1, "body": {"tags": ["x"]}}),
            "unknown argument `body`",
        ),
    ] {
        let error = named(&operations, tool)
            .execute(&params(&arguments.to_string()), &trace())
            .await
            .unwrap_err();
        assert!(matches!(error, ForwardError::Arguments(_)), "{error}");
        assert_eq!(error.to_string(), expected, "{tool} {arguments}");
    }
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn p01_arguments_are_checked_before_the_decision() {
    let server = Loopback::start(ok).await;
    let (operations, _) = load(PETS, &server, Vec::new()).await;
    for (tool, arguments, fits) in [
        (
            "find_pets",
            json!({"tags": ["a"], "limit": 5, "ids": null}),
            true,
        ),
        ("find_pets", json!({"limit": [5]}), false),
        ("find_pets", json!({"limit": "5"}), false),
        ("find_pets", json!({"tags": [["a"]]}), false),
        ("find_pets", json!({"tags": [true]}), false),
        ("find_pets", json!({"where": {"age": ["prod"]}}), false),
        ("find_pets", json!({"where": {"age": {"a": 1}}}), false),
        ("find_pets", json!({"where": {"age": true}}), false),
        ("find_pets", json!({"where": {"age": 3}}), true),
        ("find_pets", json!({"X-Note": ["a"]}), false),
        ("find_pets", json!({"X-Note": true}), false),
        ("get_pet", json!({"petId": 7, "verbose": true}), true),
        ("get_pet", json!({"petId": [7]}), false),
        ("get_pet", json!({"petId": true}), false),
        ("get_pet", json!({}), false),
        ("add_pet", json!({"name": "Rex"}), true),
        ("add_pet", json!({"name": ["Rex"]}), false),
        (
            "update_pet",
            json!({"petId": 7, "body": {"petId": 8}}),
            true,
        ),
        (
            "update_pet",
            json!({"petId": 7, "body": {"petId": []}}),
            false,
        ),
        ("add_pet", json!({"name": "Rex", "colour": 1}), false),
        ("tag_pet", json!({"petId": 7, "tags": ["x"]}), true),
        ("tag_pet", json!({"petId": 7, "tags": [["x"]]}), false),
        ("tag_pet", json!({"petId": 7, "tags": {"a": "x"}}), false),
    ] {
        let checked = named(&operations, tool).check(tool, &arguments);
        assert_eq!(checked.is_ok(), fits, "{tool} {arguments} {checked:?}");
    }
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn what_the_operator_sends_is_not_the_agents_to_give() {
    let server = Loopback::start(ok).await;
    let headers = vec![
        ("x-note".to_owned(), Secret::from("ours")),
        ("Authorization".to_owned(), Secret::from("k")),
    ];
    let (with, _) = load(PETS, &server, headers).await;
    let (without, _) = load(PETS, &server, Vec::new()).await;
    let call = async |operations: &[Operation], arguments: Value| {
        named(operations, "find_pets")
            .execute(&params(&arguments.to_string()), &trace())
            .await
    };
    call(&with, json!({})).await.unwrap();
    assert_eq!(server.last().headers.get("x-note").unwrap(), "ours");
    assert_eq!(server.last().headers.get("authorization").unwrap(), "k");
    assert!(call(&with, json!({"X-Note": "mine"})).await.is_err());
    call(&without, json!({"X-Note": "mine"})).await.unwrap();
    assert_eq!(server.last().headers.get("x-note").unwrap(), "mine");
}

#[tokio::test]
async fn agents_are_shown_what_an_operation_takes() {
    let server = Loopback::start(ok).await;
    let (operations, _) = load(PETS, &server, Vec::new()).await;
    let schema = |name: &str| named(&operations, name).info.input_schema.clone();
    assert_eq!(
        schema("add_pet"),
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "tag": {"type": ["string", "null"]},
                "friends": {"type": "array", "items": {}},
            },
            "required": ["name"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        schema("get_pet"),
        json!({
            "type": "object",
            "properties": {
                "petId": {"type": "integer", "description": "Which pet"},
                "verbose": {"type": "boolean"},
            },
            "required": ["petId"],
            "additionalProperties": false,
        })
    );
    assert_eq!(schema("update_pet")["required"], json!(["body", "petId"]));
    assert_eq!(named(&operations, "get_pet").info.description, "One pet");
}
