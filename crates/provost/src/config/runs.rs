//! `runs`: which agents may be run on this machine, where, how many at once and how far.

use std::{
    collections::BTreeMap,
    path::{PathBuf, absolute},
    time::Duration,
};

use provost_gateway::fleet::{Agent, Sandbox, Settings, usual_limits};
use provost_runner::{
    agents::{self, KNOWN, Profile},
    config::{Limits, Unsupervised, anchored_line, split},
};

use super::{
    fields::{Field, Map},
    node::Scalar,
    reader::Reader,
};

const MOST_AT_ONCE: u64 = 64;
const MOST_WAITING: u64 = 10_000;
const MOST_KEPT: u64 = 100_000;
const LONGEST_NAME: usize = 64;
/// As the runner has it.
const LONGEST_SECONDS: f64 = 315_360_000.0;

impl Reader<'_> {
    pub(super) fn read_runs(&mut self, top: &Map<'_>) -> Option<Settings> {
        const KEYS: [&str; 6] = ["concurrency", "queue", "keep", "agents", "roots", "limits"];
        let map = self.map(top.get("runs")?, &KEYS)?;
        let usual = Settings::default();
        let mut count = |name: &'static str, least, most, usual: usize| {
            let number = map
                .get(name)
                .and_then(|field| self.number(field, least, most));
            number
                .and_then(|number| number.try_into().ok())
                .unwrap_or(usual)
        };
        let concurrency = count("concurrency", 1, MOST_AT_ONCE, usual.concurrency);
        let queue = count("queue", 0, MOST_WAITING, usual.queue);
        let keep = count("keep", 1, MOST_KEPT, usual.keep);
        let agents = self.require(&map, "agents", "`runs`");
        let roots = self.require(&map, "roots", "`runs`");
        Some(Settings {
            concurrency,
            queue,
            keep,
            agents: self.run_agents(agents?),
            roots: self.run_roots(roots?),
            limits: map
                .get("limits")
                .map_or_else(usual_limits, |field| self.run_limits(field)),
        })
    }

    fn run_agents(&mut self, field: Field<'_>) -> BTreeMap<String, Agent> {
        let mut agents = BTreeMap::new();
        let pairs = self.pairs(field);
        if pairs.is_empty() {
            let help =
                "write `agents: {claude: {command: npx -y @agentclientprotocol/claude-agent-acp}}`";
            self.error(field.span(), "`runs` names no agent", help);
        }
        for (name, span, value) in pairs {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
                let message = format!("`{name}` is no name for an agent that is run");
                let help =
                    "use letters, digits, `-`, `_` and `.`: at the gate it is called `run:NAME`";
                self.error(span, message, help);
            }
            if let Some(agent) = self.run_agent(value) {
                agents.insert(name.to_owned(), agent);
            }
        }
        agents
    }

    fn run_agent(&mut self, field: Field<'_>) -> Option<Agent> {
        const KEYS: [&str; 7] = [
            "command",
            "env",
            "mode",
            "sandbox",
            "agent",
            "unknown_agent",
            "unsupervised",
        ];
        let map = self.map(field, &KEYS)?;
        let env = map.get("env").map(|field| self.secret_pairs(field));
        let mode = map.filled("mode").and_then(|field| self.text(field));
        let mode = mode.map(str::to_owned);
        let sandbox = map.get("sandbox").and_then(|field| self.run_sandbox(field));
        let sandbox = sandbox.unwrap_or_default();
        let profile = map.get("agent").and_then(|field| self.run_profile(field));
        let unknown = map.get("unknown_agent");
        let unknown =
            unknown.and_then(|field| self.word(field, ["refuse", "allow"])) == Some("allow");
        let unsupervised = map.get("unsupervised");
        let unsupervised = unsupervised
            .and_then(|field| self.word(field, Unsupervised::ALL.map(Unsupervised::name)));
        let unsupervised = unsupervised.and_then(Unsupervised::parse);
        let command = self.require(&map, "command", "an agent that is run")?;
        let line = self.text(command)?;
        // The agent is started in a folder of its own: a path in this file is relative to this file.
        let folder = absolute(self.resolve(".")).unwrap_or_default();
        let Some(line) = anchored_line(line, &folder) else {
            let message = "`command` cannot be split into words";
            self.error(command.node.span, message, "look at its quotes");
            return None;
        };
        let words = split(&line).unwrap_or_default();
        let known = profile.is_some() || agents::started_as(&words).is_some();
        if !known && !unknown && sandbox != Sandbox::Required {
            let message = "this agent is not known, so nothing makes it ask before it acts";
            let help = format!(
                "set `sandbox: true`, `agent: NAME` if it is one of {}, or `unknown_agent: allow` if you know \
                 that it always asks",
                names()
            );
            self.error(command.node.span, message, help);
        }
        Some(Agent {
            command: line,
            env: env.unwrap_or_default(),
            mode,
            sandbox,
            profile,
            unknown,
            unsupervised: unsupervised.unwrap_or_default(),
        })
    }

    fn run_profile(&mut self, field: Field<'_>) -> Option<&'static Profile> {
        let profile = agents::named(self.text(field)?);
        if profile.is_none() {
            self.expected(field, &format!("one of {}", names()), "");
        }
        profile
    }

    fn word<const N: usize>(
        &mut self,
        field: Field<'_>,
        words: [&'static str; N],
    ) -> Option<&'static str> {
        let text = self.text(field)?;
        let found = words.into_iter().find(|word| *word == text);
        if found.is_none() {
            self.expected(field, &words.join(" or "), "");
        }
        found
    }

    fn run_sandbox(&mut self, field: Field<'_>) -> Option<Sandbox> {
        let scalar = field.node.scalar();
        if scalar.is_some_and(|scalar| scalar.text == "best-effort") {
            return Some(Sandbox::BestEffort);
        }
        match scalar.and_then(Scalar::boolean) {
            Some(true) => Some(Sandbox::Required),
            Some(false) => Some(Sandbox::Off),
            None => {
                self.expected(field, "true, false or best-effort", "");
                None
            }
        }
    }

    fn run_roots(&mut self, field: Field<'_>) -> Vec<PathBuf> {
        let roots = self.texts(field);
        if roots.is_empty() {
            let help =
                "name the folders in and below which agents may work: `roots: [/srv/projects]`";
            self.error(field.span(), "`runs` names no root", help);
        }
        let mut paths = Vec::new();
        for (root, span) in roots {
            if root.trim().is_empty() {
                self.error(span, "a root is a folder, not nothing", "write its path");
            }
            paths.push(self.resolve(root));
        }
        paths
    }

    /// Named as in the configuration of a run.
    fn run_limits(&mut self, field: Field<'_>) -> Limits {
        const KEYS: [&str; 10] = [
            "wallSeconds",
            "idleSeconds",
            "turns",
            "toolCalls",
            "tokens",
            "cost",
            "outputBytes",
            "filesChanged",
            "graceSeconds",
            "strict",
        ];
        let usual = usual_limits();
        let Some(map) = self.map(field, &KEYS) else {
            return usual;
        };
        let mut seconds = |name| {
            let seconds = map.get(name).and_then(|field| self.amount(field));
            seconds.map(Duration::from_secs_f64)
        };
        let (wall, idle) = (seconds("wallSeconds"), seconds("idleSeconds"));
        let grace = seconds("graceSeconds");
        let cost = map.get("cost").and_then(|field| self.amount(field));
        let strict = map.get("strict").and_then(|field| self.boolean(field));
        let mut count = |name| {
            let field = map.get(name)?;
            self.number(field, 1, u64::MAX)
        };
        Limits {
            wall: wall.or(usual.wall),
            idle,
            turns: count("turns"),
            tool_calls: count("toolCalls"),
            tokens: count("tokens"),
            cost,
            output_bytes: count("outputBytes").or(usual.output_bytes),
            files_changed: count("filesChanged"),
            grace,
            strict: strict.unwrap_or(false),
        }
    }

    /// A number above nothing.
    fn amount(&mut self, field: Field<'_>) -> Option<f64> {
        let number = field.node.scalar().and_then(Scalar::number);
        let number = number.and_then(|number| number.as_f64());
        let number = number.filter(|number| *number > 0.0 && *number <= LONGEST_SECONDS);
        if number.is_none() {
            let message = format!("`{}` must be a number above 0", field.name);
            self.error(field.span(), message, "leave it out for no limit");
        }
        number
    }
}

fn names() -> String {
    KNOWN.map(|profile| profile.name).join(", ")
}
