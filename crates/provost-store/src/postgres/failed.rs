//! Writes that failed of late. The probe cannot foresee everything that a real write meets, so what happened to
//! those counts, too.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::ports::StoreError;
use tokio::time::Instant;

/// For so long a failure counts. Whoever is sent no calls because of it would never write again.
const LASTS: Duration = Duration::from_secs(30);

/// The last failure of each kind of write, until one of that kind succeeds.
#[derive(Default)]
pub(super) struct FailedWrites(Mutex<HashMap<&'static str, (Instant, StoreError)>>);

impl FailedWrites {
    pub(super) fn failed(&self, kind: &'static str, error: &StoreError) {
        self.lock().insert(kind, (Instant::now(), error.clone()));
    }

    pub(super) fn succeeded(&self, kinds: impl Iterator<Item = &'static str>) {
        let mut failed = self.lock();
        if failed.is_empty() {
            return;
        }
        for kind in kinds {
            failed.remove(kind);
        }
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        let mut failed = self.lock();
        failed.retain(|_, (at, _)| at.elapsed() < LASTS);
        let error = failed.values().next().map(|(_, error)| error.clone());
        error.map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<&'static str, (Instant, StoreError)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn p12_a_failed_write_counts_until_one_like_it_succeeds() {
        let failed = FailedWrites::default();
        let error = StoreError::Failed("no".into());
        failed.failed("record", &error);
        failed.succeeded(["approval"].into_iter());
        assert!(failed.check().is_err());
        failed.succeeded(["approval", "record"].into_iter());
        assert!(failed.check().is_ok());
        failed.failed("record", &error);
        tokio::time::advance(LASTS).await;
        assert!(failed.check().is_ok(), "nobody may have tried since");
    }
}
