//! Equal digests, equal rulings: an approval is bound to a digest, so two calls that share one must never
//! be judged differently.

use proptest::prelude::*;
use serde_json::{Number, Value, json};

use super::{Policy, PolicySet, Verdict};
use crate::{call::Call, time::Time};

/// Numbers near the edges of doubles and integers, in the spellings that JSON has for them.
fn number() -> impl Strategy<Value = Number> {
    let edges = prop_oneof![
        Just(0_i128),
        Just(1),
        Just(1 << 53),
        Just(1 << 60),
        Just(1 << 63),
        Just((1 << 64) - 1),
        Just(9_223_372_036_854_776_000),
        any::<u64>().prop_map(i128::from),
    ];
    let integer = (edges, -3_i128..=3, any::<bool>()).prop_map(|(edge, near, negative)| {
        let int = if negative {
            -(edge + near)
        } else {
            edge + near
        };
        i64::try_from(int)
            .map(Number::from)
            .or_else(|_| u64::try_from(int).map(Number::from))
            .unwrap_or_else(|_| 0.into())
    });
    let double = integer.clone().prop_map(|int| {
        let float = int.as_f64().unwrap_or_default();
        Number::from_f64(float).unwrap_or(int)
    });
    let fraction = (-1e6..1e6_f64).prop_map(|float| Number::from_f64(float).unwrap_or(0.into()));
    prop_oneof![integer, double, fraction]
}

fn call(number: &Number) -> Call {
    let params = json!({"n": number, "deep": {"n": [number]}});
    Call {
        agent: "a".into(),
        session: None,
        tool: "t".into(),
        params: params.as_object().cloned().unwrap_or_default(),
    }
}

fn allows(rule: &Value, call: &Call) -> Verdict {
    let policy = Policy {
        name: "p".into(),
        agent: "*".into(),
        rate_limit: None,
        rules: serde_json::from_value(json!([rule])).unwrap(),
    };
    let set = PolicySet::compile(vec![policy]).unwrap();
    set.evaluate(call, Time::default()).verdict
}

#[test]
fn p02_the_double_of_an_integer_is_the_same_text() {
    let int = Number::from(-(1_i64 << 60));
    let double = int.as_f64().and_then(Number::from_f64).unwrap();
    assert_eq!(call(&int).digest(), call(&double).digest());
    for operator in ["==", "!=", "<", "<=", ">", ">="] {
        let when = format!("TO_STRING(params.n) {operator} '-1.152921504606847e+18'");
        let rule = json!({"tools": ["*"], "action": "allow", "when": when});
        assert_eq!(
            allows(&rule, &call(&int)),
            allows(&rule, &call(&double)),
            "{when}"
        );
    }
}

proptest! {
    #[test]
    fn p02_calls_of_equal_digest_are_ruled_alike(one in number(), other in number(), wanted in number()) {
        // Most pairs differ; the double of an integer is the pair that matters.
        let double = one.as_f64().and_then(Number::from_f64).unwrap_or(other.clone());
        for other in [other, double] {
            let (first, second) = (call(&one), call(&other));
            let rules = ["==", "!=", "<", "<=", ">", ">="].map(|operator| [
                json!({"tools": ["*"], "action": "allow", "condition": {"field": "n", "operator": operator, "value": wanted}}),
                json!({"tools": ["*"], "action": "allow", "when": format!("params.deep.n[0] {operator} {wanted}")}),
                json!({"tools": ["*"], "action": "allow", "when": format!("TO_STRING(params.n) {operator} '{wanted}'")}),
            ]);
            if first.digest() == second.digest() {
                for rule in rules.iter().flatten() {
                    prop_assert_eq!(allows(rule, &first), allows(rule, &second), "{} {} {}", rule, one, other);
                }
            } else {
                let equal = json!({"tools": ["*"], "action": "allow", "condition": {"field": "n", "operator": "==", "value": one}});
                prop_assert_eq!(allows(&equal, &second), Verdict::Deny, "{} {}", one, other);
            }
        }
    }
}
