//! A changed config file takes effect at once and whole, or not at all.

use std::{path::PathBuf, sync::Arc};

use provost_gateway::app::{App, PolicyState};

use crate::config::{self, Fingerprint, Watch};

/// Watches until the gateway stops.
pub(crate) async fn reload_on_change(app: Arc<App>, path: PathBuf, read: Fingerprint) {
    let mut watch = Watch::new(read);
    loop {
        tokio::select! {
            () = watch.changed() => {}
            () = app.stopping() => return,
        }
        let file = path.clone();
        let Ok(mut loaded) = tokio::task::spawn_blocking(move || config::load(&file)).await else {
            continue;
        };
        watch.follow(loaded.fingerprint.clone());
        apply(&app, &mut loaded).await;
    }
}

async fn apply(app: &App, loaded: &mut config::Loaded) {
    let before = app.policy_state.load_full();
    let (Some(config), Some(policies)) = (loaded.config.clone(), loaded.policy_set()) else {
        let errors: Vec<_> = loaded
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .collect();
        let first = errors
            .first()
            .map(|problem| problem.message.clone())
            .unwrap_or_default();
        let error = format!("{} error(s) in the file, the first: {first}", errors.len());
        tracing::error!(source = %before.source, %error, "the changed config was refused, the old one stays in force");
        app.policy_state.store(Arc::new(PolicyState {
            error: Some(error),
            ..(*before).clone()
        }));
        return;
    };
    let rules = policies.rule_count();
    if let Err(error) = app.gate.replace_keys(config.auth.keys.clone()).await {
        tracing::error!(%error, "the keys of the changed config could not be put in force");
    }
    app.gate.replace_settings(super::settings(&config));
    app.gate.replace_policy(policies);
    let source = before.source.clone();
    app.policy_state.store(Arc::new(PolicyState {
        source,
        loaded_at: app.gate.now(),
        rules,
        error: None,
    }));
    tracing::info!(
        rules,
        "the changed config is in force; listen, data, tools and telemetry change at a restart"
    );
}
