//! What arguments are held against before the decision.

use super::*;

const DEPLOYS: &str = include_str!("../fixtures/deploys.yaml");

#[tokio::test]
async fn p01_a_body_is_given_in_one_way() {
    let server = Loopback::start(ok).await;
    let (operations, problems) = load(DEPLOYS, &server, Vec::new()).await;
    for (tool, arguments, fits) in [
        ("deploy", json!({"env": "prod"}), true),
        ("deploy", json!({"body": {"env": "prod"}}), false),
        (
            "deploy",
            json!({"env": "dev", "body": {"env": "prod"}}),
            false,
        ),
        ("form", json!({"env": "prod"}), true),
        ("form", json!({"body": {"env": "prod"}}), false),
        ("free", json!({"body": {"env": "prod"}}), true),
        ("free", json!({"env": "prod"}), false),
        ("either", json!({"body": {"env": "prod"}}), true),
        ("either", json!({"env": "prod"}), false),
        ("mixed", json!({"body": {"env": "dev", "a": 1}}), true),
        ("mixed", json!({"env": "dev"}), false),
        ("mixed", json!({"env": "dev", "a": 1}), false),
        (
            "named_body",
            json!({"body": {"env": "prod"}, "id": 1}),
            true,
        ),
        ("named_body", json!({"env": "prod"}), false),
    ] {
        let operation = named(&operations, tool);
        let checked = operation.check(tool, &arguments);
        assert_eq!(checked.is_ok(), fits, "{tool} {arguments} {checked:?}");
        let given = params(&arguments.to_string());
        let ran = operation.execute(&given, &trace()).await;
        assert_eq!(ran.is_ok(), fits, "{tool} {arguments}");
        let shown = &operation.info.input_schema["properties"];
        let is_shown = given.keys().all(|name| shown.get(name).is_some());
        assert_eq!(is_shown, fits, "{tool} {arguments} {shown}");
    }
    let told: Vec<_> = problems.iter().map(|problem| &*problem.problem).collect();
    let clash = "operation `post /clash` is not served: it has a parameter `body` beside a body that must be given whole";
    assert!(told.contains(&clash), "{told:?}");
}

#[tokio::test]
async fn p01_the_whole_schema_of_a_body_is_enforced() {
    let server = Loopback::start(ok).await;
    let (operations, _) = load(DEPLOYS, &server, Vec::new()).await;
    for (tool, arguments, fits) in [
        ("more", json!({"name": "x", "other": "dev"}), true),
        ("more", json!({"name": "x", "other": "prod"}), false),
        ("all_of", json!({"env": "dev"}), true),
        ("all_of", json!({"env": "stage"}), false),
        ("few", json!({"b": "1"}), true),
        ("few", json!({"b": "1", "id": 7}), true),
        ("few", json!({"b": "1", "c": "2"}), false),
        ("few", json!({"a": "1"}), false),
        ("few", json!({}), true),
        ("below", json!({"amount": 99.5}), true),
        ("below", json!({"amount": 100}), false),
        ("below", json!({"least": 1}), true),
        ("below", json!({"least": 0}), true),
        ("tree", json!({"env": "dev", "child": {"env": "dev"}}), true),
        (
            "tree",
            json!({"env": "dev", "child": {"env": "zzz"}}),
            false,
        ),
        (
            "tree",
            json!({"env": "dev", "child": {"child": {"child": {"env": "zzz"}}}}),
            false,
        ),
        ("whole", json!({"body": {"child": {"env": "dev"}}}), true),
        ("whole", json!({"body": {"child": {"env": "zzz"}}}), false),
        ("wider", json!({"env": "dev", "note": "x"}), true),
        ("wider", json!({"env": "zzz", "note": "x"}), false),
        ("wider", json!({"note": 1}), false),
        ("narrowed", json!({"env": "dev"}), true),
        ("narrowed", json!({"env": "stage"}), false),
        ("twice", json!({"id": "ab"}), true),
        ("twice", json!({"id": "abcd"}), false),
        ("twice", json!({"id": "a"}), false),
        ("endless", json!({"body": {}}), false),
        ("lost", json!({"env": "dev", "other": "x"}), true),
        ("lost", json!({"env": "zzz", "other": "x"}), false),
    ] {
        let checked = named(&operations, tool).check(tool, &arguments);
        assert_eq!(checked.is_ok(), fits, "{tool} {arguments} {checked:?}");
    }
    let whole = named(&operations, "whole");
    let misfit = whole.check("whole", &json!({"body": {"child": {"env": "zzz"}}}));
    assert_eq!(
        misfit.unwrap_err(),
        "at `/body/child/env`: value must be 'dev'"
    );
}

#[tokio::test]
async fn p01_what_is_not_checked_is_told() {
    let server = Loopback::start(ok).await;
    let (_, problems) = load(DEPLOYS, &server, Vec::new()).await;
    let told: Vec<_> = problems.iter().map(|problem| &*problem.problem).collect();
    assert_eq!(
        told,
        [
            "operation `post /clash` is not served: it has a parameter `body` beside a body that must be given whole",
            "the arguments of `lost` are checked in part: `$ref` `#/components/schemas/Gone` leads nowhere in this document",
            "the arguments of `lost` are checked in part: `$ref` `other.yaml#/Env` leads nowhere in this document",
        ]
    );
    let many: Map<String, Value> = (0..3_000)
        .map(|n| (format!("p{n}"), json!({"type": "string"})))
        .collect();
    let schema = json!({"type": "object", "properties": many});
    let body = json!({"content": {"application/json": {"schema": schema}}});
    let large = json!({
        "openapi": "3.0.3",
        "paths": {"/large": {"post": {"requestBody": body}}},
    });
    let (_, problems) = load(&large.to_string(), &server, Vec::new()).await;
    let told: Vec<_> = problems.iter().map(|problem| &*problem.problem).collect();
    assert_eq!(
        told,
        ["the arguments of `post_large` are checked in part: it is too large"]
    );
}

#[tokio::test]
async fn p01_keys_write_no_structure() {
    let server = Loopback::start(ok).await;
    let (operations, _) = load(DEPLOYS, &server, Vec::new()).await;
    for (tool, arguments, fits) in [
        ("deep", json!({"f": {"env": "prod"}}), true),
        (
            "deep",
            json!({"f": {"author.name": "x", "größe_2": 1}}),
            true,
        ),
        ("deep", json!({"f": {"tags[]": "declared"}}), true),
        ("deep", json!({"f": {"env][": "prod"}}), false),
        ("deep", json!({"f": {"env]": "prod"}}), false),
        ("deep", json!({"f": {"[env": "prod"}}), false),
        ("deep", json!({"f": {" env": "prod"}}), false),
        ("deep", json!({"f": {"": "prod"}}), false),
        ("deep", json!({"f": {"env\u{0}": "prod"}}), false),
        ("open_form", json!({"env": "dev", "more": "x"}), true),
        ("open_form", json!({"tags[]": "declared"}), true),
        ("open_form", json!({"env[]": "prod"}), false),
        ("open_form", json!({" env": "prod"}), false),
        ("open_form", json!({"e.nv": "prod"}), false),
        ("more", json!({"any[]": "dev"}), true),
    ] {
        let checked = named(&operations, tool).check(tool, &arguments);
        assert_eq!(checked.is_ok(), fits, "{tool} {arguments} {checked:?}");
    }
}

const STYLES: &str = r#"
openapi: 3.0.0
info: {title: styles, version: "1"}
paths:
  /get:
    get:
      operationId: get
      parameters:
        - {name: spaced, in: query, style: spaceDelimited, explode: false, schema: {type: array, items: {type: string}}}
        - {name: piped, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: string}}}
        - {name: env, in: query, content: {application/json: {schema: {type: string}}}}
        - {name: X-Env, in: header, schema: {type: string}}
        - {name: odd, in: query, content: {text/xml: {schema: {type: string}}}}
        - {name: either, in: query, explode: false, schema: {oneOf: [{type: string}, {type: array, items: {type: string}}]}}
        - {name: X-List, in: header, schema: {type: array, items: {type: string}}}
        - {name: X-Either, in: header, schema: {oneOf: [{type: string}, {type: array, items: {type: string}}]}}
  /at/{either}:
    get:
      operationId: at
      parameters:
        - {name: either, in: path, required: true, schema: {oneOf: [{type: string}, {type: array, items: {type: string}}]}}
  /of/{ids}:
    get:
      operationId: of
      parameters:
        - {name: ids, in: path, required: true, schema: {type: array, items: {type: string}}}
  /answer:
    post:
      operationId: answer
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [id, name], properties: {id: {type: string, readOnly: true}, name: {type: string}}}
  /form:
    post:
      operationId: form
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              properties:
                joined: {type: array, items: {type: string}}
                env: {type: string}
            encoding:
              joined: {style: form, explode: false}
              env: {contentType: application/json}
  /odd:
    get:
      operationId: odd
      parameters:
        - {name: xml, in: query, required: true, content: {text/xml: {schema: {type: string}}}}
"#;

#[tokio::test]
async fn p01_what_is_sent_reads_as_what_was_decided() {
    let server = Loopback::start(ok).await;
    let (operations, problems) = load(STYLES, &server, Vec::new()).await;
    assert_eq!(
        problems
            .iter()
            .map(|problem| &*problem.problem)
            .collect::<Vec<_>>(),
        [
            "operation `get /odd` is not served: the `content` of its parameter `xml` cannot be written there"
        ]
    );
    for (tool, arguments, expected) in [
        (
            "get",
            json!({"spaced": ["a", "b|c"]}),
            Ok("GET /api/get?spaced=a%20b%7Cc"),
        ),
        (
            "get",
            json!({"env": "prod"}),
            Ok("GET /api/get?env=%22prod%22"),
        ),
        (
            "get",
            json!({"env": "\"prod\""}),
            Ok("GET /api/get?env=%22%5C%22prod%5C%22%22"),
        ),
        ("get", json!({"X-Env": "a b"}), Ok("GET /api/get")),
        (
            "get",
            json!({"spaced": ["dev prod"]}),
            Err("an item of `spaced` has a space in it, which separates the items"),
        ),
        (
            "get",
            json!({"piped": ["a", "dev|prod"]}),
            Err("an item of `piped` has a `|` in it, which separates the items"),
        ),
        (
            "get",
            json!({"X-Env": " prod"}),
            Err(
                "`X-Env` is sent as a header and must be printable ASCII in one line, without blanks around it",
            ),
        ),
        (
            "get",
            json!({"X-Env": "prod\t"}),
            Err(
                "`X-Env` is sent as a header and must be printable ASCII in one line, without blanks around it",
            ),
        ),
        ("get", json!({"odd": "x"}), Err("unknown argument `odd`")),
        ("get", json!({"X-List": ["a", "b"]}), Ok("GET /api/get")),
        (
            "get",
            json!({"X-List": ["dev", " prod"]}),
            Err(
                "`X-List` is sent as a header and must be printable ASCII in one line, without blanks around it",
            ),
        ),
        ("of", json!({"ids": ["a", "b"]}), Ok("GET /api/of/a%2Cb")),
        ("answer", json!({"name": "x"}), Ok(r#"{"name":"x"}"#)),
        (
            "get",
            json!({"either": "prod,"}),
            Err("an item of `either` has a comma in it, which separates the items"),
        ),
        ("get", json!({"X-Either": "prod"}), Ok("GET /api/get")),
        (
            "get",
            json!({"X-Either": "dev,prod"}),
            Err("an item of `X-Either` has a comma in it, which separates the items"),
        ),
        ("at", json!({"either": "prod"}), Ok("GET /api/at/prod")),
        (
            "at",
            json!({"either": "dev,prod"}),
            Err("an item of `either` has a comma in it, which separates the items"),
        ),
        (
            "of",
            json!({"ids": ["a,b"]}),
            Err("an item of `ids` has a comma in it, which separates the items"),
        ),
        (
            "form",
            json!({"joined": ["a", "b"], "env": "x"}),
            Ok("env=%22x%22&joined=a,b"),
        ),
        (
            "form",
            json!({"joined": ["a,b"]}),
            Err("an item of `joined` has a comma in it, which separates the items"),
        ),
    ] {
        let sent = named(&operations, tool)
            .execute(&params(&arguments.to_string()), &trace())
            .await;
        match (sent, expected) {
            (Ok(_), Ok(expected)) => {
                let seen = server.last();
                assert!(
                    [&seen.line, &seen.body].contains(&&expected.to_owned()),
                    "{arguments} {seen:?}"
                );
            }
            (sent, expected) => {
                let told = sent.err().map(|error| error.to_string());
                assert_eq!(told.as_deref(), expected.err(), "{arguments}");
            }
        }
    }
}
