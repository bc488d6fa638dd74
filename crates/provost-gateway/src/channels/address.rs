//! The server that a callback goes to, read strictly. What is accepted here must be what is connected to: a port
//! that cannot be read is not the usual one, and a host is a name or an address and nothing between.

use std::net::Ipv6Addr;

use http::{Uri, uri::Scheme};

use crate::web::{plain_address, port};

/// Of bytes: the longest name that can be looked up.
const LONGEST_NAME: usize = 253;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallbackAddress {
    scheme: Scheme,
    /// In lower case; an IPv6 address has its brackets.
    pub(crate) host: String,
    port: u16,
}

impl CallbackAddress {
    /// `None` for an address with a user in it, too.
    pub(crate) fn of(uri: &Uri) -> Option<Self> {
        let scheme = uri.scheme()?.clone();
        let authority = uri.authority()?;
        if authority.as_str().contains('@') {
            return None;
        }
        let host = authority.host().to_ascii_lowercase();
        is_host(&host).then_some(())?;
        Some(Self {
            port: port(uri).filter(|port| *port != 0)?,
            scheme,
            host,
        })
    }
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        // An address with a zone belongs to one interface of one machine.
        Some(rest) => rest
            .strip_suffix(']')
            .is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => is_name(host),
    }
}

/// A name or an IPv4 address, with or without the dot at its end.
fn is_name(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !label.is_empty() && label.bytes().all(plain)
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= LONGEST_NAME
        && name.split('.').all(is_label)
        // No domain ends in a number: it is an address, or nothing.
        && (!is_number || plain_address(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p08_an_address_is_read_strictly_or_not_at_all() {
        for (url, expected) in [
            ("http://a.org/x", Some(("a.org", 80))),
            ("https://A.org./x", Some(("a.org.", 443))),
            ("http://my_host-1:8080/x", Some(("my_host-1", 8080))),
            ("http://127.0.0.1:21149/x", Some(("127.0.0.1", 21149))),
            ("http://2130706433/x", Some(("2130706433", 80))),
            ("http://[::1]:65535/x", Some(("[::1]", 65535))),
            ("http://127.0.0.1:80800/x", None),
            ("http://127.0.0.1:99999/x80", None),
            ("http://127.0.0.1:21149.evil/ok/x", None),
            ("http://127.0.0.1:+21149/x", None),
            ("http://127.0.0.1:021149/x", None),
            ("http://127.0.0.1:0/x", None),
            ("http://127.0.0.1:/x", None),
            ("http://127.0.0.1:80:81/x", None),
            ("http://127.0.0.1:8o/x", None),
            ("http://[::1]x:80/x", None),
            ("http://[::1]:x/x", None),
            ("http://:21149/", None),
            ("http://./x", None),
            ("http://a..org/x", None),
            ("http://a%2eorg/x", None),
            ("http://1.2.3.4.5/x", None),
            ("http://256.1/x", None),
            ("http://[::1%25lo]/x", None),
            ("http://[fe80::1%25eth0]/x", None),
            ("http://[127.0.0.1]/x", None),
            ("http://[v1.a]/x", None),
            ("http://[::1/x", None),
            ("http://me@a.org/x", None),
            ("ftp://a.org/x", None),
            ("/x", None),
        ] {
            // Some are refused as no URL at all.
            let uri = url.parse::<Uri>().ok();
            let read = uri.as_ref().and_then(CallbackAddress::of);
            let read = read.as_ref().map(|read| (&*read.host, read.port));
            assert_eq!(read, expected, "{url}");
        }
    }
}
