//! Values with a syntax of their own: durations, URLs, addresses, globs.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use http::Uri;
use provost_core::{call::is_name, glob::Glob, time::parse_duration};

use super::{fields::Field, node::Span, reader::Reader};

/// Longer than anything should wait; and still far from where the arithmetic of clocks ends.
const LONGEST: Duration = Duration::from_hours(10 * 366 * 24);

impl Reader<'_> {
    /// `30s`, `5m`, `1h30m`, `90d`. A number alone is refused: of `traces: 90` nobody knows whether days are meant.
    pub(super) fn duration(&mut self, field: Field<'_>) -> Option<Duration> {
        let text = self.text(field)?;
        let number = text.trim();
        if !number.is_empty()
            && number
                .bytes()
                .all(|b| b.is_ascii_digit() || b"._".contains(&b))
        {
            let message = format!("`{}` needs a unit: `{number}` of what?", field.name);
            let help = format!("write `{number}s`, `{number}m`, `{number}h` or `{number}d`");
            self.error(field.node.span, message, help);
            return None;
        }
        match read_duration(text) {
            Some(duration) if !duration.is_zero() && duration <= LONGEST => Some(duration),
            Some(_) => {
                let message = format!(
                    "`{}` must be longer than nothing and at most ten years",
                    field.name
                );
                self.error(field.node.span, message, "");
                None
            }
            None => {
                let message = format!("`{}` is not a duration: `{text}`", field.name);
                self.error(
                    field.node.span,
                    message,
                    "write it as `30s`, `5m`, `1h30m` or `90d`",
                );
                None
            }
        }
    }

    /// A whole number of seconds, at least one.
    pub(super) fn seconds(&mut self, field: Field<'_>) -> Option<Duration> {
        self.number(field, 1, LONGEST.as_secs())
            .map(Duration::from_secs)
    }

    /// An absolute `http` or `https` URL. The text never stands in the message: it may hold a password.
    pub(super) fn url(&mut self, field: Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        self.check_url(field, text).then(|| text.to_owned())
    }

    pub(super) fn check_url(&mut self, field: Field<'_>, text: &str) -> bool {
        if text.contains('@') {
            self.cover(field.node);
        }
        let uri = text.parse::<Uri>().ok().filter(is_web);
        let Some(authority) = uri.as_ref().and_then(Uri::authority) else {
            let message = format!("`{}` is not a URL", field.name);
            self.error(field.node.span, message, "write it as `https://host/path`");
            return false;
        };
        if authority.as_str().contains('@') {
            let message = format!("`{}` holds a name or a password", field.name);
            self.error(
                field.node.span,
                message,
                "put them into a header, where that is possible",
            );
            return false;
        }
        true
    }

    pub(super) fn address(&mut self, field: Field<'_>) -> Option<SocketAddr> {
        let text = self.text(field)?;
        let found = read_address(text);
        if found.is_none() {
            let help = "write an address and a port, such as `127.0.0.1:9090`, or `0.0.0.0:9090` for every interface";
            self.error(
                field.node.span,
                format!("`{}` is not an address to listen on: `{text}`", field.name),
                help,
            );
        }
        found
    }

    pub(super) fn glob(&mut self, text: &str, span: Span) -> Option<Glob> {
        Glob::new(text)
            .map_err(|error| {
                let help = "`*` and `?` match within a name, `[a-z]` one of a class, `\\` escapes";
                self.error(span, format!("bad glob `{text}`: {error}"), help);
            })
            .ok()
    }

    /// What tools, agents and keys may be called.
    pub(super) fn name(&mut self, field: Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        if !is_name(text) {
            let message = format!("`{}` must be short, printable and not empty", field.name);
            self.error(field.node.span, message, "");
            return None;
        }
        Some(text.to_owned())
    }
}

fn is_web(uri: &Uri) -> bool {
    let port = uri
        .authority()
        .map(|authority| authority.as_str().rsplit(':').next().unwrap_or_default());
    let bad_port = uri.port_u16().is_none()
        && port.is_some_and(|port| uri.host() != Some(port) && !port.contains([']', '@']));
    matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.host().is_some_and(|host| !host.is_empty())
        && !bad_port
}

/// Also the ancestor's fractions: `1.5h`.
fn read_duration(text: &str) -> Option<Duration> {
    parse_duration(text).or_else(|| {
        let text = text.trim();
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = text.split_at(unit_at);
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
    })
}

fn read_address(text: &str) -> Option<SocketAddr> {
    if let Some(port) = text.strip_prefix("localhost:") {
        return port
            .parse()
            .ok()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, millis) in [
            ("30s", Some(30_000)),
            ("90d", Some(90 * 86_400_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("0.25s", Some(250)),
            ("250ms", Some(250)),
            ("45", Some(45_000)),
            ("soon", None),
            ("1.2.3s", None),
            ("-5s", None),
            ("", None),
            ("5 minutes", None),
            ("99999999999999999999999.5d", None),
        ] {
            assert_eq!(
                read_duration(text),
                millis.map(Duration::from_millis),
                "{text}"
            );
        }
    }

    #[test]
    fn urls_of_the_web_are_told_from_others() {
        for (url, expected) in [
            ("http://127.0.0.1", true),
            ("https://example.com:8443/a?b=c", true),
            ("http://[::1]:80/", true),
            ("http://[::1]/", true),
            ("http://example.com:port/", false),
            ("http://example.com:99999/", false),
            ("ftp://example.com/", false),
            ("/path", false),
            ("example.com", false),
        ] {
            assert_eq!(
                url.parse::<Uri>().is_ok_and(|uri| is_web(&uri)),
                expected,
                "{url}"
            );
        }
    }

    #[test]
    fn addresses_are_read() {
        for (text, expected) in [
            ("127.0.0.1:9090", Some("127.0.0.1:9090")),
            ("localhost:80", Some("127.0.0.1:80")),
            ("[::1]:9090", Some("[::1]:9090")),
            (":9090", None),
            ("9090", None),
            ("example.com:80", None),
            ("127.0.0.1:99999", None),
        ] {
            assert_eq!(
                read_address(text)
                    .map(|address| address.to_string())
                    .as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
