//! The gateway under test: the real binary, on a folder of its own, with a policy like people write.

use std::{
    ffi::OsStr,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::{load::Connection, process::Server};

/// Ten rules. What the load asks is decided by the fifth.
const POLICIES: &str = r#"
policies:
  - name: bench
    agent: "worker-*"
    rules:
      - {tools: ["secrets.*"], action: deny}
      - {tools: ["shell.exec"], action: human_approval}
      - {tools: ["payments.*"], condition: {field: params.amount, operator: "<", value: 100}, action: allow}
      - {tools: ["fs.write_*"], when: 'params.path WITHIN "/srv/project"', action: supervisor}
      - {tools: ["fs.read_*", "echo"], when: 'params.path STARTS_WITH "/srv/"', action: allow}
      - {tools: ["web.get"], when: 'params.url STARTS_WITH "https://"', action: allow}
      - {tools: ["web.*"], action: supervisor}
      - {tools: ["mail.send"], action: human_approval}
      - {tools: ["calendar.*"], action: allow}
      - {tools: "*", action: deny}
"#;

/// An address where nobody answers.
pub(crate) const NOWHERE: &str = "127.0.0.1:9";

/// Tools that are called at that address.
pub(crate) fn http_tools(backend: &str) -> String {
    format!(
        "http_tools:\n  - {{name: echo, url: \"http://{backend}/\"}}\n  - {{name: shell.exec, url: \"http://{backend}/\"}}\n"
    )
}

/// An upstream MCP server at that address.
pub(crate) fn mcp_server(upstream: SocketAddr) -> String {
    format!("mcp_servers:\n  - {{name: fs, transport: http, url: \"http://{upstream}/mcp\"}}\n")
}

/// Where gateways run: the binary, and a folder that goes away at the end.
pub(crate) struct Stage {
    binary: PathBuf,
    folder: TempDir,
}

pub(crate) struct Gateway {
    pub(crate) server: Server,
    pub(crate) started_in: Duration,
    data: PathBuf,
}

impl Stage {
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(crate) fn prepare(binary: Option<PathBuf>) -> anyhow::Result<Self> {
        let binary = binary.map_or_else(built, Ok)?;
        // Beside the build, on a disk: a temporary folder in memory would make durable writes free.
        let beside = std::env::current_exe()?;
        let beside = beside.parent().context("this program is in no folder")?;
        let folder = tempfile::Builder::new()
            .prefix("provost-bench-")
            .tempdir_in(beside)?;
        Ok(Self { binary, folder })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.folder.path().join(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Starts a gateway on the data folder of that name, with those backends in its configuration.
    pub(crate) async fn gateway(&self, name: &str, backends: &str) -> anyhow::Result<Gateway> {
        let config = self.file(
            &format!("{name}.yaml"),
            [POLICIES, backends].concat().as_bytes(),
        )?;
        let data = self.folder.path().join(name);
        let began = Instant::now();
        let server = Server::start(
            &self.binary,
            &[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--config",
                &config.to_string_lossy(),
                "--data",
                &data.to_string_lossy(),
            ],
        )
        .await?;
        let health = Connection::open(server.addr)
            .await?
            .get("/health", "")
            .await?;
        anyhow::ensure!(health.status == 200, "the gateway is not healthy");
        Ok(Gateway {
            started_in: began.elapsed(),
            server,
            data,
        })
    }
}

impl Gateway {
    /// The authorization of this machine's administrator.
    pub(crate) fn admin(&self) -> anyhow::Result<String> {
        let key = fs::read_to_string(self.data.join("admin.key"))?;
        Ok(format!("authorization: Bearer {}\r\n", key.trim()))
    }
}

/// The binary beside this one, of the same build.
fn built() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let binary = here.with_file_name("provost");
    if !binary.exists() {
        build(&here)?;
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
    if newest(&crates) > modified(&binary) {
        eprintln!(
            "warning: sources are newer than `{}`: build `provost` first, in the same profile",
            binary.display()
        );
    }
    anyhow::ensure!(
        binary.exists(),
        "there is no `{}`: build `provost` in the same profile",
        binary.display()
    );
    Ok(binary)
}

fn build(here: &Path) -> anyhow::Result<()> {
    eprintln!("building the gateway …");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "-p", "provost", "--profile"])
        .arg(profile(here).context("this program is in no folder of cargo's")?);
    let built = command.status().context("cannot run cargo")?;
    anyhow::ensure!(built.success(), "the gateway could not be built");
    Ok(())
}

/// Cargo's folders have the names of their profiles, but for one.
fn profile(here: &Path) -> Option<&OsStr> {
    let folder = here.parent()?.file_name()?;
    Some(if folder == "debug" {
        OsStr::new("dev")
    } else {
        folder
    })
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// When a Rust file of the gateway was last changed. This crate is no part of it.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    entries
        .map(|entry| entry.path())
        .filter_map(|path| match path.extension() {
            _ if path == Path::new(env!("CARGO_MANIFEST_DIR")) => None,
            _ if path.ends_with("tests") => None,
            None => newest(&path),
            Some(extension) if extension == "rs" => modified(&path),
            Some(_) => None,
        })
        .max()
}
