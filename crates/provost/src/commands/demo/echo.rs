//! The tools of the demo: a server on loopback that answers with what it was sent.

use std::{convert::Infallible, io, net::SocketAddr};

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

/// Answers for as long as it is kept.
pub(super) struct Echo {
    pub(super) addr: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Echo {
    pub(super) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let addr = listener.local_addr()?;
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener));
        Ok(Self {
            addr,
            _tasks: tasks,
        })
    }
}

async fn serve(listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        connections.spawn(async move {
            // A caller that hangs up is no concern of an echo's.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = json!({"done": true, "echo": sent}).to_string();
    let mut response = Response::new(Full::new(Bytes::from(answer)));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    Ok(response)
}
