//! Asking once more: who approves something risky without having read all of it sees all of it first.
//!
//! All of it is shown, a page at a time; the button that approves stands on the last page. Turning a page is a form
//! as well, so that it works without a script and nothing that was chosen or written is lost.
//!
//! This guards people against slips and is no authentication. That somebody has read an act, or was asked once
//! more, is a mark in the form: made with a secret of their session that no page shows, for that one approval.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Status},
    card::Card,
    heavy::{self, Lane},
    review::{Review, unmask},
    trace::view::Exposure,
};

use super::{
    decide,
    error::PageError,
    fields::Fields,
    page::{Here, Shell, html},
    shown::Shown,
    visitor::Visitor,
    whole::{Shape, WholeShown},
};
use crate::app::App;

/// The choices that let an act through, as it was asked or as it was edited.
const APPROVALS: [&str; 4] = ["approve", "session", "always", CHANGE];
const CHANGE: &str = "change";
/// Not copied from one form to the next.
const OWN: [&str; 7] = ["csrf", "do", "id", "seen", "confirmed", READ, THEN];
const SEEN: &str = "seen";
const CONFIRMED: &str = "confirmed";
/// The page of an act that is asked for.
const READ: &str = "read";
/// What is chosen once it was read.
const THEN: &str = "then";
/// Of several acts on one page.
const PAGE_LINES: usize = 500;
const PAGE_BYTES: usize = 64 * 1024;

#[derive(Template)]
#[template(path = "console/confirm.html")]
struct ConfirmPage {
    shell: Shell,
    item: Shown,
    whole: WholeShown,
    choice: String,
    /// On the button: with what is remembered, where it is.
    word: String,
    mark: String,
    /// What else was sent.
    kept: Vec<(String, String)>,
    full: Option<String>,
    path: String,
}

#[derive(Template)]
#[template(path = "console/confirm_many.html")]
struct ConfirmManyPage {
    shell: Shell,
    /// How many are risky or long.
    risky: usize,
    acts: Vec<(Shown, WholeShown)>,
    /// Of those that were read, here or before.
    marks: Vec<String>,
    next: Next,
    ids: Vec<String>,
    /// Those that need no second look.
    plain: Vec<String>,
    kept: Vec<(String, String)>,
}

/// What follows on this page.
enum Next {
    /// A page of the same act.
    Lines(usize),
    /// So many other acts.
    Acts(usize),
    /// The decision.
    Approve,
}

impl Next {
    fn is_reading(&self) -> bool {
        !matches!(self, Self::Approve)
    }
}

/// In the form of a page that shows all of an act.
pub(super) fn seen_mark(visitor: &Visitor, approval: &Approval) -> String {
    mark(visitor, SEEN, approval)
}

fn mark(visitor: &Visitor, what: &str, approval: &Approval) -> String {
    visitor.session.mark(what, approval.question.id.as_str())
}

/// Whether the form turns a page and decides nothing.
pub(super) fn is_reading(fields: &Fields) -> bool {
    fields.text(READ).is_some()
}

fn choice(fields: &Fields) -> Option<&str> {
    let name = if is_reading(fields) { THEN } else { "do" };
    fields
        .text(name)
        .filter(|choice| APPROVALS.contains(choice))
}

/// The page that asks once more, where this choice needs it.
pub(super) async fn once_more(
    app: &App,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
) -> Result<Option<Response>, PageError> {
    let Some(choice) = choice(fields) else {
        return Ok(None);
    };
    let Reading::Unread(approval) = reading(app, visitor, id, fields).await? else {
        return Ok(None);
    };
    let exposure = visitor.exposure(app, fields);
    let hides = exposure == Exposure::Structure && visitor.is_person();
    let path = format!("/console/approval/{}", approval.question.id);
    let made = || {
        let whole = page_of(&approval, exposure, fields, fields.number(READ));
        (Shown::new(app, &approval, visitor, exposure), whole)
    };
    let (item, mut whole) = heavy::run(Lane::Deciders, approval.question.bytes(), made).await;
    whole.text = whole.text.filter(|_| choice != CHANGE);
    let page = ConfirmPage {
        word: word(&item, choice, fields.text("scope")),
        item,
        whole,
        choice: choice.to_owned(),
        mark: mark(visitor, CONFIRMED, &approval),
        kept: kept(fields),
        full: hides.then(|| format!("{path}?content=full&whole=1")),
        path,
        shell: Shell::new(app, visitor, Here::Inbox).await?,
    };
    Ok(Some(asked(html(&page))))
}

/// A page is turned. Where there is nothing to read any more, its own page says why.
pub(super) async fn turn(
    app: &App,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
) -> Result<Response, PageError> {
    let page = once_more(app, visitor, id, fields).await?;
    Ok(page.unwrap_or_else(|| {
        let path = Fields::default().address(&format!("/console/approval/{id}"), &[]);
        Redirect::to(&path).into_response()
    }))
}

fn page_of(
    approval: &Approval,
    exposure: Exposure,
    fields: &Fields,
    page: Option<u64>,
) -> WholeShown {
    let query = fields
        .only(&["content"])
        .with_number("page", page.unwrap_or(1));
    WholeShown::new(&approval.question, exposure, &query)
}

fn word(item: &Shown, choice: &str, scope: Option<&str>) -> String {
    if choice == CHANGE {
        return "Approve as edited".to_owned();
    }
    let scope = scope.unwrap_or("narrow");
    let mut lasting = item.remember.iter().chain(&item.wider);
    let chosen = lasting.find(|it| it.choice == choice && it.scope == scope);
    chosen.map_or_else(|| "Approve".to_owned(), |it| it.label.clone())
}

/// The same for those that were ticked: those that are unread one after the other, as many as fit a page.
pub(super) async fn many_once_more(
    app: &App,
    visitor: &Visitor,
    ids: &[&str],
    fields: &Fields,
) -> Result<Option<Response>, PageError> {
    if choice(fields) != Some("approve") {
        return Ok(None);
    }
    let exposure = visitor.exposure(app, fields);
    let (mut unread, mut marks, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for id in ids {
        match reading(app, visitor, id, fields).await? {
            Reading::Unread(approval) => unread.push(approval),
            Reading::Read(approval) => marks.push(mark(visitor, CONFIRMED, &approval)),
            Reading::Plain => plain.push((*id).to_owned()),
        }
    }
    if unread.is_empty() && !is_reading(fields) {
        return Ok(None);
    }
    let risky = unread.len() + marks.len();
    let bytes = unread
        .iter()
        .map(|approval| approval.question.bytes())
        .sum();
    let wholes = || one_page(&unread, exposure, fields);
    let wholes = heavy::run(Lane::Deciders, bytes, wholes).await;
    let next = next(&wholes, unread.len());
    let mut acts = Vec::new();
    for (approval, whole) in unread.iter().zip(wholes) {
        if whole.is_last() {
            marks.push(mark(visitor, CONFIRMED, approval));
        }
        let item = || Shown::new(app, approval, visitor, exposure);
        let item = heavy::run(Lane::Deciders, approval.question.bytes(), item).await;
        acts.push((item, whole));
    }
    let page = ConfirmManyPage {
        risky,
        acts,
        marks,
        next,
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        plain,
        kept: kept(fields),
        shell: Shell::new(app, visitor, Here::Inbox).await?,
    };
    Ok(Some(asked(html(&page))))
}

/// As many of the first acts as fit a page; of one that is longer than a page, the page that was asked for.
fn one_page(unread: &[Approval], exposure: Exposure, fields: &Fields) -> Vec<WholeShown> {
    let (mut lines, mut bytes) = (0, 0);
    let mut wholes: Vec<WholeShown> = Vec::new();
    for approval in unread {
        let wanted = fields.number(READ).filter(|_| wholes.is_empty());
        let whole = page_of(approval, exposure, fields, wanted);
        lines += whole.lines;
        bytes += whole.bytes;
        let fits = whole.pages == 1 && lines <= PAGE_LINES && bytes <= PAGE_BYTES;
        if !fits && !wholes.is_empty() {
            break;
        }
        wholes.push(whole);
        if !fits {
            break;
        }
    }
    wholes
}

fn next(wholes: &[WholeShown], unread: usize) -> Next {
    match wholes.last() {
        Some(whole) if !whole.is_last() => Next::Lines(whole.number + 1),
        _ if wholes.len() < unread => Next::Acts(unread - wholes.len()),
        _ => Next::Approve,
    }
}

/// Nothing was decided yet.
fn asked(page: Response) -> Response {
    (StatusCode::PRECONDITION_REQUIRED, page).into_response()
}

/// Whether an approval has to be read before it is approved.
enum Reading {
    /// It shows no risk and is short, as it was asked or as it was edited; or it does not wait any more.
    Plain,
    /// The form says that all of it was read, or that its sender was asked once more.
    Read(Approval),
    Unread(Approval),
}

async fn reading(
    app: &App,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
) -> Result<Reading, PageError> {
    let now = app.gate.now();
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Ok(Reading::Plain);
    };
    let open = approval.state.status_at(now) == Status::Pending;
    if !open || !visitor.key.may_see(&approval.question.tool) {
        return Ok(Reading::Plain);
    }
    let exposure = visitor.exposure(app, fields);
    let is_plain = |approval: &Approval| {
        let card = Card::of(approval, exposure, app.gate.settings().max_grant, now);
        !card.is_risky() && !Shown::in_list(app, approval, visitor, exposure).folds_marked()
    };
    let asked = approval.question.params.clone();
    let edited = heavy::run(Lane::Deciders, approval.question.bytes(), || {
        as_edited(&approval, fields)
    });
    let approval = edited.await.unwrap_or(approval);
    let is_plain = || is_plain(&approval);
    if heavy::run(Lane::Deciders, approval.question.bytes(), is_plain).await {
        return Ok(Reading::Plain);
    }
    // Who has seen what was asked has not seen what it risks as edited.
    let marks = if approval.question.params == asked {
        &[SEEN, CONFIRMED][..]
    } else {
        &[CONFIRMED]
    };
    let marked = marks.iter().any(|what| {
        let expected = mark(visitor, what, &approval);
        let mut given = fields.all(what);
        given.any(|given| super::session::same(given, &expected))
    });
    Ok(if marked {
        Reading::Read(approval)
    } else {
        Reading::Unread(approval)
    })
}

/// With the arguments of the form, where it edits the call: these are what would run.
fn as_edited(approval: &Approval, fields: &Fields) -> Option<Approval> {
    choice(fields).filter(|choice| *choice == CHANGE)?;
    let arguments = decide::arguments(fields).ok()?;
    let mut edited = approval.clone();
    let question = &mut edited.question;
    let arguments = unmask(&arguments, &question.params).unwrap_or(arguments);
    let review = Review::of(&question.tool, &arguments, question.works_in.as_deref());
    question.summary = review.summary;
    question.injection_risk = review.injection.risky();
    question.risk_reasons = review.injection.reasons;
    question.params = arguments;
    edited.question = edited.question.with_secrets_noted();
    Some(edited)
}

fn kept(fields: &Fields) -> Vec<(String, String)> {
    let pairs = fields.pairs();
    pairs
        .filter(|(name, _)| !OWN.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
