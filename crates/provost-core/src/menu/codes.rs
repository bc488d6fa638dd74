//! The code that a line begins with: as an answer has it, and as people write it in passing.

use unicode_normalization::UnicodeNormalization as _;

use super::Code;

/// The code that a line begins with, and what follows on the line.
pub(super) fn lead(line: &str) -> Option<(Code, &str)> {
    let line = trim(line);
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut word = trim(word).chars();
    let (Some(digit), None) = (word.next(), word.next()) else {
        return None;
    };
    Some((code(digit)?, trim(rest)))
}

/// The code that a line may mean, however it is written: `3)`, `*3*`, `- 3: no`, ③. Too loose for an answer, it
/// finds the line that contradicts one. Our own menu has brackets around its codes, which are none here.
pub(super) fn mentioned(line: &str) -> Option<(Code, String)> {
    let visible = line.chars().filter(|c| !is_invisible(*c));
    let line: String = visible.nfkc().collect();
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[');
    let mut chars = line.chars();
    let code = code(chars.next()?)?;
    let rest = chars.as_str();
    let (next, after) = (chars.next(), chars.next());
    // 3D, 3.5, 10:30 and 2-4 are other things.
    let joined = next.is_some_and(|c| ".,:-–/".contains(c)) && after.is_some_and(char::is_numeric);
    if joined || next.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let rest = rest.trim_matches(|c: char| !c.is_alphanumeric());
    Some((code, rest.to_owned()))
}

/// Japanese and Chinese keyboards write full-width digits; Arabic, Persian and Hindi have their own.
fn code(digit: char) -> Option<Code> {
    Code::parse(plain_digit(digit).encode_utf8(&mut [0; 4]))
}

/// The digit of our script for one of another.
pub fn plain_digit(c: char) -> char {
    let zero = match c {
        '０'..='９' => '０',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        '\u{966}'..='\u{96f}' => '\u{966}',
        _ => return c,
    };
    char::from_digit(u32::from(c) - u32::from(zero), 10).unwrap_or(c)
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
