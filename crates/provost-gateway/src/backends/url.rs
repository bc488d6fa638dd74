//! URLs with `{name}` holes that arguments fill, such that no argument can change which resource of
//! which host is meant: values are percent-encoded, and dot segments and empty ones are refused.

use std::borrow::Cow;

use http::{Uri, uri::Scheme};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::declared::Declared;

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

#[derive(Debug)]
pub(super) struct UrlTemplate {
    /// The URL with its holes empty: scheme and host are always these.
    origin: Uri,
    parts: Vec<Part>,
    has_query: bool,
}

#[derive(Debug)]
enum Part {
    Literal(String),
    Hole { name: String, in_query: bool },
}

/// The query of a request in the making.
#[derive(Default)]
pub(super) struct Query(String);

impl UrlTemplate {
    /// The error never repeats the URL, which may hold a secret.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url
            .split_once("://")
            .ok_or("the URL must begin with http:// or https://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        if authority.contains(['{', '}']) {
            return Err("an argument cannot choose the host of the URL".into());
        }
        if authority.contains('@') {
            return Err("put credentials into a header, not into the URL".into());
        }
        if url.contains('#') {
            return Err("the URL must not have a fragment".into());
        }
        let slash = if target.starts_with('/') { "" } else { "/" };
        let target = format!("{slash}{target}");
        let origin: Uri = format!("{scheme}://{authority}/")
            .parse()
            .map_err(|_| "the URL is malformed")?;
        if origin.scheme() != Some(&Scheme::HTTP) && origin.scheme() != Some(&Scheme::HTTPS) {
            return Err("the URL must begin with http:// or https://".into());
        }
        let parts = parts(&target)?;
        let template = Self {
            origin,
            parts,
            has_query: target.contains('?'),
        };
        template
            .expand(|_| Ok(Cow::Borrowed("x")), Query::default())
            .map_err(|problems| problems.join("; "))?;
        Ok(template)
    }

    pub(super) fn origin(&self) -> &Uri {
        &self.origin
    }

    pub(super) fn holes(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    pub(super) fn has_hole(&self, name: &str) -> bool {
        self.holes().any(|hole| hole == name)
    }

    /// Fills every hole with what `value` says, or tells all that stood against it.
    pub(super) fn expand<'v>(
        &self,
        value: impl Fn(&str) -> Result<Cow<'v, str>, String>,
        query: Query,
    ) -> Result<Uri, Vec<String>> {
        let mut problems = Vec::new();
        let mut target = String::with_capacity(128);
        for part in &self.parts {
            match part {
                Part::Literal(text) => target.push_str(text),
                Part::Hole { name, in_query } => match value(name) {
                    Ok(text) if *in_query || is_path_value(&text) => target.extend(encode(&text)),
                    Ok(_) => problems.push(format!(
                        "`{name}` must not be empty nor hold a `.` or `..` segment"
                    )),
                    Err(problem) => problems.push(problem),
                },
            }
        }
        let path = target.split('?').next().unwrap_or_default();
        if problems.is_empty() && path.split('/').any(|segment| matches!(segment, "." | "..")) {
            problems.push("the path must not hold a `.` or `..` segment".into());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        query.append_to(&mut target, self.has_query);
        let mut uri = self.origin.clone().into_parts();
        uri.path_and_query = Some(
            target
                .try_into()
                .map_err(|_| vec!["the URL is malformed".to_owned()])?,
        );
        Uri::from_parts(uri).map_err(|_| vec!["the URL is malformed".to_owned()])
    }
}

impl Query {
    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.push_encoded(name, encode(value));
    }

    /// For values whose separators must stay: the pieces are encoded already.
    pub(super) fn push_encoded<'t>(
        &mut self,
        name: &str,
        value: impl IntoIterator<Item = &'t str>,
    ) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.extend(encode(name));
        self.0.push('=');
        self.0.extend(value);
    }

    /// One argument as far as it is declared: a list repeats the name, null is absent, an object is its JSON.
    pub(super) fn push_value(
        &mut self,
        name: &str,
        value: &Value,
        declared: &Declared,
    ) -> Result<(), String> {
        for text in declared.texts(name, value)? {
            self.push(name, &text);
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn append_to(self, target: &mut String, has_query: bool) {
        if !self.0.is_empty() {
            target.push(if has_query { '&' } else { '?' });
            target.push_str(&self.0);
        }
    }
}

pub(super) fn encode(text: &str) -> impl Iterator<Item = &str> {
    utf8_percent_encode(text, RESERVED)
}

/// Servers differ in when they decode `%2F`, so a value that would climb once decoded is refused too.
fn is_path_value(text: &str) -> bool {
    !text.is_empty()
        && !text
            .split(['/', '\\'])
            .any(|segment| matches!(segment, "." | ".."))
}

fn parts(target: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = target;
    let mut in_query = false;
    while let Some((literal, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .ok_or("a `{` in the URL is never closed")?;
        in_query |= literal.contains('?');
        if name.is_empty() || name.contains('{') {
            return Err("a `{}` in the URL must hold the name of an argument".into());
        }
        parts.push(Part::Literal(literal.to_owned()));
        parts.push(Part::Hole {
            name: name.to_owned(),
            in_query,
        });
        rest = after;
    }
    parts.push(Part::Literal(rest.to_owned()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(template: &str, value: &str) -> Result<String, String> {
        let template = UrlTemplate::parse(template)?;
        let uri = template.expand(|_| Ok(Cow::Borrowed(value)), Query::default());
        uri.map(|uri| uri.to_string())
            .map_err(|problems| problems.join("; "))
    }

    #[test]
    fn an_argument_stays_within_its_segment() {
        for (template, value, expected) in [
            ("http://h/u/{id}", "a b", "http://h/u/a%20b"),
            (
                "http://h/u/{id}/x",
                "a/b?c#d&e=f",
                "http://h/u/a%2Fb%3Fc%23d%26e%3Df/x",
            ),
            ("http://h/u/{id}", "%2e%2e%2f", "http://h/u/%252e%252e%252f"),
            (
                "http://h/u/{id}",
                "caf\u{e9}\r\n",
                "http://h/u/caf%C3%A9%0D%0A",
            ),
            ("http://h/u/{id}", "...", "http://h/u/..."),
            ("http://h?q={id}", "../a", "http://h/?q=..%2Fa"),
            ("http://h/u?q={id}&r=1", "", "http://h/u?q=&r=1"),
            (
                "https://h:8443/{id}",
                "@evil.example",
                "https://h:8443/%40evil.example",
            ),
        ] {
            assert_eq!(
                expand(template, value).as_deref(),
                Ok(expected),
                "{template} {value}"
            );
        }
    }

    #[test]
    fn arguments_that_would_climb_are_refused() {
        for (template, value) in [
            ("http://h/u/{id}", ".."),
            ("http://h/u/{id}", "."),
            ("http://h/u/{id}", ""),
            ("http://h/u/{id}", "../admin"),
            ("http://h/u/{id}", "a/../../admin"),
            ("http://h/u/{id}", "..\\admin"),
            ("http://h/u/.{id}", "."),
            ("http://h/u/.{id}/x", "."),
        ] {
            assert!(expand(template, value).is_err(), "{template} {value}");
        }
    }

    #[test]
    fn templates_are_checked_once() {
        for template in [
            "h/x",
            "ftp://h/x",
            "http://{host}/x",
            "http://user:pw@h/x",
            "http://h/{a",
            "http://h/{}",
            "http://h/#f",
            "http://h/a/../b",
            "http:///x",
            "http://h /x",
        ] {
            assert!(UrlTemplate::parse(template).is_err(), "{template}");
        }
    }
}
