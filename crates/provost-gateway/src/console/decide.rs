//! The forms that decide: one approval, or those that were ticked.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Redirect, Response},
};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Status},
    call::exact_numbers,
    grant::Breadth,
    trace::view::Exposure,
};
use provost_runner::json_error;
use serde_json::{Map, Value};

use super::{
    act::{Act, Acted, act},
    approval::{self, Draft},
    confirm,
    error::{PageError, PageResult},
    fields::Fields,
    page::{Here, Shell, html},
    shown::Shown,
    visitor::{Posted, Visitor},
};
use crate::{
    app::App,
    desk::{Choice, Remember, Said},
};

const HANDED_UP: &str = "handed_up";
const CHANGED: &str = "changed";
const COUNTED_BEFORE: &str = "counted_before";
/// Decided in one go at most.
const MOST: usize = 200;
const LONGEST_ID: usize = 64;

/// Somebody was first.
#[derive(Template)]
#[template(path = "console/already.html")]
struct AlreadyPage {
    shell: Shell,
    item: Shown,
}

pub(super) async fn one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    match decide_one(&app, &visitor, &id, &fields).await {
        Err(error) if is_edit(&fields) && error.status().is_client_error() => {
            kept_open(&app, &visitor, &id, &fields, error).await
        }
        decided => decided,
    }
}

async fn decide_one(app: &App, visitor: &Visitor, id: &str, fields: &Fields) -> PageResult {
    if confirm::is_reading(fields) {
        return confirm::turn(app, visitor, id, fields).await;
    }
    let (chosen, word) = chosen(fields)?;
    let note = note(fields);
    if let Some(asked) = confirm::once_more(app, visitor, id, fields).await? {
        return Ok(asked);
    }
    let acted = act(app, visitor, id, chosen, note).await?;
    let before = matches!(acted, Acted::CountedBefore(_));
    match acted {
        Acted::Done(approval) | Acted::Counted(approval) | Acted::CountedBefore(approval) => {
            let open = is_open(&approval) && word != HANDED_UP;
            let word = if before {
                COUNTED_BEFORE
            } else if open {
                "counted"
            } else if is_as_asked(&approval) && word == CHANGED {
                "approved"
            } else {
                word
            };
            let id = approval.question.id.as_str();
            let query = [("done", Some(word)), ("of", Some(id)), content(fields)];
            Ok(match fields.text("back") {
                Some("approval") => go(&format!("/console/approval/{id}"), &query, None),
                _ => go("/", &query, fields.text("next")),
            })
        }
        Acted::Already(approval) => {
            let exposure = Exposure::Structure;
            let item = Shown::new(app, &approval, visitor, exposure);
            already(app, visitor, item).await
        }
        Acted::Refused(why) => Err(PageError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "That was not decided",
            why,
        )),
        Acted::NotFound => Err(PageError::not_found()),
    }
}

/// A yes of several that are needed leaves it open.
fn is_open(approval: &Approval) -> bool {
    approval.state.status == Status::Pending
}

/// What came back from the edit form had not been edited.
fn is_as_asked(approval: &Approval) -> bool {
    let decision = approval.state.decision.as_deref();
    decision.is_some_and(|it| it.arguments.is_none() && it.replacement.is_none())
}

/// The forms in which something is written that may not be taken.
fn is_edit(fields: &Fields) -> bool {
    matches!(fields.text("do"), Some("change" | "replace"))
}

/// The page again, with what was typed and what is wrong with it.
async fn kept_open(
    app: &App,
    visitor: &Visitor,
    id: &str,
    fields: &Fields,
    error: PageError,
) -> PageResult {
    let arguments = fields.text("do") == Some("change");
    let typed = |name: &str| fields.raw(name).unwrap_or_default().to_owned();
    let draft = Draft {
        arguments: arguments.then(|| typed("arguments")),
        replacement: (!arguments).then(|| typed("replacement")),
        note: typed("note"),
        wrong: Some(error.message().to_owned()),
    };
    let query = Fields::of(b"content=full");
    let page = approval::show(app, visitor, id, &query, draft).await?;
    Ok((error.status(), page).into_response())
}

async fn already(app: &App, visitor: &Visitor, item: Shown) -> PageResult {
    let shell = Shell::new(app, visitor, Here::Inbox).await?;
    let page = AlreadyPage { shell, item };
    Ok((StatusCode::CONFLICT, html(&page)).into_response())
}

pub(super) async fn many(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    let ids: Vec<_> = fields.all("id").collect();
    if ids.is_empty() {
        return Err(PageError::bad("None was ticked, so nothing was decided."));
    }
    if ids.len() > MOST {
        return Err(PageError::bad(format!(
            "At most {MOST} are decided at once."
        )));
    }
    if let Some(asked) = confirm::many_once_more(&app, &visitor, &ids, &fields).await? {
        return Ok(asked);
    }
    let (chosen, word) = chosen(&fields)?;
    if !matches!(chosen, Act::Decide(Choice::Once | Choice::Deny)) {
        return Err(PageError::bad(
            "Several are approved or denied, and no more.",
        ));
    }
    let note = note(&fields);
    let (mut decided, mut counted) = (0_usize, 0_usize);
    for id in &ids {
        match act(&app, &visitor, id, chosen.clone(), note.clone()).await? {
            Acted::Done(approval) | Acted::Counted(approval) if is_open(&approval) => counted += 1,
            Acted::Done(_) | Acted::Counted(_) => decided += 1,
            Acted::CountedBefore(_) | Acted::Already(_) | Acted::Refused(_) | Acted::NotFound => {}
        }
    }
    let left = (ids.len() - decided - counted).to_string();
    let (decided, counted) = (decided.to_string(), counted.to_string());
    Ok(go(
        "/",
        &[
            ("done", Some(word)),
            ("count", Some(&decided)),
            (
                "counted",
                Some(&counted).filter(|it| **it != "0").map(String::as_str),
            ),
            ("left", Some(&left)),
            content(&fields),
        ],
        None,
    ))
}

/// `next` is the card that the browser moves to, which takes the focus.
fn go(path: &str, query: &[(&str, Option<&str>)], next: Option<&str>) -> Response {
    let mut address = Fields::default().address(path, query);
    let is_id = |id: &&str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        id.len() <= LONGEST_ID && id.bytes().all(plain)
    };
    if let Some(next) = next.filter(is_id) {
        address.push_str("#a-");
        address.push_str(next);
    }
    Redirect::to(&address).into_response()
}

fn content(fields: &Fields) -> (&str, Option<&str>) {
    ("content", fields.text("content"))
}

/// What was chosen, and the word for it in the address that follows.
fn chosen(fields: &Fields) -> Result<(Act, &'static str), PageError> {
    let (choice, word) = match fields.text("do") {
        Some("hand_up") => return Ok((Act::HandUp, HANDED_UP)),
        Some("approve") => (Choice::Once, "approved"),
        Some("session") => (Choice::Remember(remember(fields, true)?), "session"),
        Some("always") => (Choice::Remember(remember(fields, false)?), "always"),
        Some("deny") => (Choice::Deny, "denied"),
        Some("replace") => (Choice::Instead(replacement(fields)), CHANGED),
        Some("change") => (Choice::Arguments(arguments(fields)?), CHANGED),
        _ => {
            return Err(PageError::bad(
                "Nothing was chosen, so nothing was decided.",
            ));
        }
    };
    let said = Said::by_menu(choice.clone(), note(fields));
    match said.problem() {
        Some(problem) => Err(PageError::bad(format!("Nothing was decided: {problem}."))),
        None => Ok((Act::Decide(choice), word)),
    }
}

/// The form of a wide scope brings its words along, once they were ticked.
fn remember(fields: &Fields, for_session: bool) -> Result<Remember, PageError> {
    let breadth = match fields.text("scope") {
        None | Some("narrow") => Breadth::Narrow,
        Some("words") => Breadth::Words,
        Some("any") => Breadth::Any,
        Some(_) => {
            return Err(PageError::bad(
                "There is no such scope, so nothing was decided.",
            ));
        }
    };
    Ok(Remember {
        for_session,
        breadth,
        confirmed: fields.text("confirm").map(str::to_owned),
    })
}

fn note(fields: &Fields) -> Option<String> {
    fields.text("note").map(|note| note.replace("\r\n", "\n"))
}

fn replacement(fields: &Fields) -> String {
    let text = fields.text("replacement").unwrap_or_default();
    text.replace("\r\n", "\n")
}

pub(super) fn arguments(fields: &Fields) -> Result<Map<String, Value>, PageError> {
    let text = fields.text("arguments").unwrap_or_default();
    serde_json::from_slice(&exact_numbers(text.as_bytes())).map_err(|error| {
        let why = json_error::told(&error);
        PageError::bad(format!(
            "The arguments are not a JSON object ({why}), so nothing was decided."
        ))
    })
}

/// What was just done: what the address says, or what the store says about the call that it was done to. Only our own
/// words are ever shown.
pub(super) fn said(query: &Fields, to: Option<&Approval>) -> Option<String> {
    let done = query.text("done")?;
    let word = match to.map_or(done, |approval| stored(approval, done)) {
        "approved" => "Approved",
        "session" => "Approved, and remembered for this session",
        "always" => "Approved, and remembered",
        "denied" => "Denied",
        HANDED_UP => "Left to people",
        CHANGED => "Approved as edited",
        "counted" => "Your yes was counted; more people are needed",
        COUNTED_BEFORE => "You had approved this already; more people are needed",
        _ => return None,
    };
    let left = match query.number("left") {
        Some(left) if left > 0 => {
            format!("; {left} had been decided already, by you or others, or could not be")
        }
        _ => String::new(),
    };
    let counted = query.number("counted").filter(|counted| *counted > 0);
    Some(match (query.number("count"), counted) {
        (None | Some(0), Some(counted)) => {
            format!("Your yes was counted: {counted}; more people are needed{left}.")
        }
        (Some(count), Some(counted)) => format!(
            "{word}: {count}; your yes was counted for {counted} more, which need more people{left}."
        ),
        (Some(count), None) => format!("{word}: {count}{left}."),
        (None, None) => format!("{word}."),
    })
}

/// The word for what was done to a call. The address may choose among those that are true of it.
fn stored<'a>(approval: &Approval, done: &'a str) -> &'a str {
    let state = &approval.state;
    let Some(decision) = state.decision.as_deref() else {
        let handed_up = state.escalation.is_some() && done == HANDED_UP;
        return if handed_up || state.votes.is_empty() {
            HANDED_UP
        } else if done == COUNTED_BEFORE {
            done
        } else {
            "counted"
        };
    };
    if decision.status != Status::Approved {
        return "denied";
    }
    match done {
        _ if !is_as_asked(approval) => CHANGED,
        "session" | "always" if decision.made_grant.is_some() => done,
        _ => "approved",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p02_what_a_double_would_round_is_refused() {
        let fields = Fields::of(br#"arguments={"x": 9007199254740993.0}"#);
        let given = arguments(&fields).unwrap();
        assert!(
            !given.values().all(provost_core::call::is_exact),
            "{given:?}"
        );
    }
}
