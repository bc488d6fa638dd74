//! `provost doctor`: what is configured, what runs, and what is wrong with it.

mod agents;
mod findings;
mod here;
mod runs;
mod there;

use serde_json::json;

use crate::{client::ClientError, context::Context, exit::Exit, output};
use findings::{Findings, State};

pub(super) async fn run(context: &Context) -> anyhow::Result<Exit> {
    let mut findings = Findings::default();
    let located = context.gateway();
    let running = located.as_ref().ok();
    let config = here::configuration(context, running, &mut findings);
    let data = running.and_then(|running| running.data.clone());
    let data = data.or_else(|| Some(config.as_ref()?.data.clone()));
    if let Some(data) = data {
        here::data_folder(&data, &mut findings);
    }
    let reached = match located.and_then(|located| context.client_at(&located)) {
        Ok(client) => there::gateway(&client, &mut findings).await,
        Err(error) => {
            let help = error.downcast_ref().and_then(ClientError::help);
            let help = help.unwrap_or_else(|| "correct --url, PROVOST_URL or the key".to_owned());
            findings.fail("gateway", format!("{error:#}"), help);
            let unreachable = error.downcast_ref().map(ClientError::exit);
            unreachable.unwrap_or(Exit::No)
        }
    };
    if let Some(config) = &config {
        here::record(config, &mut findings);
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
    // Without a gateway most of the question is open: that is neither a yes nor a no.
    Ok(match reached {
        Exit::Unreachable => Exit::Unreachable,
        _ => Exit::yes_or_no(!failed),
    })
}
