//! Who looks at a page, and who sent a form: signed in, by a key that still holds.

use std::sync::Arc;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, Method, StatusCode, header, request::Parts};
use provost_core::{
    gate::Decider,
    grant::Grant,
    key::{Key, Role},
    ports::StoreError,
    trace::view::Exposure,
};

use super::{
    cookie,
    error::PageError,
    fields::Fields,
    login,
    session::{Session, same},
};
use crate::app::App;

/// How the record names this way to people.
const CHANNEL: &str = "console";

/// Those who may sign in.
pub(super) const WELCOME: [Role; 3] = [Role::Supervisor, Role::Human, Role::Admin];

pub(super) struct Visitor {
    pub(super) key: Arc<Key>,
    pub(super) session: Session,
}

/// A form of one of our pages.
pub(super) struct Posted {
    pub(super) visitor: Visitor,
    pub(super) fields: Fields,
}

impl Visitor {
    /// `by_hand`: somebody went there, and not a script of the page.
    pub(super) async fn of(
        app: &App,
        headers: &HeaderMap,
        by_hand: bool,
    ) -> Result<Option<Self>, StoreError> {
        let Some(secret) = cookie::read(headers) else {
            return Ok(None);
        };
        let (sessions, store) = (&app.console.sessions, app.gate.store());
        let now = app.gate.now();
        let found = sessions.find(&**store, secret, now, by_hand).await?;
        Ok(found.and_then(|session| {
            let key = session.key(&app.gate.control())?;
            WELCOME.contains(&key.role).then_some(Self { key, session })
        }))
    }

    pub(super) fn is_admin(&self) -> bool {
        self.key.role == Role::Admin
    }

    pub(super) fn is_person(&self) -> bool {
        matches!(self.key.role, Role::Human | Role::Admin)
    }

    pub(super) fn person(&self) -> Result<(), PageError> {
        if self.is_person() {
            return Ok(());
        }
        Err(PageError::forbidden("This needs a key of a person."))
    }

    pub(super) fn admin(&self) -> Result<(), PageError> {
        if self.is_admin() {
            return Ok(());
        }
        Err(PageError::forbidden("This needs the key of an admin."))
    }

    pub(super) fn may_revoke(&self, grant: &Grant) -> bool {
        grant.is_revocable_by(&self.key)
    }

    pub(super) fn decider(&self) -> Decider {
        Decider {
            via: Some(CHANNEL.into()),
            ..Decider::of(&self.key)
        }
    }

    /// What is shown of arguments: what the config says, or all of it if a person asks for it.
    pub(super) fn exposure(&self, app: &App, query: &Fields) -> Exposure {
        let usual = app.live.load().exposure;
        match query.text("content") {
            Some("full") if self.is_person() => Exposure::Everything,
            Some("structure") => Exposure::Structure,
            _ => usual,
        }
    }
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let path = parts.uri.path();
        let by_hand = !path.starts_with("/console/fragment/") && path != "/console/events";
        let found = Self::of(app, &parts.headers, by_hand).await;
        if let Some(visitor) = found.map_err(|error| PageError::from(error).into_response())? {
            return Ok(visitor);
        }
        if !by_hand {
            return Err(StatusCode::UNAUTHORIZED.into_response());
        }
        if parts.method != Method::GET {
            return Err(PageError::new(
                StatusCode::UNAUTHORIZED,
                "You are signed out",
                "Nothing was done. Sign in, and send it again.",
            )
            .into_response());
        }
        let wanted = parts
            .uri
            .path_and_query()
            .map_or("/", |wanted| wanted.as_str());
        // Browsers withhold our cookie where a link of another site leads here, and send it when the page
        // itself goes on.
        if sent_from(&parts.headers) == Some("cross-site") {
            return Err(login::go_on(wanted));
        }
        Err(Redirect::to(&login::address(wanted)).into_response())
    }
}

impl FromRequest<Arc<App>> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, app).await?;
        check_sender(&parts.headers).map_err(PageError::into_response)?;
        let request = Request::from_parts(parts, body);
        let limit = app.live.load().body_limit;
        let fields = Fields::of_body(request, limit)
            .await
            .map_err(PageError::into_response)?;
        let given = fields.text("csrf").unwrap_or_default();
        if !same(given, &visitor.session.csrf) {
            return Err(PageError::foreign().into_response());
        }
        Ok(Self { visitor, fields })
    }
}

/// A form that changes something comes from a page of ours. That a foreign `Origin` is refused stands before
/// the router; here one of the two headers by which browsers tell must be there.
pub(super) fn check_sender(headers: &HeaderMap) -> Result<(), PageError> {
    match sent_from(headers) {
        Some("same-origin") => Ok(()),
        None if headers.contains_key(header::ORIGIN) => Ok(()),
        _ => Err(PageError::foreign()),
    }
}

fn sent_from(headers: &HeaderMap) -> Option<&str> {
    headers.get("sec-fetch-site")?.to_str().ok()
}
