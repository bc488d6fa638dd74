//! The backend: gives back what it gets.

use std::convert::Infallible;

use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

pub(super) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(echo)),
        );
    }
}

async fn echo(request: Request<Incoming>) -> Result<Response<Incoming>, Infallible> {
    let (head, body) = request.into_parts();
    let mut response = Response::new(body);
    for (name, value) in head.headers {
        if let Some(name) = name.filter(|name| name.as_str().starts_with("content-")) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}
