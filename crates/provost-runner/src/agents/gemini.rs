//! Gemini CLI: a home of its own, with settings and a policy. It takes a file in the place of the machine's
//! administrator only if that is root's, and else goes on without.

use std::{fs, io, path::Path};

use serde_json::{Value, json};

use super::{Ground, Offers, Overlay, Profile, Unsafe, files::Base, says, settings};
use crate::metering::{Metering, Told};

const OWN: &str = "Gemini CLI";
/// A sub-agent's question never reaches the client, and the prompt would hang: so there are none.
const POLICY: &str = r#"[[rule]]
toolName = "*"
decision = "ask_user"
priority = 500

[[rule]]
toolName = ["read_file", "read_many_files", "glob", "grep_search", "list_directory", "write_todos", "update_topic", "complete_task", "cli_help", "get_internal_docs"]
decision = "allow"
priority = 600

[[rule]]
toolName = "invoke_agent"
decision = "deny"
priority = 700
"#;

const FOLDER: Base = Base::named("GEMINI_CLI_HOME", "");

pub(super) static GEMINI: Profile = Profile {
    name: "gemini",
    title: OWN,
    package: "@google/gemini-cli",
    version: "0.61.0",
    arguments: &["--acp"],
    programs: &["gemini", "gemini-cli"],
    introduces: |said| says(said, &["gemini-cli"]),
    modes: &["default", "plan"],
    withdrawn: None,
    unasked: &["reads files, lists them, and searches in them"],
    unasked_kinds: &[],
    others_act: false,
    arguments_as_text: false,
    habits: &[],
    loosening: &["policy", "adminpolicy", "yolo", "approvalmode", "skiptrust"],
    login: "gemini",
    metering: Metering {
        tokens: Told::AtEnd,
        cost: Told::Never,
    },
    // It cannot create a file where reading one answers an error.
    offers: Offers {
        read: false,
        ..Offers::ALL
    },
    home: &[
        FOLDER.login(".gemini/oauth_creds.json"),
        FOLDER.settings(".gemini/google_accounts.json"),
        FOLDER.settings(".gemini/settings.json"),
        FOLDER.settings(".gemini/installation_id"),
        FOLDER.settings(".gemini/.env"),
        FOLDER.settings(".gemini/GEMINI.md"),
        FOLDER.sessions(".gemini/tmp"),
        FOLDER.sessions(".gemini/projects.json"),
    ],
    shell_settings: Some(".gemini/settings.json"),
    overlay,
};

fn overlay(ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
    // In a folder that is not trusted no server is started, the run's own neither.
    let trusted = !ground.servers.is_empty();
    let environment = ground.environment;
    if trusted && !ground.confined {
        nothing_is_obeyed(ground.repo, &environment.home())?;
    }
    let home = environment.path("GEMINI_CLI_HOME");
    let home = home.unwrap_or_else(|| environment.home()).join(".gemini");
    let text = settings(&home)?.to_string();
    ground.write(OWN, "gemini/.gemini/settings.json", &text)?;
    ground.write(OWN, "gemini/.gemini/policies/provost.toml", POLICY)?;
    for name in [
        "oauth_creds.json",
        "google_accounts.json",
        "installation_id",
        ".env",
    ] {
        ground.link(OWN, &home.join(name), &format!("gemini/.gemini/{name}"))?;
    }
    let kept = home.join("tmp");
    ground.keep(OWN, &kept, "gemini/.gemini/tmp")?;
    if let Some(session) = ground.session {
        set_aside(&kept, session).map_err(|error| Unsafe::Files { agent: OWN, error })?;
    }
    let mut arguments: Vec<String> = ["--approval-mode", "default", "-e", "none"]
        .map(str::to_owned)
        .into();
    arguments.extend(allowed(ground.servers));
    Ok(Overlay {
        variables: vec![
            ("GEMINI_CLI_HOME", ground.own.join("gemini").into()),
            ("GEMINI_CLI_TRUST_WORKSPACE", trusted.to_string().into()),
        ],
        arguments,
        ..Overlay::default()
    })
}

/// It names the file of a session by the minute in which it opens it, and writes a new beginning there before it
/// loads what was in it: a session that is gone on with within its first minute would be lost. So the file gets
/// a name that it does not give, and finds all the same.
fn set_aside(kept: &Path, session: &str) -> io::Result<()> {
    const PREFIX: &str = "session-";
    const ASIDE: &str = "session-kept-";
    let short: String = session.chars().take(8).collect();
    for project in fs::read_dir(kept)?.flatten() {
        let Ok(chats) = fs::read_dir(project.path().join("chats")) else {
            continue;
        };
        for chat in chats.flatten() {
            let name = chat.file_name();
            let name = name.to_string_lossy();
            let Some(rest) = name.strip_prefix(PREFIX) else {
                continue;
            };
            if !name.starts_with(ASIDE) && rest.ends_with(&format!("-{short}.jsonl")) {
                fs::rename(
                    chat.path(),
                    chat.path().with_file_name(format!("{ASIDE}{rest}")),
                )?;
            }
        }
    }
    Ok(())
}

/// The login and the model are the user's.
fn settings(home: &Path) -> Result<Value, Unsafe> {
    let theirs = settings::json(OWN, &home.join("settings.json"))?.unwrap_or_default();
    let mut ours = json!({
        "security": {"disableYoloMode": true, "disableAlwaysAllow": true, "folderTrust": {"enabled": true}},
        "hooksConfig": {"enabled": false},
        "general": {"defaultApprovalMode": "default"},
    });
    let auth = theirs
        .get("security")
        .and_then(|security| security.get("auth"));
    if let Some(auth) = auth {
        settings::merge(&mut ours, json!({"security": {"auth": auth}}));
    }
    let terminal = theirs.get("tools").and_then(|tools| tools.get("shell"));
    if let Some(terminal) = terminal.and_then(|shell| shell.get("enableInteractiveShell")) {
        let shell = json!({"enableInteractiveShell": terminal});
        settings::merge(&mut ours, json!({"tools": {"shell": shell}}));
    }
    if let Some(model) = theirs.get("model") {
        settings::merge(&mut ours, json!({"model": model}));
    }
    Ok(ours)
}

/// The servers that the run names, and no others. A name that no server has stands for none.
pub(super) fn allowed(servers: &[String]) -> Vec<String> {
    let none = ["provost-names-none".to_owned()];
    let names = if servers.is_empty() { &none } else { servers };
    let flags = names
        .iter()
        .flat_map(|name| ["--allowed-mcp-server-names".to_owned(), name.clone()]);
    flags.collect()
}

/// In a folder that it trusts, the settings of the workspace beat those of its home: they run commands (`hooks`,
/// `tools.discoveryCommand`) and name policies that allow everything. Variables come from the nearest `.env` above,
/// whatever git says of these folders. The user's own home is nobody else's to write.
fn nothing_is_obeyed(repo: &Path, home: &Path) -> Result<(), Unsafe> {
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let above = repo.ancestors().filter(|folder| *folder != home);
    let variables = above.chain([repo]).flat_map(|folder| {
        let names = [".gemini/.env", ".env"];
        names.map(|name| folder.join(name))
    });
    let settings = [".gemini/settings.json", ".gemini/policies"].map(|name| repo.join(name));
    // A link that leads nowhere now may lead somewhere later.
    let found = variables
        .chain(settings)
        .find(|path| path.symlink_metadata().is_ok());
    found.map_or(Ok(()), |path| Err(Unsafe::Trusted { agent: OWN, path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trusted_folder_would_have_obeyed_is_found() {
        for (name, refused) in [
            ("home/group/repo/sub/.gemini/settings.json", true),
            ("home/group/repo/sub/.gemini/policies/all.toml", true),
            ("home/group/repo/sub/.env", true),
            // Above the repository that git sees, too.
            ("home/group/repo/.env", true),
            ("home/group/.gemini/.env", true),
            (".env", true),
            // It is not looked for there.
            ("home/group/repo/.gemini/settings.json", false),
            // The user's own.
            ("home/.env", false),
            ("home/.gemini/.env", false),
            ("home/.gemini/settings.json", false),
        ] {
            let place = tempfile::tempdir().unwrap();
            let root = place.path().canonicalize().unwrap();
            let (home, repo) = (root.join("home"), root.join("home/group/repo/sub"));
            fs::create_dir_all(repo.join(".git")).unwrap();
            nothing_is_obeyed(&repo, &home).unwrap();
            let planted = root.join(name);
            fs::create_dir_all(planted.parent().unwrap()).unwrap();
            fs::write(&planted, "{}").unwrap();
            let found = nothing_is_obeyed(&repo, &home);
            assert_eq!(found.is_err(), refused, "{name}: {found:?}");
        }
        // Who works in the home itself has the agent take it for the workspace.
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir(home.join(".gemini")).unwrap();
        fs::write(home.join(".gemini/settings.json"), "{}").unwrap();
        nothing_is_obeyed(&home, &home).unwrap_err();
    }

    #[test]
    fn the_file_of_a_session_that_goes_on_is_set_aside() {
        let kept = tempfile::tempdir().unwrap();
        let chats = kept.path().join("work/chats");
        fs::create_dir_all(&chats).unwrap();
        fs::create_dir(kept.path().join("bin")).unwrap();
        let ours = "session-2026-11-17T19-35-46f27bb1.jsonl";
        let others = "session-2026-11-17T19-35-76d1a2a0.jsonl";
        for name in [ours, others] {
            fs::write(chats.join(name), name).unwrap();
        }
        for _ in 0..2 {
            set_aside(kept.path(), "46f27bb1-ba8a-4fcb-a99a-9c9b580b3f64").unwrap();
        }
        let moved = chats.join("session-kept-2026-11-17T19-35-46f27bb1.jsonl");
        assert_eq!(fs::read_to_string(moved).unwrap(), ours);
        assert!(!chats.join(ours).exists());
        assert!(chats.join(others).exists());
    }
}
