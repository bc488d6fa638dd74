//! Asking once more: who approves something risky without having read all of it sees all of it first.
//!
//! This guards people against slips and is no authentication. That somebody has read an act, or was asked once
//! more, is a mark in the form: made with a secret of their session that no page shows, for that one approval.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Status},
    card::Card,
    trace::view::Exposure,
};

use super::{
    error::PageError,
    fields::Fields,
    page::{Here, Shell, html},
    shown::{Exactly, Shown},
    visitor::Visitor,
    whole::{Shape, WholeShown},
};
use crate::app::App;

/// The choices that let an act through as it was asked.
const APPROVALS: [&str; 3] = ["approve", "session", "always"];
/// Not copied from one form to the next.
const OWN: [&str; 5] = ["csrf", "do", "id", "seen", "confirmed"];
const SEEN: &str = "seen";
const CONFIRMED: &str = "confirmed";

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
    items: Vec<(Shown, String)>,
    /// Those that need no second look.
    plain: Vec<String>,
    kept: Vec<(String, String)>,
}

/// In the form of a page that shows all of an act.
pub(super) fn seen_mark(visitor: &Visitor, approval: &Approval) -> String {
    mark(visitor, SEEN, approval)
}

fn mark(visitor: &Visitor, what: &str, approval: &Approval) -> String {
    visitor.session.mark(what, approval.question.id.as_str())
}

/// The page that asks once more, where this choice needs it.
pub(super) async fn once_more(
    app: &App,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
) -> Result<Option<Response>, PageError> {
    let Some(choice) = fields
        .text("do")
        .filter(|choice| APPROVALS.contains(choice))
    else {
        return Ok(None);
    };
    let Some(approval) = unread(app, visitor, id, fields).await? else {
        return Ok(None);
    };
    let exposure = visitor.exposure(app, fields);
    let hides = exposure == Exposure::Structure && visitor.is_person();
    let path = format!("/console/approval/{}", approval.question.id);
    let item = Shown::new(app, &approval, visitor, exposure);
    let page = ConfirmPage {
        word: word(&item, choice, fields.text("scope")),
        item,
        whole: WholeShown::new(&approval.question, exposure, &Fields::default()),
        choice: choice.to_owned(),
        mark: mark(visitor, CONFIRMED, &approval),
        kept: kept(fields),
        full: hides.then(|| format!("{path}?content=full&whole=1")),
        path,
        shell: Shell::new(app, visitor, Here::Inbox).await?,
    };
    Ok(Some(asked(html(&page))))
}

fn word(item: &Shown, choice: &str, scope: Option<&str>) -> String {
    let scope = scope.unwrap_or("narrow");
    let mut lasting = item.remember.iter().chain(&item.wider);
    let chosen = lasting.find(|it| it.choice == choice && it.scope == scope);
    chosen.map_or_else(|| "Approve".to_owned(), |it| it.label.clone())
}

/// The same for those that were ticked.
pub(super) async fn many_once_more(
    app: &App,
    visitor: &Visitor,
    ids: &[&str],
    fields: &Fields,
) -> Result<Option<Response>, PageError> {
    if fields.text("do") != Some("approve") {
        return Ok(None);
    }
    let exposure = visitor.exposure(app, fields);
    let (mut items, mut plain) = (Vec::new(), Vec::new());
    for id in ids {
        match unread(app, visitor, id, fields).await? {
            Some(approval) => {
                let mark = mark(visitor, CONFIRMED, &approval);
                let shown = Shown::in_list(app, &approval, visitor, exposure);
                items.push((shown, mark));
            }
            None => plain.push((*id).to_owned()),
        }
    }
    if items.is_empty() {
        return Ok(None);
    }
    let page = ConfirmManyPage {
        items,
        plain,
        kept: kept(fields),
        shell: Shell::new(app, visitor, Here::Inbox).await?,
    };
    Ok(Some(asked(html(&page))))
}

/// Nothing was decided yet.
fn asked(page: Response) -> Response {
    (StatusCode::PRECONDITION_REQUIRED, page).into_response()
}

/// The approval, if it waits, is risky, and the form says neither that all of it was read nor that its sender
/// was asked once more.
async fn unread(
    app: &App,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
) -> Result<Option<Approval>, PageError> {
    let now = app.gate.now();
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Ok(None);
    };
    let open = approval.state.status_at(now) == Status::Pending;
    if !open || !visitor.key.may_see(&approval.question.tool) {
        return Ok(None);
    }
    let exposure = visitor.exposure(app, fields);
    let risky = Card::of(&approval, exposure, app.gate.settings().max_grant, now).is_risky();
    let marked = [SEEN, CONFIRMED].iter().any(|what| {
        let expected = mark(visitor, what, &approval);
        let mut given = fields.all(what);
        given.any(|given| super::session::same(given, &expected))
    });
    Ok((risky && !marked).then_some(approval))
}

fn kept(fields: &Fields) -> Vec<(String, String)> {
    let pairs = fields.pairs();
    pairs
        .filter(|(name, _)| !OWN.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
