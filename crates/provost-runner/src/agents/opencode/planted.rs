//! What makes opencode and Kilo act before they ask anything, whatever they are told: such a run is refused.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    super::{Environment, Unsafe, git::up_to_root, settings},
    KILOS, Names,
};

/// opencode loads the plugins of the repository whatever it is told: their code would run before it asks.
pub(super) fn plugins(repo: &Path) -> Result<(), Unsafe> {
    const OWN: &str = "opencode";
    let found = |path: PathBuf| Err(Unsafe::Planted { agent: OWN, path });
    for folder in up_to_root(repo) {
        let hidden = folder.join(".opencode");
        for plugins in ["plugin", "plugins"] {
            if let Some(script) = script_in(&hidden.join(plugins)) {
                return found(script);
            }
        }
        for folder in [folder, &hidden] {
            for name in ["opencode.json", "opencode.jsonc"] {
                let path = folder.join(name);
                // What cannot be read here might be read by it.
                let named = match settings::json(OWN, &path) {
                    Ok(settings) => settings.is_some_and(|settings| {
                        settings.contains_key("plugin") || settings.contains_key("plugins")
                    }),
                    Err(_) => true,
                };
                if named {
                    return found(path);
                }
            }
        }
    }
    Ok(())
}

/// Kilo starts the MCP servers of its older settings whatever it is told.
pub(super) fn servers(repo: &Path) -> Result<(), Unsafe> {
    let mut files = up_to_root(repo).map(|folder| folder.join(".kilocode/mcp.json"));
    // A link that leads nowhere now may lead somewhere later.
    let found = files.find(|path| path.symlink_metadata().is_ok());
    let agent = KILOS.agent;
    found.map_or(Ok(()), |path| Err(Unsafe::Planted { agent, path }))
}

/// An organisation that the user logged in to (`opencode auth login URL`) gives settings of its own, with MCP servers
/// that are started whatever else is said.
pub(super) fn organisation(environment: &Environment, names: &Names) -> Result<(), Unsafe> {
    let agent = names.agent;
    let folder = environment.path("XDG_DATA_HOME");
    let folder = folder.unwrap_or_else(|| environment.home().join(".local/share"));
    let file = folder.join(names.file).join("auth.json");
    // The file is read where the variable holds nothing that can be.
    let given = environment.get(names.auth);
    let given = given.and_then(|text| serde_json::from_str(&text.to_string_lossy()).ok());
    let (path, logins) = match given {
        Some(logins) => (PathBuf::from(names.auth), Some(logins)),
        None => (file.clone(), settings::json(agent, &file)?),
    };
    let logins = logins.unwrap_or_default();
    let organisation = |login: &Value| login.get("type").is_some_and(|kind| kind == "wellknown");
    let found = logins.iter().find(|(_, login)| organisation(login));
    found.map_or(Ok(()), |(url, _)| {
        Err(Unsafe::Organisation {
            agent,
            path,
            url: url.clone(),
        })
    })
}

fn script_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(
            ending,
            Some("ts" | "js" | "mts" | "mjs" | "cts" | "cjs" | "tsx" | "jsx")
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{super::OURS, *};

    /// A repository that git would take for one, with a folder in it.
    fn repository() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        for folder in [".git/objects", ".git/refs", "sub/.git"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        fs::write(place.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let sub = place.path().join("sub");
        (place, sub)
    }

    fn plant(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }

    #[test]
    fn what_is_planted_is_found_above_a_git_folder_that_is_none() {
        let (place, sub) = repository();
        plugins(&sub).unwrap();
        plant(&place.path().join(".opencode/plugin/x.js"));
        plugins(&sub).unwrap_err();
        // Where git stops, so does opencode.
        fs::create_dir_all(sub.join(".git/objects")).unwrap();
        fs::create_dir_all(sub.join(".git/refs")).unwrap();
        fs::write(sub.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        plugins(&sub).unwrap();
        fs::remove_dir_all(sub.join(".git")).unwrap();
        fs::write(sub.join(".git"), "gitdir: nowhere\n").unwrap();
        plugins(&sub).unwrap_err();
        fs::write(sub.join(".git"), "gitdir: ../.git\n").unwrap();
        plugins(&sub).unwrap();
    }

    #[test]
    fn servers_of_kilos_older_settings_are_found() {
        let (place, sub) = repository();
        servers(&sub).unwrap();
        plant(&place.path().join(".kilocode/mcp.json"));
        let found = servers(&sub).unwrap_err().to_string();
        assert!(found.contains(".kilocode/mcp.json"), "{found}");
    }

    #[test]
    fn a_git_folder_that_git_does_not_take_hides_nothing() {
        for (file, text) in [
            ("HEAD", "garbage\n"),
            ("config", "[core]\n\trepositoryFormatVersion = 99\n"),
            ("config", "[Extensions]\n\tunknown = true\n"),
        ] {
            let (place, sub) = repository();
            plant(&place.path().join(".opencode/plugin/x.js"));
            fs::create_dir_all(sub.join(".git/objects")).unwrap();
            fs::create_dir_all(sub.join(".git/refs")).unwrap();
            fs::write(sub.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(
                sub.join(".git/config"),
                "[core]\n\trepositoryformatversion = 0\n",
            )
            .unwrap();
            plugins(&sub).unwrap();
            fs::write(sub.join(".git").join(file), text).unwrap();
            plugins(&sub).unwrap_err();
        }
    }

    #[test]
    fn the_login_of_an_organisation_is_found() {
        let home = tempfile::tempdir().unwrap();
        let named = |name: &str, value: &str| Environment {
            given: BTreeMap::from([
                ("HOME".to_owned(), home.path().display().to_string()),
                (name.to_owned(), value.to_owned()),
            ]),
            ..Environment::default()
        };
        let plain = named("A", "b");
        organisation(&plain, &OURS).unwrap();
        let key = r#"{"anthropic": {"type": "api", "key": "x"}}"#;
        let company = r#"{"https://example.org": {"type": "wellknown", "key": "T", "token": "t"}}"#;
        let file = home.path().join(".local/share/opencode/auth.json");
        plant(&file);
        fs::write(&file, key).unwrap();
        organisation(&plain, &OURS).unwrap();
        let content = named("OPENCODE_AUTH_CONTENT", company);
        organisation(&content, &OURS).unwrap_err();
        fs::write(&file, company).unwrap();
        let found = organisation(&plain, &OURS).unwrap_err().to_string();
        assert!(found.contains("https://example.org"), "{found}");
        assert!(found.contains("auth.json"), "{found}");
        organisation(&plain, &KILOS).unwrap();
        // Elsewhere, what its variable holds is all that counts.
        organisation(&named("OPENCODE_AUTH_CONTENT", key), &OURS).unwrap();
    }
}
