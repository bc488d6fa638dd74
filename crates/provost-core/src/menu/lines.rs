//! The lines of a reply: the code in the first one, its text, and what the lines below may say.

use super::{Code, LONGEST_TEXT, Reply, Unclear, prose, signature};

const FENCE: &str = "```";
/// How the breaks between the lines of a reply came about, which decides whether a text may go on below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreaks {
    /// By the person, in a message without history or signature: the lines below belong to the text.
    Typed,
    /// As a reader sees them, such as those of an HTML mail. A signature may stand below.
    Seen,
    /// Programs wrap the long lines of plain mails. A signature may stand below.
    Wrapped,
}

/// Cuts a text into its lines, at every character that begins a new one on a screen.
pub fn lines(text: &str) -> Vec<&str> {
    let is_break = |c| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut rest = text;
    let mut lines = Vec::new();
    while let Some(at) = rest.find(is_break) {
        let (line, after) = rest.split_at(at);
        lines.push(line);
        let mut after = after.chars();
        let first = after.next();
        rest = after.as_str();
        if first == Some('\r') {
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// Reads a reply from the lines that its sender wrote.
pub fn parse_lines(own: &[&str], breaks: LineBreaks) -> Result<Reply, Unclear> {
    let blank = own.iter().take_while(|line| is_blank(line)).count();
    let own = own.get(blank..).unwrap_or_default();
    let (first, below) = own.split_first().ok_or(Unclear::NoCode)?;
    let (code, rest) = lead(first).ok_or(Unclear::NoCode)?;
    if matches!(code, Code::Once | Code::Session | Code::Always) {
        if !rest.is_empty() {
            return Err(Unclear::NotAlone(code));
        }
        one_code((code, rest), below)?;
        return Ok(Reply::bare(code));
    }
    match fence(rest, below) {
        Fence::Closed(text, after) => {
            one_code((code, rest), after)?;
            with_text(code, text)
        }
        Fence::Open => Err(Unclear::OpenFence(code)),
        Fence::None => {
            if code.needs_text() && prose::is_prose(rest) {
                return Err(Unclear::Prose(code));
            }
            one_code((code, rest), below)?;
            with_text(code, text(code, rest, below, breaks)?)
        }
    }
}

fn with_text(code: Code, text: String) -> Result<Reply, Unclear> {
    let text = text.trim();
    if text.len() > LONGEST_TEXT {
        return Err(Unclear::TooLong);
    }
    if text.is_empty() && code.needs_text() {
        return Err(Unclear::TextNeeded(code));
    }
    let text = (!text.is_empty()).then(|| text.to_owned());
    Ok(Reply { code, text })
}

/// The text that begins behind the code.
fn text(code: Code, rest: &str, below: &[&str], breaks: LineBreaks) -> Result<String, Unclear> {
    // A code alone on its line has no text: lines below it are not taken for one.
    if rest.is_empty() {
        return Ok(String::new());
    }
    if breaks == LineBreaks::Typed {
        let lines = std::iter::once(&rest).chain(below).copied();
        return Ok(lines.collect::<Vec<_>>().join("\n"));
    }
    let next = below.first().filter(|line| !is_blank(line));
    // A no is a no, with half its reason too.
    match next {
        Some(next) if code.needs_text() && goes_on(code, rest, next, breaks) => {
            Err(Unclear::GoesOn(code))
        }
        _ => Ok(rest.to_owned()),
    }
}

/// Whether the next line may be the rest of the text, and not a signature.
fn goes_on(code: Code, rest: &str, next: &str, breaks: LineBreaks) -> bool {
    /// The shortest lines to which programs wrap a text.
    const NARROWEST: usize = 60;
    let next_word = next.split_whitespace().next().unwrap_or_default();
    let together = rest.chars().count() + next_word.chars().count() + 3;
    let wrapped = breaks == LineBreaks::Wrapped && together > NARROWEST;
    let open = rest.ends_with([
        ',', ':', ';', '\\', '|', '&', '(', '{', '[', '-', '、', '，',
    ]);
    let below = match code {
        Code::Note => signature::may_follow_a_note(next),
        _ => signature::may_follow(next),
    };
    wrapped || open || !below
}

/// A second code that says something else leaves open which one is meant. A no that is said again stays one.
fn one_code(first: (Code, &str), below: &[&str]) -> Result<(), Unclear> {
    let mut signature = signature::Block::default();
    for line in below {
        let found = lead(line);
        let in_signature = signature.holds(line, found.is_some(), is_blank(line));
        let Some((code, rest)) = found else { continue };
        let same = code == first.0 && (rest == first.1 || code == Code::Deny);
        // Addresses have numbers, too: "5 Main Street" below a name.
        let address = in_signature && !rest.is_empty();
        if !same && !address {
            return Err(Unclear::several(line));
        }
    }
    Ok(())
}

/// Whether a line that stands apart from a reply has a code, and another one.
pub fn contradicts(reply: &Reply, line: &str) -> bool {
    lead(line).is_some_and(|(code, rest)| {
        let same = rest.is_empty() || reply.text.as_deref() == Some(rest);
        code != reply.code || !(same || code == Code::Deny)
    })
}

/// Whether a line begins with a code.
pub fn has_code(line: &str) -> bool {
    lead(line).is_some()
}

pub(super) fn is_blank(line: &str) -> bool {
    line.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// The code that a line begins with, and what follows on the line.
fn lead(line: &str) -> Option<(Code, &str)> {
    let line = trim(line);
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut word = trim(word).chars();
    let (Some(digit), None) = (word.next(), word.next()) else {
        return None;
    };
    Some((code(digit)?, trim(rest)))
}

/// Japanese and Chinese keyboards write full-width digits.
fn code(digit: char) -> Option<Code> {
    let digit = match digit {
        '０'..='９' => char::from_u32(u32::from(digit) - 0xfee0)?,
        other => other,
    };
    Code::parse(digit.encode_utf8(&mut [0; 4]))
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

/// Marks of width and direction, which programs put around a text. The overrides of direction are not among
/// them: a text that is read backwards is not read.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202c}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

enum Fence<'l> {
    None,
    /// Its text, and the lines below it.
    Closed(String, &'l [&'l str]),
    Open,
}

/// The lines between two fences, where the first one follows the code.
fn fence<'l>(rest: &str, below: &'l [&'l str]) -> Fence<'l> {
    let (opening, start) = if rest.is_empty() {
        let blank = below.iter().take_while(|line| is_blank(line)).count();
        (below.get(blank).copied().unwrap_or_default(), blank + 1)
    } else {
        (rest, 0)
    };
    // A language may be named behind it, as in ```sh.
    let Some(language) = trim(opening).strip_prefix(FENCE) else {
        return Fence::None;
    };
    if !language.chars().all(char::is_alphanumeric) {
        return Fence::Open;
    }
    let inside = below.get(start..).unwrap_or_default();
    let Some(end) = inside.iter().position(|line| trim(line) == FENCE) else {
        return Fence::Open;
    };
    let (text, after) = inside.split_at(end);
    Fence::Closed(text.join("\n"), after.get(1..).unwrap_or_default())
}
