//! The desk: the one way from what somebody chose to the resolution of an approval. Channels, console, HTTP and
//! MCP read what was said in their own form; what it means, whether a changed call fits its tool, and what may
//! be remembered is decided here.

mod change;

use provost_core::{
    approval::{Approval, Kind, Question, Status},
    call::{NOT_EXACT, is_exact},
    card::offers,
    gate::{Decider, GateError, Resolution, Resolving},
    grant::Breadth,
    key::Role,
    menu::{Code, LONGEST_TEXT, Marked, Reply},
    trace::view::Exposure,
};
use serde_json::{Map, Value};

use crate::app::App;

/// What people are called beside their key.
const WORDS_WITHHELD: &str = "the content of calls is withheld here, so nobody can read the words that this scope would \
     allow: choose another scope, or set `supervisor.expose_content: true`";
const LONGEST_LABEL: usize = 256;

/// What somebody chose, and what they said with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) choice: Choice,
    /// Goes to the agent, and stays in the record.
    pub(crate) note: Option<String>,
    /// What the decider calls itself.
    pub(crate) label: Option<String>,
    pub(crate) confidence: Option<f64>,
    /// The code of the menu that stands in the record, where somebody chose from the menu.
    pub(crate) code: Option<Code>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    Once,
    Deny,
    Remember(Remember),
    /// With these arguments instead.
    Arguments(Map<String, Value>),
    /// With this in the place of a call's command or arguments, or of what an agent asked in its own words.
    Instead(String),
    /// The same, from a line of a reply that does not say for sure that it is. It must be clear that it is no remark.
    InsteadInLine(InLine),
}

/// What follows a 5 in a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InLine {
    text: String,
    /// A separator stands before it.
    apart: bool,
}

/// Allow it for longer than this once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remember {
    pub(crate) for_session: bool,
    pub(crate) breadth: Breadth,
    /// A wide scope is chosen by saying its words.
    pub(crate) confirmed: Option<String>,
}

impl Remember {
    /// The one scope that is computed.
    pub(crate) fn narrowly(for_session: bool) -> Self {
        Self {
            for_session,
            breadth: Breadth::Narrow,
            confirmed: None,
        }
    }

    fn code(&self) -> Code {
        if self.for_session {
            Code::Session
        } else {
            Code::Always
        }
    }
}

impl Said {
    /// Chosen from the menu.
    pub(crate) fn by_menu(choice: Choice, note: Option<String>) -> Self {
        let code = match &choice {
            Choice::Once if note.is_some() => Code::Note,
            Choice::Once => Code::Once,
            Choice::Deny => Code::Deny,
            Choice::Remember(remember) => remember.code(),
            Choice::Arguments(_) | Choice::Instead(_) | Choice::InsteadInLine(_) => Code::Change,
        };
        Self {
            code: Some(code),
            ..Self::plainly(choice, note)
        }
    }

    /// Said elsewhere than from the menu. What is remembered has its code all the same.
    pub(crate) fn plainly(choice: Choice, note: Option<String>) -> Self {
        let code = match &choice {
            Choice::Remember(remember) => Some(remember.code()),
            _ => None,
        };
        Self {
            choice,
            note,
            label: None,
            confidence: None,
            code,
        }
    }

    /// A reply with one of the six codes.
    pub(crate) fn reply(reply: Reply) -> Self {
        let Reply { code, text, marked } = reply;
        let (choice, note) = match code {
            Code::Once | Code::Note => (Choice::Once, text),
            Code::Deny => (Choice::Deny, text),
            Code::Session => (Choice::Remember(Remember::narrowly(true)), text),
            Code::Always => (Choice::Remember(Remember::narrowly(false)), text),
            Code::Change => (instead(text.unwrap_or_default(), marked), None),
        };
        Self {
            code: Some(code),
            ..Self::plainly(choice, note)
        }
    }

    /// Why this is nothing that anybody could mean, whatever it is said about.
    pub(crate) fn problem(&self) -> Option<String> {
        let is_long = |text: &Option<String>, most| text.as_ref().is_some_and(|it| it.len() > most);
        if is_long(&self.note, LONGEST_TEXT) {
            return Some(format!("the note is longer than {LONGEST_TEXT} bytes"));
        }
        if is_long(&self.label, LONGEST_LABEL) {
            return Some(format!(
                "`resolved_by` is longer than {LONGEST_LABEL} bytes"
            ));
        }
        let is_share = |confidence: &f64| (0.0..=1.0).contains(confidence);
        if !self.confidence.as_ref().is_none_or(is_share) {
            return Some("`confidence` is a number from 0.0 to 1.0".to_owned());
        }
        match &self.choice {
            Choice::Arguments(arguments) if !arguments.values().all(is_exact) => {
                Some(format!("{NOT_EXACT}: write it as text"))
            }
            Choice::Instead(text) | Choice::InsteadInLine(InLine { text, .. })
                if text.is_empty() || text.len() > LONGEST_TEXT =>
            {
                Some(format!(
                    "what is done instead is a text of at most {LONGEST_TEXT} bytes"
                ))
            }
            _ => None,
        }
    }

    /// Arguments that are those of the question change nothing: that is a plain yes.
    fn settled(mut self, question: &Question) -> Self {
        if let Choice::Arguments(arguments) = &self.choice
            && change::is_none(question, arguments)
        {
            let said = self.note.as_ref().map_or(Code::Once, |_| Code::Note);
            self.code = self.code.map(|_| said);
            self.choice = Choice::Once;
        }
        self
    }

    fn status(&self) -> Status {
        match self.choice {
            Choice::Deny => Status::Denied,
            _ => Status::Approved,
        }
    }
}

fn instead(text: String, marked: Marked) -> Choice {
    match marked {
        Marked::Surely => Choice::Instead(text),
        Marked::No | Marked::Apart => Choice::InsteadInLine(InLine {
            text,
            apart: marked == Marked::Apart,
        }),
    }
}

/// Decides, durably.
pub(crate) async fn decide(
    app: &App,
    decider: &Decider,
    id: &str,
    said: Said,
) -> Result<Resolving, GateError> {
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Ok(Resolving::NotFound);
    };
    let status = said.status();
    // The gate knows best why nothing is left to decide.
    let resolution = if approval.state.status_at(app.gate.now()) == Status::Pending {
        match resolution(app, decider, &approval, said) {
            Ok(resolution) => resolution,
            Err(why) => return Ok(Resolving::Unfit(why.into())),
        }
    } else {
        Resolution::default()
    };
    let id = approval.question.id.as_str();
    app.gate.resolve(id, decider, status, resolution).await
}

fn resolution(
    app: &App,
    decider: &Decider,
    approval: &Approval,
    said: Said,
) -> Result<Resolution, String> {
    if let Some(problem) = said.problem() {
        return Err(problem);
    }
    let said = read(app, &approval.question, said)?;
    let mut resolution = Resolution {
        code: said.code,
        label: said.label,
        reasoning: said.note,
        confidence: said.confidence,
        ..Resolution::default()
    };
    match said.choice {
        Choice::Once | Choice::Deny => {}
        Choice::Remember(remember) => {
            resolution.breadth = breadth(app, decider.role, approval, remember)?;
        }
        Choice::Arguments(arguments) => resolution.arguments = Some(arguments),
        Choice::InsteadInLine(line) => {
            resolution.replacement = Some(change::words_in_line(&approval.question, &line)?);
        }
        Choice::Instead(text) => resolution.replacement = Some(text),
    }
    Ok(resolution)
}

/// What stands in the place of a call is read as its arguments, which must fit the tool.
fn read(app: &App, question: &Question, mut said: Said) -> Result<Said, String> {
    let is_call = question.kind == Kind::Call;
    let arguments = match &said.choice {
        Choice::Arguments(arguments) => change::fitting(app, question, arguments.clone())?,
        Choice::Instead(text) if is_call => change::arguments(app, question, text)?,
        Choice::InsteadInLine(line) if is_call => change::in_line(app, question, line)?,
        _ => return Ok(said),
    };
    said.choice = Choice::Arguments(arguments);
    Ok(said.settled(question))
}

/// A wide scope is confirmed by its own words, so that nobody has it remembered without having read it. Whether
/// it may be had at all is the gate's to say.
fn breadth(
    app: &App,
    role: Role,
    approval: &Approval,
    remember: Remember,
) -> Result<Breadth, String> {
    if remember.breadth == Breadth::Narrow {
        return Ok(Breadth::Narrow);
    }
    let longest = app.gate.settings().max_grant;
    let exposure = app.live.load().exposure;
    let offers = offers(&approval.question, exposure, longest, role);
    let wanted = offers
        .iter()
        .find(|offer| offer.breadth == remember.breadth && offer.code == remember.code());
    match wanted {
        Some(offer) if remember.confirmed.as_deref() != Some(&offer.words) => Err(format!(
            "this scope is wide and has to be confirmed by its words, in `confirm`: {}",
            offer.words
        )),
        None if remember.breadth == Breadth::Words && exposure == Exposure::Structure => {
            Err(WORDS_WITHHELD.to_owned())
        }
        _ => Ok(remember.breadth),
    }
}

/// Whether the same person has just said the same: a button was pressed twice.
pub(crate) fn is_repeated(approval: &Approval, decider: &Decider, said: Said) -> bool {
    let said = said.settled(&approval.question);
    approval.state.decision.as_deref().is_some_and(|decision| {
        let same_change = match &said.choice {
            Choice::Arguments(arguments) => decision.arguments.as_ref() == Some(arguments),
            Choice::Instead(text) | Choice::InsteadInLine(InLine { text, .. }) => {
                decision.replacement.as_ref() == Some(text)
            }
            _ => decision.arguments.is_none() && decision.replacement.is_none(),
        };
        decision.by == decider.identity()
            && decision.status == said.status()
            && decision.code == said.code
            && decision.reasoning == said.note
            && same_change
    })
}
