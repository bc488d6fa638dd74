//! What a run may see, use, and leave behind.

use std::time::Instant;

use super::*;

#[tokio::test]
async fn the_environment_is_clean() {
    let dir = tempfile::tempdir().unwrap();
    let env = BTreeMap::from([("TF_TOKEN".to_owned(), Secret::from("hunter2"))]);
    let configured = CliToolConfig {
        env,
        working_dir: Some(dir.path().to_owned()),
        ..bare("env")
    };
    assert!(!format!("{configured:?}").contains("hunter2"));
    let printed = stdout(&tool(configured.clone()), "t.run", json!({})).await;
    let mut names: Vec<_> = printed
        .lines()
        .map(|line| line.split('=').next().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "PATH", "TF_TOKEN"]);
    assert!(
        printed.contains("LANG=C.UTF-8") && printed.contains("TF_TOKEN=hunter2"),
        "{printed}"
    );

    let pwd = tool(CliToolConfig {
        bin: "pwd".into(),
        ..configured
    });
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(
        stdout(&pwd, "t.run", json!({"args": ["-P"]})).await.trim(),
        here.to_str().unwrap()
    );
}

#[tokio::test]
async fn a_failing_program_has_a_result() {
    let script = tool(bare("sh"));
    let dir = tempfile::tempdir().unwrap();
    let failing = dir.path().join("failing");
    std::fs::write(&failing, "echo out; echo err >&2; exit 3").unwrap();
    let (result, error) = run(&script, "t.run", json!({"args": [failing]}))
        .await
        .unwrap();
    assert_eq!(
        result,
        json!({"stdout": "out\n", "stderr": "err\n", "exit_code": 3})
    );
    assert_eq!(error.as_deref(), Some("exit code 3"));
    let (result, error) = run(&script, "t.run", json!({"stdin": "kill -9 $$"}))
        .await
        .unwrap();
    assert_eq!(result["exit_code"], -1);
    assert_eq!(error.as_deref(), Some("ended by signal 9"));
}

#[tokio::test]
async fn output_is_capped_and_drained() {
    let script = tool(bare("sh"));
    let text =
        "head -c 3000000 /dev/zero | tr '\\0' x; head -c 2000000 /dev/zero >&2; echo end >&2";
    let (result, error) = run(&script, "t.run", json!({"stdin": text})).await.unwrap();
    assert_eq!(error, None);
    assert_eq!(result["stdout"].as_str().unwrap().len(), 1024 * 1024);
    assert_eq!(result["stderr"].as_str().unwrap().len(), 1024 * 1024);
    assert_eq!(
        (&result["stdout_truncated"], &result["stderr_truncated"]),
        (&json!(true), &json!(true))
    );
}

#[tokio::test]
async fn a_timeout_kills_the_whole_group() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let limits = CliCommandConfig {
        timeout: Some(Duration::from_millis(100)),
        ..CliCommandConfig::default()
    };
    let script = tool(CliToolConfig {
        bare: Some(limits),
        ..bare("sh")
    });
    let text = format!("sleep 300 & echo $! > {}; wait", pid_file.display());
    let started = Instant::now();
    let error = run(&script, "t.run", json!({"stdin": text}))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the backend did not answer within 100ms");
    assert!(started.elapsed() < Duration::from_secs(10));
    wait_until_gone(&pid_file).await;
}

#[tokio::test]
async fn nothing_outlives_the_call() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let script = tool(bare("sh"));
    let text = format!("sleep 300 & echo $! > {}; echo done", pid_file.display());
    let started = Instant::now();
    assert_eq!(
        stdout(&script, "t.run", json!({"stdin": text})).await,
        "done\n"
    );
    assert!(started.elapsed() < Duration::from_secs(10));
    wait_until_gone(&pid_file).await;
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_the_program_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let text = format!("sleep 300 & echo $! > {}; wait", pid_file.display());
    let call =
        tokio::spawn(async move { run(&tool(bare("sh")), "t.run", json!({"stdin": text})).await });
    while !std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n')) {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    wait_until_gone(&pid_file).await;
}

/// A killed process may stay a zombie until its new parent reaps it: that counts as gone.
async fn wait_until_gone(pid_file: &Path) {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    for _ in 0..200 {
        match std::fs::read_to_string(&stat) {
            Ok(stat) if !stat.contains(") Z") => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            _ => return,
        }
    }
    panic!("process {pid} still runs");
}

#[tokio::test]
async fn a_missing_program_is_a_warning_until_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("later");
    let (tool, problems) = CliTool::build(bare(bin.to_str().unwrap()), &Outlets::default());
    assert_eq!(problems.len(), 1);
    assert!(
        !problems[0].fatal && problems[0].to_string().contains("later"),
        "{problems:?}"
    );
    let tool = tool.unwrap();
    let error = run(&tool, "t.run", json!({})).await.unwrap_err();
    assert!(matches!(error, ForwardError::Unreachable(_)), "{error}");
    std::os::unix::fs::symlink("/bin/echo", &bin).unwrap();
    assert_eq!(
        stdout(&tool, "t.run", json!({"args": ["now"]})).await,
        "now\n"
    );
}
