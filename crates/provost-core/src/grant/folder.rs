//! Which folder a remembered edit opens, read from its path as text: the gateway never looks at the agent's
//! disk. A path that could be read in two ways opens nothing beyond itself.
//!
//! Only source files are opened, those with the ending of the approved one: which settings, scripts and
//! instructions some tool obeys, nobody can list, but what is source is a short list.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use crate::review::{hides, is_obeyed};

/// Source that something else compiles or imports. Configuration, scripts, text and markup are not here: tools,
/// CI services and agents obey them under names that nobody can list.
const SOURCE_ENDINGS: [&str; 45] = [
    "adb", "ads", "c", "cc", "clj", "cljs", "cpp", "cs", "css", "cxx", "d", "dart", "elm", "erl",
    "ex", "f90", "fs", "go", "h", "hh", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "less", "m",
    "mjs", "ml", "mli", "mm", "php", "py", "pyi", "rb", "rs", "scala", "scss", "svelte", "swift",
    "ts", "tsx", "vue",
];

/// Source that build, test and deployment tools run by its name, and whose name has none of the shapes below.
const KEPT_STEMS: [&str; 25] = [
    "artisan",
    "castor",
    "commitlint",
    "deployer",
    "dodo",
    "eslint",
    "eslintrc",
    "hardhat",
    "karma",
    "mage",
    "make",
    "manage",
    "mix",
    "pavement",
    "phinx",
    "postinstall",
    "preinstall",
    "rector",
    "sconscript",
    "sconstruct",
    "settings",
    "sitecustomize",
    "usercustomize",
    "wallaby",
    "wscript",
];

/// The same, of one language alone.
const KEPT_NAMES: [&str; 4] = ["profiles.clj", "project.swift", "tuist.swift", "user.clj"];

/// As a word of the name: `test_x.py`, `install-hooks.js`, `jest.setup.ts`, `spec_helper.rb`.
const KEPT_WORDS: [&str; 25] = [
    "cdk",
    "ci",
    "conf",
    "deploy",
    "esbuild",
    "fixture",
    "fixtures",
    "gatsby",
    "hook",
    "hooks",
    "install",
    "jest",
    "mock",
    "prepend",
    "release",
    "setup",
    "spec",
    "specs",
    "startup",
    "task",
    "tasks",
    "teardown",
    "test",
    "tests",
    "workspace",
];

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

/// What remembering an edit of this file may open: source files beside it, where it lies below the project, and
/// not in a root, a home, or a folder whose files something else runs. The project's own folder is where tools look
/// for files to run, under names that nobody can list: it is never opened.
pub(super) fn of_file<'a>(path: &'a str, project: &str) -> Option<Opened<'a>> {
    let (folder, name) = path.rsplit_once('/')?;
    let (steps, project) = (
        steps(folder)?,
        steps(project.strip_suffix('/').unwrap_or(project))?,
    );
    if folder.len() > LONGEST_FOLDER {
        return None;
    }
    let below = steps.len() > project.len() && steps.starts_with(&project);
    let ending = source_ending(name)?;
    (below && is_a_project(&project) && is_a_project(&steps)).then_some(Opened { folder, ending })
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

/// The ending of a source file, unless its name looks like that of a file which a tool runs.
fn source_ending(name: &str) -> Option<&str> {
    let (_, ending) = name.rsplit_once('.')?;
    let is_source = is_plain(name) && SOURCE_ENDINGS.contains(&ending);
    (is_source && !looks_run(name)).then_some(ending)
}

/// By the shape of its name. Whatever looks like it and is not run is only asked about once more.
fn looks_run(name: &str) -> bool {
    let plain = skeleton(name);
    let (stem, _) = plain.split_once('.').unwrap_or((&plain, ""));
    plain.contains('@')
        || ["build", "config"]
            .iter()
            .any(|shape| plain.contains(shape))
        || ["setup", "test"]
            .iter()
            .any(|start| stem.starts_with(start))
        || ["conf", "file", "setup", "spec", "test", "tests"]
            .iter()
            .any(|end| stem.ends_with(end))
        || KEPT_STEMS.contains(&stem)
        || KEPT_NAMES.contains(&&*plain)
        || words(name).any(|word| KEPT_WORDS.contains(&&*word))
        || is_obeyed(&[plain.as_str()])
}

/// The words of a name: what stands between other signs, and between `camelCase` and `PascalCase`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(name.len());
    let mut before_was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (before_was_small && c.is_uppercase()) {
            spaced.push(' ');
        }
        before_was_small = c.is_lowercase() || c.is_numeric();
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    let words: Vec<String> = spaced.split_whitespace().map(skeleton).collect();
    words.into_iter()
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
