//! The second place of the record: the heads of its chains, in a file of the user's folder.
//!
//! The file is named after the place of the store, so that another store at the same place is noticed. Where
//! links lead to the place, there is a second file for the configured path: the links may come to lead
//! elsewhere. A store that was moved or copied is known by its identity, and must go on from what was kept.

mod file;
mod keep;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use provost_core::{
    ports::{Clock as _, Store, StoreError, SystemClock},
    trace::kept::{Gap, KeptHeads, Pruners},
};
use provost_store::{OpenError, StoreConfig};

pub(crate) use self::{
    file::{Kept, Unreadable},
    keep::{Keeper, follow},
};
use crate::{config::Config, gateway, user_folder::user_folder};

/// Below the user's folder.
const FOLDER: &str = "heads";
const NO_FOLDER: &str = "there is no folder to keep the heads of the record in: set `PROVOST_STATE` or `HOME` to an \
     absolute path";

const UNWRITABLE: &str = "the folder of kept heads (`PROVOST_STATE`) cannot be written";

/// Where the heads of one store are kept.
#[derive(Clone, Debug)]
pub(crate) struct Heads {
    /// Names the store for people; never holds a password.
    pub(crate) place: String,
    /// The place, and the path by which it is configured, if that is another.
    places: Vec<String>,
    schema: i64,
    /// Other replicas may write to it.
    is_shared: bool,
    /// `None`: no other replica prunes the record.
    retention_of_replicas: Option<Duration>,
    /// `None`: this user has no folder.
    folder: Option<PathBuf>,
}

/// What was kept of a store.
pub(crate) enum Known {
    Nothing,
    Here(Kept),
    /// The store was at another place, which is empty now: what was kept in the file of that place.
    Moved(Kept, PathBuf),
    /// A store with this identity stands at another place as well, or the place has two names.
    Elsewhere(Kept),
}

impl Heads {
    pub(crate) fn of(config: &Config) -> anyhow::Result<Self> {
        let store = gateway::store_config(config);
        let places = store.places();
        let places = places.map_err(|error| anyhow::anyhow!("{error}; {}", error.help()))?;
        let is_shared = matches!(store, StoreConfig::Postgres { .. });
        Ok(Self {
            place: places.first().cloned().unwrap_or_default(),
            places,
            schema: store.schema(),
            is_shared,
            retention_of_replicas: config.retention.filter(|_| is_shared),
            folder: user_folder().map(|folder| folder.join(FOLDER)),
        })
    }

    /// The file of this store.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.files().next()
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.folder.iter();
        folder.flat_map(|folder| {
            let names = self.places.iter().map(|place| file::name(place));
            names.map(|name| folder.join(name))
        })
    }

    /// What was kept of whatever stood here: the furthest, where two paths tell.
    pub(crate) fn read(&self) -> Result<Option<Kept>, Unreadable> {
        Ok(self.read_all()?.into_iter().max_by_key(Kept::records))
    }

    fn read_all(&self) -> Result<Vec<Kept>, Unreadable> {
        let files = self.files().map(|file| file::read(&file));
        Ok(files
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect())
    }

    /// Whether there is anything to hold the record against at the next start.
    fn is_kept(&self) -> bool {
        !matches!(self.read(), Ok(None))
    }

    /// Replaces the file whole. Blocks.
    pub(crate) fn write(&self, heads: &KeptHeads) -> anyhow::Result<()> {
        self.file().context(NO_FOLDER)?;
        for (file, place) in self.files().zip(&self.places) {
            let written = file::write(&file, place, self.schema, heads);
            written.map_err(|error| anyhow::anyhow!("{UNWRITABLE}: {error}"))?;
        }
        Ok(())
    }

    /// Before the store is opened, and perhaps made or changed by that: whether it lacks what was here.
    pub(crate) async fn look_before(&self, config: &StoreConfig) -> anyhow::Result<()> {
        let kept = self.read()?;
        let store = match provost_store::open_for_reading(config).await {
            Ok(store) => store,
            // Opening it tells what else is wrong with it.
            Err(error) => {
                return match kept.and_then(|kept| unopened(&kept, &error)) {
                    Some(gap) => Err(self.refusal(&[gap])),
                    None => Ok(()),
                };
            }
        };
        let gaps = self.look(&*store).await;
        store.close().await;
        match gaps? {
            gaps if gaps.is_empty() => Ok(()),
            gaps => Err(self.refusal(&gaps)),
        }
    }

    /// Whether a store stands here of which nothing was kept. Of a user without a folder nothing ever is.
    pub(crate) async fn is_new(&self, config: &StoreConfig) -> anyhow::Result<bool> {
        let store = match provost_store::open_for_reading(config).await {
            Ok(store) => store,
            Err(OpenError::Missing { .. }) => return Ok(false),
            Err(_) => return Ok(self.read()?.is_none()),
        };
        let known = self.known(&*store).await;
        store.close().await;
        Ok(matches!(known?, Known::Nothing))
    }

    async fn look(&self, store: &dyn Store) -> anyhow::Result<Vec<Gap>> {
        let unread = |error: StoreError| {
            anyhow::anyhow!(
                "the record at `{}` cannot be held against its kept heads: {error}; it was not changed",
                self.place
            )
        };
        store.identity().await.map_err(unread)?;
        let known = self.known(store).await?;
        self.gaps(&known, store).await.map_err(unread)
    }

    /// What was kept of the store that stands here now.
    pub(crate) async fn known(&self, store: &dyn Store) -> anyhow::Result<Known> {
        let identity = store.identity().await?;
        let (same, others): (Vec<_>, Vec<_>) = self
            .read_all()?
            .into_iter()
            .partition(|kept| kept.heads.store == identity);
        // Whatever stood at either path must be here still.
        let here = others.into_iter().next();
        let here = here.or_else(|| same.into_iter().max_by_key(Kept::records));
        if let Some(kept) = here {
            return Ok(Known::Here(kept));
        }
        let (gone, standing): (Vec<_>, Vec<_>) = self
            .elsewhere(&identity)
            .into_iter()
            .partition(|(_, kept)| is_gone(&kept.place));
        // A copy must not hide how far the original had come, nor be taken for it: it went its own way.
        let furthest = |all: Vec<(PathBuf, Kept)>| {
            let all = all.into_iter();
            all.max_by_key(|(_, kept)| (!kept.heads.is_copy, kept.records()))
        };
        Ok(match (furthest(gone), furthest(standing)) {
            (Some((file, kept)), _) => Known::Moved(kept, file),
            (None, Some((_, kept))) => Known::Elsewhere(kept),
            (None, None) => Known::Nothing,
        })
    }

    /// Whether the store here is a copy of one that still stands at another place.
    pub(crate) fn is_copy(&self, known: &Known) -> bool {
        match known {
            Known::Nothing => false,
            Known::Elsewhere(_) => true,
            Known::Here(kept) | Known::Moved(kept, _) => {
                let stands = |(_, other): &(PathBuf, Kept)| {
                    !other.heads.is_copy && other.place != kept.place && !is_gone(&other.place)
                };
                kept.heads.is_copy && self.elsewhere(&kept.heads.store).iter().any(stands)
            }
        }
    }

    /// Where the record is not a continuation of what was kept.
    pub(crate) async fn gaps(
        &self,
        known: &Known,
        store: &dyn Store,
    ) -> Result<Vec<Gap>, StoreError> {
        match known.kept() {
            Some(kept) => kept.heads.gaps(store, self.pruners_since(kept)).await,
            None => Ok(Vec::new()),
        }
    }

    /// Who may have pruned the record while this gateway looked.
    fn pruners(&self) -> Pruners {
        match self.retention_of_replicas {
            Some(_) => Pruners::Replicas { outlived: false },
            None => Pruners::Nobody,
        }
    }

    fn pruners_since(&self, kept: &Kept) -> Pruners {
        match self.retention_of_replicas {
            Some(retention) => Pruners::Replicas {
                outlived: SystemClock.now().since(kept.written_at) >= retention,
            },
            None => Pruners::Nobody,
        }
    }

    /// What is kept of a store at other places.
    fn elsewhere(&self, identity: &str) -> Vec<(PathBuf, Kept)> {
        let mut all = self.folder.as_deref().map(file::all).unwrap_or_default();
        all.retain(|(_, kept)| kept.heads.store == identity);
        all
    }

    /// Why the gateway does not start, and what to do.
    pub(crate) fn refusal(&self, gaps: &[Gap]) -> anyhow::Error {
        let folder = self.folder.clone().unwrap_or_default();
        anyhow::anyhow!(
            "the record at `{}` is not the one that was here before\n{}\n  its last heads are kept in `{}`\n\
             help: put the newest copy of the data back and start again. If you restored an older copy, or \
             began anew, on purpose: `provost traces accept-gap` notes that in the record. A copy to try things \
             with: set `PROVOST_STATE` to a folder of its own",
            self.place,
            told(gaps),
            folder.display()
        )
    }
}

impl Known {
    pub(crate) fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Here(kept) | Self::Moved(kept, _) | Self::Elsewhere(kept) => Some(kept),
            Self::Nothing => None,
        }
    }

    /// What the record must be a continuation of.
    pub(crate) fn heads(&self) -> Option<&KeptHeads> {
        self.kept().map(|kept| &kept.heads)
    }
}

/// A line for each.
pub(crate) fn told(gaps: &[Gap]) -> String {
    let lines = gaps.iter().map(|gap| match &gap.chain {
        Some(chain) => format!("  chain {chain}: {}", gap.problem),
        None => format!("  {}", gap.problem),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Of a store that is not there any more.
fn gone(kept: &Kept) -> Gap {
    Gap {
        chain: None,
        problem: format!("the record is gone; it had {} records", kept.records()),
    }
}

/// What a store that cannot be read as it stands lacks of what was kept, if it lacks anything.
pub(crate) fn unopened(kept: &Kept, error: &OpenError) -> Option<Gap> {
    match error {
        OpenError::Missing { .. } => Some(gone(kept)),
        // An older one than was here, and not one of before an upgrade.
        OpenError::OlderSchema { found, .. } if *found < kept.schema => Some(Gap {
            chain: None,
            problem: format!(
                "an older record stands here: it has schema {found}, and before it had {}",
                kept.schema
            ),
        }),
        _ => None,
    }
}

/// Whether no store is there any more. A server may be away for a while, so nobody can tell of its databases.
fn is_gone(place: &str) -> bool {
    let file = place.strip_prefix("sqlite:").map(Path::new);
    file.is_some_and(|file| matches!(file.try_exists(), Ok(false)))
}
