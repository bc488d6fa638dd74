//! Who asks, as far as the door can tell from the head of a request. It says for whom the request is counted, and
//! lets nobody in.

use std::net::SocketAddr;

use http::{HeaderMap, Request, header};

use super::caller;
use crate::{access::Caller, admission::Who, app::App};

/// Answered at once, to anybody, without a body being read.
const OPERATIONS: [&str; 5] = ["/health", "/ready", "/version", "/metrics", "/openapi.json"];
/// Where a client has the gateway prove itself before it says who it is, on the same connection.
const PROOF: &str = "/instance";
/// Where agents come. Elsewhere, a request without a key is a person's, or a stranger's.
const OF_AGENTS: [&str; 10] = [
    "/tool",
    "/decide",
    "/hooks",
    "/mcp",
    "/tools",
    "/v1/permissions",
    "/v1/standing",
    "/v1/approvals",
    "/v1/allow-rules",
    "/v1/session-allows",
];

/// Where people sign in: the body of that is short, and comes with its head.
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
            Some(Caller::Decider(key)) => Who::Decider(key.name.clone()),
            None => stranger(path, headers),
        };
    }
    match app.console.signed_in(headers) {
        Some(session) => Who::Decider(session),
        None => stranger(path, headers),
    }
}

fn stranger(path: &str, headers: &HeaderMap) -> Who {
    let length = headers.get(header::CONTENT_LENGTH);
    let has_body = length.is_some_and(|length| length != "0")
        || headers.contains_key(header::TRANSFER_ENCODING);
    if has_body && path != SIGN_IN {
        Who::Sender
    } else {
        Who::Stranger
    }
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
}
