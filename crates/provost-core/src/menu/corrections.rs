//! Lines below an answer that take it back in words ("Sorry, I meant 3"), and those that only look so.

use super::{Code, digits::any_digit, prose, signature, words};

/// The longest line that corrects, in words.
const LONGEST: usize = 5;

/// The code that a short line names, where it names one number and nothing makes a time, an amount or an address
/// of it.
pub(super) fn meant_code(below: &[&str], at: usize) -> Option<Code> {
    // Our own menu has brackets around its codes.
    let line = below
        .get(at)
        .filter(|line| !line.trim_start().starts_with('['))?;
    let folded: String = prose::fold(line).chars().map(any_digit).collect();
    let words: Vec<String> = prose::words_of(&folded).collect();
    let has_digit = |word: &String| word.chars().any(char::is_numeric);
    let mut places = (0..words.len()).filter(|place| words.get(*place).is_some_and(has_digit));
    let (Some(place), None) = (places.next(), places.next()) else {
        return None;
    };
    let number = words
        .get(place)?
        .trim_matches(|c: char| !c.is_alphanumeric());
    let code = Code::parse(number)?;
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
