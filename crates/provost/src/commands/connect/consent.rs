//! Whether somebody agrees to a change of their settings.

use super::Options;
use crate::{commands::terminal::Terminal, context::Context, output};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    Given,
    Refused,
    /// Nobody sits there.
    NotAsked,
}

pub(super) async fn ask(context: &Context, options: &Options) -> anyhow::Result<Consent> {
    if options.yes {
        return Ok(Consent::Given);
    }
    // A program that reads JSON does not read questions.
    let terminal = if context.json() {
        None
    } else {
        Terminal::open()
    };
    let Some(mut terminal) = terminal else {
        return Ok(Consent::NotAsked);
    };
    loop {
        match terminal.ask("make this change? [y/n] ").await?.as_deref() {
            Some("y" | "Y" | "yes") => return Ok(Consent::Given),
            Some("n" | "N" | "no") | None => return Ok(Consent::Refused),
            Some(_) => {}
        }
    }
}

impl Consent {
    pub(super) fn tell_refusal(self) {
        output::note(match self {
            Self::NotAsked => "nothing was changed: there is nobody to ask; --yes makes the change",
            Self::Given | Self::Refused => "nothing was changed",
        });
    }
}
