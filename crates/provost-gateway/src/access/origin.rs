//! Requests a browser page makes in somebody's name: foreign origins and rebound host names.
//!
//! A page can send requests to a gateway on the same machine. It cannot forge `Origin`, and to read
//! answers it must rebind a name of its own, which then stands in `Host`. An IP address there cannot be
//! rebound.

use std::net::IpAddr;

use http::{HeaderMap, Uri, header};

#[derive(Debug, PartialEq, Eq)]
pub enum Foreign {
    Origin,
    Host,
}

pub fn check(headers: &HeaderMap, uri: &Uri, hosts: &[String]) -> Result<(), Foreign> {
    let host = match headers.get(header::HOST) {
        Some(value) => Some(value.to_str().map_err(|_| Foreign::Host)?),
        None => uri.authority().map(http::uri::Authority::as_str),
    };
    if !host.is_some_and(|host| is_ours(host, hosts)) {
        return Err(Foreign::Host);
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Ok(());
    };
    let same = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.split_once("://"))
        .is_some_and(|(_, authority)| {
            host.is_some_and(|host| authority.eq_ignore_ascii_case(host))
        });
    if same { Ok(()) } else { Err(Foreign::Origin) }
}

fn is_ours(host: &str, hosts: &[String]) -> bool {
    let name = without_port(host);
    name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || hosts
            .iter()
            .any(|ours| ours.eq_ignore_ascii_case(name) || ours.eq_ignore_ascii_case(host))
}

pub(super) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_may_call() {
        let hosts = ["gate.example.com".to_owned()];
        for (host, origin, expected) in [
            ("127.0.0.1:9090", None, Ok(())),
            ("localhost:9090", None, Ok(())),
            ("LOCALHOST", None, Ok(())),
            ("[::1]:9090", None, Ok(())),
            ("192.168.1.5:9090", None, Ok(())),
            ("gate.example.com", None, Ok(())),
            ("gate.example.com:443", None, Ok(())),
            ("evil.example.com:9090", None, Err(Foreign::Host)),
            ("127.0.0.1.evil.com", None, Err(Foreign::Host)),
            ("localhost.evil.com", None, Err(Foreign::Host)),
            ("", None, Err(Foreign::Host)),
            ("127.0.0.1:9090", Some("http://127.0.0.1:9090"), Ok(())),
            (
                "127.0.0.1:9090",
                Some("http://evil.example.com"),
                Err(Foreign::Origin),
            ),
            (
                "127.0.0.1:9090",
                Some("http://127.0.0.1:8080"),
                Err(Foreign::Origin),
            ),
            ("127.0.0.1:9090", Some("null"), Err(Foreign::Origin)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(
                check(&headers, &Uri::from_static("/"), &hosts),
                expected,
                "{host} {origin:?}"
            );
        }
    }
}
