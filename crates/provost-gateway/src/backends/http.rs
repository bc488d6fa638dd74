//! HTTP tools: one URL, one method, the arguments as JSON body or as query.

use std::{borrow::Cow, collections::HashMap, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use provost_core::{
    gate::Permit,
    ids::TraceId,
    ports::{Backend, ForwardError, Forwarded, ToolInfo},
};
use serde::Serializer as _;
use serde_json::{Map, Value};

use super::{
    BackendError,
    declared::Declared,
    headers,
    schema::Schema,
    url::{Query, UrlTemplate},
};
use crate::{
    secret::Secret,
    web::{DEFAULT_TIMEOUT, Web},
};

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");

#[derive(Clone, Debug)]
pub struct HttpToolConfig {
    pub name: String,
    /// `{name}` is replaced by the argument of that name, percent-encoded.
    pub url: String,
    /// `POST` when empty. `GET`, `HEAD` and `DELETE` send the arguments as query.
    pub method: String,
    pub headers: Vec<(String, Secret)>,
    pub timeout: Option<Duration>,
    pub description: String,
    /// JSON schema of the arguments, shown to agents and enforced; null when unknown.
    pub input_schema: Value,
}

pub(super) struct HttpTool {
    info: ToolInfo,
    method: Method,
    url: UrlTemplate,
    /// The whole URL, when no argument is part of it.
    fixed: Option<Uri>,
    headers: HeaderMap,
    timeout: Duration,
    web: Web,
    schema: Option<Schema>,
    /// What the schema declares of each argument.
    declared: HashMap<String, Declared>,
}

impl HttpTool {
    pub(super) fn build(config: HttpToolConfig, web: &Web) -> Result<Self, Vec<BackendError>> {
        let mut problems = Vec::new();
        let method = method(&config.method)
            .map_err(|problem| problems.push(problem))
            .ok();
        let headers = headers::configured(&config.headers)
            .map_err(|all| problems.extend(all))
            .ok();
        let url = UrlTemplate::parse(&config.url)
            .and_then(|url| web.prepare(url.origin()).map(|()| url))
            .map_err(|problem| problems.push(problem))
            .ok();
        let schema = Schema::compile(&config.input_schema)
            .map_err(|why| problems.push(format!("`input_schema` cannot be read: {why}")))
            .ok();
        let (Some(method), Some(headers), Some(url), Some(schema)) = (method, headers, url, schema)
        else {
            return Err(problems
                .into_iter()
                .map(|problem| BackendError::fatal(&config.name, problem))
                .collect());
        };
        let declared = Declared::fields(&config.input_schema);
        let fixed = url.expand(|_| Err(String::new()), Query::default()).ok();
        let info = ToolInfo {
            name: config.name,
            description: config.description,
            source: "http",
            input_schema: config.input_schema,
        };
        let timeout = config.timeout.unwrap_or(DEFAULT_TIMEOUT);
        Ok(Self {
            info,
            method,
            url,
            fixed,
            headers,
            timeout,
            web: web.clone(),
            schema,
            declared,
        })
    }

    fn declared(&self, name: &str) -> &Declared {
        self.declared.get(name).unwrap_or(Declared::undeclared())
    }

    async fn execute(
        &self,
        params: &Map<String, Value>,
        trace_id: &TraceId,
    ) -> Result<Forwarded, ForwardError> {
        let request = self.request(params, trace_id)?;
        self.web.forward(request, self.timeout).await
    }

    fn request(
        &self,
        params: &Map<String, Value>,
        trace_id: &TraceId,
    ) -> Result<Request<Bytes>, ForwardError> {
        let mut headers = headers::for_call(&self.headers, trace_id);
        let mut body = Bytes::new();
        if takes_body(&self.method) {
            body = self.body(params)?;
            headers.entry(header::CONTENT_TYPE).or_insert(JSON);
        }
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = headers;
        *request.uri_mut() = self.uri(params).map_err(ForwardError::Arguments)?;
        Ok(request)
    }

    /// The URL with the arguments that belong there, or everything that stands against it.
    fn uri(&self, params: &Map<String, Value>) -> Result<Uri, String> {
        let mut query = Query::default();
        let mut problems = Vec::new();
        if !takes_body(&self.method) {
            for (name, value) in params.iter().filter(|(name, _)| !self.url.has_hole(name)) {
                let pushed = query.push_value(name, value, self.declared(name));
                problems.extend(pushed.err());
            }
        }
        if let Some(fixed) = &self.fixed
            && query.is_empty()
            && problems.is_empty()
        {
            return Ok(fixed.clone());
        }
        let value = |name: &str| argument(params, name, self.declared(name));
        let expanded = self.url.expand(value, query);
        match expanded {
            Ok(uri) if problems.is_empty() => Ok(uri),
            expanded => {
                problems.extend(expanded.err().into_iter().flatten());
                Err(problems.join("; "))
            }
        }
    }

    /// The arguments that are not part of the URL.
    fn body(&self, params: &Map<String, Value>) -> Result<Bytes, ForwardError> {
        let written = if self.fixed.is_some() {
            serde_json::to_vec(params)
        } else {
            let mut text = Vec::with_capacity(128);
            let rest = params.iter().filter(|(name, _)| !self.url.has_hole(name));
            serde_json::Serializer::new(&mut text)
                .collect_map(rest)
                .map(|()| text)
        };
        written
            .map(Bytes::from)
            .map_err(|error| ForwardError::Failed(error.to_string()))
    }
}

#[async_trait]
impl Backend for HttpTool {
    fn tools(&self) -> Vec<ToolInfo> {
        vec![self.info.clone()]
    }

    fn has(&self, tool: &str) -> bool {
        self.info.name == tool
    }

    fn check(&self, _tool: &str, arguments: &Value) -> Result<(), String> {
        if let Some(schema) = &self.schema {
            schema.check(arguments)?;
        }
        // Where everything goes into the body, nothing else can be wrong.
        if takes_body(&self.method) && self.fixed.is_some() {
            return Ok(());
        }
        let params = arguments.as_object().ok_or("arguments are an object")?;
        self.uri(params).map(|_| ())
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        self.execute(&permit.call().params, permit.trace_id()).await
    }
}

/// The argument that fills a hole of the URL.
pub(super) fn argument<'p>(
    params: &'p Map<String, Value>,
    name: &str,
    declared: &Declared,
) -> Result<Cow<'p, str>, String> {
    match params.get(name) {
        None | Some(Value::Null) => Err(format!("`{name}` is missing")),
        Some(value) => declared.joined(name, value),
    }
}

fn takes_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}

fn method(name: &str) -> Result<Method, String> {
    const KNOWN: [Method; 6] = [
        Method::GET,
        Method::HEAD,
        Method::DELETE,
        Method::POST,
        Method::PUT,
        Method::PATCH,
    ];
    if name.is_empty() {
        return Ok(Method::POST);
    }
    KNOWN
        .into_iter()
        .find(|method| method.as_str().eq_ignore_ascii_case(name))
        .ok_or_else(|| format!("method `{name}` is not one of GET, HEAD, DELETE, POST, PUT, PATCH"))
}

#[cfg(test)]
mod tests;
