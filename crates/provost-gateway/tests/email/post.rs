//! The mail servers of the tests, and the mails in them.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use async_imap::{Client, Session};
use mail_parser::{Message, MessageParser};
use tempfile::TempDir;

pub(crate) const PATIENCE: Duration = Duration::from_secs(40);
const SMTP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/email/smtp.py");
const PYMAP: &str = "from pymap.main import main; main()";
/// It cannot tell when a mail comes.
const WITHOUT_IDLE: &str = "
from pymap.config import BackendCapability as Capability
from pymap.main import main
whole = Capability.__init__
Capability.__init__ = lambda self, *, idle, **others: whole(self, idle=False, **others)
main()
";

/// Takes the mails that we send.
pub(crate) struct Smtp {
    child: Child,
    pub(crate) port: u16,
    folder: TempDir,
}

/// Holds the mails that we read.
pub(crate) struct Imap {
    child: Child,
    pub(crate) port: u16,
}

impl Smtp {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With a certificate and its key it offers STARTTLS.
    pub(crate) fn start_with(certificate: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = python()
            .args([SMTP, folder.path().to_str().unwrap()])
            .args(certificate)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut told = BufReader::new(child.stdout.take().unwrap());
        told.read_line(&mut line).unwrap();
        let port = line.trim().parse().expect("the SMTP server tells its port");
        Self {
            child,
            port,
            folder,
        }
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("smtp://gate:pass%3A%2Fword@127.0.0.1:{}", self.port)
    }

    /// What came so far, the first one first.
    pub(crate) fn mails(&self) -> Vec<Mail> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "eml"));
        paths.sort();
        paths.iter().map(|path| Mail::read(path)).collect()
    }

    /// For each connection, how many were open with it.
    pub(crate) fn connections(&self) -> Vec<usize> {
        let noted = fs::read_to_string(self.folder.path().join("connections"));
        let noted = noted.unwrap_or_default();
        noted.lines().map(|line| line.parse().unwrap()).collect()
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Imap {
    pub(crate) async fn start() -> Self {
        Self::start_as(PYMAP, free_port()).await
    }

    pub(crate) async fn without_idle() -> Self {
        Self::start_as(WITHOUT_IDLE, free_port()).await
    }

    /// Again where one was before.
    pub(crate) async fn start_at(port: u16) -> Self {
        Self::start_as(PYMAP, port).await
    }

    async fn start_as(program: &str, port: u16) -> Self {
        let child = python()
            .args([
                "-c",
                program,
                "--host",
                "127.0.0.1",
                "--no-tls",
                "--port",
                &port.to_string(),
            ])
            .args(["dict", "--demo-user", "gate", "--demo-password", "hunter2"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, port };
        eventually("the IMAP server", async || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        })
        .await;
        server
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("imap://gate:hunter2@127.0.0.1:{}/INBOX", self.port)
    }

    pub(crate) async fn put(&self, raw: impl AsRef<[u8]>) {
        self.put_with(raw, None).await;
    }

    pub(crate) async fn put_with(&self, raw: impl AsRef<[u8]>, flags: Option<&str>) {
        let mut session = self.session().await;
        session.append("INBOX", flags, None, raw).await.unwrap();
    }

    /// How many mails nobody has marked as read.
    pub(crate) async fn unseen(&self) -> usize {
        let mut session = self.session().await;
        session.examine("INBOX").await.unwrap();
        session.uid_search("UNSEEN").await.unwrap().len()
    }

    async fn session(&self) -> Session<tokio::net::TcpStream> {
        let stream = tokio::net::TcpStream::connect(("127.0.0.1", self.port))
            .await
            .unwrap();
        let mut client = Client::new(stream);
        client.read_response().await.unwrap().unwrap();
        let session = client.login("gate", "hunter2").await;
        session.map_err(|(error, _)| error).unwrap()
    }
}

impl Drop for Imap {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A mail that we sent.
pub(crate) struct Mail {
    raw: Vec<u8>,
}

impl Mail {
    fn read(path: &Path) -> Self {
        Self {
            raw: fs::read(path).unwrap(),
        }
    }

    fn parsed(&self) -> Message<'_> {
        MessageParser::default().parse(&self.raw).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> String {
        let parsed = self.parsed();
        let value = parsed.header_raw(name.to_owned()).unwrap_or_default();
        value.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn subject(&self) -> String {
        self.parsed().subject().unwrap().to_owned()
    }

    pub(crate) fn to(&self) -> String {
        let parsed = self.parsed();
        parsed
            .to()
            .unwrap()
            .first()
            .unwrap()
            .address
            .clone()
            .unwrap()
            .into_owned()
    }

    pub(crate) fn reply_to(&self) -> String {
        let parsed = self.parsed();
        parsed
            .reply_to()
            .unwrap()
            .first()
            .unwrap()
            .address
            .clone()
            .unwrap()
            .into_owned()
    }

    pub(crate) fn text(&self) -> String {
        self.parsed().body_text(0).unwrap().replace("\r\n", "\n")
    }

    pub(crate) fn html(&self) -> String {
        self.parsed().body_html(0).unwrap().into_owned()
    }

    /// A reply as programs write the head of one; the body comes with its own headers.
    pub(crate) fn reply(&self, from: &str, body: &str) -> String {
        let id = provost_core::ids::ApprovalId::random();
        let head = format!(
            "From: Someone <{from}>\nTo: {}\nMessage-ID: <{id}@domain.com>\nSubject: Re: {}\n\
             In-Reply-To: {}\nReferences: {}\n{body}",
            self.reply_to(),
            self.header("Subject"),
            self.header("Message-ID"),
            self.header("Message-ID"),
        );
        head.replace('\n', "\r\n")
    }

    /// Our mail as programs quote it.
    pub(crate) fn quoted(&self) -> String {
        let text = self.text();
        text.lines()
            .map(|line| format!("> {line}"))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

fn python() -> Command {
    let python = std::env::var("PROVOST_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let peers = std::env::var_os("PROVOST_TEST_PEERS").expect(
        "this test needs the peers: run ./test.sh, or set PROVOST_TEST_PEERS to what scripts/peers.sh prints",
    );
    let mut command = Command::new(python);
    command.env("PYTHONPATH", Path::new(&peers).join("python"));
    command
}

pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
