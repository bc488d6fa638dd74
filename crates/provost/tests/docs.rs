//! The documents are true: every command in them runs, every config in them loads, every path exists.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use provost_gateway::hooks::Dialect;
use serde_json::{Value, json};

/// Commands that are about this repository: they are what runs this test, or take minutes.
const NOT_RUN: [&str; 3] = [
    "./test.sh",
    "cargo run --profile dist -p provost-bench",
    "cargo install --path crates/provost --locked",
];

struct Block {
    info: String,
    text: String,
}

/// A gateway that a document starts. It dies with the document.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block {
                    info: info.to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Runs a document from top to bottom in a folder of its own, on a port of its own.
fn run(document: &str) {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut served = None;
    let mut ran = 0;
    for block in blocks(&text) {
        let text = block
            .text
            .replace("127.0.0.1:9090", &format!("127.0.0.1:{port}"));
        if NOT_RUN.contains(&block.text.trim()) {
            continue;
        }
        match block.info.as_str() {
            "sh" | "sh serve" if text.trim() == "provost serve" => {
                served = Some(serve(folder.path(), port));
            }
            "sh" => shell(document, &text, folder.path(), port),
            "yaml" => {
                let name = text
                    .lines()
                    .next()
                    .and_then(|line| line.strip_prefix("# "))
                    .unwrap();
                fs::write(folder.path().join(name), &text).unwrap();
                if name == "provost.yaml" {
                    shell(document, "provost check", folder.path(), port);
                }
            }
            _ => continue,
        }
        ran += 1;
    }
    drop(served);
    assert!(ran > 0, "{document} has nothing to run");
}

fn command(program: &str, folder: &Path, port: u16) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_provost")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("PATH", path)
        .env("PROVOST_URL", format!("http://127.0.0.1:{port}"))
        .env("FS_BOT_KEY", "a-secret-of-the-test")
        .env("CAROL_LAPTOP", "another-secret-of-the-test")
        .env("TELEGRAM_TOKEN", "1:a-token-of-the-test")
        .env("SMTP_URL", "smtps://gate:secret@mail.example.org")
        .env("IMAP_URL", "imaps://gate:secret@mail.example.org/INBOX")
        .env("SLACK_URL", "https://hooks.example.org/services/a/b")
        .env("HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        // Nobody's own settings are changed.
        .env("HOME", folder.join("home"))
        .env("PROVOST_STATE", folder.join("state"))
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME")
        .stdin(Stdio::null());
    command
}

fn shell(document: &str, script: &str, folder: &Path, port: u16) {
    let output = command("bash", folder, port)
        .args(["-euo", "pipefail", "-c", script])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{document}:\n{script}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn serve(folder: &Path, port: u16) -> Served {
    let mut child = command(env!("CARGO_BIN_EXE_provost"), folder, port)
        .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let listens = lines
        .by_ref()
        .map_while(Result::ok)
        .any(|line| line.contains("listens on"));
    // Read on, so that the gateway never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    let served = Served(child);
    assert!(listens, "the gateway did not start");
    served
}

#[test]
fn the_readme_is_true() {
    run("README.md");
}

#[test]
fn the_policy_guide_is_true() {
    run("docs/policy.md");
}

#[test]
fn the_supervisor_guide_is_true() {
    run("docs/supervisors.md");
}

#[test]
fn the_settings_page_is_true() {
    run("docs/config.md");
}

#[test]
fn the_page_on_connecting_is_true() {
    run("docs/connect.md");
}

#[test]
fn p17_the_page_on_coding_agents_is_true() {
    run("docs/agents.md");
    let text = fs::read_to_string(root().join("docs/agents.md")).unwrap();
    for dialect in Dialect::ALL {
        for tool in dialect.tools() {
            let name = format!("| `{}.{}` |", dialect.prefix(), tool.name);
            let row = text.lines().find(|line| line.starts_with(&name));
            let row = row.unwrap_or_else(|| panic!("there is no row for {name}"));
            for argument in tool.arguments {
                assert!(row.contains(&format!("`{argument}`")), "{name} {argument}");
            }
        }
    }
    // What the page shows is what the command prints.
    let printed = command(env!("CARGO_BIN_EXE_provost"), &root(), 1)
        .args(["policy", "example", "coding-agent"])
        .args(["--project", "/srv/project"])
        .output()
        .unwrap();
    let shown = blocks(&text).into_iter().find(|block| block.info == "yaml");
    assert_eq!(
        String::from_utf8(printed.stdout).unwrap(),
        shown.unwrap().text
    );
}

/// Neither of the policies that the pages teach allows a command that hides another.
#[test]
fn p19_the_policies_of_the_pages_allow_no_hidden_commands() {
    let commands = include_str!("../../provost-core/tests/not_allowed.json");
    let mut commands: Vec<String> = serde_json::from_str(commands).unwrap();
    commands.push("git diff /dev/null /home/u/.ssh/id_rsa".to_owned());
    commands.push("git diff a ../../../home/u/.ssh/id_rsa".to_owned());
    commands.push("git diff --no-inde a b".to_owned());
    for (page, tool, more) in [
        ("docs/agents.md", "claude.Bash", 3),
        ("docs/policy.md", "claude.Bash", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(root().join(page)).unwrap();
        let shown = blocks(&text).into_iter().find(|block| block.info == "yaml");
        fs::write(folder.path().join("provost.yaml"), shown.unwrap().text).unwrap();
        let asked = commands.iter().take(commands.len() - 3 + more);
        let case = |command: &String, expect: &str| {
            json!({
                "name": command, "agent": "claude-1", "tool": tool,
                "params": {"command": command}, "expect": expect,
            })
        };
        let mut cases: Vec<_> = asked.map(|it| case(it, "human_approval")).collect();
        cases.push(case(&"git log -p && git status".to_owned(), "allow"));
        let cases = serde_json::to_string(&cases).unwrap();
        fs::write(folder.path().join("cases.yaml"), cases).unwrap();
        shell(page, "provost policy test cases.yaml", folder.path(), 1);
    }
}

/// The policy for coding agents reads in the project, and asks about the rest.
#[test]
fn p19_the_policy_for_coding_agents_keeps_to_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join("docs/agents.md")).unwrap();
    let shown = blocks(&text).into_iter().find(|block| block.info == "yaml");
    fs::write(folder.path().join("provost.yaml"), shown.unwrap().text).unwrap();
    let asked = [
        ("claude.Grep", json!({"pattern": ".", "glob": ".e*"})),
        ("claude.Grep", json!({"pattern": ".", "glob": "*.env"})),
        ("claude.Grep", json!({"pattern": ".", "glob": "*"})),
        (
            "claude.Grep",
            json!({"pattern": "KEY", "output_mode": "content"}),
        ),
        ("claude.Bash", json!({"command": "ls -la ~/.ssh /etc"})),
        ("claude.Bash", json!({"command": "ls ../other"})),
        ("claude.Bash", json!({"command": "ls --what"})),
        ("claude.Grep", json!({"pattern": "KEY", "path": "/root"})),
        (
            "claude.Grep",
            json!({"pattern": "KEY", "path": "/srv/project/.env"}),
        ),
        ("claude.Glob", json!({"pattern": "/root/**"})),
        ("claude.Glob", json!({"pattern": "**/.e*"})),
        (
            "claude.Read",
            json!({"file_path": "/root/.git-credentials"}),
        ),
        ("claude.Read", json!({"file_path": "/proc/self/environ"})),
        ("claude.Read", json!({"file_path": "/srv/project/../x"})),
        ("claude.Read", json!({"file_path": "/srv/project/.env"})),
        (
            "claude.Read",
            json!({"file_path": "/srv/project/provost-data/admin.key"}),
        ),
        ("cursor.Read", json!({"path": "/etc/passwd"})),
        ("codex.view_image", json!({"path": "/root/id.png"})),
        ("codex.view_image", json!({"path": "/srv/project/.x/a.png"})),
        ("codex.view_image", json!({})),
        ("cursor.Read", json!({"target_file": "/srv/project/a"})),
        ("cursor.Grep", json!({"pattern": ".", "path": "/root"})),
        (
            "cursor.Shell",
            json!({"command": "git diff shadow passwd", "cwd": "/etc"}),
        ),
        (
            "cursor.Shell",
            json!({"command": "git status", "working_directory": "/tmp/evil"}),
        ),
        ("claude.Bash", json!({"command": "cat .env"})),
        ("claude.Bash", json!({"command": "git log | grep -f .env"})),
        ("claude.Bash", json!({"command": "git log | grep -r TOKEN"})),
        ("claude.Bash", json!({"command": "git log | head < .env"})),
        ("claude.Bash", json!({"command": "npm test"})),
        (
            "claude.Bash",
            json!({"command": "python3 - <<'EOF'\nprint(1)\nEOF"}),
        ),
        (
            "claude.Bash",
            json!({"command": "git --no-pager --git-dir=x log"}),
        ),
    ];
    let allowed = [
        ("claude.Grep", json!({"pattern": "fn main"})),
        (
            "claude.Grep",
            json!({"pattern": "x", "path": "/srv/project/src", "glob": "**/*.rs"}),
        ),
        (
            "claude.Grep",
            json!({"pattern": "x", "output_mode": "content", "glob": "*.rs"}),
        ),
        (
            "claude.Bash",
            json!({"command": "ls -la /srv/project/src && ls src"}),
        ),
        ("claude.Glob", json!({"pattern": "src/**/*.ts"})),
        ("codex.view_image", json!({"path": "/srv/project/a.png"})),
        (
            "claude.Read",
            json!({"file_path": "/srv/project/src/main.rs"}),
        ),
        (
            "cursor.Read",
            json!({"file_path": "/srv/project/src/main.rs"}),
        ),
        (
            "cursor.Shell",
            json!({"command": "git status", "cwd": "/srv/project/sub"}),
        ),
        ("cursor.Shell", json!({"command": "git status", "cwd": ""})),
        ("claude.Bash", json!({"command": "git diff HEAD@{1}"})),
        ("claude.Bash", json!({"command": "git --no-pager log -5"})),
        (
            "claude.Bash",
            json!({"command": "git log --oneline | head -5"}),
        ),
        ("claude.Bash", json!({"command": "git status | cat"})),
        (
            "claude.Bash",
            json!({"command": "git log | tail -n 5 | wc -l"}),
        ),
    ];
    let asked = asked.iter().map(|it| (it, "human_approval"));
    let cases: Vec<Value> = asked
        .chain(allowed.iter().map(|it| (it, "allow")))
        .map(|((tool, params), expect)| {
            json!({
                "name": format!("{tool} {params}"), "agent": "a", "tool": tool,
                "params": params, "expect": expect,
            })
        })
        .collect();
    let cases = serde_json::to_string(&cases).unwrap();
    fs::write(folder.path().join("cases.yaml"), cases).unwrap();
    let page = "docs/agents.md";
    shell(page, "provost policy test cases.yaml", folder.path(), 1);
    let warned = "! provost check 2>&1 | grep 'with .* warning'";
    shell(page, warned, folder.path(), 1);
}

#[test]
fn the_page_on_the_console_is_true() {
    run("docs/console.md");
}

#[test]
fn the_page_on_people_is_true() {
    run("docs/people.md");
}

#[test]
fn the_page_on_running_an_agent_runs() {
    run("docs/run.md");
}

#[test]
fn the_page_on_runs_is_true() {
    run("docs/runs.md");
}

#[test]
fn p11_the_page_on_the_record_is_true() {
    run("docs/record.md");
}

/// Everything in backticks that looks like a path of this repository, and every link to a file.
#[test]
fn every_path_the_documents_name_exists() {
    let mut named = 0;
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/agents.md",
        "docs/policy.md",
        "docs/config.md",
        "docs/connect.md",
        "docs/console.md",
        "docs/run.md",
        "docs/people.md",
        "docs/record.md",
        "docs/runs.md",
        "docs/supervisors.md",
    ] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let quoted = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|path| path.starts_with("crates/"));
        let base = root().join(document).parent().unwrap().to_owned();
        for path in quoted {
            assert!(
                root().join(path).exists(),
                "{document} names {path}, which is not there"
            );
            named += 1;
        }
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            assert!(
                link.contains("://") || base.join(link.split('#').next().unwrap()).exists(),
                "{document} links to {link}, which is not there"
            );
        }
    }
    assert!(
        named > 30,
        "only {named} paths found: has the form of the documents changed?"
    );
}

#[test]
fn every_room_stands_in_the_architecture() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            text.contains(&format!("`crates/{name}`")),
            "ARCHITECTURE.md does not name {name}"
        );
    }
}
