//! Allowing more than this once: for how long, with which scope, and what is shown of it before and after.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::fetch;
use crate::{
    commands::{
        terminal::Terminal,
        view::{items, moment, some_text, text},
    },
    context::Context,
    exit::usage,
    output,
};

#[derive(Debug, clap::Args)]
pub(crate) struct RememberArgs {
    /// Do not ask about the same again; `provost approvals show ID` says what that allows
    #[arg(
        long = "for",
        value_enum,
        value_name = "HOW LONG",
        conflicts_with = "arguments"
    )]
    how_long: Option<HowLong>,
    /// Allow more than the narrow scope that is usual; asks you to confirm it
    #[arg(long, value_enum, requires = "how_long")]
    scope: Option<Scope>,
    /// Confirm the scope without being asked
    #[arg(long, requires = "scope")]
    yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HowLong {
    /// For the rest of the agent's session
    Session,
    /// For as long as a grant may last, or until you revoke it: `provost grants`
    Always,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scope {
    /// Commands that begin with the same words
    Words,
    /// Any command that shows no known risk
    Any,
}

/// What is remembered with an approval.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Remembering {
    how_long: HowLong,
    /// The scope and its words, where it is not the usual one.
    wide: Option<(&'static str, String)>,
}

impl HowLong {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Always => "always",
        }
    }
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Any => "any",
        }
    }
}

impl Remembering {
    /// With the scope that is usual.
    pub(super) fn narrowly(how_long: HowLong) -> Self {
        Self {
            how_long,
            wide: None,
        }
    }

    pub(super) fn is_for_session(&self) -> bool {
        self.how_long == HowLong::Session
    }

    pub(super) fn body(self) -> impl Iterator<Item = (String, Value)> {
        let how_long = ("remember".to_owned(), json!(self.how_long.as_str()));
        let wide = self.wide.into_iter().flat_map(|(scope, words)| {
            [
                ("scope".to_owned(), json!(scope)),
                ("confirm".to_owned(), json!(words)),
            ]
        });
        std::iter::once(how_long).chain(wide)
    }
}

impl RememberArgs {
    /// What is to be remembered; the outer `None` where somebody was asked and did not confirm it.
    pub(super) async fn chosen(
        &self,
        context: &Context,
        id: &str,
    ) -> anyhow::Result<Option<Option<Remembering>>> {
        let Some(how_long) = self.how_long else {
            return Ok(Some(None));
        };
        let Some(scope) = self.scope else {
            return Ok(Some(Some(Remembering::narrowly(how_long))));
        };
        let approval = fetch(&context.client()?, id, false).await?;
        let Some(offer) = offer(&approval, how_long, scope.as_str()) else {
            return Err(usage(format!(
                "`--scope {}` is not offered for this approval; `provost approvals show {id}` says what is",
                scope.as_str()
            )));
        };
        let label = output::safe(text(offer, "label"));
        if !self.yes && !confirmed(&label).await? {
            output::note("nothing was decided");
            return Ok(None);
        }
        let wide = Some((scope.as_str(), text(offer, "words").to_owned()));
        Ok(Some(Some(Remembering { how_long, wide })))
    }
}

async fn confirmed(label: &str) -> anyhow::Result<bool> {
    let Some(mut terminal) = Terminal::open() else {
        output::note(
            "this scope has to be confirmed and there is nobody to ask; --yes confirms it",
        );
        return Ok(false);
    };
    let answer = terminal
        .ask(&format!("{label}\nType yes to confirm: "))
        .await?;
    Ok(answer.as_deref() == Some("yes"))
}

/// What the gateway offers to remember of an approval, with that breadth.
pub(super) fn offer<'a>(
    approval: &'a Value,
    how_long: HowLong,
    breadth: &str,
) -> Option<&'a Value> {
    let offers = approval.get("remember").map(items).unwrap_or_default();
    offers.iter().find(|offer| {
        text(offer, "remember") == how_long.as_str() && text(offer, "breadth") == breadth
    })
}

/// What was remembered, until when, and how to take it back; `session` is the one that it is for.
pub(super) fn told(decided: &Value, session: Option<&str>) -> Option<String> {
    let id = some_text(decided, "grant_id")?;
    let session = session.map(|id| format!(" in session {id}"));
    let session = session.unwrap_or_default();
    let remembered = match decided.get("remembered") {
        Some(remembered) => format!(
            "remembered until {}{session}: {}",
            moment(text(remembered, "until")),
            text(remembered, "words")
        ),
        None => format!("remembered until it is revoked{session}"),
    };
    let told = format!("{remembered}\nprovost grants revoke {id} takes it back");
    Some(output::safe_lines(&told).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p17_what_is_remembered_for_a_session_says_for_which() {
        let decided = json!({"grant_id": "g1", "remembered": {
            "until": "2026-12-17T06:19:45.000Z", "words": "exactly these arguments"}});
        for (session, expected) in [
            (
                Some("s1"),
                "remembered until 2026-12-17 06:19:45 in session s1: exactly",
            ),
            (None, "remembered until 2026-12-17 06:19:45: exactly"),
        ] {
            let told = told(&decided, session).unwrap();
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
