//! Making the change: shown first, made when somebody agrees, told at the end.

use provost_gateway::secret::Secret;
use serde_json::{Value, json};

use super::{
    Options,
    consent::{self, Consent},
    diff,
    file::{Backup, Content, SettingsFile, remove},
    keyring::{KeyState, Keyring},
    note::{Connection, Note},
    plan::{KeyPlace, Plan, word},
};
use crate::{commands::declared, context::Context, exit::Exit, output};

/// What is to be done, and how it looks.
struct Change<'a> {
    plan: &'a Plan,
    keyring: Keyring,
    key: KeyState,
    file: SettingsFile,
    /// The other file, where it changes, and what it will hold.
    beside: Option<(SettingsFile, String)>,
    diff: String,
}

/// What was done.
struct Done {
    backup: Option<Backup>,
    /// Where the agent's environment has to have it.
    export: Option<Secret>,
}

pub(super) async fn run(context: &Context, plan: &Plan, options: &Options) -> anyhow::Result<Exit> {
    let file = SettingsFile::open(&plan.settings)?;
    file.ensure_meant(plan.agent)?;
    plan.place.ensure_no_link()?;
    // A file that cannot be changed is told before anything else.
    plan.draft(file.text(), "", diff::NEW_KEY)?;
    let beside = beside(plan)?;
    let keyring = Keyring::open(context).await?;
    let key = keyring.look(plan, file.text(), options.replace_key).await?;
    let draft = plan.draft(file.text(), keyring.url(), shown(&key))?;
    // A key that would stand in the settings is needed where they change, and nowhere else.
    let is_asking = draft.is_some() || (plan.asks)(file.text().unwrap_or_default());
    let needs_key = matches!(key, KeyState::New { .. }) && !plan.place.is_settings() && is_asking;
    let is_made = draft.is_none() && beside.is_none() && !needs_key;
    let diff = draft.map(|after| diff::unified(&file.path, file.text(), Some(&after)));
    let mut diff = diff.unwrap_or_default();
    if let Some((file, after)) = &beside {
        diff.push_str(&diff::unified(&file.path, file.text(), Some(after)));
    }
    let change = Change {
        plan,
        keyring,
        key,
        file,
        beside,
        diff,
    };
    if is_made {
        return change.is_made_already(context);
    }
    change.show(context)?;
    if matches!(change.key, KeyState::New { .. }) {
        declared::tell_who_stops(context, change.keyring.client(), &plan.name).await?;
    }
    match consent::ask(context, options).await? {
        Consent::Given => {}
        refused => return change.is_refused(context, refused),
    }
    let done = change.make().await?;
    change.tell(context, &done)?;
    Ok(Exit::Ok)
}

/// The command that takes a connection back: which file it is says all.
fn undoing(plan: &Plan, file: &SettingsFile) -> String {
    let path = word(&file.path.to_string_lossy());
    format!("provost connect {} --settings {path} --undo", plan.agent)
}

fn beside(plan: &Plan) -> anyhow::Result<Option<(SettingsFile, String)>> {
    let Some(beside) = &plan.beside else {
        return Ok(None);
    };
    let file = SettingsFile::open(&beside.path)?;
    let Some(after) = beside.draft(file.text())? else {
        return Ok(None);
    };
    beside.ensure_meant(&file, plan.agent)?;
    Ok(Some((file, after)))
}

impl Change<'_> {
    fn show(&self, context: &Context) -> anyhow::Result<()> {
        if context.json() {
            return Ok(());
        }
        diff::show(&self.diff)?;
        let name = &self.plan.name;
        match self.key {
            KeyState::New { replaces: false } => {
                output::note(format_args!("a key of role agent is made for `{name}`"));
            }
            KeyState::New { replaces: true } => output::note(format_args!(
                "a new key of role agent is made for `{name}`; the old one is locked out"
            )),
            KeyState::Known => output::note(format_args!(
                "the key `{name}` is there already: PROVOST_KEY has to hold it; --replace-key makes a new one"
            )),
            KeyState::Held(_) => {}
        }
        Ok(())
    }

    fn is_made_already(&self, context: &Context) -> anyhow::Result<Exit> {
        if context.json() {
            output::json(&self.report(None))?;
        } else {
            let path = self.file.path.display();
            output::line(match self.key {
                KeyState::New { .. } => format!("nothing to change: `{path}` starts no servers"),
                _ => format!(
                    "nothing to change: `{path}` is connected as `{}`",
                    self.plan.name
                ),
            })?;
        }
        Ok(Exit::Ok)
    }

    fn is_refused(&self, context: &Context, consent: Consent) -> anyhow::Result<Exit> {
        if context.json() {
            output::json(&self.report(None))?;
        }
        consent.tell_refusal();
        Ok(Exit::No)
    }

    async fn make(&self) -> anyhow::Result<Done> {
        let KeyState::New { replaces } = self.key else {
            return self.write(shown(&self.key), None);
        };
        // The first key of an agent ends what agents without one may do, also if it is removed again.
        self.file.ensure_writable()?;
        let secret = self.keyring.make(&self.plan.name, replaces).await?;
        let done = self.write(secret.expose(), Some(&secret));
        if done.is_err() {
            // Nobody holds it. If it stays, the next connection says so.
            let _ = self.keyring.remove(&self.plan.name).await;
            let _ = self.plan.place.file().map(remove);
        }
        done
    }

    /// The key's file first: settings that name a file which is not there would lock the agent out.
    fn write(&self, key: &str, made: Option<&Secret>) -> anyhow::Result<Done> {
        if let Some(path) = self.plan.place.file() {
            Content::private(&format!("{key}\n")).write(path)?;
        }
        if let Some((file, after)) = &self.beside {
            file.change(after)?;
            self.note(file, after)?;
        }
        let after = self.plan.draft(self.file.text(), self.keyring.url(), key)?;
        let backup = after.as_ref().map(|after| self.file.change(after));
        let backup = backup.transpose()?;
        // Without one there is nothing to take back.
        let is_kept = self.file.backup()?.is_some();
        if let Some(written) = after.as_deref().or(self.file.text()).filter(|_| is_kept) {
            self.note(&self.file, written)?;
        }
        let is_exported = self.plan.place == KeyPlace::Environment;
        Ok(Done {
            backup,
            export: made.filter(|_| is_exported).cloned(),
        })
    }

    fn note(&self, file: &SettingsFile, written: &str) -> anyhow::Result<()> {
        let connection = Connection {
            agent: self.plan.agent,
            named: &file.named,
            key: self.plan.key(),
        };
        let found = file.text().unwrap_or_default();
        file.write_note(&Note::new(file.note(), connection, found, written))
    }

    fn tell(&self, context: &Context, done: &Done) -> anyhow::Result<()> {
        if context.json() {
            return output::json(&self.report(Some(done)));
        }
        let agent = self.plan.agent;
        output::line(format_args!(
            "connected {agent} as `{}` in `{}`",
            self.plan.name,
            self.file.path.display()
        ))?;
        if let Some(secret) = &done.export {
            output::note(
                "put this into the environment of whoever works there; it is shown only this once:",
            );
            output::line(format_args!("export PROVOST_KEY={}", secret.expose()))?;
        }
        if let Some(next) = self.plan.next {
            output::note(next);
        }
        if self.plan.agent != "mcp" {
            output::note(
                "a policy for coding agents to begin with: `provost policy example coding-agent`",
            );
        }
        for name in self.other_names() {
            output::note(format_args!(
                "the file was connected as `{name}` before; that key stays until it is taken back"
            ));
        }
        output::note(format_args!(
            "take it back with `{}`",
            undoing(self.plan, &self.file)
        ));
        Ok(())
    }

    /// Under which the file was connected before.
    fn other_names(&self) -> Vec<String> {
        let keys = self.file.note().map(|note| note.keys);
        let names = keys.unwrap_or_default().into_iter().map(|key| key.name);
        names.filter(|name| *name != self.plan.name).collect()
    }

    fn report(&self, done: Option<&Done>) -> Value {
        let is_new = matches!(self.key, KeyState::New { .. });
        let mut report = json!({
            "agent": self.plan.agent,
            "settings": self.file.path,
            "changed": done.is_some(),
            "diff": self.diff,
            "also": self.plan.beside.as_ref().map(|beside| &beside.path),
            "backup": done.and_then(|done| done.backup.as_ref()?.kept()),
            "key": {"name": self.plan.name, "made": is_new && done.is_some()},
        });
        if let Some(path) = self.plan.place.file() {
            insert(&mut report, "file", json!(path));
        }
        if let Some(secret) = done.and_then(|done| done.export.as_ref()) {
            insert(&mut report, "secret", json!(secret.expose()));
        }
        report
    }
}

fn insert(report: &mut Value, name: &str, value: Value) {
    if let Some(key) = report.get_mut("key").and_then(Value::as_object_mut) {
        key.insert(name.to_owned(), value);
    }
}

/// The key, or what stands for it until it is made.
fn shown(key: &KeyState) -> &str {
    match key {
        KeyState::Held(secret) => secret.expose(),
        KeyState::Known | KeyState::New { .. } => diff::NEW_KEY,
    }
}
