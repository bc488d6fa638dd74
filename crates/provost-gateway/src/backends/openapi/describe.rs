//! What an operation takes: its parameters, and its body.

use http::{HeaderMap, HeaderName};
use serde_json::{Value, json};

use super::{
    body::{self, DescribedBody},
    document::Document,
    schema::InputSchema,
};
use crate::backends::{declared::Declared, headers, url::UrlTemplate};

pub(super) struct Inputs {
    pub(super) parameters: Vec<(Parameter, InputSchema)>,
    pub(super) body: Option<DescribedBody>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) declared: Declared,
}

#[derive(Debug, PartialEq)]
pub(super) enum Place {
    Path,
    Query(Style),
    Header(HeaderName),
}

/// How a query parameter writes more than one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Style {
    /// `a=1&a=2`
    Repeat,
    /// `a=1,2`, with the separator as it stands in a URL
    Joined(&'static str),
    /// `a[x]=1&a[y]=2`
    Deep,
}

impl Parameter {
    pub(super) fn is_header_in(&self, headers: &HeaderMap) -> bool {
        matches!(&self.place, Place::Header(name) if headers.contains_key(name))
    }
}

/// Reads the parameters of the path and of the operation, the latter winning, and the body.
pub(super) fn inputs(
    document: &Document,
    item: &Value,
    operation: &Value,
    url: &UrlTemplate,
) -> Result<Inputs, String> {
    let mut parameters = Vec::new();
    let mut form = Vec::new();
    let mut body = None;
    for node in merged(document, item, operation)? {
        let name = node
            .get("name")
            .and_then(Value::as_str)
            .ok_or("a parameter has no name")?;
        match node.get("in").and_then(Value::as_str) {
            Some("body") => body = Some(body::swagger_json(document, node)),
            Some("formData") => form.push(node),
            Some("path") if !url.has_hole(name) => {}
            place => {
                let required = node
                    .get("required")
                    .and_then(Value::as_bool)
                    .unwrap_or(false);
                let place = place_of(document, node, name, place.unwrap_or("query"), required)?;
                if let Some(place) = place {
                    let required = required || place == Place::Path;
                    let schema = InputSchema::of_parameter(document, node);
                    parameters.push((
                        Parameter {
                            name: name.to_owned(),
                            place,
                            required,
                            declared: Declared::of(&schema.shown),
                        },
                        schema,
                    ));
                }
            }
        }
    }
    add_undeclared_holes(&mut parameters, url);
    if let Some(node) = operation.get("requestBody") {
        body = body::request_body(document, node)?;
    } else if !form.is_empty() {
        body = Some(body::swagger_form(document, &form)?);
    }
    Ok(Inputs { parameters, body })
}

fn merged<'d>(
    document: &'d Document,
    item: &'d Value,
    operation: &'d Value,
) -> Result<Vec<&'d Value>, String> {
    let identity = |node: &Value| (node.get("in").cloned(), node.get("name").cloned());
    let mut merged: Vec<&Value> = Vec::new();
    for source in [item, operation] {
        for node in source
            .get("parameters")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let node = document
                .resolve(node)
                .ok_or("the `$ref` of a parameter leads nowhere in this document")?;
            merged.retain(|other| identity(other) != identity(node));
            merged.push(node);
        }
    }
    Ok(merged)
}

/// Where a parameter goes; nowhere, if the gateway or the operator sends what it asks for.
fn place_of(
    document: &Document,
    node: &Value,
    name: &str,
    place: &str,
    required: bool,
) -> Result<Option<Place>, String> {
    match place {
        "path" => Ok(Some(Place::Path)),
        "query" => Ok(Some(Place::Query(style(document, node)))),
        "header" => {
            let header = name
                .parse::<HeaderName>()
                .map_err(|_| format!("`{name}` is not the name of a header"))?;
            Ok(headers::open_to_arguments(&header).then_some(Place::Header(header)))
        }
        "cookie" if required => Err(format!(
            "it requires the cookie `{name}`, and cookies are not sent"
        )),
        "cookie" => Ok(None),
        other => Err(format!(
            "parameter `{name}` goes in `{other}`, which is not known"
        )),
    }
}

fn style(document: &Document, node: &Value) -> Style {
    let text = |key: &str| node.get(key).and_then(Value::as_str);
    if document.is_swagger() {
        return match text("collectionFormat") {
            Some("multi") => Style::Repeat,
            Some("ssv") => Style::Joined("%20"),
            Some("tsv") => Style::Joined("%09"),
            Some("pipes") => Style::Joined("%7C"),
            _ => Style::Joined(","),
        };
    }
    let exploded = node.get("explode").and_then(Value::as_bool);
    match text("style") {
        Some("deepObject") => Style::Deep,
        Some("spaceDelimited") if exploded != Some(true) => Style::Joined("%20"),
        Some("pipeDelimited") if exploded != Some(true) => Style::Joined("%7C"),
        _ if exploded == Some(false) => Style::Joined(","),
        _ => Style::Repeat,
    }
}

/// A hole that the document forgot to declare is a required parameter all the same.
fn add_undeclared_holes(parameters: &mut Vec<(Parameter, InputSchema)>, url: &UrlTemplate) {
    for hole in url.holes() {
        let declared = |(parameter, _): &(Parameter, InputSchema)| {
            parameter.name == hole && parameter.place == Place::Path
        };
        if !parameters.iter().any(declared) {
            let parameter = Parameter {
                name: hole.to_owned(),
                place: Place::Path,
                required: true,
                declared: Declared::default(),
            };
            let schema = json!({"type": ["string", "number"]});
            let schema = InputSchema {
                shown: schema.clone(),
                source: schema,
            };
            parameters.push((parameter, schema));
        }
    }
}

/// Those names of a form that must be given.
pub(super) fn required_names(nodes: &[&Value]) -> Vec<String> {
    let is_required = |node: &&&Value| node.get("required") == Some(&Value::Bool(true));
    nodes
        .iter()
        .filter(is_required)
        .filter_map(|node| name(node))
        .collect()
}

/// The schemas of a form's fields, by name.
pub(super) fn properties(
    document: &Document,
    nodes: &[&Value],
) -> impl Iterator<Item = (String, InputSchema)> {
    nodes
        .iter()
        .filter_map(|node| Some((name(node)?, InputSchema::of_parameter(document, node))))
}

fn name(node: &Value) -> Option<String> {
    node.get("name").and_then(Value::as_str).map(str::to_owned)
}
