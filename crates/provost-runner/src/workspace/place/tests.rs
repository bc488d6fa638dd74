use std::os::unix::fs::symlink;

use super::*;

/// A root at `repo`, beside a folder `out` that holds a secret.
struct Land {
    _land: tempfile::TempDir,
    repo: PathBuf,
    root: Root,
}

fn land() -> Land {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    let repo = real.join("repo");
    std::fs::create_dir_all(repo.join("src/deep")).unwrap();
    std::fs::create_dir(real.join("out")).unwrap();
    std::fs::create_dir(real.join("repo-twin")).unwrap();
    std::fs::write(real.join("out/secret"), "s").unwrap();
    std::fs::write(repo.join("src/lib.rs"), "code").unwrap();
    for (target, link) in [
        ("../out", "out"),
        ("../out/secret", "secret"),
        ("../out/none", "dangling-out"),
        ("none", "dangling"),
        ("none/deeper", "dangling-deep"),
        ("src", "sources"),
        ("../../repo/src", "src/back"),
        ("loop", "loop"),
    ] {
        symlink(target, repo.join(link)).unwrap();
    }
    symlink(repo.join("src/lib.rs"), repo.join("absolute")).unwrap();
    symlink(&repo, real.join("alias")).unwrap();
    let root = Root::open(&real.join("alias")).unwrap();
    Land {
        _land: dir,
        repo,
        root,
    }
}

/// Where the path leads, relative to the root, or what is wrong.
fn lead(land: &Land, path: &str) -> String {
    let path = match path.strip_prefix('/') {
        Some(_) => PathBuf::from(path),
        None => PathBuf::from(format!("{}/{path}", land.repo.display())),
    };
    match land.root.resolve(&path) {
        Ok(place) => {
            let below = place.path.strip_prefix(&land.repo).unwrap();
            let there = if place.stat.is_some() { "" } else { "new " };
            format!("{there}{}", below.display())
        }
        Err(astray) => astray.to_string(),
    }
}

#[test]
fn a_path_leads_inside_or_nowhere() {
    let land = land();
    let outside = "is outside of the workspace";
    let dangling = "leads through a link whose target does not exist";
    for (path, expected) in [
        ("src/lib.rs", "src/lib.rs"),
        ("src//./lib.rs", "src/lib.rs"),
        ("", ""),
        ("src/deep/../lib.rs", "src/lib.rs"),
        ("sources/lib.rs", "src/lib.rs"),
        ("sources/../src/deep", "src/deep"),
        ("absolute", "src/lib.rs"),
        ("src/back/deep", "src/deep"),
        ("../repo/src/lib.rs", "src/lib.rs"),
        ("../out/../repo/src", "src"),
        ("src/new.rs", "new src/new.rs"),
        ("a/b/c", "new a/b/c"),
        ("sources/a/b", "new src/a/b"),
        ("..", outside),
        ("../out/secret", outside),
        ("../repo-twin/file", outside),
        ("src/../../out/secret", outside),
        ("secret", outside),
        ("out", outside),
        ("out/secret", outside),
        ("out/new", outside),
        ("out/../repo/src/lib.rs", "src/lib.rs"),
        ("dangling-out", outside),
        ("/etc/passwd", outside),
        ("/", outside),
        ("dangling", dangling),
        ("dangling-deep", dangling),
        ("dangling/new", dangling),
        ("loop", "leads through too many links"),
        (
            "src/lib.rs/x",
            "leads through something that is not a folder",
        ),
        ("a/../../out/secret", "does not exist"),
        ("zero\0", "holds a zero byte"),
    ] {
        assert_eq!(lead(&land, path), expected, "{path}");
    }
}

#[test]
fn the_name_that_was_given_leads_inside_as_well() {
    let land = land();
    let alias = land.repo.with_file_name("alias").join("src/lib.rs");
    let place = land.root.resolve(&alias).unwrap();
    assert_eq!(place.path, land.repo.join("src/lib.rs"));
    assert!(matches!(
        land.root.resolve(Path::new("src/lib.rs")),
        Err(Astray::Relative)
    ));
}

#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let land = land();
    let place = land.root.resolve(&land.repo.join("a/b/c")).unwrap();
    symlink("../out", land.repo.join("a")).unwrap();
    assert_eq!(place.make_folder().unwrap_err(), Errno::NOTDIR);
    assert!(!land.repo.with_file_name("out").join("b").exists());
}

mod always {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static LAND: LazyLock<Land> = LazyLock::new(land);

    proptest! {
        /// Whatever is asked, what is found has no link and no dots, and lies inside.
        #[test]
        fn inside(parts in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "src", "deep", "sources", "back", "out", "repo", "new", "lib.rs", "absolute",
            ]),
            0..8,
        )) {
            let land = &*LAND;
            if let Ok(place) = land.root.resolve(&land.repo.join(parts.join("/"))) {
                prop_assert!(place.path.starts_with(&land.repo));
                prop_assert_eq!(without_dots(&place.path), place.path.clone());
                if place.stat.is_some() {
                    prop_assert_eq!(place.path.canonicalize().unwrap(), place.path);
                }
            }
        }
    }
}
