//! Where the host of a URL stands. What is in front of it ends at the same signs as for the programs that follow URLs.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

static AUTHORITY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#":(?://|\\\\)([^\s/?\#\\"'<>`]+)"#).ok());

/// How much of a text, from behind `://`, says who and where.
pub(super) fn end_of_authority(rest: &str) -> usize {
    rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())
}

/// Where a password ends: at the last `@`. What stands before that and reads like hosts may be the host, to programs
/// that take the first `@`.
pub(super) fn end_of_password(rest: &str) -> Option<usize> {
    let authority = rest.get(..end_of_authority(rest))?;
    let (first, last) = (authority.find('@')?, authority.rfind('@')?);
    let between = authority.get(first..last).unwrap_or_default();
    Some(if between.contains([',', ':', '.']) {
        first
    } else {
        last
    })
}

/// The hosts of all URLs in a text, without names and passwords.
pub(super) fn hosts(text: &str) -> Vec<Range<usize>> {
    let Some(authority) = AUTHORITY.as_ref() else {
        return Vec::new();
    };
    let found = authority.captures_iter(text).filter_map(|captures| {
        let authority = captures.get(1)?;
        let host = end_of_password(authority.as_str()).map_or(0, |at| at + 1);
        Some(authority.start() + host..authority.end())
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_the_host_of_a_url_is_found_as_its_readers_find_it() {
        for (url, expected) in [
            ("https://a.example/x", "a.example"),
            ("https://u:p@a.example:80?x", "a.example:80"),
            ("https://evil.example?@good.example/x", "evil.example"),
            ("https://evil.example#@good.example/x", "evil.example"),
            ("https://evil.example\\@good.example/x", "evil.example"),
            ("x 'mongodb://u:p@a:1,b:2/d'", "a:1,b:2"),
            (
                "postgres://u:p@evil.example,x@good.example/d",
                "evil.example,x@good.example",
            ),
        ] {
            let found: Vec<_> = hosts(url).into_iter().map(|place| &url[place]).collect();
            assert_eq!(found, [expected], "{url}");
        }
    }
}
