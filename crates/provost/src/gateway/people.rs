//! The ways to people, opened from the configuration: what they are asked goes out, what they answer comes in.

use std::{sync::Arc, time::Duration};

use provost_core::ports::SystemClock;
use provost_gateway::{
    app::App,
    channels::{
        CALLBACK, Channels, Office, check, deliver,
        email::Email,
        telegram::{Pace, Telegram},
        webhook::{Callbacks, Webhooks},
    },
    web::Web,
};
use tokio_util::sync::CancellationToken;

use crate::config::Config;

/// Where Telegram posts, where it does.
const WEBHOOK: &str = "/v1/telegram/webhook";
/// How long Telegram is left alone when it does not take the address of its webhook.
const BETWEEN_TRIES: Duration = Duration::from_secs(30);
/// The name of the secret that the keys of callbacks are made from.
const CALLBACK_SECRET: &str = "callback";

pub(super) async fn open(config: &Config, app: &Arc<App>, web: &Web) -> anyhow::Result<()> {
    app.gate.replace_people(config.people.clone());
    let clock = Arc::new(SystemClock);
    let secret = app.gate.store().secret(CALLBACK_SECRET).await?;
    let allowed = config.channels.callbacks.clone();
    let callbacks = Callbacks::new(secret, allowed.clone(), clock.clone());
    let mut channels = Channels::default()
        .with(CALLBACK, Arc::new(callbacks))
        .signing_callbacks(secret)
        .allowing_callbacks(allowed);
    let hooks = config.channels.webhooks.clone();
    if !hooks.is_empty() {
        let web = web.clone();
        let webhooks = Webhooks { hooks, web, clock };
        channels = channels.with("webhook", Arc::new(webhooks));
    }
    if let Some(telegram) = open_telegram(config, app, web)? {
        channels = channels.with_telegram(telegram);
    }
    if let Some(settings) = &config.channels.email {
        let email = Arc::new(Email::new(settings.clone(), Arc::new(Office(app.clone()))).await?);
        channels = channels
            .with_email(email.clone())
            .requiring_sender(settings.require_from);
        tokio::spawn(read_mail(app.clone(), email));
    }
    app.channels.store(Arc::new(channels));
    tokio::spawn(deliver(app.clone()));
    tokio::spawn(check(app.clone()));
    Ok(())
}

fn open_telegram(
    config: &Config,
    app: &Arc<App>,
    web: &Web,
) -> anyhow::Result<Option<Arc<Telegram>>> {
    let Some(settings) = &config.channels.telegram else {
        return Ok(None);
    };
    let mut telegram = Telegram::new(settings.clone(), web.clone())
        .map_err(|error| anyhow::anyhow!("`channels.telegram`: {error}"))?;
    if let Some(url) = &config.channels.public_url {
        telegram = telegram.with_console(url);
    }
    let telegram = Arc::new(telegram);
    if telegram.is_polled() {
        tokio::spawn(poll(app.clone(), telegram.clone()));
    } else if let Some(url) = &config.channels.public_url {
        let url = format!("{}{WEBHOOK}", url.trim_end_matches('/'));
        tokio::spawn(set_webhook(app.clone(), telegram.clone(), url));
    } else {
        tracing::warn!(
            "set `public_url`, or tell Telegram yourself to post to {WEBHOOK} of this gateway"
        );
    }
    Ok(Some(telegram))
}

/// Until Telegram knows where to post.
async fn set_webhook(app: Arc<App>, telegram: Arc<Telegram>, url: String) {
    while let Err(error) = telegram.set_webhook(&url).await {
        tracing::warn!(%error, "Telegram does not take the address of its webhook, trying again");
        tokio::select! {
            () = app.stopping() => return,
            () = tokio::time::sleep(BETWEEN_TRIES) => {}
        }
    }
}

async fn poll(app: Arc<App>, telegram: Arc<Telegram>) {
    let desk = Office(app.clone());
    telegram
        .poll(&desk, Pace::default(), async move { app.stopping().await })
        .await;
}

async fn read_mail(app: Arc<App>, email: Arc<Email>) {
    let stop = CancellationToken::new();
    let ended = stop.clone();
    tokio::join!(email.receive(ended), async {
        app.stopping().await;
        stop.cancel();
    });
}
