//! The rest of a word of a shell, without what runs: a mask covers literal text only. Nothing that a shell
//! would take for another word, another command or a substitution is ever part of one.

use std::ops::Range;

/// So far quotes are followed from the beginning of a text.
const FARTHEST: usize = 16 * 1024;

/// The literal pieces of the word that goes on at `start`. Substitutions and variables in it are left out, and
/// so stay visible. Blanks belong to it only inside quotes that certainly begin there.
pub(in crate::review) fn literals(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut quote = None;
    let mut whole = false;
    let mut piece = start;
    let mut at = start;
    let mut close = |piece: &mut usize, end: usize, next: usize| {
        if *piece < end {
            pieces.push(*piece..end);
        }
        *piece = next;
    };
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + letter.len_utf8();
        if let Some(runs) = runs_until(text, at) {
            close(&mut piece, at, runs);
            at = runs;
            continue;
        }
        match quote {
            Some(mark) if letter == mark => {
                close(&mut piece, at, next);
                quote = None;
            }
            Some(_) if whole && letter != '\n' => {}
            None if matches!(letter, '"' | '\'') => {
                close(&mut piece, at, next);
                whole = opens(text, at);
                quote = Some(letter);
            }
            None if letter == ',' && !follows_letter(text, next) => break,
            // `\"` ends a text inside a text.
            _ if letter == '\\'
                && text
                    .get(next..)
                    .is_some_and(|rest| rest.starts_with(['"', '\'', 'n'])) =>
            {
                if at > start {
                    break;
                }
                close(&mut piece, at, next + 1);
                at = next + 1;
                continue;
            }
            _ if letter.is_whitespace() || ";|&<>()[]{}".contains(letter) => break,
            _ => {}
        }
        at = next;
    }
    close(&mut piece, at, at);
    pieces
}

fn follows_letter(text: &str, at: usize) -> bool {
    let next = text.get(at..).and_then(|rest| rest.chars().next());
    next.is_some_and(|letter| !letter.is_whitespace())
}

/// Whether a program would run here, and not only a variable be read.
pub(super) fn is_substitution(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    rest.starts_with("$(") || rest.starts_with('`')
}

/// Where something that runs, or a variable, ends that begins here.
pub(super) fn runs_until(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if let Some(inner) = rest.strip_prefix('`') {
        return Some(at + 1 + inner.find('`').map_or(inner.len(), |end| end + 1));
    }
    let after = rest.strip_prefix('$')?;
    if after.starts_with('(') || after.starts_with('{') {
        let mut depth = 0_usize;
        for (offset, letter) in after.char_indices() {
            match letter {
                '(' | '{' => depth += 1,
                ')' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1 + offset + letter.len_utf8());
            }
        }
        return Some(text.len());
    }
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = after.find(|letter| !is_name(letter)).unwrap_or(after.len());
    let begins = after.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    begins.then_some(at + 1 + name)
}

/// Whether the quote at this place certainly begins a quoted text. What may confuse the count, such as a comment,
/// a here-document or a backslash before it, leaves it open.
pub(in crate::review) fn opens(text: &str, at: usize) -> bool {
    let Some(before) = text.get(..at).filter(|before| before.len() <= FARTHEST) else {
        return false;
    };
    let unclear = ["\\", "#", "$'", "$\"", "`", "$("];
    // A here-string brings no lines of its own along.
    let here = before.contains("<<") && before.replace("<<<", "").contains("<<");
    if here || unclear.iter().any(|mark| before.contains(mark)) {
        return false;
    }
    let mut quote = None;
    for letter in before.chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            _ => {}
        }
    }
    quote.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_a_mask_covers_the_rest_of_a_word_and_nothing_that_runs() {
        for (text, expected) in [
            ("P=abc rm -rf /", &["abc"][..]),
            ("P=abc;rm -rf /", &["abc"]),
            ("P=abc&&rm", &["abc"]),
            ("P=abc|sh", &["abc"]),
            ("P=\"a b\" cmd", &["a b"]),
            ("P='a b' cmd", &["a b"]),
            ("P=ab\"c d\"e cmd", &["ab", "c d", "e"]),
            ("P=$(rm -rf /) cmd", &[]),
            ("P=a$(rm -rf /)b cmd", &["a", "b"]),
            ("P=`rm -rf /`x", &["x"]),
            ("P=$X cmd", &[]),
            ("P=${X:-abc} cmd", &[]),
            ("P=\"a$(rm -rf /) b\"", &["a", " b"]),
            ("P=", &[]),
            ("P= rm", &[]),
            ("P=a,b c", &["a,b"]),
            ("P=a, c", &["a"]),
            ("P=a}", &["a"]),
        ] {
            let pieces = literals(text, 2);
            let pieces: Vec<_> = pieces.into_iter().map(|piece| &text[piece]).collect();
            assert_eq!(pieces, expected, "{text}");
        }
    }

    #[test]
    fn p09_a_quote_that_may_close_does_not_open() {
        for text in [
            "env \"PASSWORD=\" rm -rf /etc \"x\"",
            "echo \"\nPASSWORD=\"; rm -rf /; echo \"",
            "# don't\nPASSWORD=\" rm -rf / \"",
            "cat <<'E'\n'\nE\nPASSWORD=' rm -rf / '",
        ] {
            let start = text.find("PASSWORD=").unwrap() + 9;
            let hidden: String = literals(text, start)
                .into_iter()
                .map(|piece| &text[piece])
                .collect();
            assert!(!hidden.contains("rm"), "{text}: {hidden}");
        }
    }
}
