use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

use super::*;

/// Resolves when nothing has this number any more; a zombie that nobody reaps counts as gone.
async fn gone(pid: i32) {
    let alive = |pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        test_kill_process(Pid::from_raw(pid).unwrap()).is_ok() && !stat.contains(") Z ")
    };
    let wait = async {
        while alive(pid) {
            tokio::task::yield_now().await;
        }
    };
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, wait)
        .await
        .expect("it lives");
}

impl Land {
    /// Starts a shell that starts another, and returns the terminal and the number of the inner one.
    async fn nested(&self) -> (String, i32) {
        let id = self.run("sh -c 'echo $$; sleep 600; :' & wait").await;
        let patience = Duration::from_secs(20);
        let read = async {
            loop {
                let output = self.of("output", &id).await.unwrap();
                match output["output"].as_str().unwrap().trim().parse() {
                    Ok(pid) => return pid,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        let pid = tokio::time::timeout(patience, read).await.unwrap();
        (id, pid)
    }
}

#[tokio::test]
async fn a_command_runs_and_tells_how_it_ended() {
    let land = Land::new();
    std::fs::create_dir(land.path("sub")).unwrap();
    let params = json!({
        "command": "sh",
        "args": ["-c", "pwd; echo $A >&2; echo end; exit 3"],
        "env": [{ "name": "A", "value": "b c" }],
        "cwd": land.path("sub"),
    });
    let id = land.serve("terminal/create", params).await.unwrap();
    let id = id["terminalId"].as_str().unwrap();
    let exit = json!({ "exitCode": 3, "signal": null });
    assert_eq!(land.of("wait_for_exit", id).await.unwrap(), exit);
    let output = format!("{}\nb c\nend\n", land.path("sub").display());
    assert_eq!(
        land.of("output", id).await.unwrap(),
        json!({ "output": output, "truncated": false, "exitStatus": exit })
    );
    assert_eq!(land.of("release", id).await.unwrap(), json!({}));
    assert_eq!(land.of("output", id).await.unwrap_err().code, -32002);
}

#[tokio::test]
async fn a_command_gets_no_variables_that_are_not_meant_for_it() {
    let land = Land::new();
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let id = land.run("env").await;
    land.of("wait_for_exit", &id).await.unwrap();
    let output = land.of("output", &id).await.unwrap();
    let output = output["output"].as_str().unwrap();
    assert!(output.contains("PATH="), "{output}");
    assert!(!output.contains("CARGO_MANIFEST_DIR"), "{output}");
}

#[tokio::test]
async fn the_last_output_is_kept() {
    let land = Land::new();
    let params = json!({ "command": "printf 'ab\\303\\251\\303\\251'", "outputByteLimit": 3 });
    let id = land.serve("terminal/create", params).await.unwrap();
    let id = id["terminalId"].as_str().unwrap();
    land.of("wait_for_exit", id).await.unwrap();
    let output = land.of("output", id).await.unwrap();
    assert_eq!(
        (&output["output"], &output["truncated"]),
        (&json!("é"), &json!(true))
    );
}

#[tokio::test]
async fn where_a_command_runs_is_inside() {
    let land = Land::new();
    land.put("file", "");
    for (cwd, code, message) in [
        ("../out", -32602, "is outside of the workspace"),
        ("none", -32002, "does not exist"),
        ("file", -32602, "is not a folder"),
    ] {
        let params = json!({ "command": "true", "cwd": land.path(cwd) });
        let error = land.serve("terminal/create", params).await.unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(message), "{error}");
    }
    let params = json!({ "command": "no-such-program", "args": ["x"] });
    let error = land.serve("terminal/create", params).await.unwrap_err();
    assert!(
        error.message.contains("cannot run `no-such-program`"),
        "{error}"
    );
}

#[tokio::test]
async fn killing_ends_the_whole_group_and_waiting_blocks_nobody() {
    let land = Land::new();
    let (id, inner) = land.nested().await;
    let waiting = {
        let (workspace, id) = (Arc::clone(&land.workspace), id.clone());
        let params = to_raw_value(&json!({ "terminalId": id })).unwrap();
        tokio::spawn(async move { workspace.serve("terminal/wait_for_exit", &params).await })
    };
    assert!(
        land.of("output", &id)
            .await
            .unwrap()
            .get("exitStatus")
            .is_none()
    );
    assert_eq!(land.of("kill", &id).await.unwrap(), json!({}));
    let exit = waiting.await.unwrap().unwrap();
    assert_eq!(exit, json!({ "exitCode": null, "signal": "SIGKILL" }));
    gone(inner).await;
    assert_eq!(
        land.of("output", &id).await.unwrap()["output"],
        format!("{inner}\n")
    );
    assert_eq!(land.of("kill", &id).await.unwrap(), json!({}));
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let land = Land::new();
    let id = land.run("sleep 600 & echo $!").await;
    let exit = land.of("wait_for_exit", &id).await.unwrap();
    assert_eq!(exit["exitCode"], 0);
    let output = land.of("output", &id).await.unwrap();
    let left = output["output"].as_str().unwrap().trim().parse().unwrap();
    gone(left).await;
}

#[tokio::test]
async fn release_end_and_drop_kill_as_well() {
    let land = Land::new();
    let (id, inner) = land.nested().await;
    land.of("release", &id).await.unwrap();
    gone(inner).await;

    let (_, inner) = land.nested().await;
    land.workspace.end().await;
    gone(inner).await;
    let params = json!({ "command": "true" });
    let error = land.serve("terminal/create", params).await.unwrap_err();
    assert_eq!(error.message, "not permitted: the run is over");

    let land = Land::new();
    let (_, inner) = land.nested().await;
    drop(land);
    gone(inner).await;
}

#[test]
fn the_end_of_the_runtime_kills_too() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let first = runtime();
    let (_land, inner) = first.block_on(async {
        let land = Land::new();
        let (_, inner) = land.nested().await;
        (land, inner)
    });
    drop(first);
    runtime().block_on(gone(inner));
}

#[tokio::test]
async fn there_are_only_so_many_at_a_time() {
    let limits = Limits {
        terminals: 2,
        ..Limits::default()
    };
    let land = Land::with(Arc::new(Open), limits);
    let first = land.run("true").await;
    land.run("true").await;
    let params = json!({ "command": "true" });
    let error = land.serve("terminal/create", params).await.unwrap_err();
    assert_eq!(error.code, -32003);
    assert!(error.message.contains("release one first"), "{error}");
    land.of("release", &first).await.unwrap();
    land.run("true").await;
}
