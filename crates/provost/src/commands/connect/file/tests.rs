use std::{fs::File, os::unix::fs::symlink};

use super::{
    super::{
        note::{Connection, NotedKey},
        plan::Beside,
    },
    *,
};

/// With its backups in a folder of the test.
fn open(path: &Path) -> SettingsFile {
    let folder = path
        .ancestors()
        .find(|folder| folder.join("backups").is_dir());
    SettingsFile::open_in(path, folder.unwrap().join("backups")).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("backups")).unwrap();
    folder
}

fn note(file: &SettingsFile, agent: &str, written: &str) {
    let connection = Connection {
        agent,
        named: &file.named,
        key: NotedKey {
            name: agent.to_owned(),
            file: None,
        },
    };
    let note = Note::new(file.note(), connection, "", written);
    file.write_note(&note).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_comes_back_to_the_byte_with_its_mode() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{ }").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let file = open(&path);
    file.change(&format!("\"pvk_{}\"", "0a".repeat(32)))
        .unwrap();
    assert_eq!(mode(&path), 0o600);

    // A second change does not overwrite the backup.
    let file = open(&path);
    file.change("{\"a\": 2}").unwrap();

    let file = open(&path);
    let backup = file.backup().unwrap().unwrap();
    file.restore(&backup).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
    assert_eq!(mode(&path), 0o640);
    assert_eq!(file.backup().unwrap(), None);
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let folder = folder();
    let path = folder.path().join("new/hooks.json");
    let file = open(&path);
    file.change("{}").unwrap();
    let file = open(&path);
    file.restore(&file.backup().unwrap().unwrap()).unwrap();
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, "{}").unwrap();
    symlink(&target, &link).unwrap();
    open(&link).write("[]").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "[]");
    fs::remove_file(&target).unwrap();
    assert!(SettingsFile::open_in(&link, folder.path().join("backups")).is_err());
}

#[test]
fn what_somebody_wrote_meanwhile_is_not_overwritten() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    let file = open(&path);
    fs::write(&path, "mine").unwrap();
    assert!(file.write("{}").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn p17_nothing_is_left_beside_the_settings() {
    let folder = folder();
    for (name, before) in [("old.json", Some("{ }")), ("new.json", None)] {
        let path = folder.path().join("repository").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        let file = open(&path);
        file.change("{1}").unwrap();
        note(&file, "cursor", "{1}");
        let beside = || fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside(), 1, "{name}");
        let file = open(&path);
        assert!(file.note().unwrap().is_of("{1}"));
        assert!(!file.note().unwrap().is_of("{2}"));
        file.restore(&file.backup().unwrap().unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), before);
        assert_eq!(beside(), usize::from(before.is_some()), "{name}");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
    let backups = fs::read_dir(folder.path().join("backups")).unwrap();
    assert_eq!(backups.count(), 0);
}

#[test]
fn p06_a_link_leads_no_connection_to_the_file_of_another() {
    let folder = folder();
    let root = fs::canonicalize(folder.path()).unwrap();
    let at = |name: &str| root.join(name);
    let (own, dotfile) = (at("settings.json"), at("dotfile.json"));
    for path in [&own, &dotfile] {
        fs::write(path, "{}").unwrap();
    }
    // As people have their own settings elsewhere.
    symlink(&dotfile, at("linked.json")).unwrap();
    for path in [&own, &at("linked.json")] {
        let file = open(path);
        file.ensure_meant("claude-code").unwrap();
        file.change("[]").unwrap();
        note(&file, "claude-code", "[]");
    }
    symlink(&own, at("hooks.json")).unwrap();
    symlink(at("linked.json"), at("planted.json")).unwrap();
    for (name, agent, good) in [
        ("settings.json", "claude-code", true),
        ("settings.json", "cursor", false),
        ("hooks.json", "cursor", false),
        ("hooks.json", "claude-code", false),
        ("linked.json", "claude-code", true),
        ("linked.json", "codex", false),
        ("dotfile.json", "claude-code", true),
        ("planted.json", "claude-code", false),
    ] {
        let meant = open(&at(name)).ensure_meant(agent);
        assert_eq!(meant.is_ok(), good, "{name} {agent}");
    }
    // Without a note, only the file itself.
    fs::remove_file(open(&own).kept(NOTE)).unwrap();
    assert!(open(&at("hooks.json")).ensure_meant("cursor").is_err());
    assert!(open(&own).ensure_meant("claude-code").is_ok());
}

#[test]
fn p06_a_link_beside_the_settings_is_followed_only_as_it_was_connected() {
    let folder = folder();
    let root = fs::canonicalize(folder.path()).unwrap();
    let at = |name: &str| root.join(name);
    for made in ["own", "project", "dotfiles"] {
        fs::create_dir(at(made)).unwrap();
    }
    fs::write(at("dotfiles/config.toml"), "").unwrap();
    fs::write(at("claude.json"), "{}").unwrap();
    let (own, project) = (at("own/config.toml"), at("project/config.toml"));
    let is_meant = |path: &Path, is_default: bool| {
        let beside = Beside {
            path: path.to_owned(),
            is_default,
            edit: |_| Ok(None),
        };
        beside.ensure_meant(&open(path), "codex").is_ok()
    };
    assert!(is_meant(&project, false));
    for link in [&own, &project] {
        symlink(at("dotfiles/config.toml"), link).unwrap();
    }
    assert!(is_meant(&own, true));
    assert!(!is_meant(&project, false));

    let file = open(&own);
    file.change("on").unwrap();
    assert!(!is_meant(&own, true), "without a note");
    note(&file, "codex", "on");
    for (path, is_default, good) in [
        (&own, true, true),
        // As the command for undoing names it.
        (&own, false, true),
        (&at("dotfiles/config.toml"), false, true),
        (&project, false, false),
        (&project, true, false),
    ] {
        assert_eq!(is_meant(path, is_default), good, "{}", path.display());
    }

    let file = open(&at("claude.json"));
    file.change("[]").unwrap();
    note(&file, "claude-code", "[]");
    fs::remove_file(&project).unwrap();
    symlink(at("claude.json"), &project).unwrap();
    assert!(!is_meant(&project, false));
    assert!(!is_meant(&at("claude.json"), false), "of another agent");
}

#[test]
fn p17_a_file_in_a_linked_folder_is_found_again_once_it_is_made() {
    let folder = folder();
    fs::create_dir(folder.path().join("real")).unwrap();
    symlink("real", folder.path().join("link")).unwrap();
    let path = folder.path().join("link/hooks.json");
    open(&path).change("{}").unwrap();
    assert!(open(&path).backup().unwrap().is_some());
}

#[test]
fn p06_settings_that_are_no_file_or_too_large_are_refused() {
    let folder = folder();
    let path = folder.path().join("hooks.json");
    let is_refused = || SettingsFile::open_in(&path, folder.path().join("backups")).is_err();
    symlink("/dev/zero", &path).unwrap();
    assert!(is_refused());
    fs::remove_file(&path).unwrap();
    let file = File::create(&path).unwrap();
    file.set_len(LARGEST + 1).unwrap();
    assert!(is_refused());
}

#[test]
fn p17_nothing_that_was_set_aside_is_replaced() {
    let folder = folder();
    let path = folder.path().join("settings.json");
    for mine in ["one", "two", "three"] {
        fs::write(&path, mine).unwrap();
        let aside = open(&path).set_aside().unwrap().unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), mine);
    }
    let backups = fs::read_dir(folder.path().join("backups")).unwrap();
    assert_eq!(backups.count(), 3);
}

#[test]
fn p06_what_lies_beside_the_settings_is_no_backup() {
    let folder = folder();
    let settings = folder.path().join("hooks.json");
    let secret = folder.path().join("admin.key");
    fs::write(&secret, "pvk_secret").unwrap();
    let beside = |ending: &str| folder.path().join(format!("hooks.json.{ending}"));
    for plant in [
        &|| fs::write(beside(BACKUP), "planted").unwrap() as (),
        &|| symlink(&secret, beside(BACKUP)).unwrap(),
        &|| fs::write(beside(MADE), "").unwrap(),
    ] as [&dyn Fn(); 3]
    {
        plant();
        fs::write(&settings, "own").unwrap();
        assert_eq!(open(&settings).backup().unwrap(), None);
        open(&settings).change("connected").unwrap();
        let file = open(&settings);
        let aside = file.set_aside().unwrap().unwrap();
        assert!(aside.starts_with(folder.path().join("backups")));
        file.restore(&file.backup().unwrap().unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&settings).unwrap(), "own");
        for ending in [BACKUP, MADE] {
            let _ = fs::remove_file(beside(ending));
        }
    }
    // Nor is a link in the folder of backups.
    symlink(&secret, open(&settings).kept(BACKUP)).unwrap();
    assert!(open(&settings).backup().is_err());
    assert!(open(&settings).change("connected").is_err());
}
