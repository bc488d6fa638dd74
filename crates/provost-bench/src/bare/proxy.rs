//! A reverse proxy and nothing else: pooled connections, bodies passed on as they come.

use std::net::SocketAddr;

use http::{Request, Response, Uri, header, uri::PathAndQuery};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use tokio::net::TcpListener;

type Pool = Client<HttpConnector, Incoming>;

pub(super) async fn serve(listener: TcpListener, backend: SocketAddr) -> anyhow::Result<()> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let pool: Pool = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .build(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let pool = pool.clone();
        let service = service_fn(move |request| pass(pool.clone(), backend, request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass(
    pool: Pool,
    backend: SocketAddr,
    mut request: Request<Incoming>,
) -> anyhow::Result<Response<Incoming>> {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", PathAndQuery::as_str);
    *request.uri_mut() = Uri::builder()
        .scheme("http")
        .authority(backend.to_string())
        .path_and_query(path)
        .build()?;
    request.headers_mut().remove(header::HOST);
    Ok(pool.request(request).await?)
}
