//! Getting to know the agent and opening its session, with the mode and the model that are wanted.

use std::{path::Path, sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::{Run, login::AuthMethod, stop::Stop};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    acp,
    agents::KNOWN,
    brake::watch,
    config::By,
    report::{Phase, State},
};

/// So long an agent says nothing when it has told all of the past.
const QUIET: Duration = Duration::from_millis(500);
const LONGEST_REPLAY: Duration = Duration::from_secs(30);
const MODE_NOT_AVAILABLE: &str = "mode_not_available";

impl Run {
    pub(super) async fn open(&mut self) -> Result<(), Stop> {
        // An agent that never opens a session is stopped, too.
        self.heed(None);
        let agent = self.initialize().await?;
        self.check_agent(&agent)?;
        self.tell_confinement();
        self.opened = self.session(&agent).await?;
        self.mode(&agent).await?;
        self.model().await?;
        self.set_options().await
    }

    async fn initialize(&mut self) -> Result<Value, Stop> {
        let offers = self.supervised.offers(&self.config);
        let params = json!({
            "protocolVersion": acp::PROTOCOL,
            "clientCapabilities": {
                "fs": {"readTextFile": offers.read, "writeTextFile": offers.write}, "terminal": offers.terminal,
            },
            "clientInfo": {"name": "provost", "title": "Provost", "version": env!("CARGO_PKG_VERSION")},
        });
        let agent = value(self.call("initialize", &params).await?);
        let version = agent.get("protocolVersion");
        if version.and_then(Value::as_u64) != Some(acp::PROTOCOL) {
            let version = version.unwrap_or(&Value::Null);
            return Err(Stop::Failed {
                code: "protocol_version",
                message: format!(
                    "the agent speaks version {version} of ACP, and only {} is spoken here",
                    acp::PROTOCOL
                ),
                data: json!({ "protocolVersion": version }),
            });
        }
        self.auth_methods = AuthMethod::list(&agent);
        let resumes = can_load(&agent) || can_resume(&agent);
        self.journal
            .event(&json!({"agent": agent.get("agentInfo"), "resumes": resumes}));
        Ok(agent)
    }

    /// What the kernel enforces, as the launcher wrote it before it became the agent.
    fn tell_confinement(&self) {
        let Some(confined) = &self.confined else {
            return;
        };
        let report = std::fs::read_to_string(&confined.report).unwrap_or_default();
        match RawValue::from_string(report.trim().to_owned()) {
            Ok(enforced) => {
                self.journal.event(&json!({ "sandbox": &enforced }));
                self.reporter
                    .agent_notification("_provost/sandbox", Some(enforced));
            }
            Err(error) => tracing::warn!(%error, "what is enforced cannot be told"),
        }
    }

    /// A new session, or the one to go on with.
    async fn session(&mut self, agent: &Value) -> Result<Value, Stop> {
        let Some(session) = self.config.session.clone() else {
            let place = self.place(None)?;
            let opened = value(self.opening("session/new", &place).await?);
            let Some(session) = opened.get("sessionId").and_then(Value::as_str) else {
                return Err(Stop::protocol(
                    "session/new",
                    "its answer has no `sessionId`",
                ));
            };
            self.entered(session.to_owned());
            return Ok(opened);
        };
        let place = self.place(Some(&session))?;
        let can_load = can_load(agent);
        self.entered(session.clone());
        if can_resume(agent) {
            match self.opening("session/resume", &place).await {
                Ok(opened) => return Ok(value(opened)),
                Err(Stop::Refused { .. }) if can_load => {}
                Err(stop) => return Err(not_resumed(stop, &session)),
            }
        }
        if !can_load {
            return Err(Stop::Failed {
                code: "session_not_resumable",
                message: format!("the agent can neither resume nor load session `{session}`"),
                data: Value::Null,
            });
        }
        // What it tells of the past is marked as such.
        self.phase = Phase::Replay;
        let opened = self.opening("session/load", &place).await;
        if opened.is_ok() {
            self.hear_replay().await?;
        }
        self.phase = Phase::Live;
        opened
            .map(value)
            .map_err(|stop| not_resumed(stop, &session))
    }

    /// Gemini CLI answers first and repeats the past afterwards. It is over when the agent is quiet: what it did in
    /// an earlier run is not to be taken for something that it does now.
    async fn hear_replay(&mut self) -> Result<(), Stop> {
        let answered = Instant::now();
        while self.heard_at.elapsed() < QUIET && answered.elapsed() < LONGEST_REPLAY {
            self.step().await?;
        }
        Ok(())
    }

    /// Where the session is, and what it has: the servers are passed on as they are written.
    fn place(&self, session: Option<&str>) -> Result<Box<RawValue>, Stop> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Place<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            session_id: Option<&'a str>,
            cwd: &'a Path,
            mcp_servers: &'a RawValue,
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            meta: Option<&'a Value>,
        }
        let none = RawValue::from_string("[]".to_owned());
        let none = none.map_err(|error| Stop::protocol("mcpServers", error.to_string()))?;
        let overlay = &self.supervised.overlay;
        let mut cwd = self.config.repo.clone().into_os_string();
        if overlay.dotted {
            cwd.push("/.");
        }
        let place = Place {
            session_id: session,
            cwd: Path::new(&cwd),
            mcp_servers: self.config.mcp_servers.as_ref().unwrap_or(&none),
            meta: overlay.meta.as_ref(),
        };
        to_raw_value(&place).map_err(|error| Stop::protocol("session", error.to_string()))
    }

    fn entered(&mut self, session: String) {
        self.heed(Some(session.clone()));
        self.reporter.session(&session);
        self.acts.session(&session);
        self.journal.event(&json!({"session": session}));
        let home = self.confined.as_ref().and_then(|one| one.home.as_ref());
        if let Some(home) = home {
            home.remember(&session);
        }
        self.session = Some(session);
    }

    /// Looks from now on whether the gateway wants it to stop.
    fn heed(&mut self, session: Option<String>) {
        if let Some(gateway) = &self.gateway {
            let watching = watch(Arc::clone(gateway), session, self.stop.clone());
            self.watching = Some(AbortOnDropHandle::new(tokio::spawn(watching)));
        }
    }

    /// Sets the mode, and sees that it took: in the wrong one an agent may ask nobody.
    async fn mode(&mut self, agent: &Value) -> Result<(), Stop> {
        let due = self.supervised.mode.map(str::to_owned);
        let wanted = due.or_else(|| self.config.mode.clone());
        match wanted.or_else(|| self.safe_mode(agent)) {
            Some(wanted) => self.set_mode(wanted).await,
            None => Ok(()),
        }
    }

    pub(super) async fn set_mode(&mut self, wanted: String) -> Result<(), Stop> {
        // Between two modes it is in neither.
        let before = self.kept.take();
        let opened = self.opened.clone();
        let known = list(opened.pointer("/modes/availableModes"), "id");
        let option = option_of(&opened, "mode");
        if !known.contains(&wanted) {
            if let Some(option) = option {
                self.set_option(option, &wanted, MODE_NOT_AVAILABLE).await?;
                // What it said while it was set is what it is in.
                self.mode = None;
                self.kept = Some(wanted);
                return Ok(());
            }
            return Err(Stop::Failed {
                code: MODE_NOT_AVAILABLE,
                message: format!("the agent has no mode `{wanted}`, but {}", names(&known)),
                data: json!({"mode": wanted, "available": known}),
            });
        }
        self.check_withdrawn(&known)?;
        // What it said before is no answer to this.
        self.mode = None;
        let current = opened.pointer("/modes/currentModeId");
        // An agent whose mode makes it ask is told so in any case: there is one that says the one mode, and is in
        // another. So is one that was in another since.
        let told = self.supervised.mode.is_some() || before.is_some();
        if !told && current.and_then(Value::as_str) == Some(&wanted) {
            self.kept = Some(wanted);
            return Ok(());
        }
        let session = self.session.clone();
        let params = json!({"sessionId": session, "modeId": wanted});
        self.call("session/set_mode", &params).await?;
        match self.mode.clone() {
            Some(now) if now != wanted => Err(Stop::Failed {
                code: "mode_not_set",
                message: format!("the agent took mode `{wanted}` and is in `{now}`"),
                data: json!({"mode": wanted, "current": now}),
            }),
            _ => {
                self.kept = Some(wanted);
                Ok(())
            }
        }
    }

    /// Of an agent that only tells now which one it is: one in which it asks. Codex would ask a reviewer of its
    /// own.
    fn safe_mode(&self, agent: &Value) -> Option<String> {
        let known = KNOWN.into_iter().find(|profile| profile.is(agent));
        let asks = self.config.permissions.by != By::Auto;
        let mode = known.and_then(|profile| profile.modes.first());
        mode.filter(|_| asks).map(|mode| (*mode).to_owned())
    }

    /// An overlay is for one agent, and does nothing for another.
    fn check_agent(&self, agent: &Value) -> Result<(), Stop> {
        match self.supervised.profile {
            Some(profile) if self.supervised.mode.is_some() && !profile.is(agent) => {
                let said = agent
                    .pointer("/agentInfo/name")
                    .cloned()
                    .unwrap_or_default();
                Err(Stop::Failed {
                    code: "agent_mismatch",
                    message: format!(
                        "this was started as {}, and says that it is {said}: name it with `agent`",
                        profile.title
                    ),
                    data: json!({"expected": profile.name, "agentInfo": agent.get("agentInfo")}),
                })
            }
            _ => Ok(()),
        }
    }

    /// A mode that the overlay takes away shows whether the overlay was understood.
    fn check_withdrawn(&self, modes: &[String]) -> Result<(), Stop> {
        let Some(profile) = self.supervised.mode.and(self.supervised.profile) else {
            return Ok(());
        };
        let kept = profile
            .withdrawn
            .filter(|mode| modes.iter().any(|known| known == mode));
        match kept {
            Some(mode) => Err(Stop::Failed {
                code: "not_supervised",
                message: format!(
                    "{} still offers its mode `{mode}`, so it did not take what makes it ask: is it older than {}?",
                    profile.title, profile.version
                ),
                data: json!({"mode": mode, "available": modes}),
            }),
            None => Ok(()),
        }
    }

    async fn model(&mut self) -> Result<(), Stop> {
        match self.config.model.clone() {
            Some(wanted) => self.set_model(&wanted).await,
            None => Ok(()),
        }
    }

    pub(super) async fn set_model(&mut self, wanted: &str) -> Result<(), Stop> {
        let Some(option) = option_of(&self.opened, "model").cloned() else {
            return Err(Stop::Failed {
                code: "model_not_available",
                message: format!("the agent lets nobody choose a model: `{wanted}` cannot be set"),
                data: json!({ "model": wanted }),
            });
        };
        self.set_option(&option, wanted, "model_not_available")
            .await
    }

    pub(super) async fn set_option(
        &mut self,
        option: &Value,
        wanted: &str,
        code: &'static str,
    ) -> Result<(), Stop> {
        let current =
            |option: &Value| option.get("currentValue").and_then(Value::as_str) == Some(wanted);
        // Later, what it said of its options when it began may be old.
        let begins = self.state == State::Starting;
        if current(option) && begins && code != MODE_NOT_AVAILABLE {
            return Ok(());
        }
        let id = option.get("id").cloned().unwrap_or_default();
        let params = json!({"sessionId": self.session, "configId": id, "value": wanted});
        let answer = match self.call("session/set_config_option", &params).await {
            Ok(answer) => value(answer),
            Err(Stop::Refused { error, .. }) => {
                let known = values(option);
                return Err(Stop::Failed {
                    code,
                    message: format!(
                        "the agent refuses `{wanted}` ({error}): it has {}",
                        names(&known)
                    ),
                    data: json!({"wanted": wanted, "available": known}),
                });
            }
            Err(stop) => return Err(stop),
        };
        self.notice_options(&answer);
        let options = answer.get("configOptions").and_then(Value::as_array);
        let after =
            options.and_then(|options| options.iter().find(|after| after.get("id") == Some(&id)));
        match after {
            Some(after) if !current(after) => Err(Stop::Failed {
                code,
                message: format!("the agent took `{wanted}`, and it did not stay"),
                data: json!({"wanted": wanted, "current": after.get("currentValue")}),
            }),
            _ => Ok(()),
        }
    }
}

impl Run {
    /// The agent's options, whenever it says what they are now.
    pub(super) fn notice_options(&mut self, told: &Value) {
        if let (Some(options), Some(opened)) =
            (told.get("configOptions"), self.opened.as_object_mut())
        {
            opened.insert("configOptions".to_owned(), options.clone());
        }
    }
}

fn can_load(agent: &Value) -> bool {
    can(agent, "/agentCapabilities/loadSession")
}

fn can_resume(agent: &Value) -> bool {
    can(agent, "/agentCapabilities/sessionCapabilities/resume")
}

fn can(agent: &Value, pointer: &str) -> bool {
    agent
        .pointer(pointer)
        .is_some_and(|can| !can.is_null() && *can != Value::Bool(false))
}

fn not_resumed(stop: Stop, session: &str) -> Stop {
    match stop {
        Stop::Refused { error, .. } => Stop::Failed {
            code: "session_not_resumable",
            message: format!("session `{session}` cannot be gone on with: {error}"),
            data: json!(error),
        },
        stop => stop,
    }
}

fn value(raw: Option<Box<RawValue>>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

fn option_of<'a>(opened: &'a Value, category: &str) -> Option<&'a Value> {
    acp::option(opened.get("configOptions")?, category)
}

/// The values of an option, of its groups as well.
pub(super) fn values(option: &Value) -> Vec<String> {
    let options = option.get("options").and_then(Value::as_array);
    let options = options.map(Vec::as_slice).unwrap_or_default();
    let inner = options.iter().filter_map(|group| group.get("options"));
    let mut found = list(option.get("options"), "value");
    found.extend(inner.flat_map(|options| list(Some(options), "value")));
    found
}

fn list(values: Option<&Value>, field: &str) -> Vec<String> {
    let values = values.and_then(Value::as_array).map(Vec::as_slice);
    let texts = values.unwrap_or_default().iter();
    let texts = texts.filter_map(|value| value.get(field)?.as_str());
    texts.map(str::to_owned).collect()
}

pub(super) fn names(known: &[String]) -> String {
    if known.is_empty() {
        return "none that it names".to_owned();
    }
    known.join(", ")
}
