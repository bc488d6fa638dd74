//! One run: its folder, its receiver, its configuration, and what is left of it afterwards.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use provost_runner::{
    config::{self, Config, Missing},
    run::{self, Brake, Ended, Outcome},
    setup::{self, Surroundings},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{
    proof::Proof,
    receiver::{Act, Receiver},
    script::Reply,
};

pub(crate) const TOKEN: &str = "tok_5d41402abc4b2a76";
/// Longer than anything here takes.
const ENOUGH: Duration = Duration::from_secs(45);

pub(crate) struct Trial {
    dir: TempDir,
    pub(crate) receiver: Receiver,
    pub(crate) config: Value,
    pub(crate) brake: Brake,
    methods: BTreeMap<String, String>,
    flags: String,
}

/// What is left of a run.
pub(crate) struct Done {
    pub(crate) ended: Ended,
    pub(crate) reports: Vec<Value>,
    /// What the receiver has of the agent's notifications.
    pub(crate) raw: Vec<String>,
    /// What the agent wrote of them.
    pub(crate) log: Vec<String>,
    /// What the agent was told.
    pub(crate) heard: Vec<Value>,
    pub(crate) journal: Vec<Value>,
    pub(crate) journal_text: String,
}

/// An example, which cargo builds along with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.ancestors().nth(2).unwrap();
    let example = built.join("examples").join(name);
    assert!(example.exists(), "run `cargo build --example {name}` first");
    example
}

impl Trial {
    pub(crate) async fn new() -> Self {
        Self::with([]).await
    }

    pub(crate) async fn with(acts: impl IntoIterator<Item = Act>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let receiver = Receiver::start(Proof::new(TOKEN, TOKEN.as_bytes()), acts).await;
        std::fs::create_dir(dir.path().join("repo")).unwrap();
        let config = json!({
            "runId": "run", "taskId": "task", "sandboxId": "sandbox", "promptId": "prompt",
            "callbackUrl": receiver.url(), "token": TOKEN, "prompt": "do it",
            "repoDir": dir.path().join("repo"), "journal": "journal",
            "limits": {"graceSeconds": 0.4},
            "command": [example("scripted"), dir.path().join("script")], "unknownAgent": "allow",
        });
        Self {
            dir,
            receiver,
            config,
            brake: Brake::default(),
            methods: BTreeMap::new(),
            flags: String::new(),
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn on(mut self, method: &str, reply: Reply) -> Self {
        self.methods.insert(method.to_owned(), reply.text());
        self
    }

    pub(crate) fn prompt(self, reply: Reply) -> Self {
        self.on("session/prompt", reply)
    }

    pub(crate) fn flag(mut self, name: &str) -> Self {
        self.flags = format!("\"{name}\":true,{}", self.flags);
        self
    }

    pub(crate) fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.config[name] = value.into();
        self
    }

    pub(crate) fn limit(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.config["limits"][name] = value.into();
        self
    }

    /// Writes script and configuration down; where the latter is.
    pub(crate) fn write(&self) -> PathBuf {
        let methods = self.methods.iter();
        let methods: Vec<_> = methods
            .map(|(name, reply)| format!("\"{name}\":{reply}"))
            .collect();
        let script = format!(
            r#"{{"log":{},"heard":{},{}"methods":{{{}}}}}"#,
            json!(self.at("log")),
            json!(self.at("heard")),
            self.flags,
            methods.join(",")
        );
        std::fs::write(self.at("script"), script).unwrap();
        let config = self.at("config.json");
        std::fs::write(&config, self.config.to_string()).unwrap();
        config
    }

    pub(crate) fn read(&self) -> Config {
        let text = std::fs::read_to_string(self.write()).unwrap();
        config::read(&text, self.dir.path(), Missing::Nothing).unwrap()
    }

    pub(crate) fn start(&self) -> JoinHandle<Ended> {
        let config = self.read();
        let around = Surroundings {
            launcher: example("confined"),
            brake: self.brake.clone(),
            heartbeat: Some(Duration::from_millis(40)),
            ..Surroundings::default()
        };
        tokio::spawn(async move {
            let (setup, _) = setup::prepare(config, around).await.unwrap();
            run::run(setup).await
        })
    }

    pub(crate) async fn run(&self) -> Done {
        let running = self.start();
        self.end(running).await
    }

    pub(crate) async fn end(&self, running: JoinHandle<Ended>) -> Done {
        let ended = tokio::time::timeout(ENOUGH, running).await;
        self.done(ended.unwrap().unwrap())
    }

    pub(crate) fn done(&self, ended: Ended) -> Done {
        let journal_text = std::fs::read_to_string(self.at("journal")).unwrap();
        let json = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:.200}"))
        };
        let heard = lines(&self.at("heard"));
        Done {
            ended,
            reports: self.receiver.taken(),
            raw: self.receiver.raw(),
            log: lines(&self.at("log")),
            heard: heard.iter().map(|line| json(line)).collect(),
            journal: journal_text
                .split_terminator('\n')
                .map(|line| serde_json::from_str(line).unwrap_or_default())
                .collect(),
            journal_text,
        }
    }

    /// Waits until the file is there, and reads it.
    pub(crate) async fn appears(&self, name: &str) -> String {
        let path = self.at(name);
        until(|| std::fs::read_to_string(&path).is_ok_and(|text| !text.is_empty())).await;
        std::fs::read_to_string(path).unwrap()
    }

    pub(crate) async fn taken(&self, enough: impl Fn(&[Value]) -> bool) {
        let wait = self.receiver.until(|receiver| enough(&receiver.taken()));
        tokio::time::timeout(ENOUGH, wait).await.unwrap();
    }
}

impl Done {
    pub(crate) fn last(&self) -> &Value {
        self.reports.last().unwrap()
    }

    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        let reports = self.reports.iter();
        reports.filter(|report| report["kind"] == kind).collect()
    }

    /// The reports of one prompt, heartbeats left out.
    pub(crate) fn of_prompt(&self, id: &str) -> Vec<&Value> {
        let reports = self.reports.iter();
        reports
            .filter(|report| report["promptId"] == id && report["kind"] != "heartbeat")
            .collect()
    }

    pub(crate) fn terminal(&self) -> &Value {
        let ends = ["prompt_complete", "prompt_failed"];
        let ends = ends.map(|kind| self.of(kind)).concat();
        let [end] = ends[..] else {
            panic!("there must be one end: {ends:?}")
        };
        end
    }

    /// The one report of a failure, which must be of this reason.
    pub(crate) fn failed(&self, reason: &str) -> &Value {
        let end = self.terminal();
        assert_eq!(end["kind"], "prompt_failed", "{end}");
        assert_eq!(end["error"]["data"]["reason"], reason, "{end}");
        let Outcome::Failed { reason: told, .. } = &self.ended.outcome else {
            panic!("{:?}", self.ended)
        };
        assert_eq!(told, reason);
        end
    }

    pub(crate) fn complete(&self, reason: &str) {
        let end = self.terminal();
        assert_eq!(end["stopReason"], reason, "{end}");
        let stop_reason = reason.to_owned();
        assert_eq!(self.ended.outcome, Outcome::Complete { stop_reason });
        assert_eq!(self.ended.drained.left, 0);
    }

    /// Byte for byte what the agent wrote, in its order.
    pub(crate) fn parity(&self) {
        let pairs = self.raw.iter().zip(&self.log);
        for (number, (received, written)) in pairs.enumerate() {
            assert!(
                received == written,
                "notification {number}: {received:.300} is not {written:.300}"
            );
        }
        assert_eq!(self.raw.len(), self.log.len());
    }

    /// The answers to what the agent asked, by its ids.
    pub(crate) fn answers(&self, id: impl Into<Value>) -> Vec<&Value> {
        let id = id.into();
        let heard = self.heard.iter();
        heard
            .filter(|line| line.get("method").is_none() && line["id"] == id)
            .collect()
    }

    pub(crate) fn answer(&self, id: impl Into<Value>) -> &Value {
        let answers = self.answers(id);
        let [answer] = answers[..] else {
            panic!("there must be one answer: {answers:?}")
        };
        answer
    }

    pub(crate) fn told(&self, method: &str) -> Vec<&Value> {
        let heard = self.heard.iter();
        heard.filter(|line| line["method"] == method).collect()
    }

    pub(crate) fn no_journal_of(&self, secret: &str) {
        assert!(!self.journal_text.contains(secret));
    }
}

/// What is not there has no lines.
fn lines(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| String::from_utf8_lossy(&line[..line.len() - 1]).into_owned())
        .collect()
}

/// Looks again until it is so.
pub(crate) async fn until(so: impl Fn() -> bool) {
    let looking = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(ENOUGH, looking).await.unwrap();
}

/// A process that has ended may still be waited for by nobody.
pub(crate) fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
