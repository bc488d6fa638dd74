//! Checking the channels before anybody is asked: at the start, when `people` change, and now and then.

use std::{sync::Arc, time::Duration};

use super::Problem;
use crate::app::App;

/// For everything that one channel is asked.
const PATIENCE: Duration = Duration::from_mins(1);
const BETWEEN: Duration = Duration::from_mins(5);
/// While something is wrong, so that the repair is seen.
const SOON: Duration = Duration::from_secs(20);

/// Runs until the gateway stops.
pub async fn check(app: Arc<App>) {
    let mut changes = app.policies();
    loop {
        let well = check_all(&app).await;
        let pause = if well { BETWEEN } else { SOON };
        tokio::select! {
            () = app.stopping() => return,
            () = tokio::time::sleep(pause) => {}
            changed = changes.changed() => if changed.is_err() { return },
        }
    }
}

/// Whether all of them are well.
async fn check_all(app: &App) -> bool {
    let (channels, people) = (app.channels.load_full(), app.gate.people());
    let telegram = async {
        let telegram = channels.telegram.as_ref()?;
        let checked = tokio::time::timeout(PATIENCE, telegram.check(&people)).await;
        Some(checked.unwrap_or_else(|_| vec![too_slow("telegram")]))
    };
    let email = async {
        let email = channels.email.as_ref()?;
        let checked = tokio::time::timeout(PATIENCE, email.check()).await;
        Some(checked.unwrap_or_else(|_| vec![too_slow("email")]))
    };
    let (telegram, email) = tokio::join!(telegram, email);
    let mut well = true;
    for (name, problems) in [("telegram", telegram), ("email", email)] {
        let Some(problems) = problems else { continue };
        well &= problems.is_empty();
        let told = problems.clone();
        if channels.standings.checked(name, problems, app.gate.now()) {
            for Problem {
                problem,
                help,
                person,
            } in told
            {
                let person = person.unwrap_or_default();
                tracing::warn!(channel = name, %person, problem, help, "a channel does not work");
            }
        }
    }
    well
}

fn too_slow(channel: &str) -> Problem {
    Problem::of_channel(
        "the check of this channel did not end in time",
        format!("see that this machine reaches what `channels.{channel}` names"),
    )
}
