//! `provost doctor`: what is configured, what runs, and what is wrong with it.

mod agents;
mod findings;
mod here;
mod runs;
mod sandbox;
mod there;

use serde_json::json;

use crate::{
    client::ClientError,
    context::Context,
    exit::{Exit, Usage},
    output,
};
use findings::{Findings, State};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show what the kernel of this machine can keep a confined agent from; needs no gateway
    #[arg(long)]
    sandbox: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let mut findings = Findings::default();
    if args.sandbox {
        sandbox::kernel(&mut findings).await?;
        let failed = show(context, findings)?;
        return Ok(Exit::yes_or_no(!failed));
    }
    let located = context.gateway();
    if let Err(error) = &located
        && is_wrong_use(error)
    {
        return located.map(|_| Exit::Usage);
    }
    let running = located.as_ref().ok();
    let config = here::configuration(context, running, &mut findings);
    let data = running.and_then(|running| running.data.clone());
    let data = data.or_else(|| Some(config.as_ref()?.data.clone()));
    if let Some(data) = data {
        here::data_folder(&data, &mut findings);
    }
    let reached = match located.and_then(|located| context.client_at(&located)) {
        Ok(client) => there::gateway(&client, &mut findings).await,
        Err(error) if is_wrong_use(&error) => return Err(error),
        Err(error) => {
            let help = error.downcast_ref().and_then(ClientError::help);
            let help = help.unwrap_or_else(|| "correct --url, PROVOST_URL or the key".to_owned());
            findings.fail("gateway", format!("{error:#}"), help);
            let unreachable = error.downcast_ref().map(ClientError::exit);
            unreachable.unwrap_or(Exit::No)
        }
    };
    if let Some(config) = &config {
        here::record(config, reached, &mut findings).await;
        here::settings(config, &mut findings);
        runs::settings(config, &mut findings);
    }
    agents::claude_code(&mut findings).await;
    let failed = show(context, findings)?;
    // Without a gateway most of the question is open: that is neither a yes nor a no.
    Ok(match reached {
        Exit::Unreachable => Exit::Unreachable,
        _ => Exit::yes_or_no(!failed),
    })
}

/// Whether anything failed.
fn show(context: &Context, findings: Findings) -> anyhow::Result<bool> {
    let failed = findings
        .0
        .iter()
        .any(|finding| finding.state == State::Fail);
    if context.json() {
        output::json(&json!({"ok": !failed, "findings": findings.0}))?;
    } else {
        output::line(findings)?;
    }
    Ok(failed)
}

/// Which gateway is meant is not clear: there is nothing to look at.
fn is_wrong_use(error: &anyhow::Error) -> bool {
    let client = error.downcast_ref::<ClientError>();
    error.is::<Usage>() || client.is_some_and(|error| error.exit() == Exit::Usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::usage;

    #[test]
    fn p17_several_gateways_and_a_bad_url_are_wrong_use() {
        assert!(is_wrong_use(&usage("several gateways run")));
        assert!(is_wrong_use(&ClientError::BadUrl.into()));
        assert!(!is_wrong_use(&ClientError::NotRunning.into()));
    }
}
