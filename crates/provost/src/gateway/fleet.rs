//! The agents that are run here, where the configuration has any.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context as _;
use provost_gateway::{
    app::App,
    fleet::{Fleet, Parts},
};

use crate::{config::Config, locate::reached};

/// Before anybody is let in: runs that outlived the gateway before this one are to be known by their keys.
pub(super) async fn open(config: &Config, app: &Arc<App>, addr: SocketAddr) -> anyhow::Result<()> {
    let Some(settings) = &config.runs else {
        return Ok(());
    };
    let data = std::path::absolute(&config.data).context("the data folder cannot be found")?;
    let fleet = Fleet::open(Parts {
        settings: settings.clone(),
        gate: app.gate.clone(),
        data,
        launcher: std::env::current_exe().context("this program cannot be found")?,
        url: format!("http://{}", reached(addr)),
    })
    .await
    .context("the runs in the data folder cannot be read")?;
    // Nobody else puts one in.
    let _ = app.fleet.set(fleet);
    Ok(())
}
