//! The ancestor's condition: one field of the arguments against one value.

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
    /// A field that is not there matches nothing. One that cannot be put in order is an error, so that a list
    /// around a number passes no deny.
    pub fn judge(&self, params: &Map<String, Value>) -> Result<bool, String> {
        let Some(seen) = self.lookup(params) else {
            return Ok(false);
        };
        match (number(seen), number(&self.value)) {
            (Some(seen), Some(wanted)) => Ok(self.compare_numbers(seen, wanted)),
            _ => match self.operator {
                Operator::Equal => Ok(text(seen) == text(&self.value)),
                Operator::NotEqual => Ok(text(seen) != text(&self.value)),
                _ => Err(format!("`{}` is not a number", self.field)),
            },
        }
    }

    pub fn lookup<'a>(&self, params: &'a Map<String, Value>) -> Option<&'a Value> {
        let path = self.field.strip_prefix("params.").unwrap_or(&self.field);
        let (first, rest) = path
            .split_once('.')
            .map_or((path, None), |(first, rest)| (first, Some(rest)));
        let mut seen = params.get(first)?;
        for step in rest.into_iter().flat_map(|rest| rest.split('.')) {
            seen = seen.as_object()?.get(step)?;
        }
        (!seen.is_null()).then_some(seen)
    }

    #[expect(
        clippy::float_cmp,
        reason = "the condition's author asks for exact equality"
    )]
    fn compare_numbers(&self, seen: f64, wanted: f64) -> bool {
        match self.operator {
            Operator::Less => seen < wanted,
            Operator::AtMost => seen <= wanted,
            Operator::Greater => seen > wanted,
            Operator::AtLeast => seen >= wanted,
            Operator::Equal => seen == wanted,
            Operator::NotEqual => seen != wanted,
        }
    }
}

/// A number, or a text that is one. `NaN` and infinities are neither.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
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
}
