//! Which folder a remembered edit opens, read from its path as text: the gateway never looks at the agent's
//! disk. A path that could be read in two ways opens nothing beyond itself.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use crate::review::hides;

/// Folders whose files are run by something else, later. Names that begin with a dot are never opened.
const KEPT_FOLDERS: [&str; 14] = [
    "bin",
    "ci",
    "cron.d",
    "dist-packages",
    "git-hooks",
    "githooks",
    "hooks",
    "launchagents",
    "launchdaemons",
    "node_modules",
    "sbin",
    "site-packages",
    "systemd",
    "workflows",
];

/// The system's own folders, at the root.
const SYSTEM_FOLDERS: [&str; 14] = [
    "boot", "dev", "etc", "lib", "lib32", "lib64", "library", "proc", "root", "run", "sys",
    "system", "usr", "windows",
];

/// Files that say what is built, tested, deployed or obeyed: by tools, CI services and agents.
const KEPT_FILES: [&str; 68] = [
    // What agents obey, and what runs them.
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "gemini.md",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    "provost.yaml",
    "provost.yml",
    "run.yaml",
    "skill.md",
    "warp.md",
    // CI services and deployments.
    "appveyor.yml",
    "azure-pipelines.yaml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yaml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "codeowners",
    "compose.yaml",
    "compose.yml",
    "containerfile",
    "docker-compose.yaml",
    "docker-compose.yml",
    "fly.toml",
    "netlify.toml",
    "procfile",
    "vagrantfile",
    "vercel.json",
    "wercker.yml",
    // What build tools and package managers run.
    "binding.gyp",
    "build",
    "build.bazel",
    "build.rs",
    "build.sbt",
    "build.xml",
    "build.zig",
    "cargo.toml",
    "cmakelists.txt",
    "composer.json",
    "configure",
    "conftest.py",
    "deno.json",
    "deno.jsonc",
    "gemfile",
    "go.mod",
    "justfile",
    "lerna.json",
    "meson.build",
    "mix.exs",
    "nx.json",
    "package-lock.json",
    "package.json",
    "package.swift",
    "pnpm-workspace.yaml",
    "pom.xml",
    "pyproject.toml",
    "rakefile",
    "setup.cfg",
    "tox.ini",
    "turbo.json",
    "usercustomize.py",
    "sitecustomize.py",
    "workspace",
];

/// Beginnings of such names, for all their variants: `Dockerfile.prod`, `Makefile.am`, `setup.py`.
const KEPT_BEGINNINGS: [&str; 12] = [
    "dockerfile",
    "gnumakefile",
    "gruntfile",
    "gulpfile",
    "jenkinsfile",
    "makefile",
    "noxfile",
    "pre-commit",
    "requirements",
    "sconstruct",
    "setup.py",
    "taskfile",
];

/// Kinds of file that are run or obeyed as they are.
const KEPT_ENDINGS: [&str; 26] = [
    ".bash",
    ".bat",
    ".cmd",
    ".code-workspace",
    ".config.cjs",
    ".config.cts",
    ".config.js",
    ".config.mjs",
    ".config.mts",
    ".config.ts",
    ".csproj",
    ".desktop",
    ".fish",
    ".gradle",
    ".gradle.kts",
    ".mk",
    ".nix",
    ".plist",
    ".ps1",
    ".pth",
    ".service",
    ".sh",
    ".targets",
    ".timer",
    ".vcxproj",
    ".zsh",
];

/// Longer paths would not be read by whoever allows them.
const LONGEST_FOLDER: usize = 200;

/// The folder of this file, where remembering an edit of it may open the folder: it lies in the project, and is
/// neither a root nor a home nor a folder whose files something else runs.
pub(super) fn of_file(path: &str, project: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let (steps, project) = (
        steps(folder)?,
        steps(project.strip_suffix('/').unwrap_or(project))?,
    );
    if folder.len() > LONGEST_FOLDER {
        return None;
    }
    let inside = is_a_project(&project) && steps.starts_with(&project);
    (inside && is_a_project(&steps) && may_be_written(name)).then(|| folder.to_owned())
}

/// Whether the file lies directly in the folder. `folder` came from [`of_file`], so equal text is enough: there
/// is no `..`, no doubled slash and no second way to write it.
pub(super) fn holds(folder: &str, path: &str) -> bool {
    let parts = path.rsplit_once('/');
    parts.is_some_and(|(its, name)| its == folder && may_be_written(name))
}

/// The steps of an absolute path, where it has one reading only.
fn steps(folder: &str) -> Option<Vec<&str>> {
    let steps: Vec<&str> = folder.strip_prefix('/')?.split('/').collect();
    steps.iter().all(|step| is_plain(step)).then_some(steps)
}

fn is_a_project(steps: &[&str]) -> bool {
    let lower: Vec<String> = steps.iter().map(|step| skeleton(step)).collect();
    let is_home = |parent: &String| parent == "home" || parent == "users";
    let in_home = lower.len().checked_sub(2).and_then(|at| lower.get(at));
    lower.len() >= 2
        && !in_home.is_some_and(is_home)
        && !lower
            .first()
            .is_some_and(|first| SYSTEM_FOLDERS.contains(&first.as_str()))
        && !lower
            .iter()
            .any(|step| KEPT_FOLDERS.contains(&step.as_str()))
}

fn may_be_written(name: &str) -> bool {
    let plain = skeleton(name);
    is_plain(name)
        && !KEPT_FILES.contains(&plain.as_str())
        && !KEPT_BEGINNINGS.iter().any(|begin| plain.starts_with(begin))
        && !KEPT_ENDINGS.iter().any(|end| plain.ends_with(end))
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
mod tests {
    use super::*;

    #[test]
    fn p04_a_folder_is_opened_inside_the_project_alone() {
        for (path, project, expected) in [
            (
                "/srv/project/src/a.rs",
                "/srv/project",
                Some("/srv/project/src"),
            ),
            (
                "/srv/project/src/a.rs",
                "/srv/project/",
                Some("/srv/project/src"),
            ),
            ("/srv/project/a.rs", "/srv/project", Some("/srv/project")),
            (
                "/home/ada/work/a.rs",
                "/home/ada/work",
                Some("/home/ada/work"),
            ),
            (
                "/srv/project/größe/a.rs",
                "/srv/project",
                Some("/srv/project/größe"),
            ),
            // Outside, or a project that is none.
            ("/srv/other/a.rs", "/srv/project", None),
            ("/srv/projectile/a.rs", "/srv/project", None),
            ("/srv/project/a.rs", "/", None),
            ("/srv/project/a.rs", "", None),
            ("/srv/project/a.rs", "/srv", None),
            ("/srv/project/a.rs", "srv/project", None),
            ("/srv/a.rs", "/srv", None),
            ("/a.rs", "/", None),
            ("/home/ada/a.rs", "/home/ada", None),
            ("/home/ada/a.rs", "/home", None),
            ("/Users/ada/a.rs", "/Users/ada", None),
            ("/mnt/c/Users/ada/a.rs", "/mnt/c", None),
            ("/root/work/a.rs", "/root/work", None),
            ("/etc/app/a.conf", "/etc/app", None),
            ("/usr/local/app/a.rs", "/usr/local/app", None),
            // Read in two ways, or not at all.
            ("src/a.rs", "/srv/project", None),
            ("~/work/a.rs", "/home/ada/work", None),
            ("/srv/project/../other/a.rs", "/srv/project", None),
            ("/srv/project/./src/a.rs", "/srv/project", None),
            ("/srv/project//src/a.rs", "/srv/project", None),
            ("/srv/project/src/", "/srv/project", None),
            ("/srv/project/src\\..\\..\\x/a.rs", "/srv/project", None),
            ("C:\\project\\src\\a.rs", "C:\\project", None),
            ("/srv/project/s\u{200b}rc/a.rs", "/srv/project", None),
            ("/srv/project/$HOME/a.rs", "/srv/project", None),
            // Folders that something else obeys.
            (
                "/srv/project/.github/workflows/ci.yml",
                "/srv/project",
                None,
            ),
            ("/srv/project/.git/config", "/srv/project", None),
            ("/srv/project/.vscode/a.json", "/srv/project", None),
            ("/srv/project/.claude/a.md", "/srv/project", None),
            ("/srv/project/.config/x/a", "/srv/project", None),
            ("/srv/project/hooks/a.py", "/srv/project", None),
            ("/srv/project/ci/a.py", "/srv/project", None),
            ("/srv/project/CI/a.py", "/srv/project", None),
            (
                "/srv/project/node_modules/left-pad/a.js",
                "/srv/project",
                None,
            ),
        ] {
            assert_eq!(
                of_file(path, project).as_deref(),
                expected,
                "{path} in {project}"
            );
        }
    }

    #[test]
    fn p04_files_that_others_run_or_obey_are_asked_about_each_time() {
        for name in [
            "package.json",
            "Package.JSON",
            "pac\u{212a}age.json",
            "pack\u{e0}ge.json",
            "package.json.",
            "package.json ",
            "package.json::$DATA",
            "PACKAG~1.JSO",
            "Makefile",
            "GNUmakefile",
            "Dockerfile.prod",
            "Jenkinsfile",
            "CLAUDE.md",
            "AGENTS.md",
            "build.rs",
            "setup.py",
            "conftest.py",
            "vite.config.ts",
            "deploy.sh",
            "app.service",
            ".env",
            ".npmrc",
            ".gitlab-ci.yml",
            "..",
            ".",
            "",
            "a/b.rs",
            "a\\b.rs",
            "..\\b.rs",
            "*.rs",
            "a\u{202e}.rs",
            "-rf",
        ] {
            let path = format!("/srv/project/src/{name}");
            assert!(!holds("/srv/project/src", &path), "{name:?}");
        }
        for name in [
            "a.rs",
            "main.test.ts",
            "größe.md",
            "a b.txt",
            "README.md",
            "index.html",
        ] {
            let path = format!("/srv/project/src/{name}");
            assert!(holds("/srv/project/src", &path), "{name:?}");
        }
    }

    #[test]
    fn p04_only_files_directly_in_the_folder_are_in_it() {
        for path in [
            "/srv/project/src/deeper/a.rs",
            "/srv/project/a.rs",
            "/srv/project/src2/a.rs",
            "/srv/project/SRC/a.rs",
            "/srv/project/src/../src/a.rs",
            "/srv/project/./src/a.rs",
            "/srv/project//src/a.rs",
            "//srv/project/src/a.rs",
            "srv/project/src/a.rs",
            "/srv/project/src/a.rs/",
            "/srv/project/src/.git/hooks/pre-commit",
            "/srv/project/src\\a.rs",
            " /srv/project/src/a.rs",
        ] {
            assert!(!holds("/srv/project/src", path), "{path}");
        }
    }
}
