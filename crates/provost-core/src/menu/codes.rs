//! The code that a line begins with: as an answer has it, and as people write it in passing.

use unicode_normalization::UnicodeNormalization as _;

use super::{
    Code,
    digits::{any_digit, plain_digit},
};

/// The code that a line begins with, and what follows on the line.
pub(super) struct Lead<'l> {
    pub(super) code: Code,
    /// How the text was set apart from the code.
    pub(super) separator: Separator,
    pub(super) rest: &'l str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// A blank, or a dot or comma: "4. Stock" and "4, or 5" are no notes.
    None,
    /// A colon, a dash or a bracket, and a blank.
    Clear,
    /// A yes and a colon: "4 yes: as discussed".
    Yes,
}

pub(super) fn lead(line: &str) -> Option<Lead<'_>> {
    let line = trim(line);
    let (word, rest) = first_word(line);
    let mut chars = trim(word).chars();
    let code = code(chars.next()?)?;
    let takes_text = code.needs_text() || code == Code::Deny;
    let separator = match (chars.as_str(), takes_text) {
        ("", _) => Separator::None,
        (":" | "：", true) => Separator::Clear,
        (")", _) if code.needs_text() => Separator::Clear,
        ("." | ",", _) if code.needs_text() && rest.starts_with(char::is_alphabetic) => {
            Separator::None
        }
        _ => return None,
    };
    let (separator, rest) = match dashed(rest).filter(|_| separator == Separator::None) {
        Some(rest) => (Separator::Clear, rest),
        None => (separator, rest),
    };
    let (separator, rest) = match confirmed(rest).filter(|_| code.needs_text()) {
        Some(rest) => (Separator::Yes, rest),
        None => (separator, rest),
    };
    Some(Lead {
        code,
        separator,
        rest,
    })
}

/// As in "yes: as discussed".
fn confirmed(rest: &str) -> Option<&str> {
    let (yes, text) = rest.split_once([':', '：'])?;
    trim(yes).eq_ignore_ascii_case("yes").then(|| trim(text))
}

/// Up to a blank, or behind a full-width colon, which brings its own.
fn first_word(line: &str) -> (&str, &str) {
    let blank = line.find(char::is_whitespace).unwrap_or(line.len());
    let colon = line.find('：').map(|at| at + '：'.len_utf8());
    let end = colon.filter(|colon| *colon < blank).unwrap_or(blank);
    let (word, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    (word, trim(rest))
}

/// As in "5 - npm test" and "3 : too risky".
fn dashed(rest: &str) -> Option<&str> {
    let after = rest.strip_prefix(['-', '–', '—', ':'])?;
    after.starts_with(char::is_whitespace).then(|| trim(after))
}

/// The code that a line may mean, however it is written: `3)`, `*3*`, `- 3: no`, ③. Too loose for an answer, it
/// finds the line that contradicts one.
pub(super) fn mentioned(line: &str) -> Option<(Code, String)> {
    let visible = line.chars().filter(|c| !is_invisible(*c));
    let line: String = visible.nfkc().map(any_digit).collect();
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    // +1 415 555 0100 is a phone number.
    let before = line.strip_suffix(bare).unwrap_or_default();
    if before.ends_with('+') {
        return None;
    }
    let mut chars = bare.chars();
    let code = code(chars.next()?)?;
    let rest = chars.as_str();
    let (next, after) = (chars.next(), chars.next());
    // 3D, 3.5, 10:30 and 2-4 are other things.
    let joined = next.is_some_and(|c| ".,:-–/".contains(c)) && after.is_some_and(char::is_numeric);
    if joined || next.is_some_and(char::is_alphanumeric) || is_phone(rest) {
        return None;
    }
    let rest = rest.trim_matches(|c: char| !c.is_alphanumeric());
    Some((code, rest.to_owned()))
}

/// The rest of a phone number: "1 (415) 555-0100".
fn is_phone(rest: &str) -> bool {
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    digits >= 7
        && rest
            .chars()
            .all(|c| c.is_ascii_digit() || "+-()/. ".contains(c))
}

fn code(digit: char) -> Option<Code> {
    Code::parse(plain_digit(digit).encode_utf8(&mut [0; 4]))
}

pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

pub(super) fn is_blank(line: &str) -> bool {
    trim(line).is_empty()
}

/// Marks of width and direction, which programs put around a text. The overrides of direction are not among
/// them: a text that is read backwards is not read.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202c}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}
