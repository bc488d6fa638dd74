//! The prompts that follow in a run whose session stays: taken in, kept on disk for its runner, and taken back.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, PoisonError},
};

use provost_core::{ids::hex, time::Time};
use provost_runner::inbox::{Followup, NotAdded};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::to_raw_value};
use sha2::{Digest as _, Sha256};

use super::{
    Fleet, Refused, Run,
    request::{LONGEST_NAME, LONGEST_PROMPT, prompt_size, prompt_text},
    story::{Prompt, State},
};

/// What a prompt may say.
pub const PROMPT_FIELDS: [&str; 5] = ["prompt", "promptId", "mode", "modelId", "options"];
/// Prompts of one run that may wait for their turn.
const MOST_WAITING: usize = 20;
/// And that it may have in all.
const MOST_PROMPTS: usize = 200;
const MOST_OPTIONS: usize = 20;

/// Who wrote a prompt, and by what the same request is known again. Beside the prompt, for the gateway alone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    digest: String,
}

/// A prompt as people read it.
#[derive(Clone, Debug)]
pub struct PromptView {
    pub prompt: Prompt,
    pub text: String,
    pub by: String,
    pub answer: Option<String>,
}

impl Fleet {
    /// Adds a prompt to a session that stays. It is on disk when this comes back; `true`: it was before.
    pub async fn prompt(
        self: &Arc<Self>,
        run: &Arc<Run>,
        body: Map<String, Value>,
        by: String,
        key: Option<String>,
    ) -> Result<(Prompt, bool), Refused> {
        let (fleet, adding) = (Arc::clone(self), Arc::clone(run));
        let added =
            tokio::task::spawn_blocking(move || fleet.add_prompt(&adding, &body, by, key)).await;
        let added = added.map_err(io::Error::other)??;
        self.changed();
        Ok(added)
    }

    fn add_prompt(
        &self,
        run: &Run,
        body: &Map<String, Value>,
        by: String,
        key: Option<String>,
    ) -> Result<(Prompt, bool), Refused> {
        let digest = hex(&Sha256::digest(Value::Object(body.clone()).to_string()));
        let mut followup = self.read_prompt(run, body)?;
        let _door = run.door.lock().unwrap_or_else(PoisonError::into_inner);
        run.find_prompts(self.gate.now());
        let story = run.story();
        if let Some(key) = &key
            && let Some((number, origin)) = run.known_prompt(key, &by)
        {
            let before = story.prompts.iter().find(|prompt| prompt.number == number);
            return match before {
                Some(before) if origin.digest == digest => Ok((before.clone(), true)),
                _ => Err(Refused::KeyReused("prompt")),
            };
        }
        if run.record.keep.is_none() {
            return Err(Refused::NotKept);
        }
        if story.has_ended() {
            return Err(Refused::Ended);
        }
        if story.waiting() >= MOST_WAITING || story.prompts.len() >= MOST_PROMPTS {
            return Err(Refused::PromptsFull(story.waiting()));
        }
        let number = run.last_number() + 1;
        if followup.prompt_id.is_empty() {
            followup.prompt_id = format!("{}-p{number}", run.record.id);
        }
        let id = followup.prompt_id.clone();
        if story.prompts.iter().any(|one| one.prompt_id == id) {
            return Err(Refused::bad(format!(
                "`promptId` `{id}` is of another prompt of this run"
            )));
        }
        // First: what is in the inbox without it is found there.
        let origin = Origin {
            by: by.clone(),
            key,
            digest,
        };
        run.folder.write_origin(number, &origin)?;
        match run.folder.inbox().add(number, &followup) {
            Ok(()) => {}
            Err(NotAdded::Closed) => return Err(Refused::Ended),
            Err(NotAdded::Broken(error)) => return Err(error.into()),
        }
        run.note_queued(self.gate.now(), number, &id, &by);
        let prompt = Prompt {
            number,
            prompt_id: id,
            ..Prompt::default()
        };
        Ok((prompt, false))
    }

    /// Every problem at once.
    fn read_prompt(&self, run: &Run, body: &Map<String, Value>) -> Result<Followup, Refused> {
        let mut problems = Vec::new();
        if let Some(unknown) = body
            .keys()
            .find(|name| !PROMPT_FIELDS.contains(&name.as_str()))
        {
            problems.push(format!(
                "unknown field `{unknown}`: known are {}",
                PROMPT_FIELDS.join(", ")
            ));
        }
        let mut text = |name: &str| match body.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if !text.trim().is_empty() && text.len() <= LONGEST_NAME => {
                Some(text.clone())
            }
            Some(_) => {
                problems.push(format!("`{name}` is a text of 1 to {LONGEST_NAME} bytes"));
                None
            }
        };
        let (prompt_id, mode, model_id) = (text("promptId"), text("mode"), text("modelId"));
        let options = body.get("options").cloned().unwrap_or_else(|| json!({}));
        let options: Option<BTreeMap<String, String>> = serde_json::from_value(options).ok();
        let options = options.filter(|options| {
            let fits = |text: &String| text.len() <= LONGEST_NAME;
            options.len() <= MOST_OPTIONS
                && options.iter().all(|(id, value)| fits(id) && fits(value))
        });
        if options.is_none() {
            problems.push(
                "`options` is an object of texts: the agent's options by their ids".to_owned(),
            );
        }
        let agent = self.settings.agents.get(&run.record.agent);
        let fixed = agent.and_then(|agent| agent.mode.as_ref());
        if let (Some(fixed), Some(mode)) = (fixed, &mode)
            && fixed != mode
        {
            problems.push(format!("`mode` is `{fixed}` for this agent, and no other"));
        }
        let prompt = body.get("prompt").unwrap_or(&Value::Null);
        if prompt_size(Some(prompt)) > LONGEST_PROMPT {
            problems.push(format!("`prompt` has more than {LONGEST_PROMPT} bytes"));
        }
        let followup = Followup {
            prompt_id: prompt_id.unwrap_or_default(),
            prompt: to_raw_value(prompt).map_err(io::Error::from)?,
            mode,
            model_id,
            options: options.unwrap_or_default(),
        };
        if followup.content().is_none() {
            problems.push("`prompt` is a text, or a list of content blocks".to_owned());
        }
        if problems.is_empty() {
            Ok(followup)
        } else {
            Err(Refused::Bad(problems))
        }
    }

    /// Ends the turn of a prompt, or takes back one that waits. The session stays. `None`: there is no such prompt.
    pub async fn cancel_prompt(
        self: &Arc<Self>,
        run: &Arc<Run>,
        id: &str,
        by: &str,
    ) -> Result<Option<Prompt>, Refused> {
        if run.record.keep.is_none() {
            return Err(Refused::NotKept);
        }
        let story = run.story();
        let found = story.prompts.iter().find(|one| one.prompt_id == id);
        let Some((number, state)) = found.map(|prompt| (prompt.number, prompt.state)) else {
            return Ok(None);
        };
        if state.is_end() {
            return Err(Refused::PromptEnded(state));
        }
        let (noting, by) = (Arc::clone(run), by.to_owned());
        let now = self.gate.now();
        let told = tokio::task::spawn_blocking(move || {
            noting.folder.inbox().cancel(number)?;
            noting.note(
                now,
                &json!({"prompt": {"number": number, "cancelledBy": by}}),
            );
            io::Result::Ok(())
        });
        told.await.map_err(io::Error::other)??;
        self.changed();
        let story = run.story();
        Ok(story.prompts.into_iter().find(|one| one.number == number))
    }
}

impl Run {
    /// What its session was asked and answered, in order. Reads files.
    pub fn prompts(&self) -> Vec<PromptView> {
        let story = self.story();
        let prompts = story.prompts.into_iter();
        prompts.map(|prompt| self.prompt_view(prompt)).collect()
    }

    fn prompt_view(&self, prompt: Prompt) -> PromptView {
        let answer = prompt.place.and_then(|place| self.answer_at(place));
        if prompt.number == 1 {
            return PromptView {
                text: self.prompt(),
                by: self.record.created_by.clone(),
                answer,
                prompt,
            };
        }
        let followup = self.folder.inbox().prompt(prompt.number).ok().flatten();
        let text = followup.and_then(|one| serde_json::from_str(one.prompt.get()).ok());
        let by = self.folder.origin(prompt.number).map(|origin| origin.by);
        PromptView {
            text: prompt_text(text.as_ref()),
            by: by.unwrap_or_default(),
            answer,
            prompt,
        }
    }

    /// What the agent answered last.
    pub fn answer(&self) -> Option<String> {
        let story = self.story();
        let place = story.prompts.iter().rev().find_map(|prompt| prompt.place);
        self.answer_at(place?)
    }

    /// Prompts that a gateway kept and did not live to tell of.
    pub(super) fn find_prompts(&self, now: Time) {
        let inbox = self.folder.inbox();
        for number in self.last_number() + 1.. {
            let Ok(Some(found)) = inbox.prompt(number) else {
                return;
            };
            let by = self.folder.origin(number).map(|origin| origin.by);
            self.note_queued(now, number, &found.prompt_id, &by.unwrap_or_default());
        }
    }

    fn note_queued(&self, now: Time, number: u64, id: &str, by: &str) {
        let queued = json!({"number": number, "promptId": id, "state": State::Queued, "by": by});
        self.note(now, &json!({ "prompt": queued }));
    }

    fn last_number(&self) -> u64 {
        let story = self.story();
        let numbers = story.prompts.iter().map(|prompt| prompt.number);
        numbers.max().unwrap_or(1)
    }

    fn known_prompt(&self, key: &str, by: &str) -> Option<(u64, Origin)> {
        (2..=self.last_number()).find_map(|number| {
            let origin = self.folder.origin(number)?;
            (origin.key.as_deref() == Some(key) && origin.by == by).then_some((number, origin))
        })
    }
}
