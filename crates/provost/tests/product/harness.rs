//! `provost serve` as a child: started in a folder of its own, killed with its test.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    iter,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{echo::Echo, http::Client};

/// Secrets of the keys in [`KEYS`].
pub(crate) const AGENT: &str = "agent-secret-0123456789";
pub(crate) const FS_BOT: &str = "fs-bot-secret-0123456789";
pub(crate) const ALICE: &str = "alice-secret-0123456789";

/// An agent, a supervisor for the file system, and a person; and agents that have no key.
pub(crate) const KEYS: &str = "auth:
  declared_agents: loopback
  keys:
    - {name: keyed, role: agent, key: agent-secret-0123456789}
    - {name: fs-bot, role: supervisor, tools: ['filesystem.*'], key: fs-bot-secret-0123456789}
    - {name: alice, role: human, key: alice-secret-0123456789}
";

/// Everything asks, one way or another, or is answered at once.
pub(crate) const POLICY: &str = "policies:
  - name: all
    agent: '*'
    rules:
      - {tools: [filesystem.read_file, notes.add, slow.call, held.call], action: allow}
      - {tools: [filesystem.delete_file], action: deny}
      - {tools: ['filesystem.*'], action: supervisor}
      - {tools: ['*'], action: human_approval}
";

pub(crate) const PROVOST: &str = env!("CARGO_BIN_EXE_provost");
/// Some agents take half a minute to start where much else runs.
const PATIENCE: Duration = Duration::from_mins(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Looks again and again until there is something to see. The one place where a test waits for time.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "{what} did not come about");
        thread::park_timeout(BETWEEN_LOOKS);
    }
}

/// A folder with a configuration, in which gateways can be started one after another.
pub(crate) struct Site {
    folder: TempDir,
}

/// A gateway that serves. It dies with this value.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) addr: SocketAddr,
    pub(crate) admin_key: String,
    log: Log,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Site {
    /// `rest` stands in the configuration beside the address, the data folder, the keys and the tools.
    pub(crate) fn new(echo: &Echo, rest: &str) -> Self {
        Self::bare(&configuration(echo, rest))
    }

    fn bare(config: &str) -> Self {
        let site = Self::empty();
        site.configure(config);
        site
    }

    /// Without a configuration.
    pub(crate) fn empty() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    /// Replaced whole, as an editor does it.
    pub(crate) fn configure(&self, config: &str) {
        let new = self.folder.path().join("provost.yaml.new");
        fs::write(&new, config).unwrap();
        fs::rename(new, self.folder.path().join("provost.yaml")).unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("provost.db")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of somebody whose gateways this site knows, as it stands before it is started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROVOST);
        command.args(arguments);
        self.at_home(command)
    }

    fn at_home(&self, mut command: Command) -> Command {
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for variable in ["CONFIG", "DATA", "URL", "KEY", "LOG"] {
            command.env_remove(format!("PROVOST_{variable}"));
        }
        command.env("PROVOST_STATE", self.folder.path().join("state"));
        command
    }

    /// A command that ends by itself, run in the folder.
    pub(crate) fn provost(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// A command that is talked to.
    pub(crate) fn spawn_provost(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let streams = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        streams.spawn().unwrap()
    }

    /// A command that ends by itself, with something to read.
    pub(crate) fn provost_reading(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.spawn_provost(arguments);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    /// A line for the shell, run in the folder.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.at_home(command).output().unwrap()
    }

    /// A search path on which `provost` is found first.
    pub(crate) fn search_path() -> OsString {
        let ours = Path::new(PROVOST).parent().unwrap().to_owned();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let all = iter::once(ours).chain(std::env::split_paths(&others));
        std::env::join_paths(all).unwrap()
    }

    /// The same, of somebody whose home the folder is.
    pub(crate) fn provost_of_owner(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        // What is installed on this machine is no concern of the tests'.
        command.env("PATH", self.folder.path().join("bin"));
        command.env("HOME", self.folder.path());
        for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
            command.env_remove(variable);
        }
        command.output().unwrap()
    }

    pub(crate) fn start(&self) -> Gateway {
        self.start_with(&["serve"])
    }

    pub(crate) fn start_with(&self, arguments: &[&str]) -> Gateway {
        started(self.launch(self.command(arguments)))
    }

    /// How it ended, and what it said, where it does not start.
    pub(crate) fn try_start(&self) -> Result<Gateway, (ExitStatus, String)> {
        self.launch(self.command(&["serve"]))
    }

    /// On a disk that is full when a file has so many blocks of 512 or 1024 bytes.
    pub(crate) fn start_with_files_up_to(&self, blocks: usize) -> Gateway {
        let mut command = Command::new("sh");
        // The signal would end the process; ignored, the write fails.
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" serve");
        command.args(["-c", &limit, PROVOST]);
        started(self.launch(self.at_home(command)))
    }

    /// With so many files that may be open at once, and no way to raise that.
    pub(crate) fn start_with_open_files(&self, files: usize) -> Gateway {
        let mut command = Command::new("sh");
        let limit = format!("ulimit -n {files}; exec \"$0\" serve");
        command.args(["-c", &limit, PROVOST]);
        started(self.launch(self.at_home(command)))
    }

    fn launch(&self, mut command: Command) -> Result<Gateway, (ExitStatus, String)> {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Log::default();
        let (told, address) = mpsc::channel();
        let reading = log.read(&mut child, told);
        let Ok(addr) = address.recv() else {
            // The log ends when the process does.
            let status = child.wait().unwrap();
            reading.join().unwrap();
            return Err((status, log.text()));
        };
        let mut gateway = Gateway {
            child,
            addr,
            admin_key: String::new(),
            log,
        };
        eventually("the gateway's health", || {
            let answer = gateway.client().try_send("GET", "/health", b"").ok()?;
            (answer.status == 200).then_some(())
        });
        let key = fs::read_to_string(self.data().join("admin.key")).unwrap();
        key.trim().clone_into(&mut gateway.admin_key);
        Ok(gateway)
    }

    /// `traces verify` of the record in the data folder, past a gateway that may run.
    pub(crate) fn verify_offline(&self, arguments: &[&str]) -> Output {
        let mut all = vec!["traces", "verify", "--listen", "127.0.0.1:1"];
        if self.path("provost.yaml").exists() {
            all.extend(["--config", "provost.yaml"]);
        } else {
            all.extend(["--data", "data"]);
        }
        all.extend(arguments);
        self.provost(&all)
    }

    /// Proves the chain, with the gateway or without it.
    #[track_caller]
    pub(crate) fn verify_chain(&self, gateway: Option<&Gateway>) {
        let url = gateway.map(Gateway::url);
        let output = match &url {
            Some(url) => self.provost(&["traces", "verify", "--url", url]),
            None => self.verify_offline(&[]),
        };
        let said = String::from_utf8_lossy(&output.stdout);
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{wrong}");
    }
}

fn started(launched: Result<Gateway, (ExitStatus, String)>) -> Gateway {
    launched.unwrap_or_else(|(status, log)| panic!("the gateway did not start: {status}\n{log}"))
}

pub(crate) fn configuration(echo: &Echo, rest: &str) -> String {
    let keys = if rest.contains("auth:") { "" } else { KEYS };
    format!(
        "listen: 127.0.0.1:0\ndata: data\n{keys}{rest}\n{}",
        echo.tools()
    )
}

impl Gateway {
    pub(crate) fn client(&self) -> Client {
        Client::new(self.addr)
    }

    /// The agent `claude`, by its word.
    pub(crate) fn agent(&self) -> Client {
        self.client().agent("claude")
    }

    pub(crate) fn admin(&self) -> Client {
        self.client().key(&self.admin_key)
    }

    pub(crate) fn alice(&self) -> Client {
        self.client().key(ALICE)
    }

    pub(crate) fn fs_bot(&self) -> Client {
        self.client().key(FS_BOT)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub(crate) fn health(&self) -> Value {
        self.client().get("/health").ok().json()
    }

    /// A trace by its id, as a person sees it.
    #[track_caller]
    pub(crate) fn trace(&self, id: &str) -> Value {
        self.alice().get(&format!("/traces/{id}")).ok().json()
    }

    /// The newest thousand.
    pub(crate) fn traces(&self) -> Vec<Value> {
        let list = self.alice().get("/traces?limit=1000").ok().json();
        list.as_array().unwrap().clone()
    }

    /// The one approval that waits, once it does.
    pub(crate) fn one_pending(&self) -> Value {
        let mut pending = eventually("an approval", || {
            Some(self.alice().pending()).filter(|pending| !pending.is_empty())
        });
        assert_eq!(pending.len(), 1, "{pending:?}");
        pending.remove(0)
    }

    /// Until so many callers wait for decisions.
    #[track_caller]
    pub(crate) fn until_waiting(&self, callers: u64) {
        eventually("the callers' waiting", || {
            (self.health()["waiting"] == callers).then_some(())
        });
    }

    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// SIGKILL: nothing is tidied up.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGTERM: everything is.
    pub(crate) fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn ended(&mut self) -> ExitStatus {
        eventually("the gateway's end", || self.child.try_wait().unwrap())
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.end();
        let log = self.log();
        if thread::panicking() {
            eprintln!("the gateway said:\n{log}");
        } else {
            assert!(!log.contains("panicked"), "the gateway panicked:\n{log}");
        }
    }
}

impl Log {
    /// Keeps what the child says, and tells the address it listens on.
    fn read(&self, child: &mut Child, told: mpsc::Sender<SocketAddr>) -> JoinHandle<()> {
        let log = self.clone();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn(move || {
            let mut told = Some(told);
            for line in lines.map_while(Result::ok) {
                let address = line.split_once("listens on http://");
                if let Some(address) = address.and_then(|(_, address)| address.parse().ok())
                    && let Some(told) = told.take()
                {
                    let _ = told.send(address);
                }
                let mut text = log.0.lock().unwrap();
                text.push_str(&line);
                text.push('\n');
            }
        })
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}
