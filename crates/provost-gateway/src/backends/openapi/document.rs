//! An OpenAPI document: where it comes from, its text as a tree, and its `$ref`s.

use std::{path::Path, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::OpenApiSource;
use crate::yaml;
use crate::{
    backends::{BackendError, url::UrlTemplate},
    web::Web,
};

const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;
const FETCH_TIMEOUT: Duration = Duration::from_secs(15);
/// How many references may follow one another.
const MAX_CHAIN: usize = 16;

pub(super) struct Document {
    root: Value,
    /// Where it was fetched, for what it says relative to itself.
    pub(super) location: Option<Uri>,
}

/// Why a document cannot be used.
#[derive(Debug)]
pub(super) enum LoadFailure {
    /// It may be there next time.
    Unavailable(String),
    Wrong(String),
}

impl LoadFailure {
    pub(super) fn into_error(self, label: &str) -> BackendError {
        match self {
            Self::Unavailable(problem) => BackendError::warning(label, problem),
            Self::Wrong(problem) => BackendError::fatal(label, problem),
        }
    }
}

impl Document {
    pub(super) async fn load(source: &OpenApiSource, web: &Web) -> Result<Self, LoadFailure> {
        let (text, location) = match source {
            OpenApiSource::File(path) => (read(path).await?, None),
            OpenApiSource::Url(url) => {
                let (text, location) = fetch(url, web).await?;
                (text, Some(location))
            }
        };
        Self::parse(&text, location).map_err(LoadFailure::Wrong)
    }

    pub(super) fn parse(text: &[u8], location: Option<Uri>) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| "the document is not UTF-8")?;
        let text = text.trim_start_matches('\u{feff}');
        let root: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text)
                .map_err(|error| format!("the document is not valid JSON: {error}"))?
        } else {
            yaml::parse(text).map_err(|error| format!("the document is not valid YAML: {error}"))?
        };
        let version = root.get("openapi").or_else(|| root.get("swagger"));
        match version.and_then(Value::as_str) {
            Some(version) if version.starts_with("3.") || version == "2.0" => {}
            Some(version) => {
                return Err(format!("version `{version}` is not one of 2.0, 3.0, 3.1"));
            }
            None => {
                return Err(
                    "the document has neither `openapi` nor `swagger` with a version as text"
                        .into(),
                );
            }
        }
        if !root.get("paths").is_some_and(Value::is_object) {
            return Err("the document has no `paths`".into());
        }
        Ok(Self { root, location })
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    pub(super) fn is_swagger(&self) -> bool {
        self.root.get("swagger").is_some()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.root.get("paths").and_then(Value::as_object);
        paths
            .into_iter()
            .flatten()
            .map(|(path, item)| (path.as_str(), item))
    }

    /// What a node stands for: itself, or what its chain of `$ref`s leads to within the document.
    pub(super) fn resolve<'d>(&'d self, node: &'d Value) -> Option<&'d Value> {
        let mut node = node;
        for _ in 0..MAX_CHAIN {
            match reference(node) {
                Some(reference) => node = self.target(reference)?,
                None => return Some(node),
            }
        }
        None
    }

    pub(super) fn target(&self, reference: &str) -> Option<&Value> {
        let pointer = percent_decode_str(reference.strip_prefix('#')?)
            .decode_utf8()
            .ok()?;
        self.root.pointer(&pointer)
    }
}

pub(super) fn reference(node: &Value) -> Option<&str> {
    node.get("$ref").and_then(Value::as_str)
}

async fn read(path: &Path) -> Result<Bytes, LoadFailure> {
    let unreadable =
        |error| LoadFailure::Wrong(format!("cannot read `{}`: {error}", path.display()));
    let length = tokio::fs::metadata(path).await.map_err(unreadable)?.len();
    if length > MAX_DOCUMENT {
        return Err(LoadFailure::Wrong(format!(
            "the document is larger than {MAX_DOCUMENT} bytes"
        )));
    }
    tokio::fs::read(path)
        .await
        .map(Bytes::from)
        .map_err(unreadable)
}

async fn fetch(url: &str, web: &Web) -> Result<(Bytes, Uri), LoadFailure> {
    UrlTemplate::parse(url)
        .and_then(|checked| web.prepare(checked.origin()))
        .map_err(LoadFailure::Wrong)?;
    let uri: Uri = url
        .parse()
        .map_err(|_| LoadFailure::Wrong("the URL is malformed".into()))?;
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = uri.clone();
    let answer = web
        .exchange(request, FETCH_TIMEOUT, MAX_DOCUMENT)
        .await
        .map_err(|error| LoadFailure::Unavailable(format!("cannot fetch the document: {error}")))?;
    match answer.status {
        StatusCode::OK => Ok((answer.body, uri)),
        status if status.is_redirection() => Err(LoadFailure::Wrong(format!(
            "the document has moved (status {}): give the URL it has moved to",
            status.as_u16()
        ))),
        status => Err(LoadFailure::Unavailable(format!(
            "fetching the document was answered with {}",
            status.as_u16()
        ))),
    }
}
