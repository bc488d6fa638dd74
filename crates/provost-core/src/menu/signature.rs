//! What people and their mail programs write below an answer: a closing, a name, an address.

use super::{prose, words};

/// Whether a line may stand right below the text of an answer without being more of it.
pub(super) fn may_follow(line: &str) -> bool {
    is_closing(line) || is_name(line) || is_contact(line)
}

/// A note is not executed, so that a line may be drawn below it.
pub(super) fn may_follow_a_note(line: &str) -> bool {
    may_follow(line) || !line.contains(char::is_alphanumeric)
}

/// A way to close a letter, or the line that a phone adds.
pub(super) fn is_closing(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '–', '—', ' ']);
    let names = |rest: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = rest.split_whitespace().count();
        let last = words.get(words.len().saturating_sub(count)..);
        count < 3 && last.is_some_and(|last| is_name(&last.join(" ")))
    };
    let lower = line.to_lowercase();
    words::CLOSINGS
        .split(", ")
        .filter_map(|closing| lower.strip_prefix(closing))
        .any(|rest| ends_a_letter(rest) || (rest.starts_with(' ') && names(rest)))
}

/// What may follow a closing: nothing, a name, "a lot". "Best not on prod" closes nothing.
fn ends_a_letter(rest: &str) -> bool {
    let is_mark = |c: char| !c.is_alphanumeric();
    // Some scripts have no spaces.
    let is_caseless = |c: char| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase();
    let words = rest.trim_matches(is_mark);
    words.is_empty()
        || rest.starts_with(is_caseless)
        || rest.starts_with([',', '!', '.', ';'])
        || (rest.starts_with(char::is_whitespace)
            && words::CLOSING_TAILS
                .split(", ")
                .any(|tail| words.starts_with(tail)))
}

/// One to four words that begin with a capital, and none of them of a sentence ("Not Today"). In scripts without
/// capitals, nothing tells a name from the rest of a text. What follows a bar or a dash, as in "Bob Smith | ACME", and
/// a bracket, as in "Bob Smith (Ops)", does not matter.
fn is_name(line: &str) -> bool {
    let ends = [" | ", " – ", " — ", " (", " · "];
    let line = line.trim();
    let end = ends.iter().filter_map(|end| line.find(end)).min();
    let line = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
    let line = line
        .trim_start_matches(['-', '–', '—', '~', '/', ' '])
        .trim_end_matches(|c: char| {
            matches!(c, '!' | ' ') || !(c.is_ascii() || c.is_alphanumeric())
        });
    // "i.A. Hans Meyer" signs for somebody else.
    let line = ["i.A.", "i. A.", "i.V.", "i. V.", "p.p.", "ppa."]
        .iter()
        .find_map(|by| line.strip_prefix(by))
        .map_or(line, str::trim);
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // Anna de Vries, Ludwig van Beethoven
    if words.len() > 2 {
        words.retain(|word| !words::has(words::PARTICLES, word));
    }
    let sound = |c: char| c.is_alphabetic() || matches!(c, '.' | ',' | '-' | '\'' | '’');
    if words.is_empty() || words.len() > 4 || !line.chars().all(|c| sound(c) || c.is_whitespace()) {
        return false;
    }
    let capital = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    // READMEs and constants are no names.
    let shouted = |word: &&str| {
        word.chars().count() > 3 && word.chars().all(|c| c.is_uppercase() || !c.is_alphabetic())
    };
    let said = |word: &&str| prose::is_said(word);
    words.iter().all(capital) && !words.iter().all(shouted) && !words.iter().any(said)
}

/// A phone number, an address on the web or for mail.
fn is_contact(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let digits = line.chars().filter(char::is_ascii_digit).count();
    let phone = |c: char| c.is_ascii_digit() || "+-()/. ".contains(c);
    let labelled = words::CONTACTS
        .split_whitespace()
        .any(|label| line.starts_with(label));
    (digits >= 6 && line.chars().all(phone) && line.starts_with(['+', '0', '(']))
        || labelled
        || (line.contains('@') && !line.contains(char::is_whitespace))
}
