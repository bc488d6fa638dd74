//! The body of an operation: JSON, or a form.
//!
//! An operation takes it in one way only, so that a rule about an argument cannot be passed by giving the same
//! body in the other: by its properties where those are known, else whole, as the argument `body`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{
    describe::{self, Parameter, Style},
    document::Document,
    schema::InputSchema,
    shape::Shape,
};
use crate::backends::declared::Declared;

/// The argument that is the body as a whole.
pub(super) const WHOLE: &str = "body";

#[derive(Debug)]
pub(super) struct Body {
    pub(super) required: bool,
    pub(super) format: Format,
    /// The media type as the document writes it.
    pub(super) content_type: String,
    /// What is given in its place; none where it is given whole.
    pub(super) properties: Option<Properties>,
    /// What its schema declares of its fields.
    pub(super) declared: HashMap<String, Declared>,
    /// How the fields of a form are written, where it is not the usual way.
    pub(super) styles: HashMap<String, Style>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    Json,
    Form,
}

/// The properties of a body that are arguments of their own.
#[derive(Debug)]
pub(super) struct Properties {
    pub(super) names: Vec<String>,
    pub(super) required: Vec<String>,
    /// Whether any name is a property.
    pub(super) open: bool,
}

/// A body, and what agents are shown of it.
pub(super) struct DescribedBody {
    pub(super) body: Body,
    pub(super) schema: InputSchema,
    /// What is given in its place; none where it is given whole.
    pub(super) shape: Option<Shape>,
}

impl Properties {
    pub(super) fn has(&self, name: &str) -> bool {
        self.open || self.names.iter().any(|known| known == name)
    }
}

impl Body {
    pub(super) fn is_whole(&self) -> bool {
        self.properties.is_none()
    }
}

impl DescribedBody {
    /// The same beside the operation's parameters: a property that has the name of one would be lost.
    pub(super) fn beside(
        mut self,
        parameters: &[(Parameter, InputSchema)],
    ) -> Result<Self, String> {
        let is_parameter = |name: &str| parameters.iter().any(|(known, _)| known.name == name);
        let clashes = |shape: &Shape| shape.properties.keys().any(|name| is_parameter(name));
        if self.shape.as_ref().is_some_and(clashes) {
            self.shape = None;
            self.body.properties = None;
        }
        if self.shape.is_none() && is_parameter(WHOLE) {
            return Err(format!(
                "it has a parameter `{WHOLE}` beside a body that must be given whole"
            ));
        }
        Ok(self)
    }
}

/// `requestBody` of OpenAPI 3.
pub(super) fn request_body(
    document: &Document,
    node: &Value,
) -> Result<Option<DescribedBody>, String> {
    let node = document
        .resolve(node)
        .ok_or("the `$ref` of its body leads nowhere in this document")?;
    let Some(content) = node
        .get("content")
        .and_then(Value::as_object)
        .filter(|content| !content.is_empty())
    else {
        return Ok(None);
    };
    let required = node
        .get("required")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let Some((format, media_type, media)) = preferred(content) else {
        if !required {
            return Ok(None);
        }
        let offered: Vec<_> = content.keys().map(|key| format!("`{key}`")).collect();
        return Err(format!(
            "its body must be {}, and only JSON and forms can be sent",
            offered.join(" or ")
        ));
    };
    let schema = schema_of(document, media);
    let mut described = described(required, format, media_type, schema);
    described.body.styles = encoded(media);
    Ok(Some(described))
}

/// `encoding` of a form's fields.
fn encoded(media: &Value) -> HashMap<String, Style> {
    let fields = media.get("encoding").and_then(Value::as_object);
    let style = |encoding: &Value| {
        let media_type = encoding.get("contentType").and_then(Value::as_str);
        if media_type.is_some_and(is_json) {
            return Style::Json;
        }
        describe::styled(encoding)
    };
    let fields = fields.into_iter().flatten();
    fields
        .map(|(name, encoding)| (name.clone(), style(encoding)))
        .collect()
}

pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence.ends_with("+json")
}

/// A media type without its parameters.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// `in: body` of Swagger 2.
pub(super) fn swagger_json(document: &Document, node: &Value) -> DescribedBody {
    let required = node
        .get("required")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let schema = schema_of(document, node);
    described(required, Format::Json, "application/json", schema)
}

/// `in: formData` of Swagger 2.
pub(super) fn swagger_form(document: &Document, nodes: &[&Value]) -> Result<DescribedBody, String> {
    let (files, fields): (Vec<&Value>, Vec<&Value>) = nodes
        .iter()
        .partition(|node| node.get("type") == Some(&json!("file")));
    if !describe::required_names(&files).is_empty() || fields.is_empty() {
        return Err("its body holds a file, and files cannot be sent".into());
    }
    let required = describe::required_names(&fields);
    let needed = !required.is_empty();
    let (mut shown, mut sources) = (Map::new(), Map::new());
    for (name, schema) in describe::properties(document, &fields) {
        shown.insert(name.clone(), schema.shown);
        sources.insert(name, schema.source);
    }
    let form = |properties: Map<String, Value>| json!({"type": "object", "properties": properties, "required": required});
    let schema = InputSchema {
        shown: form(shown),
        source: form(sources),
    };
    let media_type = "application/x-www-form-urlencoded";
    let mut described = described(needed, Format::Form, media_type, schema);
    described.body.styles = describe::collected_styles(&fields);
    Ok(described)
}

fn schema_of(document: &Document, node: &Value) -> InputSchema {
    let source = node.get("schema").cloned().unwrap_or_else(|| json!({}));
    InputSchema::of(document, source)
}

fn described(
    required: bool,
    format: Format,
    media_type: &str,
    schema: InputSchema,
) -> DescribedBody {
    let shape = Shape::of(&schema.shown).filter(|shape| !shape.properties.is_empty());
    let properties = shape.as_ref().map(|shape| Properties {
        names: shape.properties.keys().cloned().collect(),
        required: shape.required.iter().cloned().collect(),
        open: shape.open,
    });
    let content_type = if media_type.contains('*') {
        "application/json"
    } else {
        media_type
    };
    let body = Body {
        required,
        format,
        content_type: content_type.to_owned(),
        properties,
        declared: Declared::fields(&schema.shown),
        styles: HashMap::new(),
    };
    DescribedBody {
        body,
        schema,
        shape,
    }
}

/// JSON if it is offered, else a form. `*/*` is what some generators write for JSON.
fn preferred(content: &Map<String, Value>) -> Option<(Format, &str, &Value)> {
    let find = |wanted: &dyn Fn(&str) -> bool| {
        content
            .iter()
            .find(|(media_type, _)| wanted(&essence(media_type)))
    };
    let json = find(&|essence| essence == "application/json")
        .or_else(|| find(&|essence| essence.ends_with("+json")))
        .or_else(|| find(&|essence| essence == "*/*" || essence == "application/*"));
    let form = || find(&|essence| essence == "application/x-www-form-urlencoded");
    json.map(|(media_type, media)| (Format::Json, media_type.as_str(), media))
        .or_else(|| form().map(|(media_type, media)| (Format::Form, media_type.as_str(), media)))
}
