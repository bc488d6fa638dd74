//! Coding agents as `provost run` starts them, in a folder of their own.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Gateway, PROVOST, Site, eventually},
    model::{Act, Model},
};

use super::kinds::Agent;

const POLICY: &str = "policies:
  - name: all
    agent: '*'
    rules:
      - {tools: ['*'], action: human_approval}
";

/// An agent with a folder to work in and a model to obey.
pub(super) struct Work {
    pub(super) site: Site,
    pub(super) model: Model,
    agent: Agent,
    turns: Vec<Vec<Act>>,
    /// Whose processes they are, where it is not the one that the tests are run by.
    user: Option<&'static str>,
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

impl Work {
    /// An agent whose model has it run that command.
    pub(super) fn of(agent: Agent, command: &str) -> Self {
        Self::doing(agent, vec![vec![Act::run(command)]])
    }

    /// An agent whose model has it do more than that, turn by turn.
    pub(super) fn doing(agent: Agent, turns: Vec<Vec<Act>>) -> Self {
        let site = Site::new(&Echo::start(), POLICY);
        fs::create_dir(site.path("work")).unwrap();
        let work = Self {
            site,
            model: Model::that_does(turns.clone()),
            agent,
            turns,
            user: None,
        };
        work.settle();
        work
    }

    /// Something else than what it was made for.
    pub(super) fn does(&mut self, turns: Vec<Vec<Act>>) {
        self.model.then_does(turns.clone());
        self.turns = turns;
    }

    /// All of it belongs to somebody who may do little, and so runs. Where the tests are not root's, it does anyhow.
    pub(super) fn belongs_to_nobody(&mut self) {
        const NOBODY: &str = "nobody";
        let given = Command::new("chown")
            .args(["-R", NOBODY])
            .arg(self.site.path("."))
            .status()
            .unwrap();
        self.user = given.success().then_some(NOBODY);
    }

    fn settle(&self) {
        self.agent.settle(&self.site.path("."), self.model.addr);
    }

    pub(super) fn gateway(&self) -> Gateway {
        self.site.start()
    }

    /// The same once more, with a model that remembers nothing.
    pub(super) fn again(&mut self) {
        self.model = Model::that_does(self.turns.clone());
        self.settle();
    }

    pub(super) fn exists(&self, file: &str) -> bool {
        self.site.path("work").join(file).exists()
    }

    /// Claude Code asks first and writes its session down a little later: what is not there yet cannot be resumed.
    pub(super) fn until_kept(&self, session: &str) {
        let projects = self.site.path(".claude/projects");
        let Some(Act::Run { command, .. }) = self.turns.iter().flatten().next() else {
            return;
        };
        eventually("the agent keeping its session", || {
            let mut projects = fs::read_dir(&projects).ok()?.flatten();
            projects.find_map(|project| {
                let file = project.path().join(format!("{session}.jsonl"));
                let kept = fs::read_to_string(file).ok()?;
                kept.contains(command).then_some(())
            })
        });
    }

    /// Only Claude Code writes its session down later than it asks.
    pub(super) fn until_session_is_kept(&self, session: &str) {
        if self.agent == Agent::Claude {
            self.until_kept(session);
        }
    }

    /// What ran, by what each command wrote down with `note`.
    pub(super) fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.site.path("work/notes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How the questions of a run were decided: `allowed`, `rejected`, `cancelled`.
    pub(super) fn decisions(&self, run: &str) -> Vec<String> {
        let lines = self.journal_lines(run);
        let outcomes = lines.iter().filter_map(|line| line.get("decision"));
        let outcomes = outcomes.filter_map(|decision| decision["outcome"].as_str());
        outcomes.map(str::to_owned).collect()
    }

    pub(super) fn journal(&self, run: &str) -> PathBuf {
        self.site
            .path("runs")
            .join("runs")
            .join(run)
            .join("journal.jsonl")
    }

    pub(super) fn journal_lines(&self, run: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.journal(run)).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str);
        lines.map(Result::unwrap).collect()
    }

    pub(super) fn run(&self, more: &Value) -> Output {
        self.start(more).wait()
    }

    /// The home of the agent's user.
    pub(super) fn home(&self) -> PathBuf {
        self.site.path(".").canonicalize().unwrap()
    }

    /// Where confined agents have homes of their own.
    pub(super) fn homes(&self) -> PathBuf {
        self.home().join("runs/homes")
    }

    pub(super) fn has_it_run(&mut self, command: &str) {
        self.turns = vec![vec![Act::run(command)]];
        self.again();
    }

    /// With the home as the runner's own, and not named in the configuration.
    pub(super) fn start_at_home(&self, more: &Value) -> Runner {
        let mut more = more.clone();
        let mut env = self.agent.env(&self.home(), self.model.addr);
        env.as_object_mut().unwrap().remove("HOME");
        more["env"] = env;
        let home = self.home();
        let socket = home.join("outside.sock");
        self.start_with(&more, &[("HOME", &home), ("SSH_AUTH_SOCK", &socket)])
    }

    /// `more` stands in the configuration beside what every run has.
    pub(super) fn start(&self, more: &Value) -> Runner {
        self.start_with(more, &[])
    }

    fn start_with(&self, more: &Value, variables: &[(&str, &PathBuf)]) -> Runner {
        let mut config = json!({
            "runId": "run", "taskId": "task", "sandboxId": "sandbox", "promptId": "prompt",
            "prompt": "do the work", "repoDir": self.site.path("work"),
            "command": self.agent.command(), "limits": {"wallSeconds": 120},
            "env": self.agent.env(&self.site.path("."), self.model.addr),
        });
        for (name, value) in more.as_object().unwrap() {
            config[name] = value.clone();
        }
        let run = config["runId"].as_str().unwrap();
        let (file, journal) = (self.site.path(&format!("{run}.json")), self.journal(run));
        fs::write(&file, config.to_string()).unwrap();
        let mut command = match self.user {
            Some(user) => {
                let mut command = Command::new("runuser");
                command.args(["-u", user, "--", PROVOST]);
                command
            }
            None => Command::new(PROVOST),
        };
        command.args(["run", "--data"]).arg(self.site.path("runs"));
        if config.get("callbackUrl").is_none() {
            command.arg("--no-callback");
        }
        let child = command
            .env_clear()
            .env("PATH", Site::search_path())
            .envs(variables.iter().copied())
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

/// Where a test fails, what its runs did says why.
impl Drop for Work {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let runs = fs::read_dir(self.site.path("runs/runs"));
        for run in runs.into_iter().flatten().flatten() {
            let text = fs::read_to_string(run.path().join("journal.jsonl")).unwrap_or_default();
            eprintln!("the journal of {}:", run.path().display());
            for line in text.lines() {
                eprintln!("  {}", line.chars().take(600).collect::<String>());
            }
        }
    }
}

/// A command that leaves a line in the folder's notes, and says that it ran in other words than its own.
pub(super) fn note(line: &str) -> String {
    format!("echo {line} >> notes && printf %s-%s it ran")
}

/// What the model is told by a command that ran.
pub(super) const RAN: &str = "it-ran";

impl Runner {
    pub(super) fn id(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    pub(super) fn wait(self) -> Output {
        self.child.wait_with_output().unwrap()
    }

    /// The group of processes that the agent is.
    pub(super) fn agents_group(&self) -> Pid {
        child_of(self.id()).expect("the agent does not run")
    }

    /// The agent's own process, below the one that keeps it.
    pub(super) fn agent(&self) -> Pid {
        let keeper = self.agents_group().as_raw_nonzero().get();
        child_of(keeper).expect("the agent does not run")
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

fn child_of(process: i32) -> Option<Pid> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let mut children = tasks.filter_map(|task| {
        let children = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        children.split(' ').find_map(|id| id.trim().parse().ok())
    });
    Pid::from_raw(children.next()?)
}
