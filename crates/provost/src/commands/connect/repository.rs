//! Where settings lie: whether in a repository, which others have as well, and behind which links.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// As many links as the system follows.
const MOST_LINKS: usize = 40;

/// What the root of a work tree holds: of Git, Mercurial, Subversion, Jujutsu, Fossil, Bazaar, Pijul
/// and Sapling.
const MARKS: [&str; 9] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".fslckout",
    "_FOSSIL_",
    ".bzr",
    ".pijul",
    ".sl",
];

/// Whether a file lies in the work tree of a repository, which others get a copy of: by its path, or where the
/// links on its way lead.
pub(super) fn is_in_repository(path: &Path) -> bool {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_below = |path: &Path| path.ancestors().skip(1).any(is_root);
    is_below(&path) || is_below(&behind_links(&path))
}

fn is_root(folder: &Path) -> bool {
    MARKS.iter().any(|mark| folder.join(mark).exists())
}

/// The path of a file as somebody named it: whole, and with no link followed.
pub(super) fn as_named(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut named = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(named.pop()),
            part => named.push(part),
        }
    }
    named
}

/// Settings of a project stay in it: a link that somebody put there would have another agent's, or everybody's,
/// changed instead. Those are a project's that are named by where the current folder is.
pub(super) fn ensure_in_project(path: &Path, folder: &Path) -> anyhow::Result<()> {
    let named = as_named(&folder.join(path));
    if path.is_absolute() || !named.starts_with(folder) {
        return Ok(());
    }
    let project = folder.ancestors().find(|folder| is_root(folder));
    let real = behind_links(&named);
    anyhow::ensure!(
        real.starts_with(behind_links(project.unwrap_or(folder))),
        "`{}` is a link that leads out of this project, to `{}`; if you mean that file, name it with --settings",
        path.display(),
        real.display()
    );
    Ok(())
}

/// Where a file is, or would be made.
pub(super) fn behind_links(path: &Path) -> PathBuf {
    behind(path, MOST_LINKS)
}

fn behind(path: &Path, most: usize) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    let folder = behind(folder, most);
    match fs::read_link(folder.join(name)) {
        Ok(target) if most > 0 => behind(&folder.join(target), most - 1),
        _ => folder.join(name),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn p17_a_file_in_a_repository_is_not_for_keys() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("repo/.git")).unwrap();
        // Of a work tree, it is a file.
        fs::create_dir_all(folder.path().join("tree/deep")).unwrap();
        fs::write(folder.path().join("tree/.git"), "gitdir: x").unwrap();
        for (path, shared) in [
            ("repo/.mcp.json", true),
            ("repo/.vscode/mcp.json", true),
            ("tree/deep/mcp.json", true),
            ("mcp.json", false),
        ] {
            let path = folder.path().join(path);
            assert_eq!(is_in_repository(&path), shared, "{}", path.display());
        }
        for mark in MARKS {
            let root = folder.path().join(format!("with{mark}"));
            fs::create_dir_all(root.join(mark)).unwrap();
            assert!(is_in_repository(&root.join(".mcp.json")), "{mark}");
        }
    }

    #[test]
    fn p06_a_repository_behind_a_link_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("dot/.git")).unwrap();
        fs::create_dir_all(at("dot/claude")).unwrap();
        fs::create_dir_all(at("home/.real")).unwrap();
        for (link, target) in [
            ("home/.claude", "../dot/claude"),
            ("home/.twice", ".claude"),
            ("home/.real/settings.json", "../../dot/not-there.json"),
            ("home/.loop", ".loop"),
            ("dot/out", "../home/.real"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        for (path, shared) in [
            ("home/.claude/settings.json", true),
            ("home/.twice/new/settings.json", true),
            ("home/.real/settings.json", true),
            ("dot/out/other.json", true),
            ("home/.real/other.json", false),
            ("home/.loop", false),
        ] {
            assert_eq!(is_in_repository(&at(path)), shared, "{path}");
        }
    }

    #[test]
    fn p06_a_link_does_not_lead_out_of_a_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let at = |path: &str| root.join(path);
        for made in [
            "home/.claude",
            "repo/.git",
            "repo/sub",
            "repo/.cursor",
            "plain/.own",
            "home/.git",
        ] {
            fs::create_dir_all(at(made)).unwrap();
        }
        for file in ["home/.claude/settings.json", "repo/.cursor/hooks.json"] {
            fs::write(at(file), "{}").unwrap();
        }
        for (link, target) in [
            ("repo/.claude", "../home/.claude"),
            ("repo/sub/.cursor", "../.cursor"),
            ("repo/sub/hooks.json", "../../home/.claude/settings.json"),
            // A mark of a repository behind the link does not make it one's own.
            ("repo/home", "../home"),
            ("plain/mcp.json", ".own/mcp.json"),
            ("plain/out.json", "../home/new.json"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        for (cwd, path, good) in [
            ("repo", ".cursor/hooks.json", true),
            ("repo", ".claude/settings.json", false),
            ("repo", ".claude/new.json", false),
            ("repo", "home/.claude/settings.json", false),
            ("repo/sub", ".cursor/hooks.json", true),
            ("repo/sub", "hooks.json", false),
            ("repo/sub", "new/hooks.json", true),
            ("plain", "mcp.json", true),
            ("plain", "out.json", false),
            // Somebody went there.
            ("plain", "../home/.claude/settings.json", true),
        ] {
            let ensured = ensure_in_project(Path::new(path), &at(cwd));
            assert_eq!(ensured.is_ok(), good, "{cwd} {path}");
        }
        // Named whole, it is the person's own.
        assert!(ensure_in_project(&at("repo/.claude/settings.json"), &at("repo")).is_ok());
    }
}
