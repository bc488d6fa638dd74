//! Whether the bot could ask: its token is taken, and everybody's chat is open to it.

use std::sync::{Arc, PoisonError};

use provost_core::people::Directory;

use super::{NAME, Telegram, chat::Address, trouble::Trouble};
use crate::channels::Problem;

/// More chats are not looked at in one round.
const MOST: usize = 200;

/// What a check found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub problems: Vec<Problem>,
    /// Telegram asked to wait: nobody knows of the other chats.
    pub is_cut_short: bool,
}

impl Telegram {
    /// Sends nothing.
    pub async fn check(&self, people: &Directory) -> Checked {
        let me = match self.api.get_me().await {
            Ok(me) => me,
            Err(trouble) => return Checked::with(of_bot(&trouble)),
        };
        let bot = &me.username;
        let chats = people.people.iter().flat_map(|person| {
            let here = person.addresses.iter().filter(|at| &*at.channel == NAME);
            here.filter_map(|at| Some((person.name.clone(), Address::named(&at.address)?)))
        });
        let chats: Vec<_> = chats.take(MOST).collect();
        let mut checked = Checked::default();
        for (person, address) in chats {
            match self.api.get_chat(&address).await {
                Err(Trouble::Refused(why)) => {
                    checked.problems.push(of_chat(person, &why, bot));
                }
                Err(Trouble::Wait(_)) => {
                    checked.is_cut_short = true;
                    break;
                }
                Err(trouble @ Trouble::Unreachable(_)) => {
                    checked.problems.push(of_bot(&trouble));
                    break;
                }
                // The bot's own troubles were looked for above.
                Ok(()) | Err(Trouble::Token(_) | Trouble::Conflict(_)) => {}
            }
        }
        checked
    }
}

impl Checked {
    /// All there is to know.
    pub(crate) fn with(problem: Problem) -> Self {
        Self {
            problems: vec![problem],
            is_cut_short: false,
        }
    }
}

impl Telegram {
    /// Why answers do not come back, although questions may get through.
    pub fn reading_problem(&self) -> Option<Problem> {
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        reading.problem.clone()
    }

    /// What became of reading.
    pub(super) fn note_reading(&self, trouble: Option<&Trouble>) {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        reading.note(trouble);
    }
}

/// How the bot's updates have been read lately.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// In a row.
    failures: u32,
    problem: Option<Problem>,
}

impl Reading {
    /// One failure may be a moment's. Of another reader Telegram tells for certain.
    fn note(&mut self, trouble: Option<&Trouble>) {
        let Some(trouble) = trouble else {
            *self = Self::default();
            return;
        };
        self.failures = self.failures.saturating_add(1);
        if self.failures > 1 || matches!(trouble, Trouble::Conflict(_)) {
            self.problem = Some(of_reading(trouble));
        }
    }
}

fn of_reading(trouble: &Trouble) -> Problem {
    match trouble {
        Trouble::Conflict(_) => Problem::of_channel(
            trouble.to_string(),
            "one program reads a bot: stop the other one, or make a bot of its own for this gateway with @BotFather",
        ),
        _ => Problem {
            problem: format!("answers cannot be read: {trouble}"),
            ..of_bot(trouble)
        },
    }
}

fn of_bot(trouble: &Trouble) -> Problem {
    let help = match trouble {
        Trouble::Token(_) => {
            "copy the token from @BotFather again into `channels.telegram.token`, and restart the gateway"
        }
        Trouble::Wait(_) => "nothing is to be done: it is tried again",
        _ => {
            "see that this machine reaches api.telegram.org, or what `channels.telegram.api_url` names"
        }
    };
    Problem::of_channel(trouble.to_string(), help)
}

fn of_chat(person: Arc<str>, why: &str, bot: &str) -> Problem {
    Problem::of_person(
        person,
        format!("the bot cannot write to somebody of `people`: {why}"),
        format!(
            "they open the chat with @{bot} on Telegram and press Start; if they have, their id in `people` is \
             wrong: @userinfobot tells it"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p12_updates_that_cannot_be_read_twice_in_a_row_are_a_problem() {
        let mut reading = Reading::default();
        let broken = Trouble::Unreachable("HTTP 502".into());
        reading.note(Some(&broken));
        assert_eq!(reading.problem, None, "it may be a moment's");
        reading.note(Some(&broken));
        let problem = reading.problem.clone().unwrap();
        assert!(
            problem.problem.contains("answers cannot be read"),
            "{problem:?}"
        );
        assert!(problem.problem.contains("HTTP 502"), "{problem:?}");
        reading.note(None);
        assert_eq!(reading.problem, None);
        reading.note(Some(&broken));
        assert_eq!(reading.problem, None, "they are counted anew");
        reading.note(Some(&Trouble::Conflict("409".into())));
        assert!(reading.problem.is_some());
    }
}
