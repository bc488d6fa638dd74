//! Lines below an answer that take it back ("Sorry, I meant 3"), and those that only look so. Digits are looked for,
//! and not words: what corrects has another code in it, in whatever language it is said.

use super::{Code, digits::any_digit, prose, signature, words};

/// A text of so many words is a remark of its own, and a digit in it may be meant as a code.
const SHORT: usize = 6;

/// Where the lines that are searched for another code stand. It says how many words one may have that corrects, and
/// one where no word says that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Right below the answer: the sender's own words, however many they are. Below a closing or a name, where
    /// servers put their texts, long lines are none.
    BelowAnswer,
    /// Where the mail before may stand.
    Apart,
}

impl Place {
    /// The most words of a line that corrects, and of one that does not say so.
    fn longest(self, lines: &[&str], at: usize) -> (usize, usize) {
        let above = lines.get(..at).unwrap_or_default();
        match self {
            Self::BelowAnswer if !above.iter().any(|line| signature::may_follow(line)) => {
                (usize::MAX, usize::MAX)
            }
            Self::BelowAnswer => (16, 12),
            Self::Apart => (12, SHORT),
        }
    }
}

/// Whether a line may name another code than the one that was said: it is short for its place and has such a digit,
/// alone or beside letters. A number that is certainly a time, an amount, a date or part of an address is none, unless
/// a word of the line corrects or negates.
pub(super) fn names_other(lines: &[&str], at: usize, said: Code, stands: Place) -> bool {
    let folded = folded(lines.get(at).copied().unwrap_or_default());
    let corrects = corrects(&folded);
    let (correcting, other) = stands.longest(lines, at);
    let longest = if corrects { correcting } else { other };
    if prose::words_of(&folded).count() > longest {
        return false;
    }
    if corrects {
        return folded
            .split_whitespace()
            .any(|word| numbers(word).iter().any(|it| it.is_other_than(said)));
    }
    if is_of_mail(&folded) {
        return false;
    }
    let plain = without_phones(&folded);
    let words: Vec<&str> = plain.split_whitespace().collect();
    (0..words.len()).any(|place| {
        let word = words.get(place).copied().unwrap_or_default();
        let known = |number: &Number<'_>| {
            is_link(word)
                || number.is_joined()
                || is_known(&words, place, number)
                || is_address(lines, at, &words, place)
        };
        let mut numbers = numbers(word).into_iter();
        numbers.any(|number| number.is_other_than(said) && !known(&number))
    })
}

/// Whether a short text names a code and takes back the one before it: "sorry, I meant 3", "make that a 3".
pub(super) fn names_code(folded: &str) -> bool {
    let words: Vec<String> = prose::words_of(folded).collect();
    let has_code = |word: &String| numbers(word).iter().any(Number::has_code);
    let takes_back = |word: &String| prose::takes_back(word) || words::has(words::CHOOSING, word);
    words.len() <= SHORT && words.iter().any(has_code) && words.iter().any(takes_back)
}

/// In small letters, with the digits of our script. A few words may name a code by its word: "option three", "三番".
pub(super) fn folded(line: &str) -> String {
    const FEW: usize = 3;
    const FEW_LETTERS: usize = 4;
    let mut folded: String = prose::fold(line).chars().map(any_digit).collect();
    if folded.chars().count() <= FEW_LETTERS {
        let signs = words::DIGIT_SIGNS.chars().zip('1'..);
        let digit = |c: char| signs.clone().find(|(sign, _)| *sign == c);
        folded = folded
            .chars()
            .map(|c| digit(c).map_or(c, |(_, digit)| digit))
            .collect();
    }
    if prose::words_of(&folded).count() > FEW {
        return folded;
    }
    let number = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let at = words::NUMBERS
            .iter()
            .position(|words| words::has(words, bare))?;
        Some((at + 1).to_string())
    };
    let words = folded.split_whitespace();
    let words: Vec<_> = words
        .map(|word| number(word).unwrap_or_else(|| word.to_owned()))
        .collect();
    words.join(" ")
}

/// Whether a word says that something else is meant or chosen.
pub(super) fn corrects(folded: &str) -> bool {
    let says = |word: String| prose::takes_back(&word) || words::has(words::CHOOSING, &word);
    prose::negates(folded) || prose::words_of(folded).any(says)
}

/// A number in a word, such as `3` in "option3" and `10:30` in "(10:30)", and what follows it there.
struct Number<'w> {
    digits: &'w str,
    after: &'w str,
}

impl Number<'_> {
    fn parts(&self) -> impl Iterator<Item = &str> {
        self.digits.split(|c: char| !c.is_ascii_digit())
    }

    fn has_code(&self) -> bool {
        self.parts().any(|part| Code::parse(part).is_some())
    }

    fn is_other_than(&self, said: Code) -> bool {
        let mut codes = self.parts().filter_map(Code::parse);
        codes.any(|code| code != said)
    }

    /// 3.5, 10:30 and 1-800 are other things; "1,3" and "1/3" may be two codes.
    fn is_joined(&self) -> bool {
        let mut signs = self
            .digits
            .chars()
            .filter(|c| !c.is_ascii_digit())
            .peekable();
        let is_long = self.parts().any(|part| part.len() > 1);
        signs.peek().is_some() && (is_long || signs.all(|sign| sign == '.'))
    }
}

fn numbers(word: &str) -> Vec<Number<'_>> {
    let mut found = Vec::new();
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = rest.get(start..).unwrap_or_default();
        let end = tail.find(|c: char| !c.is_ascii_digit() && !".,:/-–".contains(c));
        let number = tail.get(..end.unwrap_or(tail.len())).unwrap_or_default();
        let digits = number.trim_end_matches(|c: char| !c.is_ascii_digit());
        rest = tail.get(digits.len()..).unwrap_or_default();
        let after = rest;
        found.push(Number { digits, after });
    }
    found
}

/// Whether a number is an amount ("3 minutes", "3GB"), a time ("see you at 3"), the day of a full date, or of a room
/// or a device.
fn is_known(words: &[&str], place: usize, number: &Number<'_>) -> bool {
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |word| *word);
    let before = clean(word(place.checked_sub(1)));
    let (next, second) = (word(Some(place + 1)), word(Some(place + 2)));
    let glued = clean(number.after);
    let unit = if number.after.is_empty() {
        next
    } else {
        number.after
    };
    let ends = glued.is_empty() && next.is_empty();
    let is_year = |word: &str| clean(word).len() == 4 && prose::is_number(&clean(word));
    let dated =
        (prose::is_month(next) && is_year(second)) || (prose::is_month(&before) && is_year(next));
    // "3 am" at the end of a line is a time, and "3 am besten" is none.
    let is_half = matches!(&*clean(unit), "am" | "pm");
    let over = if number.after.is_empty() {
        second.is_empty()
    } else {
        next.is_empty()
    };
    (is_amount(unit) && (!is_half || over))
        || (ends && words::has(words::BEFORE_TIMES, &before))
        || (glued.is_empty() && (dated || words::has(words::NUMBERED, &before)))
}

fn is_amount(unit: &str) -> bool {
    let word = unit.trim_matches(|c: char| !c.is_alphanumeric());
    // Without blanks between words, what follows the sign may be a sentence.
    let is_sign = |sign: &str| {
        let rest = unit.strip_prefix(sign);
        rest.is_some_and(|rest| !rest.contains(char::is_alphanumeric))
    };
    prose::is_span(word)
        || words::has(words::AMOUNTS, word)
        || words::AMOUNT_SIGNS.split_whitespace().any(is_sign)
}

/// A line of our own mail, which programs may quote without a mark. One whose value is a code alone is no such line.
fn is_of_mail(folded: &str) -> bool {
    const LABELS: [&str; 3] = ["approval:", "session:", "provost asks:"];
    let line = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
    let value = LABELS
        .into_iter()
        .find_map(|label| line.strip_prefix(label));
    value.is_some_and(|value| Code::parse(value.trim()).is_none())
}

/// An address for mail or on the web.
fn is_link(word: &str) -> bool {
    word.contains('@') || word.contains("://") || word.starts_with("www.")
}

/// "Main Street 5" below a name or a closing.
fn is_address(lines: &[&str], at: usize, words: &[&str], place: usize) -> bool {
    let above = lines.get(..at).unwrap_or_default();
    let signed = || above.iter().any(|line| signature::may_follow(line));
    let is_street = |word: &&&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let mut ends = words::STREET_ENDS.split_whitespace();
        words::has(words::STREETS, word) || ends.any(|end| word.ends_with(end))
    };
    let before = place.checked_sub(1).and_then(|place| words.get(place));
    let begins = place == 2 && words.first().is_some_and(|word| is_street(&word));
    (begins || before.is_some_and(|word| is_street(&word))) && signed()
}

/// A line without its phone numbers: at least six digits, from `+`, `0` or `(` on.
fn without_phones(line: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || "+-()/. ".contains(c);
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let number = rest.get(..end).unwrap_or_default();
        let digits = number.chars().filter(char::is_ascii_digit).count();
        let begins = "+0(".contains(c) && !kept.ends_with(char::is_alphanumeric);
        let taken = if begins && digits >= 6 {
            number.len()
        } else {
            0
        };
        if taken == 0 {
            kept.push(c);
        }
        rest = rest.get(taken.max(c.len_utf8())..).unwrap_or_default();
    }
    kept
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
