//! Whether the text behind a 4 or a 5 makes prose of the number: a time, an amount, a date or a question.

use unicode_normalization::UnicodeNormalization as _;

use super::{lines::is_invisible, words};

/// So many small words may stand between the number and its unit: "4 or 5 more full days".
const MOST_SMALL: usize = 5;

/// Whether what follows a number reads as its unit, as the rest of a time or a date, or as a question.
pub(super) fn is_prose(text: &str) -> bool {
    let text = text.trim();
    if is_json(text) {
        return false;
    }
    let folded = fold(text);
    is_question(&folded) || is_amount(&folded)
}

/// Whether a text is a date and nothing else, such as "3 Nov 2026, 10:00".
pub fn is_date(text: &str) -> bool {
    let folded = fold(text);
    let words: Vec<String> = words_of(&folded).collect();
    let known = |word: &String| {
        is_number(word) || is_day(word) || is_unit(word) || words::has(words::SMALL, word)
    };
    let numbers = words.iter().filter(|word| is_number(word)).count();
    let full = words.iter().any(|word| words::has(words::MONTHS, word)) || numbers > 2;
    words.len() >= 2 && full && words.iter().all(known)
}

/// The new arguments of a call are no prose, whatever they say.
fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Full-width and other forms of letters become plain ones, small, and without marks that nobody sees.
fn fold(text: &str) -> String {
    let visible = text.chars().filter(|c| !is_invisible(*c));
    let folded = visible.nfkc().collect::<String>().to_lowercase();
    folded.nfc().collect()
}

fn words_of(folded: &str) -> impl Iterator<Item = String> {
    folded.split_whitespace().filter_map(|word| {
        let word = word.trim_matches([
            ',', ';', '!', '?', '"', '\'', '’', '“', '”', '„', '«', '»', '(', ')', '…', '،', '؛',
            '؟', '。', '、', '*', '_', '~',
        ]);
        let word = word.trim_end_matches([':', '.', '-', '–', '—']);
        // p.m. is pm, and o'clock is oclock.
        let is_number = word.chars().any(|c| c.is_ascii_digit());
        let word = if is_number {
            word.to_owned()
        } else {
            word.replace(['.', '\'', '’', '`', '´'], "")
        };
        (!word.is_empty()).then_some(word)
    })
}

/// A unit or a number follows, behind some small words at most.
fn is_amount(folded: &str) -> bool {
    let mut linked = false;
    let first: Vec<String> = words_of(folded).take(2).collect();
    // As Spanish writes it: "4 p. m."
    if matches!(first.as_slice(), [half, m] if matches!(half.as_str(), "a" | "p") && m == "m") {
        return true;
    }
    for (at, word) in words_of(folded).take(MOST_SMALL).enumerate() {
        // As in "4 minute-long breaks" and "5 min/day".
        let mut parts = word.split(['-', '–', '/']);
        let part = parts.next().filter(|part| part.chars().count() > 1);
        let measures = |word: &str| is_unit(word) || is_day(word);
        if is_number(&word) || measures(&word) || part.is_some_and(measures) {
            return true;
        }
        if !linked && words::has(words::COUNTED, &word) || at == 0 && counts_in_east_asia(&word) {
            return true;
        }
        if is_small(&word) {
            linked = true;
        } else if !words::has(words::MORE, &word) {
            return false;
        }
    }
    false
}

/// Small words, and the signs of sums and ranges: "4 or 5", "4 + 1".
fn is_small(word: &str) -> bool {
    words::has(words::SMALL, word) || word.chars().all(|c| "-–—+/=<>×:&".contains(c))
}

fn is_number(word: &str) -> bool {
    let separators = word.chars().filter(|c| !c.is_ascii_digit()).count();
    let sound = |c: char| c.is_ascii_digit() || ".,:/-–+".contains(c);
    // 10.0.0.1 is no number, 5.11.2026 and 10:30:00 are.
    separators <= 2 && word.chars().any(|c| c.is_ascii_digit()) && word.chars().all(sound)
}

fn is_unit(word: &str) -> bool {
    words::has(words::UNITS, word)
        || word.starts_with(['%', '‰', '°', '€', '£', '¥', '₽', '₹', '٪'])
        // "4 h30", "4 Uhr30"
        || matches!(word.trim_end_matches(|c: char| c.is_ascii_digit()), "h" | "uhr")
        || word
            .strip_prefix('$')
            .is_some_and(|rest| rest.is_empty() || is_number(rest))
}

fn is_day(word: &str) -> bool {
    words::has(words::MONTHS, word) || words::has(words::DAYS, word)
}

/// Units of Chinese, Japanese and Korean stand before the next word without a space. What makes another word
/// of them (日志 is a log, 分析 an analysis) is none.
fn counts_in_east_asia(word: &str) -> bool {
    if words::EAST_ASIA_ALWAYS
        .split_whitespace()
        .any(|unit| word.starts_with(unit))
    {
        return true;
    }
    let mut units = words::EAST_ASIA
        .split_whitespace()
        .filter_map(|unit| word.strip_prefix(unit));
    units.any(|rest| {
        let next = rest.chars().next();
        next.is_none_or(|next| {
            words::EAST_ASIA_AFTER.contains(next)
                || !(is_han(next) || is_hangul(next) || is_katakana(next))
        })
    })
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a0}'..='\u{30ff}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

fn is_question(folded: &str) -> bool {
    let mut words = words_of(folded);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let asks = |verbs: &str, about: &str| words::has(verbs, &first) && words::has(about, &second);
    folded.starts_with('¿')
        || asks(words::ASKING, words::ASKED_ABOUT)
        || asks(words::ASKING_IF, words::ASKED_IF)
        || words::has(words::QUESTIONS, &first)
        || words::EAST_ASIA_QUESTIONS
            .split_whitespace()
            .any(|start| folded.starts_with(start))
        || asks_by_mark(folded)
        || asks_by_ending(folded)
}

/// A question mark at the end of a word: those inside one are parts of addresses and patterns.
fn asks_by_mark(folded: &str) -> bool {
    let mut chars = folded.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let ends = next.is_none_or(|next| next.is_whitespace() || ")!?.…\"'”’»".contains(next));
        if matches!(c, '؟' | '՞') || (c == '?' && ends) {
            return true;
        }
    }
    false
}

fn asks_by_ending(folded: &str) -> bool {
    let text = folded.trim_end_matches(['。', '.', '!', ' ', '…']);
    // In Greek the semicolon asks.
    let greek = || folded.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}'));
    if text.ends_with(';') && greek() {
        return true;
    }
    words::EAST_ASIA_ASKING
        .split_whitespace()
        .any(|ending| text.ends_with(ending))
}
