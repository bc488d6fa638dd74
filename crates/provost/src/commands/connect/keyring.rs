//! The keys of the gateway, as whoever connects an agent needs them.

use anyhow::Context as _;
use http::StatusCode;
use provost_gateway::secret::Secret;
use serde_json::{Value, json};

use super::{
    diff::secrets,
    file::Content,
    plan::{KeyPlace, Plan},
};
use crate::{
    cli::Global,
    client::{Client, ClientError, Key, Target},
    commands::view::{items, some_text, text},
    context::Context,
};

/// The role of all keys made here.
const AGENT: &str = "agent";

pub(super) struct Keyring {
    client: Client,
    /// As the gateway lists them.
    keys: Value,
}

/// How an agent comes by its key.
#[derive(Debug)]
pub(super) enum KeyState {
    /// The key stands where the agent finds it.
    Held(Secret),
    /// The gateway knows it, and the agent's environment has to.
    Known,
    New {
        replaces: bool,
    },
}

impl Keyring {
    pub(super) async fn open(context: &Context) -> anyhow::Result<Self> {
        match Self::with(context.client()?).await {
            // PROVOST_KEY may be an agent's, as connecting a shared project asks for.
            Err(error) if is_forbidden(&error) && context.global.key.is_some() => {
                let global = Global {
                    key: None,
                    ..context.global.clone()
                };
                let client = Context::new(global).client()?;
                let keyring = Self::with(client).await.map_err(|_| error);
                Ok(keyring?)
            }
            opened => Ok(opened?),
        }
    }

    async fn with(client: Client) -> Result<Self, ClientError> {
        let keys = client.get(Target::new("/keys")).await?.body;
        Ok(Self { client, keys })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn url(&self) -> &str {
        self.client.url()
    }

    /// What is to be done about the key of a plan; `settings` is the text of its file.
    pub(super) async fn look(
        &self,
        plan: &Plan,
        settings: Option<&str>,
        replace: bool,
    ) -> anyhow::Result<KeyState> {
        let role = self.role(&plan.name);
        let exists = role.is_some();
        if let Some(role) = role.filter(|role| *role != AGENT) {
            anyhow::bail!(
                "`{}` is the name of a key of role {role}; give the agent another with --name",
                plan.name
            );
        }
        if replace || !exists {
            return Ok(KeyState::New { replaces: exists });
        }
        for secret in candidates(&plan.place, settings)? {
            if self.accepts(secret.expose()).await? {
                return Ok(KeyState::Held(secret));
            }
        }
        anyhow::ensure!(
            plan.place == KeyPlace::Environment,
            "there is a key named `{0}` already, and its secret is not shown again; --replace-key makes a \
             new one and locks out whoever holds the old one, --name makes one of another name",
            plan.name
        );
        Ok(KeyState::Known)
    }

    pub(super) async fn make(&self, name: &str, replaces: bool) -> anyhow::Result<Secret> {
        if replaces {
            self.remove(name).await?;
        }
        let body = json!({"name": name, "role": AGENT});
        let made = self.client.post(Target::new("/keys"), &body).await?.body;
        let secret =
            some_text(&made, "key").context("the gateway made a key and did not show it")?;
        Ok(secret.into())
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), ClientError> {
        let target = Target::new("/keys").step(name);
        self.client.delete(target).await.map(drop)
    }

    pub(super) fn has_agent(&self, name: &str) -> bool {
        self.role(name) == Some(AGENT)
    }

    fn role(&self, name: &str) -> Option<&str> {
        let mut keys = items(&self.keys).iter();
        let key = keys.find(|key| text(key, "name") == name)?;
        Some(text(key, "role"))
    }

    /// Whether somebody with this key may come in.
    async fn accepts(&self, secret: &str) -> anyhow::Result<bool> {
        let Some(key) = Key::new(secret) else {
            return Ok(false);
        };
        let agent = self.client.with_key(key);
        match agent.get(Target::new("/tools")).await {
            Ok(_) => Ok(true),
            Err(error) if error.refusal().is_some() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_forbidden(error: &ClientError) -> bool {
    error
        .refusal()
        .is_some_and(|refusal| refusal.status == StatusCode::FORBIDDEN)
}

/// What stands where the agent looks for its key.
fn candidates(place: &KeyPlace, settings: Option<&str>) -> anyhow::Result<Vec<Secret>> {
    let mut text = String::new();
    if place.is_settings() {
        text.push_str(settings.unwrap_or_default());
    }
    if let Some(path) = place.file() {
        let content = Content::read(path);
        let content = content.with_context(|| format!("cannot read `{}`", path.display()))?;
        text.push_str(content.as_ref().map_or("", |content| &content.text));
    }
    let mut found: Vec<_> = secrets(&text).collect();
    found.dedup();
    Ok(found.into_iter().map(Secret::from).collect())
}
