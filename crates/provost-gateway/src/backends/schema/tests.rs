use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

fn compiled(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap().unwrap()
}

#[test]
fn p01_arguments_are_held_against_the_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "n": {"type": "integer", "minimum": 1},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "mode": {"anyOf": [{"const": "x"}, {"type": "number"}]},
            "key": {"type": "string", "pattern": "^[a-z]+$"},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let schema = compiled(&schema);
    for (arguments, expected) in [
        (json!({"path": "/a"}), None),
        (
            json!({"path": "/a", "n": 2, "tags": ["a"], "mode": 1}),
            None,
        ),
        (json!({"path": "/a", "n": 1.0}), None),
        (
            json!({"path": ["/a"]}),
            Some("at `/path`: want string, but got array"),
        ),
        (json!({"path": "/a", "n": 0}), Some("at `/n`: must be >=1")),
        (json!({}), Some("missing properties 'path'")),
        (
            json!({"path": "/a", "x": 1}),
            Some("1 property is not allowed"),
        ),
        (
            json!({"path": "/a", "tags": ["a", "c"]}),
            Some("at `/tags/1`: value must be one of 'a', 'b'"),
        ),
        (
            json!({"path": "/a", "mode": "y"}),
            Some("at `/mode`: fits none of the alternatives"),
        ),
        (
            json!({"path": 1, "n": true}),
            Some("at `/n`: want integer, but got boolean; at `/path`: want string, but got number"),
        ),
    ] {
        let checked = schema.check(&arguments);
        assert_eq!(checked.err().as_deref(), expected, "{arguments}");
    }
    let told = schema
        .check(&json!({"path": "/a", "key": "s3cr3t!"}))
        .unwrap_err();
    assert_eq!(told, "at `/key`: does not match the pattern '^[a-z]+$'");
}

#[test]
fn p09_what_does_not_fit_is_told_without_values() {
    let schema = compiled(&json!({
        "properties": {
            "pin": {"maximum": 10},
            "low": {"exclusiveMinimum": 5_000_000_000_i64},
            "step": {"multipleOf": 7},
            "data": {"type": "object", "propertyNames": {"pattern": "^a"}},
        },
        "additionalProperties": false,
    }));
    for arguments in [
        json!({"pin": 4_711_471_147_i64}),
        json!({"low": 4_711_471_147_i64}),
        json!({"step": 4_711_471_147_i64}),
        json!({"zebrafish": 1}),
        json!({"data": {"zebrafish": 1}}),
    ] {
        let told = schema.check(&arguments).unwrap_err();
        assert!(
            !told.contains("4711471147") && !told.contains("zebrafish"),
            "{told}"
        );
    }
}

#[test]
fn p01_a_schema_that_cannot_be_read_says_why() {
    for schema in [
        json!({"type": 7}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "https://example.org/s.json"}),
        json!({"$ref": "#/$defs/nowhere"}),
        json!({"properties": {"a": {"pattern": "(?=x)"}}}),
        json!({"properties": {"a": {"$id": "https://x/y", "$ref": "#/z"}}}),
        json!({"$dynamicRef": "#x"}),
        json!({"$ref": "#"}),
        json!(7),
    ] {
        let read = Schema::compile(&schema);
        assert!(read.is_err(), "{schema}");
    }
    assert!(Schema::compile(&Value::Null).unwrap().is_none());
}

#[test]
fn p01_recursive_schemas_are_read_and_followed() {
    let schema = compiled(&json!({
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "additionalProperties": false,
        }},
    }));
    let fits = json!({"tree": {"children": [{"children": [{}]}]}});
    assert_eq!(schema.check(&fits), Ok(()));
    let wrong = json!({"tree": {"children": [{"children": [7]}]}});
    assert_eq!(
        schema.check(&wrong).unwrap_err(),
        "at `/tree/children/0/children/0`: want object, but got number"
    );
}

/// `{"a": {"a": …}}`, as deep as JSON is read.
fn deep(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}

#[test]
fn p01_hostile_schemas_and_arguments_cost_little() {
    let doubling: serde_json::Map<String, Value> = (0..60)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"allOf": [next, next]}))
        })
        .chain([("d60".to_owned(), json!({"type": "object"}))])
        .collect();
    let by_depth = json!({
        "$ref": "#/$defs/n",
        "$defs": {"n": {"allOf": [
            {"properties": {"a": {"$ref": "#/$defs/n"}}},
            {"properties": {"a": {"$ref": "#/$defs/n"}}},
        ]}},
    });
    let many: Vec<_> = (0..200)
        .map(|n| json!({"required": [n.to_string()]}))
        .collect();
    let patterns: serde_json::Map<String, Value> = (0..1000)
        .map(|n| (format!("p{n}"), json!({"pattern": "a{1000}{1000}"})))
        .collect();
    let huge = json!({"items": vec![vec![0; 10]; 20_000]});
    let began = Instant::now();
    for (schema, arguments) in [
        (json!({"$ref": "#/$defs/d0", "$defs": doubling}), json!({})),
        (by_depth, deep(120)),
        (
            json!({"properties": {"items": {"items": {"anyOf": many}}}}),
            huge,
        ),
        (json!({"properties": patterns}), json!({})),
        (
            json!({"properties": {"a": {"pattern": "x{900}{900}"}}}),
            json!({}),
        ),
        (deep(100), deep(100)),
    ] {
        let Ok(Some(schema)) = Schema::compile(&schema) else {
            continue;
        };
        // Whether it fits is not the point: that it is answered is.
        let _ = schema.check(&arguments);
    }
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn p02_limits_are_compared_exactly() {
    for (schema, value, fits) in [
        (
            json!({"maximum": 9_007_199_254_740_992_u64}),
            9_007_199_254_740_992_u64,
            true,
        ),
        (
            json!({"maximum": 9_007_199_254_740_992_u64}),
            9_007_199_254_740_993,
            false,
        ),
        (
            json!({"maximum": 9_007_199_254_740_993_u64}),
            9_007_199_254_740_993,
            true,
        ),
        (
            json!({"minimum": 9_007_199_254_740_993_u64}),
            9_007_199_254_740_992,
            false,
        ),
        (
            json!({"enum": [18_014_398_509_481_985_u64]}),
            18_014_398_509_481_984,
            false,
        ),
        (json!({"multipleOf": 2}), 9_007_199_254_740_993, false),
        (json!({"multipleOf": 2}), 9_007_199_254_740_994, true),
        // What no limit is near may be as large as it likes.
        (
            json!({"maximum": 18_446_744_073_709_551_615_u64}),
            1_234_567_890_123_456_789,
            true,
        ),
    ] {
        let schema = compiled(&json!({"properties": {"n": schema}}));
        let checked = schema.check(&json!({"n": value}));
        assert_eq!(checked.is_ok(), fits, "{value} {checked:?}");
    }
}
