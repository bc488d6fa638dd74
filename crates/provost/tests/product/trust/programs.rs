//! What a repository brings along is not what a run starts.

use super::*;

/// Leaves a mark, and is no agent.
fn plant(repository: &Path, mark: &Path) {
    let package = repository.join("node_modules/@agentclientprotocol/claude-agent-acp");
    let bin = repository.join("node_modules/.bin");
    fs::create_dir_all(&package).unwrap();
    fs::create_dir_all(&bin).unwrap();
    let name = json!({"name": "@agentclientprotocol/claude-agent-acp", "version": "99.0.0",
        "bin": {"claude-agent-acp": "index.js"}});
    fs::write(package.join("package.json"), name.to_string()).unwrap();
    let script = format!(
        "#!/usr/bin/env node\nrequire('fs').writeFileSync({}, '')\n",
        json!(mark)
    );
    let program = package.join("index.js");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let link = "../@agentclientprotocol/claude-agent-acp/index.js";
    std::os::unix::fs::symlink(link, bin.join("claude-agent-acp")).unwrap();
    let module = format!("open({}, 'w')\n", json!(mark));
    fs::write(repository.join("planted.py"), module).unwrap();
}

/// A run in that folder. The registry of packages is one that nobody serves.
fn run_in(site: &Site, repository: &Path, arguments: &[&str]) -> Output {
    let mut command = site.command(&["run", "--prompt", "hi", "--permissions", "deny"]);
    command.args(arguments);
    command.current_dir(repository).env("HOME", site.path("."));
    for variable in ["CODING_AGENT_ACP_COMMAND", "CLAUDE_ACP_COMMAND"] {
        command.env_remove(variable);
    }
    command
        .env("npm_config_registry", "http://127.0.0.1:1/")
        .env("npm_config_offline", "true")
        .env("npm_config_update_notifier", "false")
        .env("npm_config_cache", site.path("npm"))
        .output()
        .unwrap()
}

#[test]
fn p06_a_run_does_not_start_an_agent_that_the_repository_brings_along() {
    let site = Site::empty();
    let repository = TempDir::new().unwrap();
    let mark = site.path("planted");
    plant(repository.path(), &mark);
    // The usual agent is not installed, and nobody agreed to that.
    let output = run_in(&site, repository.path(), &[]);
    assert!(!mark.exists());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    for agent in [
        "npx -y @agentclientprotocol/claude-agent-acp",
        "npm exec -y -- @agentclientprotocol/claude-agent-acp",
        "python3 -m planted",
        "python3 planted.py",
    ] {
        let output = run_in(&site, repository.path(), &["--agent", agent]);
        assert!(!mark.exists(), "{agent}");
        assert_eq!(output.status.code(), Some(1), "{agent} {output:?}");
    }
    // A path that somebody gave is meant.
    let program = "./node_modules/.bin/claude-agent-acp";
    run_in(&site, repository.path(), &["--agent", program]);
    assert!(mark.exists());
    let starts = fs::read_dir(site.path("state/starts")).unwrap();
    assert_eq!(starts.count(), 0, "what a run was started in is removed");
}

#[test]
fn p06_a_relative_path_in_the_environment_names_no_run() {
    let site = Site::empty();
    let repository = TempDir::new().unwrap();
    let mark = site.path("planted");
    let run = json!({"runId": "r", "taskId": "t", "sandboxId": "s", "promptId": "p", "prompt": "x",
        "command": ["touch", mark], "permissions": "deny"});
    fs::write(repository.path().join("run.json"), run.to_string()).unwrap();
    let mut command = site.command(&["run", "--no-callback"]);
    command.current_dir(repository.path());
    command.env("PROVOST_CONFIG", "run.json");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("absolute"), "{said}");
    assert!(!mark.exists());
}
