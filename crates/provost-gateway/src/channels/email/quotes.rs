//! What in the text of a mail its sender wrote, and what is history that their program put there.
//!
//! Programs mark history in many ways and languages, and none of the known strippers gets even half of them
//! right. So this looks for the lines that the sender wrote first: they decide. Everything below that is not
//! certainly history is handed on as well, because a change of mind may stand there.

mod attribution;
mod furniture;
mod words;

/// Stands where everything below is the mail before, as the HTML of a mail says. No text has this character.
pub(super) const HISTORY: &str = "\u{fdd0}";
/// Stands where a signature ends, as the HTML of a mail says.
pub(super) const SIGNATURE_END: &str = "\u{fdd1}";

/// The lines that the sender wrote, up to the first sign of anything else.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Own<'t> {
    Lines {
        own: Vec<&'t str>,
        /// What else may be the sender's: lines below a rule, an attribution or a quote. They decide nothing, and
        /// must not contradict.
        others: Vec<&'t str>,
        /// So many of them stand above the first attribution.
        above_attribution: usize,
        /// A quote stands above: a footer that a server added looks the same.
        below_quote: bool,
        /// The one own line stands right above a quoted one: a text that was wrapped may go on there, with a `|`
        /// or a `>`.
        cut: bool,
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
    /// The line that a signature stands below.
    Signature,
    SignatureEnd,
    /// The head of the mail before: nothing below is the sender's.
    History,
    /// A rule, or what a phone adds: what stands below is none of the text, and may be the sender's.
    Rule,
    Own,
}

pub(super) fn own_lines<'t>(lines: &[&'t str]) -> Own<'t> {
    let mut at = 0;
    let mut quote_seen = false;
    let mut after_blank = true;
    while at < lines.len() {
        if let Some(count) = furniture::banner(lines, at).filter(|_| !quote_seen) {
            (at, after_blank) = (at + count, true);
            continue;
        }
        match kind(lines, at) {
            Line::Blank | Line::SignatureEnd => (at, after_blank) = (at + 1, true),
            Line::Quoted => (at, quote_seen, after_blank) = (at + 1, true, false),
            // "Not before 10:00:" above a quote is a condition.
            Line::Attribution(count)
                if lines
                    .get(at..at + count)
                    .is_some_and(|lines| lines.iter().any(|line| attribution::corrects(line))) =>
            {
                return region(lines, at, quote_seen);
            }
            Line::Attribution(count) if marked_below(lines, at + count) => {
                (at, quote_seen, after_blank) = (at + count, true, false);
            }
            Line::Attribution(_) | Line::Signature | Line::History | Line::Rule => {
                return Own::Nothing;
            }
            Line::Own if quote_seen && !after_blank => return Own::Mixed,
            Line::Own if furniture::is_furniture(lines, at) => return Own::Nothing,
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
    let (others, above_attribution) = others(lines, end);
    Own::Lines {
        own: lines.get(start..end).unwrap_or_default().to_vec(),
        cut: end == start + 1 && is_marked_text(lines, end),
        others,
        above_attribution,
        below_quote,
    }
}

/// The lines that are neither marked as a quote nor below the head of another mail or a signature, and how many
/// of them stand above the first attribution.
fn others<'t>(lines: &[&'t str], end: usize) -> (Vec<&'t str>, usize) {
    let mut at = end;
    let mut found = Vec::new();
    let mut in_signature = false;
    let mut above_attribution = None;
    while at < lines.len() {
        match kind(lines, at) {
            Line::History => break,
            Line::Signature => in_signature = true,
            Line::Quoted | Line::SignatureEnd => in_signature = false,
            // An attribution may begin with the day of the month.
            Line::Attribution(count) => {
                above_attribution.get_or_insert(found.len());
                let introducing = lines.get(at..at + count).unwrap_or_default();
                if !in_signature {
                    found.extend(attribution::own_in(introducing));
                }
                at += count - 1;
            }
            _ if in_signature => {}
            _ => found.extend(lines.get(at)),
        }
        at += 1;
    }
    let above = above_attribution.unwrap_or(found.len());
    (found, above)
}

/// Whether a text says where the mail before begins: its lines are marked, or stand below their own head.
pub(super) fn marks_history(lines: &[&str]) -> bool {
    lines.iter().any(|line| is_marked(line) || *line == HISTORY)
}

fn kind(lines: &[&str], at: usize) -> Line {
    let line = lines.get(at).copied().unwrap_or_default();
    if line.trim().is_empty() {
        Line::Blank
    } else if is_marked(line) {
        Line::Quoted
    } else if is_signature_mark(line) {
        Line::Signature
    } else if line == SIGNATURE_END {
        Line::SignatureEnd
    } else if begins_history(lines, at) {
        Line::History
    } else if is_rule(line) {
        Line::Rule
    } else if let Some(count) = attribution::lines_at(lines, at) {
        Line::Attribution(count)
    } else {
        Line::Own
    }
}

/// Our own mails mark what an agent wrote with a bar.
fn is_marked(line: &str) -> bool {
    line.trim_start().starts_with(['>', '|', '＞'])
}

/// Whether a marked line stands here that is no attribution, as Apple's programs mark theirs.
fn is_marked_text(lines: &[&str], at: usize) -> bool {
    let marked = lines.iter().skip(at).take_while(|line| is_marked(line));
    let bare: Vec<&str> = marked
        .map(|line| line.trim_start_matches(['>', ' ']))
        .collect();
    !bare.is_empty() && attribution::lines_at(&bare, 0).is_none()
}

/// Whether the history below says line by line that it is one.
fn marked_below(lines: &[&str], from: usize) -> bool {
    let below = lines.iter().skip(from).find(|line| !line.trim().is_empty());
    below.is_some_and(|line| is_marked(line))
}

fn is_signature_mark(line: &str) -> bool {
    line.trim() == "--"
}

/// The head of the mail before: labels below each other, with or without a title such as
/// "-----Original Message-----".
fn begins_history(lines: &[&str], at: usize) -> bool {
    /// So far below the sender the next label stands.
    const NEXT: usize = 3;
    let line = bare(lines.get(at).copied().unwrap_or_default());
    let below = |most| lines.iter().skip(at + 1).map(|line| bare(line)).take(most);
    let headed = || {
        let next = below(NEXT).find(|line| !line.is_empty());
        next.is_some_and(is_sender)
    };
    let labelled = || below(NEXT).any(|line| has_label(line, words::HEAD_LABELS));
    let titled = line.starts_with("---") && line.contains(char::is_alphabetic);
    let forwarded = || {
        let mut starts = words::FORWARDED.iter();
        starts.any(|start| starts_with(line, start))
    };
    line == HISTORY
        || ((titled || forwarded()) && headed())
        || (is_sender(line) && (labelled() || line.contains('@')))
}

fn bare(line: &str) -> &str {
    line.trim().trim_matches('*').trim()
}

fn is_sender(line: &str) -> bool {
    has_label(line, words::SENDER_LABELS)
}

fn has_label(line: &str, labels: &[&str]) -> bool {
    labels.iter().any(|label| is_labelled(line, label))
}

/// A line that is drawn, a title between dashes, a lone sender's label, or what a phone adds.
fn is_rule(line: &str) -> bool {
    let line = bare(line);
    let ruled = line.starts_with("-----") || (line.starts_with("---") && line.ends_with("---"));
    is_drawn(line)
        || (ruled && line.len() >= 8)
        || matches!(line, "—" | "––")
        || is_sender(line)
        || words::FORWARDED
            .iter()
            .any(|title| starts_with(line, title))
        || words::SIGNATURES
            .iter()
            .any(|start| starts_with(line, start))
        || words::SIGNATURE_ENDS.iter().any(|end| line.ends_with(end))
}

fn is_drawn(line: &str) -> bool {
    ['_', '-', '=', '─'].iter().any(|c| {
        let only = line.chars().all(|other| other == *c);
        only && line.chars().count() >= 8
    })
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
            "1\n________________________________\nFrom: Gate\nSent: Tuesday\n3",
        ] {
            let Own::Lines { own, .. } = own(text) else {
                panic!("{text:?}");
            };
            assert_eq!(own.join("\n").trim(), "1", "{text:?}");
        }
    }

    #[test]
    fn p13_what_is_not_certainly_history_is_looked_at() {
        for (text, expected) in [
            ("1\n\n> quoted\n\n3 no", "3 no"),
            ("1\n> a\nb\n\n3", "b 3"),
            ("1\n-- \n3 Main Street", ""),
            ("1\n-- \nBob\n\n> quoted\n3 no", "3 no"),
            ("1\nFrom: Gate\nSent: Tuesday\n3", ""),
            ("1\nFrom: now on\n3", "From: now on 3"),
            ("1\n--------\n3", "-------- 3"),
            ("1\nSent from my iPhone\n3", "Sent from my iPhone 3"),
        ] {
            let Own::Lines { others, .. } = own(text) else {
                panic!("{text:?}");
            };
            let others = others.join(" ");
            let others = others.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(others, expected, "{text:?}");
        }
    }

    #[test]
    fn below_a_quote_only_what_stands_clear_of_it_counts() {
        for text in ["> a\n> b\n\n1", "Bob wrote:\n> a\n\n1\n"] {
            let Own::Lines {
                own, below_quote, ..
            } = own(text)
            else {
                panic!("{text:?}");
            };
            assert_eq!(
                (own.as_slice(), below_quote),
                (&["1"][..], true),
                "{text:?}"
            );
        }
        assert_eq!(own("> a long\n1 line\n> b\n\n3"), Own::Mixed);
        assert_eq!(own("> a long\n1 line\n\n3"), Own::Mixed);
        assert_eq!(own("> a\n\n1\n\n> b\n\n3"), Own::Mixed);
    }
}
