//! Reports that a runner left on disk when it was lost are sent by another process, which does nothing else.

use std::sync::Arc;

use crate::{
    brake::Brake,
    config::Config,
    journal::Journal,
    report::Clock,
    run::{Delivery, deliver},
    setup::Reports,
};

/// Sends what is left of all prompts of the run, as it was written, and notes in the journal what became of it.
pub async fn send(config: &Config, brake: &Brake) {
    let path = config.journal.as_deref();
    let journal = path.and_then(|path| Journal::open(path, Clock::system()).ok());
    let journal = Arc::new(journal.unwrap_or_default());
    let reports = Reports::new(config, &journal, None);
    let delivery: Delivery = deliver(&reports.leftovers(None), brake).await;
    journal.event(&delivery.event(true));
}
