//! Where a path leads, read as text: the gateway never looks at the agent's disk.

use super::{Risk, Risks};
use crate::review::is_obeyed;

const SECRET_FOLDERS: [&str; 9] = [
    ".ssh", ".gnupg", ".aws", ".kube", ".docker", ".claude", ".codex", ".cursor", ".husky",
];
const SENSITIVE_FILES: [&str; 20] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".gitconfig",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".mcp.json",
    ".envrc",
    "authorized_keys",
    "crontab",
    "id_rsa",
    "id_ed25519",
];
const SYSTEM_FOLDERS: [&str; 12] = [
    "etc", "usr", "bin", "sbin", "boot", "lib", "lib64", "sys", "proc", "system", "library", "root",
];
/// A folder and the one below it, whose files are run by others, later.
const RUN_LATER: [[&str; 2]; 5] = [
    ["spool", "cron"],
    ["systemd", "user"],
    ["library", "launchagents"],
    [".config", "autostart"],
    [".git", "hooks"],
];
/// As they are written: a folder on the way may be a link.
const HARMLESS_DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
    // What stands for `>( … )`.
    "/dev/fd",
];
/// More folders than these are not followed.
const MOST_FOLDERS: usize = 8;

/// The folder in which relative paths begin, and the project that writes should not leave.
#[derive(Clone, Debug)]
pub(super) struct Place {
    project: Option<Vec<String>>,
    /// Every folder that it may be in: each `cd` may have failed.
    here: Vec<Spot>,
    /// Nobody vouches for where the command begins: there is no inside.
    untrusted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Spot {
    Absolute(Vec<String>),
    /// Below somebody's home folder.
    Home(Vec<String>),
    /// Below the project.
    Relative(Vec<String>),
    Unknown,
}

impl Place {
    /// A folder that holds nearly everything is no project.
    pub(super) fn new(project: Option<&str>) -> Self {
        let folders = project.filter(|path| path.starts_with('/') || has_drive(path));
        Self {
            project: folders
                .and_then(|path| join(Vec::new(), path))
                .filter(|folders| folders.len() >= 2),
            here: vec![Spot::Relative(Vec::new())],
            untrusted: false,
        }
    }

    /// For judging a call by itself: the folder that an agent says it works in is no ground to permit
    /// anything, so that everything is outside.
    pub(super) fn untrusted() -> Self {
        Self {
            untrusted: true,
            ..Self::new(None)
        }
    }

    /// Begins in this folder.
    pub(super) fn begin(&mut self, path: &str) {
        self.here = self.locate(path);
    }

    /// Follows a `cd`, which may fail.
    pub(super) fn enter(&mut self, path: &str) {
        let entered = if path == "-" {
            vec![Spot::Unknown]
        } else {
            self.locate(path)
        };
        for spot in entered {
            self.may_be(spot);
        }
    }

    pub(super) fn enter_unknown(&mut self) {
        self.may_be(Spot::Unknown);
    }

    fn may_be(&mut self, spot: Spot) {
        if self.here.contains(&spot) {
            return;
        }
        if self.here.len() < MOST_FOLDERS {
            self.here.push(spot);
        } else {
            self.here.push(Spot::Unknown);
            self.here.dedup();
        }
    }

    /// What writing to this path risks.
    pub(super) fn writing(&self, path: &str) -> Risks {
        if is_harmless_device(path) {
            return Risks::new();
        }
        let spots = self.locate(path);
        spots.iter().flat_map(|spot| self.at(spot, path)).collect()
    }

    fn at(&self, spot: &Spot, path: &str) -> Risks {
        if let Spot::Absolute(folders) = spot
            && folders.first().is_some_and(|folder| folder == "dev")
            && path.starts_with('/')
            && !path.contains(['\\'])
            && !path.split('/').any(|step| step == "..")
        {
            return device(folders);
        }
        let mut risks = Risks::new();
        if self.outside(spot) {
            risks.insert(Risk::WritesOutside);
        }
        if sensitive(spot) {
            risks.insert(Risk::WritesSensitive);
        }
        risks
    }

    pub(super) fn knows_project(&self) -> bool {
        self.project.is_some() || self.untrusted
    }

    fn outside(&self, spot: &Spot) -> bool {
        match (spot, &self.project) {
            _ if self.untrusted => true,
            (Spot::Absolute(folders), Some(project)) => !folders.starts_with(project),
            (Spot::Relative(_), _) => false,
            _ => true,
        }
    }

    /// Where it may be.
    fn locate(&self, path: &str) -> Vec<Spot> {
        for home in ["~", "$HOME", "${HOME}"] {
            if let Some(rest) = path.strip_prefix(home) {
                return vec![join(Vec::new(), rest).map_or(Spot::Unknown, Spot::Home)];
            }
        }
        if path.contains(['$', '`']) {
            return vec![Spot::Unknown];
        }
        if path.starts_with('/') || has_drive(path) {
            return vec![join(Vec::new(), path).map_or(Spot::Unknown, Spot::Absolute)];
        }
        self.here.iter().map(|here| here.below(path)).collect()
    }
}

impl Spot {
    fn below(&self, path: &str) -> Self {
        let joined = match self {
            Self::Absolute(folders) => join(folders.clone(), path).map(Self::Absolute),
            Self::Home(folders) => join(folders.clone(), path).map(Self::Home),
            Self::Relative(folders) => join(folders.clone(), path).map(Self::Relative),
            Self::Unknown => None,
        };
        joined.unwrap_or(Self::Unknown)
    }
}

fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
}

/// `None` if `..` leads above where it began.
fn join(mut folders: Vec<String>, path: &str) -> Option<Vec<String>> {
    for step in path.split(['/', '\\']) {
        match step {
            "" | "." => {}
            ".." => {
                folders.pop()?;
            }
            _ => folders.push(step.to_owned()),
        }
    }
    Some(folders)
}

/// What reading from this path risks: a shell may take it for an address.
pub(super) fn reading(path: &str) -> Risks {
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return Risks::from([Risk::Network]);
    }
    Risks::new()
}

pub(super) fn is_harmless_device(path: &str) -> bool {
    let descriptor = path.strip_prefix("/dev/fd/").unwrap_or_default();
    let is_number = descriptor.bytes().all(|byte| byte.is_ascii_digit());
    HARMLESS_DEVICES.contains(&path) || (!descriptor.is_empty() && is_number)
}

fn device(folders: &[String]) -> Risks {
    match folders.get(1).map(String::as_str) {
        Some("tcp" | "udp") => Risks::from([Risk::Network]),
        _ => Risks::from([Risk::WritesDisk]),
    }
}

fn sensitive(spot: &Spot) -> bool {
    let (Spot::Absolute(steps) | Spot::Home(steps) | Spot::Relative(steps)) = spot else {
        return false;
    };
    let steps: Vec<String> = steps.iter().map(|step| step.to_lowercase()).collect();
    let first = steps.first().map_or("", String::as_str);
    let reserved = match spot {
        Spot::Absolute(_) => SYSTEM_FOLDERS.contains(&first) || dotted_in_home(&steps),
        Spot::Home(_) => first.starts_with('.'),
        _ => false,
    };
    reserved || sensitive_anywhere(&steps)
}

fn dotted_in_home(steps: &[String]) -> bool {
    match steps {
        [root, _, name, ..] => (root == "home" || root == "users") && name.starts_with('.'),
        _ => false,
    }
}

fn sensitive_anywhere(steps: &[String]) -> bool {
    let last = steps.last().map_or("", String::as_str);
    let follows = |pair: &[&str; 2]| steps.windows(2).any(|steps| steps == pair);
    SENSITIVE_FILES.contains(&last)
        || last == ".git"
        || is_obeyed(steps)
        || steps
            .iter()
            .any(|step| SECRET_FOLDERS.contains(&step.as_str()))
        || RUN_LATER.iter().any(follows)
        || (last == "config" && steps.iter().any(|step| step == ".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_placed() {
        use Risk::{Network, WritesDisk, WritesOutside, WritesSensitive};
        for (path, expected) in [
            ("out.txt", &[][..]),
            ("./a/../b", &[]),
            (".gitignore", &[]),
            ("/work/project/a", &[]),
            ("/work/project/../other", &[WritesOutside]),
            ("/work/projectile", &[WritesOutside]),
            ("../x", &[WritesOutside]),
            ("a/../../x", &[WritesOutside]),
            ("~/x", &[WritesOutside]),
            ("~/.bashrc", &[WritesSensitive, WritesOutside]),
            ("$HOME/.zshrc", &[WritesSensitive, WritesOutside]),
            ("/home/ann/.config/x", &[WritesSensitive, WritesOutside]),
            ("$OUT", &[WritesOutside]),
            ("/etc/passwd", &[WritesSensitive, WritesOutside]),
            (".git/hooks/pre-commit", &[WritesSensitive]),
            (".claude/settings.json", &[WritesSensitive]),
            (".github/workflows/ci.yml", &[WritesSensitive]),
            ("sub/CLAUDE.md", &[WritesSensitive]),
            ("package.json", &[WritesSensitive]),
            ("Makefile", &[WritesSensitive]),
            ("vite.config.ts", &[WritesSensitive]),
            ("build", &[]),
            ("src/config.rs", &[]),
            ("C:\\Windows\\x", &[WritesOutside]),
            ("/dev/null", &[]),
            ("/dev/fd/3", &[]),
            ("/dev/sda", &[WritesDisk]),
            ("/dev/tcp/1.2.3.4/80", &[Network]),
            ("/dev/fd/../sda", &[WritesOutside]),
            ("/tmp/a/link/../../../../../dev/null", &[WritesOutside]),
            ("/dev/fd/nope", &[WritesDisk]),
            ("/tmp/a/../../dev/null", &[WritesOutside]),
            ("/tmp/a\\..\\..\\dev/null", &[WritesOutside]),
        ] {
            let place = Place::new(Some("/work/project"));
            let expected: Risks = expected.iter().copied().collect();
            assert_eq!(place.writing(path), expected, "{path}");
        }
    }

    #[test]
    fn a_change_of_folder_moves_relative_paths() {
        for (folder, path, outside) in [
            ("sub", "x", false),
            ("sub", "../x", true),
            ("/etc", "x", true),
            ("..", "x", true),
            ("/work/project/sub", "x", false),
            ("$D", "x", true),
            ("-", "x", true),
            ("/dev/fd/nope", "x", true),
            ("/dev", "null", true),
        ] {
            let mut place = Place::new(Some("/work/project"));
            place.enter(folder);
            let marked = place.writing(path).contains(&Risk::WritesOutside);
            assert_eq!(marked, outside, "{folder} {path}");
        }
    }

    /// Where the `cd` fails, the file is written where the command began.
    #[test]
    fn p19_a_folder_that_was_left_still_counts() {
        let mut place = Place::new(Some("/work/project"));
        place.begin("/etc");
        place.enter("/work/project/sub");
        let expected = Risks::from([Risk::WritesSensitive, Risk::WritesOutside]);
        assert_eq!(place.writing("passwd"), expected);
        let mut place = Place::untrusted();
        place.enter("/dev/fd/nope");
        assert_eq!(place.writing(".bashrc"), expected);
    }

    #[test]
    fn a_root_is_no_project() {
        for project in [None, Some("/"), Some("/etc"), Some("relative/folder")] {
            let risks = Place::new(project).writing("/etc/x");
            assert!(risks.contains(&Risk::WritesOutside), "{project:?}");
        }
    }
}
