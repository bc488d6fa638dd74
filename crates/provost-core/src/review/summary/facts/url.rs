//! The address in the arguments of a call. An address that programs could read in two ways has none.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};

const NAMES: [&str; 2] = ["url", "uri"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub scheme: String,
    /// In lower case, without a dot at its end. Some schemes have none.
    pub host: Option<String>,
    /// As given, or what `http` and `https` use.
    pub port: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// `None` where no argument is an address. Two that differ are none that could be told.
pub(super) fn find(params: &Map<String, Value>) -> Option<Result<Url, Unreadable>> {
    let mut found: Option<Result<Url, Unreadable>> = None;
    for value in NAMES.iter().filter_map(|name| params.get(*name)) {
        let url = match value {
            Value::Null => continue,
            Value::String(text) => parse(text).ok_or(Unreadable),
            _ => Err(Unreadable),
        };
        found = Some(match found {
            Some(other) if other != url => Err(Unreadable),
            _ => url,
        });
    }
    found
}

pub(super) fn parse(text: &str) -> Option<Url> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '<' | '>' | '"');
    if text.contains(odd) {
        return None;
    }
    let (scheme, rest) = text.split_once("://")?;
    let mut letters = scheme.chars();
    let named = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !named {
        return None;
    }
    let scheme = scheme.to_lowercase();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // Before a second `@` some see a name and others a host.
    let (user, address) = authority.split_once('@').unwrap_or(("", authority));
    if address.contains('@') || user.contains('%') {
        return None;
    }
    let (name, port) = split_port(address)?;
    let web = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp");
    let host = match name {
        "" if web || port.is_some() || !user.is_empty() => return None,
        "" => None,
        name => Some(host(name)?),
    };
    let usual = match scheme.as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    };
    Some(Url {
        scheme,
        host,
        port: port.or(usual),
    })
}

fn split_port(address: &str) -> Option<(&str, Option<u16>)> {
    let after = if address.starts_with('[') {
        address.find(']')? + 1
    } else {
        address.find(':').unwrap_or(address.len())
    };
    let (name, rest) = address.split_at_checked(after)?;
    match rest.strip_prefix(':') {
        Some("") | None if rest.len() <= 1 => {
            (rest.is_empty() || rest == ":").then_some((name, None))
        }
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, Some(digits.parse().ok()?)))
        }
        _ => None,
    }
}

/// A name or an address in the one form that is compared. `0x7f.1` and `2130706433` are addresses, too, in
/// forms that no rule thinks of.
pub(super) fn host(name: &str) -> Option<String> {
    if let Some(inner) = name.strip_prefix('[') {
        let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return Some(match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => address.to_string(),
        });
    }
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let labels = |label: &str| !label.is_empty() && label.chars().all(plain);
    if !name.split('.').all(labels) {
        return None;
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if numeric && name.parse::<Ipv4Addr>().is_err() {
        return None;
    }
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p19_addresses_have_one_host_or_none() {
        for (text, expected) in [
            ("https://Example.COM./a?b#c", Some("https example.com 443")),
            ("http://u:p@example.com:8080", Some("http example.com 8080")),
            ("https://good.org@evil.com/", Some("https evil.com 443")),
            ("https://evil.com#@good.org", Some("https evil.com 443")),
            ("https://evil.com/@good.org", Some("https evil.com 443")),
            ("http://[::1]:80/", Some("http ::1 80")),
            ("http://[::ffff:127.0.0.1]/", Some("http 127.0.0.1 80")),
            ("http://127.0.0.1/", Some("http 127.0.0.1 80")),
            ("row://alpha/secret", Some("row alpha ")),
            ("file:///etc/passwd", Some("file  ")),
            ("https://a@b@c/", None),
            ("https://good.org\\@evil.com/", None),
            ("http://2130706433/", None),
            ("http://0x7f.1/", None),
            ("http://127.1/", None),
            ("http:///evil.com", None),
            ("http:evil.com", None),
            ("evil.com/x", None),
            (" https://a.org", None),
            ("https://a.org:99999", None),
            ("https://ex%61mple.com", None),
            ("https://exämple.com", None),
            ("https://{a,b}.com", None),
            ("https://a..b", None),
        ] {
            let found = parse(text).map(|url| {
                let port = url.port.map(|port| port.to_string()).unwrap_or_default();
                format!("{} {} {port}", url.scheme, url.host.unwrap_or_default())
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
