//! Which folder a remembered edit opens, read from its path as text: the gateway never looks at the agent's
//! disk. A path that could be read in two ways opens nothing beyond itself.
//!
//! Only source files are opened, those with the ending of the approved one: which settings, scripts and
//! instructions some tool obeys, nobody can list, but what is source is a short list.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use crate::review::hides;

/// Source that something else compiles or imports. Configuration, scripts, text and markup are not here: tools,
/// CI services and agents obey them under names that nobody can list.
const SOURCE_ENDINGS: [&str; 45] = [
    "adb", "ads", "c", "cc", "clj", "cljs", "cpp", "cs", "css", "cxx", "d", "dart", "elm", "erl",
    "ex", "f90", "fs", "go", "h", "hh", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "less", "m",
    "mjs", "ml", "mli", "mm", "php", "py", "pyi", "rb", "rs", "scala", "scss", "svelte", "swift",
    "ts", "tsx", "vue",
];

/// Source that build, test and deployment tools run by its name, before the first dot.
const KEPT_STEMS: [&str; 54] = [
    "appfile",
    "artisan",
    "build",
    "buildfile",
    "commitlint",
    "conf",
    "config",
    "configure",
    "conftest",
    "dangerfile",
    "deploy",
    "dockerfile",
    "dodo",
    "eslint",
    "eslintrc",
    "fabfile",
    "fastfile",
    "gnumakefile",
    "gruntfile",
    "guardfile",
    "gulpfile",
    "hooks",
    "install",
    "jakefile",
    "jenkinsfile",
    "karma",
    "mage",
    "magefile",
    "make",
    "makefile",
    "manage",
    "mix",
    "myocamlbuild",
    "noxfile",
    "package",
    "pavement",
    "postinstall",
    "preinstall",
    "rakefile",
    "rector",
    "release",
    "sconscript",
    "sconstruct",
    "settings",
    "setup",
    "sitecustomize",
    "task",
    "taskfile",
    "tasks",
    "usercustomize",
    "vite",
    "wallaby",
    "webpack",
    "wscript",
];

/// As a part between dots: `vite.config.ts`, `karma.conf.js`, `jest.setup.js`.
const KEPT_PARTS: [&str; 6] = ["build", "conf", "config", "mix", "setup", "teardown"];

/// As the end of the part before the first dot: `ember-cli-build.js`, `babel-config.js`.
const KEPT_STEM_ENDINGS: [&str; 5] = ["-build", "-config", "-setup", "_config", "_hook"];

/// Folders whose files are run by something else, later. Names that begin with a dot are never opened.
const KEPT_FOLDERS: [&str; 27] = [
    "ansible",
    "bin",
    "buildsrc",
    "ci",
    "cron.d",
    "deploy",
    "deployment",
    "dist-packages",
    "fastlane",
    "git-hooks",
    "git_hooks",
    "githooks",
    "hooks",
    "husky",
    "launchagents",
    "launchdaemons",
    "node_modules",
    "pipelines",
    "sbin",
    "script",
    "scripts",
    "site-packages",
    "systemd",
    "terraform",
    "vendor",
    "virtualenv",
    "workflows",
];

/// The system's own folders, at the root of it.
const SYSTEM_FOLDERS: [&str; 19] = [
    "applications",
    "boot",
    "dev",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "lost+found",
    "nix",
    "proc",
    "recovery",
    "run",
    "selinux",
    "snap",
    "sys",
    "system",
    "usr",
    "var",
    "winnt",
];

/// The same, wherever they stand: below a mounted disk, in a container's view of its host, in a home.
const SYSTEM_ANYWHERE: [&str; 13] = [
    "$recycle.bin",
    "appdata",
    "application support",
    "etc",
    "homebrew",
    "library",
    "program files",
    "program files (x86)",
    "programdata",
    "root",
    "system volume information",
    "system32",
    "windows",
];

/// What is below these is the root of a disk, with how many steps lead to it.
const MOUNTED: [(&str, usize); 8] = [
    ("cygdrive", 2),
    ("host", 1),
    ("hostfs", 1),
    ("media", 2),
    ("mnt", 2),
    ("private", 1),
    ("rootfs", 1),
    ("volumes", 2),
];

/// Longer paths would not be read by whoever allows them.
const LONGEST_FOLDER: usize = 200;

/// Files with this ending that lie directly in this folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opened<'a> {
    pub(super) folder: &'a str,
    pub(super) ending: &'a str,
}

/// What remembering an edit of this file may open: source files beside it, where it lies in the project, and not
/// in a root, a home, or a folder whose files something else runs.
pub(super) fn of_file<'a>(path: &'a str, project: &str) -> Option<Opened<'a>> {
    let (folder, name) = path.rsplit_once('/')?;
    let (steps, project) = (
        steps(folder)?,
        steps(project.strip_suffix('/').unwrap_or(project))?,
    );
    if folder.len() > LONGEST_FOLDER {
        return None;
    }
    let inside = is_a_project(&project) && steps.starts_with(&project);
    let ending = source_ending(name)?;
    (inside && is_a_project(&steps)).then_some(Opened { folder, ending })
}

/// Whether the file lies directly in the folder and has the ending. Both came from [`of_file`], so equal text is
/// enough: there is no `..`, no doubled slash and no second way to write it.
pub(super) fn holds(folder: &str, ending: &str, path: &str) -> bool {
    let parts = path.rsplit_once('/');
    parts.is_some_and(|(its, name)| its == folder && source_ending(name) == Some(ending))
}

/// The steps of an absolute path, where it has one reading only.
fn steps(folder: &str) -> Option<Vec<&str>> {
    let steps: Vec<&str> = folder.strip_prefix('/')?.split('/').collect();
    steps.iter().all(|step| is_plain(step)).then_some(steps)
}

fn is_a_project(steps: &[&str]) -> bool {
    let lower: Vec<String> = steps.iter().map(|step| skeleton(step)).collect();
    let steps: Vec<&str> = lower.iter().map(String::as_str).collect();
    let below = below_mounts(&steps);
    let is_kept = |step: &&str| KEPT_FOLDERS.contains(step) || SYSTEM_ANYWHERE.contains(step);
    let is_home = matches!(steps.as_slice(), [.., "home" | "users", _]);
    below.len() >= 2 && !is_home && !is_system(below) && !steps.iter().any(is_kept)
}

/// `/var/www` is where sites lie; everything else in `/var` is the system's.
fn is_system(steps: &[&str]) -> bool {
    let first = steps.first().copied().unwrap_or_default();
    let is_site = matches!(steps, ["var", "www", _, ..]);
    SYSTEM_FOLDERS.contains(&first) && !is_site
}

/// The path as the disk has it that it lies on.
fn below_mounts<'a, 'b>(mut steps: &'a [&'b str]) -> &'a [&'b str] {
    while let Some((_, count)) = MOUNTED.iter().find(|(name, _)| steps.first() == Some(name)) {
        steps = steps.get(*count..).unwrap_or_default();
    }
    steps
}

/// The ending of a source file, unless a tool runs such a file by its name.
fn source_ending(name: &str) -> Option<&str> {
    let (_, ending) = name.rsplit_once('.')?;
    let plain = skeleton(name);
    let mut parts = plain.split('.');
    let stem = parts.next().unwrap_or_default();
    let is_kept = KEPT_STEMS.contains(&stem)
        || KEPT_STEM_ENDINGS.iter().any(|end| stem.ends_with(end))
        || parts.any(|part| KEPT_PARTS.contains(&part));
    (is_plain(name) && !is_kept && SOURCE_ENDINGS.contains(&ending)).then_some(ending)
}

/// A name that every file system takes for itself: nothing hidden, nothing that is dropped or expanded, and no
/// dot before it.
fn is_plain(step: &str) -> bool {
    !step.is_empty()
        && !step.starts_with(['.', ' ', '-'])
        && !step.ends_with(['.', ' '])
        && !step.contains([
            '\\', ':', '*', '?', '"', '<', '>', '|', '~', '$', '`', '%', ';', '&',
        ])
        && !step.chars().any(hides)
}

/// As a file system compares names that knows no case: look-alikes by case and by accent are one.
fn skeleton(name: &str) -> String {
    let plain = name.nfkd().filter(|c| !is_combining_mark(*c));
    plain.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
