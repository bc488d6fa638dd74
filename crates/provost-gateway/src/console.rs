//! The console: what people see and decide in a browser. Server-rendered; the script only keeps it fresh.
//!
//! Its pages stand at `/` and under `/console/`, beside the API, and let nobody in by an API key: a browser
//! has a session of its own.

mod act;
mod assets;
mod cookie;
mod decide;
mod error;
mod fields;
mod inbox;
mod links;
mod live;
mod login;
mod page;
mod session;
mod shown;
mod visible;
mod visitor;

use std::sync::Arc;

use axum::{
    Router,
    middleware::map_response,
    routing::{get, post},
};

pub use links::one_time_link;
pub(crate) use login::link_for;

use crate::app::App;
use error::PageError;

/// What the console keeps in memory.
#[derive(Default)]
pub struct Console {
    sessions: session::Sessions,
    links: links::Links,
}

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(inbox::page))
        .route("/console/fragment/inbox", get(inbox::fragment))
        .route("/console/fragment/count", get(live::count))
        .route("/console/events", get(live::events))
        .route("/console/decide/{id}", post(decide::one))
        .route("/console/decide", post(decide::many))
        .route("/console/login", get(login::page).post(login::sign_in))
        .route("/console/logout", post(login::sign_out))
        .route("/console/assets/{name}", get(assets::serve))
        .route("/console/{*rest}", get(no_page))
        .method_not_allowed_fallback(wrong_method)
        .layer(map_response(page::secured))
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
