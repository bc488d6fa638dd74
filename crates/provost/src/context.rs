//! What the global options come to: which configuration, which gateway, which key.
//!
//! `provost.yaml` of the current folder is read by the commands that are about that file: `serve`, `check`,
//! `policy` and `doctor`. What talks to a gateway takes nothing from it.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use provost_core::{
    policy::PolicySet,
    ports::{Clock as _, SystemClock},
    time::Time,
};
use provost_gateway::secret::Secret;

use crate::{
    cli::Global,
    client::{Client, ClientError, Key},
    config::{self, Config, Loaded, Unreachable, Unset},
    exit::usage,
    found_key::FoundKey,
    locate::{FoundBy, LARGEST_KEY, Located, Named, is_local, is_same, locate},
    output,
    registry::{self, RegistryError},
    regular_file::read_regular,
};

pub(crate) const DEFAULT_FILE: &str = "provost.yaml";
/// In the data folder, of mode 0600: one line, the key.
pub(crate) const ADMIN_KEY: &str = "admin.key";

pub(crate) struct Context {
    pub(crate) global: Global,
    clock: SystemClock,
}

impl Context {
    pub(crate) fn new(mut global: Global) -> Self {
        // An empty variable of the environment is as good as none.
        let is_set = |path: &PathBuf| !path.as_os_str().is_empty();
        global.config = global.config.filter(is_set);
        global.data = global.data.filter(is_set);
        global.url = global.url.filter(|url| !url.trim().is_empty());
        global.key = global.key.filter(|key| !key.expose().trim().is_empty());
        Self {
            global,
            clock: SystemClock,
        }
    }

    pub(crate) fn json(&self) -> bool {
        self.global.json
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// The file that was named, or the one in this folder where it exists. Not for what talks to a gateway.
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        let default = || Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists());
        self.global.config.clone().or_else(default)
    }

    /// Where a configuration would be looked for, whole.
    pub(crate) fn default_config_file() -> PathBuf {
        std::path::absolute(DEFAULT_FILE).unwrap_or_else(|_| DEFAULT_FILE.into())
    }

    /// The configuration that somebody named, with the options of the command line applied. Its problems are
    /// told on stderr; errors among them end the command.
    pub(crate) fn named_config(&self) -> anyhow::Result<Option<Config>> {
        let Some(path) = &self.global.config else {
            return Ok(None);
        };
        let loaded = config::load(path);
        let config = Self::accept(path, &loaded)?;
        Ok(Some(self.apply(config)))
    }

    /// What `provost serve` would start with here.
    pub(crate) fn config_to_serve(&self) -> anyhow::Result<Config> {
        let Some(path) = self.config_file() else {
            return Ok(self.apply(Config::default()));
        };
        let loaded = config::load(&path);
        let config = Self::accept(&path, &loaded)?;
        Ok(self.apply(config))
    }

    /// The configuration of a gateway that does not run, to read its record: of the file that was named, or
    /// of the data folder that was.
    pub(crate) fn config_of_record(&self) -> anyhow::Result<Config> {
        if let Some(config) = self.named_config()? {
            return Ok(config);
        }
        if self.global.data.is_none() {
            return Err(ClientError::NoRecord.into());
        }
        Ok(self.apply(Config::default()))
    }

    pub(crate) fn policies(&self) -> anyhow::Result<PolicySet> {
        let Some(path) = self.config_file() else {
            return default_policies();
        };
        // Policies are the same without the secrets of the gateway.
        let mut loaded = config::load_to_check(&path, Unset::Warning);
        Self::accept(&path, &loaded)?;
        loaded
            .policy_set()
            .context("the policies could not be compiled")
    }

    fn accept(path: &Path, loaded: &Loaded) -> anyhow::Result<Config> {
        if let Some(config) = &loaded.config {
            return Ok(config.clone());
        }
        let errors: Vec<_> = loaded
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .cloned()
            .collect();
        output::note(config::render(&errors, false).trim_end());
        anyhow::bail!(
            "`{}` has errors; `provost check` tells when they are gone",
            path.display()
        )
    }

    pub(crate) fn apply(&self, mut config: Config) -> Config {
        if let Some(listen) = self.global.listen {
            config.listen = listen;
        }
        if let Some(data) = &self.global.data {
            config.data.clone_from(data);
        }
        config
    }

    /// Whether somebody said which data folder that is, or named the file beside which it lies. What `provost.yaml`
    /// of the current folder says of another one counts: it names commands to run, too.
    pub(crate) fn is_data_named(&self, config: &Config) -> bool {
        let is_said = self.global.data.is_some() || self.global.config.is_some();
        is_said || !is_same(&config.data, &Config::default().data)
    }

    /// What an agent's hook answers without a gateway: as the configuration on its command line says, and otherwise
    /// no.
    pub(crate) fn unreachable(&self) -> Unreachable {
        let file = self.global.config.as_deref();
        unreachable_of(file.filter(|_| self.global.is_config_typed))
    }

    /// The gateway that is meant.
    pub(crate) fn gateway(&self) -> anyhow::Result<Located> {
        self.refuse_relative_variables()?;
        let named = self.global.config.as_deref().map(Named::read).transpose()?;
        let folder = env::current_dir().ok();
        let (running, unknown) = match registry::running() {
            Ok(running) => (running, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let located = locate(&self.global, named, &running, folder.as_deref());
        if let (Err(_), Some(error)) = (&located, unknown) {
            tell_unknown(&error);
        }
        located
    }

    /// A path in the environment holds for every folder: a relative one would lead into whichever a command
    /// is started in.
    pub(crate) fn refuse_relative_variables(&self) -> anyhow::Result<()> {
        for (name, path) in [
            ("PROVOST_CONFIG", &self.global.config),
            ("PROVOST_DATA", &self.global.data),
        ] {
            let Some(path) = path.as_ref().filter(|path| path.is_relative()) else {
                continue;
            };
            if env::var_os(name).is_some_and(|value| value == *path.as_os_str()) {
                return Err(usage(format!(
                    "{name} is `{}`, which is another file in every folder; write an absolute path",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        self.client_at(&self.gateway()?)
    }

    /// To the gateway that runs with this data folder, where one does. The folder is a file's word, and what the
    /// file says of an address does not count: whoever answers has to prove that the folder is theirs, also where
    /// somebody named the address.
    pub(crate) fn client_of_folder(&self, data: &Path) -> Option<Client> {
        let global = Global {
            data: Some(data.to_owned()),
            config: None,
            ..self.global.clone()
        };
        let located = Self::new(global).gateway().ok()?;
        if located.by == FoundBy::Folder {
            return None;
        }
        if let Some(given) = self.given_key() {
            return self.client_as(&located, &FoundKey::given(given)).ok();
        }
        let may_have_it = self.global.url.is_none() || is_local(&located.url);
        let data = located.data.filter(|_| may_have_it)?;
        let admin_key = admin_key(&data)?;
        let secret = admin_key.expose();
        self.proven_client(&located.url, secret, &data, &admin_key)
            .ok()
    }

    /// The key of the command line or the environment.
    pub(crate) fn given_key(&self) -> Option<&str> {
        self.global.key.as_ref().map(Secret::expose)
    }

    /// With this key, whatever others are there.
    pub(crate) fn client_as(&self, located: &Located, key: &FoundKey) -> anyhow::Result<Client> {
        located.ensure_known()?;
        let url = &located.url;
        let secret = key.expose();
        if located.by == FoundBy::Address && (self.global.is_pair_typed || !key.is_of_folder()) {
            return self.client_to(url, secret);
        }
        let admin_key = located.data.as_deref().and_then(admin_key);
        match (&located.data, admin_key) {
            (Some(data), Some(admin_key)) => self.proven_client(url, secret, data, &admin_key),
            // It is alive, and nobody but its owner can have put it into the registry.
            _ if located.is_registered() => self.client_to(url, secret),
            // The key lies in a folder for this address alone.
            (None, _) => self.client_to(url, secret),
            (Some(_), None) => Err(located.unproven().into()),
        }
    }

    pub(crate) fn client_to(&self, url: &str, secret: &str) -> anyhow::Result<Client> {
        Ok(Client::new(url, Some(key(secret)?))?.telling(self.global.verbose > 0))
    }

    fn proven_client(
        &self,
        url: &str,
        secret: &str,
        data: &Path,
        admin_key: &Secret,
    ) -> anyhow::Result<Client> {
        let client = Client::proven_by(data, admin_key, url, key(secret)?)?;
        Ok(client.telling(self.global.verbose > 0))
    }

    pub(crate) fn client_at(&self, located: &Located) -> anyhow::Result<Client> {
        if let Some(given) = self.given_key() {
            return self.client_as(located, &FoundKey::given(given));
        }
        located.ensure_known()?;
        let url = &located.url;
        // The admin key of this machine is nobody else's to see.
        let may_have_it = self.global.url.is_none() || is_local(url);
        let data = located.data.as_deref().filter(|_| may_have_it);
        let Some((data, admin_key)) = data.and_then(|data| Some((data, admin_key(data)?))) else {
            if located.by == FoundBy::Folder {
                return Err(ClientError::NotRunning.into());
            }
            return Ok(Client::new(url, None)?.telling(self.global.verbose > 0));
        };
        let secret = admin_key.expose();
        // Who types both says that they belong together: the port may be a forwarded one.
        if self.global.is_pair_typed {
            return self.client_to(url, secret);
        }
        self.proven_client(url, secret, data, &admin_key)
    }
}

/// What hooks answer without a gateway, as this file says. Where it cannot be read, no.
pub(crate) fn unreachable_of(file: Option<&Path>) -> Unreachable {
    let config = file.and_then(|path| config::load(path).config);
    config.map_or_else(Unreachable::default, |config| config.unreachable)
}

fn tell_unknown(error: &RegistryError) {
    output::note(format_args!(
        "the list of running gateways is not used: {error}"
    ));
}

fn key(secret: &str) -> anyhow::Result<Key> {
    Key::new(secret).ok_or_else(|| usage("the key holds characters that no key has"))
}

fn default_policies() -> anyhow::Result<PolicySet> {
    PolicySet::compile(Config::default().policies).map_err(|errors| {
        anyhow::anyhow!(
            "the embedded policies: {}",
            errors.into_iter().map(|e| e.message).collect::<String>()
        )
    })
}

fn admin_key(data: &Path) -> Option<Secret> {
    let text = read_regular(&data.join(ADMIN_KEY), LARGEST_KEY).ok()?;
    let text = String::from_utf8(text).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty() && Key::new(line).is_some()).then(|| line.into())
}
