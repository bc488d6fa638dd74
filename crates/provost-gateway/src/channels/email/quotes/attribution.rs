//! The line that introduces history, such as "On Tue, 3 Nov 2026 Bob wrote:".

use provost_core::menu;

use super::{furniture, is_marked, marked_below, starts_with, words};

/// How many lines the attribution that begins here has. Programs wrap it, and in some languages it begins
/// with the day of the month, which must not pass for a code of the menu.
pub(super) fn lines_at(lines: &[&str], at: usize) -> Option<usize> {
    const LONGEST: usize = 4;
    let first = plain(lines.get(at)?);
    let first = first.trim();
    if furniture::is_short_attribution(first)
        && (first.contains('@') || marked_below(lines, at + 1))
    {
        return Some(1);
    }
    let mut joined = String::new();
    for count in 1..=LONGEST {
        let line = plain(lines.get(at + count - 1)?);
        let line = line.trim();
        if line.is_empty() || is_marked(line) || (count > 1 && has_start(line)) {
            return None;
        }
        joined = format!("{joined} {line}");
        // The date may be wrapped as well.
        let goes_on =
            is_numbered(first) && (first.contains(char::is_whitespace) || is_day_above(lines, at));
        let starts = begins(first) || (goes_on && begins_with_date(joined.trim()));
        if introduces(joined.trim()) && (count == 1 || starts) {
            return Some(count);
        }
    }
    None
}

/// Whether the number that stands alone here is the day of the date below: a month without a day stands there, with
/// its year or a time. Elsewhere such a number is an answer.
fn is_day_above(lines: &[&str], at: usize) -> bool {
    let below = lines.get(at + 1).map(|line| plain(line));
    let below = below.unwrap_or_default();
    let mut words = below
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty());
    let is_small = |word: &str| word.chars().count() <= 3 && !menu::is_month(word);
    let is_word = |word: &str| word.chars().all(|c| c.is_alphabetic() || c == '.');
    let Some(month) = words.find(|word| !(is_word(word) && is_small(word))) else {
        return false;
    };
    // "Nov 3, 2026" has its own day.
    let next = words.find(|word| !(is_word(word) && is_small(word)));
    let has_day = next.is_some_and(|next| next.parse::<u8>().is_ok_and(|day| day <= 31));
    let is_dated = menu::is_month(month) || next.is_some_and(is_year);
    (is_word(month) && is_dated && !has_day) || is_numbered_month(&below)
}

/// "thg 11, 2026": to some languages a month is a number behind a word.
fn is_numbered_month(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let word = words.next().unwrap_or_default().to_lowercase();
    let mut number = || {
        words
            .next()
            .unwrap_or_default()
            .trim_end_matches([',', '.'])
    };
    matches!(&*word, "thg" | "thg." | "tháng")
        && number().parse::<u8>().is_ok()
        && is_year(number())
}

/// With the digits of our script.
pub(super) fn plain(line: &str) -> String {
    line.chars().map(menu::plain_digit).collect()
}

/// The lines of an attribution that may be the sender's own: those that begin with a code, or take one back. One that begins with a
/// full date has none, and neither has one that goes on with it from the line above ("3, 2026 at 10:00"). A day of
/// the month further on is no correction ("On Tue, Jan 1 Bob wrote:").
pub(super) fn own_in<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    if begins_with_date(&plain(&lines.join(" "))) {
        return Vec::new();
    }
    let own = lines.iter().enumerate().filter(|(at, line)| {
        let line = plain(line);
        let second = line.split_whitespace().nth(1).unwrap_or_default();
        let second = second.trim_matches(|c: char| !c.is_alphanumeric());
        let goes_on = is_year(second) || (menu::is_month(second) && has_date(&line));
        !(begins_with_date(&line) || (*at > 0 && goes_on))
    });
    let own = own.map(|(_, line)| *line);
    own.filter(|line| menu::mentions_code(line) || corrects(line))
        .collect()
}

/// Whether an attribution has a word that takes something back. "No dia" only says when.
pub(super) fn corrects(line: &str) -> bool {
    let start = words::STARTS.iter().find(|start| starts_with(line, start));
    menu::corrects(
        line.get(start.map_or(0, |start| start.len())..)
            .unwrap_or(line),
    )
}

/// Whether a text that begins with a digit begins with a full date: the day, the month, and a year or a time. Many
/// short months are words as well: "3 may break it". An unknown word is a month before a year and a time:
/// "3 azaroa 2026 10:00".
fn begins_with_date(text: &str) -> bool {
    /// So many words a date has: "3 de noviembre de 2026".
    const WORDS: std::ops::RangeInclusive<usize> = 3..=6;
    let words: Vec<&str> = text.split_whitespace().collect();
    let known = WORDS.into_iter().any(|count| {
        let start = words.get(..count).unwrap_or_default().join(" ");
        menu::is_date(&start) && has_date(&start.replace('.', ":").replace("::", ":"))
    });
    let clean = |word: &&str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let word = |at: usize| words.get(at).map(clean).unwrap_or_default();
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| !c.is_ascii_digit());
    let after_day = text
        .split_once(char::is_whitespace)
        .map_or("", |(_, rest)| rest);
    known
        || (is_word(&word(1)) && is_year(&word(2)) && has_time(text))
        || (is_numbered_month(after_day) && has_time(text))
}

fn begins(line: &str) -> bool {
    has_start(line) || has_date(line) || (is_numbered(line) && begins_with_date(line))
}

fn is_numbered(line: &str) -> bool {
    line.starts_with(|c: char| c.is_numeric())
}

fn has_start(line: &str) -> bool {
    words::STARTS.iter().any(|start| starts_with(line, start))
}

fn introduces(text: &str) -> bool {
    let text = text.trim_end_matches(['*', '_', ' ']);
    let ends = text.ends_with([':', '：']);
    let lower = text.to_lowercase();
    let verb = words::VERBS.iter().any(|verb| lower.contains(verb));
    let dated = has_date(text);
    let addressed = text.contains('@');
    if menu::has_code(text) {
        // An answer may speak of times, addresses and of what somebody wrote.
        return begins_with_date(text) && (addressed || verb || (ends && dated));
    }
    (ends && (verb || dated)) || (dated && (addressed || verb) && is_numbered(text))
}

/// A year of this time, or a time of the day.
fn has_date(line: &str) -> bool {
    has_time(line) || numbers(line).any(|number| number.split(['.', ':']).any(is_year))
}

fn has_time(line: &str) -> bool {
    numbers(line).any(is_time)
}

fn numbers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_digit() && c != ':' && c != '.')
        .map(|word| word.trim_matches(['.', ':']))
}

/// In the calendars of mail programs; Thai ones count from the Buddha.
pub(super) fn is_year(text: &str) -> bool {
    text.len() == 4
        && text.bytes().all(|b| b.is_ascii_digit())
        && ["20", "19", "25"]
            .iter()
            .any(|century| text.starts_with(century))
}

fn is_time(text: &str) -> bool {
    let mut parts = text.split(':');
    let (hour, minute) = (parts.next(), parts.next());
    let within = |part: Option<&str>, most: u8| {
        part.and_then(|part| part.parse().ok())
            .is_some_and(|value: u8| value <= most)
    };
    within(hour, 23) && within(minute, 59) && minute.is_some_and(|minute| minute.len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_found() {
        for line in [
            "3 mars 2026",
            "am 03.03.2026 um",
            "10:00",
            "kl. 10:00:01",
            "2026年3月3日",
        ] {
            assert!(has_date(line), "{line}");
        }
        for line in [
            "1",
            "4 add logs",
            "5 npm run build:all",
            "4 port 8080",
            "3.3.",
            "4 ratio 1:1",
            "5 ssh -L 80:80 me@host",
        ] {
            assert!(!has_date(line), "{line}");
        }
    }

    #[test]
    fn p13_an_answer_with_a_time_and_an_address_is_no_attribution() {
        for line in [
            "3 may break prod, ask ops@example.org first",
            "3 may run at 10:00, ask ops@example.org",
            "3 mag niet van ops@example.org",
            "3 des risques, voir avec ops@example.org",
            "3 des 4 serveurs, voir ops@example.org",
            "3 sie müssen erst ops@example.org fragen",
            "3 tem que falar com ops@example.org",
            "3 Dec is the freeze, as Bob wrote. So no",
            "3 until 2026, ask ops@example.org",
            "3 not before 10:00, ask ops@example.org",
            "3 as Bob wrote, not before 10:00",
            "3 Bob wrote why:",
            "3 no, see my comment from 10:15:",
            "5 {\"start\":\"2026-11-20\",\"attendee\":\"bob@example.org\"}",
            "5 git log --since=2026-01-01 --author=bob@example.org",
        ] {
            assert_eq!(lines_at(&[line], 0), None, "{line}");
        }
        for line in [
            "3 Nov 2026 10:00, Gate <gate@example.com> wrote:",
            "3 azaroa 2026 10:00 Gate <gate@example.com> zyx:",
            "3 de noviembre de 2026 a las 10:00, Gate escribió:",
            "4 lis o 10.00 Gate napisał(a):",
        ] {
            assert_eq!(lines_at(&[line], 0), Some(1), "{line}");
        }
    }

    #[test]
    fn p13_the_day_of_a_wrapped_date_is_no_answer() {
        for (above, below) in [
            ("1", "November 2026 10:00, Gate <gate@example.org>:"),
            ("1", "Nov 2026, at 10:00, Gate <gate@example.org> wrote:"),
            ("3", "de noviembre de 2026 a las 10:00, Gate escribió:"),
            ("1", "ноября 2026 г. 10:00, Gate <gate@example.org>:"),
            ("2", "azaroa 2026 10:00 Gate <gate@example.org> zyx:"),
            ("1", "thg 11, 2026 10:00 Gate <gate@example.org>:"),
            ("1", "พ.ย. 2569 10:00 Gate <gate@example.org> เขียนว่า:"),
            (
                "1.",
                "November 2026 um 10:00 schrieb Gate <gate@example.org>:",
            ),
            (
                "6",
                "novembre 2026 à 10:00, Gate <gate@example.org> a écrit :",
            ),
        ] {
            assert_eq!(lines_at(&[above, below], 0), Some(2), "{above} {below}");
        }
        for below in [
            "Nov 3, 2026, at 10:00, Gate <gate@example.org> wrote:",
            "November 3 2026 10:00, Gate <gate@example.org>:",
            "Tue, 3 Nov 2026 10:00, Gate <gate@example.org> wrote:",
            "On Tue, 3 Nov 2026 10:00, Gate <gate@example.org> wrote:",
            "Am 3. November 2026 um 10:00 schrieb Gate <gate@example.org>:",
            "Gate <gate@example.org> wrote on 3 Nov 2026 10:00:",
            "2026-11-03 10:00 Gate <gate@example.org>:",
            "mardi 3 novembre 2026 à 10:00, Gate a écrit :",
            "Bob",
        ] {
            assert_eq!(lines_at(&["1", below], 0), None, "{below}");
        }
    }
}
