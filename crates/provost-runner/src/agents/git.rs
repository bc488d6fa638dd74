//! Programs that git runs for an agent before the agent asks anything. Some agents look at `git status` when a session
//! begins, and git then runs the filters that the repository's own settings name. Hooks and the file-system monitor
//! are switched off by these agents themselves. And where git stops looking for a repository.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::process::geteuid;

use super::Unsafe;

/// What well-known tools write into a repository's settings. Their programs are found on the user's `PATH`.
const KNOWN: [&str; 9] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
    r#"\"git-crypt\" clean"#,
    r#"\"git-crypt\" smudge"#,
    "git-crypt clean",
    "git-crypt smudge",
];

/// More files than anybody includes.
const MOST_FILES: usize = 100;

/// A filter is a program of its own: a repository from an archive may name any.
pub(super) fn filters(agent: &'static str, repo: &Path, home: &Path) -> Result<(), Unsafe> {
    let mut files: Vec<PathBuf> = up_to_root(repo).flat_map(settings_of).collect();
    let mut seen = HashSet::new();
    while let Some(path) = files.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        if seen.len() > MOST_FILES {
            let problem = format!("git's settings here include more than {MOST_FILES} files");
            return Err(Unsafe::Settings {
                agent,
                path,
                problem,
            });
        }
        let Ok(text) = fs::read(&path) else {
            continue;
        };
        for entry in entries(&String::from_utf8_lossy(&text)) {
            files.extend(entry.includes(&path, repo, home));
            if let Some(filter) = entry.runs_filter() {
                return Err(Unsafe::Filter {
                    agent,
                    path,
                    filter,
                });
            }
        }
    }
    Ok(())
}

/// The repository's folder and those above it, to the one that git keeps.
pub(super) fn up_to_root(repo: &Path) -> impl Iterator<Item = &Path> {
    let mut over = false;
    repo.ancestors().take_while(move |folder| {
        let before = over;
        over = over || is_kept(folder);
        !before
    })
}

/// Whether git takes this for the top of a work tree. It looks further up where `.git` is none of its own, and so do
/// we wherever it might.
fn is_kept(folder: &Path) -> bool {
    let git = folder.join(".git");
    let link = fs::read_to_string(&git).ok();
    let link = link
        .as_deref()
        .and_then(|text| text.strip_prefix("gitdir: "));
    let link = link.map(|path| folder.join(path.trim_end()));
    let whole = git.join("objects").is_dir() && git.join("refs").is_dir();
    (whole && is_accepted(&git)) || link.is_some_and(|link| is_accepted(&link))
}

/// Git takes no folder of somebody else's, none without a head, and none of a format that it does not know.
fn is_accepted(git: &Path) -> bool {
    let own = git
        .metadata()
        .is_ok_and(|git| git.uid() == geteuid().as_raw());
    let head = fs::read_to_string(git.join("HEAD")).unwrap_or_default();
    let head = head.trim_end();
    let commit = head.len() >= 40 && head.chars().all(|letter| letter.is_ascii_hexdigit());
    // Of a linked work tree, the settings are the repository's.
    let common = fs::read_to_string(git.join("commondir")).unwrap_or_default();
    let settings = fs::read_to_string(git.join(common.trim_end()).join("config"));
    let settings = settings.unwrap_or_default().to_ascii_lowercase();
    let versions = settings
        .lines()
        .filter(|line| line.contains("repositoryformatversion"));
    let mut versions = versions.map(|line| line.rsplit('=').next().unwrap_or_default().trim());
    own && (commit || head.starts_with("ref: refs/"))
        && !settings.contains("[extensions")
        && versions.all(|version| version == "0")
}

/// Of the repository that has its top, or is kept, in this folder.
fn settings_of(folder: &Path) -> Vec<PathBuf> {
    let git = folder.join(".git");
    let link = fs::read_to_string(&git).ok();
    let link = link
        .as_deref()
        .and_then(|text| text.strip_prefix("gitdir:"))
        .map(|path| folder.join(path.trim()));
    let is_bare = folder.join("HEAD").is_file() && folder.join("objects").is_dir();
    let bare = is_bare.then(|| folder.to_owned());
    let kept = [Some(git), link, bare].into_iter().flatten();
    let files = kept.flat_map(|git| {
        let common = fs::read_to_string(git.join("commondir")).unwrap_or_default();
        let common = git.join(common.trim_end());
        [common.join("config"), git.join("config.worktree")]
    });
    files.collect()
}

/// One line of git's settings.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    /// In small letters.
    section: String,
    subsection: String,
    key: String,
    value: String,
}

impl Entry {
    /// The name of the filter whose program this is.
    fn runs_filter(&self) -> Option<String> {
        let runs = matches!(&*self.key, "clean" | "smudge" | "process");
        let value = self.value.as_str();
        let harmless = value.is_empty() || KNOWN.contains(&value);
        (self.section == "filter" && runs && !harmless).then(|| self.subsection.clone())
    }

    /// Another file of settings, under any condition. What is in the user's home is the user's own, unless it is in
    /// the repository.
    fn includes(&self, file: &Path, repo: &Path, home: &Path) -> Option<PathBuf> {
        let includes = matches!(&*self.section, "include" | "includeif") && self.key == "path";
        let path = includes.then(|| self.value.trim_matches('"'))?;
        let Some(below_home) = path.strip_prefix('~') else {
            return Some(file.parent()?.join(path));
        };
        let path = home.join(below_home.strip_prefix('/')?);
        let real = path.canonicalize().ok()?;
        let mut folders = up_to_root(repo).filter_map(|folder| folder.canonicalize().ok());
        folders
            .any(|folder| real.starts_with(folder))
            .then_some(path)
    }
}

/// Line by line: what goes on from one to the next counts as a line of its own, which finds too much at worst.
fn entries(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let (mut section, mut subsection) = (String::new(), String::new());
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut rest = line.trim();
        while let Some((name, sub, after)) = header(rest) {
            (section, subsection) = (name, sub);
            rest = after.trim();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
        found.push(Entry {
            section: section.clone(),
            subsection: subsection.clone(),
            key: key.trim().to_ascii_lowercase(),
            value: value.trim().to_owned(),
        });
    }
    found
}

/// `[section "subsection"]` or `[section.subsection]`, and what follows.
fn header(line: &str) -> Option<(String, String, &str)> {
    let line = line.strip_prefix('[')?;
    let end = line.find(['"', ']'])?;
    let (name, rest) = line.split_at_checked(end)?;
    let name = name.trim().to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix(']') {
        let (section, sub) = name.split_once('.').unwrap_or((&name, ""));
        return Some((section.to_owned(), sub.to_owned(), rest));
    }
    let mut subsection = String::new();
    let quoted = rest.strip_prefix('"')?;
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                let rest = quoted.get(at + 1..)?.trim_start().strip_prefix(']')?;
                return Some((name, subsection, rest));
            }
            '\\' => subsection.extend(letters.next().map(|(_, letter)| letter)),
            letter => subsection.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(text: &str) -> bool {
        let repo = tempfile::tempdir().unwrap();
        fs::create_dir(repo.path().join(".git")).unwrap();
        fs::write(repo.path().join(".git/config"), text).unwrap();
        filters("Claude Code", repo.path(), Path::new("/nowhere")).is_err()
    }

    #[test]
    fn programs_of_filters_are_found() {
        for (text, refused) in [
            ("[filter \"x\"]\n\tclean = ./x\n", true),
            ("[filter \"x\"] smudge=./x", true),
            ("[FILTER \"a \\\" ] b\"]\nProcess = ./x\n", true),
            ("[filter.x]\nclean = ./x\n", true),
            ("[core][filter \"x\"]clean = ./x\n", true),
            ("\u{feff}[filter \"x\"]\nclean = ./x\n", true),
            ("[filter \"lfs\"]\nclean = git-lfs clean -- %f; ./x\n", true),
            (
                "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\
                 \trequired = true\n",
                false,
            ),
            (
                "[core]\n\tsshCommand = ssh -i key\n\thooksPath = .husky/_\n",
                false,
            ),
            ("[filter \"x\"]\n# clean = ./x\nrequired = false\n", false),
            ("", false),
        ] {
            assert_eq!(is_refused(text), refused, "{text}");
        }
    }

    #[test]
    fn settings_are_found_wherever_git_finds_them() {
        const PLANTED: &str = "[filter \"x\"]\nclean = ./x\n";
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for folder in ["top/.git/worktrees/w", "top/sub", "tree", "bare/objects"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("tree/.git"), "gitdir: ../top/.git/worktrees/w\n").unwrap();
        fs::write(at("top/.git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(at("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        let home = place.path();
        let refused = |folder: &str| filters("Codex", &at(folder), home).is_err();
        for folder in ["top/sub", "tree", "bare"] {
            assert!(!refused(folder), "{folder}");
        }
        fs::write(at("top/.git/config"), "[include]\npath = more\n").unwrap();
        fs::write(at("top/.git/more"), PLANTED).unwrap();
        fs::write(at("bare/config"), PLANTED).unwrap();
        for folder in ["top/sub", "tree", "bare"] {
            assert!(refused(folder), "{folder}");
        }
        let found = filters("Codex", &at("tree"), home).unwrap_err().to_string();
        assert!(found.contains("more") && found.contains("`x`"), "{found}");
    }

    #[test]
    fn files_that_settings_include_are_followed() {
        const PLANTED: &str = "[filter \"x\"]\nclean = ./x\n";
        let home = tempfile::tempdir().unwrap();
        let repo = home.path().join("repo");
        for folder in [".git/objects", ".git/refs"] {
            fs::create_dir_all(repo.join(folder)).unwrap();
        }
        fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let refused = |settings: &str| {
            fs::write(repo.join(".git/config"), settings).unwrap();
            filters("Codex", &repo, home.path()).is_err()
        };
        fs::write(home.path().join("own"), PLANTED).unwrap();
        fs::write(repo.join("planted"), PLANTED).unwrap();
        assert!(!refused("[include]\npath = ~/own\n"));
        assert!(refused("[include]\npath = ~/repo/planted\n"));
        let many = (0..=MOST_FILES).map(|file| format!("path = file{file}\n"));
        let many = many.collect::<String>();
        assert!(refused(&format!("[include]\n{many}")));
    }
}
