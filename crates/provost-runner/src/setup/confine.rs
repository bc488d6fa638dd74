//! What a confined agent may reach, and what its environment is.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{StartFolder, Surroundings, Unready};
use crate::{
    agents::{Environment, Profile},
    config::{Config, Confine, Home},
    home::AgentHome,
    run::Confined,
    sandbox::{self, Needs, Possible, Spec, UnixSockets, find_toolchains},
    workspace::Confinement,
};

/// Variables that lead to sockets of this user's programs, or to what they would be used with.
const TO_SOCKETS: [&str; 17] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "TMUX",
    "STY",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
];

/// Variables that name certificates, which programs need wherever they are.
const CERTIFICATES: [&str; 6] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
];

/// The folders of a confined agent's own, and the variables that lead there.
pub(super) async fn confined(
    config: &Config,
    agent: Option<&'static Profile>,
    around: &Surroundings,
    theirs: &Environment,
) -> Result<Option<Confined>, Unready> {
    if config.sandbox.confine == Confine::Off {
        return Ok(None);
    }
    let folder = tempfile::Builder::new().prefix("provost-run-").tempdir();
    let folder = folder.map_err(Unready::Temporary)?;
    std::fs::create_dir(folder.path().join("tmp")).map_err(Unready::Temporary)?;
    let possible = possible(&around.launcher).await;
    let terminals = possible.terminals;
    let mut confined = Confined {
        possible,
        report: folder.path().join("enforced.json"),
        folder,
        home: None,
        variables: Vec::new(),
        without: Vec::new(),
        readable: Vec::new(),
    };
    if config.sandbox.unix_sockets == UnixSockets::Deny {
        confined.without.extend(TO_SOCKETS);
    }
    let home = match config.env.get("HOME") {
        Some(given) => Home::At(given.into()),
        None => config.sandbox.home.clone(),
    };
    let operators = operators_home(theirs);
    if let Some(operators) = &operators
        && home != Home::Operator
    {
        if operators.starts_with(&config.repo) {
            return Err(Unready::RepoIsHome(config.repo.clone()));
        }
        bring_toolchains(&mut confined, config, operators, theirs);
    }
    match home {
        Home::Operator => {}
        Home::At(path) => confined.variables.push(("HOME", path.into())),
        Home::Own => {
            let (homes, session) = (around.homes.as_deref(), config.session.as_deref());
            let own = AgentHome::open(homes, agent, session, theirs, terminals)?;
            confined.variables.push(("HOME", own.path().into()));
            confined.without.extend(own.without());
            confined.home = Some(own);
        }
    }
    Ok(Some(confined))
}

/// Of whoever starts the run, where there is one.
fn operators_home(theirs: &Environment) -> Option<PathBuf> {
    let home = theirs.inherited.get(OsStr::new("HOME"))?;
    let home = Path::new(home).canonicalize().ok()?;
    (home != Path::new("/")).then_some(home)
}

fn bring_toolchains(
    confined: &mut Confined,
    config: &Config,
    home: &Path,
    environment: &Environment,
) {
    let named = config.sandbox.toolchains.as_deref();
    let path = environment.get("PATH").unwrap_or_default();
    let found = find_toolchains(named, home, &path, |name| environment.path(name));
    confined.readable = found.readable;
    let variables = found.variables.into_iter();
    let variables = variables.map(|(name, path)| (name, path.into_os_string()));
    confined.variables.extend(variables);
}

/// What the agent's environment is before its overlay.
pub(super) fn environment(confined: Option<&Confined>, theirs: Environment) -> Environment {
    let own = confined.and_then(|confined| confined.home.as_ref());
    own.map_or_else(|| theirs.clone(), |home| home.environment(&theirs))
}

pub(super) fn confinement(
    config: &Config,
    launcher: &Path,
    words: &[String],
    start: &StartFolder,
    confined: &Confined,
    environment: &Environment,
) -> Result<Confinement, Unready> {
    let home = confined.variables.iter().find(|(name, _)| *name == "HOME");
    let home = home.map(|(_, home)| PathBuf::from(home));
    let home = home.or_else(|| environment.path("HOME"));
    let home = home.unwrap_or_else(|| config.repo.clone());
    let operators: Option<PathBuf> = std::env::var_os("HOME").map(PathBuf::from);
    let path = environment.get("PATH").unwrap_or_default();
    let certificates = CERTIFICATES
        .iter()
        .filter_map(|name| environment.path(name));
    let certificates = certificates
        .filter(|path| path.exists() && !opens(path, operators.as_deref()))
        .collect();
    let program = words.first().map(String::as_str).unwrap_or_default();
    let mut spec = Spec::for_agent(&Needs {
        repo_dir: &config.repo,
        home: &home,
        temp: &confined.temp(),
        command: OsStr::new(program),
        path: &path,
        operator_home: operators.as_deref().filter(|home| *home != Path::new("/")),
        extra_read_write: &[
            vec![start.own().to_owned()],
            config.sandbox.read_write.clone(),
        ]
        .concat(),
        extra_read_only: &[
            vec![start.path().to_owned()],
            folders(words),
            confined.readable.clone(),
            certificates,
            config.sandbox.read_only.clone(),
        ]
        .concat(),
    });
    spec.strict = config.sandbox.confine == Confine::Required;
    spec.network.clone_from(&config.sandbox.ports);
    spec.unix_sockets = config.sandbox.unix_sockets;
    spec.report = Some(confined.report.clone());
    spec.terminals = confined.possible.terminals;
    if spec.strict && confined.possible.support.abi == 0 {
        let lacking = "Landlock".to_owned();
        return Err(sandbox::Refused::Unsupported { abi: 0, lacking }.into());
    }
    Ok(Confinement {
        launcher: launcher.to_owned(),
        spec,
    })
}

/// Whether a path has a home in it.
fn opens(path: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(path))
}

/// A launcher that cannot be tried has no terminals to give; what else is wrong with it shows when it is used.
async fn possible(launcher: &Path) -> Possible {
    let probed = sandbox::probe(launcher).await;
    probed.unwrap_or_else(|error| {
        tracing::warn!(%error, "the agent has no terminals");
        Possible::untried()
    })
}

/// Where the scripts are that the agent's program is given: `node /opt/agent/dist/index.js`. Of a package of
/// npm, all that is installed beside it.
fn folders(words: &[String]) -> Vec<PathBuf> {
    let scripts = words.iter().skip(1).map(Path::new);
    let scripts = scripts.filter(|path| path.is_absolute() && path.is_file());
    let scripts = scripts.filter_map(|path| path.canonicalize().ok());
    scripts.filter_map(|path| installed(&path)).collect()
}

fn installed(script: &Path) -> Option<PathBuf> {
    let modules = script
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    modules.or(script.parent()).map(Path::to_owned)
}

/// The variables of a confined command, given to `set` one by one.
pub(super) fn variables(confined: &Confined) -> Vec<(&'static str, OsString)> {
    let mut variables = confined.variables.clone();
    variables.push(("TMPDIR", confined.temp().into()));
    variables
}
