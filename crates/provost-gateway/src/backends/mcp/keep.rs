//! The task of one server: connect, read its tools, watch it, and start it again when it is lost.

use std::{
    convert::Infallible,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use provost_core::{gate::Gate, ids::random_bytes};
use rmcp::{
    Peer, RoleClient,
    model::{ClientRequest, PingRequest, ServerNotification, SubscriptionFilter},
    service::{PeerRequestOptions, ServiceError},
};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Upstream,
    connect::{Connection, Speaks, connect},
    handler::Handler,
    listing::{self, Unread},
    patience::Patience,
    pins,
    trouble::{self, one_line},
    upstream::Reach,
};

/// How often it is looked whether a server is there.
const LOOK: Duration = Duration::from_secs(30);
/// How often its tools are read without having been told of a change.
const READ_AGAIN: Duration = Duration::from_mins(5);
/// How long it may take to say that it is.
const ANSWER: Duration = Duration::from_secs(15);
/// How often, while tools are held, it is looked whether they were accepted elsewhere.
const PINS: Duration = Duration::from_secs(5);
/// A server that tells of changes all the time is not asked all the time.
const CALM: Duration = Duration::from_millis(500);
/// How long a connection may take to close.
const CLOSING: Duration = Duration::from_secs(4);

pub(super) async fn keep(upstream: Arc<Upstream>, gate: Arc<Gate>, stop: CancellationToken) {
    let mut patience = Patience::default();
    let mut speaks = Speaks::default();
    let mut is_restart = false;
    while !stop.is_cancelled() {
        upstream.starting(gate.now(), is_restart);
        is_restart = true;
        let mut up_since = None;
        let error = serve(&upstream, &gate, &stop, &mut speaks, &mut up_since).await;
        let error = one_line(&error, &upstream.secrets);
        upstream.down(gate.now(), error.clone());
        if stop.is_cancelled() {
            return;
        }
        let was_up = up_since.map_or(Duration::ZERO, |since: Instant| since.elapsed());
        let wait = patience.wait(was_up, chance());
        tracing::warn!(
            mcp.server = &*upstream.name,
            error,
            "an MCP server is down; it is tried again in {wait:?}"
        );
        tokio::select! {
            () = sleep(wait) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// One connection from its beginning to its end: says why it ended.
async fn serve(
    upstream: &Upstream,
    gate: &Gate,
    stop: &CancellationToken,
    speaks: &mut Speaks,
    up_since: &mut Option<Instant>,
) -> String {
    let connected = tokio::select! {
        connected = connect(upstream, *speaks) => connected,
        () = stop.cancelled() => return "the gateway is going down".to_owned(),
    };
    let Connection {
        running,
        handler,
        ended,
        speaks: spoke,
    } = match connected {
        Ok(connection) => connection,
        Err(error) => {
            if matches!(upstream.reach, Reach::Stdio(_)) {
                *speaks = speaks.ended();
            }
            return error;
        }
    };
    *speaks = spoke;
    let peer = running.peer().clone();
    let cancel = running.cancellation_token();
    let mut over = pin!(running.waiting());
    let watched = async {
        refresh(upstream, gate, &peer)
            .await
            .map_err(|unread| unread.to_string())?;
        upstream.up(gate.now(), peer.clone());
        *up_since = Some(Instant::now());
        tracing::info!(mcp.server = &*upstream.name, "an MCP server is up");
        watch(upstream, gate, &peer, &handler, spoke).await
    };
    let error = tokio::select! {
        Err(error) = watched => error,
        _ = &mut over => "the connection was lost".to_owned(),
        () = stop.cancelled() => "the gateway is going down".to_owned(),
    };
    let lost = peer.is_transport_closed();
    if !lost {
        cancel.cancel();
        // It is dropped, and with it the program, where that takes too long.
        let _ = timeout(CLOSING, &mut over).await;
    }
    match ended {
        Some(ended) if lost => ended.how().await.unwrap_or(error),
        _ => error,
    }
}

/// Reads its tools, remembers new ones, and judges them all.
async fn refresh(upstream: &Upstream, gate: &Gate, peer: &Peer<RoleClient>) -> Result<(), Unread> {
    let listing = listing::read(peer, &upstream.name).await?;
    // A list is read again and again: what was told of it is told once.
    let told = upstream.status().warnings;
    for warning in listing.warnings.iter().filter(|one| !told.contains(one)) {
        tracing::warn!(mcp.server = &*upstream.name, "{warning}");
    }
    let pins = pins::remembered(gate, &upstream.name, &listing.tools)
        .await
        .map_err(|error| Unread::NotRemembered(error.to_string()))?;
    upstream.take_listing(listing, pins);
    Ok(())
}

/// Goes on as long as the server is there.
async fn watch(
    upstream: &Upstream,
    gate: &Gate,
    peer: &Peer<RoleClient>,
    handler: &Handler,
    speaks: Speaks,
) -> Result<Infallible, String> {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    look.reset();
    let mut read_again = interval(READ_AGAIN);
    read_again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    read_again.reset();
    let mut accepted = interval(PINS);
    accepted.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = pin!(listen(peer, handler, speaks));
    loop {
        tokio::select! {
            () = upstream.changed.notified() => {
                let read = refresh(upstream, gate, peer).await;
                if matches!(read, Err(Unread::Late | Unread::NotRemembered(_))) {
                    upstream.changed.notify_one();
                }
                forgiven(upstream, read)?;
                sleep(CALM).await;
            }
            _ = accepted.tick(), if upstream.has_held() => {
                if let Ok(pins) = gate.tool_pins(&upstream.name).await {
                    upstream.judge_again(pins);
                }
            }
            _ = read_again.tick() => {
                forgiven(upstream, refresh(upstream, gate, peer).await)?;
            }
            _ = look.tick() => {
                forgiven(upstream, is_there(upstream, gate, peer, speaks).await)?;
            }
            () = upstream.doubted.notified() => {
                forgiven(upstream, is_there(upstream, gate, peer, speaks).await)?;
                sleep(CALM).await;
            }
            () = &mut told => {}
        }
    }
}

/// Many servers do one thing after another: one that has a call may take its time for everything else. And
/// while the store fails, what is known of the tools stays.
fn forgiven(upstream: &Upstream, looked: Result<(), Unread>) -> Result<(), String> {
    match looked {
        Err(Unread::Late) if upstream.is_busy() => Ok(()),
        Err(unread @ Unread::NotRemembered(_)) => {
            tracing::error!(mcp.server = &*upstream.name, "{unread}");
            Ok(())
        }
        looked => looked.map_err(|unread| unread.to_string()),
    }
}

/// Servers of today have no ping: their tools are read instead, which also finds changes nobody told of.
async fn is_there(
    upstream: &Upstream,
    gate: &Gate,
    peer: &Peer<RoleClient>,
    speaks: Speaks,
) -> Result<(), Unread> {
    if speaks == Speaks::Discover {
        return refresh(upstream, gate, peer).await;
    }
    let ping = ClientRequest::PingRequest(PingRequest::default());
    let options = PeerRequestOptions::with_timeout(ANSWER);
    let answered = match peer.send_cancellable_request(ping, options).await {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    match answered {
        // It speaks, even if it has not heard of pings.
        Ok(_) | Err(ServiceError::McpError(_)) => Ok(()),
        Err(ServiceError::Timeout { .. }) => Err(Unread::Late),
        Err(error) => Err(Unread::Failed(format!(
            "it does not answer: {}",
            trouble::service(&error)
        ))),
    }
}

/// Servers of today tell of changes to those who listen. Never ends.
async fn listen(peer: &Peer<RoleClient>, handler: &Handler, speaks: Speaks) {
    if speaks != Speaks::Discover {
        return std::future::pending().await;
    }
    loop {
        match peer.listen(changes()).await {
            Ok(mut subscription) => {
                while let Ok(Some(notification)) = subscription.next().await {
                    heard(notification, handler);
                }
            }
            // What it has it tells when it is asked.
            Err(ServiceError::McpError(_)) => return std::future::pending().await,
            Err(_) => {}
        }
        sleep(LOOK).await;
    }
}

fn changes() -> SubscriptionFilter {
    SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .build()
}

fn heard(notification: ServerNotification, handler: &Handler) {
    match notification {
        ServerNotification::ToolListChangedNotification(_) => handler.changed.notify_one(),
        ServerNotification::PromptListChangedNotification(_) => handler.prompts_changed(),
        ServerNotification::ResourceListChangedNotification(_) => handler.resources_changed(),
        _ => {}
    }
}

/// Between 0 and 1.
fn chance() -> f64 {
    let [byte] = random_bytes();
    f64::from(byte) / 255.0
}
