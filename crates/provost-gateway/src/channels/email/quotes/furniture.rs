//! What programs put above a reply: banners of mail servers, dates, and counts of attachments.

use provost_core::menu;

use super::{is_marked, words};

/// The longest banner, in lines.
const LONGEST: usize = 12;

/// How many lines of furniture begin here.
pub(super) fn lines_at(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines.get(at)?;
    if super::attribution(lines, at).is_some() {
        return None;
    }
    if counts_attachments(line) || (super::is_numbered(line.trim()) && menu::is_date(line)) {
        return Some(1);
    }
    banner(lines, at)
}

/// "3 Anhänge", "2 attachments (1 MB)", and not "3 attachments are too many".
fn counts_attachments(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let rest = line.trim_start_matches(char::is_numeric);
    let counted = words::ATTACHMENTS.iter().find_map(|word| {
        let after = rest.trim().strip_prefix(word)?;
        Some(after.trim_start_matches(char::is_alphabetic).trim())
    });
    let plain = |after: &str| !after.starts_with(char::is_alphabetic);
    rest.len() < line.len() && counted.is_some_and(plain)
}

/// A warning that the mail is from outside, with the frame around it, up to an empty line or a line with a code.
fn banner(lines: &[&str], at: usize) -> Option<usize> {
    let frame = lines
        .iter()
        .skip(at)
        .take_while(|line| is_frame(line))
        .count();
    let text: Vec<&str> = lines
        .iter()
        .skip(at + frame)
        .take_while(|line| !line.trim().is_empty() && !menu::has_code(line) && !is_marked(line))
        .copied()
        .collect();
    let is_banner = text.len() <= LONGEST
        && text
            .first()
            .is_some_and(|first| warns(first, &text.join(" ")));
    is_banner.then_some(frame + text.len())
}

/// A line drawn with signs.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    line.chars().count() >= 3 && line.chars().all(|c| "-=*_#~+─━═".contains(c))
}

fn warns(first: &str, text: &str) -> bool {
    let (first, text) = (first.to_lowercase(), text.to_lowercase());
    let bare = first.trim_start_matches(|c: char| !c.is_alphanumeric());
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let begins = words::WARNINGS.iter().any(|word| bare.starts_with(word));
    let bracketed = first
        .trim_start()
        .starts_with(['[', '【', '(', '<', '*', '⚠']);
    let outside = has(words::OUTSIDE);
    (begins && outside && (bracketed || has(words::MAILS)))
        || (outside && has(words::MAILS) && text.split_whitespace().count() >= 5)
}
