//! Telemetry of calls: one OpenTelemetry span each, with the GenAI names, sent over OTLP/HTTP as JSON.
//!
//! Our own exporter: a call is one flat span, for which the OpenTelemetry SDK, its protobuf and its HTTP
//! client would cost some forty crates. Spans carry names and verdicts, never arguments.

mod otlp;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Uri, header};
use provost_core::{ids::TraceId, time::Time};
use tokio::sync::mpsc;

use crate::web::Web;

/// Spans waiting for the collector. When it is too slow, spans are dropped and counted: telemetry
/// never holds up a call.
const QUEUE: usize = 4096;
const BATCH: usize = 512;
const TIMEOUT: Duration = Duration::from_secs(10);

/// A call as telemetry sees it.
#[derive(Debug)]
pub struct CallSpan {
    pub trace_id: TraceId,
    /// The caller's span, from its `traceparent`.
    pub parent: Option<String>,
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    pub tool: Arc<str>,
    pub began_at: Time,
    pub ended_at: Time,
    pub verdict: &'static str,
    pub failed: bool,
}

#[derive(Clone)]
pub struct Spans(mpsc::Sender<CallSpan>);

impl Spans {
    /// Starts the exporter; `collector` is the base URL of an OTLP/HTTP endpoint.
    pub fn start(collector: &str, web: Web) -> Result<Self, String> {
        let base = collector.trim_end_matches('/');
        let url = if base.ends_with("/v1/traces") {
            base.to_owned()
        } else {
            format!("{base}/v1/traces")
        };
        let uri: Uri = url
            .parse()
            .map_err(|_| format!("`{collector}` is not a URL"))?;
        web.prepare(&uri)?;
        let (sender, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(export(uri, web, receiver));
        Ok(Self(sender))
    }

    pub fn call(&self, span: CallSpan) {
        if self.0.try_send(span).is_err() {
            metrics::counter!("provost_spans_dropped_total").increment(1);
        }
    }
}

/// Sends what has gathered, again and again, until the last sender is gone.
async fn export(uri: Uri, web: Web, mut spans: mpsc::Receiver<CallSpan>) {
    let mut batch = Vec::with_capacity(BATCH);
    while spans.recv_many(&mut batch, BATCH).await > 0 {
        if let Err(error) = send(&uri, &web, otlp::body(&batch)).await {
            metrics::counter!("provost_spans_dropped_total").increment(batch.len() as u64);
            tracing::warn!(%error, "the telemetry collector did not take spans");
        }
        batch.clear();
    }
}

async fn send(uri: &Uri, web: &Web, body: String) -> Result<(), String> {
    let request = Request::post(uri.clone())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body))
        .map_err(|error| error.to_string())?;
    let answer = web
        .exchange(request, TIMEOUT, 64 * 1024)
        .await
        .map_err(|error| error.to_string())?;
    if answer.status.is_success() {
        Ok(())
    } else {
        Err(format!("it answered {}", answer.status))
    }
}
