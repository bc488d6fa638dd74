//! Compilers and interpreters that people install below their home. Each is named with the folders that have its
//! programs, and nothing that has logins or tokens, so that a confined agent can use it without the home around it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// One of them, by the language that it is for.
#[derive(Debug)]
pub struct Toolchain {
    pub name: &'static str,
    installations: &'static [Installation],
}

impl PartialEq for Toolchain {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Toolchain {}

/// Of one folder of `PATH`. The machine's own have more, and lead to no home.
const MOST_LINKS: usize = 4096;

/// What one installer made.
#[derive(Debug)]
struct Installation {
    /// Below the home; the first is where it is, if no variable says so.
    root: &'static str,
    /// Says where it is. Its programs find each other by it, so a process with another home has to have it.
    variable: Option<&'static str>,
    /// What is readable, below the root. Empty: all of it.
    parts: &'static [&'static str],
}

/// A folder that has to be readable, and the variable that leads there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) variables: Vec<(&'static str, PathBuf)>,
}

const fn at(root: &'static str) -> Installation {
    Installation {
        root,
        variable: None,
        parts: &[],
    }
}

const fn led_to(root: &'static str, variable: &'static str) -> Installation {
    Installation {
        variable: Some(variable),
        ..at(root)
    }
}

/// `.cargo` also has the tokens of registries, so only its programs are named.
pub static TOOLCHAINS: [Toolchain; 9] = [
    Toolchain {
        name: "rust",
        installations: &[
            led_to(".rustup", "RUSTUP_HOME"),
            Installation {
                parts: &["bin"],
                ..at(".cargo")
            },
        ],
    },
    Toolchain {
        name: "python",
        installations: &[
            led_to(".pyenv", "PYENV_ROOT"),
            at(".local/share/uv"),
            at(".local/share/pipx/venvs"),
            at(".local/pipx/venvs"),
            at("miniconda3"),
            at("anaconda3"),
            at("miniforge3"),
        ],
    },
    Toolchain {
        name: "node",
        installations: &[
            led_to(".nvm", "NVM_DIR"),
            led_to(".volta", "VOLTA_HOME"),
            led_to(".local/share/fnm", "FNM_DIR"),
            at(".local/state/fnm_multishells"),
            at(".npm-global"),
            at(".local/share/pnpm"),
        ],
    },
    Toolchain {
        name: "go",
        installations: &[
            Installation {
                parts: &["bin"],
                ..at("go")
            },
            at("sdk"),
            at(".local/go"),
        ],
    },
    Toolchain {
        name: "bun",
        installations: &[Installation {
            parts: &["bin"],
            ..at(".bun")
        }],
    },
    Toolchain {
        name: "deno",
        installations: &[Installation {
            parts: &["bin"],
            ..at(".deno")
        }],
    },
    Toolchain {
        name: "java",
        installations: &[Installation {
            root: ".sdkman",
            variable: Some("SDKMAN_DIR"),
            parts: &["candidates", "bin"],
        }],
    },
    Toolchain {
        name: "ruby",
        installations: &[led_to(".rbenv", "RBENV_ROOT"), at(".rvm")],
    },
    Toolchain {
        name: "mise",
        installations: &[
            Installation {
                root: ".local/share/mise",
                variable: Some("MISE_DATA_DIR"),
                parts: &["installs", "shims"],
            },
            Installation {
                root: ".asdf",
                variable: Some("ASDF_DATA_DIR"),
                parts: &["installs", "shims", "bin", "plugins"],
            },
        ],
    },
];

pub fn toolchain(name: &str) -> Option<&'static Toolchain> {
    TOOLCHAINS.iter().find(|toolchain| toolchain.name == name)
}

/// Those that are named, or, where none are, those whose programs are found by `PATH`.
pub(crate) fn find(
    named: Option<&[&'static Toolchain]>,
    home: &Path,
    path: &OsStr,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Found {
    let folders: Vec<PathBuf> = std::env::split_paths(path).flat_map(leads_to).collect();
    let mut found = Found::default();
    for toolchain in &TOOLCHAINS {
        let wanted = named.is_none_or(|named| named.iter().any(|one| one.name == toolchain.name));
        let places: Vec<(&Installation, PathBuf)> = toolchain
            .installations
            .iter()
            .map(|installation| (installation, installation.place(home, &variable)))
            .filter(|(_, root)| root.is_dir())
            .collect();
        let on_path = places
            .iter()
            .any(|(_, root)| folders.iter().any(|folder| folder.starts_with(root)));
        if !wanted || (named.is_none() && !on_path) {
            continue;
        }
        for (installation, root) in places {
            found.readable.extend(installation.readable(&root));
            found
                .variables
                .extend(installation.variable.map(|name| (name, root)));
        }
    }
    found
}

/// The folder itself, and where the links in it lead: `~/.local/bin` is full of them.
fn leads_to(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&folder).into_iter().flatten();
    let links = entries.take(MOST_LINKS).flatten().filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_symlink())
    });
    let mut found: Vec<_> = links
        .filter_map(|link| link.path().canonicalize().ok())
        .collect();
    found.extend(folder.canonicalize());
    found.push(folder);
    found
}

impl Installation {
    fn place(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let led = self.variable.and_then(variable);
        // A variable that leads to a home or above would open it.
        let led = led.filter(|led| led.is_absolute() && !home.starts_with(led));
        led.unwrap_or_else(|| home.join(self.root))
    }

    fn readable(&self, root: &Path) -> Vec<PathBuf> {
        if self.parts.is_empty() {
            return vec![root.to_owned()];
        }
        let parts = self.parts.iter().map(|part| root.join(part));
        parts.filter(|part| part.exists()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for folder in [
            ".rustup/toolchains",
            ".cargo/bin",
            ".cargo/registry",
            ".pyenv/shims",
            ".nvm/versions/node/v1/bin",
        ] {
            create_dir_all(home.path().join(folder)).unwrap();
        }
        home
    }

    #[test]
    fn those_on_the_path_are_found_and_no_others() {
        let home = home();
        let at = |path: &str| home.path().join(path);
        let path = std::env::join_paths([at(".cargo/bin"), "/usr/bin".into()]).unwrap();
        let found = find(None, home.path(), &path, |_| None);
        assert_eq!(found.readable, [at(".rustup"), at(".cargo/bin")]);
        assert_eq!(found.variables, [("RUSTUP_HOME", at(".rustup"))]);
    }

    #[test]
    fn a_link_on_the_path_finds_where_it_leads() {
        let home = home();
        let at = |path: &str| home.path().canonicalize().unwrap().join(path);
        create_dir_all(at(".local/bin")).unwrap();
        std::fs::write(at(".pyenv/shims/python3"), "").unwrap();
        let link = at(".local/bin/python3");
        std::os::unix::fs::symlink(at(".pyenv/shims/python3"), link).unwrap();
        let found = find(None, &at(""), at(".local/bin").as_os_str(), |_| None);
        assert_eq!(found.readable, [at(".pyenv")]);
    }

    #[test]
    fn those_that_are_named_need_not_be_on_the_path() {
        let home = home();
        let at = |path: &str| home.path().join(path);
        let named = [
            toolchain("python").unwrap(),
            toolchain("node").unwrap(),
            toolchain("go").unwrap(),
        ];
        let found = find(Some(&named), home.path(), OsStr::new(""), |_| None);
        assert_eq!(found.readable, [at(".pyenv"), at(".nvm")]);
        assert_eq!(
            find(Some(&[]), home.path(), OsStr::new(""), |_| None),
            Found::default()
        );
    }

    #[test]
    fn a_variable_may_lead_elsewhere_but_not_to_the_home() {
        let home = home();
        let elsewhere = tempfile::tempdir().unwrap();
        let python = [toolchain("python").unwrap()];
        let led = |to: &Path| {
            let to = to.to_owned();
            find(Some(&python), home.path(), OsStr::new(""), move |name| {
                (name == "PYENV_ROOT").then(|| to.clone())
            })
        };
        assert_eq!(led(elsewhere.path()).readable, [elsewhere.path()]);
        for home_itself in [home.path(), Path::new("/")] {
            assert_eq!(led(home_itself).readable, [home.path().join(".pyenv")]);
        }
    }
}
