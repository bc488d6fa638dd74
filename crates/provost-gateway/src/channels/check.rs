//! Checking the channels before anybody is asked: at the start, when `people` change, and now and then.

use std::{sync::Arc, time::Duration};

use provost_core::time::Time;

use super::{Channels, Problem, telegram::Checked};
use crate::app::App;

/// For everything that one channel is asked.
const PATIENCE: Duration = Duration::from_mins(1);
const BETWEEN: Duration = Duration::from_mins(5);
/// While something is wrong, so that the repair is seen.
const SOON: Duration = Duration::from_secs(20);
/// Not more often, however much happens on the channels.
const CALM: Duration = Duration::from_secs(2);
/// How long somebody who asks waits for the check.
const WAIT: Duration = Duration::from_secs(3);

/// Runs until the gateway stops.
pub async fn check(app: Arc<App>) {
    let mut changes = app.policies();
    loop {
        let channels = app.channels.load_full();
        let well = check_all(&app, &channels).await;
        channels.standings.checks.send_modify(|checks| *checks += 1);
        let pause = if well { BETWEEN } else { SOON };
        let doubted = async {
            tokio::time::sleep(CALM).await;
            channels.standings.doubted.notified().await;
        };
        tokio::select! {
            () = app.stopping() => return,
            () = tokio::time::sleep(pause) => {}
            () = doubted => {}
            changed = changes.changed() => if changed.is_err() { return },
        }
    }
}

impl Channels {
    /// Has the channels checked again, unless that has just been done, and waits a while for it: who asks how
    /// they fare is told of now.
    pub(crate) async fn refresh(&self, now: Time) {
        let mut checked = [
            self.telegram.as_ref().map(|_| "telegram"),
            self.email.as_ref().map(|_| "email"),
        ]
        .into_iter()
        .flatten()
        .map(|name| self.standings.of(name).checked_at);
        if checked.all(|at| at.is_some_and(|at| now.since(at) < CALM)) {
            return;
        }
        let mut checks = self.standings.checks.subscribe();
        self.standings.doubted.notify_one();
        let _ = tokio::time::timeout(WAIT, checks.changed()).await;
    }
}

/// Whether all of them are well.
async fn check_all(app: &App, channels: &Channels) -> bool {
    let people = app.gate.people();
    for name in ["telegram", "email"] {
        channels.standings.follow(name, &people);
    }
    // Each is told as soon as it is known: one that hangs holds up no other.
    let telegram = async {
        let Some(telegram) = channels.telegram.as_ref() else {
            return true;
        };
        let checked = tokio::time::timeout(PATIENCE, telegram.check(&people)).await;
        let checked = checked.unwrap_or_else(|_| Checked::with(too_slow("telegram")));
        if checked.is_cut_short {
            channels.standings.cut_short("telegram", checked.problems);
            return false;
        }
        note(app, channels, "telegram", checked.problems)
    };
    let email = async {
        let Some(email) = channels.email.as_ref() else {
            return true;
        };
        let checked = tokio::time::timeout(PATIENCE, email.check()).await;
        let problems = checked.unwrap_or_else(|_| vec![too_slow("email")]);
        note(app, channels, "email", problems)
    };
    let (telegram, email) = tokio::join!(telegram, email);
    telegram && email
}

/// Whether it is well.
fn note(app: &App, channels: &Channels, name: &str, problems: Vec<Problem>) -> bool {
    let (well, told) = (problems.is_empty(), problems.clone());
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
    well
}

fn too_slow(channel: &str) -> Problem {
    Problem::of_channel(
        "the check of this channel did not end in time",
        format!("see that this machine reaches what `channels.{channel}` names"),
    )
}
