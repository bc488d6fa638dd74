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
    pub(super) async fn approves(&mut self, suggested: bool, why: &str) -> io::Result<bool> {
        let answer = if suggested { "y" } else { "n" };
        let terminal = match self {
            Self::Here(terminal) => terminal,
            Self::Silent => return Ok(suggested),
            Self::Away(reason) => {
                output::line(format_args!(
                    "   approve? [y/n] {answer}   ({reason}, so the demo decides: {why})"
                ))?;
                return Ok(suggested);
            }
        };
        loop {
            match terminal.ask("   approve? [y/n] ").await?.as_deref() {
                Some("y" | "Y" | "yes") => return Ok(true),
                Some("n" | "N" | "no") => return Ok(false),
                Some(_) => {}
                None => return Ok(suggested),
            }
        }
    }
}
