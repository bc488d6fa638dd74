//! A server over HTTP with server-sent events, as it was until 2024-11-05: one stream that carries all
//! answers, and an address, told by its first event, that takes the messages.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream::BoxStream};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use provost_core::ports::ForwardError;
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use sse_stream::Sse;

use super::{
    events::{Broken, events},
    http::{EVENT_STREAM, JSON, is},
    tap::Tap,
};
use crate::web::Web;

/// How long a server may take to say where its messages go.
const OPENING: Duration = Duration::from_secs(30);
/// How long a message may take to be accepted.
const ACCEPTING: Duration = Duration::from_secs(30);
/// What is read of the answer to a message: there should be nothing in it.
const MAX_ACCEPTED: u64 = 64 * 1024;

pub(super) struct SseTransport {
    web: Web,
    headers: Arc<HeaderMap>,
    endpoint: Uri,
    events: BoxStream<'static, Result<Sse, Broken>>,
    tap: Arc<Tap>,
}

impl SseTransport {
    pub(super) async fn open(
        web: Web,
        uri: &Uri,
        headers: Arc<HeaderMap>,
        tap: Arc<Tap>,
    ) -> Result<Self, ForwardError> {
        let opening = async {
            let mut request = Request::new(Bytes::new());
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = (*headers).clone();
            let accept = HeaderValue::from_static(EVENT_STREAM);
            request.headers_mut().insert(header::ACCEPT, accept);
            let answer = web.open(request, OPENING).await?;
            if !answer.status.is_success() || !is(&answer.headers, EVENT_STREAM) {
                let failed = format!("HTTP {} and no event stream", answer.status);
                return Err(ForwardError::Failed(failed));
            }
            let max = usize::try_from(web.max_answer()).unwrap_or(usize::MAX);
            let mut events = events(answer.body, max).boxed();
            let endpoint = endpoint(&mut events, uri).await?;
            Ok((endpoint, events))
        };
        let (endpoint, events) = tokio::time::timeout(OPENING, opening)
            .await
            .unwrap_or_else(|_| Err(ForwardError::Timeout(format!("{OPENING:?}"))))?;
        Ok(Self {
            web,
            headers,
            endpoint,
            events,
            tap,
        })
    }
}

async fn endpoint(
    events: &mut BoxStream<'static, Result<Sse, Broken>>,
    uri: &Uri,
) -> Result<Uri, ForwardError> {
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| ForwardError::Failed(error.to_string()))?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let told = event.data.unwrap_or_default();
        return resolve(uri, told.trim()).ok_or_else(|| {
            ForwardError::Failed("the server sends messages to an address not its own".to_owned())
        });
    }
    Err(ForwardError::Failed("the stream ended at once".to_owned()))
}

/// Only on the same server: the configured headers go there.
fn resolve(base: &Uri, told: &str) -> Option<Uri> {
    if told.contains("://") {
        let uri: Uri = told.parse().ok()?;
        let same = uri.scheme() == base.scheme() && uri.authority() == base.authority();
        return same.then_some(uri);
    }
    if told.is_empty() || told.starts_with("//") {
        return None;
    }
    let path = if told.starts_with('/') {
        told.to_owned()
    } else {
        let folder = base
            .path()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        format!("{folder}/{told}")
    };
    let mut parts = base.clone().into_parts();
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

impl Transport<RoleClient> for SseTransport {
    type Error = ForwardError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), ForwardError>> + Send + 'static {
        self.tap.sending(&item);
        let web = self.web.clone();
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.endpoint.clone();
        *request.headers_mut() = (*self.headers).clone();
        let json = HeaderValue::from_static(JSON);
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        async move {
            let body = serde_json::to_vec(&item);
            let body = body.map_err(|error| ForwardError::Failed(error.to_string()))?;
            let request = request.map(|_| Bytes::from(body));
            let answer = web.exchange(request, ACCEPTING, MAX_ACCEPTED).await?;
            if answer.status.is_success() {
                return Ok(());
            }
            let failed = format!("HTTP {}: the message was not taken", answer.status);
            Err(ForwardError::Failed(failed))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.events.next().await?.ok()?;
            let message = event.event.as_deref().is_none_or(|name| name == "message");
            let Some(data) = event.data.filter(|_| message) else {
                continue;
            };
            if let Ok(message) = serde_json::from_str(&self.tap.received(&data)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), ForwardError> {
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_the_same_server_only() {
        let base: Uri = "http://a.example:8080/v1/sse?key=1".parse().unwrap();
        for (told, expected) in [
            ("/m?s=1", Some("http://a.example:8080/m?s=1")),
            ("m?s=1", Some("http://a.example:8080/v1/m?s=1")),
            ("http://a.example:8080/m", Some("http://a.example:8080/m")),
            ("http://b.example:8080/m", None),
            ("https://a.example:8080/m", None),
            ("//b.example/m", None),
            ("", None),
            ("/a b", None),
        ] {
            let found = resolve(&base, told).map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), expected, "{told}");
        }
    }
}
