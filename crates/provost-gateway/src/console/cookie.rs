//! The cookie of a session. Its name holds the port, because browsers keep cookies by host alone and two
//! gateways may share one. Over TLS it has the prefix by which browsers let nobody but this host set it:
//! neither a neighbour under the same domain nor a page without TLS.

use http::{HeaderMap, HeaderValue, header};
use provost_core::sign_in::SignIn;

const OWN: &str = "__Host-";

fn name(headers: &HeaderMap) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let port = host
        .rsplit_once(':')
        .map(|(_, port)| port)
        .filter(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    match port {
        Some(port) => format!("provost_session_{port}"),
        None => "provost_session".to_owned(),
    }
}

/// The secret that the browser holds.
pub(super) fn read(headers: &HeaderMap) -> Option<&str> {
    let name = name(headers);
    let named = |name: &str| {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(has, _)| *has == name)
            .map(|(_, value)| value)
    };
    named(&format!("{OWN}{name}")).or_else(|| named(&name))
}

/// As an answer to the request with these headers, whose `Origin` says by which scheme we are reached.
pub(super) fn set(headers: &HeaderMap, secret: &str) -> Option<HeaderValue> {
    write(headers, secret, SignIn::LONGEST.as_secs())
}

pub(super) fn clear(headers: &HeaderMap) -> Option<HeaderValue> {
    write(headers, "", 0)
}

fn write(headers: &HeaderMap, value: &str, seconds: u64) -> Option<HeaderValue> {
    let name = name(headers);
    let encrypted = headers
        .get(header::ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let (own, secure) = if encrypted {
        (OWN, "; Secure")
    } else {
        ("", "")
    };
    let cookie = format!(
        "{own}{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    );
    HeaderValue::from_str(&cookie).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_has_its_own() {
        let mut headers = HeaderMap::new();
        headers.insert("host", "127.0.0.1:9090".parse().unwrap());
        headers.insert("origin", "https://127.0.0.1:9090".parse().unwrap());
        let set = set(&headers, "s3cret").unwrap();
        let expected = "__Host-provost_session_9090=s3cret; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure";
        assert_eq!(set, expected);
        let cookies = "a=b; provost_session_9091=other; provost_session_9090=s3cret";
        headers.insert("cookie", cookies.parse().unwrap());
        assert_eq!(read(&headers), Some("s3cret"));
        // What a neighbour may set does not count beside what only we may.
        let cookies = "provost_session_9090=tossed; __Host-provost_session_9090=own";
        headers.insert("cookie", cookies.parse().unwrap());
        assert_eq!(read(&headers), Some("own"));
        headers.insert("host", "gate.example.com".parse().unwrap());
        assert_eq!(read(&headers), None);
    }
}
