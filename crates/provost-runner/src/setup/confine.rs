//! What a confined agent may reach.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{StartFolder, Unready};
use crate::{
    config::{Config, Confine},
    run::Confined,
    sandbox::{self, Needs, Spec},
    workspace::Confinement,
};

/// A folder of the agent's own, shared with nobody, where it is confined.
pub(super) fn confined(config: &Config) -> Result<Option<Confined>, Unready> {
    if config.sandbox.confine == Confine::Off {
        return Ok(None);
    }
    let folder = tempfile::Builder::new().prefix("provost-run-").tempdir();
    let folder = folder.map_err(Unready::Temporary)?;
    std::fs::create_dir(folder.path().join("tmp")).map_err(Unready::Temporary)?;
    Ok(Some(Confined {
        report: folder.path().join("enforced.json"),
        folder,
    }))
}

pub(super) fn confinement(
    config: &Config,
    launcher: &Path,
    words: &[String],
    start: &StartFolder,
    confined: &Confined,
) -> Result<Confinement, Unready> {
    let own = |name: &str| {
        let at = config.env.get(name).map(OsString::from);
        at.or_else(|| std::env::var_os(name)).map(PathBuf::from)
    };
    let home = own("HOME").unwrap_or_else(|| config.repo.clone());
    let path = own("PATH").unwrap_or_default();
    let program = words.first().map(String::as_str).unwrap_or_default();
    let mut spec = Spec::for_agent(&Needs {
        repo_dir: &config.repo,
        home: &home,
        temp: &confined.temp(),
        command: OsStr::new(program),
        path: path.as_os_str(),
        operator_home: None,
        extra_read_write: &[
            vec![start.own().to_owned()],
            config.sandbox.read_write.clone(),
        ]
        .concat(),
        extra_read_only: &[
            vec![start.path().to_owned()],
            folders(words),
            config.sandbox.read_only.clone(),
        ]
        .concat(),
    });
    spec.strict = config.sandbox.confine == Confine::Required;
    spec.network.clone_from(&config.sandbox.ports);
    spec.report = Some(confined.report.clone());
    let support = sandbox::support();
    if spec.strict && support.abi == 0 {
        let lacking = "Landlock".to_owned();
        return Err(sandbox::Refused::Unsupported { abi: 0, lacking }.into());
    }
    Ok(Confinement {
        launcher: launcher.to_owned(),
        spec,
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
