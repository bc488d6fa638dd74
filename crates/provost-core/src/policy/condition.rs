//! The ancestor's condition: one field of the arguments against one value.

use std::cmp::Ordering;

use provost_abl::expr::{Number, Value as Seen, same, twin};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// A dotted path into the arguments; `params.amount` and `amount` are the same.
    pub field: String,
    pub operator: Operator,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    AtLeast,
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
}

impl Operator {
    pub const ALL: [(&'static str, Self); 6] = [
        ("<", Self::Less),
        ("<=", Self::AtMost),
        (">", Self::Greater),
        (">=", Self::AtLeast),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|(name, _)| *name == text)
            .map(|(_, operator)| operator)
    }

    pub fn as_str(self) -> &'static str {
        Self::ALL
            .into_iter()
            .find(|(_, operator)| *operator == self)
            .map_or("", |(name, _)| name)
    }

    pub fn is_ordering(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

impl Condition {
    /// A field that is not there matches nothing. One of another kind than the value (a list around it, a
    /// bool for a text) is neither equal nor different: it is an error, so that it passes no deny.
    pub fn judge(&self, params: &Map<String, Value>) -> Result<bool, String> {
        let Some(seen) = self.lookup(params)? else {
            return Ok(false);
        };
        let (seen, wanted) = (Seen::from(seen), Seen::from(&self.value));
        let order = match (number(&seen), number(&wanted)) {
            (Some(seen), Some(wanted)) => Some(seen.cmp(&wanted)),
            _ => None,
        };
        match (self.operator, order) {
            (Operator::Less, Some(order)) => Ok(order.is_lt()),
            (Operator::AtMost, Some(order)) => Ok(order.is_le()),
            (Operator::Greater, Some(order)) => Ok(order.is_gt()),
            (Operator::AtLeast, Some(order)) => Ok(order.is_ge()),
            (Operator::Equal, order) => self.equal(&seen, &wanted, order),
            (Operator::NotEqual, order) => self.equal(&seen, &wanted, order).map(|equal| !equal),
            (_, None) => Err(format!("`{}` is not a number", self.field)),
        }
    }

    fn equal(
        &self,
        seen: &Seen<'_>,
        wanted: &Seen<'_>,
        order: Option<Ordering>,
    ) -> Result<bool, String> {
        match order {
            Some(order) => Ok(order.is_eq()),
            None => same(seen, wanted).ok_or_else(|| {
                let (field, seen, wanted) = (&self.field, seen.kind(), wanted.kind());
                format!("`{field}` is {seen}, and is compared with {wanted}")
            }),
        }
    }

    /// The field's value; `None` where it is not set. A step into what is no object is an error: something
    /// was given, in a shape that the condition does not know.
    pub fn lookup<'a>(&self, params: &'a Map<String, Value>) -> Result<Option<&'a Value>, String> {
        let path = self.field.strip_prefix("params.").unwrap_or(&self.field);
        let mut object = params;
        let mut steps = path.split('.').peekable();
        while let Some(step) = steps.next() {
            if let Some(other) = twin(object, step) {
                return Err(format!(
                    "`{other}` differs from `{step}` only in case: whether it counts is not known"
                ));
            }
            let seen = object.get(step).filter(|seen| !seen.is_null());
            let (Some(seen), Some(_)) = (seen, steps.peek()) else {
                return Ok(seen);
            };
            object = seen.as_object().ok_or_else(|| {
                let kind = Seen::from(seen).kind();
                format!("`{step}` of `{}` is {kind}, not an object", self.field)
            })?;
        }
        Ok(None)
    }
}

/// A number, or a text that is one.
fn number(value: &Seen<'_>) -> Option<Number> {
    match value {
        Seen::Number(number) => Some(*number),
        Seen::Text(text) => Number::parse(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defect_02_both_spellings_of_a_field_match() {
        let params = json!({"amount": 50, "nested": {"deep": {"n": "7"}}, "name": "x", "none": null, "inf": "-inf"});
        let Value::Object(params) = params else {
            panic!()
        };
        for (field, operator, value, expected) in [
            ("params.amount", "<", json!(100), true),
            ("amount", "<", json!(100), true),
            ("amount", ">=", json!(50), true),
            ("amount", "!=", json!(50), false),
            ("params.nested.deep.n", "==", json!(7), true),
            ("nested.deep.n", "<=", json!(6), false),
            ("params.name", "==", json!("x"), true),
            ("name", "!=", json!("x"), false),
            ("missing", "!=", json!(5), false),
            ("none", "==", json!(0), false),
        ] {
            let condition = Condition {
                field: field.into(),
                operator: Operator::parse(operator).unwrap(),
                value,
            };
            assert_eq!(condition.judge(&params), Ok(expected), "{condition:?}");
        }
    }

    #[test]
    fn what_cannot_be_put_in_order_cannot_be_judged() {
        for odd in [
            json!([1000]),
            json!("a lot"),
            json!(true),
            json!({"n": 1}),
            json!("-inf"),
        ] {
            let params = json!({ "amount": odd });
            let Value::Object(params) = params else {
                panic!()
            };
            let condition = Condition {
                field: "amount".into(),
                operator: Operator::Greater,
                value: json!(100),
            };
            assert!(condition.judge(&params).is_err(), "{params:?}");
        }
    }

    fn judged(operator: &str, value: Value, params: &str) -> Result<bool, String> {
        let condition = Condition {
            field: "params.x".into(),
            operator: Operator::parse(operator).unwrap(),
            value,
        };
        condition.judge(&serde_json::from_str(params).unwrap())
    }

    #[test]
    fn p01_a_name_in_another_case_cannot_be_judged() {
        for params in [r#"{"X": "prod"}"#, r#"{"x": "dev", "X": "prod"}"#] {
            assert!(judged("==", json!("prod"), params).is_err(), "{params}");
        }
        assert_eq!(judged("==", json!("prod"), r#"{"y": "prod"}"#), Ok(false));
    }

    #[test]
    fn p01_a_list_an_object_or_a_bool_is_no_scalar() {
        for odd in [
            r#"["prod"]"#,
            r#"[["prod"]]"#,
            "[]",
            r#"{"x": "prod"}"#,
            "{}",
            "true",
            "false",
        ] {
            let params = format!(r#"{{"x": {odd}}}"#);
            for (operator, _) in Operator::ALL {
                for value in [json!("prod"), json!(5), json!("true")] {
                    let judged = judged(operator, value.clone(), &params);
                    assert!(judged.is_err(), "{operator} {value} {params}: {judged:?}");
                }
            }
        }
        assert!(judged("==", json!(true), r#"{"x": "true"}"#).is_err());
        assert!(judged("==", json!(true), r#"{"x": 1}"#).is_err());
        assert!(judged("==", json!(["a"]), r#"{"x": "a"}"#).is_err());
        assert!(judged("==", json!(["a"]), r#"{"x": [["a"]]}"#).is_err());
        for (operator, value, params, expected) in [
            ("==", json!(true), r#"{"x": true}"#, true),
            ("!=", json!(true), r#"{"x": false}"#, true),
            ("==", json!(["a", 5]), r#"{"x": ["a", "5"]}"#, true),
            ("==", json!("a"), r#"{"x": 5}"#, false),
            ("!=", json!("prod"), "{}", false),
            ("!=", json!("prod"), r#"{"x": null}"#, false),
        ] {
            assert_eq!(
                judged(operator, value.clone(), params),
                Ok(expected),
                "{operator} {value} {params}"
            );
        }
    }

    #[test]
    fn p01_a_step_into_another_shape_cannot_be_judged() {
        let condition = Condition {
            field: "params.env.name".into(),
            operator: Operator::Equal,
            value: json!("prod"),
        };
        for (params, expected) in [
            (json!({"env": {"name": "prod"}}), Some(true)),
            (json!({"env": {}}), Some(false)),
            (json!({"env": null}), Some(false)),
            (json!({}), Some(false)),
            (json!({"env": "prod"}), None),
            (json!({"env": [{"name": "prod"}]}), None),
            (json!({"env": {"name": "dev", "Name": "prod"}}), None),
            (
                json!({"env": {"name": "dev"}, "ENV": {"name": "prod"}}),
                None,
            ),
        ] {
            let judged = condition.judge(params.as_object().unwrap());
            assert_eq!(judged.ok(), expected, "{params}");
        }
    }

    #[test]
    fn p02_numbers_are_compared_exactly() {
        for (params, operator, value, expected) in [
            (
                r#"{"x": 9007199254740992}"#,
                "==",
                json!(9_007_199_254_740_993_u64),
                false,
            ),
            (
                r#"{"x": 9007199254740993}"#,
                "<=",
                json!(9_007_199_254_740_992_u64),
                false,
            ),
            (
                r#"{"x": "9007199254740993"}"#,
                "==",
                json!(9_007_199_254_740_993_u64),
                true,
            ),
            (
                r#"{"x": "9007199254740993.0"}"#,
                "==",
                json!(9_007_199_254_740_993_u64),
                true,
            ),
            (
                r#"{"x": "9007199254740992.5"}"#,
                "<=",
                json!(9_007_199_254_740_992_u64),
                false,
            ),
            (
                r#"{"x": 18446744073709551615}"#,
                "<",
                json!(u64::MAX),
                false,
            ),
            (r#"{"x": 18446744073709551614}"#, "<", json!(u64::MAX), true),
            (
                r#"{"x": "18446744073709551616"}"#,
                ">",
                json!(u64::MAX),
                true,
            ),
            (
                r#"{"x": -9223372036854775808}"#,
                "==",
                json!(i64::MIN),
                true,
            ),
            (
                r#"{"x": "-9223372036854775809"}"#,
                "<",
                json!(i64::MIN),
                true,
            ),
            (
                r#"{"x": 9223372036854775807}"#,
                "==",
                json!(9_223_372_036_854_775_808_u64),
                false,
            ),
            (
                r#"{"x": 9007199254740992}"#,
                "==",
                json!("9007199254740993.0"),
                false,
            ),
            (
                r#"{"x": 9007199254740993}"#,
                "==",
                json!("9007199254740993.0"),
                true,
            ),
            (
                r#"{"x": "100000000000000016384"}"#,
                "<=",
                json!("100000000000000016383"),
                false,
            ),
            (
                r#"{"x": "100000000000000016383"}"#,
                "<=",
                json!("100000000000000016383"),
                true,
            ),
            (r#"{"x": 0.1}"#, "==", json!("0.10"), true),
            (r#"{"x": "0.10000000000000000001"}"#, ">", json!(0.1), true),
            (r#"{"x": 5.5}"#, ">", json!(5), true),
            (r#"{"x": 1.0}"#, "==", json!(1), true),
            (r#"{"x": -0.0}"#, "==", json!(0), true),
            (r#"{"x": "-0"}"#, "<", json!(0), false),
            (r#"{"x": "1e3"}"#, "==", json!(1000), true),
            (r#"{"x": "1e3"}"#, "==", json!("1000"), true),
        ] {
            assert_eq!(
                judged(operator, value.clone(), params),
                Ok(expected),
                "{params} {operator} {value}"
            );
        }
    }
}
