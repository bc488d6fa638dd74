//! What people and their mail programs write below an answer: a closing, a name, an address.

use super::words;

/// Follows the lines below an answer and tells which ones are a signature.
#[derive(Default)]
pub(super) struct Block {
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Right below the answer, or below an empty line: a name may begin here.
    #[default]
    Start,
    /// A name or a closing stood in the line above.
    Opened {
        closing: bool,
    },
    /// In a signature: up to the next empty line below a name, to the end below a closing.
    Inside {
        closing: bool,
    },
    Prose,
}

impl Block {
    /// Whether a line is part of a signature. A code right below a name or a closing is none: "Sorry" above "3 no"
    /// is an answer.
    pub(super) fn holds(&mut self, line: &str, has_code: bool, is_blank: bool) -> bool {
        let closing = is_closing(line);
        self.state = match self.state {
            State::Inside { closing: true } => State::Inside { closing: true },
            State::Opened { closing: true } if is_blank => State::Opened { closing: true },
            _ if is_blank => State::Start,
            _ if closing => State::Opened { closing: true },
            State::Opened { closing } if !has_code => State::Inside { closing },
            State::Inside { closing } => State::Inside { closing },
            State::Start if !has_code && is_name(line) => State::Opened { closing: false },
            _ => State::Prose,
        };
        matches!(self.state, State::Inside { .. })
    }
}

/// Whether a line may stand right below the text of an answer without being more of it.
pub(super) fn may_follow(line: &str) -> bool {
    is_closing(line) || is_name(line) || is_contact(line)
}

/// A note is not executed, so a single word below it may be a name in small letters.
pub(super) fn may_follow_a_note(line: &str) -> bool {
    let line = line.trim();
    let is_word =
        line.chars().count() <= 20 && line.chars().all(|c| c.is_lowercase() || c.is_uppercase());
    may_follow(line) || is_word
}

fn is_closing(line: &str) -> bool {
    let line = line
        .trim()
        .trim_start_matches(['-', '–', '—', ' '])
        .to_lowercase();
    words::CLOSINGS.split(", ").any(|closing| {
        let rest = line.strip_prefix(closing);
        // "Thanks" and "thanks, Bob", and not "thanksgiving". Some scripts have no spaces.
        let goes_on = |c: char| c.is_lowercase() || c.is_numeric();
        rest.is_some_and(|rest| !rest.starts_with(goes_on))
    })
}

/// One to four words that begin with a capital, or one or two short ones in a script that has none.
fn is_name(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '–', '—', '~', ' ']);
    let words: Vec<&str> = line.split_whitespace().collect();
    let sound = |c: char| c.is_alphabetic() || matches!(c, '.' | ',' | '-' | '\'' | '’');
    if words.is_empty() || words.len() > 4 || !line.chars().all(|c| sound(c) || c.is_whitespace()) {
        return false;
    }
    let capital = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
    // READMEs and constants are no names.
    let shouted = |word: &&str| {
        word.chars().count() > 3 && word.chars().all(|c| c.is_uppercase() || !c.is_alphabetic())
    };
    let has_no_case = |c: char| !c.is_lowercase() && !c.is_uppercase();
    // Japanese names end in no hiragana, sentences do.
    let is_hiragana = |c: char| matches!(c, '\u{3040}'..='\u{309f}');
    let caseless = || {
        let fits = words.len() <= 2 && line.chars().count() <= 16;
        fits && line.chars().all(|c| has_no_case(c) && !is_hiragana(c))
    };
    let shouting = words.iter().all(shouted);
    (words.iter().all(capital) && !shouting) || caseless()
}

/// A phone number, an address on the web or for mail.
fn is_contact(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let digits = line.chars().filter(char::is_ascii_digit).count();
    let phone = |c: char| c.is_ascii_digit() || "+-()/. ".contains(c);
    let labelled = words::CONTACTS
        .split_whitespace()
        .any(|label| line.starts_with(label));
    (digits >= 6 && line.chars().all(phone) && line.starts_with(['+', '0', '(']))
        || labelled
        || (line.contains('@') && !line.contains(char::is_whitespace))
}
