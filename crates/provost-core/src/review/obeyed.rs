//! Files that something else runs or obeys later: build tools, CI services, hooks, editors and agents. The one
//! list for what a summary calls sensitive and for what a remembered edit never opens.

/// Everything in a folder of this name.
const FOLDERS: [&str; 22] = [
    ".aider",
    ".buildkite",
    ".cargo",
    ".circleci",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".cursor",
    ".devcontainer",
    ".forgejo",
    ".gemini",
    ".gitea",
    ".githooks",
    ".github",
    ".husky",
    ".idea",
    ".roo",
    ".vscode",
    ".windsurf",
    ".woodpecker",
    ".yarn",
];

/// By the whole name.
const NAMES: [&str; 83] = [
    ".aider.conf.yml",
    ".appveyor.yml",
    ".clinerules",
    ".cursorrules",
    ".drone.yml",
    ".eslintrc",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".mcp.json",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".travis.yml",
    ".windsurfrules",
    ".yarnrc",
    ".yarnrc.yml",
    "action.yaml",
    "action.yml",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "appveyor.yml",
    "binding.gyp",
    "build.rs",
    "build.sbt",
    "build.xml",
    "build.zig",
    "cargo.toml",
    "circle.yml",
    "claude.local.md",
    "claude.md",
    "cmakelists.txt",
    "codemagic.yaml",
    "codex.md",
    "compose.yaml",
    "compose.yml",
    "composer.json",
    "configure",
    "configure.ac",
    "conftest.py",
    "copilot-instructions.md",
    "deno.json",
    "deno.jsonc",
    "dune",
    "gemini.md",
    "go.mod",
    "go.work",
    "gradle.properties",
    "gradlew",
    "mcp.json",
    "meson.build",
    "mise.toml",
    "mix.exs",
    "module.bazel",
    "mvnw",
    "package.json",
    "package.swift",
    "pom.xml",
    "pre-commit",
    "pre-push",
    "project.clj",
    "pyproject.toml",
    "pytest.ini",
    "qwen.md",
    "rebar.config",
    "sconscript",
    "sconstruct",
    "setup.cfg",
    "setup.hs",
    "setup.py",
    "sitecustomize.py",
    "skaffold.yaml",
    "skill.md",
    "tox.ini",
    "turbo.json",
    "usercustomize.py",
    "workspace.bazel",
    "wscript",
    "xmake.lua",
];

/// By what stands before the first dot, with any ending: `Dockerfile.prod`, `gulpfile.babel.js`.
const STEMS: [&str; 40] = [
    "azure-pipelines",
    "bitbucket-pipelines",
    "brewfile",
    "bsdmakefile",
    "buildspec",
    "capfile",
    "cloudbuild",
    "conanfile",
    "containerfile",
    "dangerfile",
    "docker-compose",
    "dockerfile",
    "earthfile",
    "fabfile",
    "fastfile",
    "gemfile",
    "gnumakefile",
    "gruntfile",
    "guardfile",
    "gulpfile",
    "jakefile",
    "jenkinsfile",
    "justfile",
    "knexfile",
    "lefthook",
    "locustfile",
    "magefile",
    "makefile",
    "noxfile",
    "pipfile",
    "podfile",
    "procfile",
    "rakefile",
    "robofile",
    "shakefile",
    "snakefile",
    "taskfile",
    "tiltfile",
    "toxfile",
    "vagrantfile",
];

const ENDINGS: [&str; 13] = [
    ".bazel",
    ".bzl",
    ".cmake",
    ".csproj",
    ".gemspec",
    ".gradle",
    ".gradle.kts",
    ".mk",
    ".service",
    ".targets",
    ".tf",
    ".timer",
    ".vcxproj",
];

/// As a part between dots: `vite.config.ts`, `karma.conf.js`, `jest.setup.js`.
const PARTS: [&str; 5] = ["conf", "config", "setup", "teardown", "workspace"];

/// The steps of a path in lower case, with its name as the last.
pub(crate) fn is_obeyed<S: AsRef<str>>(steps: &[S]) -> bool {
    let Some((name, folders)) = steps.split_last() else {
        return false;
    };
    let in_folder = |step: &S| FOLDERS.contains(&step.as_ref());
    folders.iter().any(in_folder) || is_obeyed_name(name.as_ref())
}

fn is_obeyed_name(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let between = match parts.as_slice() {
        [_, between @ .., _] => between,
        _ => &[],
    };
    NAMES.contains(&name)
        || FOLDERS.contains(&name)
        || parts.first().is_some_and(|stem| STEMS.contains(stem))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || between.iter().any(|part| PARTS.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p04_what_is_run_or_obeyed_later_is_known_by_its_name() {
        for path in [
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "claude.md",
            "sub/agents.md",
            "package.json",
            "makefile",
            "makefile.am",
            "dockerfile.prod",
            "docker-compose.override.yml",
            "rules.mk",
            "vite.config.ts",
            "karma.conf.js",
            "build.rs",
            ".vscode/tasks.json",
            ".cargo/config.toml",
        ] {
            let steps: Vec<&str> = path.split('/').collect();
            assert!(is_obeyed(&steps), "{path}");
        }
        for path in [
            "",
            "readme.md",
            "src/main.rs",
            "src/config.rs",
            "src/file.rs",
            "src/build_order.rs",
            "src/setup.rs",
            "notes.txt",
            ".gitignore",
            "data.json",
            "build",
            "workspace",
        ] {
            let steps: Vec<&str> = path.split('/').collect();
            assert!(!is_obeyed(&steps), "{path}");
        }
        assert!(!is_obeyed::<&str>(&[]));
    }
}
