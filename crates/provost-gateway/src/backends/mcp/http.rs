//! A server over streamable HTTP: what `rmcp` asks of an HTTP client, on our own.

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use provost_core::ports::ForwardError;
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;
use tokio::sync::Notify;

use super::{
    events::{Broken, events},
    tap::Tap,
    trouble::one_line,
};
use crate::web::{Streaming, Web};

pub(super) const EVENT_STREAM: &str = "text/event-stream";
pub(super) const JSON: &str = "application/json";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// What is read of the body of an error.
const MAX_ERROR: u64 = 64 * 1024;
/// How long the head of an event stream may take.
const STREAM_HEAD: Duration = Duration::from_secs(30);

type HttpError = StreamableHttpError<ForwardError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

#[derive(Clone)]
pub(super) struct HttpClient {
    pub(super) web: Web,
    /// As configured: they are secrets, so `rmcp` does not get to see them.
    pub(super) headers: Arc<HeaderMap>,
    pub(super) tap: Arc<Tap>,
    /// A little longer than a call may take: whoever waits gives up first.
    pub(super) timeout: Duration,
    /// Told when a stream breaks off: `rmcp` would try to take it up for ever, whoever is gone.
    pub(super) doubted: Arc<Notify>,
}

impl HttpClient {
    async fn send(
        &self,
        method: Method,
        uri: &str,
        session: Option<&str>,
        extra: HashMap<HeaderName, HeaderValue>,
        body: Option<Vec<u8>>,
        timeout: Duration,
    ) -> Result<Streaming, HttpError> {
        let mut headers = (*self.headers).clone();
        headers.extend(extra);
        let accept = match method {
            Method::POST => "application/json, text/event-stream",
            _ => EVENT_STREAM,
        };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        }
        if let Some(session) = session {
            let session = HeaderValue::from_str(session)
                .map_err(|_| HttpError::UnexpectedServerResponse("a bad session id".into()))?;
            headers.insert(SESSION, session);
        }
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .body(Bytes::from(body.unwrap_or_default()))
            .map_err(|error| HttpError::Client(ForwardError::Failed(error.to_string())))?;
        *request.headers_mut() = headers;
        self.web
            .open(request, timeout)
            .await
            .map_err(HttpError::Client)
    }

    /// The answer to a request that is not an event stream.
    async fn json(
        &self,
        answer: Streaming,
        message: &ClientJsonRpcMessage,
        session: Option<String>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let body = answer.body.collect(self.web.max_answer()).await;
        let body = body.map_err(HttpError::Client)?;
        let text = String::from_utf8_lossy(&body);
        match serde_json::from_str::<ServerJsonRpcMessage>(&self.tap.received(&text)) {
            Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
            // What is not asked needs no answer.
            Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(_) => Err(HttpError::UnexpectedServerResponse(
                "the answer is no MCP message".into(),
            )),
        }
    }

    fn events(&self, answer: Streaming, request: Option<RequestId>) -> Events {
        let (tap, doubted) = (self.tap.clone(), self.doubted.clone());
        let max = usize::try_from(self.web.max_answer()).unwrap_or(usize::MAX);
        let read = move |event: Result<Sse, Broken>| match event {
            Ok(mut event) => {
                if let Some(data) = event.data.take() {
                    event.data = Some(match tap.received(&data) {
                        Cow::Owned(instead) => instead,
                        Cow::Borrowed(_) => data,
                    });
                }
                Ok(event)
            }
            Err(Broken::TooLarge(max)) => {
                let id = request
                    .as_ref()
                    .and_then(|id| serde_json::to_string(id).ok());
                let head = id.map(|id| format!("\"id\":{id},"));
                let instead = head.and_then(|head| tap.too_large(head.as_bytes()));
                match instead {
                    Some(instead) => Ok(Sse::default().data(instead)),
                    None => Err(SseError::Body(Box::new(Broken::TooLarge(max)))),
                }
            }
            Err(lost) => {
                doubted.notify_one();
                Err(SseError::Body(Box::new(lost)))
            }
        };
        events(answer.body, max).map(read).boxed()
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = ForwardError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.tap.sending(&message);
        let body = Some(serde_json::to_vec(&message)?);
        let answer = self
            .send(
                Method::POST,
                &uri,
                session.as_deref(),
                headers,
                body,
                self.timeout,
            )
            .await?;
        if matches!(answer.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if answer.status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(HttpError::SessionExpired);
        }
        if !answer.status.is_success() {
            return refused(answer, &message, session.is_some()).await;
        }
        let given = answer.headers.get(SESSION);
        let given = given.and_then(|id| id.to_str().ok()).map(str::to_owned);
        if is(&answer.headers, EVENT_STREAM) {
            let id = match &message {
                ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            return Ok(StreamableHttpPostResponse::Sse(
                self.events(answer, id),
                given,
            ));
        }
        self.json(answer, &message, given).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let answer = self
            .send(
                Method::DELETE,
                &uri,
                Some(&session),
                headers,
                None,
                self.timeout,
            )
            .await?;
        if answer.status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(HttpError::ServerDoesNotSupportDeleteSession);
        }
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        mut headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, HttpError> {
        if let Some(last) = last_event_id.and_then(|id| HeaderValue::try_from(id).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let answer = self
            .send(
                Method::GET,
                &uri,
                session.as_deref(),
                headers,
                None,
                STREAM_HEAD,
            )
            .await?;
        match answer.status {
            StatusCode::METHOD_NOT_ALLOWED => Err(HttpError::ServerDoesNotSupportSse),
            StatusCode::NOT_FOUND if session.is_some() => Err(HttpError::SessionExpired),
            status if !status.is_success() => Err(unexpected(status, "")),
            StatusCode::NO_CONTENT => Ok(stream::empty().boxed()),
            _ if is(&answer.headers, EVENT_STREAM) => Ok(self.events(answer, None)),
            _ => Err(HttpError::UnexpectedContentType(None)),
        }
    }
}

/// A server of before `server/discover` may refuse it in any way it likes: that is told as an answer, so
/// that `initialize` is tried.
async fn refused(
    answer: Streaming,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = answer.status;
    let body = answer.body.collect(MAX_ERROR).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let error = match serde_json::from_str::<ServerJsonRpcMessage>(&text) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    };
    let ClientJsonRpcMessage::Request(request) = message else {
        return Err(unexpected(status, &text));
    };
    let discovers = matches!(request.request, ClientRequest::DiscoverRequest(_)) && !in_session;
    let closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let error = match error {
        Some(error) => error,
        None if discovers && status.is_client_error() && !closed => {
            ErrorData::invalid_request(format!("HTTP {status}"), None)
        }
        None => return Err(unexpected(status, &text)),
    };
    Ok(StreamableHttpPostResponse::Json(
        ServerJsonRpcMessage::error(error, Some(request.id.clone())),
        None,
    ))
}

fn unexpected(status: StatusCode, text: &str) -> HttpError {
    let help = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => " (give it `headers`)",
        status if status.is_redirection() => " (redirects are not followed)",
        _ => "",
    };
    let text = one_line(text, &[]);
    HttpError::UnexpectedServerResponse(format!("HTTP {status}{help} {text}").into())
}

pub(super) fn is(headers: &HeaderMap, kind: &str) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|value| value.trim().eq_ignore_ascii_case(kind))
}
