//! Whether the bot could ask: its token is taken, and everybody's chat is open to it.

use std::sync::{Arc, PoisonError};

use provost_core::people::Directory;

use super::{NAME, Telegram, chat::Address, trouble::Trouble};
use crate::channels::Problem;

/// More chats are not looked at in one round.
const MOST: usize = 200;

impl Telegram {
    /// Sends nothing.
    pub async fn check(&self, people: &Directory) -> Vec<Problem> {
        let me = match self.api.get_me().await {
            Ok(me) => me,
            Err(trouble) => return vec![of_bot(&trouble)],
        };
        let bot = &me.username;
        let chats = people.people.iter().flat_map(|person| {
            let here = person.addresses.iter().filter(|at| &*at.channel == NAME);
            here.filter_map(|at| Some((person.name.clone(), Address::named(&at.address)?)))
        });
        let chats: Vec<_> = chats.take(MOST).collect();
        let mut problems = Vec::new();
        for (person, address) in chats {
            match self.api.get_chat(&address).await {
                Err(Trouble::Refused(why)) => problems.push(of_chat(person, &why, bot)),
                // The bot's own troubles were looked for above; being told to wait is none.
                Err(Trouble::Wait(_)) => break,
                Err(trouble @ Trouble::Unreachable(_)) => {
                    problems.push(of_bot(&trouble));
                    break;
                }
                Ok(()) | Err(Trouble::Token(_) | Trouble::Conflict(_)) => {}
            }
        }
        problems
    }
}

impl Telegram {
    /// Why answers do not come back, although questions get through.
    pub fn reading_problem(&self) -> Option<Problem> {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.clone()
    }

    /// What became of reading. Troubles that a check finds as well are left to it.
    pub(super) fn note_reading(&self, trouble: Option<&Trouble>) {
        let problem = trouble.filter(|trouble| matches!(trouble, Trouble::Conflict(_)));
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        *unread = problem.map(of_reading);
    }
}

fn of_reading(trouble: &Trouble) -> Problem {
    Problem::of_channel(
        trouble.to_string(),
        "one program reads a bot: stop the other one, or make a bot of its own for this gateway with @BotFather",
    )
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
