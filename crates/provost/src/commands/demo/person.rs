//! The newcomer at the terminal; or, where nobody sits there, the demo in their stead.

use std::io;

use crate::{commands::terminal::Terminal, output};

pub(super) enum Person {
    Here(Terminal),
    /// And why nobody is asked.
    Away(&'static str),
    /// Nobody is asked, and nothing is said about it.
    Silent,
}

/// Whether to approve, and who said so.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    OfPerson(bool),
    OfDemo(bool),
}

impl Person {
    pub(super) fn silent() -> Self {
        Self::Silent
    }

    pub(super) fn new(yes: bool) -> Self {
        if yes {
            return Self::Away("--yes");
        }
        Terminal::open().map_or(Self::Away("this is no terminal"), Self::Here)
    }

    /// Whether to approve. `suggested` is what the demo decides by itself, and `why`.
    pub(super) async fn approves(&mut self, suggested: bool, why: &str) -> io::Result<Answer> {
        const QUESTION: &str = "   approve? [y/n] ";
        while let Self::Here(terminal) = self {
            match terminal.ask(QUESTION).await?.as_deref() {
                Some("y" | "Y" | "yes") => return Ok(Answer::OfPerson(true)),
                Some("n" | "N" | "no") => return Ok(Answer::OfPerson(false)),
                Some(_) => {}
                None => {
                    output::line("")?;
                    *self = Self::Away("your input has ended");
                }
            }
        }
        if let Self::Away(reason) = self {
            let answer = if suggested { "y" } else { "n" };
            output::line(format_args!("{QUESTION}{answer}"))?;
            output::line(decides(reason, why))?;
        }
        Ok(Answer::OfDemo(suggested))
    }
}

fn decides(reason: &str, why: &str) -> String {
    format!("   ({reason}, so the demo decides: {why})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn p17_after_the_end_of_input_the_demo_decides_in_its_own_name() {
        let mut person = Person::Here(Terminal::closed());
        for suggested in [false, true] {
            let answer = person.approves(suggested, "why").await.unwrap();
            assert_eq!(answer, Answer::OfDemo(suggested));
        }
        assert!(matches!(person, Person::Away("your input has ended")));
        let longest = decides("your input has ended", "nobody should write that");
        assert!(longest.len() <= 80, "{longest}");
    }
}
