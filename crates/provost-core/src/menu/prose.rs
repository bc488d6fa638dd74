//! Whether the text behind a 4 or a 5 makes prose of the number: a time, an amount, a date, a question, a refusal,
//! or a sentence about so many things. Lists of words find the usual ones, and endings some others. Nothing finds
//! all: without a separator, a text is taken only if there is evidence that it is one, too.

use unicode_normalization::UnicodeNormalization as _;

use super::{
    Code,
    codes::{Separator, is_invisible},
    corrections,
    digits::plain_digit,
    notes, words,
};

/// So many small words may stand between the number and its unit: "4 or 5 more full days".
const MOST_SMALL: usize = 5;
/// How far from the number its unit or the verb of a sentence is looked for.
const NEAR: usize = 4;
/// Fewer words around a code are no instruction that has a number in it.
const SHORTEST_INSTRUCTION: usize = 3;
/// A note of so many words may say what is not to be done without taking back its yes.
const LONG_NOTE: usize = 6;

/// Whether what follows a 5 without a separator reads as a unit, as the rest of a time or a date, as a question, or as
/// a sentence about so many things.
pub(super) fn is_prose(text: &str) -> bool {
    let text = text.trim();
    if is_json(text) {
        return false;
    }
    let folded = fold(text);
    let words: Vec<String> = words_of(&folded).take(MOST_SMALL).collect();
    text.starts_with(['º', 'ª'])
        || asks(&folded)
        || is_amount(&words)
        || has_span(&words)
        || states(&words)
        || is_plural(&words)
        || is_short_date(&words)
}

/// Whether a text is prose for certain, also behind a separator: it asks, takes back the yes, or begins with a number,
/// a unit or a day ("4: 30", "4 - 5 pm", "4: tomorrow").
pub(super) fn is_certain(code: Code, text: &str, separator: Separator) -> bool {
    let text = text.trim();
    if is_json(text) {
        return false;
    }
    let folded = fold(text);
    let first = words_of(&folded).next().unwrap_or_default();
    // Without a separator, what is to be done instead must look like the call: "5 7z x a.zip".
    let begins_with_digit =
        separator != Separator::None && first.starts_with(|c: char| c.is_numeric());
    let counts = begins_with_digit
        || is_number(&first)
        || measures(&first)
        || words::has(words::NUMBER_WORDS, &first)
        || counts_in_east_asia(&first);
    let refuses = match code {
        Code::Note => refuses(&folded),
        _ => turns_down(&folded),
    } || corrections::names_code(&folded);
    let is_short = match code {
        Code::Note => is_short_and_timed(&folded),
        _ => is_sentence_about_time(&folded),
    };
    text.starts_with(['º', 'ª'])
        || counts
        || is_timed(&folded)
        || is_short
        || asks(&folded)
        || refuses
}

/// The same for a further line of a text. In a command it may begin with whatever a program is called.
pub(super) fn is_certain_below(code: Code, line: &str) -> bool {
    let folded = fold(line.trim());
    match code {
        Code::Note => is_certain(code, line, Separator::Clear),
        _ => asks(&folded) || turns_down(&folded) || corrections::names_code(&folded),
    }
}

/// A few words that speak of a time or a code and do not begin with what is to be done: "first thing tomorrow", "an
/// hour", "I choose 3". A code may also be all that is said: "use 3".
fn is_short_and_timed(folded: &str) -> bool {
    let words: Vec<String> = words_of(folded).collect();
    let instructs = words.first().is_some_and(|first| notes::is_verb(first));
    let has_code = words.iter().any(|word| has_code(word));
    words.len() <= LONG_NOTE
        && ((!instructs && (has_code || words.iter().any(|word| tells_time(word))))
            || (has_code && words.len() <= SHORTEST_INSTRUCTION))
}

/// The same where a command is expected, which may have such words, too: one of the words is of no command.
fn is_sentence_about_time(folded: &str) -> bool {
    let words: Vec<String> = words_of(folded).collect();
    let says = |word: &String| words::has(words::EVERYDAY, word) || words::has(words::SMALL, word);
    words.len() <= LONG_NOTE
        && words.iter().any(says)
        && words.iter().any(|word| is_day(word) || is_span(word))
}

/// A time, an amount or a day, also with its number: "17h", "monday".
fn tells_time(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:".contains(c));
    measures(word) || (unit.len() < word.len() && measures(unit))
}

/// The digit of a code, by itself or behind a sign: "3", ">5".
fn has_code(word: &str) -> bool {
    Code::parse(word.trim_matches(|c: char| !c.is_alphanumeric())).is_some()
}

/// A time behind some small words: "in the afternoon", "next week", "maybe 5 pm".
fn is_timed(folded: &str) -> bool {
    let leads = |word: &String| {
        is_small(word)
            || words::has(words::MORE, word)
            || words::REFUSALS.split(", ").any(|phrase| phrase == word)
    };
    let mut words = words_of(folded).take(MOST_SMALL).skip_while(leads);
    let is_time = |word: String| {
        is_number(&word) || measures(&word) || words::has(words::NUMBER_WORDS, &word)
    };
    words.next().is_some_and(is_time)
}

/// Whether a word is a unit, a day or a span of time.
pub(super) fn measures(word: &str) -> bool {
    is_unit(word) || is_day(word) || is_span(word)
}

/// Whether a word belongs to sentences, and not to commands: "would", "please", "nicht".
pub fn is_everyday_word(word: &str) -> bool {
    let folded = fold(word);
    let lists = [
        words::SMALL,
        words::QUESTIONS,
        words::STATING,
        words::COMPARING,
        words::EVERYDAY,
    ];
    words_of(&folded).any(|word| lists.iter().any(|list| words::has(list, &word)))
}

/// Whether a word takes back or refuses what was said before.
pub(super) fn takes_back(word: &str) -> bool {
    words::has(words::CORRECTING, word) || words::has(words::REFUSING_WORDS, word)
}

/// Whether a word is of a sentence, or puts off, and is no name.
pub(super) fn is_said(word: &str) -> bool {
    let folded = fold(word);
    let known = |word: String| {
        takes_back(&word)
            || words::has(words::EVERYDAY, &word)
            || words::has(words::DELAYING, &word)
            || words::has(words::DAYS, &word)
            || notes::is_verb(&word)
    };
    negates(&folded) || words_of(&folded).any(known)
}

/// Whether a text says no, takes back or puts off, anywhere in it.
pub(super) fn doubts(folded: &str) -> bool {
    negates(folded) || delays(folded) || words_of(folded).any(|word| takes_back(&word))
}

fn delays(folded: &str) -> bool {
    let mut signs = words::DELAYING_SIGNS.split_whitespace();
    words_of(folded).any(|word| words::has(words::DELAYING, &word))
        || signs.any(|sign| folded.contains(sign))
}

/// Whether a text is a date and nothing else, such as "3 Nov 2026, 10:00". "3 Nov" may be a no, with a reason.
pub fn is_date(text: &str) -> bool {
    let folded = fold(text);
    let words: Vec<String> = words_of(&folded).collect();
    let known = |word: &String| {
        is_number(word) || is_day(word) || is_unit(word) || words::has(words::SMALL, word)
    };
    let numbers = words.iter().filter(|word| is_number(word)).count();
    let full = words.iter().any(|word| is_month(word)) && numbers > 1 || numbers > 2;
    full && words.iter().all(known)
}

/// Whether a word is the name of a month, or short for one.
pub fn is_month(word: &str) -> bool {
    let folded = fold(word);
    words_of(&folded).next().is_some_and(|word| {
        // With an ending: "Kasım'da".
        let inflected =
            |month: &str| month.chars().count() > 4 && month.len() > 5 && word.starts_with(month);
        words::has(words::MONTHS, &word) || words::MONTHS.split_whitespace().any(inflected)
    })
}

/// The new arguments of a call are no prose, whatever they say.
pub(super) fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Full-width and other forms of letters become plain ones, small, and without marks that nobody sees.
pub(super) fn fold(text: &str) -> String {
    let visible = text.chars().filter(|c| !is_invisible(*c)).map(plain_digit);
    let folded = visible.nfkc().collect::<String>().to_lowercase();
    folded.nfc().collect()
}

pub(super) fn words_of(folded: &str) -> impl Iterator<Item = String> {
    folded.split_whitespace().filter_map(|word| {
        let word = word.trim_matches([
            ',', ';', '!', '?', '"', '\'', '’', '“', '”', '„', '«', '»', '(', ')', '…', '،', '؛',
            '؟', '。', '、', '*', '_', '~', '॰',
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
fn is_amount(words: &[String]) -> bool {
    let mut linked = false;
    // "4 of us", and as Spanish writes it: "4 p. m."
    let halves = matches!(words, [half, m, ..] if matches!(half.as_str(), "a" | "p") && m == "m");
    if halves || words.first().is_some_and(|first| first == "of") {
        return true;
    }
    for (at, word) in words.iter().enumerate() {
        // As in "4 minute-long breaks" and "5 min/day".
        let mut parts = word.split(['-', '–', '/']);
        let part = parts.next().filter(|part| part.chars().count() > 1);
        if is_number(word) || measures(word) || part.is_some_and(measures) {
            return true;
        }
        if linked && words::has(words::NUMBER_WORDS, word) {
            return true;
        }
        if !linked && words::has(words::COUNTED, word) || at == 0 && counts_in_east_asia(word) {
            return true;
        }
        if is_small(word) {
            linked = true;
        } else if !words::has(words::MORE, word) {
            return false;
        }
    }
    // "4 and a half", "4 more"
    !words.is_empty()
}

/// A span of time stands near, and has no number of its own: "4 solid hours", and not "wait 5 minutes".
fn has_span(words: &[String]) -> bool {
    let near = words.get(..NEAR.min(words.len())).unwrap_or_default();
    let counted = |above: &String| is_number(above) || words::has(words::NUMBER_WORDS, above);
    near.windows(2).any(|pair| {
        let [above, word] = pair else { return false };
        is_span(word) && !counted(above)
    })
}

/// A word for a span of time, with the endings and in the compounds that languages make.
pub(super) fn is_span(word: &str) -> bool {
    let mut stems = words::TIME_STEMS.split_whitespace();
    let mut ends = words::TIME_ENDS.split_whitespace();
    // "--days" is an option.
    word.starts_with(char::is_alphabetic)
        && (stems.any(|stem| word.starts_with(stem)) || ends.any(|end| word.ends_with(end)))
}

/// A sentence about the number, and not a note: "5 would be better", "4 servers are down".
pub(super) fn states(words: &[String]) -> bool {
    let near = |from: usize, to: usize| words.get(from..to.min(words.len())).unwrap_or_default();
    let compares = near(1, NEAR)
        .iter()
        .any(|word| words::has(words::COMPARING, word));
    let verb = near(0, 2)
        .iter()
        .any(|word| words::has(words::STATING, word));
    compares || verb
}

/// A word with the ending of a plural, before nothing or a small word. Programs are called so, too.
fn is_plural(words: &[String]) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    let ends = |ending: &&str| first.ends_with(ending);
    let shaped = first.len() > 3
        && first.bytes().all(|b| b.is_ascii_lowercase())
        && first.ends_with('s')
        && !["ss", "us", "is"].iter().any(ends)
        && !words::has(words::NO_PLURALS, first);
    shaped && words.get(1).is_none_or(|next| is_small(next))
}

/// A yes with a no, a correction or a delay as its note: one of them is a slip. A longer note that first says what is
/// to be done may end with what is not: "run it on staging, not on prod".
fn refuses(folded: &str) -> bool {
    let words: Vec<String> = words_of(folded).collect();
    let start = words.get(..NEAR.min(words.len())).unwrap_or_default();
    let goes_on = words.len() >= LONG_NOTE
        && words.first().is_some_and(|first| notes::is_verb(first))
        && !doubts(&start.join(" "));
    is_refusal(&words) || (doubts(folded) && !goes_on)
}

/// A no where something to be done instead is expected. Commands have words that negate behind the program, and long
/// ones also words that take back.
fn turns_down(folded: &str) -> bool {
    let words: Vec<String> = words_of(folded).collect();
    let polite = |word: &&String| words::has(words::POLITE, word);
    let asked: Vec<String> = words.iter().skip_while(polite).cloned().collect();
    let doubts = |word: &String| negates(word) || delays(word) || takes_back(word);
    // "do not run", and not "echo not now".
    let is_sentence = asked.first().is_some_and(|first| is_everyday_word(first));
    // "absolutely not", "maybe later".
    let ends = asked.last().filter(|_| asked.len() <= SHORTEST_INSTRUCTION);
    is_refusal(&words)
        || is_refusal(&asked)
        || asked.first().is_some_and(doubts)
        || ends.is_some_and(doubts)
        || (words.len() <= LONG_NOTE
            && (words.iter().any(|word| takes_back(word)) || is_sentence && negates(folded)))
}

pub(super) fn is_refusal(words: &[String]) -> bool {
    let said = words.join(" ");
    let is_phrase = |phrase: &str| said == phrase;
    let begins = |phrase: &str| said.starts_with(phrase);
    words::REFUSALS.split(", ").any(is_phrase) || words::REFUSING.split(", ").any(begins)
}

/// Whether a text has a word that says no.
pub(super) fn negates(folded: &str) -> bool {
    let is_negation = |word: String| {
        words::has(words::NEGATIONS, &word)
            || word.starts_with("kein")
            || word.starts_with("ningun")
    };
    let holds = |sign: &str| folded.contains(sign);
    words_of(folded).any(is_negation) || words::NEGATION_SIGNS.split_whitespace().any(holds)
}

/// Months that languages shorten to words of others: alone or before a number they are a date.
fn is_short_date(words: &[String]) -> bool {
    let (first, next) = (words.first(), words.get(1));
    let month = first.is_some_and(|first| matches!(first.as_str(), "set" | "out" | "ene" | "ago"));
    month && next.is_none_or(|next| is_number(next))
}

/// Small words, and the signs of sums and ranges: "4 or 5", "4 + 1".
fn is_small(word: &str) -> bool {
    words::has(words::SMALL, word) || word.chars().all(|c| "-–—+/=<>×:&".contains(c))
}

pub(super) fn is_number(word: &str) -> bool {
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

pub(super) fn is_day(word: &str) -> bool {
    is_month(word) || words::has(words::DAYS, word)
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

fn asks(folded: &str) -> bool {
    let words: Vec<String> = words_of(folded).collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let (first, second) = (word(0), word(1));
    let both = |verbs: &str, about: &str| words::has(verbs, first) && words::has(about, second);
    let is_verb =
        |word: &str| words::has(words::ASKING, word) || words::has(words::ASKING_IF, word);
    let opening = format!("{first} {second}");
    folded.contains('¿')
        || both(words::ASKING, words::ASKED_ABOUT)
        || both(words::ASKING_IF, words::ASKED_IF)
        || words::has(words::QUESTIONS, first)
        || (words::has(words::ALONE_QUESTIONS, first) && (second.is_empty() || is_verb(second)))
        || words::ASKING_PHRASES
            .split(", ")
            .any(|phrase| opening == phrase)
        || (words.len() > 1
            && words
                .last()
                .is_some_and(|last| words::has(words::ASKING_PARTICLES, last)))
        || words::EAST_ASIA_QUESTIONS
            .split_whitespace()
            .any(|start| folded.starts_with(start))
        || asks_by_mark(folded)
        || asks_by_ending(folded)
}

/// A question mark, unless it is part of an address or a pattern: those go on behind it.
fn asks_by_mark(folded: &str) -> bool {
    let mut chars = folded.chars().peekable();
    let mut above = None;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let goes_on = next.is_some_and(|next| next.is_ascii_alphanumeric() || "=&%".contains(next))
            || (next == Some('/') && !above.is_some_and(char::is_alphanumeric));
        if matches!(c, '؟' | '՞' | '‽' | '❓' | '❔' | '🤔') || (c == '?' && !goes_on) {
            return true;
        }
        above = Some(c);
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
