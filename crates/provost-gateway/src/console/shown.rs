//! An approval as the templates show it.

use std::{sync::Arc, time::Duration};

use provost_core::{
    approval::{Approval, Kind, Level, Status},
    card::{Card, Claim, Exact, Offer},
    grant::Breadth,
    menu::Code,
    people::Waiting,
    review::{Excerpt, mask_map, mask_text},
    time::Time,
    trace::view::Exposure,
};

use crate::app::App;

use super::{
    diff::{Line, changes, lines},
    ended::Ended,
    fold::{Folding, Run, fold, folds_any, folds_marked},
    moment::{Moment, roughly},
    visible::json,
    visitor::Visitor,
};

/// What stands open of an act in a list of many, in rows on a phone.
const OPEN_STEPS: usize = 16;
const OPEN_LINES: usize = 16;
const OPEN_CLAIM: usize = 8;
const OPEN_NAME: usize = 4;
/// Of a remark in such a list, in characters.
const LONGEST_REMARK: usize = 160;
/// In so few rows the risks are seen where the steps are.
const SHORT: usize = 8;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a mark that the templates show or not"
)]
pub(super) struct Shown {
    pub(super) id: String,
    pub(super) agent: Arc<str>,
    pub(super) session: Option<Arc<str>>,
    pub(super) tool: Arc<str>,
    pub(super) rule: Arc<str>,
    pub(super) trace_id: String,
    pub(super) exact: Exactly,
    /// The arguments that the act says nothing about.
    pub(super) others: Vec<Run<String>>,
    pub(super) claim: Option<Claimed>,
    /// Lines that are left out here.
    pub(super) more: usize,
    /// More is left out than is counted.
    pub(super) is_part: bool,
    /// Where all of it is read.
    pub(super) whole_at: String,
    /// On a page of its own, all of them.
    pub(super) risks: Vec<String>,
    /// What else deserves a look, in a few words each.
    pub(super) remarks: Vec<String>,
    pub(super) made: Moment,
    pub(super) expires: Moment,
    pub(super) left: String,
    pub(super) soon: bool,
    /// The arguments as they may be changed, where they may be.
    pub(super) editable: Option<String>,
    pub(super) can: Can,
    /// What can be allowed for longer, each in the words that the person is shown.
    pub(super) remember: Vec<Lasting>,
    /// The same with wider scopes: each is confirmed by its words.
    pub(super) wider: Vec<Lasting>,
    pub(super) end: Option<Ended>,
    /// What a person changed when approving it.
    pub(super) changed: Vec<Line>,
    /// Something is described instead of shown.
    pub(super) hidden: bool,
    /// The visitor has approved it, and more people are needed.
    pub(super) voted: bool,
    pub(super) needed: u8,
    pub(super) approved_by: Vec<String>,
    pub(super) waiting: Option<WaitsFor>,
    /// What stands next in the list.
    pub(super) next: Option<String>,
}

/// Who is asked, and who next.
pub(super) struct WaitsFor {
    pub(super) people: String,
    pub(super) next: Option<(String, Moment)>,
}

pub(super) struct Claimed {
    pub(super) title: Vec<Run<String>>,
    pub(super) preview: Vec<Run<String>>,
}

/// One way to allow it for longer than this once.
pub(super) struct Lasting {
    /// What the form sends: `session` or `always`.
    pub(super) choice: &'static str,
    /// `narrow`, `words` or `any`.
    pub(super) scope: &'static str,
    /// On the button.
    pub(super) label: String,
    /// What is allowed. Empty where an agent asked in its own words.
    pub(super) words: String,
}

/// What the visitor may do with it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a button, shown or not"
)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Can {
    pub(super) decide: bool,
    pub(super) session: bool,
    pub(super) always: bool,
    pub(super) change: bool,
    pub(super) replace: bool,
    pub(super) hand_up: bool,
}

pub(super) enum Exactly {
    Command(Vec<Run<Step>>),
    Change {
        /// Which file, or how many.
        what: Vec<Run<String>>,
        counts: String,
        runs: Vec<Run<Line>>,
    },
    Arguments(Vec<Run<String>>),
    Nothing,
}

pub(super) struct Step {
    pub(super) text: Option<String>,
    pub(super) risks: Vec<String>,
    pub(super) skipped: usize,
}

impl Shown {
    /// On a page of its own.
    pub(super) fn new(
        app: &App,
        approval: &Approval,
        visitor: &Visitor,
        exposure: Exposure,
    ) -> Self {
        Self::made(app, approval, visitor, exposure, |_| Folding::Open)
    }

    /// Among many: what is long is folded.
    pub(super) fn in_list(
        app: &App,
        approval: &Approval,
        visitor: &Visitor,
        exposure: Exposure,
    ) -> Self {
        Self::made(app, approval, visitor, exposure, Folding::After)
    }

    /// Among many, of a question that was cut: what is remembered or changed is decided where all of it is shown.
    pub(super) fn in_part(app: &App, approval: &Approval, visitor: &Visitor) -> Self {
        let exposure = Exposure::Everything;
        let item = Self::made(app, approval, visitor, exposure, Folding::After);
        let can = Can {
            session: false,
            always: false,
            change: false,
            replace: false,
            ..item.can
        };
        Self {
            can,
            is_part: true,
            remember: Vec::new(),
            wider: Vec::new(),
            ..item
        }
    }

    fn made(
        app: &App,
        approval: &Approval,
        visitor: &Visitor,
        exposure: Exposure,
        folding: impl Fn(usize) -> Folding,
    ) -> Self {
        let (now, longest) = (app.gate.now(), app.gate.settings().max_grant);
        let card = Card::of(approval, exposure, longest, now);
        let more = card.more();
        let (question, state) = (&approval.question, &approval.state);
        let can = can(approval, &card, visitor, now);
        let is_alone = matches!(folding(OPEN_NAME), Folding::Open);
        let editable = (is_alone && can.change && exposure == Exposure::Everything)
            .then(|| json(&mask_map(&question.params)));
        let left = state.remaining(now);
        let remarks = remarks(approval, &card, now);
        let remarks = match folding(OPEN_NAME) {
            Folding::Open => remarks,
            Folding::After(_) => remarks.into_iter().map(shortened).collect(),
        };
        let (remember, wider) = (remember(&card, can), wider(&card, can));
        let exact = exactly(card.exact, &folding);
        let decision = state.decision.as_deref();
        let instead = decision.and_then(|decision| decision.replacement.as_deref());
        let instead = instead.map(|text| mask_text(text).into_owned());
        let content = match exposure {
            Exposure::Everything if visitor.is_person() => "&content=full",
            _ => "",
        };
        let others = others(card.other_arguments, &folding);
        let claim = card.claim.map(|claim| claimed(claim, &folding));
        Self {
            remarks,
            whole_at: format!("/console/approval/{}?whole=1{content}", card.id),
            id: card.id.to_string(),
            agent: card.agent,
            session: card.session,
            tool: card.tool,
            rule: question.policy_rule.clone(),
            trace_id: question.trace_id.to_string(),
            risks: match folding(OPEN_NAME) {
                Folding::Open => card.risks,
                Folding::After(_) => apart(card.risks, &exact),
            },
            exact,
            others,
            claim,
            more,
            is_part: false,
            made: Moment::new(card.created_at, now),
            expires: Moment::new(card.expires_at, now),
            left: roughly(left),
            soon: left < Duration::from_mins(1),
            editable,
            can,
            remember,
            wider,
            end: card.end.map(|end| Ended::new(end, card.kind, instead, now)),
            changed: changed_arguments(approval, exposure),
            hidden: exposure == Exposure::Structure,
            voted: has_voted(approval, visitor),
            needed: card.needed,
            approved_by: card.approved_by,
            waiting: None,
            next: None,
        }
    }

    /// Nothing is left out or withheld.
    pub(super) fn is_complete(&self) -> bool {
        self.more == 0 && !self.hidden
    }

    /// Something that deserves a look is folded away. Every step of a command does: not all that destroys is known.
    pub(super) fn folds_marked(&self) -> bool {
        let claim = self.claim.as_ref();
        self.exact.folds_marked()
            || folds_marked(&self.others)
            || claim.is_some_and(Claimed::folds_marked)
    }

    pub(super) fn waits_for(&mut self, waiting: &Waiting, now: Time) {
        let names = |people: &[Arc<str>]| people.join(", ");
        self.waiting = Some(WaitsFor {
            people: names(&waiting.people),
            next: waiting
                .next
                .as_ref()
                .map(|next| (names(&next.people), Moment::new(next.at, now))),
        });
    }
}

impl Exactly {
    fn folds_marked(&self) -> bool {
        match self {
            Self::Command(runs) => folds_any(runs),
            Self::Change { what, runs, .. } => folds_marked(what) || folds_marked(runs),
            Self::Arguments(runs) => folds_marked(runs),
            Self::Nothing => false,
        }
    }
}

impl Claimed {
    fn folds_marked(&self) -> bool {
        folds_marked(&self.title) || folds_marked(&self.preview)
    }
}

fn shortened(remark: String) -> String {
    match remark.char_indices().nth(LONGEST_REMARK) {
        Some((end, _)) => format!("{}…", remark.get(..end).unwrap_or_default()),
        None => remark,
    }
}

fn has_voted(approval: &Approval, visitor: &Visitor) -> bool {
    approval.question.needed > 1
        && approval.state.status == Status::Pending
        && visitor.decider().has_approved(approval)
}

/// Among many: those that no step of a short command is marked with. Those of a long one are said first, as they are
/// on a page of its own.
fn apart(mut risks: Vec<String>, exact: &Exactly) -> Vec<String> {
    if let Exactly::Command(runs) = exact
        && runs.iter().map(Run::rows).sum::<usize>() <= SHORT
    {
        let marked = |risk: &String| {
            let open = runs.iter().filter(|run| !run.folded);
            let mut steps = open.flat_map(|run| &run.items);
            steps.any(|step| step.risks.contains(risk))
        };
        risks.retain(|risk| !marked(risk));
    }
    risks
}

fn can(approval: &Approval, card: &Card, visitor: &Visitor, now: Time) -> Can {
    let state = &approval.state;
    if state.status_at(now) != Status::Pending || has_voted(approval, visitor) {
        return Can::default();
    }
    let person = visitor.is_person();
    let has = |code| person && card.choices.contains(&code);
    let with_supervisors = state.level_at(now) == Level::Supervisor;
    Can {
        decide: person || with_supervisors,
        session: has(Code::Session),
        always: has(Code::Always),
        change: has(Code::Change) && card.kind == Kind::Call,
        replace: has(Code::Change) && card.kind != Kind::Call,
        hand_up: !person && with_supervisors,
    }
}

fn remember(card: &Card, can: Can) -> Vec<Lasting> {
    let codes = [
        (can.session, Code::Session, "session"),
        (can.always, Code::Always, "always"),
    ];
    let offered = codes.into_iter().filter(|(may, ..)| *may);
    offered
        .map(|(_, code, choice)| Lasting {
            choice,
            scope: "narrow",
            label: card.label(code).into_owned(),
            words: card
                .offer(code)
                .map_or_else(String::new, |offer| offer.words.clone()),
        })
        .collect()
}

fn wider(card: &Card, can: Can) -> Vec<Lasting> {
    if !can.always {
        return Vec::new();
    }
    let wide = |offer: &&Offer| offer.breadth != Breadth::Narrow;
    let wide = card.remember.iter().filter(wide);
    wide.map(|offer| Lasting {
        choice: if offer.code == Code::Session {
            "session"
        } else {
            "always"
        },
        scope: if offer.breadth == Breadth::Words {
            "words"
        } else {
            "any"
        },
        label: offer.short_label(),
        words: offer.words.clone(),
    })
    .collect()
}

fn remarks(approval: &Approval, card: &Card, now: Time) -> Vec<String> {
    let state = &approval.state;
    let mut remarks = Vec::new();
    if card.end.is_none() && state.level_at(now) == Level::Supervisor {
        remarks.push("with supervisors now".to_owned());
    }
    if let Some(claim) = state.claim_at(now) {
        remarks.push(format!("claimed by {}", claim.by));
    }
    if let Some(escalation) = state.escalation.as_deref() {
        remarks.push(match &escalation.reasoning {
            Some(why) => format!("handed up by {}: {}", escalation.by, mask_text(why)),
            None => format!("handed up by {}", escalation.by),
        });
    }
    if card.asked > 1 {
        remarks.push(format!("asked {} times", card.asked));
    }
    if card.denied_before {
        remarks.push("the same was denied before".to_owned());
    }
    if card.needed > 1 {
        let so_far = card.approved_by.len();
        remarks.push(format!("{so_far} of {} approvals", card.needed));
    }
    remarks
}

fn exactly(exact: Exact, folding: &impl Fn(usize) -> Folding) -> Exactly {
    match exact {
        Exact::Command { parts, .. } => {
            let steps: Vec<_> = parts
                .into_iter()
                .map(|part| Step {
                    text: part.text,
                    risks: part.risks,
                    skipped: part.skipped,
                })
                .collect();
            Exactly::Command(fold(steps, folding(OPEN_STEPS)))
        }
        Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            ..
        } => {
            let mut lines = diff.as_deref().map(lines).unwrap_or_default();
            // The name of the one file stands above it.
            if path.is_some() && lines.first().is_some_and(|line| line.kind == "file") {
                lines.drain(..lines.len().min(2));
            }
            let what = path.unwrap_or_else(|| match files {
                1 => "1 file".to_owned(),
                files => format!("{files} files"),
            });
            Exactly::Change {
                what: fold(vec![what], folding(OPEN_NAME)),
                counts: format!("{added} added, {removed} removed"),
                runs: fold(lines, folding(OPEN_LINES)),
            }
        }
        // Read again only to write what is hidden as escapes: what was cut is not read, and is made visible as
        // any text is.
        Exact::Arguments { json: text, .. } => {
            let text =
                serde_json::from_str::<serde_json::Value>(&text).map_or(text, |value| json(&value));
            Exactly::Arguments(text_lines(&text, folding(OPEN_LINES)))
        }
        Exact::Nothing => Exactly::Nothing,
    }
}

fn others(others: Option<Excerpt>, folding: &impl Fn(usize) -> Folding) -> Vec<Run<String>> {
    let text = others.map(|others| others.text).unwrap_or_default();
    text_lines(&text, folding(OPEN_LINES / 2))
}

fn claimed(claim: Claim, folding: &impl Fn(usize) -> Folding) -> Claimed {
    let preview = claim.preview.unwrap_or_default();
    let title = claim.title.unwrap_or_default();
    Claimed {
        title: text_lines(&title, folding(OPEN_NAME)),
        preview: text_lines(&preview, folding(OPEN_CLAIM)),
    }
}

fn text_lines(text: &str, folding: Folding) -> Vec<Run<String>> {
    fold(text.lines().map(str::to_owned).collect(), folding)
}

fn changed_arguments(approval: &Approval, exposure: Exposure) -> Vec<Line> {
    let decision = approval.state.decision.as_deref();
    match decision.and_then(|decision| decision.arguments.as_ref()) {
        Some(changed) if exposure == Exposure::Everything => {
            changes(&mask_map(&approval.question.params), &mask_map(changed))
        }
        _ => Vec::new(),
    }
}
