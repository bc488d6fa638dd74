//! Lines below an answer that take it back in words ("Sorry, I meant 3"), and those that only look so.

use super::{Code, digits::any_digit, prose, signature, words};

/// The longest line that corrects, in words.
const LONGEST: usize = 5;

/// The code that a short line names, where it names one number and nothing makes a time, an amount or an address
/// of it.
pub(super) fn meant_code(below: &[&str], at: usize) -> Option<Code> {
    let line = below.get(at)?;
    let folded: String = prose::fold(line).chars().map(any_digit).collect();
    let words: Vec<String> = prose::words_of(&folded).collect();
    let has_digit = |word: &String| word.chars().any(char::is_numeric);
    let mut places = (0..words.len()).filter(|place| words.get(*place).is_some_and(has_digit));
    let (Some(place), None) = (places.next(), places.next()) else {
        return None;
    };
    // As in "Code:3".
    let number = words.get(place)?.rsplit([':', '=']).next()?;
    let code = Code::parse(number.trim_matches(|c: char| !c.is_alphanumeric()))?;
    let before = place.checked_sub(1).and_then(|place| words.get(place));
    let timed = before.is_some_and(|word| {
        words::has(words::BEFORE_TIMES, word) || words::has(words::BEFORE_NUMBERS, word)
    });
    let measured = words
        .get(place + 1)
        .is_some_and(|word| prose::measures(word));
    let other = words.len() > LONGEST || timed || measured || is_address(below, at, before);
    (!other).then_some(code)
}

/// Whether a short text takes back the code before it: "sorry, I meant 3", "make that a 3".
pub(super) fn names_code(folded: &str) -> bool {
    let words: Vec<String> = prose::words_of(folded).collect();
    let ends_with_code = words.last().is_some_and(|last| Code::parse(last).is_some());
    let takes_back = |word: &String| words::has(words::CORRECTING, word);
    words.len() <= LONGEST + 1 && ends_with_code && words.iter().any(takes_back)
}

/// "Main Street 5" below a name: every word of it is capital, and none names a choice.
fn is_address(below: &[&str], at: usize, before: Option<&String>) -> bool {
    let line = below.get(at).copied().unwrap_or_default();
    let capital = |word: &str| {
        let first = word.chars().find(|c| c.is_alphanumeric());
        first.is_none_or(|c| !c.is_lowercase())
    };
    let above = below.get(..at).unwrap_or_default();
    let signed = above.iter().any(|line| signature::may_follow(line));
    let chooses = before.is_none_or(|word| words::has(words::CHOICES, word));
    signed && !chooses && line.split_whitespace().all(capital)
}

/// Whether a line is one of our own menu, which programs may quote without a mark: it has the line of 1 above it, and
/// those in between rise. "[3] Deny" without them is a change of mind.
pub(super) fn is_of_menu(lines: &[&str], at: usize) -> bool {
    let code_at = |at: usize| lines.get(at).and_then(|line| menu_code(line));
    let Some(code) = code_at(at) else {
        return false;
    };
    if code == Code::Once {
        return (at + 1..lines.len()).any(|below| code_at(below).is_some());
    }
    let mut below = code;
    for above in (0..at).rev().filter_map(code_at) {
        if above >= below {
            return false;
        }
        if above == Code::Once {
            return true;
        }
        below = above;
    }
    false
}

/// The code of a line of the menu, as mails have it: "[1] Allow once".
fn menu_code(line: &str) -> Option<Code> {
    let (code, label) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let first = label.split_whitespace().next();
    let begins = |code: &Code| code.label().split_whitespace().next() == first;
    Code::parse(code).filter(|_| Code::ALL.iter().any(begins))
}

/// How many lines a list has that begins here: below a heading with a colon, at least two items, counted from 1.
/// Disclaimers have such lists.
pub(super) fn numbered_list(below: &[&str], at: usize) -> Option<usize> {
    let heading = at.checked_sub(1).and_then(|above| below.get(above))?;
    if !heading.trim_end().ends_with(':') {
        return None;
    }
    let items = below.iter().skip(at).zip(1_usize..);
    let count = items
        .take_while(|(line, number)| is_item(line, *number))
        .count();
    (count > 1).then_some(count)
}

/// "1. Think", "(2) Any disclosure is prohibited."
fn is_item(line: &str, number: usize) -> bool {
    let line = line.trim();
    let line = line.strip_prefix('(').unwrap_or(line);
    let rest = line.strip_prefix(&number.to_string());
    let text = rest.and_then(|rest| rest.strip_prefix(['.', ')']));
    text.is_some_and(|text| {
        text.starts_with(char::is_whitespace) && text.contains(char::is_alphabetic)
    })
}
