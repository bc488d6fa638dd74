//! Which notes say clearly what is to be done. A yes that was meant as a no, as a time or as a question cannot be taken
//! back, and no list of what people write instead of a note, in all languages, would ever end. So a note is known by
//! what it is: every clause of it begins with one of a few English verbs. All else is asked again, which costs one
//! more message.

use super::{
    prose,
    words::{self, has},
};

/// Verbs of what somebody does once, whatever follows.
const VERBS: &str = "\
    add append create disable enable exclude include keep preserve remove rename replace use";

/// Verbs that are also nouns or begin remarks: "update failed", "restore points". One of [`DETERMINERS`] makes verbs of
/// them.
const VERBS_OR_NOUNS: &str = "change fix log print restore revert set update write";

const DETERMINERS: &str = "the a an all any every each this these those our your my";

/// What makes something else of a verb: "add up", "keep it as it is", "keep off", "update me", "use cases".
const NO_OBJECTS: &str = "\
    it that them everything nothing anything something things me us you him her as at away aside back by cases down for \
    from in ins of off on ons out over to up with";

/// What may be added without an article. "4 add latency" speaks of four things.
const ADDED: &str = "\
    alerts comments docs labels log logging logs metrics monitoring notes test tests traces tracing";

/// Verbs that begin what is to be done as well, and are not clear alone: what follows may say when, or a condition.
const MORE_VERBS: &str = "deploy ensure make run test";

/// Words that begin another clause.
const JOINTS: &str = "\
    after although and as because before but except however if once or otherwise provided so then though unless until when \
    where which while who yet";

/// Between these, things are listed: "keep the logs and the traces".
const LISTING: &str = "and or";

/// What makes a condition of a clause, which nobody would wait for: "create a ticket first". And what speaks of
/// something else than was asked: "use a different approach".
const CONDITIONS: &str =
    "first beforehand instead soon again later different another other else alternative";

/// What people call the question itself, and where they put what is not done now: "remove the request", "keep the
/// change for the next sprint".
const OF_THE_QUESTION: &str = "\
    agent approval approver backlog hold meeting open paused pending quo request requests sprint ticket unchanged \
    untouched";

/// What may be said before what is to be done.
const BEFORE: &str = "please pls also just";

/// How a call is to be made, without a verb.
const MODES: &str = "dry-run, dry run, a dry-run, a dry run, dry-run only, dry run only, only a dry run, read-only, read only";

/// Whether a text says what is to be done, in each of its clauses, and nothing that takes it back, puts it off or makes
/// a condition of it.
pub fn is_instruction(text: &str) -> bool {
    let folded = prose::fold(text);
    let mut clauses = clauses(&folded).into_iter().skip_while(Clause::is_polite);
    !prose::doubts(&folded)
        && clauses.next().is_some_and(|first| first.says_what_to_do())
        && clauses.all(|clause| clause.says_what_to_do() || clause.lists() || clause.is_polite())
}

/// Whether a text begins as a note does that stands behind its code without a separator: nothing in it is part of a
/// time, of an amount or of a remark about so many things.
pub(super) fn begins(text: &str) -> bool {
    let folded = prose::fold(text);
    let words: Vec<String> = prose::words_of(&folded)
        .skip_while(|word| has(BEFORE, word))
        .collect();
    let counts =
        |word: &String| word.starts_with(|c: char| c.is_numeric()) || prose::measures(word);
    let is_other = words.iter().any(counts) || prose::states(&words);
    let [verb, object, ..] = words.as_slice() else {
        return false;
    };
    // The example of the contract is "4 add logs".
    let is_added = verb == "add" && has(ADDED, object);
    (is_added || (is_verb(verb) && has(DETERMINERS, object))) && !is_other
}

/// Whether a word begins what is to be done.
pub(super) fn is_verb(word: &str) -> bool {
    has(VERBS, word) || has(VERBS_OR_NOUNS, word) || has(MORE_VERBS, word)
}

/// A part of a text that says one thing.
struct Clause {
    /// The word that joins it to the one above.
    joint: Option<String>,
    words: Vec<String>,
}

impl Clause {
    fn says_what_to_do(&self) -> bool {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let is_before = |word: &&str| has(BEFORE, word);
        let before = words.iter().take_while(|word| is_before(word)).count();
        let said = words.get(before..).unwrap_or_default();
        let is_mode = || {
            let said = said.join(" ");
            MODES.split(", ").any(|mode| said == mode)
        };
        let instructs = match said {
            // "add this to the backlog" speaks of what was asked.
            [verb, "this" | "these" | "those", rest @ ..] => {
                rest.first().is_some_and(|next| !has(NO_OBJECTS, next))
                    && (has(VERBS, verb) || has(VERBS_OR_NOUNS, verb))
            }
            // "keep failing" is a remark, "keep waiting" a no, and so is "keep your hands off".
            ["keep" | "preserve", object, ..] if object.ends_with("ing") || *object == "your" => {
                false
            }
            [verb, object, ..] if has(VERBS, verb) => !has(NO_OBJECTS, object),
            [verb, object, ..] if has(VERBS_OR_NOUNS, verb) => has(DETERMINERS, object),
            _ => false,
        };
        is_mode() || (instructs && self.is_plain())
    }

    /// More of what the clause above speaks of.
    fn lists(&self) -> bool {
        let is_listed = self.joint.as_ref().is_some_and(|joint| has(LISTING, joint));
        let begins = self
            .words
            .first()
            .is_some_and(|word| has(DETERMINERS, word));
        is_listed && begins && self.words.len() > 1 && self.is_plain()
    }

    fn is_polite(&self) -> bool {
        let said = self.words.join(" ");
        said.is_empty()
            || has(words::POLITE, &said)
            || words::CLOSINGS.split(", ").any(|closing| closing == said)
    }

    /// It is no sentence about something, no condition, and speaks of no day.
    fn is_plain(&self) -> bool {
        let is_other = |word: &String| {
            let speaks = has(words::STATING, word) || has(OF_THE_QUESTION, word);
            speaks || has(CONDITIONS, word) || prose::is_day(word)
        };
        !prose::is_refusal(&self.words) && !self.words.iter().any(is_other)
    }
}

fn clauses(folded: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for part in parts(folded) {
        let mut clause = Clause {
            joint: None,
            words: Vec::new(),
        };
        for word in prose::words_of(part) {
            if has(JOINTS, &word) {
                let next = Clause {
                    joint: Some(word),
                    words: Vec::new(),
                };
                clauses.push(std::mem::replace(&mut clause, next));
            } else {
                clause.words.push(word);
            }
        }
        clauses.push(clause);
    }
    // "please, keep the logs", and what two signs in a row leave.
    clauses.retain(|clause| clause.joint.is_some() || !clause.words.is_empty());
    clauses
}

/// A text between its signs. A dot, a colon or a dash inside of a word is part of it.
fn parts(folded: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut above) = (0, ' ');
    let mut chars = folded.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let ends = match c {
            '.' | ':' => next.is_whitespace(),
            '-' => next.is_whitespace() && above.is_whitespace(),
            '/' | '\\' | '=' | '_' | '"' | '\'' | '’' | '`' | '*' | '#' | '$' | '@' | '~' | '<'
            | '>' | '+' | '%' => false,
            _ => c == '\n' || !(c.is_alphanumeric() || c.is_whitespace()),
        };
        if ends {
            parts.push(folded.get(from..at).unwrap_or_default());
            from = at + c.len_utf8();
        }
        above = c;
    }
    parts.push(folded.get(from..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests;
