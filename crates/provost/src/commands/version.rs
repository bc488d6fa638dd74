//! `provost version`.

use serde_json::json;

use crate::{context::Context, exit::Exit, output};

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(context: &Context) -> anyhow::Result<Exit> {
    if context.json() {
        output::json(&json!({"name": "provost", "version": VERSION}))?;
    } else {
        output::line(format_args!("provost {VERSION}"))?;
    }
    Ok(Exit::Ok)
}
