//! What every request passes before its handler: ours or a foreign page's, and a request id.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    BoxError, Router,
    extract::ConnectInfo,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures_util::{FutureExt as _, future};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use hyper::body::Body;
use provost_core::ids::TraceId;
use tower::ServiceExt as _;

use super::{
    calls::{Target, direct},
    error::ApiError,
    lasting::lasting,
    who::who,
};
use crate::{
    access::{Foreign, check_origin},
    admission::{Occupied, Seat},
    app::App,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers one request that comes on no connection of ours.
pub fn handle<B>(
    app: &Arc<App>,
    router: &Router,
    request: Request<B>,
    remote: SocketAddr,
) -> impl Future<Output = Response> + use<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let seat = Arc::new(Seat::new(app.admission.clone()));
    handle_on(&seat, app, router, request, remote)
}

/// Answers one request from there. Stands around the router and not in it, where it would cost every request a
/// boxed service more; and is no async function, which would hold the request twice while it is answered.
pub fn handle_on<B>(
    seat: &Arc<Seat>,
    app: &Arc<App>,
    router: &Router,
    request: Request<B>,
    remote: SocketAddr,
) -> impl Future<Output = Response> + use<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let id = request_id(request.headers(), app);
    let foreign = check_origin(
        request.headers(),
        request.uri(),
        &app.live.load().access.hosts,
    );
    let answered = match foreign {
        Ok(()) => answer(seat, app, router, request, remote).left_future(),
        Err(foreign) => future::ready(refuse(&foreign).into_response()).right_future(),
    };
    // The request is counted by now.
    let is_last = seat.ends_with_answer();
    answered.map(move |mut response| {
        response.headers_mut().insert(REQUEST_ID, id);
        if is_last {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        response
    })
}

fn answer<B>(
    seat: &Arc<Seat>,
    app: &Arc<App>,
    router: &Router,
    request: Request<B>,
    remote: SocketAddr,
) -> impl Future<Output = Response> + use<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    if let Some(target) = Target::of(&request) {
        return direct(seat, app, target, request, remote).left_future();
    }
    let routed = match seat.enter(&who(&request, remote, app)) {
        Ok(occupied) => route(occupied, router, request, remote).left_future(),
        Err(full) => future::ready(ApiError::from(full).into_response()).right_future(),
    };
    routed.right_future()
}

fn route<B>(
    occupied: Occupied,
    router: &Router,
    mut request: Request<B>,
    remote: SocketAddr,
) -> impl Future<Output = Response> + use<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let occupied = Arc::new(occupied);
    request.extensions_mut().insert(ConnectInfo(remote));
    request.extensions_mut().insert(occupied.clone());
    let routed = router.clone().oneshot(request);
    routed.map(|Ok(response)| lasting(response, occupied))
}

/// The caller's own id, where it is one; else a new one.
fn request_id(headers: &HeaderMap, app: &App) -> HeaderValue {
    let given = headers.get(&REQUEST_ID).filter(|value| {
        let bytes = value.as_bytes();
        (1..=128).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    });
    given.cloned().unwrap_or_else(|| {
        HeaderValue::from_str(TraceId::at(app.gate.now()).as_str())
            .unwrap_or(HeaderValue::from_static("unknown"))
    })
}

fn refuse(foreign: &Foreign) -> ApiError {
    match foreign {
        Foreign::Host => ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_host",
            "the Host header does not name this gateway",
        )
        .help(
            "reach it by its address or `localhost`, or list the name under `hosts:` in the config",
        ),
        Foreign::Origin => ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "pages of other sites may not call this gateway",
        ),
    }
}

pub(super) async fn not_found() -> ApiError {
    ApiError::not_found("this address").help("`GET /openapi.json` lists all there are")
}

pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take that method",
    )
    .help("`GET /openapi.json` lists all there are")
}
