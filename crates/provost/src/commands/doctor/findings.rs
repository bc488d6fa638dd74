//! What the doctor found: a line each, with a hint where something is to be done.

use std::fmt;

use serde::Serialize;

use crate::output::{self, Color};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) name: &'static str,
    pub(super) detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    pub(super) fn ok(&mut self, name: &'static str, detail: impl Into<String>) {
        self.0.push(Finding {
            state: State::Ok,
            name,
            detail: detail.into(),
            hint: None,
        });
    }

    pub(super) fn warn(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Finding {
            state: State::Warn,
            name,
            detail: detail.into(),
            hint: Some(hint.into()),
        });
    }

    pub(super) fn fail(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Finding {
            state: State::Fail,
            name,
            detail: detail.into(),
            hint: Some(hint.into()),
        });
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .0
            .iter()
            .map(|finding| finding.name.len())
            .max()
            .unwrap_or(0);
        for (at, finding) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            let (mark, color) = match finding.state {
                State::Ok => ("ok  ", Color::Green),
                State::Warn => ("warn", Color::Yellow),
                State::Fail => ("fail", Color::Red),
            };
            let detail = output::safe(&finding.detail);
            write!(
                f,
                "{}  {:width$}  {detail}",
                output::paint(mark, color),
                finding.name
            )?;
            if let Some(hint) = &finding.hint {
                write!(f, "\n      {:width$}  → {}", "", output::safe(hint))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_a_line_and_its_hint_another() {
        let mut findings = Findings::default();
        findings.ok("store", "sqlite");
        findings.fail("gateway", "down", "start it");
        let expected = "ok    store    sqlite\nfail  gateway  down\n               → start it";
        assert_eq!(findings.to_string(), expected);
    }
}
