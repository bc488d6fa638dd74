//! `provost doctor`: what is configured, what runs, and what is wrong with it.

mod agents;
mod findings;
mod here;
mod runs;
mod there;

use serde_json::json;

use crate::{context::Context, exit::Exit, output};
use findings::{Findings, State};

pub(super) async fn run(context: &Context) -> anyhow::Result<Exit> {
    let mut findings = Findings::default();
    let config = here::configuration(context, &mut findings);
    let place = context.place();
    here::data_folder(&place.data, &mut findings);
    match context.client_at(&place) {
        Ok(client) => there::gateway(&client, &mut findings).await,
        Err(error) => findings.fail(
            "gateway",
            format!("{error:#}"),
            "correct --url, PROVOST_URL or the key",
        ),
    }
    if let Some(config) = &config {
        here::settings(config, &mut findings);
        runs::settings(config, &mut findings);
    }
    agents::claude_code(&mut findings).await;
    let failed = findings
        .0
        .iter()
        .any(|finding| finding.state == State::Fail);
    if context.json() {
        output::json(&json!({"ok": !failed, "findings": findings.0}))?;
    } else {
        output::line(findings)?;
    }
    Ok(Exit::yes_or_no(!failed))
}
