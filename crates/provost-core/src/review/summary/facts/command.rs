//! The programs of a command, for rules.

use serde_json::{Map, Value};

use super::{Ledger, Risk, Risks, unsure};
use crate::review::summary::{
    command::LONGEST_READ,
    given::{self, Form, Given},
    judge::Judge,
    place::Place,
    shell::{self, Word},
};

/// `None` where there is no command.
pub(super) fn read(
    tool: &str,
    params: &Map<String, Value>,
    changes: bool,
) -> Option<(Ledger, Risks)> {
    let given = given::find(tool, params, changes)?;
    let (ledger, mut risks) = in_full(&given).unwrap_or_else(unsure);
    if given.hides_characters {
        risks.insert(Risk::HiddenCharacters);
    }
    Some((ledger, risks))
}

/// `None` where it could not be read in full.
fn in_full(given: &Given) -> Option<(Ledger, Risks)> {
    if !given.sure {
        return None;
    }
    let ledger = Ledger::default().share();
    let mut judge = Judge::noting(Place::untrusted(), ledger.clone());
    let mut risks = judge.assign(given.assigned.iter());
    for command in &given.commands {
        risks.extend(match command {
            Form::Script(text) => script(&mut judge, text)?,
            Form::Words(words) => self::words(&mut judge, words),
            Form::Either(_) | Form::Odd(_) => return None,
        });
    }
    Some((ledger.take(), risks))
}

fn script(judge: &mut Judge, text: &str) -> Option<Risks> {
    let script = (text.len() <= LONGEST_READ && !has_controls(text)).then(|| shell::parse(text))?;
    if !script.sound {
        return None;
    }
    let pipelines = script.pipelines.iter();
    Some(
        pipelines
            .flat_map(|pipeline| judge.pipeline(pipeline))
            .collect(),
    )
}

fn words(judge: &mut Judge, words: &[String]) -> Risks {
    let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
    judge.words(&words)
}

/// Shells drop some of these, and terminals obey them.
fn has_controls(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\t'))
}
