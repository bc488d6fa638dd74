//! Whether the store takes writes, asked with a deadline.
//!
//! A store that hangs keeps the question for as long as it hangs, so one is under way at a time and whoever
//! else wants to know waits for the same answer: probes never pile up in the store's queue.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use provost_core::{
    ports::{QueueDepth, Store, StoreError},
    time::format_duration,
};
use tokio::{sync::watch, time::Instant};

/// How long a store may take that works.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What was answered within this time is repeated to those who ask for more than that: each question writes.
const FRESH: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct StoreProbe {
    latest: Mutex<Option<Asked>>,
    failing: Arc<AtomicBool>,
}

#[derive(Clone)]
struct Asked {
    at: Instant,
    answer: watch::Receiver<Option<Answer>>,
}

/// Why the store is no use, in words for everybody.
type Answer = Result<(), String>;

impl StoreProbe {
    /// An answer that came within the last `age` counts, and so does a question that is under way.
    pub(crate) async fn ask(&self, store: &Arc<dyn Store>, age: Duration) -> Answer {
        let mut asked = self.asked(store, age);
        let answered = asked.answer.wait_for(Option::is_some);
        let answer = match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(answer)) => answer.clone(),
            Ok(Err(_)) => None,
            Err(_) => Some(Err(format!(
                "the store has not answered for {}",
                format_duration(asked.at.elapsed())
            ))),
        };
        let answer = answer.unwrap_or_else(|| Err("the store was not asked to the end".into()));
        if let Err(why) = &answer
            && !self.failing.swap(true, Ordering::Relaxed)
        {
            tracing::error!(why, "the store does not take writes, so every answer is no");
        }
        answer
    }

    /// How much waits, where the store takes writes.
    pub(crate) async fn queue(&self, store: &Arc<dyn Store>) -> Result<QueueDepth, String> {
        self.ask(store, FRESH).await?;
        match tokio::time::timeout(PATIENCE, store.queue_depth()).await {
            Ok(queue) => queue.map_err(|error| explain(&error)),
            Err(_) => Err("the store does not answer".to_owned()),
        }
    }

    fn asked(&self, store: &Arc<dyn Store>, age: Duration) -> Asked {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asked) = &*latest
            && (asked.answer.borrow().is_none() && asked.answer.has_changed().is_ok()
                || asked.at.elapsed() < age)
        {
            return asked.clone();
        }
        let (tell, answer) = watch::channel(None);
        let (store, failing) = (store.clone(), self.failing.clone());
        tokio::spawn(async move {
            let answer = probe(&*store).await;
            if answer.is_ok() {
                failing.store(false, Ordering::Relaxed);
            }
            // Nobody may wait for it any more.
            let _ = tell.send(Some(answer));
        });
        latest
            .insert(Asked {
                at: Instant::now(),
                answer,
            })
            .clone()
    }
}

async fn probe(store: &dyn Store) -> Answer {
    store.ready().await.map_err(|error| explain(&error))
}

fn explain(error: &StoreError) -> String {
    match error {
        StoreError::Lost(words) => words.to_string(),
        StoreError::Closed => "this gateway is going down".to_owned(),
        StoreError::Failed(_) | StoreError::Corrupt(_) => {
            tracing::error!(%error, "the store failed a probe");
            "the store takes no writes; the gateway's log says why".to_owned()
        }
    }
}
