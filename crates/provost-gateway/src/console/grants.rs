//! `/console/grants`: what is allowed without asking, for how long, and by whose word.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Redirect},
};
use http::Uri;
use provost_core::{grant::Grant, key::Key, review::mask_text, time::Time};
use serde_json::{Map, Value};

use super::{
    error::{PageError, PageResult},
    fields::Fields,
    moment::{Moment, roughly},
    page::{Here, Shell, html},
    visitor::{Posted, Visitor},
};
use crate::{
    app::App,
    doors::http::{make_grant, revoke_grant},
};

#[derive(Template)]
#[template(path = "console/grants.html")]
struct GrantsPage {
    shell: Shell,
    grants: Vec<GrantRow>,
    said: Option<&'static str>,
    longest: String,
}

pub(super) struct GrantRow {
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) tools: String,
    pub(super) session: Option<Arc<str>>,
    pub(super) when: Option<String>,
    /// What was remembered of a call, in words.
    pub(super) scope: Option<String>,
    pub(super) uses: String,
    pub(super) by: String,
    pub(super) why: Option<String>,
    pub(super) made: Moment,
    pub(super) left: String,
    /// The visitor may.
    pub(super) revocable: bool,
}

fn masked(text: &str) -> String {
    mask_text(text).into_owned()
}

impl GrantRow {
    /// Those in force, newest first.
    pub(super) fn all(app: &App, visitor: &Visitor, shows: impl Fn(&Grant) -> bool) -> Vec<Self> {
        let (now, control) = (app.gate.now(), app.gate.control());
        let mut grants: Vec<_> = control
            .grants
            .iter()
            .map(|active| &active.grant)
            .filter(|grant| grant.active_at(now) && shows(grant))
            .collect();
        grants.sort_by_key(|grant| std::cmp::Reverse(grant.created_at));
        grants
            .into_iter()
            .map(|grant| Self::new(grant, visitor.may_revoke(grant), now))
            .collect()
    }

    fn new(grant: &Grant, revocable: bool, now: Time) -> Self {
        Self {
            id: grant.id.to_string(),
            agent: grant.agent.to_string(),
            tools: grant.tools.to_string(),
            session: grant.session_id.clone(),
            when: grant.when.as_deref().map(masked),
            scope: grant.scope_words().as_deref().map(masked),
            uses: match grant.max_uses {
                Some(most) => format!("{} of {most}", grant.uses),
                None => grant.uses.to_string(),
            },
            by: grant.granted_by.clone(),
            why: grant.reasoning.as_deref().map(masked),
            made: Moment::new(grant.created_at, now),
            left: grant.expires_at.map_or_else(
                || "until revoked".to_owned(),
                |at| format!("{} left", roughly(at.since(now))),
            ),
            revocable,
        }
    }
}

/// What a supervisor sees is within its tools.
pub(super) fn seen_by(key: &Key, grant: &Grant) -> bool {
    key.tools.is_empty() || key.tools.iter().any(|tools| tools.covers(&grant.tools))
}

pub(super) async fn page(State(app): State<Arc<App>>, visitor: Visitor, uri: Uri) -> PageResult {
    app.gate.refresh_control().await?;
    let said = match Fields::of_query(&uri).text("done") {
        Some("granted") => Some("Granted."),
        Some("revoked") => Some("Revoked: it allows nothing from now on."),
        _ => None,
    };
    let page = GrantsPage {
        grants: GrantRow::all(&app, &visitor, |grant| seen_by(&visitor.key, grant)),
        said,
        longest: roughly(app.gate.settings().max_grant),
        shell: Shell::new(&app, &visitor, Here::Grants).await?,
    };
    Ok(html(&page))
}

pub(super) async fn create(
    State(app): State<Arc<App>>,
    Posted { visitor, fields }: Posted,
) -> PageResult {
    visitor.admin()?;
    let mut body = Map::new();
    let texts = [
        "agent",
        "tools",
        "duration",
        "when",
        "session_id",
        "reasoning",
    ];
    for name in texts {
        if let Some(text) = fields.text(name) {
            body.insert(name.into(), text.into());
        }
    }
    if let Some(text) = fields.text("max_uses") {
        let uses: u64 = text
            .parse()
            .map_err(|_| PageError::bad(format!("“{text}” is no number of uses.")))?;
        body.insert("max_uses".into(), uses.into());
    }
    make_grant(&app, &visitor.key, Value::Object(body))
        .await
        .map_err(|why| PageError::bad(format!("Nothing was granted: {why}.")))?;
    Ok(Redirect::to("/console/grants?done=granted").into_response())
}

pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Posted { visitor, .. }: Posted,
) -> PageResult {
    app.gate.refresh_control().await?;
    let control = app.gate.control();
    let mut grants = control.grants.iter().map(|active| &active.grant);
    let own = grants.any(|grant| grant.id.as_str() == id && visitor.may_revoke(grant));
    if !own {
        visitor.admin()?;
    }
    revoke_grant(&app, &visitor.key, id)
        .await
        .map_err(|why| PageError::bad(format!("Nothing was revoked: {why}.")))?;
    Ok(Redirect::to("/console/grants?done=revoked").into_response())
}
