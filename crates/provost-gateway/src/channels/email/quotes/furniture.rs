//! What programs put above a reply. Banners of mail servers are skipped, by their known sentences only: what a
//! person writes above a code may be its condition. Dates and counts of attachments, which begin with a number,
//! decide nothing.

mod words;

use provost_core::menu;

use super::{attribution, is_marked};

/// The longest banner, in lines.
const LONGEST: usize = 12;

/// Whether the line is a date, a count of attachments or a part of an attribution, and no answer.
pub(super) fn is_furniture(lines: &[&str], at: usize) -> bool {
    let line = attribution::plain(lines.get(at).copied().unwrap_or_default());
    let line = line.trim();
    let numbered = line.starts_with(|c: char| c.is_numeric());
    numbered && (counts_attachments(line) || menu::is_date(line) || is_short_attribution(line))
}

/// "3 Anhänge", "3 Attachments, 24.3 MB", "3 Attachments • Scanned by Gmail", and not "3 Anhänge, zu groß".
fn counts_attachments(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let rest = line.trim_start_matches(char::is_numeric).trim();
    let after = words::ATTACHMENTS.iter().find_map(|word| {
        let after = rest.strip_prefix(word)?;
        let after = after.trim_start_matches(char::is_alphabetic).trim();
        // "3 arquivos anexados"
        let attached = words::ATTACHED.iter().find_map(|it| after.strip_prefix(it));
        Some(attached.unwrap_or(after).trim())
    });
    after.is_some_and(|after| {
        after.is_empty() || after.starts_with(['(', '•', '|', '[', '（']) || is_size(after)
    })
}

/// ", 24.3 MB"
fn is_size(text: &str) -> bool {
    let size = text.trim_start_matches([',', '-', '–', ' ']);
    let unit = size.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    unit.len() < size.len()
        && matches!(
            unit.trim(),
            "b" | "kb" | "mb" | "gb" | "ko" | "mo" | "go" | "кб" | "мб"
        )
}

/// "4 Kas 26 Çar, Gate <gate@example.org>", "4 lis 26 Gate": a day, a month and a year of two digits.
pub(super) fn is_short_attribution(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [day, month, year, rest @ ..] = words.as_slice() else {
        return false;
    };
    if !day.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    // Not every language's months are known: "aza." is one.
    let looks_short = month.ends_with('.') || month.starts_with(char::is_uppercase);
    let is_month = menu::is_month(month)
        || (looks_short
            && month.chars().count() <= 5
            && month.chars().all(|c| c.is_alphabetic() || c == '.'));
    let digits = year.trim_end_matches([',', '.', ';']);
    let is_year = attribution::is_year(digits)
        || (digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit()) && digits >= "19");
    // "3 wait 20 minutes" is an answer.
    let named = rest.first().is_none_or(|next| {
        digits.len() < year.len()
            || next.starts_with(['<', '"', '('])
            || next.chars().next().is_some_and(char::is_uppercase)
    });
    is_month && is_year && named
}

/// How many lines a warning that the mail is from outside has, with the frame around it. It ends at an empty
/// line, a quote or a line with a code.
pub(super) fn banner(lines: &[&str], at: usize) -> Option<usize> {
    let text: Vec<&str> = lines
        .iter()
        .skip(at)
        .take_while(|line| !line.trim().is_empty() && !menu::has_code(line) && !is_marked(line))
        .copied()
        .collect();
    let joined = text.join(" ").to_lowercase();
    let says_it = clauses(&joined).any(is_banner_clause)
        || text
            .iter()
            .any(|line| clauses(&line.to_lowercase()).any(is_banner_clause));
    let is_banner = text.len() <= LONGEST
        && says_it
        && (clauses(&joined).all(is_known) || each_known(&text))
        && !is_conditional(&joined);
    is_banner.then_some(text.len())
}

/// Without full stops, a line is a sentence.
fn each_known(lines: &[&str]) -> bool {
    let known = |line: &&str| clauses(&line.to_lowercase()).all(is_known);
    lines.iter().all(known)
}

/// What stands between full stops, commas, colons, dashes and brackets. An address has full stops as well.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| {
        matches!(
            c,
            '!' | '。' | '！' | ',' | '，' | ':' | '：' | ']' | '】' | ')' | '*'
        )
    };
    text.split(". ")
        .flat_map(|part| part.split(" - "))
        .flat_map(move |part| part.split(ends))
        .map(|clause| clause.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|clause| !clause.is_empty())
}

/// Says that the mail is from outside. The name of the company or of the sender may follow.
fn is_banner_clause(clause: &str) -> bool {
    let starts = |text: &str| {
        let mut rests = words::BANNER_STARTS
            .iter()
            .filter_map(|start| text.strip_prefix(start));
        rests.any(|rest| unknown_words(rest).is_some_and(|unknown| is_one_name(&unknown)))
    };
    [clause, without_warning(clause)]
        .iter()
        .any(|text| words::BANNERS.contains(text) || starts(text))
}

/// A clause of a banner: a known one, or the beginning of one with words that banners have, and no other.
fn is_known(clause: &str) -> bool {
    let rest = without_warning(clause);
    let goes_on = |tail: &&str| {
        let after = rest.strip_prefix(tail).or(clause.strip_prefix(tail));
        after.is_some_and(|after| unknown_words(after) == Some(Vec::new()))
    };
    let mut tails = words::BANNER_TAILS.iter().chain(words::BANNER_CONDITIONS);
    rest.is_empty() || is_banner_clause(clause) || tails.any(goes_on)
}

/// Up to two words beside each other: "ACME Inc".
fn is_one_name(places: &[usize]) -> bool {
    match places {
        [] | [_] => true,
        [first, second] => first + 1 == *second,
        _ => false,
    }
}

/// The places of the words in a text that no banner has. `None` where a script without spaces has one, as its words
/// are not counted.
fn unknown_words(text: &str) -> Option<Vec<usize>> {
    let phrases = [
        words::BANNERS,
        words::BANNER_STARTS,
        words::BANNER_TAILS,
        words::BANNER_CONDITIONS,
    ];
    let of_phrase = |word: &str| {
        let mut phrases = phrases.iter().flat_map(|list| list.iter());
        phrases.any(|phrase| phrase.split_whitespace().any(|known| known == word))
    };
    let is_known = |word: &str| {
        let mut more = words::BANNER_WORDS.split_whitespace();
        more.any(|known| known == word) || of_phrase(word)
    };
    let is_spaceless = |c: char| matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    let mut unknown = Vec::new();
    for (place, word) in text.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() || is_known(word) {
            continue;
        }
        let signs = words::BANNER_SIGNS.split_whitespace();
        let left = signs.fold(word.to_owned(), |left, sign| left.replace(sign, ""));
        if left.contains(is_spaceless) {
            return None;
        }
        if !left.is_empty() {
            unknown.push(place);
        }
    }
    Some(unknown)
}

/// "Caution: external e-mail" without its first word.
fn without_warning(sentence: &str) -> &str {
    let after = words::WARNINGS
        .iter()
        .find_map(|word| sentence.strip_prefix(word));
    let marked = after.filter(|after| !after.starts_with(char::is_alphanumeric));
    marked.map_or(sentence, |after| {
        after.trim_start_matches(|c: char| !c.is_alphanumeric())
    })
}

/// A question, an open end, a condition, or somebody who speaks of themselves: no server writes that.
fn is_conditional(text: &str) -> bool {
    let open = text.contains(['?', '？', '؟']) || text.trim_end().ends_with([':', '：', ',', '，']);
    let text = words::BANNER_CONDITIONS
        .iter()
        .fold(text.to_owned(), |text, known| text.replace(known, ""));
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    open || words.any(|word| words::CONDITIONS.contains(&word))
        || words::CONDITION_PARTS
            .iter()
            .any(|part| text.contains(part))
}
