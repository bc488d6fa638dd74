//! The body of an operation: JSON, or a form.
//!
//! Arguments give it whole, as `body`, or, when it is an object, by its properties.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{
    describe,
    document::Document,
    schema::{self, Shape},
};
use crate::backends::declared::Declared;

#[derive(Debug)]
pub(super) struct Body {
    pub(super) required: bool,
    pub(super) format: Format,
    /// The media type as the document writes it.
    pub(super) content_type: String,
    pub(super) properties: Properties,
    /// What its schema declares of its fields.
    pub(super) declared: HashMap<String, Declared>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    Json,
    Form,
}

/// What of the body may be given as arguments of its own.
#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) names: Vec<String>,
    pub(super) required: Vec<String>,
    /// Whether any name is a property.
    pub(super) open: bool,
}

/// A body, and what agents are shown of it.
pub(super) struct DescribedBody {
    pub(super) body: Body,
    pub(super) schema: Value,
    pub(super) shape: Option<Shape>,
}

impl Body {
    pub(super) fn takes(&self, name: &str) -> bool {
        self.properties.open || self.properties.names.iter().any(|known| known == name)
    }

    /// Whether its properties may be arguments.
    pub(super) fn is_object(&self) -> bool {
        self.properties.open || !self.properties.names.is_empty()
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
    let schema = media.get("schema").unwrap_or(&Value::Null);
    let schema = schema::inlined(document, schema);
    Ok(Some(described(required, format, media_type, schema)))
}

/// `in: body` of Swagger 2.
pub(super) fn swagger_json(document: &Document, node: &Value) -> DescribedBody {
    let required = node
        .get("required")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let schema = schema::inlined(document, node.get("schema").unwrap_or(&Value::Null));
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
    let schema = json!({
        "type": "object",
        "properties": describe::properties(document, &fields),
        "required": required,
    });
    Ok(described(
        needed,
        Format::Form,
        "application/x-www-form-urlencoded",
        schema,
    ))
}

fn described(required: bool, format: Format, media_type: &str, schema: Value) -> DescribedBody {
    let shape = Shape::of(&schema);
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
        properties: properties.unwrap_or_default(),
        declared: Declared::fields(&schema),
    };
    DescribedBody {
        body,
        schema,
        shape,
    }
}

/// JSON if it is offered, else a form. `*/*` is what some generators write for JSON.
fn preferred(content: &Map<String, Value>) -> Option<(Format, &str, &Value)> {
    let essence = |media_type: &str| {
        media_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
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
