//! Keeping the heads while the gateway runs: once a second where the record moved, and at the end.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use provost_core::{
    ports::{ChainEnds, Clock as _, Store, StoreError, SystemClock},
    time::Time,
    trace::kept::{Chains, KeptHeads},
};
use provost_gateway::{app::App, record::RecordStanding};
use tokio::{sync::Mutex, time::MissedTickBehavior};

use super::{Heads, Known, told};

/// After a crash, so much of the record may be missing from the heads.
const BETWEEN: Duration = Duration::from_secs(1);

/// Where replicas share the store, every so many times also the chains that have ended are looked at: others may
/// have pruned them, or removed one whole.
const ALL_CHAINS_EVERY: u32 = 10;

/// So many times in a row the store may fail before people are told that it is not compared.
const MOST_FAILURES: u32 = 3;
/// A look takes no longer, whoever holds a lock.
const LONGEST_LOOK: Duration = Duration::from_secs(10);
/// What everybody may read of it.
const UNREAD: &str = "the record cannot be read; the gateway's log says why";
const CHANGED: &str = "the record was changed or put back while the gateway ran, so nothing is decided: stop the \
     gateway, put the newest data back, start it again";

pub(crate) struct Keeper {
    heads: Heads,
    kept: Mutex<KeptHeads>,
    /// How often in a row the record could not be read.
    failures: AtomicU32,
}

impl Keeper {
    /// Holds the record against what was kept of it, and keeps it from here on. A folder that cannot be
    /// written keeps nobody from working: it is told.
    pub(crate) async fn begin(heads: Heads, store: &dyn Store) -> anyhow::Result<Self> {
        let known = heads.known(store).await?;
        let gaps = heads.gaps(&known, store).await?;
        if !gaps.is_empty() {
            return Err(heads.refusal(&gaps));
        }
        if let Known::Elsewhere(kept) = &known {
            tracing::warn!(
                place = heads.place,
                other = kept.place,
                "this store was at another place, or is a copy of the one there"
            );
        }
        // Also of the chains that have ended: from here on only the others are read.
        let mut kept = KeptHeads::of(store).await?;
        kept.since = match known.heads() {
            Some(before) => before.since,
            None => Some(SystemClock.now()),
        };
        kept.is_copy = heads.is_copy(&known);
        // What fails is tried again, and told.
        let written = write(&heads, &kept).await;
        if let (Ok(()), Known::Moved(_, before)) = (written, known) {
            // Its place is free for another store.
            let _ = fs::remove_file(before);
        }
        Ok(Self {
            heads,
            kept: Mutex::new(kept),
            failures: AtomicU32::new(0),
        })
    }

    /// Follows the record, and writes down where it moved. A record that is not the one of before is no
    /// record to decide by.
    pub(crate) async fn keep(&self, app: &App, which: Chains) {
        let mut kept = self.kept.lock().await;
        let store = &**app.gate.store();
        // Before the store is read, and whatever it shows.
        let mut moved = kept.advance(store.written_head());
        // What was followed in part is followed again.
        let mut next = kept.clone();
        let followed = next.follow(store, which, self.heads.pruners());
        let followed = tokio::time::timeout(LONGEST_LOOK, followed).await;
        let followed =
            followed.unwrap_or_else(|_| Err(StoreError::Failed("it took too long".into())));
        let mut standing = app.record.standing();
        match followed {
            Ok((followed, gaps)) => {
                *kept = next;
                moved |= followed;
                self.failures.store(0, Relaxed);
                standing.not_read = None;
                if !gaps.is_empty() {
                    standing.gap = Some(lose(store, told(&gaps).trim()));
                }
            }
            Err(StoreError::Corrupt(why)) => standing.gap = Some(lose(store, &why)),
            Err(error) => self.note_failure(&error, &mut standing),
        }
        // What could not be written is tried again.
        if moved || standing.kept_at.is_none() || standing.not_kept.is_some() {
            standing = self.written(&kept, standing, app).await;
        }
        app.record.set(kept.clone(), self.heads.pruners(), standing);
    }

    /// A store that is away for a moment is told of elsewhere.
    fn note_failure(&self, error: &StoreError, standing: &mut RecordStanding) {
        let failures = self.failures.fetch_add(1, Relaxed).saturating_add(1);
        if failures < MOST_FAILURES || matches!(error, StoreError::Closed | StoreError::Lost(_)) {
            return;
        }
        if failures == MOST_FAILURES {
            tracing::warn!(%error, "the record is not held against its kept heads: it cannot be read");
        }
        standing.not_read = Some(UNREAD.to_owned());
    }

    /// Removes what is older than the retention. Where it will have been removed is kept first: an anchor that
    /// moved otherwise is a gap.
    pub(crate) async fn prune(&self, app: &App, before: Time, now: Time) -> anyhow::Result<u64> {
        // A chain must not be pruned beyond its kept head.
        self.keep(app, Chains::All).await;
        let store = &**app.gate.store();
        let cuts = store.prunable(before).await?;
        if !cuts.is_empty() {
            self.expect_pruning(app, &cuts).await?;
        }
        let gone = store.prune_to(cuts, before, now).await?;
        self.keep(app, Chains::All).await;
        Ok(gone)
    }

    async fn expect_pruning(&self, app: &App, cuts: &[ChainEnds]) -> anyhow::Result<()> {
        let mut kept = self.kept.lock().await;
        kept.expect_pruning(cuts);
        let standing = self.written(&kept, app.record.standing(), app).await;
        let why = standing.not_kept.clone();
        app.record.set(kept.clone(), self.heads.pruners(), standing);
        // Without a file of before there is nothing that the pruned record would differ from.
        match why {
            Some(why) if self.heads.is_kept() => anyhow::bail!(why),
            _ => Ok(()),
        }
    }

    async fn written(
        &self,
        kept: &KeptHeads,
        mut standing: RecordStanding,
        app: &App,
    ) -> RecordStanding {
        let was_kept = standing.not_kept.is_none();
        match write(&self.heads, kept).await {
            Ok(()) => {
                standing.kept_at = Some(app.gate.now());
                standing.not_kept = None;
            }
            Err(why) => {
                if was_kept {
                    let file = self.heads.file().unwrap_or_default();
                    tracing::warn!(why, file = %file.display(), "the heads of the record are kept in memory alone");
                }
                standing.not_kept = Some(why);
            }
        }
        standing
    }
}

/// Refuses everything from here on. Gives back what is wrong.
fn lose(store: &dyn Store, gap: &str) -> String {
    tracing::error!(
        gap,
        "the record was changed while the gateway ran; everything is refused"
    );
    store.lose(CHANGED);
    gap.to_owned()
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
    for round in 1_u32.. {
        tokio::select! {
            _ = tick.tick() => {}
            () = app.stopping() => return,
        }
        let which = if !keeper.heads.is_shared || round.is_multiple_of(ALL_CHAINS_EVERY) {
            Chains::All
        } else {
            Chains::Live
        };
        keeper.keep(&app, which).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p11_a_record_that_cannot_be_read_for_long_is_told() {
        let heads = Heads {
            place: String::new(),
            places: Vec::new(),
            schema: 1,
            is_shared: true,
            retention_of_replicas: None,
            folder: None,
        };
        let keeper = Keeper {
            heads,
            kept: Mutex::default(),
            failures: AtomicU32::new(0),
        };
        let mut standing = RecordStanding::default();
        for _ in 1..MOST_FAILURES {
            keeper.note_failure(&StoreError::Failed("away".into()), &mut standing);
            assert_eq!(standing.not_read, None, "it may be a moment's");
        }
        keeper.note_failure(&StoreError::Failed("away".into()), &mut standing);
        assert_eq!(standing.not_read.as_deref(), Some(UNREAD));
    }
}
