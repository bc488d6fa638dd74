//! What is kept of the record outside the store, and how that fares. Whoever starts the gateway keeps it;
//! here it is for those who ask.

use std::sync::{Mutex, PoisonError};

use provost_core::{
    ports::{Store, StoreError},
    time::Time,
    trace::kept::{Gap, KeptHeads, Pruners},
};
use serde::Serialize;

#[derive(Default)]
pub struct KeptRecord(Mutex<State>);

#[derive(Clone, Default)]
struct State {
    heads: Option<(KeptHeads, Pruners)>,
    standing: RecordStanding,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct RecordStanding {
    /// When the heads were last written to their second place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<Time>,
    /// Why they are not. The words name no path: everybody may read them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// Why the record cannot be held against them. The words name no path, either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_read: Option<String>,
    /// How the record differs from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

impl KeptRecord {
    /// `pruners`: who may prune the record beside this gateway.
    pub fn set(&self, heads: KeptHeads, pruners: Pruners, standing: RecordStanding) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State {
            heads: Some((heads, pruners)),
            standing,
        };
    }

    pub fn standing(&self) -> RecordStanding {
        self.state().standing
    }

    /// Where the record is not a continuation of what was kept. `None`: nothing was.
    pub(crate) async fn gaps(&self, store: &dyn Store) -> Result<Option<Vec<Gap>>, StoreError> {
        let Some((mut heads, pruners)) = self.state().heads else {
            return Ok(None);
        };
        loop {
            let gaps = heads.gaps(store, pruners).await?;
            // This gateway may have pruned the record meanwhile, and said so in newer heads.
            match self.state().heads {
                Some((newer, _)) if !gaps.is_empty() && newer != heads => heads = newer,
                _ => return Ok(Some(gaps)),
            }
        }
    }

    /// Since when its heads are kept.
    pub(crate) fn kept_since(&self) -> Option<Time> {
        self.state().heads?.0.since
    }

    fn state(&self) -> State {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.clone()
    }
}
