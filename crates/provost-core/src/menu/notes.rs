//! How notes begin that stand behind a 4 without a separator: with one of a few English verbs, said to an agent. What
//! is not known to begin a note is asked again, with the line ready to be sent: no list of what people write about a
//! number, in all languages, would ever end.

use super::{prose, words::has};

/// Verbs of what somebody does once. "Use", "run" and "include" are left out: "4 use the old one" is a remark about
/// four things.
const VERBS: &str = "\
    add append create disable enable ensure exclude keep preserve remove rename replace restore revert update";

/// What makes a verb of a word that may be a noun or be said of so many things: "restore points", "keep failing".
const OBJECTS: &str = "the a an all any every each this these those our your my";

const PARTICLES: &str = "on ons in ins up to";

/// Verbs that begin a longer note behind a separator as well.
const MORE_VERBS: &str = "change deploy fix include log make run set test use write";

/// Whether a text begins as a note does, and has nothing in it of which a time, an amount or a refusal is made.
pub(super) fn begins(text: &str) -> bool {
    let folded = prose::fold(text);
    let words: Vec<String> = prose::words_of(&folded)
        .skip_while(|word| word == "please")
        .collect();
    let counts =
        |word: &String| word.starts_with(|c: char| c.is_numeric()) || prose::measures(word);
    let is_other = words.iter().any(counts) || prose::states(&words) || prose::negates(&folded);
    instructs(&words) && !is_other
}

fn instructs(words: &[String]) -> bool {
    let [verb, object, ..] = words else {
        return false;
    };
    // The example of the contract: "4 add logs". "Add ons" and "add up" are no verbs.
    (verb == "add" && !has(PARTICLES, object)) || (has(VERBS, verb) && has(OBJECTS, object))
}

/// Whether a word begins what is to be done.
pub(super) fn is_verb(word: &str) -> bool {
    has(VERBS, word) || has(MORE_VERBS, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p13_notes_begin_with_what_is_to_be_done() {
        for text in [
            "add logs",
            "add a comment to the migration",
            "keep the logs",
            "please keep the logs",
            "remove the old cache first",
            "update all of the lock files",
            "Rename this branch, too",
        ] {
            assert!(begins(text), "{text}");
        }
    }

    #[test]
    fn p13_everything_else_may_be_a_remark() {
        for group in [
            "ore | e meia | prod boxes are affected | fix commits are missing | use cases | with Anna in the room",
            "do 8 godzin | do 10 minut | do 8 hodin | do 11 | do 12 às 10h | add 2 more | keep the 5pm slot",
            "keep failing | keep crashing on CI | do fail on my machine | use it in production | restore points",
            "benutzen das gerade noch | verwenden das noch | write errors in the log | sichere Server | update calls today",
            "deja approuvés | with errors | without approval | 但是下午比较好 | 请稍等 | garde les journaux | только так",
            "lass es | laisse tomber | lascia perdere | mach es nicht | ne fais pas ça | never do this | avoid it, 3 is meant",
            "keep the date for tomorrow | add nothing | add ons would break | add ins are outdated | add up to a problem | add the logs, no, wait | keep the logs, 3 is what I mean | add | keep",
        ] {
            for text in group.split(" | ") {
                assert!(!begins(text), "{text}");
            }
        }
    }
}
