//! Talking to the gateway over its public HTTP API: JSON in and out, lines that stream, and errors that
//! say what to do.

mod connector;
mod error;
mod feed;
mod lines;
mod proof;
mod target;

use std::{fmt, path::Path, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client as Pool, Error as PoolError},
    rt::TokioExecutor,
};
use provost_gateway::secret::Secret;
use serde_json::Value;

pub(crate) use connector::Connector;
use error::AskedWith;
pub(crate) use error::{ClientError, Refusal};
pub(crate) use feed::{Events, Feed};
pub(crate) use lines::Lines;
pub(crate) use target::Target;

const PATIENCE: Duration = Duration::from_mins(1);
/// A page of a thousand approvals with large arguments stays below this.
const LARGEST_ANSWER: usize = 256 * 1024 * 1024;

/// A secret that goes into one header, and is shown nowhere.
#[derive(Clone)]
pub(crate) struct Key(HeaderValue);

impl Key {
    /// `None`: no key looks like that.
    pub(crate) fn new(secret: &str) -> Option<Self> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", secret.trim())).ok()?;
        value.set_sensitive(true);
        Some(Self(value))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// A JSON answer of the gateway.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    url: String,
    status: StatusCode,
}

impl Answer {
    /// The body, if it says all that the gateway says there. What else answers 200 has done nothing.
    pub(crate) fn having(self, fields: &[&str]) -> Result<Value, ClientError> {
        if fields.iter().all(|field| self.body.get(field).is_some()) {
            return Ok(self.body);
        }
        Err(ClientError::NotOurs {
            url: self.url,
            status: self.status,
        })
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    /// Scheme and authority, and a path where the gateway stands behind one; no slash at the end.
    base: String,
    key: Option<Key>,
    connector: Connector,
    http: Http,
    patience: Duration,
    verbose: bool,
}

#[derive(Clone)]
enum Http {
    Plain(Pool<Connector, Full<Bytes>>),
    Secure(Pool<HttpsConnector<Connector>, Full<Bytes>>),
}

impl Http {
    fn new(scheme: Option<&str>, connector: Connector) -> Result<Self, ClientError> {
        let pool = Pool::builder(TokioExecutor::new());
        match scheme {
            Some("http") => Ok(Self::Plain(pool.build(connector))),
            Some("https") => Ok(Self::Secure(pool.build(secure(connector)?))),
            _ => Err(ClientError::BadUrl),
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, PoolError> {
        match self {
            Self::Plain(pool) => pool.request(request).await,
            Self::Secure(pool) => pool.request(request).await,
        }
    }
}

impl Client {
    pub(crate) fn new(url: &str, key: Option<Key>) -> Result<Self, ClientError> {
        Self::over(Connector::new(), url, key)
    }

    /// Sends nothing on a connection before the gateway has proved there that it is the one of this data folder.
    pub(crate) fn proven_by(
        data: &Path,
        admin_key: &Secret,
        url: &str,
        key: Key,
    ) -> Result<Self, ClientError> {
        Self::over(Connector::proven_by(data, admin_key), url, Some(key))
    }

    fn over(connector: Connector, url: &str, key: Option<Key>) -> Result<Self, ClientError> {
        let uri: Uri = url.parse().map_err(|_| ClientError::BadUrl)?;
        let has_host = uri
            .authority()
            .is_some_and(|host| !host.as_str().contains('@'));
        // `Uri` leaves out a fragment without a word.
        if !has_host || uri.query().is_some() || url.contains('#') {
            return Err(ClientError::BadUrl);
        }
        Ok(Self {
            base: url.trim_end_matches('/').to_owned(),
            key,
            http: Http::new(uri.scheme_str(), connector.clone())?,
            connector,
            patience: PATIENCE,
            verbose: false,
        })
    }

    /// How long one answer may take.
    pub(crate) fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same gateway, with another key.
    pub(crate) fn with_key(&self, key: Key) -> Self {
        Self {
            key: Some(key),
            ..self.clone()
        }
    }

    /// How it is connected to, for another client of the same gateway.
    pub(crate) fn connector(&self) -> Connector {
        self.connector.clone()
    }

    /// Tells each request on stderr.
    pub(crate) fn telling(mut self, verbose: bool) -> Self {
        self.verbose = verbose;
        self
    }

    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    fn asked_with(&self) -> AskedWith {
        let variable = || Key::new(&std::env::var("PROVOST_KEY").ok()?);
        match &self.key {
            None => AskedWith::NoKey,
            Some(key) if variable().is_some_and(|variable| variable.0 == key.0) => {
                AskedWith::Variable
            }
            Some(_) => AskedWith::Key,
        }
    }

    pub(crate) async fn get(&self, target: Target) -> Result<Answer, ClientError> {
        self.exchange(Method::GET, target, None).await
    }

    pub(crate) async fn post(&self, target: Target, body: &Value) -> Result<Answer, ClientError> {
        self.exchange(Method::POST, target, Some(body)).await
    }

    pub(crate) async fn delete(&self, target: Target) -> Result<Answer, ClientError> {
        self.exchange(Method::DELETE, target, None).await
    }

    /// An answer that streams, line by line.
    pub(crate) async fn lines(&self, target: Target) -> Result<Lines, ClientError> {
        Ok(Lines::new(
            self.send(Method::GET, target, &[], None).await?.into_body(),
        ))
    }

    async fn exchange(
        &self,
        method: Method,
        target: Target,
        body: Option<&Value>,
    ) -> Result<Answer, ClientError> {
        let changes = method != Method::GET;
        let response = self.send(method, target, &[], body).await?;
        let (head, body) = response.into_parts();
        let body = self.read(body).await?;
        let body = serde_json::from_slice::<Value>(&body).ok();
        // Whatever was changed, the gateway tells in an object.
        let body = body.filter(|body| !changes || body.is_object());
        let body = body.ok_or_else(|| ClientError::NotOurs {
            url: self.base.clone(),
            status: head.status,
        })?;
        Ok(Answer {
            headers: head.headers,
            body,
            url: self.base.clone(),
            status: head.status,
        })
    }

    /// The answer's head; a refusal is an error.
    async fn send(
        &self,
        method: Method,
        target: Target,
        headers: &[(&'static str, HeaderValue)],
        body: Option<&Value>,
    ) -> Result<Response<Incoming>, ClientError> {
        let body = body
            .map(|body| Bytes::from(body.to_string()))
            .unwrap_or_default();
        let response = self.raw(method, target, headers, body).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        let body = self.read(body).await?;
        Err(ClientError::refused(
            &self.base,
            head.status,
            &body,
            self.asked_with(),
        ))
    }

    /// The answer's head, whatever it is.
    pub(crate) async fn raw(
        &self,
        method: Method,
        target: Target,
        headers: &[(&'static str, HeaderValue)],
        body: Bytes,
    ) -> Result<Response<Incoming>, ClientError> {
        let told = self
            .verbose
            .then(|| format!("{method} {}{target}", self.base));
        let size = body.len();
        let request = self.request(method, &target, headers, body)?;
        let response = tokio::time::timeout(self.patience, self.http.send(request))
            .await
            .map_err(|_| ClientError::Slow {
                url: self.base.clone(),
                patience: self.patience,
            })?
            .map_err(|error| ClientError::unanswered(&self.base, &error, size))?;
        if let Some(told) = told {
            crate::output::note(format_args!("{told}: {}", response.status()));
        }
        Ok(response)
    }

    fn request(
        &self,
        method: Method,
        target: &Target,
        headers: &[(&'static str, HeaderValue)],
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{target}", self.base));
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key.0.clone());
        }
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, value.clone());
        }
        request
            .body(Full::new(body))
            .map_err(|_| ClientError::BadUrl)
    }

    async fn read(&self, body: Incoming) -> Result<Bytes, ClientError> {
        let read = Limited::new(body, LARGEST_ANSWER).collect();
        let body = tokio::time::timeout(self.patience, read)
            .await
            .map_err(|_| ClientError::Slow {
                url: self.base.clone(),
                patience: self.patience,
            })?;
        Ok(body.map_err(|_| ClientError::BrokeOff)?.to_bytes())
    }
}

fn secure(connector: Connector) -> Result<HttpsConnector<Connector>, ClientError> {
    let provider = rustls::crypto::ring::default_provider();
    let builder = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(provider)
        .map_err(|error| ClientError::NoCertificates(error.to_string()))?;
    Ok(builder
        .https_only()
        .enable_http1()
        .wrap_connector(connector))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_plain_urls_of_gateways_are_taken() {
        for (url, good) in [
            ("http://127.0.0.1:9090", true),
            ("http://localhost:9090/", true),
            ("https://gate.example.com/provost", true),
            ("127.0.0.1:9090", false),
            ("ftp://host", false),
            ("http://user:secret@host", false),
            ("http://host/?a=b", false),
            ("", false),
        ] {
            assert_eq!(Client::new(url, None).is_ok(), good, "{url}");
        }
    }

    #[test]
    fn p06_an_answer_that_says_something_else_is_not_the_gateways() {
        for (body, ours) in [
            (json!({"stopped": "everything", "denied": 0}), true),
            (json!({"stopped": "everything"}), false),
            (json!({}), false),
            (json!([]), false),
            (json!("stopped"), false),
        ] {
            let answer = Answer {
                headers: HeaderMap::new(),
                body: body.clone(),
                url: "http://gate".to_owned(),
                status: StatusCode::OK,
            };
            let had = answer.having(&["stopped", "denied"]);
            assert_eq!(had.is_ok(), ours, "{body}");
        }
    }

    #[test]
    fn a_key_never_prints() {
        let key = Key::new("pvk_secret\n").unwrap();
        assert_eq!(format!("{key:?} {:?}", key.0), "[key] Sensitive");
        assert!(Key::new("two\nlines").is_none());
    }
}
