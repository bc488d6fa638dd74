//! Character references. Mail programs write few of the named ones; others stay as they stand.

use std::borrow::Cow;

const NAMED: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("euro", '€'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("agrave", 'à'),
];

/// What browsers show for the numbers from 0x80 on, which no text means as the control characters they are:
/// windows-1252, and a blank for those that it leaves out.
const WINDOWS: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        decoded.push_str(before);
        let found = end_of_name(after).and_then(|at| after.split_at_checked(at));
        if let Some((c, tail)) = found.and_then(|(name, tail)| Some((reference(name)?, tail))) {
            decoded.push(c);
            rest = tail.strip_prefix(';').unwrap_or(tail);
        } else {
            decoded.push('&');
            rest = after;
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Names are short: what is longer is text.
fn end_of_name(text: &str) -> Option<usize> {
    text.bytes().take(12).position(|b| b == b';')
}

fn reference(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        let found = NAMED.iter().find(|(known, _)| *known == name);
        return found.map(|(_, c)| *c);
    };
    let number = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    let number = number.ok()?;
    let old = number
        .checked_sub(0x80)
        .and_then(|at| usize::try_from(at).ok());
    let windows = old.and_then(|at| WINDOWS.chars().nth(at));
    windows.or_else(|| char::from_u32(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_once() {
        for (text, expected) in [
            ("a &amp;lt; b", "a &lt; b"),
            ("&#49; &#x31;", "1 1"),
            ("&#128;&#133;&#x85;&#153;&#159;&#160;", "€……™Ÿ\u{a0}"),
            ("a & b; &unknown; &", "a & b; &unknown; &"),
            ("&#xffffffff;&#x110000;", "&#xffffffff;&#x110000;"),
        ] {
            assert_eq!(decode(text), expected);
        }
    }
}
