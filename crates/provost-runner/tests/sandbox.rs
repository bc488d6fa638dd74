//! A confined process, run through the launcher: what it reaches, and what it does not.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say so and stop"
)]

use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use provost_runner::sandbox::{self, Enforced, Level, Needs, Spec, Terminals, UnixSockets};
use provost_runner::workspace::{Confinement, Limits, Open, Workspace};
use serde_json::json;
use serde_json::value::to_raw_value;

/// The example that calls the launcher; cargo builds it along with the tests.
fn launcher() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.ancestors().nth(2).unwrap();
    let launcher = built.join("examples/confined");
    assert!(
        launcher.exists(),
        "run `cargo build --example confined` first"
    );
    launcher
}

/// A repository and the agent's folders, beside a folder of the operator that holds a secret.
struct Land {
    dir: tempfile::TempDir,
    spec: Spec,
}

impl Land {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["repo", "home", "tmp", "operator"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("operator/secret"), "secret").unwrap();
        symlink("../operator", dir.path().join("repo/out")).unwrap();
        let at = |path: &str| dir.path().join(path);
        let mut spec = Spec::for_agent(&Needs {
            repo_dir: &at("repo"),
            home: &at("home"),
            temp: &at("tmp"),
            command: "sh".as_ref(),
            path: "/usr/bin:/bin".as_ref(),
            operator_home: Some(&at("operator")),
            extra_read_write: &[],
            extra_read_only: &[],
        });
        spec.report = Some(at("report"));
        Self { dir, spec }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    async fn sh(&self, line: &str) -> Output {
        let mut command =
            sandbox::command(&launcher(), &self.spec, &["/bin/sh", "-c", line]).unwrap();
        command.current_dir(self.at("repo")).output().await.unwrap()
    }

    async fn works(&self, line: &str) -> String {
        let output = self.sh(line).await;
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Fails, with one of the kernel's words for it: a link or move across the border is a wrong device.
    async fn is_denied(&self, line: &str) {
        let output = self.sh(line).await;
        assert!(!output.status.success(), "{line}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let denials = ["ermission denied", "not permitted", "cross-device link"];
        assert!(
            denials.iter().any(|denial| said.contains(denial)),
            "{line}: {said}"
        );
    }

    fn report(&self) -> serde_json::Value {
        let report = std::fs::read_to_string(self.at("report")).unwrap();
        assert_eq!(report.lines().count(), 1);
        serde_json::from_str(&report).unwrap()
    }
}

#[tokio::test]
async fn the_repository_and_the_agents_own_folders_can_be_worked_in() {
    let land = Land::new();
    land.works("mkdir a && echo x > a/b && mv a/b c && rm -r a && chmod +x c")
        .await;
    assert_eq!(std::fs::read_to_string(land.at("repo/c")).unwrap(), "x\n");
    land.works("echo x > ../home/f && ln -s f ../home/g && mv ../home/f ../tmp/f")
        .await;
    land.works("echo x > /dev/null; head -c1 /dev/urandom > /dev/null")
        .await;
    assert_eq!(land.works("echo yes | /usr/bin/cat").await, "yes\n");
}

#[tokio::test]
async fn nothing_else_can_be_read_or_written() {
    let land = Land::new();
    let secret = land.at("operator/secret");
    let secret = secret.display();
    land.is_denied(&format!("cat {secret}")).await;
    land.is_denied(&format!("ls {}", land.at("operator").display()))
        .await;
    land.is_denied(&format!("echo x > {secret}")).await;
    land.is_denied(&format!("truncate -s 0 {secret}")).await;
    land.is_denied(&format!("rm {secret}")).await;
    land.is_denied(&format!("mv {secret} stolen")).await;
    land.is_denied(&format!("ln {secret} stolen")).await;
    land.is_denied("touch ../operator/new").await;
    land.is_denied("cat out/secret").await;
    land.is_denied("echo x > out/new").await;
    land.is_denied("ln -s ../operator/secret s && cat s").await;
    land.is_denied("touch /usr/bin/new-program").await;
    assert_eq!(
        std::fs::read_to_string(land.at("operator/secret")).unwrap(),
        "secret"
    );
    assert_eq!(std::fs::read_dir(land.at("operator")).unwrap().count(), 1);
}

#[tokio::test]
async fn the_testers_own_home_is_out_of_reach() {
    let home = std::env::var("HOME").unwrap();
    let land = Land::new();
    assert!(
        !land
            .spec
            .read_only
            .iter()
            .any(|path| Path::new(&home).starts_with(path))
    );
    land.is_denied(&format!("ls {home}")).await;
    land.is_denied(&format!("touch {home}/provost-was-here"))
        .await;
}

#[tokio::test]
async fn children_are_confined_and_cannot_look_or_shoot_out() {
    let land = Land::new();
    let secret = land.at("operator/secret");
    land.is_denied(&format!(
        "(sh -c 'exec sh -c \"cat {}\"')",
        secret.display()
    ))
    .await;
    let outside = std::process::id();
    land.is_denied(&format!("cat /proc/{outside}/environ"))
        .await;
    if sandbox::support().abi >= 6 {
        land.is_denied(&format!("kill -0 {outside}")).await;
    }
    let status = land.works("grep NoNewPrivs /proc/self/status").await;
    assert_eq!(status.split_whitespace().last(), Some("1"));
    let mut capabilities = land.works("sh -c 'grep CapEff /proc/self/status'").await;
    let capabilities = capabilities.split_off("CapEff:\t".len());
    // Only what root needs for files is left (bits 0, 1, 3 to 7, 10), in a child as well.
    let held = u64::from_str_radix(capabilities.trim(), 16).unwrap();
    assert_eq!(held & !0b100_1111_1011, 0, "{capabilities}");
}

#[tokio::test]
async fn what_is_enforced_is_reported() {
    let mut land = Land::new();
    land.spec.read_only.push("/not/there".into());
    land.works("true").await;
    let enforced: Enforced = serde_json::from_value(land.report()).unwrap();
    assert_eq!(enforced.abi, sandbox::support().abi);
    assert_ne!(enforced.enforced, Level::None);
    assert_eq!(enforced.full(), enforced.lacking.is_empty());
    assert!(enforced.no_new_privs);
    assert!(!enforced.capabilities.contains(&"SYS_ADMIN".to_owned()));
    assert!(enforced.what.contains(&"file:Truncate".to_owned()));
    assert!(enforced.read_write.contains(&land.at("repo")));
    assert_eq!(enforced.missing, [PathBuf::from("/not/there")]);
    land.is_denied("echo forged > ../report").await;
}

#[tokio::test]
async fn ports_that_are_not_named_are_closed() {
    let mut land = Land::new();
    let servers = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [open, closed] = servers.each_ref().map(|s| s.local_addr().unwrap().port());
    land.spec.network = Some(vec![open]);
    let connect = |port| format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    land.works(&connect(open)).await;
    land.is_denied(&connect(closed)).await;
}

/// TCP by other names, each of which Landlock does not see.
const HIDDEN_TCP: [&str; 4] = [
    // Multipath TCP.
    "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(to)",
    "socket.socket(socket.AF_INET6, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, 262)",
    "socket.socket(socket.AF_INET, socket.SOCK_STREAM).sendto(b\"x\", 0x20000000, to)",
    "socket.socket(socket.AF_INET, socket.SOCK_STREAM).sendmsg([b\"x\"], [], 0x20000000, to)",
];

#[tokio::test]
async fn ports_are_closed_to_other_names_of_tcp() {
    let mut land = Land::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let to = server.local_addr().unwrap().port();
    let python = |line: &str| {
        let script = format!("import socket; to = (\"127.0.0.1\", {to}); {line}");
        format!("/usr/bin/python3 -c '{script}'")
    };
    land.spec.network = Some(vec![]);
    for line in HIDDEN_TCP {
        let output = land.sh(&python(line)).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("Protocol not supported"), "{line}: {said}");
    }
    assert!(server.accept().is_err(), "somebody connected");
    let what = land.report()["what"].to_string();
    assert!(what.contains("network:OtherThanTcp"), "{what}");
    // Without a limit they are the agent's own business.
    land.spec.network = None;
    land.works(&python(HIDDEN_TCP[2])).await;
    server.accept().unwrap();
}

#[tokio::test]
async fn other_processes_keep_their_limits() {
    let land = Land::new();
    let mut other = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let limit = |process: &str| {
        let set = format!("resource.prlimit({process}, resource.RLIMIT_CORE, (0, 0))");
        format!("/usr/bin/python3 -c 'import resource; {set}'")
    };
    land.is_denied(&limit(&other.id().to_string())).await;
    land.works(&limit("0")).await;
    land.works("ulimit -c 0").await;
    other.kill().unwrap();
    other.wait().unwrap();
}

/// Memory and queues by number, and keys, through the C library.
const SHARED: &str = "import ctypes, sys
c = ctypes.CDLL(None, use_errno=True)
made = c.shmget(int(sys.argv[1]), 4096, 0o600 | int(sys.argv[2]))
print(made if made < 0 else 0)";
const KEYS: &str = "import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
# Reads the id of the keyring of the user.
c.syscall(250, 0, -4, 0) < 0 and exit(os.strerror(ctypes.get_errno()))";

#[tokio::test]
async fn memory_and_keys_of_others_are_out_of_reach() {
    const KEY: u32 = 0x5052_4f56;
    const MAKE: u32 = 0o1000;
    let mut land = Land::new();
    let python = |script: &str| format!("/usr/bin/python3 -c '{script}'");
    let shared = |make: u32| format!("{} {KEY} {make}", python(SHARED));
    let outside = |line: String| {
        std::process::Command::new("sh")
            .args(["-c", &line])
            .output()
    };
    let made = outside(shared(MAKE)).unwrap();
    assert_eq!(made.stdout, b"0\n", "{made:?}");
    assert_eq!(land.works(&shared(0)).await, "-1\n");
    // With terminals of its own it has memory of its own.
    let possible = sandbox::probe(&launcher()).await.unwrap();
    if possible.terminals == Terminals::Own {
        land.spec.terminals = Terminals::Own;
        assert_eq!(land.works(&shared(0)).await, "-1\n");
        assert_eq!(land.works(&shared(MAKE)).await, "0\n");
    }
    let removed = format!("ipcrm -M {KEY}");
    assert!(outside(removed).unwrap().status.success());
    if cfg!(target_arch = "x86_64") {
        land.is_denied(&python(KEYS)).await;
    }
}

/// Connects, or says why not. Python, because shells have no words for it.
const CONNECT: &str = "import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(9))";

#[tokio::test]
async fn sockets_of_others_are_out_of_reach() {
    let mut land = Land::new();
    let socket = land.at("operator/agent.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let connect = format!("/usr/bin/python3 -c '{CONNECT}' {}", socket.display());
    land.is_denied(&connect).await;
    let closed = land.report()["unixSockets"].clone();
    let landlock = sandbox::support().abi >= 9;
    assert_eq!(closed, if landlock { "landlock" } else { "seccomp" });
    // Pairs are what programs talk to their children with.
    land.works("/usr/bin/python3 -c 'import socket; socket.socketpair()'")
        .await;

    land.spec.unix_sockets = UnixSockets::Allow;
    let output = land.sh(&format!("timeout 0.2 {connect}")).await;
    assert_eq!(output.status.code(), Some(124), "it waits: {output:?}");
    assert_eq!(land.report()["unixSockets"], "nothing");
}

/// Where this user can have terminals of its own, and else that there are none.
#[tokio::test]
async fn terminals_are_its_own() {
    let mut land = Land::new();
    let open = "/usr/bin/python3 -c 'import os, pty; print(os.ttyname(pty.openpty()[1]))'";
    assert!(!land.sh(open).await.status.success());
    let possible = sandbox::probe(&launcher()).await.unwrap();
    land.spec.terminals = Terminals::Own;
    if possible.terminals == Terminals::None {
        assert!(possible.problem.is_some());
        assert!(!land.sh(open).await.status.success());
        return;
    }
    assert_eq!(land.works(open).await, "/dev/pts/0\n");
    assert_eq!(land.works("ls /dev/pts").await, "ptmx\n");
    land.works("/usr/bin/python3 -c 'import multiprocessing; multiprocessing.Lock()'")
        .await;
    land.works(
        "/usr/bin/python3 -c 'import pty; pty.spawn([\"sh\", \"-c\", \"echo x > /dev/tty\"])'",
    )
    .await;
    assert_eq!(land.report()["terminals"], "own");
}

#[tokio::test]
async fn a_command_that_is_not_there_is_told() {
    let land = Land::new();
    let mut command = sandbox::command(&launcher(), &land.spec, &["no-such-program"]).unwrap();
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(126));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`no-such-program` cannot be run"), "{said}");
}

#[tokio::test]
async fn a_report_that_cannot_be_written_stops_everything() {
    let mut land = Land::new();
    land.spec.report = Some(land.at("none/report"));
    let output = land.sh("touch ran").await;
    assert_eq!(output.status.code(), Some(126));
    assert!(!land.at("repo/ran").exists());
}

#[tokio::test]
async fn terminals_of_a_confined_workspace_are_confined() {
    let land = Land::new();
    let workspace = Workspace::new(&land.at("repo"), Limits::default())
        .unwrap()
        .with_gate(Arc::new(Open))
        .with_variable("HOME", land.at("home"))
        .with_confinement(Confinement {
            launcher: launcher(),
            spec: land.spec.clone(),
        });
    let ask = async |method: &str, params| {
        let params = to_raw_value(&params).unwrap();
        workspace.serve(method, &params).await.unwrap()
    };
    let line = "echo x > inside; echo home > ~/file; cat out/secret && echo got it";
    let id = ask("terminal/create", json!({ "command": line })).await;
    let exit = ask("terminal/wait_for_exit", id.clone()).await;
    let output = ask("terminal/output", id).await;
    assert_ne!(exit["exitCode"], 0, "{output}");
    assert!(
        output["output"]
            .as_str()
            .unwrap()
            .contains("ermission denied"),
        "{output}"
    );
    assert!(land.at("repo/inside").exists() && land.at("home/file").exists());
    assert!(!land.at("report").exists(), "the report is the agent's");
}
