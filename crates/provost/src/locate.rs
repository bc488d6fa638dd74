//! Which gateway a command talks to. Nothing that lies in the current folder has a say in it: that folder is
//! often the repository an agent works in, and a key must not go where a file in it points.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use http::Uri;
use provost_core::ids::hex;
use provost_gateway::yaml;
use sha2::{Digest as _, Sha256};

use crate::{
    cli::Global,
    client::ClientError,
    config::{self, Config},
    exit::usage,
    found_key::FoundKey,
    registry::Entry,
    regular_file::read_text,
    user_folder::user_folder,
};

/// Of bytes.
const LARGEST_FILE: u64 = 16 << 20;

pub(crate) const LARGEST_KEY: u64 = 4096;

/// Of characters, in the name of a folder.
const LONGEST_HOST: usize = 100;

/// The gateway a command talks to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) url: String,
    /// Its data folder, where that is known.
    pub(crate) data: Option<PathBuf>,
    /// The configuration it runs on, where that is known.
    pub(crate) config: Option<PathBuf>,
    /// The folder it was started in, where that is known.
    pub(crate) folder: Option<PathBuf>,
    /// The data folder by which commands find it again, and have it prove itself: it is in the registry.
    pub(crate) registered: Option<PathBuf>,
    pub(crate) by: FoundBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundBy {
    /// Somebody said where it is, with `--url` or `--listen`.
    Address,
    /// Its data folder was named, or a configuration that names one, and it is not among those that are known
    /// to run. The address is a guess: whoever answers there has to prove that the folder is theirs.
    Folder,
    /// It is among the gateways that this user has started.
    Registry,
}

/// What a configuration that somebody named says of its gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) path: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) data: PathBuf,
}

/// From what was said, and from those that run.
pub(crate) fn locate(
    global: &Global,
    named: Option<Named>,
    running: &[Entry],
    folder: Option<&Path>,
) -> anyhow::Result<Located> {
    let data = global.data.clone();
    let data = data.or_else(|| named.as_ref().map(|named| named.data.clone()));
    let config = named.as_ref().map(|named| named.path.clone());
    let listen = |listen: SocketAddr| format!("http://{}", reached(listen));
    if let Some(url) = global.url.clone().or_else(|| global.listen.map(listen)) {
        let entry = running
            .iter()
            .find(|entry| is_same_address(&entry.url, &url));
        return Ok(Located {
            data: data.or_else(|| entry.map(|entry| entry.data.clone())),
            config: config.or_else(|| entry?.config.clone()),
            folder: entry.map(|entry| entry.folder.clone()),
            registered: entry.map(|entry| entry.data.clone()),
            // The address that it listens on: a name may lead to another one, and to somebody else there.
            url: entry.map_or(url, |entry| entry.url.clone()),
            by: FoundBy::Address,
        });
    }
    if let Some(data) = data {
        if let Some(entry) = running.iter().find(|entry| is_same(&entry.data, &data)) {
            return Ok(of(entry));
        }
        let address = named.map_or_else(|| Config::default().listen, |named| named.listen);
        return Ok(Located {
            url: listen(address),
            data: Some(data),
            config,
            folder: None,
            registered: None,
            by: FoundBy::Folder,
        });
    }
    one_of(running, folder)
}

/// The only one; or, of several, the one that was started in this very folder.
fn one_of(running: &[Entry], folder: Option<&Path>) -> anyhow::Result<Located> {
    let here = || {
        let mut here = running
            .iter()
            .filter(|entry| folder == Some(entry.folder.as_path()));
        here.next().filter(|_| here.next().is_none())
    };
    match running {
        [] => Err(ClientError::NotRunning.into()),
        [only] => Ok(of(only)),
        several => here().map(of).ok_or_else(|| {
            let lines = several.iter().map(|entry| {
                let (url, data) = (&entry.url, entry.data.display());
                format!("\n  {url}  data {data}")
            });
            usage(format!(
                "several gateways run; say which with --url or --data:{}",
                lines.collect::<String>()
            ))
        }),
    }
}

fn of(entry: &Entry) -> Located {
    Located {
        url: entry.url.clone(),
        data: Some(entry.data.clone()),
        config: entry.config.clone(),
        folder: Some(entry.folder.clone()),
        registered: Some(entry.data.clone()),
        by: FoundBy::Registry,
    }
}

impl Located {
    /// Where only a data folder was named, and no gateway of this user runs with it, there is no address to send a
    /// key to. Whoever planted the folder knows its admin key, and could prove that it is theirs.
    pub(crate) fn ensure_known(&self) -> Result<(), ClientError> {
        if self.by == FoundBy::Folder && self.config.is_none() {
            return Err(ClientError::NotRunning);
        }
        Ok(())
    }

    /// Where `agents/NAME.key` lies for agents of this gateway: beside its data, if it runs on this machine;
    /// otherwise in the user's folder, for this address alone.
    pub(crate) fn keys(&self) -> Option<PathBuf> {
        if let Some(data) = &self.data {
            return Some(data.clone());
        }
        Some(user_folder()?.join("remote").join(file_name(&self.url)?))
    }

    /// It runs with its data folder, and this user has started it.
    pub(crate) fn is_registered(&self) -> bool {
        let folders = self.registered.as_deref().zip(self.data.as_deref());
        folders.is_some_and(|(registered, data)| is_same(registered, data))
    }

    /// There is nothing to have it prove itself with.
    pub(crate) fn unproven(&self) -> ClientError {
        match (self.by, &self.data) {
            (FoundBy::Address, Some(data)) => ClientError::NotTheOne {
                url: self.url.clone(),
                data: data.clone(),
            },
            _ => ClientError::NotRunning,
        }
    }

    /// The key that `provost connect` left for an agent of this gateway.
    pub(crate) fn agent_key(&self, agent: &str) -> Option<FoundKey> {
        if !is_agent_name(agent) {
            return None;
        }
        let file = self.keys()?.join("agents").join(format!("{agent}.key"));
        let secret = read_text(&file, LARGEST_KEY).ok()?;
        // Beside the keys of gateways on other machines there is no data folder, but one folder for each address.
        Some(match self.data {
            Some(_) => FoundKey::of_folder(secret),
            None => FoundKey::given(secret),
        })
    }
}

/// Whether an agent of this name may have a file of this name: one plain component of a path.
pub(crate) fn is_agent_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain)
}

/// The name of a folder for what belongs to the gateway at this URL: its scheme, host, port and path. On one host
/// and port there may be several. The host is there for people, and the hash for the rest: names that differ in a
/// character that no file name has are different gateways.
fn file_name(url: &str) -> Option<String> {
    let uri = url.parse::<Uri>().ok()?;
    let host = uri.host()?.trim_matches(['[', ']']).to_ascii_lowercase();
    let path = uri.path().trim_end_matches('/');
    let whole = format!("{}://{host}:{}{path}", uri.scheme_str()?, port(url)?);
    let hash = hex(&Sha256::digest(whole.as_bytes()));
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let host = host.replace(|c| !plain(c), "_");
    let shown: String = host.chars().take(LONGEST_HOST).collect();
    Some(format!("{shown}_{hash}"))
}

impl Named {
    /// Also of a configuration with errors: a secret that only the gateway knows must not keep people from
    /// reaching it. A file that cannot be read names no gateway at all, and the defaults would name another.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        if let Some(config) = config::load(path).config {
            return Ok(Self {
                path: path.to_owned(),
                listen: config.listen,
                data: config.data,
            });
        }
        let shown = path.display();
        let text = read_text(path, LARGEST_FILE).map_err(|error| {
            usage(format!(
                "the configuration `{shown}` cannot be read: {error}"
            ))
        })?;
        let file = yaml::parse(&text).map_err(|_| {
            let help = format!("`provost check {shown}` says where");
            usage(format!("the configuration `{shown}` is not YAML; {help}"))
        })?;
        let defaults = Config::default();
        let data = match file.get("data").map(|data| data.as_str()) {
            None => defaults.data,
            Some(Some(data)) => PathBuf::from(data),
            Some(None) => return Err(usage(format!("`data` in `{shown}` is not a path"))),
        };
        let listen = file.get("listen").and_then(|listen| listen.as_str());
        let listen = listen.and_then(|text| text.parse().ok());
        Ok(Self {
            path: path.to_owned(),
            listen: listen.unwrap_or(defaults.listen),
            data: path.parent().unwrap_or(Path::new("")).join(data),
        })
    }
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

pub(crate) fn is_local(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The port that a URL leads to.
pub(crate) fn port(url: &str) -> Option<u16> {
    let uri = url.parse::<Uri>().ok()?;
    uri.port_u16().or(match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    })
}

/// Whether a URL leads to the gateway that listens at `entry`, and to nothing that stands before it. `localhost` is
/// whichever loopback address that is.
fn is_same_address(entry: &str, url: &str) -> bool {
    let host = |url: &str| {
        let uri = url.parse::<Uri>().ok()?;
        let host = uri.host()?.trim_end_matches('.').to_ascii_lowercase();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        let address = address.map(|ip: IpAddr| ip.to_canonical().to_string());
        Some(address.unwrap_or(host))
    };
    let is_plain = url
        .parse::<Uri>()
        .is_ok_and(|uri| uri.scheme_str() == Some("http") && uri.path() == "/");
    let (entry_host, url_host) = (host(entry), host(url));
    let is_named = url_host.as_deref() == Some("localhost") && is_local(entry);
    let is_port = port(entry).is_some() && port(entry) == port(url);
    is_plain && is_port && (is_named || (entry_host.is_some() && entry_host == url_host))
}

/// Whether two paths are one folder, behind all links.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    real(one).is_ok_and(|one| real(other).is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use provost_core::time::Time;

    use super::{
        FoundBy::{Address, Folder, Registry},
        *,
    };
    use crate::exit::Usage;

    fn entry(port: u16, data: &str, folder: &str) -> Entry {
        Entry {
            url: format!("http://127.0.0.1:{port}"),
            data: data.into(),
            folder: folder.into(),
            config: None,
            pid: 1,
            started: Time::default(),
        }
    }

    fn found(global: &Global, named: Option<Named>, running: &[Entry]) -> (String, FoundBy) {
        let located = locate(global, named, running, Some(Path::new("/here"))).unwrap();
        let data = located.data.map(|data| data.display().to_string());
        (
            format!("{} {}", located.url, data.unwrap_or_default()),
            located.by,
        )
    }

    #[test]
    fn p06_a_gateway_is_found_by_what_was_said_or_by_the_registry() {
        let one = [entry(7001, "/d1", "/a")];
        let two = [entry(7001, "/d1", "/a"), entry(7002, "/d2", "/here")];
        let named = || {
            Some(Named {
                path: "/etc/provost.yaml".into(),
                listen: "0.0.0.0:8000".parse().unwrap(),
                data: "/d1".into(),
            })
        };
        let none = Global::default;
        let url = |url: &str| Global {
            url: Some(url.to_owned()),
            ..none()
        };
        let data = |data: &str| Global {
            data: Some(data.into()),
            ..none()
        };
        let by = |address: &str, by| (address.to_owned(), by);
        for (global, named, running, expected) in [
            (
                none(),
                None,
                &one[..],
                by("http://127.0.0.1:7001 /d1", Registry),
            ),
            // Of several, the one of this folder.
            (
                none(),
                None,
                &two,
                by("http://127.0.0.1:7002 /d2", Registry),
            ),
            (
                data("/d1"),
                None,
                &two,
                by("http://127.0.0.1:7001 /d1", Registry),
            ),
            (
                data("/d3"),
                None,
                &two,
                by("http://127.0.0.1:9090 /d3", Folder),
            ),
            // Where it really listens counts, not what its file says.
            (
                none(),
                named(),
                &two,
                by("http://127.0.0.1:7001 /d1", Registry),
            ),
            (
                none(),
                named(),
                &[],
                by("http://127.0.0.1:8000 /d1", Folder),
            ),
            (url("http://gate"), None, &two, by("http://gate ", Address)),
            (
                url("http://localhost:7002"),
                None,
                &two,
                by("http://127.0.0.1:7002 /d2", Address),
            ),
        ] {
            assert_eq!(found(&global, named, running), expected, "{global:?}");
        }
    }

    #[test]
    fn p06_an_address_is_a_gateways_only_where_it_listens() {
        let entry = "http://127.0.0.1:7001";
        for (url, same) in [
            ("http://127.0.0.1:7001", true),
            ("http://127.0.0.1:7001/", true),
            ("http://localhost:7001", true),
            ("http://LOCALHOST.:7001", true),
            ("http://[::ffff:127.0.0.1]:7001", true),
            ("http://[::1]:7001", false),
            ("http://127.0.0.2:7001", false),
            ("http://127.0.0.1:7002", false),
            ("http://127.0.0.1:7001/a", false),
            ("https://127.0.0.1:7001", false),
            ("http://localhost.example.com:7001", false),
        ] {
            assert_eq!(is_same_address(entry, url), same, "{url}");
        }
        let other = "http://10.0.0.1:7001";
        assert!(is_same_address(other, other));
        assert!(!is_same_address(other, "http://localhost:7001"));
    }

    #[test]
    fn p06_keys_of_one_host_are_kept_apart() {
        let urls = [
            "http://127.0.0.1:21140",
            "https://127.0.0.1:21140",
            "http://127.0.0.1:21141",
            "http://127.0.0.1:21140/a",
            "http://127.0.0.1:21140/b",
            "http://127.0.0.1:21140/a/b",
            "http://127.0.0.1:21140/a_b",
            "http://[::1]:21140",
            "http://gate-x:21140",
            "http://gate_x:21140",
            "http://gate.x:21140",
        ];
        let names: Vec<_> = urls.iter().map(|url| file_name(url).unwrap()).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name}");
            assert!(!name.contains('/') && name.len() < 200, "{name}");
        }
        let same = file_name("http://127.0.0.1:21140/a/");
        assert_eq!(same.as_deref(), Some(&*names[3]));
        let long = format!("http://127.0.0.1:1/{}", "x/".repeat(500));
        assert!(file_name(&long).unwrap().len() < 200);
    }

    #[test]
    fn p06_a_key_is_found_by_a_plain_name_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("agents")).unwrap();
        for file in ["admin.key", "agents/mcp.key", "agents/.hidden.key"] {
            fs::write(folder.path().join(file), file).unwrap();
        }
        let located = Located {
            url: "http://127.0.0.1:1".to_owned(),
            data: Some(folder.path().to_owned()),
            registered: None,
            config: None,
            folder: None,
            by: Registry,
        };
        let absolute = folder.path().join("admin").display().to_string();
        for (agent, found) in [
            ("mcp", true),
            ("other", false),
            ("../admin", false),
            ("./mcp", false),
            (&*absolute, false),
            (".hidden", false),
            ("", false),
        ] {
            assert_eq!(located.agent_key(agent).is_some(), found, "{agent}");
        }
    }

    #[test]
    fn p06_none_and_several_are_told_apart() {
        let none = locate(&Global::default(), None, &[], None).unwrap_err();
        let none = none.downcast::<ClientError>().unwrap();
        assert_eq!(none.exit(), crate::exit::Exit::Unreachable);
        let two = [entry(7001, "/d1", "/a"), entry(7002, "/d2", "/b")];
        let several = locate(&Global::default(), None, &two, Some(Path::new("/c"))).unwrap_err();
        let several = several.downcast::<Usage>().unwrap().to_string();
        for part in ["http://127.0.0.1:7001", "/d2", "--url"] {
            assert!(several.contains(part), "{several}");
        }
    }

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
        let named = Named::read(&path).unwrap();
        assert_eq!(named.listen.port(), 7777);
        assert_eq!(named.data, folder.path().join("d"));
    }

    #[test]
    fn p06_a_file_that_cannot_be_read_names_no_gateway() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.yaml");
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        for path in [
            missing,
            folder.path().to_owned(),
            path("torn.yaml", "listen: [127.0.0.1:1\n"),
            path("odd.yaml", "data: [a, b]\n"),
        ] {
            let refused = Named::read(&path).unwrap_err();
            assert!(refused.is::<Usage>(), "{}: {refused:#}", path.display());
        }
    }
}
