//! Keeping the heads while the gateway runs: once a second where the record moved, and at the end.

use std::{fs, sync::Arc, time::Duration};

use provost_core::{ports::Store, trace::kept::KeptHeads};
use provost_gateway::app::App;
use tokio::{sync::Mutex, time::MissedTickBehavior};

use super::{Heads, Known, told};

/// After a crash, so much of the record may be missing from the heads.
const BETWEEN: Duration = Duration::from_secs(1);

pub(crate) struct Keeper {
    heads: Heads,
    kept: Mutex<KeptHeads>,
}

impl Keeper {
    /// Holds the record against what was kept of it, and keeps it from here on. A folder that cannot be
    /// written keeps nobody from working: it is told.
    pub(crate) async fn begin(heads: Heads, store: &dyn Store) -> anyhow::Result<Self> {
        let known = heads.known(store).await?;
        let gaps = known.gaps(store).await?;
        if !gaps.is_empty() {
            return Err(heads.refusal(&gaps));
        }
        if let Known::Copied(from) = &known {
            tracing::warn!(
                place = heads.place,
                from,
                "this store is a copy of another one, which still stands: from here on they differ"
            );
        }
        // Also of the chains that have ended: from here on only the others are read.
        let kept = KeptHeads::of(store).await?;
        // What fails is tried again, and told.
        let written = write(&heads, &kept).await;
        if let (Ok(()), Known::Moved(_, before)) = (written, known) {
            // Its place is free for another store.
            let _ = fs::remove_file(before);
        }
        Ok(Self {
            heads,
            kept: Mutex::new(kept),
        })
    }

    /// Follows the record, and writes down where it moved.
    pub(crate) async fn keep(&self, app: &App) {
        let mut kept = self.kept.lock().await;
        // The store's own troubles are told elsewhere.
        let Ok((moved, gaps)) = kept.follow(&**app.gate.store()).await else {
            return;
        };
        let before = app.record.standing();
        let mut standing = before.clone();
        // What could not be written is tried again.
        if moved || before.kept_at.is_none() || before.not_kept.is_some() {
            match write(&self.heads, &kept).await {
                Ok(()) => {
                    standing.kept_at = Some(app.gate.now());
                    standing.not_kept = None;
                }
                Err(why) => standing.not_kept = Some(why),
            }
        }
        standing.gap = (!gaps.is_empty()).then(|| told(&gaps).trim().to_owned());
        if let Some(why) = standing
            .not_kept
            .as_ref()
            .filter(|_| before.not_kept.is_none())
        {
            let file = self.heads.file().unwrap_or_default();
            tracing::warn!(why, file = %file.display(), "the heads of the record are kept in memory alone");
        }
        if let Some(gap) = standing.gap.as_ref().filter(|_| before.gap.is_none()) {
            tracing::error!(gap, "the record was changed while the gateway ran");
        }
        app.record.set(kept.clone(), standing);
    }
}

async fn write(heads: &Heads, kept: &KeptHeads) -> Result<(), String> {
    let (heads, kept) = (heads.clone(), kept.clone());
    let written = tokio::task::spawn_blocking(move || heads.write(&kept)).await;
    match written {
        Ok(written) => written.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Keeps the heads until the gateway stops.
pub(crate) async fn follow(app: Arc<App>, keeper: Arc<Keeper>) {
    let mut tick = tokio::time::interval(BETWEEN);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = app.stopping() => return,
        }
        keeper.keep(&app).await;
    }
}
