//! What goes wrong with the Bot API, told apart by what is to be done about it. None of it holds the token.

use std::time::Duration;

use provost_core::{ports::Undelivered, time::format_duration};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("Telegram asks to wait {}", format_duration(*.0))]
    Wait(Duration),
    #[error(
        "Telegram does not accept the bot's token ({0}): check `channels.telegram.token` and `channels.telegram.api_url`"
    )]
    Token(String),
    #[error(
        "this bot's updates go elsewhere, to a webhook or to another program that polls with the same token: {0}"
    )]
    Conflict(String),
    /// What was asked for cannot be done, now or later.
    #[error("Telegram refused: {0}")]
    Refused(String),
    #[error("Telegram cannot be reached: {0}")]
    Unreachable(String),
}

impl From<Trouble> for Undelivered {
    fn from(trouble: Trouble) -> Self {
        let why = trouble.to_string();
        match trouble {
            Trouble::Wait(after) => Self::Later {
                why,
                after: Some(after),
            },
            Trouble::Refused(_) => Self::Never { why },
            // A token can be put right, and what waits is then delivered.
            Trouble::Token(_) | Trouble::Conflict(_) | Trouble::Unreachable(_) => {
                Self::Later { why, after: None }
            }
        }
    }
}
