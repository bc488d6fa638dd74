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
        (
            "/home/ada/work/src/a.rs",
            "/home/ada/work",
            Some("/home/ada/work/src"),
        ),
        // Where tools look for files to run.
        ("/srv/project/a.rs", "/srv/project", None),
        ("/srv/project/a.rs", "/srv/project/", None),
        ("/home/ada/work/a.rs", "/home/ada/work", None),
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
        let opened = of_file(path, project).map(|opened| opened.folder);
        assert_eq!(opened, expected, "{path} in {project}");
    }
}

#[test]
fn p04_a_folder_of_the_system_is_never_opened() {
    for folder in [
        "/private/etc/app",
        "/private/var/root/work",
        "/var/lib/app",
        "/var/run/app",
        "/var/www",
        "/var/home/ada/work",
        "/Volumes/X/etc/app",
        "/Volumes/X/app",
        "/mnt/c/Windows/System32",
        "/mnt/c/ProgramData/app",
        "/mnt/c/Users/ada",
        "/mnt/c/app",
        "/cygdrive/c/windows/x",
        "/Users/ada/Library/LaunchAgents",
        "/Users/ada/Library/Application Support/x",
        "/home/ada/work/Library",
        "/opt/homebrew/etc",
        "/opt/homebrew/lib/x",
        "/host/etc/app",
        "/host/usr/app",
        "/host/mnt/c/Windows",
        "/rootfs/lib/app",
        "/media/disk/usr/share",
        "/nix/store/app",
        "/ETC/app",
        "/\u{ff45}tc/app",
    ] {
        let path = format!("{folder}/src/a.rs");
        assert_eq!(of_file(&path, folder), None, "{folder}");
    }
    for folder in [
        "/var/www/site",
        "/opt/app",
        "/home/ada/dev/project",
        "/mnt/data/work/project",
        "/Users/ada/work",
        "/srv/project/lib",
        "/private/srv/project",
    ] {
        let path = format!("{folder}/src/a.rs");
        assert!(of_file(&path, folder).is_some(), "{folder}");
    }
}

#[test]
fn p04_settings_scripts_and_instructions_are_asked_about_each_time() {
    let names = "circle.yml codemagic.yaml azure-pipelines-release.yml docker-compose.override.yml main.tf \
        action.yml AGENT.md CLAUDE.md codex.md QWEN.md claude_desktop_config.json settings.json hooks.json \
        tasks.json gradlew mvnw lefthook.yml pre-push pytest.ini Pipfile MODULE.bazel foo.cmake mise.toml \
        foo.socket foo.command yarn.lock Cargo.lock package.json Makefile Dockerfile.prod README.md notes.txt \
        index.html deploy.sh app.service a.gradle.kts a.props a.xml a.cfg a.conf a a. .rs rs .env .gitlab-ci.yml";
    for name in names.split_whitespace() {
        let path = format!("/srv/project/src/{name}");
        assert_eq!(of_file(&path, "/srv/project"), None, "{name}");
        for ending in ["rs", "py", "js", "yml", "md", ""] {
            assert!(!holds("/srv/project/src", ending, &path), "{name}");
        }
    }
}

#[test]
fn p04_only_source_files_of_the_same_ending_are_opened() {
    for (name, ending) in [
        ("build.rs", "rs"),
        ("BUILD.rs", "rs"),
        ("b\u{fc}ild.rs", "rs"),
        ("conftest.py", "py"),
        ("manage.py", "py"),
        ("setup.py", "py"),
        ("tasks.py", "py"),
        ("noxfile.py", "py"),
        ("sitecustomize.py", "py"),
        ("gunicorn.conf.py", "py"),
        ("gulpfile.js", "js"),
        ("vite.config.ts", "ts"),
        ("Package.swift", "swift"),
        ("karma.conf.js", "js"),
        ("ember-cli-build.js", "js"),
        ("magefile.go", "go"),
        ("Setup.hs", "hs"),
        ("a.py", "rs"),
        ("a.RS", "rs"),
        ("a.rs.py", "rs"),
        ("a.rs ", "rs"),
        ("a.rs.", "rs"),
        ("a.rs::$DATA", "rs"),
        ("A~1.rs", "rs"),
        (".a.rs", "rs"),
        ("..rs", "rs"),
        ("", "rs"),
        ("*.rs", "rs"),
        ("a\u{202e}.rs", "rs"),
        ("-a.rs", "rs"),
        ("a\\b.rs", "rs"),
        ("a/b.rs", "rs"),
    ] {
        let path = format!("/srv/project/src/{name}");
        assert!(!holds("/srv/project/src", ending, &path), "{name:?}");
    }
    for (name, ending) in [
        ("a.rs", "rs"),
        ("größe.py", "py"),
        ("a b.c", "c"),
        ("contest_rules.py", "py"),
        ("project.rs", "rs"),
        ("user.ts", "ts"),
        ("mod.rs", "rs"),
        ("__init__.py", "py"),
    ] {
        let path = format!("/srv/project/src/{name}");
        assert!(holds("/srv/project/src", ending, &path), "{name:?}");
        let opened = of_file(&path, "/srv/project").unwrap();
        let expected = ("/srv/project/src", ending);
        assert_eq!((opened.folder, opened.ending), expected);
    }
}

#[test]
fn p04_names_that_look_like_those_of_build_and_test_tools_are_asked_about() {
    let names = "test_x.py conanfile.py hatch_build.py pdm_build.py toxfile.py locustfile.py pytest.py project.clj \
        Package@swift-5.9.swift Project.swift setupProxy.js setupTests.js gatsby-node.js knexfile.js testem.js \
        vitest.workspace.ts extconf.rb RoboFile.php Shakefile.hs main_test.go main.test.ts a.spec.ts spec_helper.rb \
        globalSetup.ts global-setup.ts installHooks.js celeryconfig.py gunicorn_conf.py wp-config.php next.config.js \
        forge.config.js esbuild.js feature.build.js Thorfile.rb TEST_x.py te\u{301}st_x.py user.clj setup_helper.py";
    for name in names.split_whitespace() {
        let path = format!("/srv/project/src/{name}");
        assert_eq!(of_file(&path, "/srv/project"), None, "{name}");
        let (_, ending) = name.rsplit_once('.').unwrap();
        assert!(!holds("/srv/project/src", ending, &path), "{name}");
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
        assert!(!holds("/srv/project/src", "rs", path), "{path}");
    }
}
