//! Listening: connections in, requests to the router, everything bounded, and an orderly end.

mod flat;

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use futures_util::FutureExt as _;
use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use self::flat::Flat;
use crate::{app::App, doors::http::handle};

/// A client that does not finish its headers in this time is cut off.
const HEADER_TIME: Duration = Duration::from_secs(15);
const MAX_CONNECTIONS: usize = 32_768;
/// How long requests in progress may take once the process is asked to stop.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Serves until [`App::stop`], then lets running requests end.
pub async fn serve(app: Arc<App>, router: Router, listener: TcpListener) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            break;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = app.stopping() => break,
        };
        let (stream, remote) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: give others time to close.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let connection = connection(&app, &router, stream, remote);
        let watched = graceful.watch(connection);
        // An async block would hold the connection twice, and there may be many.
        tokio::spawn(watched.map(move |ended| {
            if let Err(error) = ended {
                tracing::debug!(%remote, %error, "a connection ended early");
            }
            drop(place);
        }));
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIME, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

fn connection(
    app: &Arc<App>,
    router: &Router,
    stream: TcpStream,
    remote: SocketAddr,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + use<> {
    // Answers are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let (app, router) = (app.clone(), router.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        handle(&app, &router, request, remote).map(Ok::<_, Infallible>)
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(64 * 1024)
        .serve_connection(Flat(TokioIo::new(stream)), service)
}
