//! What the global options come to: which configuration, which data folder, which gateway, which key.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use http::Uri;
use provost_core::{
    policy::PolicySet,
    ports::{Clock as _, SystemClock},
    time::Time,
};
use provost_gateway::{secret::Secret, yaml};

use crate::{
    cli::Global,
    client::{Client, Key},
    config::{self, Config, Loaded, Unreachable},
    exit::usage,
    output,
};

const DEFAULT_FILE: &str = "provost.yaml";
/// In the data folder, of mode 0600: one line, the key.
pub(crate) const ADMIN_KEY: &str = "admin.key";

pub(crate) struct Context {
    pub(crate) global: Global,
    clock: SystemClock,
}

/// Where the gateway listens and keeps its data, as far as can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) listen: SocketAddr,
    pub(crate) data: PathBuf,
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

    /// The file that was named, or the default one where it exists.
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        let default = || Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.exists());
        self.global.config.clone().or_else(default)
    }

    /// The configuration with the options of the command line applied. Its problems are told on stderr;
    /// errors among them end the command.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let Some(path) = self.config_file() else {
            return Ok(self.apply(Config::default()));
        };
        let loaded = config::load(&path);
        let config = Self::accept(&path, &loaded)?;
        Ok(self.apply(config))
    }

    pub(crate) fn policies(&self) -> anyhow::Result<PolicySet> {
        let Some(path) = self.config_file() else {
            return default_policies();
        };
        let mut loaded = config::load(&path);
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

    /// Also for a configuration with errors: a secret that only the gateway knows must not keep people
    /// from reaching it.
    pub(crate) fn place(&self) -> Place {
        let defaults = Config::default();
        let mut place = Place {
            listen: defaults.listen,
            data: defaults.data,
        };
        if let Some(path) = self.config_file() {
            match config::load(&path).config {
                Some(config) => {
                    place = Place {
                        listen: config.listen,
                        data: config.data,
                    }
                }
                None => glance(&path, &mut place),
            }
        }
        Place {
            listen: self.global.listen.unwrap_or(place.listen),
            data: self.global.data.clone().unwrap_or(place.data),
        }
    }

    /// What an agent's hook answers without a gateway; where the configuration cannot be read, no.
    pub(crate) fn unreachable(&self) -> Unreachable {
        let config = self
            .config_file()
            .and_then(|path| config::load(&path).config);
        config.map_or_else(Unreachable::default, |config| config.unreachable)
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        self.client_at(&self.place())
    }

    /// The key of the command line or the environment.
    pub(crate) fn given_key(&self) -> Option<&str> {
        self.global.key.as_ref().map(Secret::expose)
    }

    /// With this key, whatever others are there.
    pub(crate) fn client_as(&self, secret: &str) -> anyhow::Result<Client> {
        self.client_to(&self.gateway_url(&self.place()), secret)
    }

    pub(crate) fn client_to(&self, url: &str, secret: &str) -> anyhow::Result<Client> {
        Ok(Client::new(url, Some(key(secret)?))?.telling(self.global.verbose > 0))
    }

    /// Where the gateway is reached.
    pub(crate) fn url(&self) -> String {
        self.gateway_url(&self.place())
    }

    fn gateway_url(&self, place: &Place) -> String {
        self.global
            .url
            .clone()
            .unwrap_or_else(|| format!("http://{}", reached(place.listen)))
    }

    pub(crate) fn client_at(&self, place: &Place) -> anyhow::Result<Client> {
        let url = self.gateway_url(place);
        let key = match &self.global.key {
            Some(given) => Some(key(given.expose())?),
            // The admin key of this machine is nobody else's to see.
            None if self.global.url.is_none() || is_local(&url) => admin_key(&place.data),
            None => None,
        };
        Ok(Client::new(&url, key)?.telling(self.global.verbose > 0))
    }
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

/// Reads the two settings that matter from a file that is not otherwise usable.
fn glance(path: &Path, place: &mut Place) {
    let Some(file) = fs::read_to_string(path)
        .ok()
        .and_then(|text| yaml::parse(&text).ok())
    else {
        return;
    };
    let text = |name: &str| file.get(name).and_then(serde_json::Value::as_str);
    if let Some(listen) = text("listen").and_then(|text| text.parse().ok()) {
        place.listen = listen;
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    place.data = folder.join(text("data").map_or_else(|| place.data.clone(), PathBuf::from));
}

/// Where to connect to reach what listens there.
pub(crate) fn reached(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn is_local(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.to_canonical().is_loopback())
}

fn admin_key(data: &Path) -> Option<Key> {
    let text = fs::read_to_string(data.join(ADMIN_KEY)).ok()?;
    text.lines()
        .next()
        .filter(|line| !line.trim().is_empty())
        .and_then(Key::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_admin_key_stays_on_this_machine() {
        for (url, local) in [
            ("http://127.0.0.1:9090", true),
            ("http://[::1]:9090/x", true),
            ("http://localhost", true),
            ("https://gate.example.com", false),
            ("http://localhost.example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
    }

    #[test]
    fn a_gateway_on_every_interface_is_reached_on_loopback() {
        for (listen, expected) in [
            ("0.0.0.0:9090", "127.0.0.1:9090"),
            ("[::]:1", "[::1]:1"),
            ("10.1.2.3:9090", "10.1.2.3:9090"),
        ] {
            assert_eq!(reached(listen.parse().unwrap()).to_string(), expected);
        }
    }

    #[test]
    fn a_file_that_lacks_a_secret_still_says_where_the_gateway_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provost.yaml");
        let text = "listen: 127.0.0.1:7777\ndata: d\nauth: {keys: [{name: a, role: agent, key: 'env:NOT_SET_ANYWHERE'}]}\n";
        fs::write(&path, text).unwrap();
        let context = Context::new(Global {
            config: Some(path),
            ..Global::default()
        });
        let place = context.place();
        assert_eq!(place.listen.port(), 7777);
        assert_eq!(place.data, folder.path().join("d"));
    }
}
