//! What an operation takes: its parameters, and its body.

use std::collections::HashMap;

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
    pub(super) style: Style,
    pub(super) declared: Declared,
}

#[derive(Debug, PartialEq)]
pub(super) enum Place {
    Path,
    Query,
    Header(HeaderName),
}

/// How a parameter, or a field of a form, is written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Style {
    /// `a=1&a=2`
    #[default]
    Repeat,
    /// `a=1,2`
    Joined(Separator),
    /// `a[x]=1&a[y]=2`
    Deep,
    /// `a={"x":1}`
    Json,
}

/// What stands between the items of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Separator {
    Comma,
    Space,
    Tab,
    Pipe,
}

impl Separator {
    /// As a server has it once the URL is decoded.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Space => ' ',
            Self::Tab => '\t',
            Self::Pipe => '|',
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Comma => "a comma",
            Self::Space => "a space",
            Self::Tab => "a tab",
            Self::Pipe => "a `|`",
        }
    }

    /// As it stands in a URL.
    pub(super) fn encoded(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Space => "%20",
            Self::Tab => "%09",
            Self::Pipe => "%7C",
        }
    }
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
                let place = place_of(name, place.unwrap_or("query"), required)?;
                let style = style(document, node);
                if let Some(place) = place.filter(|_| style.is_some() || required) {
                    let required = required || place == Place::Path;
                    let style = style.filter(|style| place != Place::Path || *style != Style::Json);
                    let style = style.ok_or_else(|| unwritable(name))?;
                    let schema = InputSchema::of_parameter(document, node);
                    parameters.push((
                        Parameter {
                            name: name.to_owned(),
                            place,
                            required,
                            style,
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
fn place_of(name: &str, place: &str, required: bool) -> Result<Option<Place>, String> {
    match place {
        "path" => Ok(Some(Place::Path)),
        "query" => Ok(Some(Place::Query)),
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

/// None where its `content` is of a type that cannot be written.
fn style(document: &Document, node: &Value) -> Option<Style> {
    let content = node.get("content").and_then(Value::as_object);
    match content.and_then(|content| content.keys().next()) {
        Some(media_type) => body::is_json(media_type).then_some(Style::Json),
        None if document.is_swagger() => Some(collected(node)),
        None => Some(styled(node)),
    }
}

/// `collectionFormat` of Swagger 2.
pub(super) fn collected(node: &Value) -> Style {
    match node.get("collectionFormat").and_then(Value::as_str) {
        Some("multi") => Style::Repeat,
        Some("ssv") => Style::Joined(Separator::Space),
        Some("tsv") => Style::Joined(Separator::Tab),
        Some("pipes") => Style::Joined(Separator::Pipe),
        _ => Style::Joined(Separator::Comma),
    }
}

/// `style` and `explode` of OpenAPI 3.
pub(super) fn styled(node: &Value) -> Style {
    let exploded = node.get("explode").and_then(Value::as_bool);
    match node.get("style").and_then(Value::as_str) {
        Some("deepObject") => Style::Deep,
        Some("spaceDelimited") if exploded != Some(true) => Style::Joined(Separator::Space),
        Some("pipeDelimited") if exploded != Some(true) => Style::Joined(Separator::Pipe),
        _ if exploded == Some(false) => Style::Joined(Separator::Comma),
        _ => Style::Repeat,
    }
}

fn unwritable(name: &str) -> String {
    format!("the `content` of its parameter `{name}` cannot be written there")
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
                style: Style::default(),
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

/// How the fields of a form are written, by name.
pub(super) fn collected_styles(nodes: &[&Value]) -> HashMap<String, Style> {
    let styled = |node: &&Value| Some((name(node)?, collected(node)));
    nodes.iter().filter_map(styled).collect()
}

fn name(node: &Value) -> Option<String> {
    node.get("name").and_then(Value::as_str).map(str::to_owned)
}
