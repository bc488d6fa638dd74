//! Who asks, as far as the door can tell from the head of a request. It says for whom the request is counted, and
//! lets nobody in.

use std::net::SocketAddr;

use http::{HeaderMap, Method, Request, header};
use provost_core::key::Key;

use super::caller;
use crate::{access::Caller, admission::Who, app::App};

/// Answered at once, to anybody, without a body being read.
const OPERATIONS: [&str; 5] = ["/health", "/ready", "/version", "/metrics", "/openapi.json"];
/// Where a client has the gateway prove itself before it says who it is, on the same connection.
const PROOF: &str = "/instance";
/// Where agents come. Elsewhere, a request without a key is a person's, or a stranger's.
const OF_AGENTS: [&str; 12] = [
    "/tool",
    "/decide",
    "/hooks",
    "/mcp",
    "/tools",
    "/v1/permissions",
    "/v1/unsupervised",
    "/v1/standing",
    "/v1/mcp-calls",
    "/v1/approvals",
    "/v1/allow-rules",
    "/v1/session-allows",
];

/// Where people sign in.
const SIGN_IN: &str = "/console/login";

pub(super) fn who<B>(request: &Request<B>, remote: SocketAddr, app: &App) -> Who {
    let (path, headers) = (request.uri().path(), request.headers());
    if OPERATIONS.contains(&path) {
        return Who::Anybody;
    }
    if path == PROOF {
        return Who::Challenger;
    }
    if headers.contains_key(header::AUTHORIZATION) || is_of_agents(path) {
        return match caller::known(headers, remote, app) {
            Some(Caller::Agent(name)) => Who::Agent(name),
            Some(Caller::Decider(key)) => decider(&key),
            None => stranger(request),
        };
    }
    // However many sessions one key has signed in to, they are all of that key.
    match app.console.signed_in(headers, &app.gate.control()) {
        Some(key) => decider(&key),
        None => stranger(request),
    }
}

fn decider(key: &Key) -> Who {
    if key.role.is_person() {
        Who::Person(key.name.clone())
    } else {
        Who::Supervisor(key.name.clone())
    }
}

fn stranger<B>(request: &Request<B>) -> Who {
    if *request.method() == Method::POST && request.uri().path() == SIGN_IN {
        return Who::SignIn;
    }
    if has_body(request.headers()) {
        Who::Sender
    } else {
        Who::Stranger
    }
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    length.is_some_and(|length| length != "0") || headers.contains_key(header::TRANSFER_ENCODING)
}

fn is_of_agents(path: &str) -> bool {
    OF_AGENTS.iter().any(|of_agents| {
        let rest = path.strip_prefix(of_agents);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p10_paths_of_agents_are_told_from_those_of_people() {
        for (path, expected) in [
            ("/tool/a", true),
            ("/tool/a/b", true),
            ("/decide", true),
            ("/mcp", true),
            ("/v1/approvals/x", true),
            ("/mcp-servers", false),
            ("/approvals", false),
            ("/stop", false),
            ("/", false),
            ("/console/events", false),
            ("/toolbox", false),
        ] {
            assert_eq!(is_of_agents(path), expected, "{path}");
        }
    }

    /// An agent that waits where agents wait must not be counted as a stranger.
    #[test]
    fn p10_every_route_of_agents_is_one_of_theirs() {
        let (_, routes) = include_str!("router.rs").split_once("// Agents").unwrap();
        let (routes, _) = routes.split_once("// ").unwrap();
        let paths: Vec<_> = routes.split('"').skip(1).step_by(2).collect();
        assert!(paths.len() > 10, "{paths:?}");
        for path in paths.into_iter().filter(|path| *path != "/mcp-servers") {
            assert!(is_of_agents(path), "{path}");
        }
    }
}
