//! The console: what people see and decide in a browser. Server-rendered; the script only keeps it fresh.
//!
//! Its pages stand at `/` and under `/console/`, beside the API, and let nobody in by an API key: a browser
//! has a session of its own.

mod act;
mod approval;
mod assets;
mod banner;
mod confirm;
mod cookie;
mod decide;
mod diff;
mod ended;
mod error;
mod fields;
mod fleet;
mod fold;
mod grants;
mod inbox;
mod links;
mod live;
mod login;
mod moment;
mod page;
mod phone;
mod policy;
mod record;
mod runs;
mod session;
mod shown;
mod stop;
mod story;
mod traces;
mod visible;
mod visitor;
mod whole;

use std::sync::{Arc, OnceLock};

use axum::{
    Router,
    middleware::map_response,
    response::Redirect,
    routing::{get, post},
};
use http::HeaderMap;
use provost_core::{control::Control, key::Key};

pub use links::one_time_link;
pub(crate) use login::link_for;
pub use policy::ReadDraft;

use crate::app::App;
use error::PageError;

/// What the console keeps in memory.
#[derive(Default)]
pub struct Console {
    sessions: session::Sessions,
    read_draft: OnceLock<ReadDraft>,
}

impl Console {
    /// The key of a browser that was signed in when it was last here. It opens nothing.
    pub(crate) fn signed_in(&self, headers: &HeaderMap, control: &Control) -> Option<Arc<Key>> {
        let hash = self.sessions.seen(cookie::read(headers)?)?;
        control.key_by_hash(&hash).cloned()
    }

    /// How drafts of policies are read: as the config file is, which only the binary can read.
    pub fn read_drafts_by(&self, read: ReadDraft) {
        // Whoever came first is as good.
        let _ = self.read_draft.set(read);
    }
}

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(inbox::page))
        .route("/console/fragment/inbox", get(inbox::fragment))
        .route("/console/fragment/count", get(live::count))
        .route("/console/events", get(live::events))
        .route("/console/decide/{id}", post(decide::one))
        .route("/console/decide", post(decide::many))
        .route("/a/{id}", get(approval::from_mail))
        .route("/console/approval/{id}", get(approval::page))
        .route("/console/approval/{id}/whole.txt", get(whole::text))
        .route("/console/traces", get(traces::page))
        .route("/console/trace/{id}", get(story::page))
        .route("/console/sessions", get(runs::sessions))
        .route("/console/session/{id}", get(runs::session))
        .route("/console/agents", get(runs::agents))
        .route("/console/runs", get(fleet::page).post(fleet::start))
        .route("/console/runs/{id}", get(fleet::run))
        .route("/console/runs/{id}/cancel", post(fleet::cancel))
        .route("/console/runs/{id}/changes", get(fleet::changes))
        .route("/console/runs/{id}/prompts", post(fleet::prompt))
        .route(
            "/console/runs/{id}/prompts/{prompt}/cancel",
            post(fleet::cancel_prompt),
        )
        .route("/console/run-sessions/{name}", get(fleet::session))
        .route("/console/fragment/runs/list", get(fleet::fragment))
        .route("/console/fragment/runs/changes", get(fleet::of_all))
        .route(
            "/console/fragment/runs/{id}/story",
            get(fleet::run_fragment),
        )
        .route("/console/fragment/runs/{id}/changes", get(fleet::of_one))
        .route("/console/grants", get(grants::page).post(grants::create))
        .route("/console/grants/{id}/revoke", post(grants::revoke))
        .route("/console/policy", get(policy::page))
        .route("/console/policy/explain", post(policy::explain))
        .route("/console/policy/replay", post(policy::try_draft))
        .route("/console/stop", get(stop::page).post(stop::stop))
        .route("/console/resume", post(stop::resume))
        .route("/console/login", get(login::page).post(login::sign_in))
        .route("/console/logout", post(login::sign_out))
        .route("/console/assets/{name}", get(assets::serve))
        .route("/console", get(to_inbox))
        .route("/console/", get(to_inbox))
        .route("/console/{*rest}", get(no_page))
        .method_not_allowed_fallback(wrong_method)
        .layer(map_response(page::secured))
}

/// Where somebody who guesses the address wants to go.
async fn to_inbox() -> Redirect {
    Redirect::to("/")
}

async fn no_page() -> PageError {
    PageError::not_found()
}

async fn wrong_method() -> PageError {
    PageError::new(
        http::StatusCode::METHOD_NOT_ALLOWED,
        "Not this way",
        "This address is for forms. Go back to the inbox.",
    )
}
