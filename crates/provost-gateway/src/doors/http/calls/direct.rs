//! The way of a call past the router. Nearly all requests are calls, and routing one costs more than evaluating its
//! policy.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    BoxError,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures_util::{FutureExt as _, future::ready};
use http::{Method, Request, request::Parts};
use hyper::body::Body;

use super::{DecideCall, Manner, ToolCall, decide_call, pass, tool_call};
use crate::{
    admission::{Occupied, Seat, Who},
    app::App,
    doors::http::{
        caller::Agent,
        error::ApiResult,
        input::{announced, read_object},
        lasting::lasting,
    },
};

/// What is called: a tool, or the gate alone.
pub(in crate::doors::http) enum Target {
    Tool(Box<str>),
    Decide,
}

/// Who calls what, and how.
struct Head {
    agent: Arc<str>,
    occupied: Occupied,
    target: Target,
    manner: Manner,
    length: Option<usize>,
    limit: usize,
}

/// Answers a call as its route would.
pub(in crate::doors::http) fn direct<B>(
    seat: &Arc<Seat>,
    app: &Arc<App>,
    target: Target,
    request: Request<B>,
    remote: SocketAddr,
) -> impl Future<Output = Response> + use<B>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let answered = match head(seat, app, target, &parts, remote) {
        Ok(head) => answer(app.clone(), head, body).left_future(),
        Err(error) => ready(Err(error)).right_future(),
    };
    answered.map(ApiResult::into_response)
}

impl Target {
    /// `None`: it is no call, or one of a tool with other characters than these, which the router reads.
    pub(in crate::doors::http) fn of<B>(request: &Request<B>) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if *request.method() != Method::POST {
            return None;
        }
        match request.uri().path() {
            "/decide" => Some(Self::Decide),
            path => path
                .strip_prefix("/tool/")
                .filter(|name| !name.is_empty() && name.bytes().all(is_plain))
                .map(|name| Self::Tool(name.into())),
        }
    }
}

/// Counted before its body is read.
fn head(
    seat: &Arc<Seat>,
    app: &App,
    target: Target,
    parts: &Parts,
    remote: SocketAddr,
) -> ApiResult<Head> {
    let Agent(agent) = Agent::by(&parts.headers, remote, app)?;
    let occupied = seat.enter(&Who::Agent(agent.clone()))?;
    Ok(Head {
        agent,
        occupied,
        target,
        manner: Manner::of(&parts.headers, &parts.uri)?,
        length: announced(&parts.headers),
        limit: app.live.load().body_limit,
    })
}

async fn answer<B>(app: Arc<App>, head: Head, body: B) -> ApiResult
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let Head {
        agent,
        occupied,
        target,
        mut manner,
        length,
        limit,
    } = head;
    let session = manner.take_session();
    let asked = match target {
        Target::Tool(tool) => {
            let call: ToolCall = read_object(body, length, limit, Some(&occupied)).await?;
            tool_call(&app, agent, &tool, session, call)
        }
        Target::Decide => {
            let call: DecideCall = read_object(body, length, limit, Some(&occupied)).await?;
            decide_call(agent, session, call)
        }
    };
    let answered = pass(app, asked, manner).await?;
    Ok(lasting(answered, occupied))
}
