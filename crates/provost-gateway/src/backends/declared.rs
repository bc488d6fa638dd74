//! What a tool declares of an argument that becomes text: a piece of a URL, a header, a field of a form. Only
//! text and numbers are text by themselves. A list, an object or a boolean would look like the text that a rule
//! of policy was written against, so it is sent only where the tool says that it takes one.

use std::{borrow::Cow, collections::HashMap};

use serde_json::{Map, Value};

/// References and alternatives are followed so far.
const DEEPEST: usize = 8;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Declared {
    boolean: bool,
    list: bool,
    object: bool,
    /// Of a list, what its items may be; of an object, what its fields may be.
    inner: HashMap<String, Declared>,
}

/// The key of the items of a list among what is inside.
const ITEMS: &str = "";

static UNDECLARED: std::sync::LazyLock<Declared> = std::sync::LazyLock::new(Declared::default);

impl Declared {
    pub(super) fn of(schema: &Value) -> Self {
        let mut declared = Self::default();
        declared.read(schema, schema, 0);
        declared
    }

    /// What the schema of an object declares of its properties.
    pub(super) fn fields(schema: &Value) -> HashMap<String, Self> {
        Self::of(schema).inner
    }

    pub(super) fn undeclared() -> &'static Self {
        &UNDECLARED
    }

    fn read(&mut self, schema: &Value, root: &Value, depth: usize) {
        let Some(keywords) = schema.as_object().filter(|_| depth < DEEPEST) else {
            return;
        };
        match keywords.get("type") {
            Some(Value::String(name)) => self.take(name),
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(Value::as_str)
                .for_each(|name| self.take(name)),
            _ => {}
        }
        let values = keywords.get("enum").and_then(Value::as_array);
        for value in values.into_iter().flatten().chain(keywords.get("const")) {
            self.boolean |= value.is_boolean();
        }
        if let Some(Value::String(place)) = keywords.get("$ref")
            && let Some(target) = place.strip_prefix('#').and_then(|at| root.pointer(at))
        {
            self.read(target, root, depth + 1);
        }
        for name in ["allOf", "anyOf", "oneOf"] {
            let alternatives = keywords.get(name).and_then(Value::as_array);
            for schema in alternatives.into_iter().flatten() {
                self.read(schema, root, depth + 1);
            }
        }
        let named = keywords.get("properties").and_then(Value::as_object);
        let items = keywords.get("items").map(|items| (ITEMS, items));
        let inner = named.into_iter().flatten();
        for (name, schema) in inner.map(|(name, schema)| (&**name, schema)).chain(items) {
            let declared = self.inner.entry(name.to_owned()).or_default();
            declared.read(schema, root, depth + 1);
        }
    }

    fn take(&mut self, name: &str) {
        match name {
            "boolean" => self.boolean = true,
            "array" => self.list = true,
            "object" => self.object = true,
            _ => {}
        }
    }

    /// One piece of text. The error says what was given, and what to do about it.
    pub(super) fn text<'v>(&self, name: &str, value: &'v Value) -> Result<Cow<'v, str>, String> {
        match value {
            Value::String(text) => Ok(Cow::Borrowed(text)),
            Value::Number(number) => Ok(Cow::Owned(number.to_string())),
            Value::Bool(given) if self.boolean => Ok(if *given { "true" } else { "false" }.into()),
            _ => Err(undeclared(name, value)),
        }
    }

    /// One piece of text, in which a comma stands between the items of a list. Where there may be a list, the
    /// server takes every comma for one.
    pub(super) fn joined<'v>(&self, name: &str, value: &'v Value) -> Result<Cow<'v, str>, String> {
        if !self.list {
            return self.text(name, value);
        }
        let texts = match value {
            Value::Array(_) => self.texts(name, value)?,
            one => vec![self.text(name, one)?],
        };
        if texts.iter().any(|text| text.contains(',')) {
            return Err(two_items(name, "a comma"));
        }
        Ok(Cow::Owned(texts.join(",")))
    }

    pub(super) fn is_list(&self) -> bool {
        self.list
    }

    /// The items of a list, each of which is one piece of text; or the one piece that the value is. A null is
    /// nothing.
    pub(super) fn texts<'v>(
        &self,
        name: &str,
        value: &'v Value,
    ) -> Result<Vec<Cow<'v, str>>, String> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) if self.list => {
                let item = self.field(ITEMS);
                items.iter().map(|one| item.text(name, one)).collect()
            }
            Value::Object(_) if self.object => Ok(vec![Cow::Owned(value.to_string())]),
            one => Ok(vec![self.text(name, one)?]),
        }
    }

    /// The fields of an object that is declared as one.
    pub(super) fn members<'v>(&self, value: &'v Value) -> Option<&'v Map<String, Value>> {
        value.as_object().filter(|_| self.object)
    }

    pub(super) fn has_field(&self, name: &str) -> bool {
        self.object && self.inner.contains_key(name)
    }

    pub(super) fn field(&self, name: &str) -> &Self {
        self.inner.get(name).unwrap_or(&UNDECLARED)
    }
}

/// A server would read one item as two, and no rule about the list saw them.
pub(super) fn two_items(name: &str, separator: &str) -> String {
    format!("an item of `{name}` has {separator} in it, which separates the items")
}

fn undeclared(name: &str, value: &Value) -> String {
    let given = match value {
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Bool(_) => "a boolean",
        _ => "null",
    };
    format!(
        "`{name}` is or holds {given}, and the tool does not declare it so: give text or a number"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn p01_only_what_is_declared_becomes_text() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        let flags = json!({"type": "array", "items": {"type": "boolean"}});
        let either = json!({"anyOf": [{"type": "string"}, {"type": "array"}]});
        let referring = json!({"$ref": "#/$defs/l", "$defs": {"l": {"type": ["array", "null"]}}});
        for (schema, value, expected) in [
            (json!({}), json!("prod"), Some(&["prod"][..])),
            (json!({}), json!(1.5), Some(&["1.5"])),
            (json!({}), json!(null), Some(&[])),
            (json!({}), json!(["prod"]), None),
            (json!({}), json!([]), None),
            (json!({}), json!({"a": 1}), None),
            (json!({}), json!(true), None),
            (json!(true), json!(["prod"]), None),
            (json!({"type": "string"}), json!(["prod"]), None),
            (json!({"type": "string"}), json!(true), None),
            (json!({"type": "boolean"}), json!(true), Some(&["true"])),
            (json!({"enum": [true, "x"]}), json!(false), Some(&["false"])),
            (list.clone(), json!(["a", 2]), Some(&["a", "2"])),
            (list.clone(), json!("a"), Some(&["a"])),
            (list.clone(), json!([["a"]]), None),
            (list.clone(), json!([{"a": 1}]), None),
            (list.clone(), json!([true]), None),
            (list, json!(["a", null]), None),
            (flags, json!([true]), Some(&["true"])),
            (either, json!(["a"]), Some(&["a"])),
            (referring, json!(["a"]), Some(&["a"])),
            (
                json!({"type": "object"}),
                json!({"a": 1}),
                Some(&[r#"{"a":1}"#]),
            ),
        ] {
            let texts = Declared::of(&schema).texts("x", &value);
            let texts = texts
                .as_ref()
                .map(|texts| texts.iter().map(|text| &**text).collect());
            let texts: Result<Vec<&str>, _> = texts;
            assert_eq!(texts.ok().as_deref(), expected, "{schema} {value}");
        }
    }

    #[test]
    fn p01_a_text_is_not_read_as_the_list_that_it_may_be() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        let text = json!({"type": "string"});
        let either = json!({"oneOf": [text, list]});
        for (schema, value, expected) in [
            (&text, json!("dev,prod"), Some("dev,prod")),
            (&list, json!(["dev", "prod"]), Some("dev,prod")),
            (&list, json!(["dev,prod"]), None),
            (&list, json!([]), Some("")),
            (&either, json!("dev"), Some("dev")),
            (&either, json!("dev,prod"), None),
            (&either, json!(["dev", "prod"]), Some("dev,prod")),
            (&either, json!({"a": 1}), None),
            (&either, json!(null), None),
        ] {
            let joined = Declared::of(schema).joined("x", &value).ok();
            assert_eq!(joined.as_deref(), expected, "{schema} {value}");
        }
    }
}
