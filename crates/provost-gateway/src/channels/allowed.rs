//! Where callbacks may go: to the public internet, or to what the operator lists. Addresses are compared by their
//! parts and not as text.

use http::Uri;
use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;

use super::address::CallbackAddress;
use crate::web::{is_off_limits, is_public, plain_address};

/// Without a list: any public address. A name is judged by where it leads, when it is called.
#[derive(Clone, Debug, Default)]
pub struct Allowed(Option<Vec<AllowedUrl>>);

/// Such as `https://hooks.example.com/provost/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedUrl {
    server: CallbackAddress,
    path: String,
    /// And all below.
    below: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAllowed {
    #[error("it is an http or https address such as `https://hooks.example.com/*`")]
    NoUrl,
    #[error("its host is a name or an address, and its port a number from 1 to 65535")]
    Server,
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
            None => CallbackAddress::of(uri)
                .is_some_and(|server| plain_address(&server.host).is_none_or(is_public)),
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
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(BadAllowed::NoUrl);
        }
        let has_user = uri.authority().is_some_and(|at| at.as_str().contains('@'));
        if has_user || uri.query().is_some() {
            return Err(BadAllowed::TooMuch);
        }
        let server = CallbackAddress::of(&uri).ok_or(BadAllowed::Server)?;
        if plain_address(&server.host).is_some_and(is_off_limits) {
            return Err(BadAllowed::OffLimits);
        }
        Ok(Self {
            server,
            path: uri.path().to_owned(),
            below,
        })
    }

    fn matches(&self, uri: &Uri) -> bool {
        if CallbackAddress::of(uri).as_ref() != Some(&self.server) {
            return false;
        }
        match uri.path().strip_prefix(&*self.path) {
            Some(rest) if self.below => !may_climb(rest),
            Some(rest) => rest.is_empty(),
            None => false,
        }
    }
}

/// Whether a server may read it as another path, higher up. Servers decode more than once, cut at controls, queries
/// and parameters, normalise letters, and read bytes that are no text each in their own way: such paths are refused.
fn may_climb(path: &str) -> bool {
    let Ok(decoded) = percent_decode_str(path).decode_utf8() else {
        return true;
    };
    let is_odd = |c: char| matches!(c, '%' | '?' | '#') || c.is_control() || is_disguised(c);
    if decoded.contains(is_odd) || path.to_ascii_lowercase().contains("%3b") {
        return true;
    }
    decoded.split(['/', '\\', ';']).any(is_above)
}

/// Another spelling of what parts a path: a character that normalises to it, or a slash that only looks like one.
fn is_disguised(c: char) -> bool {
    let parts = |c: char| matches!(c, '.' | '/' | '\\' | ';' | '%' | '?' | '#' | '∕' | '⁄');
    !c.is_ascii() && c.nfkc().any(parts)
}

/// `..`, also with the spaces, further dots and invisible characters that some servers and file systems leave out.
fn is_above(part: &str) -> bool {
    let is_left_out = |c: char| c.is_whitespace() || !(c.is_ascii() || c.is_alphanumeric());
    part.chars().filter(|c| *c == '.').count() > 1
        && part.chars().all(|c| c == '.' || is_left_out(c))
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
    fn p08_a_port_that_cannot_be_read_is_no_port() {
        let usual = AllowedUrl::parse("http://127.0.0.1/*").unwrap();
        let other = AllowedUrl::parse("http://127.0.0.1:21149/ok/*").unwrap();
        for allowed in [
            Allowed::only(vec![usual, other]),
            Allowed::only(vec![AllowedUrl::parse("https://a.org/*").unwrap()]),
            Allowed::default(),
        ] {
            for url in [
                "http://127.0.0.1:99999/x80",
                "http://127.0.0.1:21149.evil/ok/x",
                "http://127.0.0.1:+21149/ok/x",
                "http://127.0.0.1:021149/ok/x",
                "https://a.org:80800/x",
                "https://a.org:/x",
            ] {
                let permitted = url.parse().is_ok_and(|uri| allowed.permits(&uri));
                assert!(!permitted, "{url} by {allowed:?}");
            }
        }
    }

    #[test]
    fn p08_nothing_leads_out_of_what_is_allowed_below_a_path() {
        let allowed = AllowedUrl::parse("http://127.0.0.1:8080/ok/*").unwrap();
        let allowed = Allowed::only(vec![allowed]);
        for (path, expected) in [
            ("a/b", true),
            ("a.b/..c/c../.well-known", true),
            ("a%20b/%C3%A9", true),
            ("a;v=1/b", true),
            ("../x", false),
            ("a/..", false),
            ("%2e%2E/x", false),
            (".%2e/x", false),
            ("..%2fx", false),
            ("..%5cx", false),
            ("..;/x", false),
            ("..;v=1/x", false),
            ("%252e%252e/x", false),
            ("%25252e/x", false),
            ("..%3b/x", false),
            ("..%3B/x", false),
            ("..%00/x", false),
            ("..%09/x", false),
            (".%0d./x", false),
            ("..%7f/x", false),
            ("..%c2%85/x", false),
            ("%c0%ae%c0%ae/x", false),
            ("%e0%80%ae%e0%80%ae/x", false),
            ("%ff/x", false),
            ("%u002e%u002e/x", false),
            ("%2/x", false),
            ("..%20/x", false),
            ("..%c2%a0/x", false),
            (".../x", false),
            ("%ef%bc%8e%ef%bc%8e/x", false),
            ("%e2%80%a5/x", false),
            ("..%ef%bc%8fx", false),
            ("a%e2%80%93b/%e6%97%a5", true),
            ("%ef%b9%92%ef%b9%92/x", false),
            ("..%ef%b9%a8x", false),
            ("..%e2%88%95x", false),
            ("..%e2%84%80/x", false),
            (".%e2%80%8b./x", false),
            ("..%ef%bc%9fx", false),
            ("..%3fx", false),
            ("..%3Fx", false),
            ("..%23x", false),
        ] {
            let url = format!("http://127.0.0.1:8080/ok/{path}");
            let permitted = url.parse().is_ok_and(|uri| allowed.permits(&uri));
            assert_eq!(permitted, expected, "{url}");
        }
    }

    #[test]
    fn p08_without_a_list_only_public_addresses_are_permitted() {
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
            ("http://127.0.0.1:80800/*", BadAllowed::Server),
            ("http://127.0.0.1:021149/*", BadAllowed::Server),
            ("http://127.0.0.1:+21149/*", BadAllowed::Server),
            ("http://127.0.0.1:/*", BadAllowed::Server),
            ("http://[fe80::1%25eth0]/*", BadAllowed::Server),
        ] {
            assert_eq!(AllowedUrl::parse(text), Err(expected), "{text}");
        }
    }
}
