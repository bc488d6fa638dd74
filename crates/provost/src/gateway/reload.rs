//! A changed config file takes effect at once and whole, or not at all.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use provost_core::policy::PolicySet;
use provost_gateway::app::{App, PolicyState};

use crate::config::{self, Config, Fingerprint, Loaded, Watch};

/// What was told at the start, and stays so.
pub(crate) struct Started {
    pub(crate) path: PathBuf,
    pub(crate) read: Fingerprint,
    /// Where the gateway really listens, whatever the file says.
    pub(crate) addr: SocketAddr,
    pub(crate) has_policies: bool,
}

/// Watches until the gateway stops.
pub(crate) async fn reload_on_change(app: Arc<App>, mut started: Started) {
    let mut watch = Watch::new(started.read.clone());
    loop {
        tokio::select! {
            () = watch.changed() => {}
            () = app.stopping() => return,
        }
        let file = started.path.clone();
        let Ok(loaded) = tokio::task::spawn_blocking(move || config::load(&file)).await else {
            continue;
        };
        watch.follow(loaded.fingerprint.clone());
        match accept(loaded, &mut started) {
            Ok((config, policies)) => apply(&app, &config, policies).await,
            Err(error) => refuse(&app, error),
        }
    }
}

/// For a gateway that started on the embedded defaults: says, in its log, to `doctor` and in `/health`, that there
/// is a file now that it does not follow.
pub(crate) async fn name_new_file(app: Arc<App>, path: PathBuf) {
    let mut watch = Watch::new(Fingerprint::of([&path]));
    loop {
        tokio::select! {
            () = watch.changed() => {}
            () = app.stopping() => return,
        }
        let before = app.policy_state.load_full();
        let error = path.exists().then(|| {
            format!(
                "`{}` was written after the start and is not in force: restart the gateway to use it",
                path.display()
            )
        });
        if let Some(error) = &error {
            tracing::error!("{error}");
        } else {
            tracing::info!(file = %path.display(), "the file that was not in force is gone");
        }
        app.policy_state.store(Arc::new(PolicyState {
            error,
            ..(*before).clone()
        }));
    }
}

/// The new configuration, or why it is not taken.
fn accept(mut loaded: Loaded, started: &mut Started) -> Result<(Config, PolicySet), String> {
    let (Some(mut config), Some(policies)) = (loaded.config.take(), loaded.policy_set()) else {
        let mut errors = loaded.problems.iter().filter(|problem| problem.is_error());
        let first = errors.next().map(|problem| problem.message.clone());
        return Err(format!(
            "{} error(s) in the file, the first: {}",
            errors.count() + 1,
            first.unwrap_or_default()
        ));
    };
    // An empty or half-written file has no policies either, and must not open what they closed.
    if started.has_policies && !config.has_policies {
        return Err("the file has lost its policies; restart to run without any".to_owned());
    }
    started.has_policies = config.has_policies;
    config.listen = started.addr;
    if config.is_open_to_others() {
        return Err("`auth.open` is refused on an address that others can reach".to_owned());
    }
    Ok((config, policies))
}

fn refuse(app: &App, error: String) {
    let before = app.policy_state.load_full();
    tracing::error!(source = %before.source, %error, "the changed config was refused, the old one stays in force");
    app.policy_state.store(Arc::new(PolicyState {
        error: Some(error),
        ..(*before).clone()
    }));
}

async fn apply(app: &App, config: &Config, policies: PolicySet) {
    let rules = policies.rule_count();
    app.live.store(Arc::new(super::live(config)));
    app.gate.replace_settings(super::settings(config));
    app.admission.set_room(super::room(config));
    app.gate.replace_policy(policies);
    app.gate.replace_people(config.people.clone());
    let telegram = config.channels.telegram.as_ref();
    let allowed = telegram.map(|telegram| telegram.allow.clone());
    let channels = app.channels.load();
    channels.allow_on_telegram(allowed.unwrap_or_default());
    app.policies_changed();
    let keys = app.gate.replace_keys(config.auth.keys.clone()).await;
    if let Err(error) = keys {
        tracing::error!(%error, "the keys of the changed config could not be put in force");
    }
    match app.gate.deny_forbidden().await {
        Ok(denied) if denied > 0 => {
            tracing::info!(denied, "what waited and is denied now was denied");
        }
        Ok(_) => {}
        Err(error) => tracing::error!(%error, "what waits could not be judged anew"),
    }
    let source = app.policy_state.load().source.clone();
    app.policy_state.store(Arc::new(PolicyState {
        source,
        loaded_at: app.gate.now(),
        rules,
        error: None,
    }));
    tracing::info!(
        rules,
        "the changed config is in force; listen, data, database, tools, channels, runs, notify_url, retention and telemetry change at a restart"
    );
}
