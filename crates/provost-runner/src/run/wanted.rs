//! What is set before a prompt of a session: its mode, its model and the agent's own options.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{CANCELLED, Run, open::values, session::UNREADABLE, stop::Stop};
use crate::inbox::Inbox;

/// Categories of options that do not change what the agent asks about.
const HARMLESS: [&str; 2] = ["model", "thought_level"];
const NOT_AVAILABLE: &str = "option_not_available";

/// What is set before a prompt.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) mode: Option<String>,
    pub(super) model: Option<String>,
    pub(super) options: BTreeMap<String, String>,
    /// Why the prompt cannot be sent at all.
    pub(super) problem: Option<String>,
}

impl Run {
    /// Sets what the prompt wants. What may not be set is found before the agent is told anything.
    pub(super) async fn set_wanted(&mut self) -> Result<(), Stop> {
        let taken_back = self.config.keep.as_ref();
        let taken_back =
            taken_back.is_some_and(|keep| Inbox::at(&keep.prompts).is_cancelled(self.number));
        if taken_back {
            return Err(Stop::Complete {
                reason: CANCELLED.to_owned(),
                usage: None,
            });
        }
        let wanted = std::mem::take(&mut self.wanted);
        if let Some(message) = wanted.problem {
            return Err(Stop::NotSent {
                code: UNREADABLE,
                message,
                data: Value::Null,
            });
        }
        let mode = wanted.mode.filter(|mode| self.kept.as_ref() != Some(mode));
        if let Some(mode) = &mode {
            self.check_mode(mode)?;
        }
        let mut options = Vec::new();
        for (id, value) in &wanted.options {
            options.push((self.option(id, value)?, value));
        }
        if let Some(mode) = mode {
            self.change_mode(mode.clone()).await?;
            self.was_set(&json!({ "mode": mode }));
        }
        if let Some(model) = wanted.model {
            self.set_model(&model).await.map_err(Stop::not_sent)?;
            self.was_set(&json!({ "modelId": model }));
            self.config.model = Some(model);
        }
        for (option, value) in options {
            let set = self.set_option(&option, value, NOT_AVAILABLE).await;
            set.map_err(Stop::not_sent)?;
            let id = option.get("id").and_then(Value::as_str).unwrap_or_default();
            self.was_set(&json!({"options": {id: value}}));
        }
        Ok(())
    }

    /// Whoever resumes the session sets it again: agents forget it.
    fn was_set(&self, what: &Value) {
        self.journal.event(&json!({ "set": what }));
    }

    /// The options of a session that is resumed.
    pub(super) async fn set_options(&mut self) -> Result<(), Stop> {
        for (id, value) in self.config.options.clone() {
            let option = self.option(&id, &value)?;
            self.set_option(&option, &value, NOT_AVAILABLE).await?;
        }
        Ok(())
    }

    /// A mode that the agent refuses leaves it in the one before, and the session goes on. One that says it is in
    /// yet another mode may ask nobody.
    async fn change_mode(&mut self, mode: String) -> Result<(), Stop> {
        let (kept, said) = (self.kept.clone(), self.mode.take());
        let Err(stop) = self.set_mode(mode).await else {
            return Ok(());
        };
        let now = match &stop {
            Stop::Failed { data, .. } => data.get("current").and_then(Value::as_str),
            _ => None,
        };
        let elsewhere = [now, self.mode.as_deref()].into_iter().flatten();
        let elsewhere = elsewhere
            .filter(|now| Some(*now) != kept.as_deref())
            .count();
        if elsewhere > 0 {
            return Err(stop);
        }
        self.mode = self.mode.take().or(said);
        self.kept = kept;
        Err(stop.not_sent())
    }

    /// Where nobody may act undecided, only modes in which the agent is known to ask are taken.
    fn check_mode(&self, mode: &str) -> Result<(), Stop> {
        let refused = |message: String| {
            Err(Stop::NotSent {
                code: "mode_not_available",
                message,
                data: json!({ "mode": mode }),
            })
        };
        match (self.supervised.mode, self.supervised.profile) {
            (Some(_), Some(profile)) => match profile.mode(Some(mode)) {
                Ok(_) => Ok(()),
                Err(message) => refused(message),
            },
            _ if self.config.permissions.by.is_strict() => refused(format!(
                "it is not known whether this agent asks in mode `{mode}`, so it stays in the mode that it began in"
            )),
            _ => Ok(()),
        }
    }

    fn option(&self, id: &str, value: &str) -> Result<Value, Stop> {
        let refused = |message: String| Stop::NotSent {
            code: NOT_AVAILABLE,
            message,
            data: json!({"option": id, "value": value}),
        };
        let known = self.opened.get("configOptions").and_then(Value::as_array);
        let known = known.map(Vec::as_slice).unwrap_or_default();
        let name = |option: &Value| option.get("id")?.as_str().map(str::to_owned);
        let Some(option) = known
            .iter()
            .find(|option| name(option).as_deref() == Some(id))
        else {
            let names: Vec<_> = known.iter().filter_map(name).collect();
            return Err(refused(format!(
                "the agent has no option `{id}`: it has {}",
                super::open::names(&names)
            )));
        };
        let category = option.get("category").and_then(Value::as_str);
        let harmless = category.is_some_and(|category| HARMLESS.contains(&category));
        if self.config.permissions.by.is_strict() && !harmless {
            return Err(refused(format!(
                "the option `{id}` may change what the agent asks about: only its model and how much it thinks \
                 can be set, and its `mode`"
            )));
        }
        let values = values(option);
        if !values.iter().any(|known| known == value) {
            return Err(refused(format!(
                "the option `{id}` has no value `{value}`, but {}",
                super::open::names(&values)
            )));
        }
        Ok(option.clone())
    }
}
