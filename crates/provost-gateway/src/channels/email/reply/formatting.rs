//! What programs write into a plain text for the links and the bold words of an HTML one.

/// A text without the addresses behind its links and the stars around its bold words.
pub(super) fn without(text: &str) -> String {
    without_stars(&without_links(text))
}

/// "example.org <http://example.org>" and "bob@example.org<mailto:bob@example.org>"
fn without_links(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let link = after.split_once('>').filter(|(inside, _)| {
            let schemes = ["http://", "https://", "mailto:", "tel:"];
            let is_link = schemes.iter().any(|scheme| inside.starts_with(scheme));
            is_link && !inside.contains(char::is_whitespace)
        });
        if let Some((_, after)) = link {
            kept.push_str(before.trim_end());
            rest = after;
        } else {
            kept.push_str(before);
            kept.push('<');
            rest = after;
        }
    }
    kept + rest
}

/// `*staging*` as a word of its own. A star inside a word, or at one end of it, is a pattern.
fn without_stars(text: &str) -> String {
    let inner = |word: &str| {
        let inside = word.strip_prefix('*')?.strip_suffix('*')?;
        (!inside.is_empty() && !inside.contains('*')).then(|| inside.to_owned())
    };
    let words = text.split(' ');
    let plain = words.map(|word| inner(word).unwrap_or_else(|| word.to_owned()));
    plain.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_stars_are_left_out() {
        for (text, expected) in [
            ("use a.org <http://a.org> now", "use a.org now"),
            ("a.org<http://a.org>", "a.org"),
            ("ask bob@a.org<mailto:bob@a.org>", "ask bob@a.org"),
            ("*1*", "1"),
            ("use *staging* only", "use staging only"),
            ("ls *.o *.a", "ls *.o *.a"),
            ("a < b > c", "a < b > c"),
            ("cat <in >out", "cat <in >out"),
        ] {
            assert_eq!(without(text), expected, "{text}");
        }
    }
}
