//! What in the text of a mail its sender wrote, and what is history that their program put there.
//!
//! Programs mark history in many ways and languages, and none of the known strippers gets even half of them
//! right. So this only looks for the lines that the sender wrote first; what stands after the first sign of
//! history is history.

mod furniture;
mod words;

use provost_core::menu;

/// The lines that the sender wrote, up to the first sign of anything else.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Own<'t> {
    Lines {
        own: Vec<&'t str>,
        /// What stands clear below the quotes that follow: more of the sender's words, or what a server added.
        below_quotes: Vec<&'t str>,
    },
    Nothing,
    /// Own lines stand between quoted ones, or right below them where a wrapped line of the quote may stand:
    /// they may be part of the quote.
    Mixed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    /// With a mark before it.
    Quoted,
    /// A line such as "Bob wrote:", that many lines long.
    Attribution(usize),
    /// Nothing below is the sender's.
    Over,
    Own,
}

pub(super) fn own_lines<'t>(lines: &[&'t str]) -> Own<'t> {
    let mut at = 0;
    let mut quote_seen = false;
    let mut after_blank = true;
    while at < lines.len() {
        if let Some(count) = furniture::lines_at(lines, at).filter(|_| !quote_seen) {
            (at, after_blank) = (at + count, true);
            continue;
        }
        match kind(lines, at) {
            Line::Blank => (at, after_blank) = (at + 1, true),
            Line::Quoted => (at, quote_seen, after_blank) = (at + 1, true, false),
            Line::Attribution(count) if marked_below(lines, at + count) => {
                (at, quote_seen, after_blank) = (at + count, true, false);
            }
            Line::Attribution(_) | Line::Over => return Own::Nothing,
            Line::Own if quote_seen && !after_blank => return Own::Mixed,
            Line::Own => return region(lines, at, quote_seen),
        }
    }
    Own::Nothing
}

/// From the first own line to the first that is not.
fn region<'t>(lines: &[&'t str], start: usize, below_quote: bool) -> Own<'t> {
    let mut end = start;
    while end < lines.len() && matches!(kind(lines, end), Line::Own | Line::Blank) {
        end += 1;
    }
    let quoted_again = || (end..lines.len()).any(|at| kind(lines, at) == Line::Quoted);
    if below_quote && quoted_again() {
        return Own::Mixed;
    }
    Own::Lines {
        own: lines.get(start..end).unwrap_or_default().to_vec(),
        below_quotes: below_quotes(lines, end),
    }
}

/// The lines that stand clear below marked quotes. Below an unmarked one nobody can tell whose a line is.
fn below_quotes<'t>(lines: &[&'t str], end: usize) -> Vec<&'t str> {
    let mut at = end;
    let mut found = Vec::new();
    let mut clear = false;
    while at < lines.len() {
        match kind(lines, at) {
            Line::Attribution(count) if marked_below(lines, at + count) => at += count,
            Line::Attribution(_) | Line::Over => break,
            Line::Blank => (at, clear) = (at + 1, true),
            Line::Quoted => (at, clear) = (at + 1, false),
            Line::Own => {
                found.extend(lines.get(at).filter(|_| clear));
                at += 1;
            }
        }
    }
    found
}

fn kind(lines: &[&str], at: usize) -> Line {
    let line = lines.get(at).copied().unwrap_or_default();
    if line.trim().is_empty() {
        Line::Blank
    } else if is_marked(line) {
        Line::Quoted
    } else if ends_the_reply(line) {
        Line::Over
    } else if let Some(count) = attribution(lines, at) {
        Line::Attribution(count)
    } else {
        Line::Own
    }
}

/// Our own mails mark what an agent wrote with a bar.
fn is_marked(line: &str) -> bool {
    line.trim_start().starts_with(['>', '|', '＞'])
}

/// Whether the history below says line by line that it is one.
fn marked_below(lines: &[&str], from: usize) -> bool {
    let below = lines.iter().skip(from).find(|line| !line.trim().is_empty());
    below.is_some_and(|line| is_marked(line))
}

/// A rule, a title such as "-----Original Message-----", the head of the mail before, or a signature.
fn ends_the_reply(line: &str) -> bool {
    let line = line.trim().trim_matches('*').trim();
    let ruled = line.starts_with("-----") || (line.starts_with("---") && line.ends_with("---"));
    let rule = ['_', '-', '=', '─'].iter().any(|c| {
        let only = line.chars().all(|other| other == *c);
        only && line.chars().count() >= 8
    });
    rule || (ruled && line.len() >= 8)
        || matches!(line, "--" | "—" | "––")
        || words::SENDER_LABELS
            .iter()
            .any(|label| is_labelled(line, label))
        || words::SIGNATURES
            .iter()
            .any(|start| starts_with(line, start))
        || words::SIGNATURE_ENDS.iter().any(|end| line.ends_with(end))
        || words::FORWARDED
            .iter()
            .any(|title| starts_with(line, title))
}

fn is_labelled(line: &str, label: &str) -> bool {
    let rest = starts_with(line, label)
        .then(|| line.get(label.len()..))
        .flatten();
    rest.is_some_and(|rest| rest.trim_start_matches(['*', ' ']).starts_with([':', '：']))
}

fn starts_with(line: &str, start: &str) -> bool {
    let head = line.get(..start.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// How many lines the attribution that begins here has. Programs wrap it, and in some languages it begins
/// with the day of the month, which must not pass for a code of the menu.
fn attribution(lines: &[&str], at: usize) -> Option<usize> {
    const LONGEST: usize = 4;
    let first = lines.get(at)?.trim();
    let mut joined = String::new();
    for count in 1..=LONGEST {
        let line = lines.get(at + count - 1)?.trim();
        if line.is_empty() || is_marked(line) || (count > 1 && has_start(line)) {
            return None;
        }
        joined = format!("{joined} {line}");
        if introduces(joined.trim()) && (count == 1 || begins(first)) {
            return Some(count);
        }
    }
    None
}

fn begins(line: &str) -> bool {
    // "3 de noviembre de", where the year stands in the next line.
    let mut words = line.split_whitespace();
    let few: Vec<&str> = words.by_ref().take(3).collect();
    let dated = (2..=few.len()).any(|count| {
        let few = few.get(..count).unwrap_or_default();
        menu::is_date(&few.join(" "))
    });
    has_start(line) || has_date(line) || (is_numbered(line) && dated)
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
    (ends && (verb || dated)) || (dated && (addressed || verb) && is_numbered(text))
}

/// A year of this time, or a time of the day.
fn has_date(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_digit() && c != ':' && c != '.');
    words.any(|word| {
        let word = word.trim_matches(['.', ':']);
        word.split('.').any(is_year) || is_time(word)
    })
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && (text.starts_with("20") || text.starts_with("19"))
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

    fn own(text: &str) -> Own<'_> {
        own_lines(&text.lines().collect::<Vec<_>>())
    }

    #[test]
    fn own_lines_end_where_history_begins() {
        for text in [
            "1\n\n> quoted",
            "1\n> quoted",
            "\n  \n1\n\nOn Tue, Mar 3, 2026 at 10:00 AM Gate <gate@example.com> wrote:\n\n> quoted",
            "1\nOn Tue, 3 Mar 2026 at 10:00, Gate\n<gate@example.com> wrote:\n> quoted",
            "1\n-- \nBob",
            "1\n________________________________\nFrom: Gate",
        ] {
            let Own::Lines { own, below_quotes } = own(text) else {
                panic!("{text:?}");
            };
            assert_eq!(own.join("\n").trim(), "1", "{text:?}");
            assert!(below_quotes.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn below_a_quote_only_what_stands_clear_of_it_counts() {
        let lines = |own: &[&'static str], below: &[&'static str]| Own::Lines {
            own: own.to_vec(),
            below_quotes: below.to_vec(),
        };
        assert_eq!(own("> a\n> b\n\n1"), lines(&["1"], &[]));
        assert_eq!(own("Bob wrote:\n> a\n\n1\n"), lines(&["1"], &[]));
        assert_eq!(own("1\n> a\nb\n\n3"), lines(&["1"], &["3"]));
        assert_eq!(own("> a long\n1 line\n> b\n\n3"), Own::Mixed);
        assert_eq!(own("> a long\n1 line\n\n3"), Own::Mixed);
        assert_eq!(own("> a\n\n1\n\n> b\n\n3"), Own::Mixed);
    }

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
}
