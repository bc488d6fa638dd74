//! `provost console`: a link that signs in to the console, once.

use serde_json::json;

use super::view::text;
use crate::{client::Target, context::Context, exit::Exit, output};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost console                       sign in with the key of this machine
  PROVOST_KEY=$ALICE provost console    sign in as somebody else")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> anyhow::Result<Exit> {
    let client = context.client()?;
    let target = Target::new("/console/links");
    let made = client.post(target, &json!({})).await?.having(&["path"])?;
    let url = format!(
        "{}{}",
        client.url().trim_end_matches('/'),
        text(&made, "path")
    );
    if context.json() {
        output::json(&json!({"url": url, "expires_in_seconds": made.get("expires_in_seconds")}))?;
        return Ok(Exit::Ok);
    }
    output::note("open it within ten minutes; it signs in once:");
    output::line(url)?;
    Ok(Exit::Ok)
}
