//! The backends that are reached over HTTP.

use std::{collections::HashMap, path::PathBuf};

use provost_gateway::backends::{HttpToolConfig, OpenApiConfig, OpenApiSource};
use serde_json::Value;

use super::{
    fields::{Field, Map},
    node::Span,
    reader::Reader,
    secret::Secret,
};

impl Reader<'_> {
    pub(super) fn read_http_tools(&mut self, top: &Map<'_>) -> Vec<HttpToolConfig> {
        let mut names = Names::default();
        let mut tools = Vec::new();
        let Some(field) = top.get("http_tools") else {
            return tools;
        };
        for item in self.items(field) {
            tools.extend(self.read_http_tool(item, &mut names));
        }
        tools
    }

    fn read_http_tool(&mut self, item: Field<'_>, names: &mut Names) -> Option<HttpToolConfig> {
        const KEYS: [&str; 7] = [
            "name",
            "url",
            "method",
            "headers",
            "timeout",
            "description",
            "input_schema",
        ];
        let map = self.map(item, &KEYS)?;
        let name = self
            .require(&map, "name", "an HTTP tool")
            .and_then(|field| self.unique_name(field, names));
        let url = self
            .require(&map, "url", "an HTTP tool")
            .and_then(|field| self.url_template(field));
        let method = map.filled("method").map(|field| self.method(field));
        let headers = self.read_headers(&map);
        let timeout = map.filled("timeout").and_then(|field| self.duration(field));
        let description = map
            .get("description")
            .and_then(|field| self.text(field))
            .unwrap_or_default();
        let input_schema = map
            .get("input_schema")
            .and_then(|field| self.read_schema(field));
        Some(HttpToolConfig {
            name: name?,
            url: url?,
            method: method.flatten().unwrap_or_default(),
            headers,
            timeout,
            description: description.to_owned(),
            input_schema: input_schema.unwrap_or(Value::Null),
        })
    }

    /// A URL with `{argument}` holes.
    fn url_template(&mut self, field: Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        let filled = text.replace(['{', '}'], "x");
        self.check_url(field, &filled).then(|| text.to_owned())
    }

    fn method(&mut self, field: Field<'_>) -> Option<String> {
        const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
        let text = self.text(field)?.to_ascii_uppercase();
        if !METHODS.contains(&text.as_str()) {
            let message = format!("unknown method `{text}`");
            self.error(
                field.node.span,
                message,
                format!("it is one of {}", METHODS.join(", ")),
            );
            return None;
        }
        Some(text)
    }

    fn read_schema(&mut self, field: Field<'_>) -> Option<Value> {
        let schema = self.json(field)?;
        if !schema.is_object() {
            self.expected(
                field,
                "a map",
                "write a JSON schema, such as `{type: object}`",
            );
            return None;
        }
        Some(schema)
    }

    pub(super) fn read_headers(&mut self, map: &Map<'_>) -> Vec<(String, Secret)> {
        map.get("headers")
            .map(|field| self.secret_pairs(field))
            .unwrap_or_default()
    }

    /// A map whose values may be secret: headers, environments.
    pub(super) fn secret_pairs(&mut self, field: Field<'_>) -> Vec<(String, Secret)> {
        self.cover(field.node);
        let mut pairs = Vec::new();
        for (name, _, value) in self.pairs(field) {
            let empty = value.node.is_null()
                || value
                    .node
                    .scalar()
                    .is_some_and(|scalar| scalar.text.is_empty());
            let secret = if empty {
                Some(Secret::new(""))
            } else {
                self.secret(value)
            };
            pairs.extend(secret.map(|secret| (name.to_owned(), secret)));
        }
        pairs
    }

    pub(super) fn read_openapi(&mut self, top: &Map<'_>) -> Vec<OpenApiConfig> {
        let mut documents = Vec::new();
        let Some(field) = top.get("openapi") else {
            return documents;
        };
        for item in self.items(field) {
            documents.extend(self.read_openapi_document(item));
        }
        documents
    }

    fn read_openapi_document(&mut self, item: Field<'_>) -> Option<OpenApiConfig> {
        let map = self.map(
            item,
            &["url", "file", "backend_url", "headers", "name", "timeout"],
        )?;
        let source = match (map.filled("url"), map.filled("file")) {
            (Some(url), None) => self.url(url).map(OpenApiSource::Url),
            (None, Some(file)) => self.existing_file(file).map(OpenApiSource::File),
            (Some(_), Some(file)) => {
                self.error(
                    file.span(),
                    "`url` and `file` both say where the document is",
                    "remove one of them",
                );
                None
            }
            (None, None) => {
                self.error(
                    map.head(),
                    "an OpenAPI document needs `url` or `file`",
                    "add one of them",
                );
                None
            }
        };
        let backend_url = map.filled("backend_url").and_then(|field| self.url(field));
        let headers = self.read_headers(&map);
        let name = map.filled("name").and_then(|field| self.name(field));
        let timeout = map.filled("timeout").and_then(|field| self.duration(field));
        Some(OpenApiConfig {
            source: source?,
            backend_url,
            headers,
            name,
            timeout,
        })
    }

    fn existing_file(&mut self, field: Field<'_>) -> Option<PathBuf> {
        let text = self.text(field)?;
        let path = self.resolve(text);
        if !path.is_file() {
            let message = format!("there is no file `{}`", path.display());
            self.error(
                field.node.span,
                message,
                "paths are relative to this file's folder",
            );
        }
        Some(path)
    }

    /// A name that nothing else in the same list has.
    pub(super) fn unique_name(&mut self, field: Field<'_>, names: &mut Names) -> Option<String> {
        let name = self.name(field)?;
        if let Some(first) = names.0.insert(name.clone(), field.node.span) {
            let help = format!("the other one is at {}", self.name_place(first));
            self.error(
                field.node.span,
                format!("there is another one named `{name}`"),
                help,
            );
        }
        Some(name)
    }
}

/// The names of a list, and where they stand.
#[derive(Default)]
pub(super) struct Names(HashMap<String, Span>);
