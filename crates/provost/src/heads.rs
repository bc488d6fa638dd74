//! The second place of the record: the heads of its chains, in a file of the user's folder.
//!
//! The file is named after the place of the store, so that another store at the same place is noticed. A
//! store that was moved is known by its identity, and so is a copy of one.

mod file;
mod keep;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use provost_core::{
    ports::{Store, StoreError},
    trace::kept::{Gap, KeptHeads},
};
use provost_store::{OpenError, StoreConfig};

pub(crate) use self::{
    file::{Kept, Unreadable},
    keep::{Keeper, follow},
};
use crate::user_folder::user_folder;

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
    /// `None`: this user has no folder.
    folder: Option<PathBuf>,
}

/// What was kept of a store.
pub(crate) enum Known {
    Nothing,
    Here(KeptHeads),
    /// The store was at another place, which is empty now: what was kept in the file of that place.
    Moved(KeptHeads, PathBuf),
    /// The store that this one is a copy of still stands there.
    Copied(String),
}

impl Heads {
    pub(crate) fn of(store: &StoreConfig) -> anyhow::Result<Self> {
        let place = store.place();
        Ok(Self {
            place: place.map_err(|error| anyhow::anyhow!("{error}; {}", error.help()))?,
            folder: user_folder().map(|folder| folder.join(FOLDER)),
        })
    }

    /// The file of this store.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.join(file::name(&self.place)))
    }

    pub(crate) fn read(&self) -> Result<Option<Kept>, Unreadable> {
        self.file().map_or(Ok(None), |file| file::read(&file))
    }

    /// Replaces the file whole. Blocks.
    pub(crate) fn write(&self, heads: &KeptHeads) -> anyhow::Result<()> {
        let file = self.file().context(NO_FOLDER)?;
        let written = file::write(&file, &self.place, heads);
        written.map_err(|error| anyhow::anyhow!("{UNWRITABLE}: {error}"))
    }

    /// Before the store is opened, and perhaps made or changed by that: whether it lacks what was here.
    pub(crate) async fn look_before(&self, config: &StoreConfig) -> anyhow::Result<()> {
        let Some(kept) = self.read()? else {
            return Ok(());
        };
        let store = match provost_store::open_for_reading(config).await {
            Ok(store) => store,
            Err(OpenError::Missing { .. }) => return Err(self.refusal(&[gone(&kept)])),
            // Opening it tells what is wrong with it.
            Err(_) => return Ok(()),
        };
        let gaps = kept.heads.gaps(&*store).await;
        store.close().await;
        match gaps {
            Ok(gaps) if !gaps.is_empty() => Err(self.refusal(&gaps)),
            _ => Ok(()),
        }
    }

    /// What was kept of the store that stands here now.
    pub(crate) async fn known(&self, store: &dyn Store) -> anyhow::Result<Known> {
        if let Some(kept) = self.read()? {
            return Ok(Known::Here(kept.heads));
        }
        let identity = store.identity().await?;
        let (gone, standing): (Vec<_>, Vec<_>) = self
            .elsewhere(&identity)
            .into_iter()
            .partition(|(_, kept)| is_gone(&kept.place));
        // A copy that stands somewhere must not hide how far the original had come.
        let furthest = gone.into_iter().max_by_key(|(_, kept)| kept.records());
        Ok(match (furthest, standing.into_iter().next()) {
            (Some((file, kept)), _) => Known::Moved(kept.heads, file),
            (None, Some((_, kept))) => Known::Copied(kept.place),
            (None, None) => Known::Nothing,
        })
    }

    /// What is kept of a store at other places.
    fn elsewhere(&self, identity: &str) -> Vec<(PathBuf, Kept)> {
        let mut all = self.folder.as_deref().map(file::all).unwrap_or_default();
        all.retain(|(_, kept)| kept.heads.store == identity);
        all
    }

    /// Why the gateway does not start, and what to do.
    pub(crate) fn refusal(&self, gaps: &[Gap]) -> anyhow::Error {
        let file = self.file().unwrap_or_default();
        anyhow::anyhow!(
            "the record at `{}` is not the one that was here before\n{}\n  its last heads are kept in `{}`\n\
             help: put the newest copy of the data back and start again. If you restored an older copy, or \
             began anew, on purpose: `provost traces accept-gap` notes that in the record",
            self.place,
            told(gaps),
            file.display()
        )
    }
}

impl Known {
    /// What the record must be a continuation of.
    pub(crate) fn heads(&self) -> Option<&KeptHeads> {
        match self {
            Self::Here(heads) | Self::Moved(heads, _) => Some(heads),
            Self::Nothing | Self::Copied(_) => None,
        }
    }

    pub(crate) async fn gaps(&self, store: &dyn Store) -> Result<Vec<Gap>, StoreError> {
        match self.heads() {
            Some(heads) => heads.gaps(store).await,
            None => Ok(Vec::new()),
        }
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
pub(crate) fn gone(kept: &Kept) -> Gap {
    Gap {
        chain: None,
        problem: format!("the record is gone; it had {} records", kept.records()),
    }
}

/// Whether no store is there any more. A server may be away for a while, so nobody can tell of its databases.
fn is_gone(place: &str) -> bool {
    let file = place.strip_prefix("sqlite:").map(Path::new);
    file.is_some_and(|file| matches!(file.try_exists(), Ok(false)))
}
