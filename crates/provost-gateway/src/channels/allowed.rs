//! Where callbacks may go: to the public internet, or to what the operator lists. Addresses are compared by their
//! parts and not as text.

use http::{Uri, uri::Scheme};

use crate::web::{is_off_limits, is_public, plain_address};

/// Without a list: any public address. A name is judged by where it leads, when it is called.
#[derive(Clone, Debug, Default)]
pub struct Allowed(Option<Vec<AllowedUrl>>);

/// Such as `https://hooks.example.com/provost/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedUrl {
    scheme: Scheme,
    host: String,
    port: u16,
    path: String,
    /// And all below.
    below: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAllowed {
    #[error("it is an http or https address such as `https://hooks.example.com/*`")]
    NoUrl,
    #[error("a `*` stands only at the end, after a `/`")]
    Star,
    #[error("it has no user, and nothing after `?`")]
    TooMuch,
    #[error("link-local, unspecified and multicast addresses and a cloud's own are never called")]
    OffLimits,
}

impl Allowed {
    pub fn only(urls: Vec<AllowedUrl>) -> Self {
        Self(Some(urls))
    }

    pub(crate) fn permits(&self, uri: &Uri) -> bool {
        match &self.0 {
            Some(urls) => urls.iter().any(|url| url.matches(uri)),
            None => uri
                .host()
                .is_some_and(|host| plain_address(host).is_none_or(is_public)),
        }
    }

    /// Whether there is a list: what it names may be on this machine and in its network.
    pub(crate) fn is_list(&self) -> bool {
        self.0.is_some()
    }
}

impl AllowedUrl {
    pub fn parse(text: &str) -> Result<Self, BadAllowed> {
        let (text, below) = match text.strip_suffix("/*") {
            Some(rest) => (format!("{rest}/"), true),
            None => (text.to_owned(), false),
        };
        if text.contains('*') {
            return Err(BadAllowed::Star);
        }
        let uri: Uri = text.parse().map_err(|_| BadAllowed::NoUrl)?;
        let (scheme, host, port) = place(&uri).ok_or(BadAllowed::NoUrl)?;
        let has_user = uri.authority().is_some_and(|at| at.as_str().contains('@'));
        if has_user || uri.query().is_some() {
            return Err(BadAllowed::TooMuch);
        }
        if plain_address(&host).is_some_and(is_off_limits) {
            return Err(BadAllowed::OffLimits);
        }
        Ok(Self {
            scheme,
            host,
            port,
            path: uri.path().to_owned(),
            below,
        })
    }

    fn matches(&self, uri: &Uri) -> bool {
        let Some((scheme, host, port)) = place(uri) else {
            return false;
        };
        let path = uri.path();
        let fits = if self.below {
            path.starts_with(&self.path) && !climbs(path)
        } else {
            path == self.path
        };
        fits && (&scheme, &host, port) == (&self.scheme, &self.host, self.port)
    }
}

fn place(uri: &Uri) -> Option<(Scheme, String, u16)> {
    let scheme = uri.scheme()?.clone();
    let usual = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let host = uri.host().filter(|host| !host.is_empty())?;
    let port = uri.port_u16().unwrap_or(usual);
    Some((scheme, host.to_ascii_lowercase(), port))
}

/// Whether a server may read it as another path, higher up.
fn climbs(path: &str) -> bool {
    let path = path.to_ascii_lowercase().replace("%2e", ".");
    let path = path.replace("%2f", "/").replace(['\\', ';'], "/");
    let path = path.replace("%5c", "/");
    path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_by_their_parts() {
        let below = "https://hooks.example.com/provost/*";
        let exact = "http://127.0.0.1:8080/told";
        for (allowed, url, expected) in [
            (below, "https://hooks.example.com/provost/a?key=1", true),
            (below, "https://HOOKS.example.com:443/provost/", true),
            (below, "https://hooks.example.com/provost", false),
            (below, "https://hooks.example.com/other", false),
            (below, "https://hooks.example.com/provost/../other", false),
            (
                below,
                "https://hooks.example.com/provost/%2E%2e/other",
                false,
            ),
            (below, "https://hooks.example.com/provost/..%2fother", false),
            (below, "http://hooks.example.com/provost/a", false),
            (below, "https://hooks.example.com:8443/provost/a", false),
            (below, "https://hooks.example.com.evil.org/provost/a", false),
            (
                below,
                "https://evil.org/https://hooks.example.com/provost/",
                false,
            ),
            ("https://a.org/*", "https://a.org/", true),
            ("https://a.org/*", "https://a.org", true),
            ("https://a.org", "https://a.org/x", false),
            (exact, "http://127.0.0.1:8080/told?key=1", true),
            (exact, "http://127.0.0.1:8080/told/x", false),
        ] {
            let allowed = Allowed::only(vec![AllowedUrl::parse(allowed).unwrap()]);
            assert_eq!(allowed.permits(&url.parse().unwrap()), expected, "{url}");
        }
        let uri = "https://a.org/".parse().unwrap();
        assert!(Allowed::default().permits(&uri));
        assert!(!Allowed::only(Vec::new()).permits(&uri));
    }

    #[test]
    fn p8_without_a_list_only_public_addresses_are_permitted() {
        for (url, expected) in [
            ("https://a.org:8443/x", true),
            ("http://8.8.8.8/x", true),
            ("http://[2606:4700::1111]/x", true),
            ("http://127.0.0.1/x", false),
            ("http://localhost:8080/x", false),
            ("http://LocalHost./x", false),
            ("http://me.localhost/x", false),
            ("http://2130706433/x", false),
            ("http://0177.1/x", false),
            ("http://[::1]/x", false),
            ("http://[::ffff:10.0.0.1]/x", false),
            ("http://10.1.2.3/x", false),
            ("http://100.64.0.1/x", false),
            ("http://[fd00::1]/x", false),
            ("http://0/x", false),
        ] {
            let uri: Uri = url.parse().unwrap();
            assert_eq!(Allowed::default().permits(&uri), expected, "{url}");
        }
    }

    #[test]
    fn what_would_allow_more_than_it_says_is_refused() {
        for (text, expected) in [
            ("hooks.example.com", BadAllowed::NoUrl),
            ("ftp://hooks.example.com/*", BadAllowed::NoUrl),
            ("*", BadAllowed::Star),
            ("https://*.example.com/*", BadAllowed::Star),
            ("https://example.com*", BadAllowed::Star),
            ("https://me@example.com/*", BadAllowed::TooMuch),
            ("https://example.com/?a=b", BadAllowed::TooMuch),
            ("http://169.254.169.254/*", BadAllowed::OffLimits),
            ("http://0.0.0.0:8080/*", BadAllowed::OffLimits),
            ("http://0xa9fea9fe/*", BadAllowed::OffLimits),
        ] {
            assert_eq!(AllowedUrl::parse(text), Err(expected), "{text}");
        }
    }
}
