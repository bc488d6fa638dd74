//! The lines of a reply: the code in the first one, its text, and what the lines below may say.

use super::{
    Code, LONGEST_TEXT, Marked, Reply, Unclear,
    codes::{Lead, Separator, is_blank, lead, mentioned, trim},
    corrections::{self, Place},
    notes, prose, signature,
};

const FENCE: &str = "```";
/// Stands for what could not be read: bytes of an unknown encoding, or what was crossed out.
pub const UNREADABLE: char = '\u{fffd}';

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

/// Whether a character begins a new line on a screen.
pub fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Cuts a text into its lines.
pub fn lines(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut lines = Vec::new();
    while let Some(at) = rest.find(is_line_break) {
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
    if own.iter().any(|line| line.contains(UNREADABLE)) {
        return Err(Unclear::Unreadable);
    }
    let lead = lead(first).ok_or(Unclear::NoCode)?;
    let (code, rest) = (lead.code, lead.rest);
    if matches!(code, Code::Once | Code::Session | Code::Always) {
        if !rest.is_empty() {
            return Err(Unclear::NotAlone(code));
        }
        one_code(code, first, below)?;
        return Ok(Reply::bare(code));
    }
    match fence(rest, below) {
        Fence::Closed(text, after) => {
            one_code(code, first, after)?;
            let reply = with_text(code, &text)?;
            let marked = match reply.text {
                Some(_) => Marked::Surely,
                None => Marked::No,
            };
            Ok(Reply { marked, ..reply })
        }
        // A no takes any text.
        Fence::Open if code != Code::Deny => Err(Unclear::OpenFence(code)),
        Fence::Open | Fence::None => {
            let marked = match lead.separator {
                Separator::None => Marked::No,
                Separator::Clear => Marked::Apart,
                Separator::Yes => Marked::Surely,
            };
            if code.needs_text() {
                is_meant(&lead, below, breaks)?;
            }
            one_code(code, first, below)?;
            let reply = with_text(code, &text(code, rest, below, breaks)?)?;
            Ok(Reply { marked, ..reply })
        }
    }
}

/// Whether what follows a 4 or a 5 is its text. What is to be done instead is looked at by the desk, which knows
/// what was asked.
fn is_meant(lead: &Lead<'_>, below: &[&str], breaks: LineBreaks) -> Result<(), Unclear> {
    let (code, rest) = (lead.code, lead.rest);
    if !rest.contains(char::is_alphanumeric) && !prose::is_prose(rest) {
        return Ok(());
    }
    // Where lines are typed, all of them are the text.
    let more = match breaks {
        LineBreaks::Typed => below,
        LineBreaks::Seen | LineBreaks::Wrapped => &[],
    };
    let text = std::iter::once(&rest).chain(more).copied();
    let text = text.collect::<Vec<_>>().join("\n");
    if text.len() > LONGEST_TEXT {
        return Err(Unclear::TooLong);
    }
    let takes_back = || {
        let mut lines = more.iter().filter(|line| !is_blank(line));
        !prose::is_json(&text) && lines.any(|line| prose::is_certain_below(code, line))
    };
    if prose::is_certain(code, rest, lead.separator) || takes_back() {
        return Err(Unclear::Prose(code));
    }
    let is_text = match (code, lead.separator) {
        (Code::Note, Separator::Clear) => notes::is_instruction(&text),
        (Code::Note, Separator::None) => notes::begins(rest) && notes::is_instruction(&text),
        (_, Separator::Yes | Separator::Clear) => true,
        (_, Separator::None) => !prose::is_prose(rest),
    };
    if is_text {
        Ok(())
    } else {
        Err(Unclear::unmarked(code, &text))
    }
}

fn with_text(code: Code, text: &str) -> Result<Reply, Unclear> {
    let text = text.trim();
    if text.len() > LONGEST_TEXT {
        return Err(Unclear::TooLong);
    }
    if code.needs_text() && !text.contains(char::is_alphanumeric) {
        return Err(Unclear::TextNeeded(code));
    }
    Ok(Reply {
        text: (!text.is_empty()).then(|| text.to_owned()),
        ..Reply::bare(code)
    })
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
    // Nobody's text goes on with "Best regards".
    open || (!signature::is_closing(next) && (wrapped || !below))
}

/// A second code that says something else leaves open which one is meant, wherever it stands: what looks like an
/// address ("3 too risky" below "Wrong number") may be a change of mind.
fn one_code(code: Code, first: &str, below: &[&str]) -> Result<(), Unclear> {
    let text = mentioned(first).map(|said| said.1).unwrap_or_default();
    let mut at = 0;
    while let Some(line) = below.get(at) {
        if let Some(items) = corrections::numbered_list(below, at) {
            at += items;
            continue;
        }
        let repeats = |rest: &str| rest == text;
        let has_text = !text.is_empty();
        if contradicts(code, has_text, below, at, Place::BelowAnswer, repeats) {
            return Err(Unclear::several(line));
        }
        at += 1;
    }
    Ok(())
}

/// The line among those that stand apart from a reply that has a code, and another one.
pub fn contradiction<'l>(reply: &Reply, others: &[&'l str]) -> Option<&'l str> {
    let said = reply.text.as_deref().unwrap_or_default();
    let text = said.trim_matches(|c: char| !c.is_alphanumeric());
    let repeats = |rest: &str| rest.is_empty() || rest == text;
    let mut places = 0..others.len();
    let has_text = !said.is_empty();
    let contradicts =
        |at: &usize| contradicts(reply.code, has_text, others, *at, Place::Apart, repeats);
    let found = places.find(contradicts)?;
    others.get(found).copied()
}

/// Whether a line says another code, at its start or in a correction. A no that is said again stays one, and one with a
/// reason may speak of numbers.
fn contradicts(
    code: Code,
    has_text: bool,
    lines: &[&str],
    at: usize,
    stands: Place,
    repeats: impl Fn(&str) -> bool,
) -> bool {
    if corrections::is_of_menu(lines, at) {
        return false;
    }
    let line = lines.get(at).copied().unwrap_or_default();
    match mentioned(line) {
        Some((found, rest)) if found == code && repeats(&rest) => false,
        Some((found, _)) if found == code && code == Code::Deny => false,
        Some(_) => true,
        None if code == Code::Deny && has_text => false,
        None => corrections::names_other(lines, at, code, stands),
    }
}

/// Whether a line begins with a code.
pub fn has_code(line: &str) -> bool {
    lead(line).is_some()
}

/// Whether a line says that something else is meant: "Sorry, I meant", "not before".
pub fn corrects(line: &str) -> bool {
    corrections::corrects(&corrections::folded(line))
}

/// Whether a line could be read as one that begins with a code, in whatever script and behind whatever signs.
pub fn mentions_code(line: &str) -> bool {
    mentioned(line).is_some()
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
