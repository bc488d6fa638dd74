//! What the arguments of an operation are held against, before the decision. References stay references, so that
//! a schema that refers to itself is held against all of a value; what cannot be kept is told.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::{
    Operation,
    body::{DescribedBody, WHOLE},
    describe::Parameter,
    document::{Document, reference},
    schema::{InputSchema, translated},
};
use crate::backends::schema::Schema;

/// How many schemas one operation may have, and how deep one may nest.
const MOST_SCHEMAS: usize = 2_000;
const DEEPEST: usize = 64;

#[derive(Default)]
pub(super) struct Checks {
    /// Of the parameters, and of a body that is given whole.
    arguments: Option<Schema>,
    /// Of a body that is given by its properties: these are held against it as one object.
    body: Option<Schema>,
}

struct Closer<'d> {
    document: &'d Document,
    /// The places that were referred to, each with its number.
    places: HashMap<String, usize>,
    /// The schemas there, in the order of their numbers.
    targets: Vec<&'d Value>,
    left: usize,
    left_out: BTreeSet<String>,
}

impl Checks {
    /// With what is not checked, and why.
    pub(super) fn of(
        document: &Document,
        parameters: &[(Parameter, InputSchema)],
        body: Option<&DescribedBody>,
    ) -> (Self, Vec<String>) {
        let whole = body.filter(|body| body.shape.is_none());
        let spread = body.filter(|body| body.shape.is_some());
        let mut troubles = Vec::new();
        let mut read = |source: &Value| compiled(document, source, &mut troubles);
        let checks = Self {
            arguments: read(&of_arguments(parameters, whole)),
            body: spread.and_then(|body| read(&body.schema.source)),
        };
        (checks, troubles)
    }
}

impl Operation {
    /// Whether arguments that make a request are what the document says.
    pub(super) fn check_schemas(&self, arguments: &Value) -> Result<(), String> {
        if let Some(schema) = &self.checks.arguments {
            schema.check(arguments)?;
        }
        let given = arguments.as_object();
        let sent = given.zip(self.body.as_ref());
        let sent = sent.filter(|(given, body)| self.sends(body, given));
        if let Some(schema) = &self.checks.body
            && let Some((given, _)) = sent
        {
            return if given.keys().all(|name| self.is_property(name)) {
                schema.check(arguments)
            } else {
                let properties = self.body_properties(given);
                let properties = properties.map(|(name, value)| (name.clone(), value.clone()));
                schema.check(&properties.collect())
            };
        }
        Ok(())
    }
}

/// Which names there are and which are missing is told by the operation itself.
fn of_arguments(parameters: &[(Parameter, InputSchema)], body: Option<&DescribedBody>) -> Value {
    let mut properties = Map::new();
    if let Some(body) = body {
        properties.insert(WHOLE.into(), body.schema.source.clone());
    }
    for (parameter, schema) in parameters {
        // An argument that is null is one that is not given.
        let mut schema = json!({"if": {"type": "null"}, "else": schema.source});
        if let Some(other) = properties.remove(&parameter.name) {
            // One argument fills all parameters of its name.
            schema = json!({"allOf": [other, schema]});
        }
        properties.insert(parameter.name.clone(), schema);
    }
    json!({"type": "object", "properties": properties})
}

fn compiled(document: &Document, source: &Value, troubles: &mut Vec<String>) -> Option<Schema> {
    let mut closer = Closer {
        document,
        places: HashMap::new(),
        targets: Vec::new(),
        left: MOST_SCHEMAS,
        left_out: BTreeSet::new(),
    };
    let closed = closer.close(source);
    let in_part = closer.left_out.into_iter();
    troubles.extend(in_part.map(|why| format!("checked in part: {why}")));
    Schema::compile(&closed).unwrap_or_else(|why| {
        troubles.push(format!("not checked: the schema cannot be read: {why}"));
        None
    })
}

impl Closer<'_> {
    /// A schema that holds all it refers to.
    fn close(&mut self, source: &Value) -> Value {
        let root = self.schema(source, 0);
        let mut definitions = Map::new();
        while let Some(source) = self.targets.get(definitions.len()).copied() {
            let name = definitions.len().to_string();
            definitions.insert(name, self.schema(source, 0));
        }
        json!({"allOf": [root], "$defs": definitions})
    }

    fn schema(&mut self, source: &Value, depth: usize) -> Value {
        let Some(keywords) = source.as_object() else {
            return if source.is_null() {
                json!({})
            } else {
                source.clone()
            };
        };
        if self.left == 0 || depth == DEEPEST {
            self.left_out.insert("it is too large".to_owned());
            return json!({});
        }
        self.left -= 1;
        let mut closed = translated(keywords, &mut |inner| self.schema(inner, depth + 1));
        if let Some(reference) = reference(source) {
            match self.place(reference) {
                Some(place) => closed.insert("$ref".into(), place.into()),
                None => closed.remove("$ref"),
            };
        }
        Value::Object(closed)
    }

    fn place(&mut self, reference: &str) -> Option<String> {
        let place = |number: usize| format!("#/$defs/{number}");
        if let Some(number) = self.places.get(reference) {
            return Some(place(*number));
        }
        let target = self.document.target(reference);
        // One that leads back to itself says nothing, either.
        let Some(target) = target.filter(|target| self.document.resolve(target).is_some()) else {
            let shown: String = reference.chars().take(100).collect();
            let why = format!("`$ref` `{shown}` leads nowhere in this document");
            self.left_out.insert(why);
            return None;
        };
        let number = self.targets.len();
        self.targets.push(target);
        self.places.insert(reference.to_owned(), number);
        Some(place(number))
    }
}
