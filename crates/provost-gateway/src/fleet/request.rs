//! What somebody wants to have run: checked against what may be, with every problem at once.

use std::path::{Path, PathBuf};

use provost_core::ids::hex;
use provost_runner::config::{self, Limits, Missing};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    Refused,
    limits::{tightened, written},
    settings::{Agent, Sandbox, Settings},
};

/// What a request may say.
pub const FIELDS: [&str; 13] = [
    "agent",
    "prompt",
    "repoDir",
    "sessionId",
    "session",
    "keep",
    "modelId",
    "mode",
    "mcpServers",
    "limits",
    "callbackUrl",
    "token",
    "taskId",
];
pub(super) const LONGEST_PROMPT: usize = 256 * 1024;
pub(super) const LONGEST_NAME: usize = 256;
/// How long a session waits for a prompt where nobody says, and at most.
const KEEP_SECONDS: f64 = 600.0;
const LONGEST_KEEP: f64 = 7.0 * 24.0 * 3600.0;
const LONGEST_SESSION: usize = 64;
/// The gate has deadlines of its own: the runner's only ends what nobody answers for.
const PERMISSION_SECONDS: u64 = 7 * 24 * 3600;

/// A request that may be run.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) agent: String,
    pub(super) repo: PathBuf,
    pub(super) prompt: String,
    pub(super) task_id: Option<String>,
    pub(super) limits: Limits,
    /// Its session stays for so many seconds without a prompt.
    pub(super) keep: Option<f64>,
    /// What its session is called.
    pub(super) session: Option<String>,
    /// What the run's configuration takes over: kept until it has ended.
    pub(super) request: Map<String, Value>,
    pub(super) digest: String,
}

/// What a run's configuration has besides what was asked for.
pub(super) struct Given<'a> {
    pub(super) id: &'a str,
    pub(super) prompt_id: String,
    pub(super) task_id: Option<&'a str>,
    pub(super) repo: &'a Path,
    pub(super) agent: &'a Agent,
    pub(super) limits: Value,
    /// What runners before spent of these.
    pub(super) spent: Option<Value>,
    pub(super) url: &'a str,
    pub(super) key: String,
    pub(super) spool: PathBuf,
    /// How its session stays, as its configuration has it.
    pub(super) keep: Option<Value>,
}

pub(super) fn read(
    settings: &Settings,
    data: &Path,
    body: Map<String, Value>,
) -> Result<Wanted, Refused> {
    let digest = hex(&Sha256::digest(Value::Object(body.clone()).to_string()));
    if let Some(unknown) = body.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let problem = format!("unknown field `{unknown}`: known are {}", FIELDS.join(", "));
        return Err(Refused::Bad(vec![problem]));
    }
    let name = named(settings, body.get("agent"))?;
    let agent = settings.agents.get(&name).ok_or_else(Refused::nothing)?;
    let repo = resolve(settings, data, body.get("repoDir"))?;
    let (limits, stays) = check(&body, agent, &repo, &settings.limits)?;
    let mut request = body;
    let task_id = request.remove("taskId");
    for name in ["agent", "repoDir", "limits", "keep", "session"] {
        request.remove(name);
    }
    Ok(Wanted {
        agent: name,
        repo,
        prompt: prompt_text(request.get("prompt")),
        task_id: task_id.and_then(|id| id.as_str().map(str::to_owned)),
        limits,
        keep: stays.keep,
        session: stays.session,
        request,
        digest,
    })
}

/// Whether the session of a run stays, and what it is called.
#[derive(Debug, Default)]
struct Stays {
    keep: Option<f64>,
    session: Option<String>,
}

/// `keep` is true, or says for how long; a session that has a name stays.
fn stays(body: &Map<String, Value>, problems: &mut Vec<String>) -> Stays {
    let named = body.get("session").filter(|name| !name.is_null());
    let session = named.and_then(Value::as_str).map(str::to_owned);
    let plain = |name: &String| {
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        (1..=LONGEST_SESSION).contains(&name.len()) && name.chars().all(known)
    };
    let session = session.filter(plain);
    if named.is_some() && session.is_none() {
        problems.push(format!(
            "`session` is a name of 1 to {LONGEST_SESSION} letters, digits, `-`, `_` and `.`"
        ));
    }
    if session.is_some() && body.get("sessionId").is_some_and(|id| !id.is_null()) {
        problems.push(
            "`session` is a name here, and `sessionId` the agent's own: give one of them"
                .to_owned(),
        );
    }
    let keep = match body.get("keep") {
        None | Some(Value::Null) => session.is_some().then_some(KEEP_SECONDS),
        Some(Value::Bool(keep)) => keep.then_some(KEEP_SECONDS),
        Some(Value::Object(fields)) => {
            let seconds = fields.get("idleSeconds").and_then(Value::as_f64);
            let seconds = seconds.filter(|seconds| (1.0..=LONGEST_KEEP).contains(seconds));
            if seconds.is_none() || fields.len() != 1 {
                problems.push(format!("`keep.idleSeconds` is 1 to {LONGEST_KEEP} seconds"));
            }
            seconds
        }
        Some(_) => {
            problems.push("`keep` is true, false or `{\"idleSeconds\": …}`".to_owned());
            None
        }
    };
    Stays { keep, session }
}

/// The one that is named, or the only one.
fn named(settings: &Settings, given: Option<&Value>) -> Result<String, Refused> {
    let known = || {
        let names: Vec<_> = settings.agents.keys().map(String::as_str).collect();
        names.join(", ")
    };
    match given {
        Some(Value::String(name)) if settings.agents.contains_key(name) => Ok(name.clone()),
        None | Some(Value::Null) => {
            let mut names = settings.agents.keys();
            match (names.next(), names.next()) {
                (Some(only), None) => Ok(only.clone()),
                _ => Err(Refused::bad(format!("`agent` is one of {}", known()))),
            }
        }
        Some(_) => Err(Refused::bad(format!(
            "`agent` is none of this gateway: it has {}",
            known()
        ))),
    }
}

/// The folder itself, whatever links lead to it: it must be allowed, and must not hold what is the gateway's.
pub(super) fn resolve(
    settings: &Settings,
    data: &Path,
    given: Option<&Value>,
) -> Result<PathBuf, Refused> {
    let Some(given) = given.and_then(Value::as_str).map(Path::new) else {
        return Err(Refused::bad("`repoDir` is missing: a folder to work in"));
    };
    if !given.is_absolute() {
        return Err(Refused::bad("`repoDir` is an absolute path"));
    }
    let outside = || {
        let roots: Vec<_> = settings
            .roots
            .iter()
            .map(|root| root.display().to_string())
            .collect();
        Refused::Outside(roots.join(", "))
    };
    // A folder that is not there is told as one that may not be: what is outside is nobody's to find out.
    let repo = given.canonicalize().map_err(|_| outside())?;
    let mut roots = settings
        .roots
        .iter()
        .filter_map(|root| root.canonicalize().ok());
    if !roots.any(|root| repo.starts_with(root)) || !repo.is_dir() {
        return Err(outside());
    }
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    if data.starts_with(&repo) || repo.starts_with(&data) {
        let problem = "`repoDir` holds the data folder of this gateway, which is no agent's to see";
        return Err(Refused::bad(problem));
    }
    Ok(repo)
}

/// By the runner's own reading, as it will be run.
fn check(
    body: &Map<String, Value>,
    agent: &Agent,
    repo: &Path,
    usual: &Limits,
) -> Result<(Limits, Stays), Refused> {
    let mut problems = Vec::new();
    let stays = stays(body, &mut problems);
    let mut request = body.clone();
    for name in ["agent", "repoDir", "taskId", "keep", "session"] {
        request.remove(name);
    }
    let asked = request.remove("limits").unwrap_or_else(|| json!({}));
    match body.get("taskId") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) if !id.trim().is_empty() && id.len() <= LONGEST_NAME => {}
        Some(_) => problems.push(format!("`taskId` is a text of 1 to {LONGEST_NAME} bytes")),
    }
    // In some modes an agent asks nobody.
    if let (Some(mode), Some(Value::String(asked))) = (&agent.mode, body.get("mode"))
        && mode != asked
    {
        problems.push(format!("`mode` is `{mode}` for this agent, and no other"));
    }
    if prompt_size(body.get("prompt")) > LONGEST_PROMPT {
        problems.push(format!("`prompt` has more than {LONGEST_PROMPT} bytes"));
    }
    let given = Given {
        id: "run",
        prompt_id: "run".to_owned(),
        task_id: None,
        repo,
        agent,
        limits: asked,
        spent: None,
        url: "http://127.0.0.1",
        key: "key".to_owned(),
        spool: PathBuf::new(),
        keep: None,
    };
    let text = compose(request, given).to_string();
    let mut limits = None;
    match config::read(&text, repo, Missing::Callback) {
        Ok(config) => match tightened(usual, &config.limits) {
            Ok(tight) => limits = Some(tight),
            Err(wider) => problems.extend(wider),
        },
        Err(found) => problems.extend(found.0),
    }
    match limits {
        Some(limits) if problems.is_empty() => Ok((limits, stays)),
        _ => Err(Refused::Bad(problems)),
    }
}

/// The configuration of a run.
pub(super) fn compose(mut request: Map<String, Value>, given: Given<'_>) -> Value {
    let agent = given.agent;
    let env = agent.env.iter();
    let env = env.map(|(name, value)| (name.clone(), Value::from(value.expose())));
    let sandbox = match agent.sandbox {
        Sandbox::Off => Value::Bool(false),
        Sandbox::Required => Value::Bool(true),
        Sandbox::BestEffort => "best-effort".into(),
    };
    let ours = json!({
        "runId": given.id, "taskId": given.task_id.unwrap_or(given.id),
        "sandboxId": "gateway", "promptId": given.prompt_id,
        "repoDir": given.repo, "command": agent.command, "env": env.collect::<Map<_, _>>(),
        "limits": given.limits, "sandbox": sandbox,
        "agent": agent.profile.map(|profile| profile.name),
        "unknownAgent": if agent.unknown { "allow" } else { "refuse" },
        "unsupervised": agent.unsupervised.name(),
        "permissions": {"by": "gateway", "timeoutSeconds": PERMISSION_SECONDS},
        "gateway": {"url": given.url, "key": given.key},
    });
    if let (None | Some(Value::Null), Some(mode)) = (request.get("mode"), &agent.mode) {
        request.insert("mode".to_owned(), mode.as_str().into());
    }
    if !given.spool.as_os_str().is_empty() {
        request.insert("spoolDir".to_owned(), json!(given.spool));
    }
    for (name, value) in [("keep", given.keep), ("spent", given.spent)] {
        request.extend(value.map(|value| (name.to_owned(), value)));
    }
    // Ours come last: a request says nothing about them.
    if let Value::Object(ours) = ours {
        request.extend(ours);
    }
    Value::Object(request)
}

pub(super) fn limits_of(limits: &Limits) -> Value {
    written(limits)
}

pub(super) fn prompt_size(prompt: Option<&Value>) -> usize {
    match prompt {
        Some(Value::String(text)) => text.len(),
        Some(other) => other.to_string().len(),
        None => 0,
    }
}

/// For people to read.
pub(super) fn prompt_text(prompt: Option<&Value>) -> String {
    match prompt {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str());
            let texts: Vec<_> = texts.collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
