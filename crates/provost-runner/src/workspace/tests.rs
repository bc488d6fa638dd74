mod files;
mod terminals;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;

/// A repository beside a folder that is none of the agent's business.
struct Land {
    dir: tempfile::TempDir,
    workspace: Arc<Workspace>,
}

impl Land {
    fn new() -> Self {
        Self::with(Arc::new(Open), Limits::default())
    }

    fn with(gate: Arc<dyn Gate>, limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("repo")).unwrap();
        std::fs::create_dir(dir.path().join("out")).unwrap();
        let workspace = Workspace::new(&dir.path().join("repo"), limits).unwrap();
        let workspace = Arc::new(workspace.with_gate(gate));
        Self { dir, workspace }
    }

    fn path(&self, path: &str) -> PathBuf {
        let real = self.dir.path().canonicalize().unwrap();
        real.join("repo").join(path)
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(path), content).unwrap();
    }

    fn holds(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    async fn serve(&self, method: &str, mut params: Value) -> Result<Value, RpcError> {
        params["sessionId"] = json!("s");
        let params = to_raw_value(&params).unwrap();
        self.workspace.serve(method, &params).await
    }

    async fn read(&self, path: &str) -> Result<String, RpcError> {
        let params = json!({ "path": self.path(path) });
        let answer = self.serve("fs/read_text_file", params).await?;
        Ok(answer["content"].as_str().unwrap().to_owned())
    }

    async fn write(&self, path: &str, content: &str) -> Result<Value, RpcError> {
        let params = json!({ "path": self.path(path), "content": content });
        self.serve("fs/write_text_file", params).await
    }

    async fn run(&self, line: &str) -> String {
        let params = json!({ "command": line });
        let answer = self.serve("terminal/create", params).await.unwrap();
        answer["terminalId"].as_str().unwrap().to_owned()
    }

    async fn of(&self, method: &str, id: &str) -> Result<Value, RpcError> {
        let method = format!("terminal/{method}");
        self.serve(&method, json!({ "terminalId": id })).await
    }
}

/// Remembers what it was asked; answers what it is told to.
#[derive(Default)]
struct Scribe {
    asked: Mutex<Vec<Act>>,
    refuse: Option<&'static str>,
}

#[async_trait]
impl Gate for Scribe {
    async fn may(&self, act: Act) -> Result<(), String> {
        self.asked.lock().unwrap().push(act);
        self.refuse.map_or(Ok(()), |reason| Err(reason.to_owned()))
    }
}

#[tokio::test]
async fn what_is_not_served_or_not_understood_is_told() {
    let land = Land::new();
    let path = land.path("x");
    for (method, params, code, message) in [
        ("fs/delete", json!({}), -32601, "`fs/delete` is not served"),
        (
            "fs/read_text_file",
            json!({}),
            -32602,
            "missing field `path`",
        ),
        (
            "fs/read_text_file",
            json!({ "path": path, "line": -1 }),
            -32602,
            "expected a whole number of 0 or more",
        ),
        (
            "fs/write_text_file",
            json!({ "path": path }),
            -32602,
            "missing field `content`",
        ),
        (
            "terminal/create",
            json!({ "command": " " }),
            -32602,
            "`command` is empty",
        ),
        (
            "terminal/create",
            json!({ "command": "a\0" }),
            -32602,
            "zero byte",
        ),
        (
            "terminal/create",
            json!({ "command": "a", "env": [{ "name": "A=B", "value": "" }] }),
            -32602,
            "`A=B` cannot be set",
        ),
        (
            "terminal/output",
            json!({}),
            -32602,
            "missing field `terminalId`",
        ),
        (
            "terminal/output",
            json!({ "terminalId": "t" }),
            -32002,
            "no terminal `t`",
        ),
    ] {
        let error = land.serve(method, params).await.unwrap_err();
        assert_eq!(error.code, code, "{method}: {error}");
        assert!(error.message.contains(message), "{method}: {error}");
    }
}

#[tokio::test]
async fn without_a_gate_only_reading_is_permitted() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "1").unwrap();
    let workspace = Workspace::new(dir.path(), Limits::default()).unwrap();
    let land = Land {
        dir,
        workspace: Arc::new(workspace),
    };
    let at = land.dir.path().join("a");
    let read = land.serve("fs/read_text_file", json!({ "path": at })).await;
    assert_eq!(read.unwrap(), json!({ "content": "1" }));
    let write = json!({ "path": at, "content": "2" });
    let write = land.serve("fs/write_text_file", write).await.unwrap_err();
    let run = json!({ "command": "true" });
    let run = land.serve("terminal/create", run).await.unwrap_err();
    assert_eq!((write.code, run.code), (-32003, -32003));
}

#[tokio::test]
async fn the_gate_sees_what_will_happen_and_its_reason_is_told() {
    let gate = Arc::new(Scribe {
        refuse: Some("the file is frozen"),
        ..Scribe::default()
    });
    let land = Land::with(Arc::clone(&gate) as _, Limits::default());
    land.put("a", "old");
    land.put("blob", [0xFF, 0xFE]);
    std::os::unix::fs::symlink("a", land.path("link")).unwrap();
    let create = json!({ "command": "ls", "args": ["-l"], "env": [{ "name": "A", "value": "1" }] });

    let refused = land.write("link", "new").await.unwrap_err();
    assert_eq!(refused.message, "not permitted: the file is frozen");
    assert_eq!(
        refused.data,
        Some(json!({ "reason": "the file is frozen" }))
    );
    land.write("blob", "new").await.unwrap_err();
    land.write("deep/er", "new").await.unwrap_err();
    land.read("a").await.unwrap_err();
    land.serve("terminal/create", create).await.unwrap_err();

    assert_eq!(land.holds("a"), "old");
    assert!(!land.path("deep").exists());
    assert_eq!(land.workspace.take_changed().len(), 0);
    let write = |path: &str, old| Act::Write {
        path: land.path(path),
        old,
        new: "new".to_owned(),
    };
    let expected = [
        write("a", Old::Text("old".to_owned())),
        write("blob", Old::Opaque { bytes: 2 }),
        write("deep/er", Old::Missing),
        Act::Read {
            path: land.path("a"),
        },
        Act::Run {
            command: "ls".to_owned(),
            args: vec!["-l".to_owned()],
            cwd: land.path(""),
            env: vec![("A".to_owned(), "1".to_owned())],
        },
    ];
    assert_eq!(*gate.asked.lock().unwrap(), expected);
}
