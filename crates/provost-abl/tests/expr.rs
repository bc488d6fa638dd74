//! The expression language from outside, by table, snapshot and property.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should say so and stop"
)]

#[path = "expr/diagnostics.rs"]
mod diagnostics;
#[path = "expr/explanations.rs"]
mod explanations;
#[path = "expr/functions.rs"]
mod functions;
#[path = "expr/limits.rs"]
mod limits;
#[path = "expr/operators.rs"]
mod operators;
#[path = "expr/paths.rs"]
mod paths;
#[path = "expr/properties.rs"]
mod properties;
#[path = "expr/quantifiers.rs"]
mod quantifiers;
#[path = "expr/strict.rs"]
mod strict;

use jiff::Timestamp;
use provost_abl::expr::{EvalError, JsonScope, Number, Object, Program, Scope, Value};
use serde_json::{Value as Json, json};

fn noon() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn compile(source: &str) -> Program {
    Program::compile(source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

fn try_eval(source: &str, roots: &Json) -> Result<Json, EvalError> {
    let program = compile(source);
    let scope = JsonScope::new(roots, noon());
    program.eval(&scope).map(|value| value.to_json())
}

fn eval(source: &str, roots: &Json) -> Json {
    try_eval(source, roots).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// Each row is a source and what it evaluates to, over `roots`.
fn check(roots: &Json, rows: &[(&str, Json)]) {
    for (source, expected) in rows {
        assert_eq!(&eval(source, roots), expected, "{source}");
    }
}

fn params() -> Json {
    json!({
        "params": {
            "amount": 250,
            "price": "19.90",
            "name": "Ada",
            "empty": "",
            "nothing": null,
            "yes": true,
            "no": false,
            "tags": ["new", "vip", 7],
            "rows": [{"id": 1, "who": "a"}, {"id": "2", "who": "b"}],
            "none": [],
            "blank": {},
            "account": 9_007_199_254_740_993_u64,
            "path": "/srv/project/src/main.rs",
            "my-key": "dash",
            "length": 3
        },
        "tool": {"name": "files.read"}
    })
}

/// A host with roots of its own, none of them one JSON object.
struct Host<'a> {
    params: &'a Json,
    agent: [(&'a str, Value<'a>); 2],
}

impl Scope for Host<'_> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "params" => Some(self.params.into()),
            "agent" => Some(Value::Object(Object::Fields(&self.agent))),
            "now" => Some(Value::text(self.now().to_string())),
            _ => None,
        }
    }

    fn now(&self) -> Timestamp {
        noon()
    }

    fn unique_id(&self) -> String {
        "id-1".to_owned()
    }
}

#[test]
fn a_host_gives_roots_one_by_one() {
    let params = json!({"owner": "a-7"});
    let host = Host {
        params: &params,
        agent: [
            ("id", Value::from("a-7")),
            ("turns", Value::Number(Number::from(3_u64))),
        ],
    };
    for (source, expected) in [
        ("params.owner == agent.id", json!(true)),
        ("agent.turns + 1", json!(4)),
        ("agent.name", json!(null)),
        ("agent", json!({"id": "a-7", "turns": 3})),
        ("OBJECT_KEYS(agent)", json!(["id", "turns"])),
        ("agent == OBJECT_MERGE(agent)", json!(true)),
        ("TO_STRING(agent)", json!("{\"id\":\"a-7\",\"turns\":3}")),
        ("now STARTS_WITH '2026-03-01'", json!(true)),
        ("UNIQUE_ID()", json!("id-1")),
    ] {
        let program = compile(source);
        let value = program.eval(&host).unwrap().to_json();
        assert_eq!(value, expected, "{source}");
    }
}
