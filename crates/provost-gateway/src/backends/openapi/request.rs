//! From arguments to a request: everything that is wrong with them is told at once.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, header};
use provost_abl::expr::nearest;
use provost_core::{ids::TraceId, ports::ForwardError};
use serde::Serializer as _;
use serde_json::{Map, Value};

use super::{
    Operation,
    body::{Body, Format, WHOLE},
    describe::{Parameter, Place, Style},
};
use crate::backends::{
    declared::{Declared, two_items},
    headers,
    http::argument,
    url::{Query, encode},
};

type Arguments = Map<String, Value>;

impl Operation {
    pub(super) fn request(
        &self,
        arguments: &Arguments,
        trace_id: &TraceId,
    ) -> Result<Request<Bytes>, ForwardError> {
        let mut problems = Vec::new();
        self.check_names(arguments, &mut problems);
        let mut headers = headers::for_call(&self.headers, trace_id);
        let mut query = Query::default();
        self.fill(arguments, &mut headers, &mut query, &mut problems);
        if problems.is_empty() {
            let filled = |name: &str| argument(arguments, name, self.declared(name));
            match self.url.expand(filled, query) {
                Ok(uri) => {
                    let mut request = Request::new(self.write_body(arguments, &mut headers)?);
                    *request.method_mut() = self.method.clone();
                    *request.uri_mut() = uri;
                    *request.headers_mut() = headers;
                    return Ok(request);
                }
                Err(found) => problems.extend(found),
            }
        }
        Err(ForwardError::Arguments(problems.join("; ")))
    }

    /// Names that mean nothing, and names that are missing.
    fn check_names(&self, arguments: &Arguments, problems: &mut Vec<String>) {
        for name in arguments.keys().filter(|name| !self.knows(name)) {
            let known = self.known_names();
            let meant = nearest(name, known)
                .map(|near| format!(", did you mean `{near}`?"))
                .unwrap_or_default();
            problems.push(format!("unknown argument `{name}`{meant}"));
        }
        let absent = |name: &str| arguments.get(name).is_none_or(Value::is_null);
        let mut missing: Vec<&str> = self
            .parameters
            .iter()
            .filter(|parameter| parameter.required && absent(&parameter.name))
            .map(|parameter| parameter.name.as_str())
            .collect();
        // Null may be a value of a body, so here only what is not there is missing.
        let needed = self.body.iter().filter(|body| self.sends(body, arguments));
        missing.extend(
            needed
                .flat_map(needed_names)
                .filter(|name| !arguments.contains_key(*name)),
        );
        if !missing.is_empty() {
            let missing: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
            problems.push(format!("missing {}", missing.join(", ")));
        }
    }

    fn fill(
        &self,
        arguments: &Arguments,
        headers: &mut HeaderMap,
        query: &mut Query,
        problems: &mut Vec<String>,
    ) {
        for parameter in &self.parameters {
            let name = &parameter.name;
            let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else {
                continue;
            };
            match &parameter.place {
                Place::Path => {}
                Place::Query => {
                    let pushed =
                        push_styled(query, name, value, parameter.style, &parameter.declared);
                    problems.extend(pushed.err());
                }
                Place::Header(header) => match header_value(parameter, value) {
                    Ok(value) => {
                        headers.insert(header, value);
                    }
                    Err(problem) => problems.push(problem),
                },
            }
        }
    }

    fn write_body(
        &self,
        arguments: &Arguments,
        headers: &mut HeaderMap,
    ) -> Result<Bytes, ForwardError> {
        let body = self.body.as_ref();
        let Some(body) = body.filter(|body| self.sends(body, arguments)) else {
            return Ok(Bytes::new());
        };
        if let Ok(content_type) = HeaderValue::from_str(&body.content_type) {
            headers.entry(header::CONTENT_TYPE).or_insert(content_type);
        }
        let whole = arguments.get(WHOLE).filter(|_| body.is_whole());
        let written = match (body.format, whole) {
            (Format::Json, Some(whole)) => serde_json::to_vec(whole),
            (Format::Json, None) => {
                let mut text = Vec::with_capacity(128);
                let properties = self.body_properties(arguments);
                serde_json::Serializer::new(&mut text)
                    .collect_map(properties)
                    .map(|()| text)
            }
            (Format::Form, Some(Value::Object(fields))) => Ok(form(body, fields.iter())?),
            (Format::Form, Some(_)) => {
                return Err(ForwardError::Arguments(format!(
                    "`{WHOLE}` must be an object of the form's fields"
                )));
            }
            (Format::Form, None) => Ok(form(body, self.body_properties(arguments))?),
        };
        written
            .map(Bytes::from)
            .map_err(|error| ForwardError::Failed(error.to_string()))
    }

    /// Whether the request has a body: one that need not be given has nothing of it among the arguments.
    pub(super) fn sends(&self, body: &Body, arguments: &Arguments) -> bool {
        let is_given = |name: &String| self.is_property(name) || self.is_whole_body(name);
        body.required || arguments.keys().any(is_given)
    }

    pub(super) fn body_properties<'a>(
        &'a self,
        arguments: &'a Arguments,
    ) -> impl Iterator<Item = (&'a String, &'a Value)> {
        arguments.iter().filter(|(name, _)| self.is_property(name))
    }

    pub(super) fn is_property(&self, name: &str) -> bool {
        let properties = self.body.as_ref().and_then(|body| body.properties.as_ref());
        !self.is_parameter(name) && properties.is_some_and(|properties| properties.has(name))
    }

    fn is_whole_body(&self, name: &str) -> bool {
        name == WHOLE && self.body.as_ref().is_some_and(Body::is_whole)
    }

    fn declared(&self, name: &str) -> &Declared {
        let parameter = self
            .parameters
            .iter()
            .find(|parameter| parameter.name == name && parameter.place == Place::Path);
        parameter.map_or(Declared::undeclared(), |parameter| &parameter.declared)
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.parameters
            .iter()
            .any(|parameter| parameter.name == name)
    }

    fn knows(&self, name: &str) -> bool {
        self.is_parameter(name) || self.is_property(name) || self.is_whole_body(name)
    }

    fn known_names(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter().map(|parameter| &*parameter.name);
        parameters.chain(self.body.iter().flat_map(body_names))
    }
}

/// The arguments that are the body or parts of it, as far as their names are known.
fn body_names(body: &Body) -> Vec<&str> {
    let properties = body.properties.as_ref();
    properties.map_or(vec![WHOLE], |properties| texts(&properties.names))
}

/// Those of them that a body cannot do without.
fn needed_names(body: &Body) -> Vec<&str> {
    let properties = body.properties.as_ref();
    properties.map_or(vec![WHOLE], |properties| texts(&properties.required))
}

fn texts(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Servers drop blanks around it, and would then read another text than the one that was decided about.
fn header_value(parameter: &Parameter, value: &Value) -> Result<HeaderValue, String> {
    let name = &parameter.name;
    let text = match parameter.style {
        Style::Json => value.to_string().into(),
        _ => parameter.declared.joined(name, value)?,
    };
    let is_joined = parameter.declared.is_list() && parameter.style != Style::Json;
    let mut pieces = text.split(|letter| is_joined && letter == ',');
    let is_bare = pieces.all(|piece| piece.trim_matches([' ', '\t']) == piece);
    let header = HeaderValue::from_str(&text).ok().filter(|_| is_bare);
    header.ok_or_else(|| {
        format!(
            "`{name}` is sent as a header and must be printable ASCII in one line, without blanks around it"
        )
    })
}

fn push_styled(
    query: &mut Query,
    name: &str,
    value: &Value,
    style: Style,
    declared: &Declared,
) -> Result<(), String> {
    match (style, declared.members(value)) {
        (Style::Deep, Some(members)) => {
            for (key, value) in members {
                if !declared.has_field(key) && !key.split('.').all(is_word) {
                    return Err(unclear(key));
                }
                query.push_value(&format!("{name}[{key}]"), value, declared.field(key))?;
            }
            Ok(())
        }
        (Style::Joined(separator), None) => {
            let texts = declared.texts(name, value)?;
            let mut pieces = Vec::with_capacity(texts.len() * 2);
            for (at, text) in texts.iter().enumerate() {
                if declared.is_list() && text.contains(separator.letter()) {
                    return Err(two_items(name, separator.name()));
                }
                if at > 0 {
                    pieces.push(separator.encoded());
                }
                pieces.extend(encode(text));
            }
            query.push_encoded(name, pieces);
            Ok(())
        }
        (Style::Json, _) => {
            query.push(name, &value.to_string());
            Ok(())
        }
        _ => query.push_value(name, value, declared),
    }
}

fn form<'a>(
    body: &Body,
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
) -> Result<Vec<u8>, ForwardError> {
    let mut form = Query::default();
    for (name, value) in fields {
        let declared = body.declared.get(name);
        if declared.is_none() && !is_word(name) {
            return Err(ForwardError::Arguments(unclear(name)));
        }
        let declared = declared.unwrap_or(Declared::undeclared());
        let style = body.styles.get(name).copied().unwrap_or_default();
        push_styled(&mut form, name, value, style, declared).map_err(ForwardError::Arguments)?;
    }
    Ok(form.into_text().into_bytes())
}

/// A name that the document does not know must be a plain word. Servers read structure from others, and so
/// another name than the one that was decided about: `env][` in `f[env][]`, ` env`, `my.env`.
fn is_word(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    !name.is_empty() && name.chars().all(is_plain)
}

fn unclear(name: &str) -> String {
    format!(
        "`{name}` is not a name of the document, and servers may read it as another: \
         use letters, digits, `_` and `-`"
    )
}
