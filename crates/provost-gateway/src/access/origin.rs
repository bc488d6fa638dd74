//! Requests a browser page makes in somebody's name: foreign origins and rebound host names.
//!
//! A page can send requests to a gateway on the same machine. It cannot forge `Origin`, and to read
//! answers it must rebind a name of its own, which then stands in `Host`. An IP address there cannot be
//! rebound.

use std::net::{IpAddr, Ipv6Addr};

use http::{HeaderMap, Uri, header};

#[derive(Debug, PartialEq, Eq)]
pub enum Foreign {
    Origin,
    Host,
}

pub fn check(headers: &HeaderMap, uri: &Uri, hosts: &[String]) -> Result<(), Foreign> {
    let target = uri.authority().map(http::uri::Authority::as_str);
    let host = host_of(headers).map_err(|_| Foreign::Host)?;
    // A proxy goes by the target and a server by the header: they must mean the same.
    if let (Some(target), Some(host)) = (target, host)
        && !target.eq_ignore_ascii_case(host)
    {
        return Err(Foreign::Host);
    }
    let host = host.or(target);
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

/// More than one `Host`, or one that is no text: each reader would take another one.
#[derive(Debug)]
pub(super) struct Ambiguous;

pub(super) fn host_of(headers: &HeaderMap) -> Result<Option<&str>, Ambiguous> {
    let mut all = headers.get_all(header::HOST).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(host), None) => host.to_str().map(Some).map_err(|_| Ambiguous),
        (Some(_), Some(_)) => Err(Ambiguous),
    }
}

/// The IP address that a host without its port is. IPv6 stands in brackets, and nothing else does.
pub(super) fn address(name: &str) -> Option<IpAddr> {
    let Some(rest) = name.strip_prefix('[') else {
        return name.parse().ok().filter(IpAddr::is_ipv4);
    };
    let address: Ipv6Addr = rest.strip_suffix(']')?.parse().ok()?;
    Some(address.into())
}

fn is_ours(host: &str, hosts: &[String]) -> bool {
    let name = without_port(host);
    address(name).is_some()
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
    fn p07_a_request_names_one_host() {
        let check_hosts = |hosts: &[&str], uri: &str| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().unwrap());
            }
            check(&headers, &uri.parse().unwrap(), &[])
        };
        for (hosts, uri, expected) in [
            (&["localhost"][..], "/decide", Ok(())),
            (&["localhost:1"], "http://LOCALHOST:1/decide", Ok(())),
            (&[], "http://localhost/decide", Ok(())),
            (&[], "/decide", Err(Foreign::Host)),
            (&["localhost", "evil.com"], "/decide", Err(Foreign::Host)),
            (&["localhost", "localhost"], "/decide", Err(Foreign::Host)),
            (&["localhost"], "http://evil.com/decide", Err(Foreign::Host)),
            (
                &["localhost"],
                "http://127.0.0.1/decide",
                Err(Foreign::Host),
            ),
            (&["[::1"], "/decide", Err(Foreign::Host)),
            (&["::1"], "/decide", Err(Foreign::Host)),
            (&["[[127.0.0.1]]"], "/decide", Err(Foreign::Host)),
            (&["[127.0.0.1]"], "/decide", Err(Foreign::Host)),
            (&["127.0.0.1]"], "/decide", Err(Foreign::Host)),
            (&["[::1%25lo]"], "/decide", Err(Foreign::Host)),
        ] {
            assert_eq!(check_hosts(hosts, uri), expected, "{hosts:?} {uri}");
        }
    }

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
