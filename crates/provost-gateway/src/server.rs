//! Listening: connections in, requests to the router, everything bounded, and an orderly end.

mod files;
mod flat;

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::Router;
use futures_util::FutureExt as _;
use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

pub use self::files::raise_open_files;
use self::{
    files::{Reserve, is_out_of_files},
    flat::Flat,
};
use crate::{
    admission::{Seat, Seats, Taken},
    app::App,
    doors::http::handle_on,
};

/// A client that does not finish its headers in this time is cut off.
const HEADER_TIME: Duration = Duration::from_secs(15);
/// How long requests in progress may take once the process is asked to stop.
const DRAIN_TIME: Duration = Duration::from_secs(10);
/// How long to wait before looking again whether there is room.
const UNTIL_ROOM: Duration = Duration::from_millis(50);
/// Connections that the system keeps until they are accepted: as many as it allows, which is fewer.
const BACKLOG: u32 = i32::MAX as u32;

/// Where many agents that come back at once find room in the queue.
pub fn bind(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = match addr {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

/// Serves until [`App::stop`], then lets running requests end.
pub async fn serve(app: Arc<App>, router: Router, listener: TcpListener) {
    let graceful = GracefulShutdown::new();
    let seats = Seats::new(app.admission.clone());
    tokio::select! {
        () = accept(&app, &router, &listener, &seats, &graceful) => {}
        () = app.stopping() => {}
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIME, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

async fn accept(
    app: &Arc<App>,
    router: &Router,
    listener: &TcpListener,
    seats: &Arc<Seats>,
    graceful: &GracefulShutdown,
) {
    let mut reserve = Reserve::new(app.admission.room().people / 4);
    let mut was_short = false;
    loop {
        while seats.is_full() {
            make_room(seats).await;
        }
        reserve.fill();
        let (stream, remote) = match listener.accept().await {
            Ok(accepted) => accepted,
            // Something else of ours took the files: a backend, a program that runs.
            Err(error) if is_out_of_files(&error) && reserve.give() => continue,
            Err(error) => {
                if !std::mem::replace(&mut was_short, true) {
                    tracing::warn!(%error, "connections cannot be accepted");
                }
                make_room(seats).await;
                continue;
            }
        };
        was_short = false;
        let taken = seats.take(remote.ip(), Instant::now());
        let connection = connection(&taken.seat, app, router, stream, remote);
        tokio::spawn(Watched {
            connection: Box::pin(graceful.watch(connection)),
            taken,
            told: false,
            remote,
        });
    }
}

/// Asks connections that rest to leave, and waits until one did.
async fn make_room(seats: &Seats) {
    let freed = seats.freed();
    seats.make_room(Instant::now());
    let _ = tokio::time::timeout(UNTIL_ROOM, freed).await;
}

fn connection(
    seat: &Arc<Seat>,
    app: &Arc<App>,
    router: &Router,
    stream: TcpStream,
    remote: SocketAddr,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + use<> {
    // Answers are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let (seat, app, router) = (seat.clone(), app.clone(), router.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        handle_on(&seat, &app, &router, request, remote).map(Ok::<_, Infallible>)
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(64 * 1024)
        .serve_connection(Flat::new(TokioIo::new(stream)), service)
}

/// A connection, until it ends or is asked to leave while nothing happens on it.
struct Watched<C> {
    connection: Pin<Box<C>>,
    taken: Taken,
    /// Who is to be woken when it is asked to leave.
    told: bool,
    remote: SocketAddr,
}

impl<C: Future<Output = Result<(), hyper::Error>>> Future for Watched<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let seat = &this.taken.seat;
        if !this.told {
            // A task has one waker all its life, and a connection is asked to leave once.
            seat.tell(context.waker());
            this.told = true;
        }
        // What has arrived is read first: whoever has just asked for something stays.
        match this.connection.as_mut().poll(context) {
            Poll::Ready(Ok(())) => Poll::Ready(()),
            Poll::Ready(Err(error)) => {
                tracing::debug!(remote = %this.remote, %error, "a connection ended early");
                Poll::Ready(())
            }
            Poll::Pending if seat.leaves() => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    /// Nobody accepts them: the system keeps them, up to its own limit.
    #[tokio::test]
    async fn p10_hundreds_connect_at_once_without_being_accepted() {
        let text = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let most: usize = text.trim().parse().unwrap();
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = listener.local_addr().unwrap();
        let patience = Duration::from_millis(900);
        let connected: Vec<_> = (0..most.min(600))
            .map(|_| TcpStream::connect_timeout(&addr, patience))
            .collect();
        assert!(connected.iter().all(Result::is_ok));
    }
}
