use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

#[tokio::test]
async fn text_is_read_whole_and_by_lines() {
    let land = Land::new();
    land.put("a", "one\ntwo\nthree\n");
    assert_eq!(land.read("a").await.unwrap(), "one\ntwo\nthree\n");
    let params = json!({ "path": land.path("a"), "line": 2, "limit": 1 });
    let answer = land.serve("fs/read_text_file", params).await.unwrap();
    assert_eq!(answer, json!({ "content": "two\n" }));
}

#[tokio::test]
async fn what_is_no_text_file_of_the_workspace_is_not_read() {
    let land = Land::new();
    std::fs::write(land.path("../out/secret"), "s").unwrap();
    symlink("../out/secret", land.path("link")).unwrap();
    symlink("gone", land.path("dangling")).unwrap();
    land.put("blob", [b'a', 0xFF]);
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        land.path("fifo"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    for (path, code, message) in [
        ("none", -32002, "does not exist"),
        ("none/deeper", -32002, "does not exist"),
        ("link", -32602, "is outside of the workspace"),
        ("../out/secret", -32602, "is outside of the workspace"),
        ("dangling", -32602, "a link whose target does not exist"),
        ("blob", -32602, "is not UTF-8 text"),
        ("fifo", -32602, "is not a regular file"),
        ("", -32602, "is not a regular file"),
    ] {
        let error = land.read(path).await.unwrap_err();
        assert_eq!(error.code, code, "{path}: {error}");
        assert!(error.message.contains(message), "{path}: {error}");
    }
}

#[tokio::test]
async fn sizes_are_bounded() {
    let limits = Limits {
        read: 8,
        write: 4,
        ..Limits::default()
    };
    let land = Land::with(Arc::new(Open), limits);
    land.put("a", "123\n456\n789\n");
    let error = land.read("a").await.unwrap_err();
    assert!(error.message.contains("ask for fewer lines"), "{error}");
    let lines = json!({ "path": land.path("a"), "line": 2 });
    let answer = land.serve("fs/read_text_file", lines).await.unwrap();
    assert_eq!(answer["content"], "456\n789\n");
    let error = land.write("b", "12345").await.unwrap_err();
    assert_eq!(error.message, "`content` is more than 4 bytes");
    assert!(!land.path("b").exists());
}

#[tokio::test]
async fn a_write_makes_folders_keeps_permissions_and_leaves_no_draft() {
    let land = Land::new();
    land.put("run.sh", "old");
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(land.path("run.sh"), mode(0o751)).unwrap();

    assert_eq!(land.write("run.sh", "new").await.unwrap(), json!({}));
    land.write("a/b/c.txt", "text").await.unwrap();
    land.write("a/b/c.txt", "text again").await.unwrap();

    assert_eq!(land.holds("run.sh"), "new");
    assert_eq!(land.holds("a/b/c.txt"), "text again");
    let kept = std::fs::metadata(land.path("run.sh")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o751);
    assert_eq!(land.workspace.take_changed().len(), 2);
    assert_eq!(std::fs::read_dir(land.path("")).unwrap().count(), 2);
    assert_eq!(std::fs::read_dir(land.path("a/b")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_write_stays_inside_and_spares_what_is_no_plain_file() {
    let land = Land::new();
    std::fs::write(land.path("../out/secret"), "s").unwrap();
    symlink("../out/secret", land.path("link")).unwrap();
    symlink("../out", land.path("folder")).unwrap();
    symlink("gone", land.path("dangling")).unwrap();
    std::fs::create_dir(land.path("dir")).unwrap();
    land.put("frozen", "ice");
    let read_only = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(land.path("frozen"), read_only).unwrap();
    for (path, message) in [
        ("link", "is outside of the workspace"),
        ("folder/new", "is outside of the workspace"),
        ("../out/new", "is outside of the workspace"),
        ("dangling", "a link whose target does not exist"),
        ("dir", "is not a regular file"),
        ("frozen", "is read-only"),
        ("frozen/x", "is not a folder"),
    ] {
        let error = land.write(path, "x").await.unwrap_err();
        assert_eq!(error.code, -32602, "{path}: {error}");
        assert!(error.message.contains(message), "{path}: {error}");
    }
    assert_eq!(land.holds("../out/secret"), "s");
    assert_eq!(land.holds("frozen"), "ice");
    assert_eq!(std::fs::read_dir(land.path("../out")).unwrap().count(), 1);
    assert_eq!(land.workspace.take_changed().len(), 0);
}

#[tokio::test]
async fn a_link_inside_is_written_through() {
    let land = Land::new();
    land.put("a", "old");
    symlink("a", land.path("link")).unwrap();
    land.write("link", "new").await.unwrap();
    assert_eq!(land.holds("a"), "new");
    assert!(land.path("link").is_symlink());
}

/// Changes things while it decides, as another command of the agent could.
struct Meddler {
    act: Box<dyn Fn() + Send + Sync>,
}

#[async_trait]
impl Gate for Meddler {
    async fn may(&self, _act: Act) -> Result<(), String> {
        (self.act)();
        Ok(())
    }
}

#[tokio::test]
async fn a_decision_holds_only_for_what_was_shown() {
    let dir = tempfile::tempdir().unwrap();
    let repo = dir.path().canonicalize().unwrap().join("repo");
    std::fs::create_dir_all(repo.join("safe")).unwrap();
    std::fs::create_dir(repo.join("hooks")).unwrap();
    std::fs::write(repo.join("a"), "shown").unwrap();
    symlink("safe", repo.join("link")).unwrap();
    let at = repo.clone();
    let act = move || {
        std::fs::write(at.join("a"), "changed meanwhile").unwrap();
        std::fs::remove_file(at.join("link")).unwrap();
        symlink("hooks", at.join("link")).unwrap();
    };
    let gate = Arc::new(Meddler { act: Box::new(act) });
    let workspace = Workspace::new(&repo, Limits::default()).unwrap();
    let land = Land {
        dir,
        workspace: Arc::new(workspace.with_gate(gate)),
    };
    let error = land.write("a", "new").await.unwrap_err();
    assert!(
        error.message.contains("while the decision was made"),
        "{error}"
    );
    assert_eq!(land.holds("a"), "changed meanwhile");

    std::fs::remove_file(land.path("link")).unwrap();
    symlink("safe", land.path("link")).unwrap();
    let error = land.write("link/x", "new").await.unwrap_err();
    assert!(
        error.message.contains("while the decision was made"),
        "{error}"
    );
    assert!(!land.path("hooks/x").exists());
}
