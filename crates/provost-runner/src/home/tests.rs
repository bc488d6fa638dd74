use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::agents::named as agent;

const LOGIN: &str = r#"{"claudeAiOauth": {"accessToken": "a", "refreshToken": "b"}}"#;
const RENEWED: &str = r#"{"claudeAiOauth": {"accessToken": "c", "refreshToken": "d"}}"#;

/// A user with a login of Claude Code, and a folder for homes.
struct Land {
    dir: tempfile::TempDir,
    theirs: Environment,
}

impl Land {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let theirs = Environment {
            inherited: [("HOME".into(), dir.path().join("user").into())].into(),
            ..Environment::default()
        };
        let land = Self { dir, theirs };
        land.write(".claude/.credentials.json", LOGIN);
        land.write(".claude/settings.json", r#"{"model": "opus"}"#);
        let state = r#"{"oauthAccount": {"id": 1}, "mcpServers": {"x": {"command": "sh"}}}"#;
        land.write(".claude.json", state);
        land.write(".ssh/id_ed25519", "secret");
        land
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("user").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn homes(&self) -> PathBuf {
        self.dir.path().join("homes")
    }

    fn open(&self, session: Option<&str>) -> Result<AgentHome, HomeError> {
        let claude = agent("claude");
        let (homes, own) = (self.homes(), Terminals::Own);
        AgentHome::open(Some(&homes), claude, session, &self.theirs, own)
    }

    fn login(&self) -> String {
        fs::read_to_string(self.at(".claude/.credentials.json")).unwrap()
    }
}

fn read(home: &AgentHome, path: &str) -> String {
    fs::read_to_string(home.path().join(path)).unwrap_or_default()
}

#[test]
fn an_agents_own_files_are_brought_by_name_and_nothing_else() {
    let land = Land::new();
    let home = land.open(None).unwrap();
    assert_eq!(read(&home, ".claude/.credentials.json"), LOGIN);
    assert_eq!(read(&home, ".claude/settings.json"), r#"{"model": "opus"}"#);
    assert_eq!(read(&home, ".claude.json"), r#"{"oauthAccount":{"id":1}}"#);
    let mut names: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".claude", ".claude.json"]);
    let mode = home.path().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn variables_that_lead_to_the_users_home_are_taken_away() {
    let mut land = Land::new();
    let elsewhere = land.at("claude-elsewhere").into_os_string();
    land.write("claude-elsewhere/settings.json", "{}");
    let variables = &mut land.theirs.inherited;
    variables.insert("CLAUDE_CONFIG_DIR".into(), elsewhere);
    variables.insert("XDG_CONFIG_HOME".into(), "/x".into());
    let home = land.open(None).unwrap();
    assert_eq!(read(&home, ".claude/settings.json"), "{}");
    let environment = home.environment(&land.theirs);
    assert_eq!(environment.home(), home.path());
    assert_eq!(environment.get("CLAUDE_CONFIG_DIR"), None);
    assert_eq!(environment.config_home(), home.path().join(".config"));
}

#[test]
fn an_agent_that_can_have_no_terminal_is_told() {
    let land = Land::new();
    land.write(".gemini/settings.json", r#"{"model": {"name": "m"}}"#);
    let open = |terminals| {
        let gemini = agent("gemini");
        AgentHome::open(None, gemini, None, &land.theirs, terminals).unwrap()
    };
    let off = read(&open(Terminals::None), ".gemini/settings.json");
    let off: serde_json::Value = serde_json::from_str(&off).unwrap();
    assert_eq!(off["tools"]["shell"]["enableInteractiveShell"], false);
    assert_eq!(off["model"]["name"], "m");
    let usual = read(&open(Terminals::Own), ".gemini/settings.json");
    assert!(!usual.contains("enableInteractiveShell"), "{usual}");
}

#[test]
fn a_session_is_found_again_and_nothing_else() {
    let land = Land::new();
    let home = land.open(None).unwrap();
    let first = home.path();
    home.remember("s1");
    fs::create_dir_all(first.join(".claude/projects/p")).unwrap();
    fs::write(first.join(".claude/projects/p/s1.jsonl"), "history").unwrap();
    fs::write(first.join(".bashrc"), "planted").unwrap();
    fs::write(first.join(".claude/settings.json"), "planted").unwrap();
    drop(home);
    // No copy of the login is left.
    assert!(!first.join(".claude/.credentials.json").exists());

    let again = land.open(Some("s1")).unwrap();
    assert_eq!(again.path(), first);
    assert_eq!(read(&again, ".claude/projects/p/s1.jsonl"), "history");
    assert_eq!(
        read(&again, ".claude/settings.json"),
        r#"{"model": "opus"}"#
    );
    assert!(!first.join(".bashrc").exists());
    let busy = land.open(Some("s1")).err().unwrap();
    assert!(matches!(busy, HomeError::InUse(_)), "{busy}");
    assert_ne!(land.open(Some("s2")).unwrap().path(), first);
}

#[test]
fn a_home_without_a_session_goes_with_the_run() {
    let land = Land::new();
    drop(land.open(None).unwrap());
    assert_eq!(fs::read_dir(land.homes()).unwrap().count(), 0);
}

#[test]
fn sessions_behind_a_link_are_not_kept() {
    let land = Land::new();
    let home = land.open(None).unwrap();
    home.remember("s1");
    let path = home.path();
    fs::remove_dir_all(path.join(".claude")).unwrap();
    symlink(land.at(""), path.join(".claude")).unwrap();
    land.write("projects/mine", "mine");
    drop(home);
    let again = land.open(Some("s1")).unwrap();
    assert!(!again.path().join(".claude").is_symlink());
    assert!(!again.path().join(".claude/projects").exists());
    assert_eq!(
        fs::read_to_string(land.at("projects/mine")).unwrap(),
        "mine"
    );
}

#[test]
fn what_a_killed_run_left_is_tidied_by_the_next() {
    let land = Land::new();
    let mut home = land.open(None).unwrap();
    home.remember("s1");
    let path = home.path();
    fs::write(path.join(".claude/.credentials.json"), RENEWED).unwrap();
    // As if it were killed: nothing is closed, and its lock is gone.
    drop(home.lock.take());
    std::mem::forget(home);
    let _next = land.open(None).unwrap();
    assert_eq!(land.login(), RENEWED);
    assert!(!path.join(".claude/.credentials.json").exists());
}

#[test]
fn a_session_that_nobody_went_on_with_is_removed_in_time() {
    let land = Land::new();
    let home = land.open(None).unwrap();
    home.remember("s1");
    let folder = home.folder.clone();
    drop(home);
    drop(land.open(None).unwrap());
    assert!(folder.exists());
    let session = File::options()
        .write(true)
        .open(folder.join("session.json"));
    let session = session.unwrap();
    let changed = session.metadata().unwrap().modified().unwrap();
    let month = Duration::from_hours(31 * 24);
    session.set_modified(changed - month).unwrap();
    drop(land.open(None).unwrap());
    assert!(!folder.exists());
}

#[test]
fn a_login_is_renewed_on_the_other_side() {
    let land = Land::new();
    land.write(".claude/.credentials.json", LOGIN);
    let home = land.open(None).unwrap();
    let inside = home.path().join(".claude/.credentials.json");
    fs::set_permissions(
        land.at(".claude/.credentials.json"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    // By writing another file and renaming it, as many do.
    fs::write(home.path().join("new"), RENEWED).unwrap();
    fs::rename(home.path().join("new"), &inside).unwrap();
    logins::settle(&home.folder);
    assert_eq!(land.login(), RENEWED);
    let mode = land.at(".claude/.credentials.json").metadata().unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o640);

    land.write(".claude/.credentials.json", LOGIN);
    logins::settle(&home.folder);
    assert_eq!(fs::read_to_string(&inside).unwrap(), LOGIN);
}

/// An overlay has the agent find its login by a link, which it may replace.
#[test]
fn a_login_that_is_renewed_where_a_link_was_counts() {
    let land = Land::new();
    let home = land.open(None).unwrap();
    let overlay = land.dir.path().join("overlay");
    fs::create_dir_all(overlay.join("agent")).unwrap();
    let link = overlay.join("agent/login.json");
    symlink(home.path().join(".claude/.credentials.json"), &link).unwrap();
    home.linked_from(&overlay);
    logins::settle(&home.folder);
    assert_eq!(land.login(), LOGIN);
    fs::remove_file(&link).unwrap();
    fs::write(&link, RENEWED).unwrap();
    logins::settle(&home.folder);
    assert_eq!(land.login(), RENEWED);
}

#[test]
fn what_does_not_look_like_the_login_stays_inside() {
    for planted in [
        "",
        "[]",
        r#"{"claudeAiOauth": "text"}"#,
        r#"{"claudeAiOauth": {}, "hooks": {}}"#,
        r"{}",
    ] {
        let land = Land::new();
        let home = land.open(None).unwrap();
        fs::write(home.path().join(".claude/.credentials.json"), planted).unwrap();
        drop(home);
        assert_eq!(land.login(), LOGIN, "{planted}");
    }
}

#[test]
fn a_link_in_the_place_of_a_login_is_not_followed() {
    let land = Land::new();
    land.write("secret.json", RENEWED);
    let home = land.open(None).unwrap();
    let inside = home.path().join(".claude/.credentials.json");
    fs::remove_file(&inside).unwrap();
    symlink(land.at("secret.json"), &inside).unwrap();
    logins::settle(&home.folder);
    assert_eq!(land.login(), LOGIN);
    // Nor is it written through.
    land.write(".claude/.credentials.json", r#"{"claudeAiOauth": {}}"#);
    logins::settle(&home.folder);
    let secret = fs::read_to_string(land.at("secret.json")).unwrap();
    assert_eq!(secret, RENEWED);
}
