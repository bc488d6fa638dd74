//! Coding agents as `provost run` starts them, in a folder of their own.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Gateway, PROVOST, Site, eventually},
    model::Model,
    peers,
};

const POLICY: &str = "policies:
  - name: all
    agent: '*'
    rules:
      - {tools: ['*'], action: human_approval}
";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    OpenCode,
}

/// An agent with a folder to work in and a model to obey.
pub(super) struct Work {
    pub(super) site: Site,
    pub(super) model: Model,
    agent: Agent,
    command: String,
}

/// A run that was started.
pub(super) struct Runner {
    child: Child,
    journal: PathBuf,
}

/// A gateway, as a run is told of it.
pub(super) fn asking(gateway: &Gateway) -> Value {
    json!({"url": gateway.url(), "key": "agent:runner"})
}

impl Agent {
    fn command(self) -> Value {
        match self {
            Self::Claude => json!([
                "node",
                peers::node_module("@agentclientprotocol/claude-agent-acp/dist/index.js")
            ]),
            Self::OpenCode => json!([
                peers::node_module("opencode-linux-x64-baseline/bin/opencode"),
                "acp"
            ]),
        }
    }

    fn env(self, work: &Work) -> Value {
        let home = work.site.path(".");
        let model = work.model.addr;
        match self {
            Self::Claude => json!({
                "HOME": home, "ANTHROPIC_BASE_URL": format!("http://{model}"), "ANTHROPIC_API_KEY": "x",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
            }),
            Self::OpenCode => json!({
                "HOME": home, "XDG_DATA_HOME": home.join("d"), "XDG_CONFIG_HOME": home.join("c"),
                "XDG_STATE_HOME": home.join("s"), "XDG_CACHE_HOME": home.join("k"),
                "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            }),
        }
    }

    /// What the agent finds in its folder.
    fn settle(self, work: &Work) {
        if self == Self::OpenCode {
            let base = format!("http://{}/v1", work.model.addr);
            let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
                "options": {"baseURL": base, "apiKey": "x"}, "models": {"scripted": {"name": "scripted"}}});
            let settings = json!({"provider": {"scripted": provider}, "model": "scripted/scripted",
                "permission": {"bash": "ask"}, "autoupdate": false, "share": "disabled"});
            fs::write(work.site.path("work/opencode.json"), settings.to_string()).unwrap();
        }
    }
}

impl Work {
    /// An agent whose model has it run that command.
    pub(super) fn of(agent: Agent, command: &str) -> Self {
        let site = Site::new(&Echo::start(), POLICY);
        fs::create_dir(site.path("work")).unwrap();
        let work = Self {
            site,
            model: Model::that_runs(command),
            agent,
            command: command.to_owned(),
        };
        agent.settle(&work);
        work
    }

    pub(super) fn gateway(&self) -> Gateway {
        self.site.start()
    }

    /// The same once more, with a model that remembers nothing.
    pub(super) fn again(&mut self) {
        self.model = Model::that_runs(&self.command);
        self.agent.settle(self);
    }

    pub(super) fn exists(&self, file: &str) -> bool {
        self.site.path("work").join(file).exists()
    }

    /// Claude Code asks first and writes its session down a little later: what is not there yet cannot be resumed.
    pub(super) fn until_kept(&self, session: &str) {
        let projects = self.site.path(".claude/projects");
        eventually("the agent keeping its session", || {
            let mut projects = fs::read_dir(&projects).ok()?.flatten();
            projects.find_map(|project| {
                let file = project.path().join(format!("{session}.jsonl"));
                let kept = fs::read_to_string(file).ok()?;
                kept.contains(&self.command).then_some(())
            })
        });
    }

    pub(super) fn journal(&self, run: &str) -> PathBuf {
        self.site
            .path("runs")
            .join("runs")
            .join(run)
            .join("journal.jsonl")
    }

    pub(super) fn run(&self, more: &Value) -> Output {
        self.start(more).wait()
    }

    /// `more` stands in the configuration beside what every run has.
    pub(super) fn start(&self, more: &Value) -> Runner {
        let mut config = json!({
            "runId": "run", "taskId": "task", "sandboxId": "sandbox", "promptId": "prompt",
            "prompt": "do the work", "repoDir": self.site.path("work"),
            "command": self.agent.command(), "env": self.agent.env(self), "limits": {"wallSeconds": 120},
        });
        for (name, value) in more.as_object().unwrap() {
            config[name] = value.clone();
        }
        let run = config["runId"].as_str().unwrap();
        let (file, journal) = (self.site.path(&format!("{run}.json")), self.journal(run));
        fs::write(&file, config.to_string()).unwrap();
        let mut command = Command::new(PROVOST);
        command.args(["run", "--data"]).arg(self.site.path("runs"));
        if config.get("callbackUrl").is_none() {
            command.arg("--no-callback");
        }
        let child = command
            .env_clear()
            .env("PATH", Site::search_path())
            .env("FACTORY_SUPERVISOR_CONFIG_PATH", file)
            .current_dir(self.site.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Runner { child, journal }
    }
}

impl Runner {
    pub(super) fn id(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    pub(super) fn wait(self) -> Output {
        self.child.wait_with_output().unwrap()
    }

    /// The group of processes that the agent is.
    pub(super) fn agents_group(&self) -> Pid {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).unwrap();
        let mut children = tasks.filter_map(|task| {
            let children = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
            children.split(' ').find_map(|id| id.trim().parse().ok())
        });
        Pid::from_raw(children.next().expect("the agent does not run")).unwrap()
    }

    /// Without a warning, and its agent with it.
    pub(super) fn kill(mut self) {
        let group = self.agents_group();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // It may have ended with its input.
        let _ = kill_process_group(group, Signal::KILL);
        let journal = fs::read_to_string(&self.journal).unwrap();
        assert!(!journal.contains("\"ended\""), "it had ended before");
    }
}
