//! What a coding agent needs to reach in order to work: its repository, its home, a temporary folder, and
//! the programs of the machine, but not the home of whoever runs it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Spec;

/// Devices without memory, which programs expect to open.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// The machine's programs and settings. Other processes' secrets in `/proc` stay hidden: from inside a
/// sandbox, and without root's privileges, the kernel lets nobody look into a process outside.
const SYSTEM: [&str; 16] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/snap",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/current-system",
    "/var/lib/ca-certificates",
];

/// What is known about an agent that is to be confined.
#[derive(Clone, Copy, Debug)]
pub struct Needs<'a> {
    pub repo_dir: &'a Path,
    /// The agent's `HOME`, which it may write: give it one of its own, not the operator's.
    pub home: &'a Path,
    /// The agent's `TMPDIR`, shared with nobody.
    pub temp: &'a Path,
    /// The agent's program, by name or by path.
    pub command: &'a OsStr,
    /// The agent's `PATH`.
    pub path: &'a OsStr,
    /// Of the operator: no default opens what this home is in.
    pub operator_home: Option<&'a Path>,
    pub extra_read_write: &'a [PathBuf],
    pub extra_read_only: &'a [PathBuf],
}

impl Spec {
    /// Strict, with the network left alone and no Unix sockets. Of the defaults, only what exists is named; what the operator
    /// adds is named as it is, so that the report tells what is missing.
    pub fn for_agent(needs: &Needs<'_>) -> Self {
        let mut read_write: Vec<_> = [needs.repo_dir, needs.home, needs.temp]
            .map(Path::to_path_buf)
            .into();
        read_write.extend(existing(&DEVICES));
        read_write.extend_from_slice(needs.extra_read_write);

        let system = existing(&SYSTEM).filter(|path| !opens_a_home(path, needs));
        let mut read_only: BTreeSet<_> = system.collect();
        read_only.extend(Path::new("/etc/resolv.conf").canonicalize());
        let on_path = std::env::split_paths(needs.path).chain(programs(needs));
        read_only.extend(on_path.filter(|path| path.is_dir() && !opens_a_home(path, needs)));
        read_only.extend(needs.extra_read_only.iter().cloned());
        Self {
            read_write,
            read_only: read_only.into_iter().collect(),
            strict: true,
            ..Self::default()
        }
    }
}

fn existing(paths: &[&'static str]) -> impl Iterator<Item = PathBuf> {
    paths.iter().map(PathBuf::from).filter(|path| path.exists())
}

/// The folders that the agent's program and `node` are installed in.
fn programs(needs: &Needs<'_>) -> Vec<PathBuf> {
    [needs.command, OsStr::new("node")]
        .into_iter()
        .filter_map(|program| find(program, needs.path))
        .flat_map(|program| installation(&program))
        .collect()
}

/// As a command of this process would be found.
pub fn find_program(program: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find(program, &path).filter(|program| program.is_file())
}

fn find(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program));
    }
    std::env::split_paths(path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// Where a program's own files are: its folder before and after links, and the packages beside it. A
/// program in `bin` may have a whole home above it, so what is above is not taken as it is.
fn installation(program: &Path) -> Vec<PathBuf> {
    let real = program.canonicalize().ok();
    let modules = real.as_deref().and_then(node_modules);
    let folders = [Some(program), real.as_deref()]
        .into_iter()
        .flatten()
        .filter_map(Path::parent)
        .flat_map(|folder| {
            let beside = folder.with_file_name("lib").join("node_modules");
            [folder.to_path_buf(), beside]
        });
    folders.chain(modules).collect()
}

/// The outermost `node_modules` above a file: packages find each other there.
fn node_modules(file: &Path) -> Option<PathBuf> {
    file.ancestors()
        .filter(|above| above.ends_with("node_modules"))
        .last()
        .map(Path::to_path_buf)
}

/// Whether reading all of `path` would be reading a home, or a relative path that could be anything.
fn opens_a_home(path: &Path, needs: &Needs<'_>) -> bool {
    let real = path.canonicalize();
    let real = real.as_deref().unwrap_or(path);
    let homes = [Some(needs.home), needs.operator_home];
    !path.is_absolute()
        || real == Path::new("/home")
        || homes.into_iter().flatten().any(|home| {
            let real_home = home.canonicalize();
            real_home.as_deref().unwrap_or(home).starts_with(real)
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn needs<'a>(land: &'a Path, path: &'a OsStr, command: &'a OsStr) -> Needs<'a> {
        Needs {
            repo_dir: Path::new("/repo"),
            home: Path::new("/agent"),
            temp: Path::new("/agent-tmp"),
            command,
            path,
            operator_home: Some(land),
            extra_read_write: &[],
            extra_read_only: &[],
        }
    }

    /// An operator's home with an agent that npm installed in it.
    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let package = home.path().join(".npm/lib/node_modules/@acp/agent/dist");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::create_dir_all(home.path().join(".npm/bin")).unwrap();
        std::fs::write(package.join("index.js"), "").unwrap();
        let link = home.path().join(".npm/bin/agent");
        symlink("../lib/node_modules/@acp/agent/dist/index.js", link).unwrap();
        home
    }

    #[test]
    fn an_agent_reaches_its_packages_and_not_the_home_around_them() {
        let home = home();
        let at = |path: &str| home.path().canonicalize().unwrap().join(path);
        let path =
            std::env::join_paths([at(".npm/bin"), at(""), "/".into(), "bin".into()]).unwrap();
        let operator_home = at("");
        let spec = Spec::for_agent(&needs(&operator_home, &path, OsStr::new("agent")));
        for reached in [".npm/bin", ".npm/lib/node_modules"] {
            assert!(spec.read_only.contains(&at(reached)), "{reached}: {spec:?}");
        }
        for hidden in [at(""), at(".npm"), "/".into(), "bin".into()] {
            assert!(!spec.read_only.contains(&hidden), "{hidden:?}: {spec:?}");
        }
        assert!(spec.read_only.contains(&"/usr".into()));
        assert!(spec.strict);
    }

    #[test]
    fn what_is_written_is_the_agents_own() {
        let spec = Spec::for_agent(&needs(Path::new("/root"), OsStr::new(""), OsStr::new("x")));
        let writable = ["/repo", "/agent", "/agent-tmp"].map(PathBuf::from);
        assert_eq!(spec.read_write[..3], writable);
        assert!(
            spec.read_write[3..]
                .iter()
                .all(|path| path.starts_with("/dev"))
        );
    }

    #[test]
    fn extras_are_named_even_when_they_are_missing() {
        let extra = [PathBuf::from("/not/there")];
        let needs = Needs {
            extra_read_only: &extra,
            extra_read_write: &extra,
            ..needs(Path::new("/root"), OsStr::new(""), OsStr::new("x"))
        };
        let spec = Spec::for_agent(&needs);
        assert!(spec.read_only.contains(&extra[0]));
        assert!(spec.read_write.contains(&extra[0]));
    }
}
