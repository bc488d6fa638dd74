//! OpenAPI 2.0, 3.0 and 3.1: every operation of a document becomes a tool.
//!
//! `document` is the text as a tree, `describe` reads what an operation takes, `schema` shows it to
//! agents, `checks` holds arguments against it, `request` makes a request of them. An operation that cannot be served (a multipart
//! body, a required cookie) is left out with a warning, never served half.

mod base;
mod body;
mod checks;
mod describe;
mod document;
mod request;
mod schema;
mod shape;

use std::{path::PathBuf, time::Duration};

use async_trait::async_trait;
use http::{HeaderMap, Method};
use provost_core::{
    gate::Permit,
    ids::TraceId,
    ports::{Backend, ForwardError, Forwarded, ToolInfo},
};
use serde_json::{Map, Value};

use self::{body::Body, checks::Checks, describe::Parameter, document::Document};
use super::{BackendError, headers, url::UrlTemplate};
use crate::{
    secret::Secret,
    web::{DEFAULT_TIMEOUT, Web},
};

/// The methods that become tools.
const METHODS: [(&str, Method); 5] = [
    ("get", Method::GET),
    ("put", Method::PUT),
    ("post", Method::POST),
    ("delete", Method::DELETE),
    ("patch", Method::PATCH),
];

#[derive(Clone, Debug)]
pub struct OpenApiConfig {
    pub source: OpenApiSource,
    /// Where the operations are called; by default where the document says.
    pub backend_url: Option<String>,
    /// Sent with every call of an operation, but not when the document is fetched.
    pub headers: Vec<(String, Secret)>,
    /// Put before the names of all operations: `pets` makes `listPets` the tool `pets.list_pets`.
    pub name: Option<String>,
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
pub enum OpenApiSource {
    Url(String),
    File(PathBuf),
}

pub(super) struct Operation {
    info: ToolInfo,
    method: Method,
    url: UrlTemplate,
    parameters: Vec<Parameter>,
    body: Option<Body>,
    headers: HeaderMap,
    timeout: Duration,
    web: Web,
    checks: Checks,
}

/// What all operations of one document share.
struct Common<'c> {
    base: String,
    prefix: Option<&'c str>,
    headers: HeaderMap,
    timeout: Duration,
    web: &'c Web,
}

/// The operations that can be served, and everything that is wrong with the document or the others.
pub(super) async fn build(config: OpenApiConfig, web: &Web) -> (Vec<Operation>, Vec<BackendError>) {
    let label = label(&config);
    let document = match Document::load(&config.source, web).await {
        Ok(document) => document,
        Err(failure) => return (Vec::new(), vec![failure.into_error(&label)]),
    };
    let mut problems = Vec::new();
    let headers = headers::configured(&config.headers)
        .map_err(|found| problems.extend(found))
        .ok();
    let base = base::of(&document, config.backend_url.as_deref())
        .and_then(|base| {
            web.prepare(UrlTemplate::parse(&base)?.origin())
                .map(|()| base)
        })
        .map_err(|problem| problems.push(problem))
        .ok();
    let (Some(headers), Some(base)) = (headers, base) else {
        return (
            Vec::new(),
            problems
                .into_iter()
                .map(|problem| BackendError::fatal(&label, problem))
                .collect(),
        );
    };
    let timeout = config.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let common = Common {
        base,
        prefix: config.name.as_deref(),
        headers,
        timeout,
        web,
    };
    let (operations, left_out) = operations(&document, &common);
    (
        operations,
        left_out
            .into_iter()
            .map(|problem| BackendError::warning(&label, problem))
            .collect(),
    )
}

fn operations(document: &Document, common: &Common<'_>) -> (Vec<Operation>, Vec<String>) {
    let mut operations = Vec::new();
    let mut left_out = Vec::new();
    for (path, item) in document.paths() {
        let Some(item) = document.resolve(item) else {
            left_out.push(format!(
                "path `{path}` is not served: its `$ref` leads nowhere in this document"
            ));
            continue;
        };
        for (key, method) in METHODS {
            let Some(operation) = item.get(key).filter(|operation| operation.is_object()) else {
                continue;
            };
            match Operation::build(document, common, (path, item), (key, method, operation)) {
                Ok((operation, unchecked)) => {
                    let name = &operation.info.name;
                    let unchecked = unchecked.into_iter();
                    left_out.extend(
                        unchecked.map(|how| format!("the arguments of `{name}` are {how}")),
                    );
                    operations.push(operation);
                }
                Err(why) => left_out.push(format!("operation `{key} {path}` is not served: {why}")),
            }
        }
    }
    (operations, left_out)
}

impl Operation {
    fn build(
        document: &Document,
        common: &Common<'_>,
        (path, item): (&str, &Value),
        (key, method, operation): (&str, Method, &Value),
    ) -> Result<(Self, Vec<String>), String> {
        let slash = if path.starts_with('/') { "" } else { "/" };
        let url = UrlTemplate::parse(&format!("{}{slash}{path}", common.base))?;
        let described = describe::inputs(document, item, operation, &url)?;
        let parameters: Vec<_> = described
            .parameters
            .into_iter()
            // What the operator sends, the agent need not and may not.
            .filter(|(parameter, _)| !parameter.is_header_in(&common.headers))
            .collect();
        let body = described.body.map(|body| body.beside(&parameters));
        let body = body.transpose()?;
        let text = |key: &str| {
            operation
                .get(key)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
        };
        let name = tool_name(key, path, text("operationId"));
        let info = ToolInfo {
            name: common
                .prefix
                .map_or_else(|| name.clone(), |prefix| format!("{prefix}.{name}")),
            description: text("summary")
                .or_else(|| text("description"))
                .unwrap_or_default()
                .to_owned(),
            source: "openapi",
            input_schema: schema::of_inputs(&parameters, body.as_ref()),
        };
        let (checks, unchecked) = Checks::of(document, &parameters, body.as_ref());
        let operation = Self {
            info,
            method,
            url,
            parameters: parameters
                .into_iter()
                .map(|(parameter, _)| parameter)
                .collect(),
            body: body.map(|described| described.body),
            headers: common.headers.clone(),
            timeout: common.timeout,
            web: common.web.clone(),
            checks,
        };
        Ok((operation, unchecked))
    }

    async fn execute(
        &self,
        params: &Map<String, Value>,
        trace_id: &TraceId,
    ) -> Result<Forwarded, ForwardError> {
        let request = self.request(params, trace_id)?;
        self.web.forward(request, self.timeout).await
    }
}

#[async_trait]
impl Backend for Operation {
    fn tools(&self) -> Vec<ToolInfo> {
        vec![self.info.clone()]
    }

    fn has(&self, tool: &str) -> bool {
        self.info.name == tool
    }

    fn check(&self, _tool: &str, arguments: &Value) -> Result<(), String> {
        let given = arguments.as_object().ok_or("arguments are an object")?;
        // The request is made and thrown away: what it would be refused for is known before the decision.
        self.request(given, &TraceId::from(""))
            .map_err(|error| error.to_string())?;
        self.check_schemas(arguments)
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        self.execute(&permit.call().params, permit.trace_id()).await
    }
}

/// The ancestor's names, so that its policies keep matching: the operation's id in snake case, with a
/// `_` before every capital letter; without an id, the method and the path.
fn tool_name(method: &str, path: &str, operation_id: Option<&str>) -> String {
    let mut name = String::new();
    if let Some(id) = operation_id {
        for (at, letter) in id.char_indices() {
            if at > 0 && letter.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        return name;
    }
    let path = path.replace(['/', '-'], "_").replace(['{', '}'], "");
    format!("{method}_{}", path.trim_matches('_'))
}

/// How problems name the document: without the query of its URL, which may hold a key.
fn label(config: &OpenApiConfig) -> String {
    match (&config.name, &config.source) {
        (Some(name), _) => name.clone(),
        (None, OpenApiSource::Url(url)) => {
            url.split(['?', '#']).next().unwrap_or_default().to_owned()
        }
        (None, OpenApiSource::File(path)) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests;
