//! How a run is taken in: checked, kept, and put at the end of the queue.

use std::{
    io,
    sync::{Arc, PoisonError},
};

use provost_core::{call::Call, ids::TraceId};
use serde_json::{Map, Value, json};

use super::{
    Fleet, PREFIX, Record, Refused, Run,
    folder::{Folder, Idempotency},
    request::{self, Wanted},
};

impl Fleet {
    /// Takes a run in. It is on disk when this comes back; `true`: it was before.
    pub async fn submit(
        self: &Arc<Self>,
        body: Map<String, Value>,
        by: String,
        key: Option<String>,
    ) -> Result<(Arc<Run>, bool), Refused> {
        let fleet = Arc::clone(self);
        let taken = tokio::task::spawn_blocking(move || fleet.take_in(body, by, key)).await;
        let taken = taken.map_err(io::Error::other)??;
        self.changed();
        self.next();
        Ok(taken)
    }

    fn take_in(
        &self,
        body: Map<String, Value>,
        by: String,
        key: Option<String>,
    ) -> Result<(Arc<Run>, bool), Refused> {
        let mut wanted = request::read(&self.settings, &self.data, body)?;
        let _door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &key
            && let Some(before) = self.known_by(key, &by)
        {
            let same = before.record.idempotency.as_ref();
            let same = same.is_some_and(|given| given.digest == wanted.digest);
            return if same {
                Ok((before, true))
            } else {
                Err(Refused::KeyReused("run"))
            };
        }
        let (running, waiting) = self.counts();
        // Together, because one that was taken in just now is not started yet.
        if running + waiting >= self.settings.concurrency + self.settings.queue {
            return Err(Refused::Full(waiting));
        }
        self.check_stops(&wanted)?;
        self.continue_session(&mut wanted)?;
        let run = self.keep(wanted, by, key)?;
        let mut inner = self.inner();
        inner.runs.insert(run.record.id.clone(), Arc::clone(&run));
        inner.queue.push_back(Arc::clone(&run));
        drop(inner);
        Ok((run, false))
    }

    fn known_by(&self, key: &str, by: &str) -> Option<Arc<Run>> {
        let inner = self.inner();
        let mut runs = inner.runs.values();
        let same = |run: &&Arc<Run>| {
            let given = run.record.idempotency.as_ref();
            given.is_some_and(|given| given.key == key) && run.record.created_by == by
        };
        runs.find(same).cloned()
    }

    /// A session that has a name goes on where the last run of that name ended.
    fn continue_session(&self, wanted: &mut Wanted) -> Result<(), Refused> {
        let Some(name) = wanted.session.clone() else {
            return Ok(());
        };
        let Some(before) = self.session(&name) else {
            return Ok(());
        };
        let (record, story) = (&before.record, before.story());
        if record.agent != wanted.agent || record.repo_dir != wanted.repo {
            return Err(Refused::bad(format!(
                "the session `{name}` is of agent `{}` in {}: choose another name for another one",
                record.agent,
                record.repo_dir.display()
            )));
        }
        if !story.has_ended() {
            let run = record.id.clone();
            return Err(Refused::SessionOpen { name, run });
        }
        match story.session_id {
            Some(_) if !story.resumes => Err(Refused::bad(format!(
                "the agent of session `{name}` cannot go on with a session that has ended: choose another name to \
                 begin anew"
            ))),
            Some(id) => {
                wanted.request.insert("sessionId".to_owned(), id.into());
                Ok(())
            }
            // It never came to one.
            None => Ok(()),
        }
    }

    /// The newest run of a session that has a name.
    pub fn session(&self, name: &str) -> Option<Arc<Run>> {
        let inner = self.inner();
        let mut runs = inner.runs.values().rev();
        runs.find(|run| run.record.session.as_deref() == Some(name))
            .cloned()
    }

    /// What is stopped is not even begun.
    fn check_stops(&self, wanted: &Wanted) -> Result<(), Refused> {
        let call = Call {
            agent: format!("{PREFIX}{}", wanted.agent).into(),
            session: None,
            tool: "".into(),
            params: Map::new(),
        };
        match self.gate.control().stop_for(&call) {
            Some(stop) => Err(Refused::Stopped(stop.to_string())),
            None => Ok(()),
        }
    }

    fn keep(&self, wanted: Wanted, by: String, key: Option<String>) -> Result<Arc<Run>, Refused> {
        let now = self.gate.now();
        let trace = TraceId::at(now);
        let id = format!("run_{}", trace.as_str().get(..24).unwrap_or_default());
        let record = Record {
            id: id.clone(),
            agent: wanted.agent,
            prompt: wanted.prompt,
            repo_dir: wanted.repo,
            task_id: wanted.task_id,
            created_at: now,
            created_by: by,
            limits: request::limits_of(&wanted.limits),
            keep: wanted.keep,
            session: wanted.session,
            idempotency: key.map(|key| Idempotency {
                key,
                digest: wanted.digest,
            }),
        };
        let folder = Folder::at(self.place().join(&id));
        folder.make()?;
        folder.write("request.json", &wanted.request)?;
        let first = json!({"number": 1, "promptId": record.id, "state": "queued"});
        let queued =
            json!({"queued": {"by": record.created_by, "agent": record.agent}, "prompt": first});
        folder.append(&json!({"at": now.millis(), "event": queued}))?;
        // Last: a folder without it is none of ours.
        folder.write("record.json", &record)?;
        let run = Run::new(record, folder);
        run.catch_up()?;
        Ok(Arc::new(run))
    }
}
